//! Bodies of several colliders: mass, motion, and changes while the world runs.

use std::collections::BTreeSet;

use msd_sim::error::BodyError;
use msd_sim::geometry::{Shape, Simplex, Workspace, separation};
use msd_sim::math::{Mat3, Pose, SpatialVector, Vec3, rotation};
use msd_sim::{BodyDef, BodyId, Collider, ColliderId, Filter, JointDef, Material, Settings, World};

use crate::oracle::pairs::Rng;
use crate::scene::{DT, G, Scene};

fn cuboid(half: Vec3) -> Collider {
    Collider::new(Shape::cuboid(half).unwrap())
}

fn ball(radius: f64) -> Collider {
    Collider::new(Shape::sphere(radius).unwrap())
}

/// Returns a cube of 1 m, divided into `n` along each edge.
fn divided(n: usize) -> Vec<Collider> {
    let edge = 1.0 / n as f64;
    let center = |at: usize| (at as f64 + 0.5) * edge - 0.5;
    let cell = |at: usize| {
        let place = Vec3::new(center(at % n), center(at / n % n), center(at / n / n));
        cuboid(Vec3::splat(0.5 * edge)).at(place)
    };
    (0..n * n * n).map(cell).collect()
}

fn apart(a: Mat3, b: Mat3) -> f64 {
    (a - b).to_cols_array().iter().fold(0.0, |most, entry| most.max(entry.abs()))
}

#[test]
fn mass_center_and_inertia_of_several_colliders_are_those_of_the_solid_they_make() {
    let mut world = World::default();
    let cube = Shape::cuboid(Vec3::splat(0.5)).unwrap().mass_properties(700.0).unwrap();
    for n in [2, 4] {
        let id = world.add_body(BodyDef::inertial(divided(n)).density(700.0)).unwrap();
        let body = world.body(id).unwrap();
        assert!((body.mass() / cube.mass - 1.0).abs() < 1e-12);
        assert!(body.position().length() < 1e-12 && body.origin().length() < 1e-12);
        assert!(apart(body.inertia(), cube.inertia) < 1e-12 * cube.inertia.x_axis.x);
    }
    // An L of two bars of 3 and 2 kg along x and y, 1 m long and 0.2 m wide, its inner edges on the axes. By hand:
    // center (3 (.5, -.1) + 2 (-.1, .5)) / 5; about it, each bar's own m/12 (a^2 + b^2) and m d^2.
    let bar = |half: Vec3, mass: f64, place: Vec3| cuboid(half).mass(mass).at(place);
    let along_x = bar(Vec3::new(0.5, 0.1, 0.1), 3.0, Vec3::new(0.5, -0.1, 0.0));
    let along_y = bar(Vec3::new(0.1, 0.5, 0.1), 2.0, Vec3::new(-0.1, 0.5, 0.0));
    let id = world.add_body(BodyDef::inertial([along_x, along_y])).unwrap();
    let body = world.body(id).unwrap();
    assert!((body.mass() - 5.0).abs() < 1e-12);
    assert!((body.origin() + Vec3::new(0.26, 0.14, 0.0)).length() < 1e-12);
    let own = |mass: f64, a: f64, b: f64| mass / 12.0 * (a * a + b * b);
    let zz = own(3.0, 1.0, 0.2)
        + own(2.0, 1.0, 0.2)
        + 3.0 * (0.24_f64.powi(2) + 0.24_f64.powi(2))
        + 2.0 * (0.36_f64.powi(2) + 0.36_f64.powi(2));
    let xy = -(3.0 * 0.24 * -0.24 + 2.0 * -0.36 * 0.36);
    assert!((body.inertia().z_axis.z - zz).abs() < 1e-12, "{}", body.inertia());
    assert!((body.inertia().x_axis.y - xy).abs() < 1e-12, "{}", body.inertia());
    // A turned collider: a bar along x turned by 90 degrees about z is one along y.
    let turned =
        Pose::new(Vec3::new(-0.1, 0.5, 0.0), rotation(Vec3::Z, 0.5 * std::f64::consts::PI));
    let along_x = bar(Vec3::new(0.5, 0.1, 0.1), 3.0, Vec3::new(0.5, -0.1, 0.0));
    let other = cuboid(Vec3::new(0.5, 0.1, 0.1)).mass(2.0).at(turned);
    let other = world.add_body(BodyDef::inertial([along_x, other])).unwrap();
    let inertia = world.body(id).unwrap().inertia();
    assert!(apart(world.body(other).unwrap().inertia(), inertia) < 1e-12);
    // A given mass is that of the whole.
    let scaled = world.add_body(BodyDef::inertial(divided(2)).mass(3.0)).unwrap();
    assert!((world.body(scaled).unwrap().mass() - 3.0).abs() < 1e-12);
}

