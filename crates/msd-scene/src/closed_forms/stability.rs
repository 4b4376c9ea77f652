//! Stacks that must remain standing.

use msd_sim::BodyId;
use msd_sim::math::Vec3;

use super::rig::{Rig, cube, steps_in};
use super::{Case, CaseError, Measurement, Outcome, farthest};

pub(super) const STACK_10: Case = Case {
    name: "stack-10",
    group: "stability",
    setup: "a stack of ten cubes of 1 m stands for 60 s: the top's center stays at (0, 0, 9.5) m",
    peers: "sinks 2-26 mm, drifts 0-47 mm, moves at up to 20 mm/s",
    run: || stack(10, 60.0, 1e-3),
};

pub(super) const STACK_20: Case = Case {
    name: "stack-20",
    group: "stability",
    setup: "a stack of twenty cubes of 1 m stands for 10 s: the top's center stays at \
            (0, 0, 19.5) m",
    peers: "sags 8-106 mm, two of seven fall",
    run: || stack(20, 10.0, 5e-3),
};

pub(super) const HEAVY_ON_LIGHT: Case = Case {
    name: "heavy-on-light",
    group: "stability",
    setup: "a cube of 1000 kg stands on one of 1 kg for 10 s: its center stays at z = 1.5 m",
    peers: "only MuJoCo stands (12 mm)",
    run: heavy_on_light,
};

fn stack(count: usize, seconds: f64, sag: f64) -> Outcome {
    let (mut rig, top) = tower(count)?;
    rig.run_for(seconds)?;
    let place = rig.position(top);
    let sinks = count as f64 - 0.5 - place.z;
    Ok(vec![
        Measurement::below("sag of the top", "m", sag, sinks),
        Measurement::below("drift of the top", "m", 1e-4, place.x.hypot(place.y)),
        Measurement::below("largest speed at the end", "m/s", 1e-6, rig.speed()),
    ])
}

/// Returns a stack of cubes, and the handle of the top one.
pub(super) fn tower(count: usize) -> Result<(Rig, BodyId), CaseError> {
    let mut rig = Rig::new()?;
    let mut top = rig.floor(0.5, 0.5)?;
    for n in 0..count {
        top = rig.add(cube(0.5, 0.5)?.position(Vec3::Z * (0.5 + n as f64)))?;
    }
    Ok((rig, top))
}

fn heavy_on_light() -> Outcome {
    let mut rig = Rig::new()?;
    rig.floor(0.5, 0.5)?;
    rig.add(cube(0.5, 0.5)?.position(Vec3::Z * 0.5))?;
    let start = Vec3::Z * 1.5;
    let heavy = rig.add(cube(0.5, 0.5)?.mass(1000.0).position(start))?;
    let mut deepest = 0.0;
    for _ in 0..steps_in(10.0) {
        rig.step()?;
        deepest = farthest(0.0, [deepest, rig.world.report().max_penetration.unwrap_or(f64::NAN)]);
    }
    let moved = (rig.position(heavy) - start).length();
    Ok(vec![
        Measurement::below("penetration, worst", "m", 1e-3, deepest),
        // Two contacts, each of which may sink by the allowed penetration.
        Measurement::below("displacement of the heavy cube", "m", 2e-3, moved),
        Measurement::below("largest speed at the end", "m/s", 1e-6, rig.speed()),
    ])
}
