//! The fixture of most scenes: a world with one material, the usual bodies, an energy watch, and
//! closed forms. It has its own tests.

use msd_sim::geometry::Shape;
use msd_sim::math::{Mat3, Vec3};
use msd_sim::{Body, BodyDef, BodyId, Material, Settings, StepReport, World};

/// Length of a step, s.
pub const DT: f64 = 1.0 / 60.0;

/// Gravity, m/s^2.
pub const G: f64 = 9.81;

/// A world whose bodies all share one material, so that every contact has it too.
#[derive(Clone, Debug)]
pub struct Scene {
    pub world: World,
    pub material: Material,
    pub dt: f64,
}

impl Scene {
    pub fn new(restitution: f64, friction: f64) -> Self {
        Self::with(Settings::default(), restitution, friction)
    }

    pub fn weightless(restitution: f64, friction: f64) -> Self {
        let settings = Settings { gravity: Vec3::ZERO, ..Settings::default() };
        Self::with(settings, restitution, friction)
    }

    pub fn with(settings: Settings, restitution: f64, friction: f64) -> Self {
        let material = Material::new(restitution, friction).unwrap();
        Self { world: World::new(settings).unwrap(), material, dt: DT }
    }

    /// Makes all threads of the settings take part in every step, even in a small scene.
    pub fn on_all_threads(mut self) -> Self {
        self.world.use_all_threads(true);
        self
    }

    /// Adds a floor of 100 m by 100 m with its top at z = 0.
    pub fn floor(&mut self) -> BodyId {
        self.wall(Vec3::new(50.0, 50.0, 0.5), Vec3::new(0.0, 0.0, -0.5))
    }

    /// Adds an environment box.
    pub fn wall(&mut self, half: Vec3, position: Vec3) -> BodyId {
        let shape = Shape::cuboid(half).unwrap();
        self.add(BodyDef::environment(shape).position(position).material(self.material))
    }

    /// Returns a box of 1 kg.
    pub fn brick(&self, half: Vec3) -> BodyDef {
        BodyDef::inertial(Shape::cuboid(half).unwrap()).mass(1.0).material(self.material)
    }

    /// Returns a cube of 1 m and 1 kg.
    pub fn cube(&self) -> BodyDef {
        self.brick(Vec3::splat(0.5))
    }

    /// Returns a sphere of 0.5 m radius and 1 kg.
    pub fn ball(&self) -> BodyDef {
        BodyDef::inertial(Shape::sphere(0.5).unwrap()).mass(1.0).material(self.material)
    }

    pub fn add(&mut self, def: BodyDef) -> BodyId {
        self.world.add_body(def).unwrap()
    }

    /// Adds a body at a height above the origin.
    pub fn add_at(&mut self, height: f64, def: BodyDef) -> BodyId {
        self.add(def.position(Vec3::Z * height))
    }

    pub fn body(&self, id: BodyId) -> Body<'_> {
        self.world.body(id).unwrap()
    }

    pub fn step(&mut self) -> StepReport {
        *self.world.step(self.dt).unwrap()
    }

    /// Steps, and calls `observe` with the world after each step.
    pub fn run(&mut self, steps: usize, mut observe: impl FnMut(&World)) {
        for _ in 0..steps {
            self.step();
            observe(&self.world);
        }
    }

    pub fn energy(&self) -> f64 {
        energy(&self.world)
    }

    /// Returns the kinetic energy of rotation of one body, J.
    pub fn rotational_energy(&self, id: BodyId) -> f64 {
        let body = self.body(id);
        let spin = body.angular_velocity();
        0.5 * spin.dot(body.inertia() * spin)
    }
}

/// Returns the kinetic and potential energy, J.
pub fn energy(world: &World) -> f64 {
    world.kinetic_energy() + world.potential_energy()
}

/// A check that energy never rises: `E(n+1) <= E(n) + 1e-9 max(1, E0)` for every step.
#[derive(Clone, Copy, Debug)]
pub struct EnergyWatch {
    allowed: f64,
    last: f64,
    checks: usize,
}

impl EnergyWatch {
    pub fn new(world: &World) -> Self {
        let first = energy(world);
        Self { allowed: 1e-9 * first.max(1.0), last: first, checks: 0 }
    }

    /// Returns how much the energy rose since the last check, if beyond the allowance.
    pub fn rise(&mut self, world: &World) -> Option<f64> {
        let now = energy(world);
        let rise = now - self.last;
        self.last = now;
        self.checks += 1;
        if rise <= self.allowed { None } else { Some(rise) }
    }

