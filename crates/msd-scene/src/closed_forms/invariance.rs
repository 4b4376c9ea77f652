//! Invariance under translation, boost, rotation, mirroring and reordering: after 5 s of scenes that do not amplify
//! small differences, all bodies are at the transformed positions.

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Quat, Vec3, rotation};
use msd_sim::{BodyDef, Settings};

use super::rig::{G, Rig, floor, solid};
use super::{Case, CaseError, Measurement, Outcome, farthest};

pub(super) const BOOST_10: Case = Case {
    name: "boost-10",
    group: "invariance",
    setup: "seven scenes that move as a whole at 10 m/s, level and rising: every body is where it is \
            in the scene at rest, plus v t",
    peers: PEERS,
    run: || compare_frames(&boosts(10.0)),
};

pub(super) const BOOST_100: Case = Case {
    name: "boost-100",
    group: "invariance",
    setup: "seven scenes that move as a whole at 100 m/s, level and rising: every body is where it \
            is in the scene at rest, plus v t",
    peers: PEERS,
    run: || compare_frames(&boosts(100.0)),
};

pub(super) const SHIFT: Case = Case {
    name: "shift",
    group: "invariance",
    setup: "seven scenes 1000 m away, horizontally and vertically: every body is where it is near the \
            origin, plus the shift",
    peers: PEERS,
    run: || {
        let shifts = [Vec3::new(600.0, -800.0, 0.0), Vec3::Z * 1000.0];
        compare_frames(&shifts.map(|shift| Frame { shift, ..SAME }))
    },
};

pub(super) const ROTATE: Case = Case {
    name: "rotate",
    group: "invariance",
    setup: "seven scenes rotated by .7 rad about z and by 1.1 rad about (1, 2, -.5), with gravity: \
            every body is at the rotated position",
    peers: PEERS,
    run: || {
        let turns = [rotation(Vec3::Z, 0.7), rotation(Vec3::new(1.0, 2.0, -0.5), 1.1)];
        compare_frames(&turns.map(|turn| Frame { turn, ..SAME }))
    },
};

pub(super) const MIRROR: Case = Case {
    name: "mirror",
    group: "invariance",
    setup: "seven scenes mirrored in y: every body is at the mirrored position",
    peers: PEERS,
    run: || compare_frames(&[Frame { mirrored: true, ..SAME }]),
};

pub(super) const PERMUTE: Case = Case {
    name: "permute",
    group: "invariance",
    setup: "seven scenes whose bodies are added in another order, the first one last: every body is at \
            the same position",
    peers: PEERS,
    run: || compare_frames(&[Frame { order: |order| order.rotate_left(1), ..SAME }]),
};

pub(super) const SWAP: Case = Case {
    name: "swap",
    group: "invariance",
    setup: "seven scenes whose bodies are added in reverse, so that A and B of every pair are \
            swapped: every body is at the same position",
    peers: PEERS,
    run: || compare_frames(&[Frame { order: |order| order.reverse(), ..SAME }]),
};

const PEERS: &str = "3e-4..1e-3 m";
/// Maximum distance from the transformed position, m.
const LIMIT: f64 = 1e-6;
const SECONDS: f64 = 5.0;

/// The frame of a scene: mirrored in y or not, then rotated, shifted and boosted; and the order in which its bodies are
/// added.
#[derive(Clone, Copy)]
struct Frame {
    mirrored: bool,
    turn: Quat,
    shift: Vec3,
    boost: Vec3,
    order: fn(&mut [usize]),
}

const SAME: Frame = Frame {
    mirrored: false,
    turn: Quat::IDENTITY,
    shift: Vec3::ZERO,
    boost: Vec3::ZERO,
    order: |_| {},
};

impl Frame {
    /// Transforms a polar vector, such as a velocity.
    fn vector(&self, v: Vec3) -> Vec3 {
        self.turn * if self.mirrored { Vec3::new(v.x, -v.y, v.z) } else { v }
    }

    /// Transforms an axial vector, such as an angular velocity.
    fn axial(&self, v: Vec3) -> Vec3 {
        self.turn * if self.mirrored { Vec3::new(-v.x, v.y, -v.z) } else { v }
    }

    /// Transforms a point at a time, s.
    fn point(&self, p: Vec3, time: f64) -> Vec3 {
        self.vector(p) + self.shift + self.boost * time
    }
}

/// Returns frames that move along the floor, and upwards at 42 deg to it.
fn boosts(speed: f64) -> [Frame; 2] {
    let directions = [Vec3::new(0.8, 0.6, 0.0), Vec3::new(2.0, 1.0, 2.0) / 3.0];
    directions.map(|direction| Frame { boost: direction * speed, ..SAME })
}

