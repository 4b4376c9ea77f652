//! Swept motion converges as steps get shorter, and gains no energy: each case at three steps.

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Vec3, rotation};
use msd_sim::{BodyDef, BodyId, Filter, JointDef};

use super::{swept, weightless};
use crate::oracle::pairs::Rng;
use crate::scene::{G, Scene, assert_below};

/// The steps of every case, each a quarter of the one before, s.
const STEPS: [f64; 3] = [1.0 / 60.0, 1.0 / 240.0, 1.0 / 960.0];

/// Fails unless errors, less a floor, fall at least in proportion to the step.
#[track_caller]
fn assert_first_order(errors: [f64; 3], floor: f64) {
    let falls = |at: usize| errors[at + 1] <= 0.25 * errors[at] + floor;
    assert!(falls(0) && falls(1), "{errors:?} is not of first order in the step");
}

/// Steps a scene for some seconds, and calls `observe` after each step.
fn run_for(scene: &mut Scene, seconds: f64, mut observe: impl FnMut(&Scene)) {
    for _ in 0..(seconds / scene.dt).round() as usize {
        scene.step();
        observe(scene);
    }
}

/// A ball joint: two bodies, each with its anchor.
type Ball = [(BodyId, Vec3); 2];

fn joined(scene: &mut Scene, balls: &[Ball]) {
    for &[(a, on_a), (b, on_b)] in balls {
        scene.world.add_joint(JointDef::ball(a, b).anchors(on_a, on_b)).unwrap();
    }
}

/// Returns the largest distance of two anchors, m.
fn widest(scene: &Scene, balls: &[Ball]) -> f64 {
    let gap = |&[a, b]: &Ball| {
        let [p, q] = [a, b].map(|(body, at)| scene.body(body).pose().transform_point(at));
        (p - q).length()
    };
    balls.iter().map(gap).fold(0.0, f64::max)
}

fn hook(scene: &mut Scene, position: Vec3) -> BodyId {
    scene.add(BodyDef::environment(Shape::sphere(0.01).unwrap()).position(position))
}

/// Returns a bar of 1 kg that collides with nothing.
fn bar(half: Vec3) -> BodyDef {
    let shape = Shape::cuboid(half).unwrap();
    BodyDef::inertial(shape).mass(1.0).filter(Filter { groups: 0, mask: 0 })
}

/// Swings a parallelogram of two cranks of 1 m and a coupler of 2 m for 5 s, from 60 degrees. Returns the largest
/// rise of its energy, its loss at the end, J, and the widest gap of a joint, m.
fn four_bar(dt: f64) -> [f64; 3] {
    let mut scene = swept(0.0, 0.0);
    scene.dt = dt;
    let angle = 60_f64.to_radians();
    let turn = rotation(Vec3::Y, -angle);
    let (down, end) = (turn * -Vec3::Z, Vec3::Z * 0.5);
    let mut balls = Vec::new();
    let mut cranks = Vec::new();
    for pivot in [Vec3::ZERO, Vec3::X * 2.0] {
        let hook = hook(&mut scene, pivot);
        let crank = bar(Vec3::new(0.02, 0.02, 0.5)).pose(Pose::new(pivot + down * 0.5, turn));
        let crank = scene.add(crank);
        balls.push([(hook, Vec3::ZERO), (crank, end)]);
        cranks.push(crank);
    }
    let coupler = scene.add(bar(Vec3::new(1.0, 0.02, 0.02)).position(down + Vec3::X));
    balls.push([(cranks[0], -end), (coupler, -Vec3::X)]);
    balls.push([(cranks[1], -end), (coupler, Vec3::X)]);
    joined(&mut scene, &balls);
    let first = scene.energy();
    let (mut rise, mut gap) = (0.0_f64, 0.0_f64);
    run_for(&mut scene, 5.0, |scene| {
        rise = rise.max(scene.energy() - first);
        gap = gap.max(widest(scene, &balls));
    });
    [rise, first - scene.energy(), gap]
}

#[test]
fn a_four_bar_linkage_keeps_its_energy_and_its_joints_together() {
    // Centers fall by 0.25, 0.25 and 0.5 m: at most 9.81 J become motion, and w^2 = 2 * 9.81 / (2/3 + 1) = 11.8 / s^2.
    // Joints turn by w dt / 8 between the end of a step and their first impulse of the next, which takes the square
    // of that of the energy of motion. A gap is at most a quarter of the sagitta of a substep.
    let (energy, w2) = (G, 2.0 * G / (2.0 / 3.0 + 1.0));
    let found = STEPS.map(four_bar);
    for (dt, [rise, loss, gap]) in STEPS.into_iter().zip(found) {
        assert_below(rise, 1e-9 * energy);
        assert_below(loss, energy * 5.0 / dt * w2 * (dt / 8.0).powi(2));
        assert_below(gap, 1e-3 * (dt * 60.0).powi(2));
    }
    assert_first_order(found.map(|[_, loss, _]| loss), 0.0);
    assert_first_order(found.map(|[_, _, gap]| gap), 0.0);
}

