//! Units: a world whose lengths, masses and times are multiplied by powers of two moves alike, bit for bit.

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, SpatialVector, Vec3, rotation};
use msd_sim::{Accuracy, BodyDef, BodyId, JointDef, Material, Method, Settings, World};

use crate::oracle::pairs::Rng;

/// The number of meters, kilograms and seconds in the units of a world.
#[derive(Clone, Copy, Debug)]
struct Units {
    length: f64,
    mass: f64,
    time: f64,
}

const SI: Units = Units { length: 1.0, mass: 1.0, time: 1.0 };

impl Units {
    fn speed(&self) -> f64 {
        self.length / self.time
    }
}

/// Units that differ from SI, one at a time and together.
const OTHERS: [Units; 6] = [
    Units { length: 1024.0, ..SI },
    Units { length: 1.0 / 128.0, ..SI },
    Units { mass: 4096.0, ..SI },
    Units { mass: 1.0 / 1048576.0, ..SI },
    Units { time: 1.0 / 32.0, ..SI },
    Units { length: 1.0 / 128.0, mass: 65536.0, time: 8.0 },
];

/// Units of mass that are no powers of four. Sweeps in large islands use coordinates in which every inertia is 1, and
/// the square root of 2 is rounded: there the bits of these differ.
const ODD_MASSES: [Units; 2] =
    [Units { mass: 8192.0, ..SI }, Units { length: 8.0, mass: 1.0 / 131072.0, time: 1.0 / 2.0 }];

fn shape(n: usize, by: f64) -> Shape {
    match n % 4 {
        0 => Shape::sphere(0.25 * by),
        1 => Shape::cuboid(Vec3::new(0.3, 0.2, 0.25) * by),
        2 => Shape::capsule(0.15 * by, 0.2 * by),
        _ => {
            let corners =
                [[1.0, 0.0, -0.6], [-0.5, 0.8, -0.6], [-0.5, -0.8, -0.6], [0.0, 0.0, 1.0]];
            Shape::hull(&corners.map(|corner| Vec3::from_array(corner) * (0.3 * by)))
        }
    }
    .unwrap()
}

/// A world with its bodies, and its time step.
struct Run {
    units: Units,
    world: World,
    bodies: Vec<BodyId>,
    dt: f64,
}

impl Run {
    fn new(units: Units, plain: &Settings) -> Self {
        let settings = Settings {
            gravity: plain.gravity * (units.speed() / units.time),
            rest_speed: plain.rest_speed * units.speed(),
            position_correction_speed: plain.position_correction_speed * units.speed(),
            ..plain.clone()
        };
        // Without sleep, these are rejected.
        let settings = match plain.sleeping {
            true => Settings {
                sleep_speed: plain.sleep_speed * units.speed(),
                sleep_time: plain.sleep_time * units.time,
                ..settings
            },
            false => settings,
        };
        let mut world = World::new(settings).unwrap();
        let floor = Shape::cuboid(Vec3::new(50.0, 50.0, 0.5) * units.length).unwrap();
        let floor = BodyDef::environment(floor).position(Vec3::Z * (-0.5 * units.length));
        world.add_body(floor.material(Material::new(0.2, 0.5).unwrap())).unwrap();
        Self { units, world, bodies: Vec::new(), dt: units.time / 64.0 }
    }

    fn add(&mut self, body: BodyDef, mass: f64) -> BodyId {
        let material = Material::new(0.2, 0.5).unwrap();
        let id = self.world.add_body(body.mass(mass * self.units.mass).material(material)).unwrap();
        self.bodies.push(id);
        id
    }

    /// Adds bodies of some kinds in a loose block, each askew.
    fn heap(mut self, kinds: &[usize]) -> Self {
        let Units { length, time, .. } = self.units;
        let mut rng = Rng::new(7);
        let mut any = |size: f64| {
            let mut one = || rng.range(-size, size);
            Vec3::new(one(), one(), one())
        };
        for n in 0..40 {
            let turn = rotation((any(1.0) + Vec3::X * 1.5).normalize(), 3.0 * any(1.0).x);
            let place = Vec3::new((n % 4) as f64, (n / 4 % 4) as f64, (n / 16) as f64) * 0.8;
            let place = (place + any(0.05) + Vec3::Z * 0.6) * length;
            let body = BodyDef::inertial(shape(kinds[n % kinds.len()], length));
            let body = body.pose(Pose::new(place, turn)).velocity(any(1.0) * (length / time));
            self.add(body.angular_velocity(any(2.0) * time.recip()), 1.0 + (n % 3) as f64);
        }
        self
    }

