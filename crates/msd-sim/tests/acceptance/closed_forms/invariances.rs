//! Invariances: the same motion in another place, at another velocity, rotated, mirrored, or with
//! its bodies added in another order agrees within 1e-6 m after 5 s.

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Quat, Vec3, rotation};
use msd_sim::{BodyDef, BodyId, Settings};

use crate::audited_scene::{AuditedScene, material};

const DOWN: Vec3 = Vec3::new(0.0, 0.0, -9.81);

/// A body of a scene, before it is transformed into a frame.
#[derive(Clone)]
struct BodySpec {
    shape: Shape,
    moves: bool,
    restitution: f64,
    friction: f64,
    pose: Pose,
    velocity: Vec3,
    spin: Vec3,
}

impl BodySpec {
    fn new(shape: Shape, position: Vec3) -> Self {
        let pose = Pose::at(position);
        let (velocity, spin) = (Vec3::ZERO, Vec3::ZERO);
        Self { shape, moves: true, restitution: 0.5, friction: 0.5, pose, velocity, spin }
    }

    fn floor() -> Self {
        let shape = Shape::cuboid(Vec3::new(50.0, 50.0, 0.5)).unwrap();
        Self { moves: false, ..Self::new(shape, Vec3::Z * -0.5) }
    }

    fn cube(position: Vec3) -> Self {
        Self::new(Shape::cuboid(Vec3::splat(0.5)).unwrap(), position)
    }

    fn ball(position: Vec3) -> Self {
        Self::new(Shape::sphere(0.5).unwrap(), position)
    }
}

/// A reference frame: mirrored in y or not, then rotated, translated, and boosted.
#[derive(Clone, Copy)]
struct Frame {
    mirrored: bool,
    turn: Quat,
    shift: Vec3,
    boost: Vec3,
    check_ledger: bool,
}

const SAME: Frame = Frame {
    mirrored: false,
    turn: Quat::IDENTITY,
    shift: Vec3::ZERO,
    boost: Vec3::ZERO,
    check_ledger: true,
};

impl Frame {
    fn vector(&self, v: Vec3) -> Vec3 {
        self.turn * if self.mirrored { Vec3::new(v.x, -v.y, v.z) } else { v }
    }

    /// Transforms an axial vector, such as an angular velocity.
    fn axial(&self, v: Vec3) -> Vec3 {
        self.turn * if self.mirrored { Vec3::new(-v.x, v.y, -v.z) } else { v }
    }

    fn rotation(&self, q: Quat) -> Quat {
        self.turn * if self.mirrored { Quat::from_xyzw(-q.x, q.y, -q.z, q.w) } else { q }
    }

    fn point(&self, p: Vec3, time: f64) -> Vec3 {
        self.vector(p) + self.shift + self.boost * time
    }
}

/// Simulates a scene in a frame, its bodies added in some order, and returns their positions.
fn simulate(bodies: &[BodySpec], order: &[usize], frame: Frame, seconds: f64) -> Vec<Vec3> {
    let scene = AuditedScene::with(Settings { gravity: frame.vector(DOWN), ..Settings::default() });
    let mut scene = if frame.check_ledger { scene } else { scene.without_ledger() };
    let mut ids: Vec<Option<BodyId>> = vec![None; bodies.len()];
    for &n in order {
        let body = &bodies[n];
        let def = if body.moves {
            BodyDef::inertial(body.shape.clone()).mass(1.0)
        } else {
            BodyDef::environment(body.shape.clone())
        };
        let pose = Pose::new(
            frame.point(body.pose.position, 0.0),
            frame.rotation(body.pose.rotation).normalize(),
        );
        let def = def
            .pose(pose)
            .material(material(body.restitution, body.friction))
            .velocity(frame.vector(body.velocity) + frame.boost)
            .angular_velocity(frame.axial(body.spin));
        ids[n] = Some(scene.add(def));
    }
    scene.seconds(seconds);
    ids.into_iter().map(|id| scene.position(id.unwrap())).collect()
}