/// A body in the untransformed scene, without rotation.
#[derive(Clone)]
struct BodySpec {
    def: BodyDef,
    position: Vec3,
    velocity: Vec3,
    spin: Vec3,
}

impl BodySpec {
    fn new(def: BodyDef, position: Vec3) -> Self {
        Self { def, position, velocity: Vec3::ZERO, spin: Vec3::ZERO }
    }

    fn moving(mut self, velocity: Vec3, spin: Vec3) -> Self {
        (self.velocity, self.spin) = (velocity, spin);
        self
    }
}

/// Returns the scenes with their names.
fn scenes() -> Result<Vec<(&'static str, Vec<BodySpec>)>, CaseError> {
    let ground = BodySpec::new(floor(0.5, 0.5)?, Vec3::Z * -0.5);
    let (cube, ball) = (Shape::cuboid(Vec3::splat(0.5))?, Shape::sphere(0.5)?);
    let dull = solid(cube.clone(), 0.0, 0.5)?;
    let cube = solid(cube, 0.5, 0.5)?;
    let ball = solid(ball, 0.5, 0.5)?;
    let brick = solid(Shape::cuboid(Vec3::new(0.3, 0.4, 0.5))?, 0.5, 0.5)?;
    let still = |x: f64, z: f64| BodySpec::new(cube.clone(), Vec3::new(x, 0.0, z));

    let slider = BodySpec::new(dull.clone(), Vec3::Z * 0.5);
    let slider = slider.moving(Vec3::new(4.0, 2.0, 0.0), Vec3::ZERO);
    let bouncer = BodySpec::new(ball.clone(), Vec3::Z * 2.0);
    let bouncer = bouncer.moving(Vec3::new(1.0, 0.5, 0.0), Vec3::new(3.0, -2.0, 1.0));
    let roller = BodySpec::new(ball, Vec3::Z * 0.5);
    let roller = roller.moving(Vec3::new(2.0, -1.0, 0.0), Vec3::new(0.0, -5.0, 2.0));
    // High enough not to land within the time.
    let thrown = BodySpec::new(brick, Vec3::Z * 200.0);
    let thrown = thrown.moving(Vec3::new(3.0, 1.0, 4.0), Vec3::new(1.0, 2.0, 0.5));
    let pushed = BodySpec::new(dull.clone(), Vec3::new(1.5, 0.0, 0.5));
    let pusher = BodySpec::new(dull, Vec3::Z * 0.5).moving(Vec3::X * 4.0, Vec3::ZERO);
    Ok(vec![
        ("slide", vec![ground.clone(), slider]),
        ("bounce", vec![ground.clone(), bouncer]),
        ("roll", vec![ground.clone(), roller]),
        ("flight", vec![ground.clone(), thrown]),
        ("push", vec![ground.clone(), pusher, pushed]),
        ("stack", vec![ground.clone(), still(0.0, 0.5), still(0.0, 1.5), still(0.0, 2.5)]),
        ("flat drop", vec![ground, still(0.0, 1.2), still(0.0, 2.4)]),
    ])
}

/// Measures the largest distance of any body from its transformed position, for each scene over all frames.
fn compare_frames(frames: &[Frame]) -> Outcome {
    let mut found = Vec::new();
    for (name, specs) in scenes()? {
        let plain = run_scene(&specs, &SAME)?;
        let mut worst = 0.0;
        for frame in frames {
            for (plain, seen) in plain.iter().zip(run_scene(&specs, frame)?) {
                worst = farthest(0.0, [worst, (frame.point(*plain, SECONDS) - seen).length()]);
            }
        }
        found.push(Measurement::below(name, "m", LIMIT, worst));
    }
    Ok(found)
}

/// Runs a scene in a frame, and returns the final position of each body.
fn run_scene(specs: &[BodySpec], frame: &Frame) -> Result<Vec<Vec3>, CaseError> {
    let gravity = frame.vector(Vec3::Z * -G);
    let mut rig = Rig::with(Settings { gravity, ..Settings::default() })?;
    let mut order: Vec<usize> = (0..specs.len()).collect();
    (frame.order)(&mut order);
    let mut ids = Vec::new();
    for n in order {
        let spec = &specs[n];
        let pose = Pose::new(frame.point(spec.position, 0.0), frame.turn);
        let def = spec.def.clone().pose(pose);
        let def = def.velocity(frame.vector(spec.velocity) + frame.boost);
        ids.push((n, rig.add(def.angular_velocity(frame.axial(spec.spin)))?));
    }
    rig.run_for(SECONDS)?;
    ids.sort_by_key(|(n, _)| *n);
    Ok(ids.into_iter().map(|(_, id)| rig.position(id)).collect())
}
