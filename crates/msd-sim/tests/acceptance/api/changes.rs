use msd_sim::error::{BodyError, MassError};
use msd_sim::geometry::Shape;
use msd_sim::math::{Mat3, Pose, Vec3, rotation};
use msd_sim::{BodyDef, BodyId, JointDef, Material, Settings, World};

use super::both;
use crate::oracle::pairs::Rng;
use crate::scene::{DT, assert_below, assert_near};

fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    Shape::cuboid(Vec3::new(x, y, z)).unwrap()
}

fn ball(radius: f64) -> Shape {
    Shape::sphere(radius).unwrap()
}

/// A tetrahedron whose center of mass is not its origin.
fn wedge(size: f64) -> Shape {
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.2, 0.1, 1.0]];
    Shape::hull(&corners.map(|corner| Vec3::from_array(corner) * size)).unwrap()
}

/// A floor with a pile of tilted bodies. The first is `def`; a spring connects it to another.
fn heap(settings: &Settings, def: BodyDef) -> (World, BodyId) {
    let mut world = World::new(settings.clone()).unwrap();
    world.add_body(BodyDef::environment(Shape::half_space(Vec3::Z, 0.0).unwrap())).unwrap();
    let place = |n: usize| Pose {
        position: Vec3::new(0.3 * (n % 2) as f64, 0.1 * (n % 3) as f64, 0.6 + 0.7 * n as f64),
        rotation: rotation(Vec3::new(0.6, 0.0, 0.8), 0.7 * n as f64),
    };
    let spin = Vec3::new(0.5, -1.0, 2.0);
    let first = world.add_body(def.pose(place(0)).angular_velocity(spin)).unwrap();
    for n in 1..6 {
        let shape = if n % 2 == 0 { ball(0.3) } else { cuboid(0.3, 0.2, 0.25) };
        let body = BodyDef::inertial(shape).pose(place(n)).angular_velocity(spin);
        let body = world.add_body(body).unwrap();
        if n == 3 {
            world.add_joint(JointDef::spring(first, body, 1.0, 2e4, 10.0)).unwrap();
        }
    }
    (world, first)
}

type Change = fn(&mut World, BodyId) -> Result<(), BodyError>;

/// Cases: a definition, the expected definition, and the change from the first to the second.
fn cases() -> Vec<(&'static str, BodyDef, BodyDef, Change)> {
    let of = |shape: Shape| BodyDef::inertial(shape);
    let brick = of(cuboid(0.3, 0.2, 0.4)).mass(3.0);
    let light = of(cuboid(0.3, 0.2, 0.4)).density(250.0);
    let inertia = Mat3::from_diagonal(Vec3::new(0.2, 0.3, 0.25));
    let heavy: Change = |world, id| world.set_mass(id, 6.0);
    let round: Change = |world, id| world.set_shape(id, ball(0.35));
    let sharp: Change = |world, id| world.set_shape(id, wedge(0.8));
    let off = Vec3::new(0.05, 0.0, -0.1);
    vec![
        ("mass", brick.clone(), brick.clone().mass(6.0), heavy),
        ("mass for density", light.clone(), brick.clone().mass(6.0), heavy),
        (
            "mass and inertia",
            brick.clone().inertia(inertia),
            brick.clone().mass(6.0).inertia(inertia * 2.0),
            heavy,
        ),
        ("shape of a mass", brick.clone(), of(ball(0.35)).mass(3.0), round),
        ("shape of a density", light, of(wedge(0.8)).density(250.0), sharp),
        (
            "shape with a center of mass",
            brick.clone().center_of_mass(off).inertia(inertia),
            of(wedge(0.8)).mass(3.0).center_of_mass(off).inertia(inertia),
            sharp,
        ),
        ("damping", brick.clone(), brick.clone().damping(0.7, 1.3), |world, id| {
            world.set_damping(id, 0.7, 1.3)
        }),
        ("gravity scale", brick.clone(), brick.gravity_scale(-0.3), |world, id| {
            world.set_gravity_scale(id, -0.3)
        }),
    ]
}