/// Drops a chain of 40 links of 0.2 m, hung at one end, from the horizontal, for 5 s. Returns the largest rise of its
/// energy, J, and the widest gap of a joint, m. Links are bars or, if `round`, cubes, whose inertia is the same about any
/// axis.
fn chain(dt: f64, round: bool) -> [f64; 2] {
    let half = if round { Vec3::splat(0.1) } else { Vec3::new(0.1, 0.02, 0.02) };
    let mut scene = swept(0.0, 0.0);
    scene.dt = dt;
    let mut last = (hook(&mut scene, Vec3::ZERO), Vec3::ZERO);
    let mut balls = Vec::new();
    for n in 0..40 {
        let place = Vec3::X * (0.1 + 0.2 * f64::from(n));
        let link = scene.add(bar(half).position(place));
        balls.push([last, (link, Vec3::X * -0.1)]);
        last = (link, Vec3::X * 0.1);
    }
    joined(&mut scene, &balls);
    let first = scene.energy();
    let (mut rise, mut gap) = (0.0_f64, 0.0_f64);
    run_for(&mut scene, 5.0, |scene| {
        rise = rise.max(scene.energy() - first);
        gap = gap.max(widest(scene, &balls));
    });
    [rise, gap]
}

#[test]
fn a_falling_chain_of_40_links_gains_no_energy_and_stays_together() {
    for round in [false, true] {
        let found = STEPS.map(|dt| chain(dt, round));
        for [rise, gap] in found {
            // Of 40 kg that can fall 8 m; and no gap is half a link.
            assert_below(rise, 1e-9 * 40.0 * G * 8.0);
            assert_below(gap, 0.1);
        }
        assert_first_order(found.map(|[_, gap]| gap), 0.0);
    }
}

/// A chain of uniform links of 1 kg that hangs between two hooks at equal height.
///
/// A link in equilibrium points along the mean of the tensions at its ends, so its slope is the weight from the chain's
/// middle to its own over the horizontal tension.
struct Hanging {
    links: usize,
    /// Length of a link, m.
    length: f64,
    /// Horizontal tension, N.
    tension: f64,
}

impl Hanging {
    fn new(links: usize, length: f64, span: f64) -> Self {
        let width = |tension: f64| -> f64 {
            let chain = Self { links, length, tension };
            (0..links).map(|link| chain.along(link).x * length).sum()
        };
        let (mut low, mut high) = (0.0, 1e3 * links as f64 * G);
        for _ in 0..100 {
            let mid = 0.5 * (low + high);
            (low, high) = if width(mid) < span { (mid, high) } else { (low, mid) };
        }
        Self { links, length, tension: low }
    }

    /// Returns the weight between the chain's middle and a joint, N.
    fn weight(&self, joint: f64) -> f64 {
        (joint - 0.5 * self.links as f64) * G
    }

    /// Returns the direction of a link.
    fn along(&self, link: usize) -> Vec3 {
        Vec3::new(self.tension, 0.0, self.weight(link as f64 + 0.5)).normalize()
    }

    /// Returns the sum of the gaps of all joints, each an implicit spring of pi / 2 rad in a substep `h`, m.
    ///
    /// The effective mass of two bars at their ends is half of one along them, and an eighth across.
    fn stretch(&self, h: f64) -> f64 {
        let compliance = h * h / std::f64::consts::FRAC_PI_2.powi(2);
        let gap = |joint: usize| {
            let force = Vec3::new(self.tension, 0.0, self.weight(joint as f64));
            let d = self.along(joint.min(self.links - 1));
            let along = force.dot(d);
            (2.0 * along.abs() + 8.0 * (force - d * along).length()) * compliance
        };
        (0..=self.links).map(gap).sum()
    }
}

