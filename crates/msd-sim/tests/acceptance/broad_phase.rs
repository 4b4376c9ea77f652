//! The broad phase against brute force, and its cost.

use std::time::Instant;

use msd_sim::collision::{BroadPhase, Kind};
use msd_sim::geometry::Aabb;
use msd_sim::math::Vec3;

use crate::counter::allocations;
use crate::oracle::pairs::Rng;

type Bodies = Vec<Option<(Kind, Aabb)>>;

fn around(middle: Vec3, half: Vec3) -> Aabb {
    Aabb { min: middle - half, max: middle + half }
}

/// Returns a random box: sizes span six decades, and each box touches a few others.
fn random_box(rng: &mut Rng) -> Aabb {
    let size = rng.log_range(1e-3, 1e3);
    let half = Vec3::new(rng.range(0.1, 1.0), rng.range(0.1, 1.0), rng.range(0.1, 1.0)) * size;
    around(rng.in_cube() * (1e3_f64.min(30.0 * size)), half)
}

fn random_kind(rng: &mut Rng) -> Kind {
    if rng.index(3) == 0 { Kind::Environment } else { Kind::Inertial }
}

fn moved(bounds: Aabb, by: Vec3) -> Aabb {
    Aabb { min: bounds.min + by, max: bounds.max + by }
}

/// Tests every pair, one by one.
fn brute_force(bodies: &Bodies) -> Vec<(u32, u32)> {
    let is_box = |b: &Aabb| b.min.cmple(b.max).all();
    let mut pairs = Vec::new();
    for (i, a) in bodies.iter().enumerate() {
        for (j, b) in bodies.iter().enumerate().skip(i + 1) {
            let (Some((kind_a, a)), Some((kind_b, b))) = (a, b) else { continue };
            let moves = *kind_a == Kind::Inertial || *kind_b == Kind::Inertial;
            if moves && is_box(a) && is_box(b) && a.overlaps(b) {
                pairs.push((i as u32, j as u32));
            }
        }
    }
    pairs
}

fn found(phase: &mut BroadPhase) -> Vec<(u32, u32)> {
    let mut pairs = vec![(7, 7)];
    phase.find_pairs(&mut pairs);
    pairs
}

fn fill(bodies: &Bodies) -> BroadPhase {
    let mut phase = BroadPhase::default();
    for (i, body) in bodies.iter().enumerate() {
        if let Some((kind, bounds)) = body {
            phase.insert(i as u32, *kind, *bounds);
        }
    }
    phase
}

/// Moves, resizes, inserts and removes bodies; some get infinite, NaN or inverted bounds.
fn disturb(rng: &mut Rng, bodies: &mut Bodies, phase: &mut BroadPhase) {
    for (i, entry) in bodies.iter_mut().enumerate() {
        let body = i as u32;
        match (rng.index(20), *entry) {
            (0, Some(_)) => {
                *entry = None;
                assert!(phase.remove(body));
                assert!(!phase.remove(body));
            }
            (0..6, None) => {
                let new = (random_kind(rng), random_box(rng));
                *entry = Some(new);
                assert!(!phase.update(body, new.1));
                phase.insert(body, new.0, new.1);
            }
            (1, Some((kind, bounds))) => {
                let strange = match rng.index(8) {
                    0 => Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY },
                    1 => Aabb { max: bounds.max.with_z(f64::INFINITY), ..bounds },
                    2 => Aabb { max: bounds.max.with_y(f64::NAN), ..bounds },
                    3 => Aabb { min: bounds.max, max: bounds.min },
                    4 => Aabb { min: bounds.min, max: bounds.min },
                    _ => random_box(rng),
                };
                *entry = Some((kind, strange));
                assert!(phase.update(body, strange));
            }
            (2, Some(_)) => {
                // Inserting a body that is already present replaces it.
                let new = (random_kind(rng), random_box(rng));
                *entry = Some(new);
                phase.insert(body, new.0, new.1);
            }
            (_, Some((kind, bounds))) => {
                let size = (bounds.max - bounds.min).max_element().min(1e3);
                let next = moved(bounds, rng.in_cube() * (0.1 * size));
                *entry = Some((kind, next));
                assert!(phase.update(body, next));
            }
            (_, None) => {}
        }
    }
}