#[test]
fn a_change_before_the_first_step_gives_the_same_world_as_building_it_that_way() {
    for settings in both() {
        for (name, start, wanted, change) in cases() {
            let (mut changed, id) = heap(&settings, start);
            let (mut built, _) = heap(&settings, wanted);
            change(&mut changed, id).unwrap();
            let [one, other] = [&changed, &built].map(|world| world.body(id).unwrap());
            assert_eq!((one.mass(), one.inertia()), (other.mass(), other.inertia()), "{name}");
            assert_eq!(
                one.colliders().next().unwrap().pose(),
                other.colliders().next().unwrap().pose(),
                "{name}"
            );
            for step in 0..150 {
                changed.step(DT).unwrap();
                built.step(DT).unwrap();
                assert_eq!(changed.state_hash(), built.state_hash(), "{name}, step {step}");
            }
        }
    }
}

#[test]
fn a_change_in_mid_air_gives_the_same_world_as_building_it_that_way() {
    // Masses are powers of two, so that the fall before the change is the same bits.
    let cases: [(BodyDef, BodyDef, Change); 2] = [
        (
            BodyDef::inertial(ball(0.3)).mass(2.0),
            BodyDef::inertial(cuboid(0.6, 0.4, 0.2)).mass(2.0),
            |world, id| world.set_shape(id, cuboid(0.6, 0.4, 0.2)),
        ),
        (
            BodyDef::inertial(cuboid(0.6, 0.4, 0.2)).mass(2.0),
            BodyDef::inertial(cuboid(0.6, 0.4, 0.2)).mass(8.0),
            |world, id| world.set_mass(id, 8.0),
        ),
    ];
    for settings in both() {
        // High above the floor, and where the two are near each other already.
        for (at, (start, wanted, change)) in
            [20, 37].into_iter().flat_map(|at| cases.clone().map(|case| (at, case)))
        {
            let [mut changed, mut built] = [start, wanted].map(|def| {
                let mut world = World::new(settings.clone()).unwrap();
                world.add_body(BodyDef::environment(cuboid(5.0, 5.0, 0.5))).unwrap();
                let pose = Pose::new(Vec3::Z * 3.0, rotation(Vec3::X, 0.2));
                let id = world.add_body(def.pose(pose).velocity(Vec3::X)).unwrap();
                (world, id)
            });
            for step in 0..150 {
                if step == at {
                    change(&mut changed.0, changed.1).unwrap();
                }
                changed.0.step(DT).unwrap();
                built.0.step(DT).unwrap();
                assert_eq!(changed.0.state_hash(), built.0.state_hash(), "step {step}");
            }
            assert!(built.0.contacts().count() > 0, "it landed");
        }
    }
}

#[test]
fn a_cube_that_shrinks_falls_and_one_that_grows_is_lifted() {
    for settings in both() {
        let mut world = World::new(settings).unwrap();
        let floor = world.add_body(BodyDef::environment(cuboid(50.0, 50.0, 0.5))).unwrap();
        let dull = Material::new(0.0, 0.5).unwrap();
        let cube = BodyDef::inertial(cuboid(0.5, 0.5, 0.5)).position(Vec3::Z).material(dull);
        let cube = world.add_body(cube).unwrap();
        let run = |world: &mut World, steps: usize| {
            let (mut begun, mut ended) = (0, 0);
            for _ in 0..steps {
                world.step(DT).unwrap();
                begun += world.events().begun().len();
                ended += world.events().ended().len();
                assert_below(world.body(cube).unwrap().linear_velocity().length(), 3.0);
            }
            (begun, ended)
        };
        assert_eq!(run(&mut world, 60), (1, 0));
        assert_eq!(world.contacts_of(cube).unwrap().count(), 1);
        // Half a meter to fall; it no longer touches until it has.
        world.set_shape(cube, cuboid(0.25, 0.25, 0.25)).unwrap();
        assert_eq!(world.contacts_of(cube).unwrap().count(), 0);
        assert_near(world.body(cube).unwrap().mass(), 125.0, 1e-9);
        assert_eq!(run(&mut world, 60), (1, 1));
        assert_near(world.body(cube).unwrap().position().z, 0.75, 2e-3);
        // A quarter of a meter into the floor: it comes out without being thrown.
        world.set_shape(cube, cuboid(0.5, 0.5, 0.5)).unwrap();
        assert_eq!(run(&mut world, 120), (0, 0));
        assert_near(world.body(cube).unwrap().position().z, 1.0, 2e-3);
        // The same of the floor: it becomes unbounded, then small.
        world.set_shape(floor, Shape::half_space(Vec3::Z, 0.25).unwrap()).unwrap();
        run(&mut world, 120);
        assert_near(world.body(cube).unwrap().position().z, 0.75, 2e-3);
        world.set_shape(floor, ball(0.1)).unwrap();
        assert_eq!(run(&mut world, 10).1, 1);
        assert!(world.body(cube).unwrap().linear_velocity().z < -1.0);
    }
}