/// Hangs a chain of 100 links at its equilibrium, for 10 s. Returns how far it is off, and the sum of the gaps of
/// its joints in equilibrium, m.
fn catenary(dt: f64) -> [f64; 2] {
    let exact = Hanging::new(100, 0.2, 12.0);
    let mut scene = swept(0.0, 0.0);
    scene.dt = dt;
    let mut last = (hook(&mut scene, Vec3::ZERO), Vec3::ZERO);
    let (mut end, mut balls, mut links) = (Vec3::ZERO, Vec::new(), Vec::new());
    for link in 0..exact.links {
        let d = exact.along(link);
        let center = end + d * (0.5 * exact.length);
        end += d * exact.length;
        let turn = rotation(Vec3::Y, -d.z.atan2(d.x));
        let half = Vec3::X * (0.5 * exact.length);
        let body = bar(Vec3::new(half.x, 0.02, 0.02)).pose(Pose::new(center, turn));
        let body = scene.add(body.damping(0.5, 0.5));
        balls.push([last, (body, -half)]);
        links.push((body, center));
        last = (body, half);
    }
    balls.push([last, (hook(&mut scene, Vec3::X * 12.0), Vec3::ZERO)]);
    joined(&mut scene, &balls);
    run_for(&mut scene, 10.0, |_| {});
    let off = |&(link, place): &(BodyId, Vec3)| (scene.body(link).position() - place).length();
    [links.iter().map(off).fold(0.0, f64::max), exact.stretch(dt / 4.0)]
}

#[test]
fn a_chain_of_100_links_hangs_in_a_catenary() {
    let found = STEPS.map(catenary);
    for [off, stretch] in found {
        assert_below(off, stretch);
    }
    assert_first_order(found.map(|[off, _]| off), 0.0);
}

/// Lets a heavy top of 100 rad/s nutate for 2 s, from rest but for its spin at 30 degrees. Returns the relative change of
/// its energy and the error of its lowest height, relative to its arm.
fn top(dt: f64) -> [f64; 2] {
    let mut scene = swept(0.0, 0.0);
    scene.dt = dt;
    let pivot = hook(&mut scene, Vec3::ZERO);
    let turn = rotation(Vec3::Y, 30_f64.to_radians());
    let arm = Vec3::Z * 0.5;
    let disk = BodyDef::inertial(Shape::cylinder(0.25, 0.05).unwrap()).mass(1.0);
    let disk = disk.pose(Pose::new(turn * arm, turn)).angular_velocity(turn * Vec3::Z * 100.0);
    let disk = scene.add(disk.filter(Filter { groups: 0, mask: 0 }));
    joined(&mut scene, &[[(pivot, Vec3::ZERO), (disk, -arm)]]);
    // Energy and both angular momenta give the turning points of u = cos(tilt), which starts at u0:
    // b (1 - u^2) = a^2 (u0 - u), where a = I3 w / I1 and b = 2 m g l / I1, with I1 about the pivot.
    let [across, along] =
        [0.25 * 0.25_f64.powi(2) + 0.1_f64.powi(2) / 12.0, 0.5 * 0.25_f64.powi(2)];
    let about = across + 0.25;
    let (a, b) = (along * 100.0 / about, 2.0 * G * 0.5 / about);
    let u0 = 30_f64.to_radians().cos();
    let p = a * a / (2.0 * b);
    let lowest = p - (p * p - 2.0 * p * u0 + 1.0).sqrt();
    let (first, mut low) = (scene.energy(), 1.0_f64);
    run_for(&mut scene, 2.0, |scene| low = low.min(scene.body(disk).position().z / 0.5));
    [(scene.energy() / first - 1.0).abs(), (low - lowest).abs()]
}

#[test]
fn a_top_on_a_ball_joint_keeps_its_energy_and_nutates_to_its_lowest_point() {
    let found = STEPS.map(top);
    for (dt, errors) in STEPS.into_iter().zip(found) {
        // The axis nutates at a = 11.7 rad/s: a scheme of first order is off by no more than a h.
        errors.into_iter().for_each(|error| assert_below(error, 11.7 * dt / 4.0));
    }
    for at in 0..2 {
        assert_first_order(found.map(|errors| errors[at]), 0.0);
    }
}

/// A plate of 1 kg and 1 m that slides and spins on four corners, each with a quarter of its weight: its motion by an ODE
/// of the four frictions.
struct Plate {
    /// Position, m, and angle, rad.
    place: Vec3,
    /// Velocity, m/s, and angular velocity, rad/s.
    speed: Vec3,
}