/// Runs a cube made of `n^3` cubes beside the plain one, and returns the largest distance between their paths.
fn deviation(
    n: usize,
    settings: &Settings,
    start: impl Fn(BodyDef) -> BodyDef,
    steps: usize,
) -> f64 {
    let [mut one, mut other] = [0, 1].map(|_| {
        let mut scene = Scene::with(settings.clone(), 0.3, 0.4);
        scene.floor();
        scene
    });
    let material = one.material;
    let whole = one.add(start(one.cube()));
    let parts = BodyDef::inertial(divided(n)).mass(1.0).material(material);
    let parts = other.add(start(parts));
    let mut most = 0.0_f64;
    for _ in 0..steps {
        let report = other.step();
        // Impulses that do not converge (64 points share the weight of one body) displace it by a thousandth of the path's
        // tolerance at most.
        let off = report.worst_violation.map_or(0.0, |worst| worst.residual);
        assert!(report.converged().unwrap_or(true) || off * DT < 1e-12, "{report:?}");
        one.step();
        let [a, b] = [one.body(whole), other.body(parts)];
        most = most.max((a.position() - b.position()).length());
    }
    most
}

#[test]
fn a_cube_of_cubes_rests_slides_and_tumbles_as_the_cube_does() {
    let settings = Settings::default();
    for n in [2, 4] {
        let rests = deviation(n, &settings, |def| def.position(Vec3::Z * 0.5), 120);
        assert!(rests < 1e-9, "{n}: {rests:e} m at rest");
        let slides = |def: BodyDef| def.position(Vec3::Z * 0.5).velocity(Vec3::new(3.0, 1.0, 0.0));
        let slides = deviation(n, &settings, slides, 120);
        assert!(slides < 1e-9, "{n}: {slides:e} m sliding");
        // It falls onto a corner and bounces; chaos begins once it lands on its edges.
        let turn = rotation(Vec3::new(1.0, 0.5, 0.2), 0.7);
        let tumbles = |def: BodyDef| def.position(Vec3::Z * 1.6).orientation(turn);
        let tumbles = deviation(n, &settings, tumbles, 45);
        assert!(tumbles < 1e-9, "{n}: {tumbles:e} m tumbling");
    }
}

#[test]
fn forces_on_a_table_of_five_boxes_add_up_to_its_weight_with_either_method() {
    for max_exact_bodies in [128, 0] {
        let settings = Settings { max_exact_bodies: Some(max_exact_bodies), ..Settings::default() };
        let mut scene = Scene::with(settings, 0.0, 0.5);
        scene.floor();
        let leg = |x: f64, y: f64| cuboid(Vec3::new(0.05, 0.05, 0.35)).at(Vec3::new(x, y, 0.35));
        let top = cuboid(Vec3::new(0.6, 0.4, 0.03)).at(Vec3::Z * 0.73).name("top");
        let table = BodyDef::inertial([
            top,
            leg(-0.5, -0.3),
            leg(0.5, -0.3),
            leg(-0.5, 0.3),
            leg(0.5, 0.3),
        ])
        .density(600.0)
        .material(scene.material)
        .origin(msd_sim::Origin::Frame);
        let table = scene.add(table);
        let cup = BodyDef::inertial(ball(0.05)).density(1000.0).material(scene.material);
        let cup = scene.add(cup.position(Vec3::new(0.3, 0.1, 0.81)));
        scene.run(240, |_| {});
        let [weight, load] = [table, cup].map(|id| scene.body(id).mass() * G);
        let on_floor = scene.world.contacts_of(table).unwrap();
        let under = on_floor.filter(|contact| contact.b() == table);
        let legs: Vec<f64> = under.map(|contact| contact.impulse().z / DT).collect();
        assert_eq!(legs.len(), 4, "one contact a leg");
        let sum: f64 = legs.iter().sum();
        let tolerance = if max_exact_bodies == 0 { 1e-3 } else { 1e-9 };
        assert!((sum / (weight + load) - 1.0).abs() < tolerance, "{legs:?}, {weight} + {load} N");
        // The names of what touches: the cup stands on the top.
        let under_cup = scene.world.contacts_of(cup).unwrap().next().unwrap();
        let names = under_cup.colliders().map(|id| scene.world.collider(id).unwrap().name());
        assert!(names.contains(&"top"), "{names:?}");
    }
}