    pub fn check(&mut self, world: &World) {
        if let Some(rise) = self.rise(world) {
            panic!("energy rose by {rise:e} J in step {}, allowed {:e}", self.checks, self.allowed);
        }
    }
}

/// The apexes of a bouncing body, computed from height and speed at any time of each flight.
#[derive(Clone, Debug, Default)]
pub struct Flights {
    /// Largest height of the center in each flight, m. The first flight is the one at the start.
    pub apexes: Vec<f64>,
    speed: f64,
}

impl Flights {
    pub fn observe(&mut self, body: &Body<'_>) {
        let speed = body.linear_velocity().z;
        let top = body.position().z + speed * speed / (2.0 * G);
        if self.apexes.is_empty() || self.speed <= 0.0 && speed > 0.0 {
            self.apexes.push(top);
        }
        self.speed = speed;
    }
}

/// Returns the distance after which a body that slides on level ground stops, m.
pub fn stop_distance(speed: f64, friction: f64) -> f64 {
    speed * speed / (2.0 * friction * G)
}

/// Returns the acceleration down an incline, m/s^2: zero where friction holds.
pub fn incline_acceleration(angle: f64, friction: f64) -> f64 {
    (G * (angle.sin() - friction * angle.cos())).max(0.0)
}

/// Returns the height above rest of the `n`-th apex after a fall from `height`: each impact keeps
/// `e` of the speed.
pub fn apex_height(height: f64, restitution: f64, n: i32) -> f64 {
    height * restitution.powi(2 * n)
}

/// Returns the impact speeds after a fall from `height`, while they exceed the rest speed.
pub fn impact_speeds(height: f64, restitution: f64, rest_speed: f64) -> Vec<f64> {
    let first = (2.0 * G * height).sqrt();
    let speeds = (0..).map(|n| first * restitution.powi(n));
    speeds.take_while(|&speed| speed > rest_speed).collect()
}

/// Returns the speeds of two masses after a central impact.
pub fn central_impact(masses: [f64; 2], speeds: [f64; 2], restitution: f64) -> [f64; 2] {
    let [m, n] = masses;
    let [v, w] = speeds;
    let common = (m * v + n * w) / (m + n);
    let closing = restitution * (v - w) / (m + n);
    [common - n * closing, common + m * closing]
}

/// Returns the angle between the body's z axis and the world's, rad; exact near zero.
pub fn tilt(body: &Body<'_>) -> f64 {
    let up = body.pose().transform_vector(Vec3::Z);
    up.cross(Vec3::Z).length().atan2(up.z)
}

/// Returns the angle between the world's z axis and the nearest of a cube's axes, rad.
pub fn off_level(body: &Body<'_>) -> f64 {
    let turn = Mat3::from_quat(body.pose().rotation);
    let axes = [turn.x_axis, turn.y_axis, turn.z_axis];
    let angles = axes.map(|axis| axis.cross(Vec3::Z).length().atan2(axis.z.abs()));
    angles.into_iter().fold(f64::INFINITY, f64::min)
}

/// Fails unless `found` is within `relative` of `expected`.
#[track_caller]
pub fn assert_near(found: f64, expected: f64, relative: f64) {
    let error = (found - expected).abs();
    assert!(
        error <= relative * expected.abs(),
        "{found} is not {expected}: off by {:e} of it, allowed {relative:e}",
        error / expected.abs()
    );
}

/// Fails unless a magnitude is below a bound.
#[track_caller]
pub fn assert_below(found: f64, bound: f64) {
    assert!(found < bound, "{found:e} is not below {bound:e}");
}

mod tests {
    use super::*;
    use msd_sim::math::{SpatialVector, rotation};

    /// Integrates a constant acceleration in small steps until `done`; returns time, position and
    /// speed.
    fn integrate(
        mut place: f64,
        mut speed: f64,
        acceleration: f64,
        done: impl Fn(f64, f64) -> bool,
    ) -> (f64, f64, f64) {
        let (h, mut time) = (1e-6, 0.0);
        while !done(place, speed) {
            place += speed * h + 0.5 * acceleration * h * h;
            speed += acceleration * h;
            time += h;
        }
        (time, place, speed)
    }

    #[test]
    fn the_stop_distance_agrees_with_integration() {
        let (_, place, _) = integrate(0.0, 5.0, -0.5 * G, |_, speed| speed <= 0.0);
        assert_near(stop_distance(5.0, 0.5), place, 1e-6);
        assert_near(stop_distance(5.0, 0.5), 2.548, 1e-3);
    }

