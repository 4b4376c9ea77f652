//! A body far away changes no bit of the others: scenes alone, compared with the same scenes plus bodies at rest on a
//! slab a kilometer away.

use msd_scene::{Options, Simulation, catalog};
use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{BodyDef, BodyId};

/// Distance between the centers of the far cubes, which are 1 m wide, m.
const PITCH: f64 = 3.0;

/// Position of the first far cube, m: no body of any scene gets there.
const FAR: Vec3 = Vec3::new(1000.0, 0.0, 500.0);

/// Builds a scene of the catalog for one thread, and returns its bodies. Its name may be followed by an override of a field:
/// `"tower body.a.mass=2"`.
fn scene(name: &str) -> (Simulation, Vec<BodyId>) {
    let (name, change) = name.split_once(' ').unwrap_or((name, ""));
    let set = change.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    let options = Options { set: set.into_iter().collect(), ..Options::default() };
    let file = catalog::find(name).unwrap().open(&options).unwrap();
    let mut simulation = file.build().unwrap();
    simulation.set_threads(1);
    let ids = simulation.world().bodies().map(|body| body.id()).collect();
    (simulation, ids)
}

/// Adds a slab and cubes at rest on it.
fn add_far(simulation: &mut Simulation, count: usize) {
    let side = (count as f64).sqrt().ceil().max(1.0) as usize;
    let half = 0.5 * PITCH * side as f64;
    let slab = Shape::cuboid(Vec3::new(half, half, 0.5)).unwrap();
    let middle = FAR + Vec3::new(half, half, -0.5) - Vec3::new(0.5, 0.5, 0.0) * PITCH;
    let world = simulation.world_mut();
    world.add_body(BodyDef::environment(slab).position(middle)).unwrap();
    let cube = Shape::cuboid(Vec3::splat(0.5)).unwrap();
    for at in 0..count {
        let place = Vec3::new((at % side) as f64, (at / side) as f64, 0.0) * PITCH;
        let place = FAR + place + Vec3::Z * 0.5;
        world.add_body(BodyDef::inertial(cube.clone()).mass(1.0).position(place)).unwrap();
    }
}

/// Returns every bit of a body's pose and velocity.
fn bits(simulation: &Simulation, id: BodyId) -> [u64; 13] {
    let body = simulation.world().body(id).unwrap();
    let (pose, velocity) = (body.pose(), body.velocity());
    let [px, py, pz] = pose.position.to_array();
    let [qx, qy, qz, qw] = pose.rotation.to_array();
    let [vx, vy, vz] = velocity.linear.to_array();
    let [wx, wy, wz] = velocity.angular.to_array();
    [px, py, pz, qx, qy, qz, qw, vx, vy, vz, wx, wy, wz].map(f64::to_bits)
}

/// Asserts that far bodies change no bit of a scene in its first 300 steps.
fn assert_untouched(name: &str, count: usize) {
    let (mut alone, ids) = scene(name);
    let (mut among, _) = scene(name);
    add_far(&mut among, count);
    let mut first = None;
    for step in 1..=alone.steps().min(300) {
        alone.step();
        among.step();
        let differs = |&id: &BodyId| bits(&alone, id) != bits(&among, id);
        if first.is_none() && ids.iter().any(differs) {
            first = Some(step);
        }
    }
    let largest = |of: &dyn Fn(BodyId) -> f64| ids.iter().map(|&id| of(id)).fold(0.0, f64::max);
    let pose = |simulation: &Simulation, id: BodyId| simulation.world().body(id).unwrap().pose();
    let off = largest(&|id| (pose(&alone, id).position - pose(&among, id).position).length());
    let turned = largest(&|id| pose(&alone, id).rotation.angle_between(pose(&among, id).rotation));
    if let Some(step) = first {
        panic!(
            "{name} with {count} far bodies: bits differ from step {step} on; at the end {off:.1e} m and \
             {turned:.1e} rad off"
        );
    }
}

macro_rules! far {
    ($($test:ident, $name:literal;)*) => {
        $(mod $test {
            #[test]
            fn is_the_same_with_0_and_10_far_bodies() {
                super::assert_untouched($name, 0);
                super::assert_untouched($name, 10);
            }

            #[test]
            fn is_the_same_with_130_far_bodies() {
                super::assert_untouched($name, 130);
            }

            #[test]
            fn is_the_same_with_2000_far_bodies() {
                super::assert_untouched($name, 2000);
            }
        })*
    };
}

far! {
    tower, "tower";
    arch, "arch";
    a_tonne_on_a_kilogram, "heavy-on-light";
    a_million_kilograms_on_one, "heavy-on-light body.heavy.mass=1e6";
    ladder, "ladder-holds";
    ladder_that_slips, "ladder-slips";
    dominoes, "dominoes";
    dominoes_that_fall_asleep, "dominoes sleeping=true";
    bouncing_ball, "bouncing";
    cradle, "cradle";
    incline, "incline-race";
    billiards, "billiards";
    chain, "chain";
    top, "top";
    bullet, "bullet";
    t_handle, "t-handle";
}