#[test]
fn a_body_without_colliders_falls_and_hangs_by_its_mass_and_inertia() {
    let mut world = World::default();
    assert_eq!(world.add_body(BodyDef::inertial(())).unwrap_err(), BodyError::Massless);
    assert_eq!(world.add_body(BodyDef::inertial(()).mass(2.0)).unwrap_err(), BodyError::Massless);
    let bare =
        BodyDef::inertial(()).mass(2.0).inertia(Mat3::from_diagonal(Vec3::new(0.1, 0.2, 0.25)));
    let falls = world.add_body(bare.clone()).unwrap();
    let hook = world.add_body(BodyDef::environment(())).unwrap();
    let hangs = world.add_body(bare.position(Vec3::X * 3.0 - Vec3::Z)).unwrap();
    let anchor = Vec3::X * 3.0;
    world.add_joint(JointDef::rod(hook, hangs, 1.0).anchors(anchor, Vec3::ZERO)).unwrap();
    for _ in 0..60 {
        world.step(DT).unwrap();
    }
    let [fallen, hung] = [falls, hangs].map(|id| world.body(id).unwrap().position().z);
    assert!((fallen + 0.5 * G).abs() < 1e-9, "{fallen}");
    assert!((hung + 1.0).abs() < 1e-9, "{hung}");
    let force = world.impulses_on(hangs).unwrap().joints.linear.z / DT;
    assert!((force / (2.0 * G) - 1.0).abs() < 1e-9, "{force} N");
}

#[test]
fn a_collider_added_in_flight_changes_no_velocity_of_any_point_and_moves_no_anchor() {
    let mut scene = Scene::weightless(0.0, 0.5);
    let velocity = SpatialVector::new(Vec3::new(1.0, 2.0, 0.5), Vec3::new(0.3, -2.0, 1.0));
    let turn = rotation(Vec3::new(0.3, 1.0, -0.4), 1.1);
    let def = BodyDef::inertial(cuboid(Vec3::new(0.5, 0.2, 0.1)).density(100.0));
    let def = def.pose(Pose::new(Vec3::new(1.0, -2.0, 3.0), turn));
    let id = scene.add(def.velocity(velocity.linear).angular_velocity(velocity.angular));
    let hook = scene.add(BodyDef::environment(()));
    let anchor = Vec3::new(0.5, 0.1, 0.1);
    let joint =
        scene.world.add_joint(JointDef::rope(hook, id, 100.0).anchors(Vec3::ZERO, anchor)).unwrap();
    // A point of the body, and where the anchor is.
    let places = |scene: &Scene| {
        let body = scene.body(id);
        let point = body.pose().transform_point(body.origin() + Vec3::new(0.4, 0.1, 0.0));
        let speed = body.velocity().velocity_at(point - body.position());
        let [_, (_, anchor)] = scene.world.joint(joint).unwrap().ends();
        (point, speed, body.pose().transform_point(anchor))
    };
    let before = places(&scene);
    let end = cuboid(Vec3::splat(0.2)).density(900.0).at(Vec3::new(0.7, 0.1, -0.05));
    let added = scene.world.add_collider(id, end).unwrap();
    let same = |(p, v, a): (Vec3, Vec3, Vec3)| {
        let (q, w, b) = before;
        (p - q).length() < 1e-14 && (v - w).length() < 1e-14 && (a - b).length() < 1e-14
    };
    assert!(same(places(&scene)), "{:?} {before:?}", places(&scene));
    // Two parts of 8 and 57.6 kg.
    assert!((scene.body(id).mass() - 65.6).abs() < 1e-12);
    // It flies on as one body: momentum and energy stay.
    let momentum = scene.world.momentum();
    let energy = scene.energy();
    scene.run(60, |_| {});
    let now = scene.world.momentum();
    assert!((now.linear - momentum.linear).length() < 1e-12 * momentum.linear.length());
    assert!((now.angular - momentum.angular).length() < 1e-10 * momentum.angular.length());
    assert!((scene.energy() / energy - 1.0).abs() < 1e-11);
    // And back.
    scene.world.remove_collider(added).unwrap();
    assert!((scene.body(id).mass() - 8.0).abs() < 1e-12);
    assert!(scene.body(id).origin().length() < 1e-12);
    let unknown = BodyError::UnknownCollider { index: added.index() as u32, generation: 0 };
    assert_eq!(scene.world.collider(added).map(|_| ()).unwrap_err(), unknown);
    assert_eq!(scene.world.remove_collider(added).unwrap_err(), unknown);
}

