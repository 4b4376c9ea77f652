//! Structures at rest: walls, domes, heavy bodies on light ones. They are solved once, and stand.

use msd_sim::geometry::{ConvexHull, Shape};
use msd_sim::math::{SpatialVector, Vec3};
use msd_sim::{BodyDef, BodyId, Method, Settings};

use crate::audited_scene::material;
use crate::scene::{DT, G, Scene};

/// Steps a scene for 5 s. Returns how far a body moved, m, and the largest residual.
fn stand(scene: &mut Scene) -> (f64, f64) {
    let start: Vec<Vec3> = scene.world.bodies().map(|body| body.position()).collect();
    let mut residual = 0.0_f64;
    for _ in 0..300 {
        residual = residual.max(scene.step().residual().unwrap());
    }
    let ends = scene.world.bodies().map(|body| body.position());
    let moved = ends.zip(start).map(|(end, start)| (end - start).length());
    (moved.fold(0.0, f64::max), residual)
}

/// Returns a dome of rings of 12 blocks and a key, 2 m in radius and 0.5 m thick. The faces between blocks are on planes
/// through the center, so that they touch exactly, but for rounding.
fn dome(rings: u32) -> Scene {
    const AROUND: u32 = 12;
    let mut scene = Scene::new(0.0, 0.8);
    scene.floor();
    let quarter = std::f64::consts::FRAC_PI_2;
    let opening = 0.3;
    let corner = |ring: u32, step: u32| {
        let polar = quarter - (quarter - opening) * f64::from(ring) / f64::from(rings);
        let around = 4.0 * quarter * f64::from(step % AROUND) / f64::from(AROUND);
        let up = if ring == 0 { 0.0 } else { polar.cos() };
        let out = Vec3::new(polar.sin() * around.cos(), polar.sin() * around.sin(), up);
        [out * 2.0, out * 2.5]
    };
    let mut add = |points: &[Vec3]| {
        let center = ConvexHull::new(points).unwrap().centroid();
        let points: Vec<Vec3> = points.iter().map(|&point| point - center).collect();
        let def = BodyDef::inertial(Shape::hull(&points).unwrap()).density(2000.0);
        scene.add(def.position(center).material(material(0.0, 0.8)));
    };
    for ring in 0..rings {
        for step in 0..AROUND {
            let corners = [(ring, step), (ring + 1, step), (ring, step + 1), (ring + 1, step + 1)];
            add(corners.map(|(ring, step)| corner(ring, step)).as_flattened());
        }
    }
    let key: Vec<Vec3> = (0..AROUND).flat_map(|step| corner(rings, step)).collect();
    add(&key);
    scene
}

/// The blocks of a dome can press on each other with any force: impulses that hold it are far from unique, and Newton's
/// method alone left a residual of 0.16 and let it sink by 2 and 6 mm.
#[test]
fn domes_of_touching_blocks_stand() {
    for rings in [4, 6] {
        let mut scene = dome(rings);
        let (moved, residual) = stand(&mut scene);
        assert!(moved == 0.0, "{rings} rings: moved {moved:e} m");
        assert!(residual <= 1e-10, "{rings} rings: residual {residual:e}");
        assert_eq!(scene.world.report().resting, 12 * rings as usize + 1);
    }
}

/// The light cube carries impulses a million times its own: they converged by about a millionth in a round of Newton's method.
#[test]
fn a_million_kilograms_stand_on_one() {
    for mass in [1e3, 1e4, 1e5, 1e6, 1e7] {
        let mut scene = Scene::new(0.0, 0.5);
        scene.floor();
        scene.add_at(0.5, scene.cube());
        scene.add_at(1.5, scene.cube().mass(mass));
        scene.add_at(2.5, scene.cube());
        let (moved, residual) = stand(&mut scene);
        assert!(moved == 0.0, "{mass:e} kg: moved {moved:e} m");
        assert!(residual <= 1e-10, "{mass:e} kg: residual {residual:e}");
    }
}

/// It stands where it lands, too; 1e6 kg sank through the light cube within a second.
#[test]
fn a_million_kilograms_land_on_one() {
    for mass in [1e3, 1e4, 1e5, 1e6] {
        let mut scene = Scene::new(0.0, 0.5);
        scene.floor();
        scene.add_at(0.51, scene.cube());
        let heavy = scene.add_at(1.53, scene.cube().mass(mass));
        let mut residual = 0.0_f64;
        for _ in 0..120 {
            residual = residual.max(scene.step().residual().unwrap());
        }
        let off = scene.world.body(heavy).unwrap().position() - Vec3::Z * 1.5;
        assert!(off.length() < 1e-9, "{mass:e} kg: {off} m off");
        assert!(residual <= 1e-10, "{mass:e} kg: residual {residual:e}");
        assert_eq!(scene.world.report().resting, 2);
    }
}

/// A structure that was swept stays swept when it stops: a heap that sleeps and is woken is not solved again and again.
#[test]
fn a_wall_that_was_swept_is_not_a_structure_again() {
    let mut scene = Scene::new(0.0, 0.6);
    scene.floor();
    for n in 0..200 {
        let place = Vec3::new(f64::from(n % 50), 0.0, 0.5 + f64::from(n / 50));
        scene.add(scene.cube().position(place).velocity(Vec3::Z * 1e-3));
    }
    assert_eq!(scene.step().swept, 200);
    let ids: Vec<BodyId> = scene.world.bodies().skip(1).map(|body| body.id()).collect();
    for id in ids {
        scene.world.set_velocity(id, SpatialVector::ZERO).unwrap();
    }
    assert_eq!(scene.step().swept, 200);
}