impl Plate {
    /// Returns the acceleration by the friction of its corners.
    fn acceleration(&self, friction: f64) -> Vec3 {
        let (sin, cos) = self.place.z.sin_cos();
        let mut sum = Vec3::ZERO;
        for [x, y] in [[0.5, 0.5], [0.5, -0.5], [-0.5, 0.5], [-0.5, -0.5]] {
            let (x, y) = (cos * x - sin * y, sin * x + cos * y);
            let slip =
                Vec3::new(self.speed.x - self.speed.z * y, self.speed.y + self.speed.z * x, 0.0);
            let push = slip * (-0.25 * friction * G / slip.length());
            sum += Vec3::new(push.x, push.y, 6.0 * (x * push.y - y * push.x));
        }
        sum
    }

    /// Returns where a plate stops.
    fn stop(friction: f64, speed: Vec3) -> Vec3 {
        let (mut plate, h) = (Self { place: Vec3::ZERO, speed }, 1e-5);
        // It stops within h times the acceleration: 3e-5 m/s.
        while plate.speed.length() > 1e-4 {
            let half = Self {
                place: plate.place + plate.speed * (0.5 * h),
                speed: plate.speed + plate.acceleration(friction) * (0.5 * h),
            };
            plate.place += half.speed * h;
            plate.speed += half.acceleration(friction) * h;
        }
        plate.place
    }
}

#[test]
fn a_plate_that_slides_and_spins_stops_where_the_friction_of_its_corners_stops_it() {
    for (speed, spin) in [(1.0, 5.0), (2.0, 3.0), (1.0, 0.5), (1.0, 0.0)] {
        let exact = Plate::stop(0.3, Vec3::new(speed, 0.0, spin)).truncate();
        let found = STEPS.map(|dt| {
            let mut scene = swept(0.0, 0.3);
            scene.dt = dt;
            scene.floor();
            let plate = scene.brick(Vec3::new(0.5, 0.5, 5e-4)).velocity(Vec3::X * speed);
            let plate = scene.add_at(5e-4, plate.angular_velocity(Vec3::Z * spin));
            run_for(&mut scene, 2.0, |_| {});
            (scene.body(plate).position().truncate() - exact).length()
        });
        // A time of stopping is known to a step, in which friction changes the speed by mu g dt; and the speed at which
        // friction starts to act, to half a substep of it.
        for (dt, off) in STEPS.into_iter().zip(found) {
            assert_below(off, 0.3 * G * dt * dt + (speed + spin) * dt / 8.0);
        }
        // Friction acts 0.5 mm below the center, which shifts a share of the load between corners 1 m apart that the ODE
        // leaves out: mu z / x = 3e-4.
        assert_first_order(found, 3e-4 * exact.length());
    }
}

/// Hits two balls that touch each other with a third, head-on between them. Returns the largest rise of energy relative
/// to that at the start, and the relative error of momentum.
fn three_balls(dt: f64, restitution: f64) -> [f64; 2] {
    let mut scene = weightless(restitution, 0.0);
    scene.dt = dt;
    for side in [0.5, -0.5] {
        let ball = scene.ball().position(Vec3::Y * side);
        scene.add(ball);
    }
    let ball = scene.ball().position(Vec3::X * -2.0).velocity(Vec3::X * 3.0);
    scene.add(ball);
    let (energy, momentum) = (scene.energy(), scene.world.momentum().linear);
    let mut rise = 0.0_f64;
    run_for(&mut scene, 1.0, |scene| rise = rise.max(scene.energy() / energy - 1.0));
    let drift = scene.world.momentum().linear - momentum;
    [rise, drift.length() / momentum.length()]
}

#[test]
fn a_ball_that_hits_two_others_gains_no_energy() {
    for restitution in [0.3, 0.5, 0.8, 1.0] {
        for [rise, drift] in STEPS.map(|dt| three_balls(dt, restitution)) {
            assert_below(rise, 1e-12);
            assert_below(drift, 1e-12);
        }
    }
}

/// Lets elastic balls fly about in a cloud, 5 by 5 by 5 and close to each other. Returns the largest rise of energy
/// relative to that at the start, and what is left at the end.
fn cloud(dt: f64) -> [f64; 2] {
    let mut scene = weightless(1.0, 0.0);
    scene.dt = dt;
    let mut rng = Rng::new(3);
    for n in 0..125 {
        let place = Vec3::new(f64::from(n % 5), f64::from(n / 5 % 5), f64::from(n / 25)) * 1.05;
        let mut any = || rng.range(-1.0, 1.0);
        let inwards = Vec3::splat(2.1) - place;
        let ball = scene.ball().velocity(inwards + Vec3::new(any(), any(), any()));
        scene.add(ball.position(place));
    }
    let energy = scene.energy();
    let mut rise = 0.0_f64;
    run_for(&mut scene, 2.0, |scene| rise = rise.max(scene.energy() / energy - 1.0));
    [rise, scene.energy() / energy]
}