#[test]
fn sensors_and_disabled_colliders_push_nothing_and_have_no_mass() {
    for max_exact_bodies in [128, 0] {
        let settings = Settings { max_exact_bodies: Some(max_exact_bodies), ..Settings::default() };
        let mut scene = Scene::with(settings, 0.0, 0.5);
        let floor = scene.floor();
        let skin = ball(0.8).sensor(true);
        let shield = ball(0.7).enabled(false);
        let def = BodyDef::inertial([ball(0.5).mass(1.0), skin, shield]).position(Vec3::Z * 0.5);
        let id = scene.add(def);
        let [_, _, shield] = *scene.body(id).colliders().map(|c| c.id()).collect::<Vec<_>>() else {
            panic!("three colliders");
        };
        scene.run(30, |_| {});
        assert!((scene.body(id).position().z - 0.5).abs() < 1e-3);
        assert_eq!((scene.body(id).mass(), scene.world.contacts().count()), (1.0, 1));
        // Enabled, it pushes the body up to its own radius; and weighs as much as its body's density gives it.
        scene.world.change_collider(shield, |shield| shield.enabled(true).mass(3.0)).unwrap();
        assert!((scene.body(id).mass() - 4.0).abs() < 1e-14);
        scene.run(240, |_| {});
        assert!((scene.body(id).position().z - 0.7).abs() < 1e-2, "{}", scene.body(id).position());
        // The floor becomes a sensor: the body falls.
        let ground = scene.body(floor).colliders().next().unwrap().id();
        scene.world.change_collider(ground, |ground| ground.sensor(true)).unwrap();
        scene.run(30, |_| {});
        assert!(scene.body(id).position().z < 0.0);
        assert_eq!(scene.world.contacts().count(), 0);
    }
}

#[test]
fn each_collider_has_its_own_surface_and_filter() {
    // A sled with one runner of ice and one of rubber turns about the rubber one.
    let mut scene = Scene::new(0.0, 1.0);
    scene.floor();
    let runner = |y: f64, friction: f64| {
        cuboid(Vec3::new(0.5, 0.05, 0.1))
            .at(Vec3::Y * y)
            .material(Material::new(0.0, friction).unwrap())
    };
    let sled = BodyDef::inertial([runner(-0.4, 0.0), runner(0.4, 0.25)]).position(Vec3::Z * 0.1);
    let sled = scene.add(sled.velocity(Vec3::X * 2.0));
    scene.run(20, |_| {});
    // Friction 0.5 = sqrt(1 * 0.25) acts at y = 0.4, so the sled turns to the left.
    assert!(scene.body(sled).angular_velocity().z > 0.1);
    let frictions: Vec<f64> = scene.world.contacts().map(|contact| contact.friction()).collect();
    assert_eq!(frictions, [0.0, 0.5]);
    // A runner in no group of the floor's mask passes through it.
    let rubber = scene.body(sled).colliders().nth(1).unwrap().id();
    let nothing = Filter { groups: 0, mask: 0 };
    scene.world.change_collider(rubber, |runner| runner.filter(nothing)).unwrap();
    scene.run(60, |_| {});
    assert!(scene.world.contacts().all(|contact| !contact.colliders().contains(&rubber)));
    assert!(scene.body(sled).colliders().nth(1).unwrap().pose().position.z < 0.05);
}

/// Returns a random part of a body.
fn part(rng: &mut Rng) -> Collider {
    let shape = match rng.index(3) {
        0 => Shape::sphere(rng.range(0.2, 0.5)).unwrap(),
        1 => Shape::cuboid(Vec3::new(0.4, 0.2, 0.3)).unwrap(),
        _ => Shape::capsule(0.15, 0.3).unwrap(),
    };
    let turn = rotation(rng.in_cube() + Vec3::X * 2.0, rng.range(-3.0, 3.0));
    Collider::new(shape).at(Pose::new(rng.in_cube() * 0.6, turn))
}

/// Bodies and colliders that are added, removed, moved, changed and put to sleep at random, with either method and on 1 and 3
/// threads: the same bits, and every two colliders that overlap before and after a step have a contact if they may collide.
#[test]
fn every_overlap_of_colliders_has_a_contact_whatever_was_changed_before() {
    for seed in 0..6 {
        let hashes = [1, 3].map(|threads| run_random_colliders(seed, threads));
        assert_eq!(hashes[0], hashes[1], "seed {seed}");
    }
}

