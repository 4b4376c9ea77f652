//! Impacts and bounces.

use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;

use super::rig::{G, Rig, ball, block, solid, steps_in};
use super::{Case, CaseError, Measurement, Outcome, farthest};

pub(super) const ROD_HIT: Case = Case {
    name: "rod-hit",
    group: "impact",
    setup: "a ball of 1 kg at 1 m/s hits a rod of 1 kg, half extents (1, .05, .05) m, .8 m off its \
            center, e 1, mu 0: J = 2 / (1 + 1 + .8^2 / I)",
    peers: "1e-8",
    run: rod_hit,
};

pub(super) const SKID_SLIDING: Case = Case {
    name: "sphere-skid-sliding",
    group: "impact",
    setup: "a sphere hits the floor at 3 m/s tangentially and 4 m/s normally, e .5, mu .1: it slides \
            throughout, J_t = mu (1 + e) 4",
    peers: "",
    run: || skid(0.1),
};

pub(super) const SKID_ROLLING: Case = Case {
    name: "sphere-skid-rolling",
    group: "impact",
    setup: "a sphere hits the floor at 3 m/s tangentially and 4 m/s normally, e .5, mu .5: it leaves \
            rolling, v_t = r omega = 5/7 3",
    peers: "",
    run: || skid(0.5),
};

pub(super) const BOUNCE_ELASTIC: Case = Case {
    name: "bounce-elastic",
    group: "impact",
    setup: "a sphere falls 10 m, e 1: after n = 5 bounces it rises to e^(2n) h",
    peers: "-.5..+63 %",
    run: || bounce(1.0, 5, 1e-3),
};

pub(super) const BOUNCE_FOUR_FIFTHS: Case = Case {
    name: "bounce-four-fifths",
    group: "impact",
    setup: "a sphere falls 10 m, e .8: after n = 5 bounces it rises to e^(2n) h",
    peers: "-1..-11 %, +47 %",
    run: || bounce(0.8, 5, 5e-3),
};

pub(super) const BOUNCE_HALF: Case = Case {
    name: "bounce-half",
    group: "impact",
    setup: "a sphere falls 10 m, e .5: after n = 4 bounces it rises to e^(2n) h",
    peers: "-34 %",
    run: || bounce(0.5, 4, 1e-2),
};

pub(super) const CRADLE: Case = Case {
    name: "cradle",
    group: "impact",
    setup: "a sphere at 1 m/s hits a row of four touching ones, e 1, no gravity: only the last leaves, \
            at 1 m/s",
    peers: "one of seven is right; the others lose 30-80 % of the energy",
    run: cradle,
};

fn rod_hit() -> Outcome {
    let mut rig = Rig::weightless()?;
    let rod = rig.add(block(Vec3::new(1.0, 0.05, 0.05), 1.0, 0.0)?)?;
    let sphere = solid(Shape::sphere(0.1)?, 1.0, 0.0)?.velocity(Vec3::Y);
    let arm = 0.8;
    let sphere = rig.add(sphere.position(Vec3::new(arm, -0.3, 0.0)))?;
    rig.run_for(0.5)?;
    let inertia = (1.0 + 0.05 * 0.05) / 3.0;
    let impulse = 2.0 / (1.0 + 1.0 + arm * arm / inertia);
    let spin = arm * impulse / inertia;
    Ok(vec![
        Measurement::relative("ball", "m/s", 1.0 - impulse, rig.velocity(sphere).y, 1e-8),
        Measurement::relative("rod", "m/s", impulse, rig.velocity(rod).y, 1e-8),
        Measurement::relative("rod's spin", "rad/s", spin, rig.spin(rod).z, 1e-8),
    ])
}

fn skid(friction: f64) -> Outcome {
    let (along, down, restitution, radius) = (3.0, 4.0, 0.5, 0.5);
    let mut rig = Rig::weightless()?;
    rig.floor(restitution, friction)?;
    let def = ball(restitution, friction)?.position(Vec3::Z * 0.9);
    let id = rig.add(def.velocity(Vec3::new(along, 0.0, -down)))?;
    rig.run_for(20.0 / 60.0)?;
    // The slip at the rim decreases by (1 + 5/2) J_t: rolling takes J_t = 2/7 of the speed, if friction suffices.
    let brake = (friction * (1.0 + restitution) * down).min(2.0 / 7.0 * along);
    let (velocity, rim) = (rig.velocity(id), radius * rig.spin(id).y);
    Ok(vec![
        Measurement::relative("v_t", "m/s", along - brake, velocity.x, 1e-6),
        Measurement::relative("r omega", "m/s", 2.5 * brake, rim, 1e-6),
        Measurement::relative("v_n", "m/s", restitution * down, velocity.z, 1e-6),
    ])
}

fn bounce(restitution: f64, bounces: i32, fraction: f64) -> Outcome {
    let share = restitution.powi(2 * bounces);
    let height = 10.0;
    let top = apex(height, restitution, bounces)?;
    // The height determines when within a step an impact occurs: a single height could pass by chance.
    let mut worst = share;
    for n in 0..20 {
        let height = height + f64::from(n) * 0.05;
        worst = farthest(share, [worst, apex(height, restitution, bounces)? / height]);
    }
    Ok(vec![
        Measurement::relative("rise from 10 m", "m", share * height, top, fraction),
        Measurement::relative("rise / h, worst of 20 h in 10..11 m", "", share, worst, fraction),
    ])
}

/// Returns how high a ball rises after some bounces when dropped from a height, both from its rest position, m.
fn apex(height: f64, restitution: f64, bounces: i32) -> Result<f64, CaseError> {
    let rest = 0.5;
    let mut rig = Rig::new()?;
    rig.floor(restitution, 0.5)?;
    let id = rig.add(ball(restitution, 0.5)?.position(Vec3::Z * (rest + height)))?;
    let (mut left, mut before) = (bounces, 0.0);
    // Five elastic bounces take 13.6 s.
    for _ in 0..steps_in(15.0) {
        rig.step()?;
        let speed = rig.velocity(id).z;
        left -= i32::from(before <= 0.0 && speed > 0.0);
        before = speed;
        if left == 0 {
            // In flight, height and speed at any time give the apex.
            return Ok(rig.position(id).z - rest + speed * speed / (2.0 * G));
        }
    }
    Ok(f64::NAN)
}

fn cradle() -> Outcome {
    let mut rig = Rig::weightless()?;
    let first = rig.add(ball(1.0, 0.0)?.position(Vec3::X * -1.3).velocity(Vec3::X))?;
    let mut row = vec![first];
    for n in 0..4 {
        row.push(rig.add(ball(1.0, 0.0)?.position(Vec3::X * f64::from(n)))?);
    }
    let energy = rig.energy();
    rig.run_for(1.0)?;
    let names = ["first", "second", "third", "fourth", "fifth"];
    let mut found = Vec::new();
    for (n, (name, id)) in names.into_iter().zip(row).enumerate() {
        let expected = if n == 4 { 1.0 } else { 0.0 };
        let speed = rig.velocity(id).x;
        found.push(Measurement::absolute(name, "m/s", expected, speed, 1e-9));
    }
    found.push(Measurement::relative("energy", "J", energy, rig.energy(), 1e-9));
    Ok(found)
}
