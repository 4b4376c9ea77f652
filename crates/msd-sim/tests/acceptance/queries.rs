//! Queries against brute force over all colliders, in worlds that move and change.

use std::f64::consts::PI;

use msd_sim::geometry::{Aabb, Ray, Shape, Simplex, Workspace, separation};
use msd_sim::math::{Pose, SpatialVector, Vec3, rotation};
use msd_sim::{
    BodyDef, BodyId, BodyKind, CastHit, Collider, ColliderId, ColliderView, Filter, QueryFilter,
    QueryHit, Settings, World,
};

use crate::oracle::pairs::Rng;
use crate::scene::DT;

/// Returns a random shape of about half a meter.
fn shape(rng: &mut Rng) -> Shape {
    let mut size = || rng.range(0.1, 0.6);
    let [a, b, c] = [size(), size(), size()];
    match rng.index(6) {
        0 => Shape::sphere(a),
        1 => Shape::capsule(0.5 * a, b),
        2 => Shape::cylinder(a, b),
        3 => Shape::cone(a, b),
        4 => Shape::cuboid(Vec3::new(a, b, c)),
        _ => {
            let points: Vec<Vec3> = (0..12).map(|_| rng.in_cube() * 0.5).collect();
            Shape::hull(&points)
        }
    }
    .unwrap()
}

fn turn(rng: &mut Rng) -> Pose {
    let axis = rng.in_cube() + Vec3::X * 2.0;
    Pose::new(Vec3::ZERO, rotation(axis, rng.range(-PI, PI)))
}

fn body(rng: &mut Rng) -> BodyDef {
    let parts: Vec<Collider> = (0..1 + rng.index(3))
        .map(|n| {
            let place = Pose::new(rng.in_cube() * 0.5 * n as f64, turn(rng).rotation);
            let groups = 1 << rng.index(3);
            Collider::new(shape(rng))
                .at(place)
                .filter(Filter { groups, mask: u32::MAX })
                .sensor(n > 0 && rng.index(4) == 0)
                .enabled(n == 0 || rng.index(4) > 0)
        })
        .collect();
    let def = match rng.index(5) {
        0 => BodyDef::environment(parts),
        1 => BodyDef::environment(parts).velocity(rng.in_cube()).angular_velocity(rng.in_cube()),
        _ => BodyDef::inertial(parts)
            .velocity(rng.in_cube() * 5.0)
            .angular_velocity(rng.in_cube() * 8.0),
    };
    def.position(rng.in_cube() * 4.0 + Vec3::Z * 4.0).orientation(turn(rng).rotation)
}

/// A world of assorted bodies above a plane, which is stepped and changed at random. Calls `ask` in between: right after
/// steps, and right after changes.
fn with_moving_world(
    seed: u64,
    max_exact_bodies: u32,
    rounds: usize,
    mut ask: impl FnMut(&World, &mut Rng),
) {
    let mut rng = Rng::new(seed);
    let settings = Settings { max_exact_bodies: Some(max_exact_bodies), ..Settings::default() };
    let mut world = World::new(settings).unwrap();
    world.add_body(BodyDef::environment(Shape::half_space(Vec3::Z, 0.0).unwrap())).unwrap();
    let mut ids: Vec<BodyId> = (0..40).map(|_| world.add_body(body(&mut rng)).unwrap()).collect();
    ask(&world, &mut rng);
    for round in 0..rounds {
        for _ in 0..3 {
            let any = ids[rng.index(ids.len())];
            let place = Pose::new(rng.in_cube() * 4.0 + Vec3::Z * 4.0, turn(&mut rng).rotation);
            let velocity = SpatialVector::new(rng.in_cube() * 20.0, rng.in_cube() * 20.0);
            match rng.index(7) {
                0 => world.set_pose(any, place).unwrap(),
                1 => world.set_velocity(any, velocity).unwrap(),
                2 if ids.len() > 20 => {
                    world.remove_body(any).unwrap();
                    ids.retain(|&id| id != any);
                }
                3 => ids.push(world.add_body(body(&mut rng)).unwrap()),
                4 => {
                    let added = Collider::new(shape(&mut rng)).at(rng.in_cube());
                    world.add_collider(any, added).unwrap();
                }
                5 => {
                    let first = world.body(any).unwrap().colliders().next().unwrap().id();
                    let at = Pose::at(rng.in_cube());
                    world.change_collider(first, |collider| collider.at(at)).unwrap();
                }
                _ => {}
            }
        }
        if round % 2 == 0 {
            ask(&world, &mut rng);
        }
        world.step(DT).unwrap();
        ask(&world, &mut rng);
    }
}