    /// Joins the bodies in pairs by joints of all kinds.
    fn jointed(mut self) -> Self {
        let Units { length, mass, time } = self.units;
        for (n, pair) in self.bodies.chunks_exact(2).enumerate() {
            let [a, b] = [pair[0], pair[1]];
            let joint = match n % 4 {
                0 => JointDef::ball(a, b)
                    .anchors(Vec3::X * (0.4 * length), Vec3::X * (-0.4 * length)),
                1 => JointDef::rod(a, b, 0.8 * length),
                2 => JointDef::rope(a, b, 0.8 * length),
                _ => JointDef::spring(
                    a,
                    b,
                    0.8 * length,
                    200.0 * (mass / (time * time)),
                    mass / time,
                ),
            };
            self.world.add_joint(joint).unwrap();
        }
        self
    }

    /// Adds a tower of cubes that lean on each other a little, with a heavy one on top.
    fn tower(mut self) -> Self {
        let length = self.units.length;
        for level in 0..6 {
            let cube = Shape::cuboid(Vec3::splat(0.25 * length)).unwrap();
            let place = Vec3::new(0.01 * f64::from(level % 3), 0.0, 0.25 + 0.5 * f64::from(level));
            let mass = if level == 5 { 40.0 } else { 2.0 };
            self.add(BodyDef::inertial(cube).position(place * length), mass);
        }
        self
    }

    /// Returns the state of all bodies, in SI.
    fn state(&self) -> Vec<[u64; 13]> {
        let Units { length, time, .. } = self.units;
        let state = |&id: &BodyId| {
            let body = self.world.body(id).unwrap();
            let SpatialVector { linear, angular } = body.velocity();
            let (p, v, w) = (body.position() / length, linear / (length / time), angular * time);
            let q = body.pose().rotation;
            let all = [p.x, p.y, p.z, q.x, q.y, q.z, q.w, v.x, v.y, v.z, w.x, w.y, w.z];
            // Zero has two signs.
            all.map(|x| if x == 0.0 { 0 } else { x.to_bits() })
        };
        self.bodies.iter().map(state).collect()
    }
}

/// Asserts that a world is the same in all units after every step. Returns it in SI.
fn assert_same_in_all_units(settings: &Settings, steps: usize, build: impl Fn(Run) -> Run) -> Run {
    let mut plain = build(Run::new(SI, settings));
    let odd = if settings.accuracy == Accuracy::Fast { &[][..] } else { &ODD_MASSES };
    let others = OTHERS.iter().chain(odd);
    let mut others: Vec<Run> = others.map(|&units| build(Run::new(units, settings))).collect();
    for step in 0..steps {
        plain.world.step(plain.dt).unwrap();
        let expected = plain.state();
        for other in &mut others {
            other.world.step(other.dt).unwrap();
            assert!(other.state() == expected, "step {step} in {:?}, {settings:?}", other.units);
        }
    }
    plain
}

fn accuracy(accuracy: Accuracy) -> Settings {
    Settings { accuracy, ..Settings::default() }
}

#[test]
fn a_swept_heap_falls_alike_in_all_units() {
    for kinds in [&[0][..], &[1], &[2], &[3], &[0, 1, 2, 3]] {
        assert_same_in_all_units(&accuracy(Accuracy::Fast), 60, |run| run.heap(kinds).jointed());
    }
    assert_same_in_all_units(&accuracy(Accuracy::Fast), 90, |run| run.heap(&[0, 1, 2, 3]));
}

#[test]
fn an_exact_heap_falls_alike_in_all_units() {
    assert_same_in_all_units(&accuracy(Accuracy::Balanced), 90, |run| run.heap(&[0, 1, 2, 3]));
}

#[test]
fn an_exact_heap_with_joints_falls_alike_in_all_units() {
    assert_same_in_all_units(&accuracy(Accuracy::Balanced), 60, |run| {
        run.heap(&[0, 1, 2]).jointed()
    });
}

#[test]
fn a_tower_with_a_heavy_top_stands_alike_in_all_units() {
    for accuracy_of in [Accuracy::Fast, Accuracy::Balanced, Accuracy::Exact] {
        assert_same_in_all_units(&accuracy(accuracy_of), 60, Run::tower);
    }
}

#[test]
fn every_method_stands_alike_in_all_units() {
    for method in [
        Method::Pgs,
        Method::ActiveSet,
        #[cfg(feature = "conic")]
        Method::Conic,
    ] {
        let settings = Settings { method, ..Settings::default() };
        let plain = assert_same_in_all_units(&settings, 30, Run::tower);
        assert!(plain.world.body(plain.bodies[5]).unwrap().position().z > 2.7, "{method:?} stands");
    }
}

#[test]
fn sleep_comes_alike_in_all_units() {
    for accuracy in [Accuracy::Fast, Accuracy::Balanced] {
        let settings = Settings { sleeping: true, accuracy, ..Settings::default() };
        let plain = assert_same_in_all_units(&settings, 120, Run::tower);
        assert_eq!(plain.world.report().asleep, 6);
    }
}