#[test]
fn a_rejected_change_changes_nothing() {
    for settings in both() {
        let (mut world, id) = heap(&settings, BodyDef::inertial(cuboid(0.3, 0.2, 0.4)).mass(3.0));
        let floor = world.bodies().next().unwrap().id();
        let twin = world.clone();
        let not_inertial = Err(BodyError::NotInertial { index: 0 });
        assert_eq!(world.set_mass(floor, 1.0), not_inertial);
        assert_eq!(world.set_damping(floor, 1.0, 1.0), not_inertial);
        assert_eq!(world.set_gravity_scale(floor, 1.0), not_inertial);
        for mass in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let rejected = world.set_mass(id, mass).unwrap_err();
            assert!(matches!(rejected, BodyError::Mass(MassError::NotPositive { .. })));
        }
        let rejected = world.set_mass(id, 1e-320).unwrap_err();
        assert!(matches!(rejected, BodyError::Mass(MassError::OutOfRange { .. })));
        let plane = Shape::half_space(Vec3::Z, 0.0).unwrap();
        assert_eq!(world.set_shape(id, plane), Err(BodyError::Mass(MassError::Unbounded)));
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(world.set_damping(id, bad, 0.0).is_err());
            assert!(world.set_damping(id, 0.0, bad).is_err());
        }
        assert!(world.set_gravity_scale(id, f64::NAN).is_err());
        let gone = BodyId::from_raw_parts(1, 7);
        let unknown = Err(BodyError::Unknown { index: 1, generation: 7 });
        assert_eq!(world.set_mass(gone, 1.0), unknown);
        assert_eq!(world.set_shape(gone, ball(1.0)), unknown);
        assert_eq!(world.set_damping(gone, 0.0, 0.0), unknown);
        assert_eq!(world.set_gravity_scale(gone, 1.0), unknown);
        assert_eq!(world.set_name(gone, "gone"), unknown);
        assert_eq!(world.set_user_data(gone, 1), unknown);
        let mut twin = twin;
        for _ in 0..30 {
            world.step(DT).unwrap();
            twin.step(DT).unwrap();
        }
        assert_eq!(world.state_hash(), twin.state_hash());
    }
}

#[test]
fn names_and_user_data_are_kept_by_snapshots_and_are_not_physics() {
    let mut world = World::default();
    let tagged = BodyDef::inertial(ball(0.1)).user_data(u64::MAX).name("bob");
    let tagged = world.add_body(tagged).unwrap();
    let plain = world.add_body(BodyDef::inertial(ball(0.1)).position(Vec3::X)).unwrap();
    let seen = |world: &World, id: BodyId| {
        let body = world.body(id).unwrap();
        (body.user_data(), body.name().to_owned())
    };
    assert_eq!(seen(&world, tagged), (u64::MAX, "bob".to_owned()));
    assert_eq!(seen(&world, plain), (0, String::new()));
    let (before, hash) = (world.snapshot(), world.state_hash());
    world.set_user_data(tagged, 7).unwrap();
    world.set_name(plain, "alice").unwrap();
    assert_eq!(world.state_hash(), hash);
    assert_eq!(seen(&world, tagged).0, 7);
    let after = world.snapshot();
    world.restore(&before);
    assert_eq!(seen(&world, tagged).0, u64::MAX);
    assert_eq!(seen(&world, plain).1, "");
    world.restore(&after);
    assert_eq!((seen(&world, tagged).0, seen(&world, plain).1), (7, "alice".to_owned()));
    // The next body in the slot starts with its own.
    world.remove_body(tagged).unwrap();
    let next = world.add_body(BodyDef::inertial(ball(0.1))).unwrap();
    assert_eq!((next.index(), seen(&world, next)), (tagged.index(), (0, String::new())));
}

