//! Impacts that spin a body, and impacts that do not.

use msd_sim::geometry::Shape;
use msd_sim::math::{Quat, Vec3, rotation};
use msd_sim::{BodyDef, BodyId};

use crate::scene::{EnergyWatch, Scene, assert_below};

const QUARTER: f64 = std::f64::consts::FRAC_PI_4;

/// Builds a scene with a rotated cube above the floor.
fn turned_cube(restitution: f64, turn: Quat) -> (Scene, BodyId) {
    let mut scene = Scene::new(restitution, 0.5);
    scene.floor();
    let cube = scene.cube().orientation(turn);
    let cube = scene.add_at(2.0, cube);
    (scene, cube)
}

/// Steps until a contact has an impulse.
fn run_to_impact(scene: &mut Scene) {
    for _ in 0..120 {
        scene.step();
        if scene.world.contacts().any(|contact| contact.impulse().length() > 0.0) {
            return;
        }
    }
    panic!("no impact within two seconds");
}

/// Builds a scene with a cube dropped from 2 m onto a corner.
fn on_a_corner() -> (Scene, BodyId) {
    turned_cube(0.7, rotation(Vec3::X, QUARTER) * rotation(Vec3::Y, QUARTER))
}

#[test]
fn a_cube_dropped_on_a_corner_spins() {
    let (mut scene, cube) = on_a_corner();
    run_to_impact(&mut scene);
    scene.run(2, |_| {});
    // The corner (1, -1, -1)/2 hits first, not below the center: its lever arm is (0, 0.146,
    // -0.854) m.
    let spin = scene.body(cube).angular_velocity();
    assert!(spin.length() > 0.1, "spin {spin}");
}

#[test]
fn a_cube_dropped_on_a_corner_gains_no_energy() {
    let (mut scene, _) = on_a_corner();
    let mut watch = EnergyWatch::new(&scene.world);
    scene.run(600, |world| watch.check(world));
}

#[test]
fn a_cube_dropped_straight_on_an_edge_does_not_spin() {
    let (mut scene, cube) = turned_cube(0.7, rotation(Vec3::Y, QUARTER));
    run_to_impact(&mut scene);
    // Until it has bounced and landed again; balancing on an edge is unstable.
    scene.run(30, |world| {
        assert_below(world.body(cube).unwrap().angular_velocity().length(), 1e-6);
    });
}

#[test]
fn a_cube_dropped_beside_an_edge_spins_about_that_edge() {
    // Edge along y, 5 degrees past its balance: the lever arm has no component along y to spin it
    // about x.
    let (mut scene, cube) = turned_cube(0.7, rotation(Vec3::Y, QUARTER + 5f64.to_radians()));
    run_to_impact(&mut scene);
    scene.run(10, |world| {
        let spin = world.body(cube).unwrap().angular_velocity();
        assert!(spin.y.abs() > 0.1, "spin {spin}");
        assert!(spin.x.hypot(spin.z) < 0.02 * spin.y.abs(), "spin {spin}");
    });
}

#[test]
fn a_cube_dropped_on_one_end_of_an_edge_spins_about_the_horizontal_across_it() {
    // A rotation of 5 degrees about x cannot make it spin about y: the scene is its own mirror
    // image in the plane x = 0, and a spin about y or z is not. The lever arm from the center to
    // the corner that hits first is (0, y, -h), so its torque r x n is y along x.
    let turn = rotation(Vec3::X, 5f64.to_radians()) * rotation(Vec3::Y, QUARTER);
    let (mut scene, cube) = turned_cube(0.7, turn);
    run_to_impact(&mut scene);
    scene.run(10, |world| {
        let spin = world.body(cube).unwrap().angular_velocity();
        assert!(spin.x.abs() > 0.1, "spin {spin}");
        assert!(spin.y.hypot(spin.z) < 1e-6, "spin {spin}");
    });
}

#[test]
fn a_sphere_that_bounces_straight_neither_spins_nor_drifts() {
    let mut scene = Scene::new(0.7, 0.5);
    scene.floor();
    let ball = scene.ball();
    let ball = scene.add_at(2.0, ball);
    scene.run(200, |world| {
        let ball = world.body(ball).unwrap();
        assert_below(ball.angular_velocity().length(), 1e-6);
        assert_below(ball.position().truncate().length(), 1e-6);
    });
}

#[test]
fn a_rod_that_lands_flat_does_not_spin() {
    let mut scene = Scene::new(0.3, 0.5);
    scene.floor();
    let rod = scene.brick(Vec3::new(1.0, 0.1, 0.1));
    let rod = scene.add_at(1.1, rod);
    scene.run(300, |world| {
        assert_below(world.body(rod).unwrap().angular_velocity().length(), 1e-3);
    });
    assert_below((scene.body(rod).position().z - 0.1).abs(), 1e-3);
}

#[test]
fn a_wedge_whose_mass_overhangs_its_base_tips_and_settles_over_its_support() {
    // Over its base it would bounce without turning: impulses that sum to no moment exist. So the
    // base is narrow: profile (0,0) (0.3,0) (1.5,1), its center at x = 0.6, the base ends at 0.3.
    let profile = [(0.0, 0.0), (0.3, 0.0), (1.5, 1.0)];
    let corners = [-0.5, 0.5].map(|y| profile.map(|(x, z)| Vec3::new(x, y, z)));
    let mut scene = Scene::new(0.3, 0.5);
    scene.floor();
    let wedge = BodyDef::inertial(Shape::hull(&corners.concat()).unwrap());
    let wedge = wedge.mass(1.0).material(scene.material);
    // The center is 1/3 m above the base, which starts 0.5 m above the floor.
    let wedge = scene.add_at(0.5 + 1.0 / 3.0, wedge);
    let mut watch = EnergyWatch::new(&scene.world);
    let mut most = 0.0f64;
    scene.run(900, |world| {
        watch.check(world);
        most = most.max(world.body(wedge).unwrap().angular_velocity().length());
    });
    assert!(most > 0.05, "spin {most}");
    let body = scene.body(wedge);
    assert_below(body.linear_velocity().length(), 1e-3);
    assert_below(body.angular_velocity().length(), 1e-3);
    let center = body.position();
    let contact = scene.world.contacts().next().expect("it lies on the floor");
    let points: Vec<Vec3> = contact.points().iter().map(|point| point.position).collect();
    assert!(points.len() >= 3, "it lies on a face: {points:?}");
    assert!(
        is_inside(center, &points),
        "its center {center} is over its support polygon {points:?}"
    );
}

/// Returns whether a point is over the convex hull of others: they lie on both sides of every line
/// through it, so no gap between neighboring directions reaches half a turn.
fn is_inside(center: Vec3, points: &[Vec3]) -> bool {
    let angle = |point: &Vec3| (point.y - center.y).atan2(point.x - center.x);
    let mut angles: Vec<f64> = points.iter().map(angle).collect();
    angles.sort_by(f64::total_cmp);
    angles.push(angles[0] + std::f64::consts::TAU);
    angles.windows(2).all(|pair| pair[1] - pair[0] < std::f64::consts::PI)
}
