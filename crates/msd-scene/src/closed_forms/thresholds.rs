//! Thresholds of stability.

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Vec3, rotation};
use msd_sim::{BodyDef, BodyId, Material};

use super::rig::{Rig, block, solid};
use super::{Case, CaseError, Measurement, Outcome, farthest};

pub(super) const LADDER_45: Case = Case {
    name: "ladder-45",
    group: "stability",
    setup: "a ladder of L 2 m, half thickness t .02 m, at 45 deg against a frictionless wall slips below \
            mu = (cot - t) / 2",
    peers: ".002-.7 %",
    run: || ladders(45.0),
};

pub(super) const LADDER_60: Case = Case {
    name: "ladder-60",
    group: "stability",
    setup: "a ladder of L 2 m, half thickness t .02 m, at 60 deg against a frictionless wall slips below \
            mu = (cot - t) / 2",
    peers: ".002-.7 %",
    run: || ladders(60.0),
};

pub(super) const LADDER_70: Case = Case {
    name: "ladder-70",
    group: "stability",
    setup: "a ladder of L 2 m, half thickness t .02 m, at 70 deg against a frictionless wall slips below \
            mu = (cot - t) / 2",
    peers: ".002-.7 %",
    run: || ladders(70.0),
};

pub(super) const OVERHANG: Case = Case {
    name: "overhang",
    group: "stability",
    setup: "three blocks of 1 m at a table's edge, overhanging the support below by 1/6, 1/4, 1/2 m \
            times s, stand while s < 1",
    peers: ".04-.6 %",
    run: overhangs,
};

pub(super) const CYLINDERS_BETWEEN: Case = Case {
    name: "three-cylinders-between",
    group: "stability",
    setup: "a cylinder on two touching ones stands while the friction between them exceeds tan 15 deg",
    peers: "",
    run: cylinders_between,
};

pub(super) const CYLINDERS_FLOOR: Case = Case {
    name: "three-cylinders-floor",
    group: "stability",
    setup: "a cylinder on two touching ones stands while friction with the floor exceeds tan 15 deg / 3",
    peers: "",
    run: cylinders_floor,
};

pub(super) const TOPPLE: Case = Case {
    name: "topple",
    group: "stability",
    setup: "a box of base b .5 m and height h 1 m on a slope, mu 2, topples beyond tan = b / h",
    peers: ".05-1.5 %",
    run: topples,
};

/// Simulated time, in which a fall must become visible, s.
const SECONDS: f64 = 5.0;
/// Maximum displacement, m, and final speed, m/s, of a scene that stands: those of a standing stack.
const STANDING_LIMITS: (f64, f64) = (1e-3, 1e-6);
/// Displacement beyond which a scene has fallen, m: the slowest fall tried, 0.2 % beyond a threshold, moves several
/// times as far in the time.
const FALLEN: f64 = 1e-2;
/// Values tried on either side, one to four tolerances away, since a single one could pass by chance. The names of the
/// quantities contain this number.
const TRIED: usize = 16;
/// Bisections of the tolerance band: the threshold is found to 1/256 of it.
const BISECTIONS: u32 = 8;

/// The value of a parameter at which a scene begins to fall.
struct Threshold {
    quantity: &'static str,
    expected: f64,
    fraction: f64,
    /// 1 if the scene stands above the value, -1 if below.
    side: f64,
}

impl Threshold {
    /// Runs the scene at values on either side of the tolerance band, where it must stand or fall, then bisects the
    /// band to find the threshold.
    fn find(&self, scene: impl Fn(f64) -> Result<(Rig, BodyId), CaseError>) -> Outcome {
        // Offset as a fraction of the expected value, positive on the side where the scene stands.
        let play = |beyond: f64| run_scene(scene(self.expected * (1.0 + self.side * beyond))?);
        let (mut standing, mut fallen, mut most) = (0, 0, 0.0);
        for n in 0..TRIED {
            let away = self.fraction * (1.0 + 3.0 * n as f64 / (TRIED - 1) as f64);
            let inside = play(away)?;
            standing += usize::from(inside.stands());
            most = farthest(0.0, [most, inside.moved]);
            fallen += usize::from(play(-away)?.moved > FALLEN);
        }
        let (mut stands, mut falls) = (self.fraction, -self.fraction);
        // If an edge of the band is on the wrong side, widens the band until it contains the threshold.
        while stands < 0.5 && !play(stands)?.stands() {
            stands *= 2.0;
        }
        while falls > -0.5 && play(falls)?.stands() {
            falls *= 2.0;
        }
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (stands + falls);
            if play(middle)?.stands() {
                stands = middle;
            } else {
                falls = middle;
            }
        }
        let found = self.expected * (1.0 + self.side * 0.5 * (stands + falls));
        let all =
            |quantity, count| Measurement::absolute(quantity, "", TRIED as f64, count as f64, 0.0);
        Ok(vec![
            Measurement::relative(self.quantity, "", self.expected, found, self.fraction),
            all("stands at, of 16 values 1 to 4 tolerances inside", standing),
            Measurement::below("largest displacement there", "m", STANDING_LIMITS.0, most),
            all("falls at, of 16 values 1 to 4 tolerances outside", fallen),
        ])
    }
}

/// The final state of a scene.
struct EndState {
    /// Displacement of the observed body, m.
    moved: f64,
    /// Upper bound on all speeds at the end, m/s.
    speed: f64,
}

impl EndState {
    fn stands(&self) -> bool {
        self.moved < STANDING_LIMITS.0 && self.speed < STANDING_LIMITS.1
    }
}