#[test]
fn a_snapshot_restores_what_was_changed_and_goes_on_in_the_same_bits() {
    for settings in both() {
        let (mut world, id) = heap(&settings, BodyDef::inertial(ball(0.3)).density(500.0));
        let run = |world: &mut World| {
            for _ in 0..60 {
                world.step(DT).unwrap();
            }
            world.state_hash()
        };
        run(&mut world);
        let before = world.snapshot();
        world.set_shape(id, wedge(0.8)).unwrap();
        world.set_damping(id, 0.3, 0.2).unwrap();
        let after = world.snapshot();
        let changed = run(&mut world);
        world.restore(&after);
        assert_eq!(run(&mut world), changed);
        world.restore(&before);
        let body = world.body(id).unwrap();
        assert!(matches!(body.colliders().next().unwrap().shape(), Shape::Sphere(_)));
        assert_eq!((body.linear_damping(), body.angular_damping()), (0.0, 0.0));
        let unchanged = run(&mut world);
        assert_ne!(unchanged, changed);
        world.restore(&before);
        world.set_shape(id, wedge(0.8)).unwrap();
        world.set_damping(id, 0.3, 0.2).unwrap();
        assert_eq!(run(&mut world), changed);
    }
}

/// A tower of two cubes asleep on a floor, in a swept world.
fn sleeping() -> (World, BodyId, [BodyId; 2]) {
    let settings = Settings { max_exact_bodies: Some(0), sleeping: true, ..Settings::default() };
    let mut world = World::new(settings).unwrap();
    let dull = Material::new(0.0, 0.5).unwrap();
    let floor = BodyDef::environment(cuboid(5.0, 5.0, 0.5)).position(Vec3::Z * -0.5);
    let floor = world.add_body(floor.material(dull)).unwrap();
    let cubes = [0.25, 0.75].map(|z| {
        let cube = BodyDef::inertial(cuboid(0.25, 0.25, 0.25)).material(dull);
        world.add_body(cube.position(Vec3::Z * z)).unwrap()
    });
    for _ in 0..240 {
        world.step(DT).unwrap();
    }
    assert_eq!(world.report().asleep, 2);
    (world, floor, cubes)
}

#[test]
fn a_change_wakes_the_tower_of_its_body_and_the_bodies_resting_on_it() {
    type Touch = fn(&mut World, BodyId, [BodyId; 2]) -> Result<(), BodyError>;
    let awake = |change: Touch| {
        let (mut world, floor, cubes) = sleeping();
        let rejected = change(&mut world, floor, cubes).is_err();
        let asleep = cubes.map(|id| world.body(id).unwrap().is_asleep());
        assert_eq!(asleep[0], asleep[1]);
        world.step(DT).unwrap();
        assert!(world.bodies().all(|body| body.pose().is_finite()));
        assert!(!rejected || asleep[0], "a rejected change woke");
        !asleep[0]
    };
    assert!(awake(|world, _, [a, _]| world.set_mass(a, 3.0)));
    assert!(awake(|world, _, [_, b]| world.set_damping(b, 1.0, 1.0)));
    assert!(awake(|world, _, [a, _]| world.set_gravity_scale(a, -1.0)));
    assert!(awake(|world, _, [_, b]| world.set_shape(b, ball(0.3))));
    assert!(awake(|world, floor, _| world.set_shape(floor, ball(0.3))));
    assert!(!awake(|world, _, [a, _]| world.set_name(a, "brick")));
    assert!(!awake(|world, _, [a, _]| world.set_user_data(a, 3)));
    assert!(!awake(|world, _, [a, _]| world.set_mass(a, -3.0)));
    assert!(!awake(|world, floor, _| world.set_mass(floor, 3.0)));
    assert!(!awake(|world, _, [a, _]| {
        world.set_shape(a, Shape::half_space(Vec3::Z, 0.0).unwrap())
    }));
}

