//! Free flight and free rotation.

use std::f64::consts::{PI, TAU};

use msd_sim::math::{Vec3, rotation};

use super::rig::{DT, G, Rig, ball, block, steps_in};
use super::{Case, Measurement, Outcome, farthest};

pub(super) const PROJECTILE: Case = Case {
    name: "projectile",
    group: "flight",
    setup: "a sphere thrown at (3, 4, 12) m/s follows x0 + v0 t + g t^2 / 2 for 2 s",
    peers: "2e-2 m",
    run: projectile,
};

pub(super) const PRECESSION: Case = Case {
    name: "precession",
    group: "flight",
    setup: "a 1 x 1 x 3 m box with omega (1, 0, 5) rad/s: its long axis precesses about L at |L| / I1, \
            14.14 rad in 10 s",
    peers: ".13-.65 rad",
    run: precession,
};

pub(super) const TUMBLING: Case = Case {
    name: "tumbling",
    group: "flight",
    setup: "a 1 x 2 x 3 m box with omega (.01, 5, .01) rad/s flips every 2 K(k) / lambda, by Jacobi's \
            elliptic functions: 9 times in 60 s",
    peers: "energy 0-17 %, direction of L .2-2.6 deg, period 0-21 %",
    run: tumbling,
};

fn projectile() -> Outcome {
    let mut rig = Rig::new()?;
    let (start, velocity) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(3.0, 4.0, 12.0));
    let id = rig.add(ball(0.5, 0.5)?.position(start).velocity(velocity))?;
    let exact = |t: f64| start + velocity * t - Vec3::Z * (0.5 * G * t * t);
    let mut off = 0.0;
    for n in 1..=steps_in(2.0) {
        rig.step()?;
        off = farthest(0.0, [off, (rig.position(id) - exact(n as f64 * DT)).length()]);
    }
    let end = rig.position(id);
    Ok(vec![
        Measurement::absolute("height after 2 s", "m", exact(2.0).z, end.z, 1e-9),
        Measurement::below("largest distance from the parabola", "m", 1e-9, off),
    ])
}

fn precession() -> Outcome {
    let half = Vec3::new(0.5, 0.5, 1.5);
    let spin = Vec3::new(1.0, 0.0, 5.0);
    let mut rig = Rig::weightless()?;
    let id = rig.add(block(half, 0.5, 0.5)?.angular_velocity(spin))?;
    let inertia = box_inertia(half);
    let momentum = inertia * spin;
    let (about, rate) = (momentum.normalize(), momentum.length() / inertia.x);
    // The angle about L is that of the axis's component perpendicular to L.
    let across = (Vec3::Z - about * about.z).normalize();
    let sideways = about.cross(across);
    let (mut turned, mut last, mut off) = (0.0, 0.0, 0.0);
    for n in 1..=steps_in(10.0) {
        rig.step()?;
        let axis = rig.body(id).pose().z_axis();
        let angle = axis.dot(sideways).atan2(axis.dot(across));
        turned += (angle - last + PI).rem_euclid(TAU) - PI;
        last = angle;
        let exact = rotation(about, rate * n as f64 * DT) * Vec3::Z;
        off = farthest(0.0, [off, axis.cross(exact).length().atan2(axis.dot(exact))]);
    }
    Ok(vec![
        Measurement::absolute("angle about L after 10 s", "rad", rate * 10.0, turned, 1e-4),
        Measurement::below("largest angle to the exact axis", "rad", 1e-4, off),
    ])
}

fn tumbling() -> Outcome {
    let half = Vec3::new(0.5, 1.0, 1.5);
    let spin = Vec3::new(0.01, 5.0, 0.01);
    let seconds = 60.0;
    let (first_flip, period) = flips(box_inertia(half), spin);
    let mut rig = Rig::weightless()?;
    let id = rig.add(block(half, 0.5, 0.5)?.angular_velocity(spin))?;
    let (energy, momentum) = (rig.energy(), rig.world.momentum().angular);
    let (mut before, mut times) = (spin.y, Vec::new());
    let (mut energies, mut drift) = (energy, 0.0);
    for n in 0..steps_in(seconds) {
        rig.step()?;
        let body = rig.body(id);
        let now = body.pose().inverse_transform_vector(body.angular_velocity()).y;
        if (now < 0.0) != (before < 0.0) {
            times.push((n as f64 + before / (before - now)) * DT);
        }
        before = now;
        energies = farthest(energy, [energies, rig.energy()]);
        let change = (rig.world.momentum().angular - momentum).length();
        drift = farthest(0.0, [drift, change / momentum.length()]);
    }
    let count = ((seconds - first_flip) / period).floor() + 1.0;
    let first = times.first().copied().unwrap_or(f64::NAN);
    let spacing = times.windows(2).map(|pair| pair[1] - pair[0]);
    let spacing = if times.len() < 2 { f64::NAN } else { farthest(period, spacing) };
    Ok(vec![
        Measurement::absolute("flips in 60 s", "", count, times.len() as f64, 0.0),
        Measurement::relative("first flip", "s", first_flip, first, 1e-3),
        Measurement::relative("time between flips, worst", "s", period, spacing, 1e-3),
        Measurement::relative("energy, worst", "J", energy, energies, 1e-6),
        Measurement::below("change of L over |L|, worst", "", 1e-6, drift),
    ])
}

/// Returns the principal moments of a box of 1 kg, kg m^2.
fn box_inertia(half: Vec3) -> Vec3 {
    let s = half * half;
    Vec3::new(s.y + s.z, s.z + s.x, s.x + s.y) / 3.0
}

/// Returns the time at which the spin about the middle axis first crosses zero, and the time between later crossings,
/// s.
///
/// Landau and Lifshitz, Mechanics, section 37, with I3 > I2 > I1 and L^2 > 2 E I2: the spin about
/// the middle axis is `peak sn(lambda t)`, whose zeros are 2 K apart. Here y is the middle axis, x the
/// greatest, and the spin about y decreases at first, as (I_z - I_x) w_z w_x < 0.
fn flips(inertia: Vec3, spin: Vec3) -> (f64, f64) {
    let [i3, i2, i1] = inertia.to_array();
    let energy = (inertia * spin).dot(spin); // 2 E
    let momentum = (inertia * spin).length_squared(); // L^2
    let lambda = ((i3 - i2) * (momentum - energy * i1) / (i1 * i2 * i3)).sqrt();
    let modulus = (i2 - i1) * (energy * i3 - momentum) / ((i3 - i2) * (momentum - energy * i1));
    // sn^2 at the start.
    let square = spin.y * spin.y * i2 * (i3 - i2) / (energy * i3 - momentum);
    let first = square.sqrt() * carlson(1.0 - square, 1.0 - modulus * square, 1.0);
    let complete = carlson(0.0, 1.0 - modulus, 1.0);
    (first / lambda, 2.0 * complete / lambda)
}

/// Carlson's R_F, the symmetric elliptic integral of the first kind: F(phi, k) is
/// sin phi R_F(cos^2 phi, 1 - k^2 sin^2 phi, 1).
fn carlson(mut x: f64, mut y: f64, mut z: f64) -> f64 {
    // Each duplication brings the three values four times closer; after 30 they are equal to rounding.
    for _ in 0..30 {
        let (a, b, c) = (x.sqrt(), y.sqrt(), z.sqrt());
        let shift = a * b + b * c + c * a;
        (x, y, z) = (0.25 * (x + shift), 0.25 * (y + shift), 0.25 * (z + shift));
    }
    1.0 / ((x + y + z) / 3.0).sqrt()
}