/// Returns the colliders that a query without filter sees, by brute force.
fn seen(world: &World) -> Vec<ColliderView<'_>> {
    world.colliders().filter(|view| view.is_enabled() && !view.is_sensor()).collect()
}

fn ray(rng: &mut Rng) -> Ray {
    let origin = rng.in_cube() * 6.0 + Vec3::Z * 4.0;
    let direction = match rng.index(4) {
        // Along an axis, where components are zero.
        0 => Vec3::AXES[rng.index(3)] * if rng.index(2) == 0 { 1.0 } else { -1.0 },
        _ => rng.in_cube() + Vec3::splat(1e-3),
    };
    Ray::new(origin, direction).unwrap()
}

fn check_rays(world: &World, rng: &mut Rng, count: usize) {
    let all = seen(world);
    for _ in 0..count {
        let ray = ray(rng);
        let most = if rng.index(3) == 0 { rng.range(0.0, 5.0) } else { f64::INFINITY };
        let mut hits: Vec<(f64, ColliderId)> = all
            .iter()
            .filter_map(|view| {
                Some((view.shape().cast_ray(&view.pose(), &ray, most)?.distance, view.id()))
            })
            .collect();
        hits.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let found = world.cast_ray(&ray, most, &QueryFilter::new());
        let first = found.map(|hit| (hit.distance, hit.collider));
        assert_eq!(first, hits.first().copied(), "{ray:?} up to {most} m");
        let through = world.cast_ray_through(&ray, most, &QueryFilter::new());
        let through: Vec<_> = through.iter().map(|hit| (hit.distance, hit.collider)).collect();
        assert_eq!(through, hits, "{ray:?} up to {most} m");
    }
}

#[test]
fn rays_hit_what_a_search_of_all_colliders_finds_with_either_method() {
    for (seed, max_exact_bodies) in [(1, 128), (2, 0), (3, 10)] {
        with_moving_world(seed, max_exact_bodies, 12, |world, rng| check_rays(world, rng, 60));
    }
}

#[test]
#[ignore = "a million rays"]
fn a_million_rays_hit_what_a_search_of_all_colliders_finds() {
    for seed in 0..40 {
        let max_exact_bodies = [128, 0, 10][seed as usize % 3];
        with_moving_world(seed, max_exact_bodies, 20, |world, rng| check_rays(world, rng, 820));
    }
}

/// Returns the depth at which two shapes overlap, as a negative distance, if they do.
fn overlap(view: &ColliderView<'_>, shape: &Shape, pose: &Pose) -> Option<f64> {
    let (simplex, workspace) = (&mut Simplex::default(), &mut Workspace::default());
    let found = separation(view.shape(), &view.pose(), shape, pose, simplex, workspace)?;
    (found.distance <= 0.0).then_some(found.distance)
}