fn run_random_colliders(seed: u64, threads: u32) -> Vec<u64> {
    let mut rng = Rng::new(4000 + seed);
    let settings = Settings { gravity: Vec3::ZERO, threads, ..Settings::default() };
    let mut scene = Scene::with(settings.clone(), 0.0, 0.5).on_all_threads();
    let def = |rng: &mut Rng| {
        let parts: Vec<Collider> = (0..1 + rng.index(4)).map(|_| part(rng)).collect();
        let def = match rng.index(5) {
            0 => BodyDef::environment(parts),
            _ => BodyDef::inertial(parts).velocity(rng.in_cube()).angular_velocity(rng.in_cube()),
        };
        def.position(rng.in_cube() * 2.0)
    };
    let mut ids: Vec<BodyId> = (0..10).map(|_| scene.add(def(&mut rng))).collect();
    let mut hashes = Vec::new();
    for step in 0..80 {
        let body = ids[rng.index(ids.len())];
        let colliders: Vec<ColliderId> =
            scene.body(body).colliders().map(|collider| collider.id()).collect();
        let any = (!colliders.is_empty()).then(|| colliders[rng.index(colliders.len().max(1))]);
        let world = &mut scene.world;
        match (rng.index(12), any) {
            (0, _) if ids.len() < 14 => ids.push(world.add_body(def(&mut rng)).unwrap()),
            (1, _) if ids.len() > 6 => {
                world.remove_body(body).unwrap();
                ids.retain(|&id| id != body);
            }
            (2 | 3, _) => {
                world.add_collider(body, part(&mut rng)).unwrap();
            }
            // Rejected if it leaves a body without mass.
            (4 | 5, Some(collider)) => {
                let _ = world.remove_collider(collider);
            }
            (6, Some(collider)) => {
                let enabled = rng.index(2) == 0;
                let _ = world.change_collider(collider, |part| part.enabled(enabled));
            }
            (7, Some(collider)) => {
                let place = Pose::at(rng.in_cube() * 0.6);
                world.change_collider(collider, |part| part.at(place)).unwrap();
            }
            (8, Some(collider)) => {
                let groups = 1 << rng.index(2);
                let filter = Filter { groups, mask: groups | 1 };
                world.change_collider(collider, |part| part.filter(filter)).unwrap();
            }
            (9, _) => world.set_pose(body, Pose::at(rng.in_cube() * 2.0)).unwrap(),
            (10, _) => {
                let max_exact_bodies = Some([0, 3, 128][rng.index(3)]);
                let sleeping = rng.index(2) == 0;
                let sleep_time = if sleeping { 0.02 } else { settings.sleep_time };
                let changed =
                    Settings { max_exact_bodies, sleeping, sleep_time, ..settings.clone() };
                world.set_settings(changed).unwrap();
            }
            _ => {}
        }
        let before = overlapping(&scene.world);
        scene.world.step(DT).unwrap();
        let world = &scene.world;
        assert!(world.bodies().all(|body| body.position().is_finite()));
        let contacts: BTreeSet<[ColliderId; 2]> =
            world.contacts().map(|contact| contact.colliders()).collect();
        for pair in overlapping(world).intersection(&before) {
            assert!(contacts.contains(pair), "seed {seed}, step {step}: {pair:?} have no contact");
        }
        for [a, b] in contacts {
            assert!(may_collide(world, a, b), "seed {seed}, step {step}: {a} and {b}");
        }
        hashes.push(world.state_hash());
    }
    hashes
}

/// Returns whether two colliders may collide, by brute force.
fn may_collide(world: &World, a: ColliderId, b: ColliderId) -> bool {
    let [a, b] = [a, b].map(|id| world.collider(id).unwrap());
    let inertial = [a, b].iter().any(|one| world.body(one.body()).unwrap().mass() > 0.0);
    let acts = [a, b].iter().all(|one| one.is_enabled() && !one.is_sensor());
    inertial && acts && a.body() != b.body() && a.filter().allows(&b.filter())
}

/// Returns the pairs of colliders that may collide and overlap by more than a millimeter, by brute force.
fn overlapping(world: &World) -> BTreeSet<[ColliderId; 2]> {
    let all: Vec<ColliderId> = world.colliders().map(|collider| collider.id()).collect();
    let mut workspace = Workspace::default();
    let mut found = BTreeSet::new();
    for (at, &b) in all.iter().enumerate() {
        for &a in all[..at].iter().filter(|&&a| may_collide(world, a, b)) {
            let [one, other] = [a, b].map(|id| world.collider(id).unwrap());
            let simplex = &mut Simplex::default();
            let shapes = (one.shape(), one.pose(), other.shape(), other.pose());
            let (a_shape, a_pose, b_shape, b_pose) = shapes;
            let apart = separation(a_shape, &a_pose, b_shape, &b_pose, simplex, &mut workspace);
            if apart.is_some_and(|apart| apart.distance < -1e-3) {
                found.insert([a, b]);
            }
        }
    }
    found
}
