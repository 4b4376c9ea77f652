//! Sliding and rolling on slopes.

use msd_sim::BodyId;
use msd_sim::geometry::{ConvexHull, Shape};
use msd_sim::math::{Pose, Vec3, rotation};

use super::rig::{G, Rig, ball, block, cube, solid};
use super::{Case, CaseError, Measurement, Outcome};

pub(super) const INCLINE_HOLDS: Case = Case {
    name: "incline-holds",
    group: "friction",
    setup: "a cube on a slope of 25 deg, mu = tan 27.5 deg, does not move in 10 s",
    peers: "15 um-53 mm",
    run: incline_holds,
};

pub(super) const INCLINE_SLIDES: Case = Case {
    name: "incline-slides",
    group: "friction",
    setup: "a cube on a slope of 30 deg, mu = tan 27.5 deg, accelerates at g (sin - mu cos) for 2 s",
    peers: "0-10 %",
    run: incline_slides,
};

pub(super) const ROLL: Case = Case {
    name: "roll",
    group: "friction",
    setup: "on a slope of 20 deg, mu .6, a sphere accelerates at 5/7 and a cylinder at 2/3 of g sin",
    peers: "7e-4",
    run: roll,
};

pub(super) const FREE_WEDGE: Case = Case {
    name: "free-wedge",
    group: "friction",
    setup: "a block of m 1 kg slides down a wedge of M 2 kg and 30 deg, without friction: the wedge \
            accelerates at m g sin cos / (M + m sin^2)",
    peers: "",
    run: free_wedge,
};

/// The slope up to which friction holds the cubes, deg.
const HOLDS_TO: f64 = 27.5;

fn incline_holds() -> Outcome {
    let friction = HOLDS_TO.to_radians().tan();
    let mut rig = Rig::new()?;
    let slope = rig.incline(25.0_f64.to_radians(), 0.5, friction)?;
    let start = slope.above(0.5);
    let id = rig.add(cube(0.5, friction)?.pose(start))?;
    rig.run_for(10.0)?;
    let crept = (rig.position(id) - start.position).length();
    Ok(vec![Measurement::below("creep in 10 s", "m", 1e-6, crept)])
}

fn incline_slides() -> Outcome {
    let (friction, angle, seconds) = (HOLDS_TO.to_radians().tan(), 30.0_f64.to_radians(), 2.0);
    let mut rig = Rig::new()?;
    let slope = rig.incline(angle, 0.5, friction)?;
    let start = slope.above(0.5);
    let id = rig.add(cube(0.5, friction)?.pose(start))?;
    rig.run_for(seconds)?;
    let exact = G * (angle.sin() - friction * angle.cos());
    let speed = rig.velocity(id).dot(slope.down);
    let distance = (rig.position(id) - start.position).dot(slope.down);
    Ok(vec![
        Measurement::relative("a from speed", "m/s^2", exact, speed / seconds, 5e-4),
        Measurement::relative(
            "a from distance",
            "m/s^2",
            exact,
            2.0 * distance / (seconds * seconds),
            5e-4,
        ),
    ])
}

fn roll() -> Outcome {
    let (angle, friction, seconds) = (20.0_f64.to_radians(), 0.6, 2.0);
    let lying = rotation(Vec3::X, 90.0_f64.to_radians());
    let sphere = ball(0.0, friction)?;
    let cylinder = solid(Shape::cylinder(0.5, 0.5)?, 0.0, friction)?;
    let mut found = Vec::new();
    for (names, def, own, share) in [
        (["sphere, from speed", "sphere, from distance"], sphere, None, 5.0 / 7.0),
        (["cylinder, from speed", "cylinder, from distance"], cylinder, Some(lying), 2.0 / 3.0),
    ] {
        let mut rig = Rig::new()?;
        let slope = rig.incline(angle, 0.0, friction)?;
        let start = slope.above(0.5);
        let turn = own.map_or(slope.turn, |own| slope.turn * own);
        let id = rig.add(def.pose(Pose::new(start.position, turn)))?;
        rig.run_for(seconds)?;
        let exact = share * G * angle.sin();
        let speed = rig.velocity(id).dot(slope.down);
        let distance = (rig.position(id) - start.position).dot(slope.down);
        for (name, rate) in
            names.into_iter().zip([speed / seconds, 2.0 * distance / seconds.powi(2)])
        {
            found.push(Measurement::relative(name, "m/s^2", exact, rate, 1e-4));
        }
    }
    Ok(found)
}

fn free_wedge() -> Outcome {
    let (angle, heavy, seconds) = (30.0_f64.to_radians(), 2.0, 0.5);
    let (mut rig, [wedge, _]) = wedge(angle, heavy)?;
    let start = rig.position(wedge).x;
    rig.run_for(seconds)?;
    let (sin, cos) = angle.sin_cos();
    let exact = G * sin * cos / (heavy + sin * sin);
    let distance = rig.position(wedge).x - start;
    let speed = rig.velocity(wedge).x;
    Ok(vec![
        Measurement::relative("a from speed", "m/s^2", exact, speed / seconds, 1e-6),
        Measurement::relative(
            "a from distance",
            "m/s^2",
            exact,
            2.0 * distance / seconds.powi(2),
            1e-6,
        ),
    ])
}

/// Returns a wedge on a floor, 4 m long and rising towards +x, and a block of 1 kg on it, all without friction.
pub(super) fn wedge(angle: f64, mass: f64) -> Result<(Rig, [BodyId; 2]), CaseError> {
    let mut rig = Rig::new()?;
    rig.floor(0.0, 0.0)?;
    let tan = angle.tan();
    let mut points = Vec::new();
    for y in [-1.0, 1.0] {
        points.push(Vec3::new(0.0, y, 0.0));
        points.push(Vec3::new(4.0, y, 0.0));
        points.push(Vec3::new(4.0, y, 4.0 * tan));
    }
    let hull = ConvexHull::new(&points)?;
    let middle = hull.centroid();
    let wedge = rig.add(solid(Shape::from(hull), 0.0, 0.0)?.mass(mass).position(middle))?;
    let turn = rotation(Vec3::Y, -angle);
    let place = Vec3::new(3.0, 0.0, 3.0 * tan) + turn * Vec3::Z * 0.25;
    let block = rig.add(block(Vec3::splat(0.25), 0.0, 0.0)?.pose(Pose::new(place, turn)))?;
    Ok((rig, [wedge, block]))
}