#[test]
fn overlaps_and_nearest_points_are_those_of_a_search_of_all_colliders() {
    for (seed, max_exact_bodies) in [(4, 128), (5, 0)] {
        with_moving_world(seed, max_exact_bodies, 10, |world, rng| {
            let (all, filter) = (seen(world), QueryFilter::new());
            for _ in 0..20 {
                let point = rng.in_cube() * 5.0 + Vec3::Z * 4.0;
                let (probe, at) = (shape(rng), Pose::new(point, turn(rng).rotation));
                let hits = world.overlaps_with(&probe, &at, &filter);
                let hits: Vec<_> = hits.iter().map(|hit| (hit.collider, hit.distance)).collect();
                let expected = all.iter().filter_map(|v| Some((v.id(), overlap(v, &probe, &at)?)));
                assert_eq!(hits, expected.collect::<Vec<_>>());

                let inside = world.overlaps_with_point(point, &filter);
                let inside: Vec<_> = inside.iter().map(|hit| hit.collider).collect();
                let expected = all.iter().filter(|v| v.shape().contains(&v.pose(), point));
                assert_eq!(inside, expected.map(|view| view.id()).collect::<Vec<_>>());

                let half = Vec3::splat(rng.range(0.0, 1.0));
                let bounds = Aabb { min: point - half, max: point + half };
                let expected = all.iter().filter(|view| view.bounds().overlaps(&bounds));
                let expected: Vec<_> = expected.map(|view| view.id()).collect();
                assert_eq!(world.colliders_in(&bounds, &filter), expected);

                let most = [0.0, 0.3, f64::INFINITY][rng.index(3)];
                let nearest = all
                    .iter()
                    .map(|view| (view.shape().project(&view.pose(), point).distance, view.id()));
                let nearest = nearest.filter(|(distance, _)| *distance <= most);
                let nearest = nearest.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                let found = world.nearest_point(point, most, &filter);
                assert_eq!(found.map(|hit| (hit.distance, hit.collider)), nearest);
            }
        });
    }
}

#[test]
fn cast_shapes_stop_where_they_first_touch_and_overlap_nothing_before() {
    let mut touched = 0;
    for (seed, max_exact_bodies) in [(6, 128), (7, 0)] {
        with_moving_world(seed, max_exact_bodies, 4, |world, rng| {
            let all = seen(world);
            for _ in 0..20 {
                let start = Pose::new(rng.in_cube() * 6.0 + Vec3::Z * 5.0, turn(rng).rotation);
                let probe = shape(rng);
                if all.iter().any(|view| overlap(view, &probe, &start).is_some()) {
                    continue;
                }
                let spin = if rng.index(2) == 0 { Vec3::ZERO } else { rng.in_cube() * 2.0 };
                let motion = SpatialVector::new(rng.in_cube() * 8.0, spin);
                let hit = world.cast_shape(&probe, &start, motion, &QueryFilter::new());
                let until = hit.map_or(1.0, |hit| hit.fraction);
                let pose = |fraction: f64| {
                    let angle = spin.length() * fraction;
                    let turned = match angle > 0.0 {
                        true => rotation(spin, angle) * start.rotation,
                        false => start.rotation,
                    };
                    Pose::new(start.position + motion.linear * fraction, turned)
                };
                // Nothing overlaps on the way, by samples; at its end, it touches what it names.
                for n in 0..200 {
                    let at = pose(until * f64::from(n) / 200.0);
                    let depth = all.iter().filter_map(|view| overlap(view, &probe, &at));
                    let depth = depth.fold(0.0, f64::min);
                    assert!(depth > -1e-9, "{depth:e} m deep at {n} of 200");
                }
                if let Some(CastHit { hit, pose: there, cut_off, .. }) = hit {
                    assert!(!cut_off && (there.position - pose(until).position).length() < 1e-12);
                    assert!(hit.distance.abs() < 1e-8, "{}", hit.distance);
                    let view = world.collider(hit.collider).unwrap();
                    let on_surface = view.shape().project(&view.pose(), hit.point).distance;
                    assert!(on_surface.abs() < 1e-8, "{on_surface:e}");
                    touched += 1;
                }
            }
        });
    }
    assert!(touched > 50, "{touched} casts touched anything");
}

