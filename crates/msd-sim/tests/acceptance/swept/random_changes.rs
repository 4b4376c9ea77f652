//! Random changes to a world between steps, with either method: nothing diverges, and no contact is lost or invented.

use std::collections::BTreeSet;

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, SpatialVector, Vec3};
use msd_sim::{BodyDef, BodyId, BodyKind, Filter, JointDef, JointId, Material, Settings, World};

use super::{pile, swept_settings};
use crate::oracle::pairs::Rng;
use crate::scene::{DT, Scene};

/// Makes a random change to a world, the same for the same random numbers.
fn random_change(
    scene: &mut Scene,
    bodies: &mut Vec<BodyId>,
    joints: &mut Vec<JointId>,
    rng: &mut Rng,
) {
    let mut any = |size: f64| {
        let mut one = || rng.range(-size, size);
        Vec3::new(one(), one(), one())
    };
    let (place, velocity) = (any(2.0) + Vec3::Z * 2.2, any(5.0));
    let what = rng.index(14);
    let [a, b] = [(); 2].map(|()| bodies[rng.index(bodies.len())]);
    let world = &mut scene.world;
    match what {
        0..=2 if bodies.len() < 45 => {
            let shape = super::assorted(rng.index(4));
            let def = match rng.index(8) {
                0 => BodyDef::environment(shape).angular_velocity(velocity),
                _ => BodyDef::inertial(shape).mass(rng.log_range(0.1, 10.0)),
            };
            bodies.push(world.add_body(def.position(place).material(scene.material)).unwrap());
        }
        3..=4 if bodies.len() > 5 => {
            world.remove_body(a).unwrap();
            bodies.retain(|&other| other != a);
            let there: Vec<_> = world.joints().map(|(id, _)| id).collect();
            joints.retain(|id| there.contains(id));
        }
        5 => world.set_pose(a, Pose::at(place)).unwrap(),
        6 => world.set_velocity(a, SpatialVector::new(velocity, velocity)).unwrap(),
        7 => {
            let mask = if rng.index(2) == 0 { 0 } else { u32::MAX };
            world.set_filter(a, Filter { groups: u32::MAX, mask }).unwrap();
        }
        8 if a != b => world.set_collides(a, b, rng.index(2) == 0).unwrap(),
        9 => {
            let material = Material::new(rng.range(0.0, 1.0), rng.range(0.0, 1.0)).unwrap();
            world.set_material(a, material).unwrap();
        }
        10 if a != b && joints.len() < 12 => {
            let joint = match rng.index(3) {
                0 => JointDef::ball(a, b),
                1 => JointDef::rope(a, b, 1.0),
                _ => JointDef::spring(a, b, 0.5, 100.0, 1.0),
            };
            // Rejected between two environment bodies.
            joints.extend(world.add_joint(joint).ok());
        }
        11 if !joints.is_empty() => {
            let joint = joints.swap_remove(rng.index(joints.len()));
            world.remove_joint(joint).unwrap();
        }
        12 => {
            // Rejected for environment bodies.
            let _ = world.apply_impulse(a, SpatialVector::new(velocity, velocity * 0.1));
        }
        13 => {
            let settings = world.settings().clone();
            let max_exact_bodies = [0, 3, 20][rng.index(3)];
            world
                .set_settings(Settings { max_exact_bodies: Some(max_exact_bodies), ..settings })
                .unwrap();
        }
        _ => {}
    }
}

#[test]
fn random_changes_leave_the_world_finite_and_the_same_bits_on_any_number_of_threads() {
    for seed in 0..4 {
        let outcomes = [1, 3].map(|threads| {
            let mut scene =
                Scene::with(Settings { threads, ..swept_settings() }, 0.3, 0.5).on_all_threads();
            scene.floor();
            let mut bodies = pile(&mut scene, 20, 0.4);
            let (mut joints, mut rng) = (Vec::new(), Rng::new(seed));
            let mut hashes = Vec::new();
            for _ in 0..100 {
                for _ in 0..rng.index(4) {
                    random_change(&mut scene, &mut bodies, &mut joints, &mut rng);
                }
                scene.step();
                let world = &scene.world;
                assert!(world.bodies().all(|body| body.position().is_finite()));
                assert!(world.events().quarantined().is_empty());
                // No contact refers to a removed body.
                let there = |id: BodyId| world.body(id).is_ok();
                assert!(world.contacts().all(|contact| there(contact.a()) && there(contact.b())));
                hashes.push(world.state_hash());
            }
            hashes
        });
        let [one, three] = &outcomes;
        let same = one.iter().zip(three).take_while(|(a, b)| a == b).count();
        assert_eq!(same, one.len(), "seed {seed}: equal steps");
    }
}

/// Whether two bodies may collide as the test expects it, by brute force.
struct Allowed {
    disabled: BTreeSet<(BodyId, BodyId)>,
    joints: Vec<(JointId, (BodyId, BodyId))>,
}

fn key(a: BodyId, b: BodyId) -> (BodyId, BodyId) {
    if a < b { (a, b) } else { (b, a) }
}

impl Allowed {
    fn collide(&self, world: &World, a: BodyId, b: BodyId) -> bool {
        let [of_a, of_b] = [a, b].map(|id| world.body(id).unwrap());
        let inertial = of_a.kind() == BodyKind::Inertial || of_b.kind() == BodyKind::Inertial;
        let jointed = self.joints.iter().any(|(_, pair)| *pair == key(a, b));
        inertial
            && !jointed
            && !self.disabled.contains(&key(a, b))
            && of_a
                .colliders()
                .next()
                .unwrap()
                .filter()
                .allows(&of_b.colliders().next().unwrap().filter())
    }
}