/// Scenes that do not amplify small differences.
fn scenes() -> Vec<(&'static str, Vec<BodySpec>)> {
    let mut slider = BodySpec::cube(Vec3::Z * 0.5);
    slider.velocity = Vec3::new(4.0, 2.0, 0.0);
    slider.restitution = 0.0;
    let mut bouncer = BodySpec::ball(Vec3::new(0.0, 0.0, 2.0));
    bouncer.velocity = Vec3::new(1.0, 0.5, 0.0);
    bouncer.spin = Vec3::new(3.0, -2.0, 1.0);
    let mut roller = BodySpec::ball(Vec3::Z * 0.5);
    roller.velocity = Vec3::new(2.0, -1.0, 0.0);
    roller.spin = Vec3::new(0.0, -5.0, 2.0);
    let mut thrown = BodySpec::cube(Vec3::new(0.0, 0.0, 200.0));
    thrown.shape = Shape::cuboid(Vec3::new(0.3, 0.4, 0.5)).unwrap();
    thrown.velocity = Vec3::new(3.0, 1.0, 4.0);
    thrown.spin = Vec3::new(1.0, 2.0, 0.5);
    let mut pushed = BodySpec::cube(Vec3::new(1.5, 0.0, 0.5));
    pushed.restitution = 0.0;
    let mut pusher = pushed.clone();
    pusher.pose.position.x = 0.0;
    pusher.velocity = Vec3::X * 4.0;
    let stack = |n: f64| BodySpec::cube(Vec3::Z * (0.5 + n));
    let dropped = |x: f64, z: f64| BodySpec::cube(Vec3::new(x, 0.0, z));
    vec![
        ("slide", vec![BodySpec::floor(), slider]),
        ("bounce", vec![BodySpec::floor(), bouncer]),
        ("roll", vec![BodySpec::floor(), roller]),
        ("flight", vec![BodySpec::floor(), thrown]),
        ("push", vec![BodySpec::floor(), pusher, pushed]),
        ("stack", vec![BodySpec::floor(), stack(0.0), stack(1.0), stack(2.0)]),
        ("flat drop", vec![BodySpec::floor(), dropped(0.0, 1.2), dropped(0.0, 2.4)]),
    ]
}

/// Asserts that every scene moves alike in a frame.
fn check(frame: Frame) {
    check_some(frame, |_| true);
}

fn check_some(frame: Frame, which: impl Fn(&str) -> bool) {
    let mut wrong = Vec::new();
    for (name, bodies) in scenes().into_iter().filter(|(name, _)| which(name)) {
        let order: Vec<usize> = (0..bodies.len()).collect();
        let plain = simulate(&bodies, &order, SAME, 5.0);
        let seen = simulate(&bodies, &order, frame, 5.0);
        for (plain, seen) in plain.iter().zip(seen) {
            let off = (frame.point(*plain, 5.0) - seen).length();
            if !(off <= 1e-6) {
                wrong.push(format!("{name}: {off:e} m"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn motion_is_the_same_in_a_horizontally_moving_frame() {
    for speed in [10.0, 100.0] {
        check(Frame { boost: Vec3::new(0.8, 0.6, 0.0) * speed, check_ledger: false, ..SAME });
    }
}

/// Frames that rise with the floor at 10 and 100 m/s.
fn rising() -> [Frame; 2] {
    [10.0, 100.0].map(|speed| {
        let boost = Vec3::new(2.0, 1.0, 2.0) * (speed / 3.0);
        Frame { boost, check_ledger: false, ..SAME }
    })
}

#[test]
fn motion_is_the_same_in_a_rising_frame() {
    for frame in rising() {
        check_some(frame, |name| name != "bounce");
    }
}

#[test]
fn a_bounce_is_the_same_in_a_rising_frame() {
    for frame in rising() {
        check_some(frame, |name| name == "bounce");
    }
}

#[test]
fn motion_is_the_same_a_kilometre_away() {
    check(Frame { shift: Vec3::new(600.0, -800.0, 0.0), ..SAME });
    check(Frame { shift: Vec3::new(0.0, 0.0, 1000.0), ..SAME });
}

#[test]
fn motion_is_the_same_when_rotated_together_with_gravity() {
    check(Frame { turn: rotation(Vec3::Z, 0.7), ..SAME });
    check(Frame { turn: rotation(Vec3::new(1.0, 2.0, -0.5).normalize(), 1.1), ..SAME });
}

#[test]
fn motion_is_the_same_when_mirrored() {
    check(Frame { mirrored: true, ..SAME });
}

#[test]
fn the_ledger_balances_in_a_moving_frame() {
    check(Frame { boost: Vec3::new(0.8, 0.6, 0.0) * 10.0, ..SAME });
    check(Frame { boost: Vec3::new(2.0, 1.0, 2.0) * 10.0, ..SAME });
}

#[test]
fn motion_does_not_depend_on_the_order_of_bodies() {
    check_order(false);
}

#[test]
fn a_bounce_does_not_depend_on_the_order_of_bodies() {
    check_order(true);
}

fn check_order(bounce: bool) {
    let mut wrong = Vec::new();
    for (name, bodies) in scenes().into_iter().filter(|(name, _)| (*name == "bounce") == bounce) {
        let forward: Vec<usize> = (0..bodies.len()).collect();
        let backward: Vec<usize> = forward.iter().rev().copied().collect();
        let mut rotated = forward.clone();
        rotated.rotate_left(1);
        let plain = simulate(&bodies, &forward, SAME, 5.0);
        for order in [backward, rotated] {
            for (plain, seen) in plain.iter().zip(simulate(&bodies, &order, SAME, 5.0)) {
                let off = (*plain - seen).length();
                if !(off <= 1e-6) {
                    wrong.push(format!("{name} {order:?}: {off:e} m"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