    #[test]
    fn the_acceleration_down_an_incline_is_that_of_the_forces() {
        let angle = 45f64.to_radians();
        let (down, normal) = (Vec3::new(angle.cos(), 0.0, -angle.sin()), angle.cos() * G);
        let driving = Vec3::new(0.0, 0.0, -G).dot(down);
        assert_near(incline_acceleration(angle, 0.3), driving - 0.3 * normal, 1e-14);
        assert_near(incline_acceleration(angle, 0.3), 4.856, 1e-4);
        assert_eq!(incline_acceleration(20f64.to_radians(), 0.6), 0.0);
    }

    #[test]
    fn apexes_and_impact_speeds_agree_with_integration() {
        let (_, _, down) = integrate(4.0, 0.0, -G, |place, _| place <= 0.0);
        let speeds = impact_speeds(4.0, 0.8, 0.5);
        assert_near(-down, speeds[0], 1e-5);
        assert_near(speeds[0], 8.859, 1e-4);
        assert_eq!(speeds.len(), 13);
        assert!(speeds[12] > 0.5 && speeds[12] * 0.8 < 0.5);
        let (_, top, _) = integrate(0.0, 0.8 * speeds[0], -G, |_, speed| speed <= 0.0);
        assert_near(apex_height(4.0, 0.8, 1), top, 1e-5);
    }

    #[test]
    fn a_central_impact_keeps_momentum_and_reverses_the_approach() {
        for restitution in [0.0, 0.3, 1.0] {
            let [v, w] = central_impact([10.0, 1.0], [1.0, -2.0], restitution);
            assert_near(10.0 * v + w, 8.0, 1e-14);
            assert!((w - v - 3.0 * restitution).abs() < 1e-14);
        }
        let [v, w] = central_impact([10.0, 1.0], [1.0, 0.0], 1.0);
        assert_near(v, 0.8182, 1e-4);
        assert_near(w, 1.8182, 1e-4);
    }

    #[test]
    fn the_contacts_of_a_scene_have_its_material() {
        let mut scene = Scene::new(0.7, 0.4);
        scene.floor();
        let ball = scene.ball();
        scene.add_at(0.5, ball);
        scene.step();
        let contact = scene.world.contacts().next().expect("a ball on the floor touches it");
        assert_near(contact.restitution(), 0.7, 1e-15);
        assert_near(contact.friction(), 0.4, 1e-15);
    }

    #[test]
    fn an_energy_watch_detects_a_rise_of_a_billionth_and_ignores_losses() {
        let mut scene = Scene::weightless(0.0, 0.0);
        let ball = scene.ball().velocity(Vec3::X);
        let ball = scene.add(ball);
        let mut watch = EnergyWatch::new(&scene.world);
        // E = 0.5 J, so 1e-9 J are allowed: dE = v dv.
        let mut speed_up = |by: f64| {
            let velocity = SpatialVector::new(Vec3::X * (1.0 + by), Vec3::ZERO);
            scene.world.set_velocity(ball, velocity).unwrap();
            watch.rise(&scene.world)
        };
        assert_eq!(speed_up(0.9e-9), None);
        assert!(speed_up(2.1e-9).is_some());
        assert_eq!(speed_up(-0.5), None);
        assert!(speed_up(0.0).is_some());
        assert!(speed_up(1e12).is_some());
    }

    #[test]
    fn the_apex_of_a_flight_is_known_before_it_is_reached() {
        let mut scene = Scene::new(0.0, 0.0);
        let ball = scene.ball().velocity(Vec3::Z * 3.0);
        let ball = scene.add_at(2.0, ball);
        let mut flights = Flights::default();
        scene.run(30, |world| flights.observe(&world.body(ball).unwrap()));
        assert_eq!(flights.apexes.len(), 1);
        assert_near(flights.apexes[0], 2.0 + 9.0 / (2.0 * G), 1e-12);
    }

    #[test]
    fn tilt_is_the_angle_to_the_vertical_and_off_level_that_to_the_nearest_face() {
        let mut scene = Scene::weightless(0.0, 0.0);
        let cube = scene.cube().orientation(rotation(Vec3::new(0.6, 0.8, 0.0), 1.4));
        let cube = scene.add(cube);
        assert_near(tilt(&scene.body(cube)), 1.4, 1e-12);
        let cube = scene.cube().orientation(rotation(Vec3::Y, 1.5));
        let cube = scene.add(cube);
        assert_near(off_level(&scene.body(cube)), std::f64::consts::FRAC_PI_2 - 1.5, 1e-12);
    }
}