#[test]
fn filters_hide_groups_kinds_bodies_and_whatever_a_predicate_rejects() {
    let mut world = World::default();
    let ball = Shape::sphere(0.5).unwrap();
    let at = |x: f64| Vec3::X * x;
    let member = |groups: u32| Filter { groups, mask: u32::MAX };
    let one = BodyDef::inertial(ball.clone()).position(at(2.0)).filter(member(1));
    let one = world.add_body(one).unwrap();
    let two = BodyDef::environment(ball.clone()).position(at(4.0)).filter(member(2)).name("two");
    let two = world.add_body(two).unwrap();
    let zone = Collider::new(ball.clone()).sensor(true);
    let zone = world.add_body(BodyDef::environment(zone).position(at(6.0))).unwrap();
    let ray = Ray::new(Vec3::ZERO, Vec3::X).unwrap();
    let first = |filter: &QueryFilter<'_>| world.cast_ray(&ray, 100.0, filter).map(|hit| hit.body);
    let any = QueryFilter::new();
    assert_eq!(first(&any), Some(one));
    assert_eq!(first(&any.without(one)), Some(two));
    assert_eq!(first(&any.only(BodyKind::Environment)), Some(two));
    assert_eq!(first(&any.filter(Filter { groups: 1, mask: 2 })), Some(two));
    assert_eq!(first(&any.filter(Filter { groups: 1, mask: 4 })), None);
    assert_eq!(first(&any.filter(Filter { groups: 1, mask: 4 }).sensors(true)), Some(zone));
    let named = |view: &ColliderView<'_>| !world.body(view.body()).unwrap().name().is_empty();
    assert_eq!(first(&any.predicate(&named)), Some(two));
    let all = world.cast_ray_through(&ray, 100.0, &any.sensors(true));
    assert_eq!(all.iter().map(|hit| hit.body).collect::<Vec<_>>(), [one, two, zone]);
    assert_eq!(all.iter().map(|hit| hit.distance).collect::<Vec<_>>(), [1.5, 3.5, 5.5]);
}

#[test]
fn hits_name_faces_and_distances_are_those_of_the_nearest_colliders() {
    let mut world = World::default();
    let cube = |x: f64| Collider::new(Shape::cuboid(Vec3::splat(0.5)).unwrap()).at(Vec3::X * x);
    let pair = BodyDef::inertial([cube(0.0), cube(3.0)]).origin(msd_sim::Origin::Frame);
    let pair = world.add_body(pair).unwrap();
    let ball = BodyDef::inertial(Shape::sphere(0.5).unwrap()).position(Vec3::X * 5.0);
    let ball = world.add_body(ball).unwrap();
    let down = Ray::new(Vec3::new(0.1, 0.1, 4.0), -Vec3::Z).unwrap();
    let hit = world.cast_ray(&down, 9.0, &QueryFilter::new()).unwrap();
    assert_eq!((hit.face, hit.distance, hit.normal), (Some(4), 3.5, Vec3::Z));
    let from_left = Ray::new(Vec3::new(-4.0, 0.0, 0.2), Vec3::X).unwrap();
    assert_eq!(world.cast_ray(&from_left, 9.0, &QueryFilter::new()).unwrap().face, Some(1));
    let found = world.distance(pair, ball).unwrap().unwrap();
    let second = world.body(pair).unwrap().colliders().nth(1).unwrap().id();
    assert_eq!(found.colliders[0], second);
    assert!((found.separation.distance - 1.0).abs() < 1e-15);
    let bare = world.add_body(BodyDef::environment(())).unwrap();
    assert_eq!(world.distance(pair, bare).unwrap(), None);
}

#[test]
fn batches_answer_as_single_queries_do_on_any_number_of_threads() {
    with_moving_world(8, 128, 2, |world, rng| {
        let rays: Vec<Ray> = (0..500).map(|_| ray(rng)).collect();
        let filter = QueryFilter::new();
        let single: Vec<Option<QueryHit>> =
            rays.iter().map(|ray| world.cast_ray(ray, 20.0, &filter)).collect();
        let ball = Shape::sphere(0.2).unwrap();
        let casts: Vec<_> = rays
            .iter()
            .map(|ray| {
                let motion = SpatialVector::new(ray.direction() * 5.0, Vec3::ZERO);
                (&ball, Pose::at(ray.origin()), motion)
            })
            .collect();
        let single_casts: Vec<_> = casts
            .iter()
            .map(|(shape, start, motion)| world.cast_shape(shape, start, *motion, &filter))
            .collect();
        for threads in [1, 2, 3, 7] {
            let mut world = world.clone();
            let settings = world.settings().clone();
            world.set_settings(Settings { threads, ..settings }).unwrap();
            let mut hits = vec![None; rays.len()];
            world.cast_rays(&rays, 20.0, &filter, &mut hits);
            assert_eq!(hits, single, "{threads} threads");
            let mut hits = vec![None; casts.len()];
            world.cast_shapes(&casts, &filter, &mut hits);
            assert_eq!(hits, single_casts, "{threads} threads");
        }
        world.cast_rays(&[], 20.0, &filter, &mut []);
    });
}

