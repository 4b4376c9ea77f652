//! Cubes dropped with a tilt: mirrored tilts fall along mirrored paths, and planar motion stays
//! planar.

use msd_sim::BodyId;
use msd_sim::math::{Quat, Vec3, rotation};

use crate::audited_scene::{AuditedScene, cube};

const MATERIALS: [(&str, f64, f64); 4] = [
    ("normal", 0.5, 0.5),
    ("frictionless", 0.5, 0.0),
    ("elastic", 1.0, 0.5),
    ("inelastic", 0.0, 0.5),
];

fn tilted(turn: Quat, restitution: f64, friction: f64) -> (AuditedScene, BodyId) {
    let mut scene = AuditedScene::new();
    scene.floor(restitution, friction);
    let def = cube(restitution, friction).position(Vec3::Z * 1.5).orientation(turn);
    let id = scene.add(def);
    (scene, id)
}

fn each_case(mut check: impl FnMut(&str, Vec3, f64, f64, f64)) {
    for axis in [Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, 0.0).normalize()] {
        for degrees in [5.0_f64, 15.0, 30.0] {
            for (kind, restitution, friction) in MATERIALS {
                let name = format!("{kind}, {degrees} deg about {axis}");
                check(&name, axis, degrees.to_radians(), restitution, friction);
            }
        }
    }
}

#[test]
fn mirrored_tilts_fall_along_mirrored_paths() {
    each_case(|name, axis, angle, restitution, friction| {
        // The plane of this mirror contains the axis and the vertical, so it reverses the tilt.
        let across = axis.cross(Vec3::Z);
        let mirror = |v: Vec3| v - across * (2.0 * v.dot(across));
        let (mut one, a) = tilted(rotation(axis, angle), restitution, friction);
        let (mut other, b) = tilted(rotation(axis, -angle), restitution, friction);
        let mut after = 0;
        for _ in 0..120 {
            one.step();
            other.step();
            let place = (mirror(one.position(a)) - other.position(b)).length();
            let speed = (mirror(one.velocity(a)) - other.velocity(b)).length();
            let spin = (-mirror(one.spin(a)) - other.spin(b)).length();
            assert!(place.max(speed).max(spin) <= 1e-6, "{name}: {place:e} {speed:e} {spin:e}");
            after += usize::from(after > 0 || !one.world.events().hits().is_empty());
            if after == 5 {
                return;
            }
        }
        panic!("{name}: no impact");
    });
}

#[test]
fn planar_drops_get_no_spin_across_their_axis() {
    each_case(|name, axis, angle, restitution, friction| {
        let (mut scene, id) = tilted(rotation(axis, angle), restitution, friction);
        let mut hits = 0;
        for _ in 0..240 {
            scene.step();
            hits += scene.world.events().hits().len();
            let spin = scene.spin(id);
            let across = (spin - axis * spin.dot(axis)).length();
            assert!(across <= 0.02 * spin.length().max(1e-3), "{name}: {across} of {spin}");
        }
        assert!(hits > 0, "{name}: no impact");
    });
}

#[test]
fn tilted_drops_gain_no_energy() {
    let mut wrong = Vec::new();
    each_case(|name, axis, angle, restitution, friction| {
        let (mut scene, _) = tilted(rotation(axis, angle), restitution, friction);
        let mut before = scene.energy();
        let (first, mut worst) = (before, 0.0_f64);
        for _ in 0..240 {
            scene.step();
            worst = worst.max(scene.energy() - before);
            before = scene.energy();
        }
        if !(worst <= 1e-9 * first) {
            wrong.push(format!("{name}: {worst:e} J"));
        }
    });
    assert!(wrong.is_empty(), "{wrong:?}");
}