#[test]
fn sleeping_bodies_fall_when_the_floor_under_them_gets_another_shape() {
    let (mut world, floor, cubes) = sleeping();
    world.set_shape(floor, cuboid(5.0, 5.0, 0.1)).unwrap();
    for _ in 0..240 {
        world.step(DT).unwrap();
    }
    assert_eq!(world.report().asleep, 2);
    for (id, z) in cubes.into_iter().zip([-0.15, 0.35]) {
        assert_near(world.body(id).unwrap().position().z, z, 2e-3);
    }
}

#[test]
fn repeated_changes_give_the_same_bits_on_any_number_of_threads() {
    let run = |threads: u32, max_exact_bodies: u32, steps: usize| {
        let settings = Settings {
            threads,
            max_exact_bodies: Some(max_exact_bodies),
            sleeping: true,
            ..Settings::default()
        };
        let mut world = World::new(settings).unwrap();
        world.use_all_threads(true);
        let floor = world.add_body(BodyDef::environment(cuboid(9.0, 9.0, 0.5))).unwrap();
        let mut rng = Rng::new(11);
        let ids: Vec<BodyId> = (0..40)
            .map(|n| {
                let place = Vec3::new((n % 4) as f64, (n / 4 % 3) as f64, 2.0 + (n / 12) as f64);
                let body = BodyDef::inertial(cuboid(0.2, 0.3, 0.25)).position(place * 0.8);
                world.add_body(body.density(300.0)).unwrap()
            })
            .collect();
        for pair in ids.chunks(2).step_by(4) {
            world.add_joint(JointDef::rope(pair[0], pair[1], 1.2)).unwrap();
        }
        let mut hashes = Vec::new();
        for step in 0..steps {
            // Long pauses let islands fall asleep.
            if step % 150 < 60 {
                let id = ids[(rng.range(0.0, 40.0) as usize).min(39)];
                let size = rng.range(0.15, 0.4);
                match step % 5 {
                    0 => world.set_shape(id, ball(size)).unwrap(),
                    1 => world.set_shape(id, cuboid(size, 0.2, size)).unwrap(),
                    2 => world.set_shape(id, wedge(2.0 * size)).unwrap(),
                    3 => world.set_mass(id, 100.0 * size).unwrap(),
                    _ => world.set_shape(floor, cuboid(9.0, 9.0, 0.4 + size)).unwrap(),
                }
            }
            world.step(DT).unwrap();
            hashes.push(world.state_hash());
        }
        for body in world.bodies().skip(1) {
            assert!(body.position().length() < 100.0, "{}", body.position());
            assert!(body.position().z > 0.3, "{}", body.position());
        }
        hashes
    };
    assert_eq!(run(1, 0, 450), run(3, 0, 450));
    run(1, 1000, 150);
}

#[test]
fn a_point_that_is_not_finite_is_rejected_by_its_own_name() {
    let mut world = World::default();
    let ball = BodyDef::inertial(Shape::sphere(0.5).unwrap());
    let ball = world.add_body(ball).unwrap();
    let nowhere = Vec3::new(0.0, f64::NAN, 0.0);
    for error in [
        world.apply_force_at(ball, Vec3::X, nowhere).unwrap_err(),
        world.apply_impulse_at(ball, Vec3::X, nowhere).unwrap_err(),
    ] {
        assert!(error.to_string().starts_with("point = "), "{error}");
    }
}
