//! The least overlap by a search of the unit sphere, for solids with curved sides.
//!
//! The overlap has kinks: across great circles perpendicular to an edge or axis, across the circle
//! of a cone's side normals, and at the normals of flat faces. Minima lie in kinks, so the search
//! starts from these normals and also moves along these circles: all are rotations about an edge or
//! axis.

use std::f64::consts::{PI, TAU};

use msd_sim::math::{Vec3, orthonormal_basis};

use super::overlap;
use super::solid::{Core, Solid};

/// Points of the uniform grid over the sphere: about 0.1 rad apart.
const GRID: usize = 1200;
/// Number of starts that are refined roughly, and their separation (cosine).
const STARTS: usize = 20;
const START_SEPARATION: f64 = 0.98;
/// Number of these that are refined to the last digit.
const FINALISTS: usize = 4;

/// Returns the least overlap along any unit vector, and that vector, from A to B.
pub fn least_overlap(a: &Solid, b: &Solid) -> (f64, Vec3) {
    search(a, b, GRID, STARTS, FINALISTS)
}

/// Runs [`least_overlap`] at a chosen effort.
pub fn search(a: &Solid, b: &Solid, grid: usize, starts: usize, finalists: usize) -> (f64, Vec3) {
    let kinks: Vec<Kink> = kinks(a, 1.0).into_iter().chain(kinks(b, -1.0)).collect();
    let f = |n: Vec3| overlap(a, b, n);
    let mut candidates: Vec<(f64, Vec3)> = Vec::with_capacity(grid + 500);
    let mut add = |n: Vec3| candidates.push((f(n), n));
    fibonacci(grid).for_each(&mut add);
    structured(a, b, &mut add);

    let mut rough = Vec::with_capacity(starts);
    while rough.len() < starts {
        let Some(&(_, n)) = candidates.iter().min_by(|x, y| x.0.total_cmp(&y.0)) else { break };
        candidates.retain(|c| c.1.dot(n) < START_SEPARATION);
        rough.push(descend(&f, &kinks, n, 0.05, 2e-3));
    }
    rough.sort_by(|x, y| x.0.total_cmp(&y.0));
    let mut best = (f64::INFINITY, Vec3::X);
    let mut done: Vec<Vec3> = Vec::new();
    for (_, n) in rough {
        if done.len() == finalists {
            break;
        }
        if done.iter().all(|d| d.dot(n) < 0.9999) {
            done.push(n);
            let end = descend(&f, &kinks, n, 2e-3, 1e-12);
            if end.0 < best.0 {
                best = end;
            }
        }
    }
    best
}

/// Returns uniformly spread directions.
fn fibonacci(count: usize) -> impl Iterator<Item = Vec3> {
    // Golden angle, in radians.
    let turn = PI * (3.0 - 5.0_f64.sqrt());
    (0..count).map(move |i| {
        let z = 1.0 - (2 * i + 1) as f64 / count as f64;
        let (sin, cos) = (turn * i as f64 % TAU).sin_cos();
        let r = (1.0 - z * z).sqrt();
        Vec3::new(r * cos, r * sin, z)
    })
}

/// Adds directions in which minima tend to lie: face normals, perpendicular to two edges, radial.
fn structured(a: &Solid, b: &Solid, add: &mut impl FnMut(Vec3)) {
    let mut both = |v: Vec3| {
        let n = v.normalize_or(Vec3::ZERO);
        if n != Vec3::ZERO {
            add(n);
            add(-n);
        }
    };
    let line = b.center - a.center;
    both(line);
    for (own, other) in [(a, b), (b, a)] {
        let normals = own.normals();
        normals.iter().for_each(|&n| both(n));
        let (Core::Cylinder { axis, .. } | Core::Cone { axis, .. }) = other.core else { continue };
        both(axis);
        // Perpendicular to the axis, towards every feature of the other solid.
        let edges = own.edges();
        edges.iter().for_each(|&e| both(e.cross(axis)));
        let slope = match other.core {
            Core::Cone { radius, half, .. } => Some(radius / (2.0 * half)),
            _ => None,
        };
        for v in normals.iter().chain(&edges).copied().chain([line]) {
            let radial = (v - axis * v.dot(axis)).normalize_or(Vec3::ZERO);
            both(radial);
            if let Some(slope) = slope {
                both(radial + axis * slope);
                both(radial - axis * slope);
            }
        }
    }
}