/// Runs a scene and observes one of its bodies.
fn run_scene((mut rig, id): (Rig, BodyId)) -> Result<EndState, CaseError> {
    let from = rig.position(id);
    rig.run_for(SECONDS)?;
    Ok(EndState { moved: (rig.position(id) - from).length(), speed: rig.speed() })
}

fn ladders(degrees: f64) -> Outcome {
    // Moments about the foot: N_wall 2 sin = m g (cos - t sin), and N_wall = mu m g.
    let angle = degrees.to_radians();
    let expected = 0.5 * (1.0 / angle.tan() - THICKNESS);
    let threshold = Threshold { quantity: "mu", expected, fraction: 2e-3, side: 1.0 };
    threshold.find(|friction| ladder(angle, friction))
}

/// Half the ladder's thickness, m.
const THICKNESS: f64 = 0.02;

/// Returns a ladder of 2 m that leans against a frictionless wall at an angle from the floor, touching both with its
/// lower edges.
pub(super) fn ladder(angle: f64, friction: f64) -> Result<(Rig, BodyId), CaseError> {
    let mut rig = Rig::new()?;
    rig.floor(0.0, friction)?;
    let wall = BodyDef::environment(Shape::cuboid(Vec3::new(0.5, 5.0, 5.0))?);
    let frictionless = Material::new(0.0, 0.0)?;
    rig.add(wall.position(Vec3::new(-0.5, 0.0, 5.0)).material(frictionless))?;
    let (sin, cos) = angle.sin_cos();
    // Directions along the ladder, upwards to the wall, and out of its upper side.
    let (along, out) = (Vec3::new(-cos, 0.0, sin), Vec3::new(sin, 0.0, cos));
    let foot = Vec3::new(2.0 * cos, 0.0, 0.0);
    let pose = Pose::new(foot + along + out * THICKNESS, rotation(Vec3::Y, angle));
    let id = rig.add(block(Vec3::new(1.0, 0.2, THICKNESS), 0.0, friction)?.pose(pose))?;
    Ok((rig, id))
}

fn overhangs() -> Outcome {
    let threshold = Threshold { quantity: "s", expected: 1.0, fraction: 3e-3, side: -1.0 };
    threshold.find(overhang)
}

/// Returns three blocks on a table that ends at x = 0, and the handle of the top one.
pub(super) fn overhang(share: f64) -> Result<(Rig, BodyId), CaseError> {
    let mut rig = Rig::new()?;
    let table = BodyDef::environment(Shape::cuboid(Vec3::new(5.0, 5.0, 0.5))?);
    let table = table.position(Vec3::new(-5.0, 0.0, -0.5));
    let mut top = rig.add(table.material(Material::new(0.0, 0.5)?))?;
    let mut end = 0.0;
    for (n, overhang) in [1.0 / 6.0, 1.0 / 4.0, 1.0 / 2.0].into_iter().enumerate() {
        end += overhang * share;
        let place = Vec3::new(end - 0.5, 0.0, 0.1 + 0.2 * n as f64);
        top = rig.add(block(Vec3::new(0.5, 0.25, 0.1), 0.0, 0.5)?.position(place))?;
    }
    Ok((rig, top))
}

/// Returns the minimum friction between the cylinders. The line of centers is at 30 deg to the vertical. The lower
/// cylinder is in balance only if the force from above points at its contact with the floor: at half that angle to
/// the line.
fn least_between() -> f64 {
    15.0_f64.to_radians().tan()
}

fn cylinders_between() -> Outcome {
    let expected = least_between();
    let threshold = Threshold { quantity: "mu between", expected, fraction: 5e-3, side: 1.0 };
    // Ten times the friction that the floor needs.
    threshold.find(|between| cylinders(between, 0.9))
}

fn cylinders_floor() -> Outcome {
    // Each lower cylinder carries half of the top one's weight, at 15 deg; the floor carries 3/2 weights.
    let expected = least_between() / 3.0;
    let threshold = Threshold { quantity: "mu at the floor", expected, fraction: 5e-3, side: 1.0 };
    // Three times the friction needed between the cylinders.
    threshold.find(|below| cylinders(3.0 * least_between(), below))
}

/// Returns two cylinders on the floor and one on top, and the handle of the top one.
pub(super) fn cylinders(between: f64, below: f64) -> Result<(Rig, BodyId), CaseError> {
    let mut rig = Rig::new()?;
    // Friction combines by the geometric mean.
    let mut top = rig.floor(0.0, below * below / between)?;
    let lying = rotation(Vec3::X, 90.0_f64.to_radians());
    for (x, z) in [(-0.5, 0.5), (0.5, 0.5), (0.0, 0.5 + 0.75_f64.sqrt())] {
        let def = solid(Shape::cylinder(0.5, 0.5)?, 0.0, between)?.orientation(lying);
        top = rig.add(def.position(Vec3::new(x, 0.0, z)))?;
    }
    Ok((rig, top))
}

fn topples() -> Outcome {
    let (base, height) = (0.5, 1.0);
    let expected = base / height;
    let threshold = Threshold { quantity: "tan", expected, fraction: 2e-3, side: -1.0 };
    threshold.find(|tan| {
        let mut rig = Rig::new()?;
        let slope = rig.incline(tan.atan(), 0.0, 2.0)?;
        let def = block(Vec3::new(0.5 * base, 0.5 * base, 0.5 * height), 0.0, 2.0)?;
        let id = rig.add(def.pose(slope.above(0.5 * height)))?;
        Ok((rig, id))
    })
}