/// Elastic bodies in a small room: between steps, collisions take them out of the bounds that were made for their paths.
#[test]
fn bodies_that_bounce_out_of_their_expected_paths_are_found_where_they_are() {
    for max_exact_bodies in [128, 0] {
        let settings = Settings {
            max_exact_bodies: Some(max_exact_bodies),
            gravity: Vec3::ZERO,
            ..Settings::default()
        };
        let mut world = World::new(settings).unwrap();
        let elastic = msd_sim::Material::new(1.0, 0.0).unwrap();
        for axis in Vec3::AXES {
            for normal in [axis, -axis] {
                let wall = Shape::half_space(normal, -3.0).unwrap();
                world.add_body(BodyDef::environment(wall).material(elastic)).unwrap();
            }
        }
        let mut rng = Rng::new(9);
        for at in 0..27 {
            let place = Vec3::new((at % 3) as f64, (at / 3 % 3) as f64, (at / 9) as f64) * 1.5;
            let ball = BodyDef::inertial(Shape::sphere(0.4).unwrap()).material(elastic);
            let ball = ball.position(place - Vec3::splat(1.5)).velocity(rng.in_cube() * 30.0);
            world.add_body(ball).unwrap();
        }
        for step in 0..60 {
            world.step(DT).unwrap();
            for view in world.colliders() {
                let bounds = view.bounds();
                if bounds.min.is_finite() {
                    // Each side of its bounds, thin as it is, is one that the collider touches.
                    for axis in Vec3::AXES {
                        let across = Vec3::ONE - axis;
                        let low = Aabb { max: bounds.max * across + bounds.min * axis, ..bounds };
                        let high = Aabb { min: bounds.min * across + bounds.max * axis, ..bounds };
                        for side in [low, high] {
                            let found = world.colliders_in(&side, &QueryFilter::new());
                            assert!(found.contains(&view.id()), "{} in step {step}", view.id());
                        }
                    }
                }
            }
        }
    }
}

/// Long compounds that spin fast and are pulled by ropes, swept: they turn less or move otherwise than expected, and colliders
/// near the center have less room for that than those at the ends.
#[test]
fn compounds_that_spin_and_are_pulled_aside_are_found_where_they_are() {
    let settings =
        Settings { max_exact_bodies: Some(0), gravity: Vec3::ZERO, ..Settings::default() };
    let mut world = World::new(settings).unwrap();
    let mut rng = Rng::new(10);
    let part = |x: f64| Collider::new(Shape::sphere(0.1).unwrap()).at(Vec3::X * x);
    let mut ids: Vec<BodyId> = Vec::new();
    for n in 0..12 {
        let rod = BodyDef::inertial([part(-2.0), part(0.0), part(2.0)]).density(100.0);
        let place = Vec3::new(f64::from(n % 4) * 6.0, f64::from(n / 4) * 6.0, 0.0);
        let spin = Vec3::Z * rng.range(20.0, 150.0);
        let rod = rod.position(place).velocity(rng.in_cube() * 30.0).angular_velocity(spin);
        ids.push(world.add_body(rod).unwrap());
        if n % 2 == 1 {
            let [a, b] = [ids[n as usize - 1], ids[n as usize]];
            let rope = msd_sim::JointDef::rope(a, b, 4.0).anchors(Vec3::X * 2.0, -Vec3::X * 2.0);
            world.add_joint(rope).unwrap();
        }
    }
    for step in 0..60 {
        world.step(DT).unwrap();
        for view in world.colliders() {
            let center = view.pose().position;
            let found = world.overlaps_with_point(center, &QueryFilter::new());
            let is_found = found.iter().any(|hit| hit.collider == view.id());
            assert!(is_found, "{} in step {step}", view.id());
        }
    }
}