/// Balls that are added, removed, moved, jointed, filtered and put to sleep at random, in a world that is swept or exact
/// by turns: after every step, the balls that overlapped before and after it have a contact if they may collide, and
/// none otherwise.
#[test]
fn every_overlap_has_a_contact_whatever_was_changed_before() {
    for seed in 0..12 {
        let mut rng = Rng::new(1000 + seed);
        let settings = Settings { gravity: Vec3::ZERO, ..Settings::default() };
        let mut scene = Scene::with(settings.clone(), 0.0, 0.5);
        let mut allowed = Allowed { disabled: BTreeSet::new(), joints: Vec::new() };
        let mut ids: Vec<BodyId> = Vec::new();
        let ball = |rng: &mut Rng, n: usize| {
            let shape = Shape::sphere(if n.is_multiple_of(5) { 0.9 } else { 0.4 }).unwrap();
            let def = match n % 6 {
                1 => BodyDef::environment(shape),
                _ => BodyDef::inertial(shape).mass(1.0),
            };
            let velocity = if n % 12 == 1 { Vec3::ZERO } else { rng.in_cube() };
            def.position(rng.in_cube() * 1.5).velocity(velocity)
        };
        for n in 0..16 {
            ids.push(scene.add(ball(&mut rng, n)));
        }
        for step in 0..150 {
            let pick = |rng: &mut Rng| ids[rng.index(ids.len())];
            let (a, b) = (pick(&mut rng), pick(&mut rng));
            let world = &mut scene.world;
            match rng.index(12) {
                0 => ids.push(world.add_body(ball(&mut rng, step)).unwrap()),
                1 if ids.len() > 8 => {
                    world.remove_body(a).unwrap();
                    ids.retain(|&id| id != a);
                    allowed.joints.retain(|(_, pair)| pair.0 != a && pair.1 != a);
                    allowed.disabled.retain(|pair| pair.0 != a && pair.1 != a);
                }
                2 => world.set_pose(a, Pose::at(rng.in_cube() * 1.5)).unwrap(),
                3 => {
                    let velocity = SpatialVector::new(rng.in_cube(), Vec3::ZERO);
                    world.set_velocity(a, velocity).unwrap();
                }
                4 => {
                    let joint = JointDef::spring(a, b, 0.5, 1.0, 0.0);
                    if let Ok(id) = world.add_joint(joint) {
                        allowed.joints.push((id, key(a, b)));
                    }
                }
                5 if !allowed.joints.is_empty() => {
                    let (id, _) = allowed.joints.swap_remove(rng.index(allowed.joints.len()));
                    world.remove_joint(id).unwrap();
                }
                6 | 7 if a != b => {
                    let disabled = allowed.disabled.contains(&key(a, b));
                    world.set_collides(a, b, disabled).unwrap();
                    match disabled {
                        true => drop(allowed.disabled.remove(&key(a, b))),
                        false => drop(allowed.disabled.insert(key(a, b))),
                    }
                }
                8 => {
                    let groups = 1 << rng.index(2);
                    world.set_filter(a, Filter { groups, mask: groups | 1 }).unwrap();
                }
                9 => world
                    .set_shape(a, Shape::sphere(0.3 + 0.2 * rng.range(0.0, 1.0)).unwrap())
                    .unwrap(),
                10 => {
                    let max_exact_bodies = [0, 3, 128][rng.index(3)];
                    let sleeping = rng.index(2) == 0;
                    let sleep_time = if sleeping { 0.02 } else { settings.sleep_time };
                    let changed = Settings {
                        max_exact_bodies: Some(max_exact_bodies),
                        sleeping,
                        sleep_time,
                        ..settings.clone()
                    };
                    world.set_settings(changed).unwrap();
                }
                _ => {}
            }
            let state = |scene: &Scene, id: BodyId| {
                let body = scene.world.body(id).unwrap();
                let Shape::Sphere(sphere) = body.colliders().next().unwrap().shape() else {
                    panic!("a ball")
                };
                (body.position(), sphere.radius())
            };
            let overlaps = |scene: &Scene, a: BodyId, b: BodyId| {
                let ((p, r), (q, s)) = (state(scene, a), state(scene, b));
                (q - p).length() < r + s - 1e-3
            };
            let pairs: Vec<(BodyId, BodyId)> = (0..ids.len())
                .flat_map(|i| (0..i).map(move |j| (i, j)))
                .map(|(i, j)| key(ids[i], ids[j]))
                .filter(|&(a, b)| overlaps(&scene, a, b))
                .collect();
            scene.world.step(DT).unwrap();
            let contacts: BTreeSet<_> =
                scene.world.contacts().map(|contact| key(contact.a(), contact.b())).collect();
            for &(a, b) in &contacts {
                let collide = allowed.collide(&scene.world, a, b);
                assert!(collide, "seed {seed}, step {step}: {a:?} and {b:?} may not collide");
            }
            for (a, b) in pairs {
                let found = contacts.contains(&(a, b));
                let touch = overlaps(&scene, a, b) && allowed.collide(&scene.world, a, b);
                assert!(found || !touch, "seed {seed}, step {step}: {a:?} and {b:?} overlap");
            }
        }
    }
}