/// A wall of 300 cubes is larger than the islands that are exact in motion. At rest it is exact, and rests; hit by a ball
/// it is swept.
#[test]
fn a_large_wall_stands_until_it_is_hit() {
    let mut scene = Scene::new(0.0, 0.6);
    scene.floor();
    let mut cubes: Vec<BodyId> = Vec::new();
    for row in 0..24 {
        for n in 0..24 - row {
            let x = f64::from(n) + 0.5 * f64::from(row);
            cubes.push(scene.add(scene.cube().position(Vec3::new(x, 0.0, 0.5 + f64::from(row)))));
        }
    }
    let (moved, residual) = stand(&mut scene);
    assert!(moved == 0.0, "moved {moved:e} m");
    assert!(residual <= 1e-10, "residual {residual:e}");
    let report = scene.world.report();
    assert_eq!((report.exact, report.resting, report.swept), (300, 300, 0));

    let ball = scene.ball().mass(100.0).position(Vec3::new(12.0, -2.0, 8.0));
    scene.add(ball.velocity(Vec3::Y * 20.0));
    let mut swept = 0;
    for _ in 0..60 {
        swept = swept.max(scene.step().swept);
    }
    assert!(swept >= 300, "{swept} swept");
    let far =
        cubes.iter().map(|&id| scene.world.body(id).unwrap().position().y).fold(0.0, f64::max);
    assert!(far > 1.0, "no cube flew further than {far} m");
}

/// The inside of a block of cubes touches on all sides. Up to 8^3 its factors are small enough; a larger one is given up
/// before its elimination order is complete, and swept.
#[test]
fn a_block_of_cubes_stands_unless_it_is_too_dense() {
    for (side, exact) in [(6, true), (14, false)] {
        let mut scene = Scene::new(0.0, 0.6);
        scene.floor();
        for n in 0..side * side * side {
            let place = Vec3::from([n % side, n / side % side, n / side / side].map(f64::from));
            scene.add(scene.cube().position(place + Vec3::Z * 0.5));
        }
        let report = scene.step();
        assert_eq!(report.converged(), Some(exact));
        // 50 sweeps are enough for a load to reach the floor.
        assert!(report.residual().unwrap() < 0.1, "{:?}", report.residual());
        scene.step();
        let report = scene.step();
        let count = (side * side * side) as usize;
        let expected = if exact { (count, 0) } else { (0, count) };
        assert_eq!((report.resting, report.swept), expected);
    }
}

/// Returns the forces of the points of a body's contacts with the floor, N, as pairs of place and force.
fn forces_on(scene: &Scene, id: BodyId) -> Vec<(Vec3, Vec3)> {
    let h = DT / f64::from(scene.world.settings().substeps);
    let contacts = scene.world.contacts_of(id).unwrap().filter(|contact| contact.a().index() == 0);
    contacts
        .flat_map(|contact| {
            contact.points().iter().map(|p| (p.position, p.impulse / h)).collect::<Vec<_>>()
        })
        .collect()
}

/// Any load can be shared by four corners in many ways: they carried 1.2, 0, 1.2 and 0 of their quarters, and pushed
/// sideways against each other. The solution of least norm is r_i = W / 4 (1 + x x_i / s^2 + y y_i / s^2) for a weight W
/// at (x, y) on corners at (+-s, +-s).
#[test]
fn corners_share_a_load_evenly_with_every_method() {
    let methods = [
        Method::SoftStep,
        Method::Pgs,
        #[cfg(feature = "conic")]
        Method::Conic,
    ];
    for (method, drop) in methods.into_iter().flat_map(|method| [0.0, 0.01].map(|d| (method, d))) {
        let default = Settings::default();
        let iterations = if method == Method::Pgs { 20_000 } else { default.iterations };
        let settings = Settings { method, iterations, ..default };
        let mut scene = Scene::with(settings, 0.0, 0.5);
        scene.floor();
        let lower = scene.add_at(0.5 + drop, scene.cube());
        scene.add(scene.cube().mass(3.0).position(Vec3::new(0.2, 0.1, 1.5 + 2.0 * drop)));
        for _ in 0..120 {
            scene.step();
        }
        // The center of both weights.
        let (x, y, weight) = (0.75 * 0.2, 0.75 * 0.1, 4.0 * G);
        let forces = forces_on(&scene, lower);
        assert_eq!(forces.len(), 4);
        for (place, force) in forces {
            let expected = 0.25 * weight * (1.0 + (x * place.x + y * place.y) / 0.25);
            // The tolerance of the solver, of the loads.
            assert!((force - Vec3::Z * expected).length() < 1e-8 * weight, "{method:?}: {force} N");
        }
    }
}

/// Without friction only the normal forces are shared, as by the exact method for such contacts.
#[test]
fn corners_without_friction_share_a_load_evenly() {
    for method in [Method::SoftStep, Method::ActiveSet] {
        let mut scene = Scene::with(Settings { method, ..Settings::default() }, 0.0, 0.0);
        scene.floor();
        let cube = scene.add_at(0.5, scene.cube());
        for _ in 0..10 {
            scene.step();
        }
        let forces = forces_on(&scene, cube);
        assert_eq!(forces.len(), 4);
        for (_, force) in forces {
            assert!((force - Vec3::Z * (0.25 * G)).length() < 1e-8, "{method:?}: {force} N");
        }
    }
}