#[test]
fn the_pairs_are_those_of_a_brute_force_search() {
    for seed in 0..4 {
        let rng = &mut Rng::new(seed);
        let mut bodies: Bodies =
            (0..300).map(|_| Some((random_kind(rng), random_box(rng)))).collect();
        let mut phase = fill(&bodies);
        let mut total = 0;
        for step in 0..150 {
            let pairs = found(&mut phase);
            assert_eq!(pairs, brute_force(&bodies), "seed {seed}, step {step}");
            total += pairs.len();
            assert_eq!(phase.len(), bodies.iter().flatten().count());
            let queried = random_box(rng);
            let mut seen = Vec::new();
            phase.query(&queried, |body| seen.push(body));
            seen.sort_unstable();
            let expected: Vec<u32> = (0..bodies.len())
                .filter(|&i| {
                    bodies[i].is_some_and(|(_, b)| b.min.cmple(b.max).all() && b.overlaps(&queried))
                })
                .map(|i| i as u32)
                .collect();
            assert_eq!(seen, expected);
            disturb(rng, &mut bodies, &mut phase);
        }
        assert!(total > 150 * 300, "{total}: too few pairs to prove anything");
    }
}

#[test]
fn pairs_do_not_depend_on_history() {
    let rng = &mut Rng::new(11);
    let mut bodies: Bodies = (0..500).map(|_| Some((random_kind(rng), random_box(rng)))).collect();
    let mut old = fill(&bodies);
    for _ in 0..50 {
        disturb(rng, &mut bodies, &mut old);
    }
    let mut copy = old.clone();
    let pairs = found(&mut old);
    assert_eq!(found(&mut fill(&bodies)), pairs);
    assert_eq!(found(&mut copy), pairs);
    assert_eq!(found(&mut old), pairs);
}

#[test]
fn boxes_that_touch_are_a_pair_and_boxes_one_rounding_error_apart_are_not() {
    let unit = around(Vec3::ZERO, Vec3::splat(0.5));
    let mut phase = BroadPhase::default();
    phase.insert(4, Kind::Inertial, unit);
    phase.insert(1, Kind::Environment, moved(unit, Vec3::X));
    assert_eq!(found(&mut phase), [(1, 4)]);
    phase.update(1, moved(unit, Vec3::X * (1.0 + f64::EPSILON)));
    assert_eq!(found(&mut phase), []);
    phase.update(1, moved(unit, Vec3::ONE));
    assert_eq!(found(&mut phase), [(1, 4)]);
}

#[test]
fn lengths_have_no_unit() {
    // All sizes and displacements times 2^60 or 2^-60 give the same pairs.
    let pairs = |scale: f64| {
        let rng = &mut Rng::new(12);
        let scaled = |b: Aabb| Aabb { min: b.min * scale, max: b.max * scale };
        let mut boxes: Vec<Aabb> = (0..300).map(|_| random_box(rng)).collect();
        let mut phase = BroadPhase::default();
        let mut all = Vec::new();
        for step in 0..20 {
            for (i, b) in boxes.iter_mut().enumerate() {
                *b = moved(*b, rng.in_cube() * 0.1);
                if step == 0 {
                    phase.insert(i as u32, Kind::Inertial, scaled(*b));
                }
                phase.update(i as u32, scaled(*b));
            }
            all.extend(found(&mut phase));
        }
        (all, phase.depth())
    };
    let expected = pairs(1.0);
    for power in [-60, 60] {
        assert_eq!(pairs(2.0_f64.powi(power)), expected);
    }
}

#[test]
fn the_tree_stays_balanced() {
    // 1000 bodies: 1.44 log2(1002) = 14.4.
    let limit = |n: usize| (1.45 * ((n + 2) as f64).log2()) as usize;
    let rng = &mut Rng::new(13);
    let mut phase = BroadPhase::default();
    for body in 0..1_000 {
        phase.insert(body, Kind::Inertial, random_box(rng));
    }
    for _ in 0..10_000 {
        phase.update(rng.index(1_000) as u32, random_box(rng));
        assert!(phase.depth() <= limit(1_000), "{}", phase.depth());
    }
    // In a row, and all in one place: a tree without balancing degenerates to a list.
    for apart in [1.0, 0.0] {
        let mut phase = BroadPhase::default();
        for body in 0..2_000_u32 {
            let middle = Vec3::X * (apart * f64::from(body));
            phase.insert(body, Kind::Environment, around(middle, Vec3::splat(0.4)));
        }
        assert!(phase.depth() <= limit(2_000), "{}", phase.depth());
        for body in 0..1_990 {
            phase.remove(body);
        }
        assert!(phase.depth() <= limit(10), "{}", phase.depth());
    }
}