#[test]
fn a_cloud_of_elastic_balls_gains_no_energy() {
    for [rise, left] in STEPS.map(cloud) {
        assert_below(rise, 1e-12);
        // Swept bounces may lose energy where a body hits several others at once, but most hits of a cloud are of two.
        assert!(left > 0.5, "{left} of the energy is left");
    }
}

#[test]
fn two_elastic_balls_exchange_their_velocities() {
    for dt in STEPS {
        let mut scene = weightless(1.0, 0.0);
        scene.dt = dt;
        let moving = scene.add(scene.ball().position(Vec3::X * -2.0).velocity(Vec3::X * 3.0));
        let hit = scene.add(scene.ball());
        run_for(&mut scene, 1.0, |_| {});
        let velocities = [moving, hit].map(|id| scene.body(id).linear_velocity().x);
        assert!(
            velocities[0].abs() < 1e-12 && (velocities[1] - 3.0).abs() < 1e-12,
            "{velocities:?}"
        );
    }
}

/// Rolls a shape of 0.5 m radius, whose axis is y, down an incline of 20 degrees for 2 s: it accelerates at a `share` of
/// what sliding without friction would. Returns the relative error of its path.
fn rolling(shape: Shape, share: f64, dt: f64, speed: f64) -> f64 {
    let mut scene = swept(0.0, 0.8);
    scene.dt = dt;
    let angle = 20_f64.to_radians();
    let turn = rotation(Vec3::Y, angle);
    let floor = Shape::cuboid(Vec3::new(50.0, 50.0, 0.5)).unwrap();
    let floor = BodyDef::environment(floor).material(scene.material);
    scene.add(floor.pose(Pose::new(turn * (Vec3::Z * -0.5), turn)));
    let down = turn * Vec3::X;
    let level = rotation(Vec3::X, std::f64::consts::FRAC_PI_2);
    let body = BodyDef::inertial(shape).mass(1.0).material(scene.material).velocity(down * speed);
    let body = body.pose(Pose::new(turn * (Vec3::Z * 0.5), level));
    let body = scene.add(body.angular_velocity(Vec3::Y * (speed / 0.5)));
    run_for(&mut scene, 2.0, |_| {});
    let path = speed * 2.0 + share * G * angle.sin() * 2.0;
    (scene.body(body).position().dot(down) / path - 1.0).abs()
}

#[test]
fn a_ball_rolls_down_an_incline_as_far_as_it_should() {
    // A contact point of a round surface is kept for as long as the bodies move less than 1e-4 of their size, which
    // tilts its lever arm by half of that on average: the floor of the error.
    for speed in [0.0, 2.0] {
        let found = STEPS.map(|dt| rolling(Shape::sphere(0.5).unwrap(), 5.0 / 7.0, dt, speed));
        for (dt, error) in STEPS.into_iter().zip(found) {
            assert_below(error, 0.01 * dt * 60.0);
        }
        assert_first_order(found, 5e-5);
    }
}

#[test]
fn a_cylinder_rolls_down_an_incline_as_far_as_it_should() {
    let found = STEPS.map(|dt| rolling(Shape::cylinder(0.5, 0.3).unwrap(), 2.0 / 3.0, dt, 0.0));
    assert_first_order(found, 5e-5);
}

/// Releases 216 balls, each 20 % too close to its neighbors. Returns the largest energy of motion, J, and how deep they
/// overlap at the end relative to their diameter.
fn overlapping(dt: f64) -> [f64; 2] {
    let mut scene = weightless(0.0, 0.0);
    scene.dt = dt;
    for n in 0..216 {
        let place = Vec3::new(f64::from(n % 6), f64::from(n / 6 % 6), f64::from(n / 36)) * 0.8;
        let ball = scene.ball().position(place);
        scene.add(ball);
    }
    let mut most = 0.0_f64;
    run_for(&mut scene, 3.0, |scene| most = most.max(scene.energy()));
    [most, scene.world.report().max_penetration.unwrap()]
}

#[test]
#[ignore = "known limit: one relax sweep does not remove all of the push: 1149 J at 60 Hz, 5293 J from 240 Hz on"]
fn balls_that_overlap_are_moved_apart_and_left_at_rest() {
    for [energy, depth] in STEPS.map(overlapping) {
        assert_below(energy, 1e-9);
        // The slop, 5e-4 of their radius, is not corrected.
        assert_below(depth, 0.01);
    }
}