/// A kink of the overlap: the circle n.axis = level on the unit sphere.
struct Kink {
    axis: Vec3,
    level: f64,
    /// Whether to move around its axis even far from the circle.
    round: bool,
}

/// Returns the kinks of one solid; `sign` is -1 for the solid that n points into.
fn kinks(solid: &Solid, sign: f64) -> Vec<Kink> {
    let level = match solid.core {
        // The circle of the side's normals.
        Core::Cone { radius, half, .. } => sign * radius / radius.hypot(2.0 * half),
        _ => 0.0,
    };
    let round = matches!(solid.core, Core::Cone { .. } | Core::Cylinder { .. });
    solid.edges().into_iter().map(|axis| Kink { axis, level, round }).collect()
}

/// Limit of rounds: a valley too long for it is flat.
const MOST_ROUNDS: usize = 3000;

/// Walks downhill in steps of `longest` down to `least` radians.
fn descend(
    f: &impl Fn(Vec3) -> f64,
    kinks: &[Kink],
    start: Vec3,
    longest: f64,
    least: f64,
) -> (f64, Vec3) {
    let mut best = (f(start), start);
    let mut step = longest;
    let mut compass = (1.0, 0.0);
    let mut trail = [start; 8];
    for round in 0..MOST_ROUNDS {
        if step <= least {
            break;
        }
        let here = best;
        let n = here.1;
        let mut consider = |n: Vec3| {
            let n = n.normalize();
            let value = f(n);
            if value < best.0 {
                best = (value, n);
            }
        };
        // The compass turns by a radian each round, so that no direction is always missed.
        compass = turn(compass, (0.5403023058681398, 0.8414709848078965));
        let (t, u) = orthonormal_basis(n);
        let (v, w) = (t * compass.0 + u * compass.1, t * -compass.1 + u * compass.0);
        for (cos, sin) in HEXAGON {
            consider(n + (v * cos + w * sin) * step);
        }
        // In a curved valley, extrapolate the path of the last rounds.
        let before = std::mem::replace(&mut trail[round % 8], n);
        consider(n + (n - before));
        consider(n + (n - before) * 4.0);
        for &Kink { axis, level, round } in kinks {
            let up = n.dot(axis);
            let near = (up - level).abs() <= 2.0 * step.min(0.01);
            let around = axis.cross(n);
            let arm = around.length();
            if !(near || round) || arm < 1e-9 {
                continue;
            }
            // Along the circle, from the current point and from within the kink itself.
            let across = around.cross(axis) / arm;
            let along = around / arm * step;
            let mut circle = |level: f64, side: Vec3| {
                let radius = (1.0 - level * level).max(0.0).sqrt();
                consider(axis * level + (across + side).normalize() * radius);
            };
            if near {
                circle(level, along);
                circle(level, -along);
                circle(level, Vec3::ZERO);
            }
            if up != level {
                circle(up, along);
                circle(up, -along);
            }
        }
        // A move into a kink may be far shorter than a step: accepting many of these would never
        // end.
        if best.1.distance(n) < 0.25 * step {
            step *= 0.5;
        } else {
            // Longer strides down a long slope.
            step = (2.0 * step).min(longest);
        }
    }
    best
}

/// Directions of a six-point compass: cosine and sine.
const HEXAGON: [(f64, f64); 6] = [
    (1.0, 0.0),
    (0.5, 0.8660254037844386),
    (-0.5, 0.8660254037844386),
    (-1.0, 0.0),
    (-0.5, -0.8660254037844386),
    (0.5, -0.8660254037844386),
];

/// Returns the sum of two angles, each given by cosine and sine.
fn turn(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}