#[test]
fn warm_steps_do_not_allocate() {
    let mut pairs = Vec::new();
    let mut walk = |phase: &mut BroadPhase| {
        let rng = &mut Rng::new(14);
        let start: Vec<Aabb> = (0..1_000).map(|_| random_box(rng)).collect();
        let before = allocations();
        for step in 0..20 {
            for (body, bounds) in start.iter().enumerate() {
                let by = rng.in_cube() * (0.1 * f64::from(step));
                phase.update(body as u32, moved(*bounds, by));
            }
            phase.remove(step as u32);
            phase.insert(step as u32, Kind::Inertial, start[step as usize]);
            phase.find_pairs(&mut pairs);
        }
        allocations() - before
    };
    let rng = &mut Rng::new(14);
    let mut phase = BroadPhase::default();
    for body in 0..1_000 {
        phase.insert(body, Kind::Inertial, random_box(rng));
    }
    walk(&mut phase);
    assert_eq!(walk(&mut phase), 0);
}

#[test]
#[ignore = "measurement: prints how the cost grows with the number of bodies"]
#[expect(clippy::print_stdout, reason = "its purpose")]
fn cost() {
    for (n, most) in
        [1_000, 10_000, 100_000_u32].into_iter().flat_map(|n| [(n, 1.0_f64), (n, 100.0)])
    {
        // Boxes of sizes 1 to `most` in a cube such that each touches about four others.
        let rng = &mut Rng::new(15);
        let sizes: Vec<f64> =
            (0..n).map(|_| rng.range(most.powi(-3), 1.0).powf(-1.0 / 3.0)).collect();
        let side = 0.62 * sizes.iter().map(|size| size.powi(3)).sum::<f64>().cbrt();
        let mut boxes: Vec<Aabb> = sizes
            .iter()
            .map(|size| around(rng.in_cube() * side, Vec3::splat(0.5 * size)))
            .collect();
        let start = Instant::now();
        let mut phase = BroadPhase::default();
        for (i, b) in boxes.iter().enumerate() {
            phase.insert(i as u32, Kind::Inertial, *b);
        }
        let built = start.elapsed().as_secs_f64();
        let velocities: Vec<Vec3> = boxes.iter().map(|_| rng.in_cube() * 0.02).collect();
        let mut pairs = Vec::new();
        let (mut updates, mut searches) = (0.0, 0.0);
        let steps = 2_000_000 / n.max(20_000);
        for _ in 0..steps {
            for (b, v) in boxes.iter_mut().zip(&velocities) {
                *b = moved(*b, *v);
            }
            let start = Instant::now();
            for (i, b) in boxes.iter().enumerate() {
                phase.update(i as u32, *b);
            }
            let middle = Instant::now();
            phase.find_pairs(&mut pairs);
            updates += (middle - start).as_secs_f64();
            searches += middle.elapsed().as_secs_f64();
        }
        // The same tree with nothing moving.
        let start = Instant::now();
        for _ in 0..steps {
            phase.find_pairs(&mut pairs);
        }
        let still = start.elapsed().as_secs_f64() / f64::from(steps);
        let work = f64::from(n) * f64::from(n).log2();
        println!(
            "{n:6} bodies of 1 to {most:3}, {:6} pairs, depth {:2}: built {:8.3} ms, a step {:7.3} + {:7.3} ms (at rest {:7.3} ms), {:.2} ns/(n log2 n)",
            pairs.len(),
            phase.depth(),
            built * 1e3,
            updates / f64::from(steps) * 1e3,
            searches / f64::from(steps) * 1e3,
            still * 1e3,
            (updates + searches) / f64::from(steps) * 1e9 / work,
        );
    }
}
