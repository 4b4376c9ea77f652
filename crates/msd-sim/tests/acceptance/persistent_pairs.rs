//! Contact manifolds of pairs over many steps: their memory makes them faster, not worse.

use msd_sim::geometry::{Manifold, PairMemory, Shape, Workspace, contact_manifold};
use msd_sim::math::{Pose, Vec3, rotation};

use crate::manifold::check;
use crate::oracle::pairs::{Pair, Rng, random_pair};
use crate::oracle::{depth, overlap_along};

/// Returns the smaller shape's width, which tolerances are relative to.
fn size(pair: &Pair) -> f64 {
    pair.a.least_width().min(pair.b.least_width())
}

/// Compares a manifold found with memory to one without, and to the oracle.
fn compare(
    pair: &Pair,
    margin: f64,
    warm: &Manifold,
    cold: &Manifold,
    clearance: f64,
) -> Result<(), String> {
    check(pair, margin, warm)?;
    let Pair { a, pose_a, b, pose_b } = pair;
    let size = size(pair);
    let (true_depth, _) = depth(a, pose_a, b, pose_b);
    let rounding = 1e-9 * (a.bounding_radius() + b.bounding_radius()).min(1e3 * size);
    if warm.is_empty() != cold.is_empty() && (true_depth + margin).abs() > rounding {
        return Err(format!("cold {cold:?}, depth {true_depth}"));
    }
    let sound = if warm.is_empty() {
        clearance > margin && clearance <= -true_depth + rounding
    } else {
        clearance == 0.0
    };
    if !sound {
        return Err(format!("clearance {clearance}, depth {true_depth}, margin {margin}"));
    }
    if warm.is_empty() || cold.is_empty() || warm.normal.dot(cold.normal) > 1.0 - 1e-12 {
        return Ok(());
    }
    // Another direction: as good to within the preference for faces and for the previous face.
    let along = |n: Vec3| overlap_along(a, pose_a, b, pose_b, n);
    let (reach, best) = (along(warm.normal), along(cold.normal).min(true_depth));
    if reach > best + 1.101e-3 * size + rounding {
        return Err(format!("{reach} along {}, cold {best} {cold:?}", warm.normal));
    }
    Ok(())
}

/// Follows a pair over many steps and compares every step. Returns the number of contacts.
fn follow(pair: &mut Pair, rng: &mut Rng, steps: usize) -> Result<usize, String> {
    let size = size(pair);
    let margin = 0.02 * size;
    let (mut memory, mut workspace) = (PairMemory::default(), Workspace::default());
    let motion = rng.log_range(1e-7, 1e-2);
    let mut touching = 0;
    for step in 0..steps {
        let reach = pair.b.bounding_radius().min(1e2 * size);
        let turn = rotation(rng.direction(), motion * size / reach * rng.range(0.0, 1.0));
        pair.pose_b.rotation = (turn * pair.pose_b.rotation).normalize();
        pair.pose_b.position += rng.direction() * (motion * size);
        // Every few steps, back to where they touch, or just do not.
        if step % 8 == 0 {
            let (overlap, n) = depth(&pair.a, &pair.pose_a, &pair.b, &pair.pose_b);
            pair.pose_b.position += n * (overlap + 0.03 * size * rng.range(-0.4, 1.0));
        }
        let Pair { a, pose_a, b, pose_b } = &*pair;
        let mut query = |memory: &mut PairMemory| {
            contact_manifold(a, pose_a, b, pose_b, margin, memory, &mut workspace)
        };
        let (warm, cold) = (query(&mut memory), query(&mut PairMemory::default()));
        touching += usize::from(!warm.is_empty());
        compare(pair, margin, &warm, &cold, memory.clearance())
            .map_err(|why| format!("step {step}: {why}: {warm:?} for {pair:?}"))?;
    }
    Ok(touching)
}

fn all_hold(found: impl Iterator<Item = Result<usize, String>>, least: usize) {
    let (mut touching, mut failures) = (0, Vec::new());
    for (seed, found) in found.enumerate() {
        match found {
            Ok(count) => touching += count,
            Err(why) => failures.push(format!("seed {seed}, {why}")),
        }
    }
    let shown = failures[..failures.len().min(3)].join("\n");
    assert!(failures.is_empty(), "{} failed: {shown}", failures.len());
    assert!(touching >= least, "only {touching} contacts");
}

#[test]
fn memory_does_not_change_the_contacts_of_drifting_pairs_of_all_shapes() {
    let found = (0..400).map(|seed| {
        let rng = &mut Rng::new(seed);
        follow(&mut random_pair(rng), rng, 32)
    });
    all_hold(found, 2_000);
}

#[test]
fn memory_does_not_change_the_contacts_of_drifting_boxes_and_hulls() {
    let found = (0..400).map(|seed| {
        let rng = &mut Rng::new(1_000 + seed);
        let mut shape = |hull: bool| {
            if hull {
                let cloud: Vec<Vec3> = (0..16).map(|_| rng.direction()).collect();
                return Shape::hull(&cloud).unwrap();
            }
            let mut side = || rng.log_range(0.2, 2.0);
            Shape::cuboid(Vec3::new(side(), side(), side())).unwrap()
        };
        let (a, b) = (shape(seed % 4 > 1), shape(seed % 2 == 1));
        let pose_a = Pose::new(rng.in_cube(), rng.rotation());
        let pose_b = Pose::new(rng.in_cube(), rng.rotation());
        follow(&mut Pair { a, pose_a, b, pose_b }, rng, 64)
    });
    all_hold(found, 5_000);
}

#[test]
fn the_clearance_of_separated_pairs_is_at_least_half_of_their_distance() {
    for seed in 0..2_000 {
        let rng = &mut Rng::new(seed);
        let mut pair = random_pair(rng);
        let width = size(&pair);
        let (overlap, n) = depth(&pair.a, &pair.pose_a, &pair.b, &pair.pose_b);
        let gap = width * rng.range(0.1, 1.0);
        pair.pose_b.position += n * (overlap + gap);
        let Pair { a, pose_a, b, pose_b } = &pair;
        let (memory, workspace) = (&mut PairMemory::default(), &mut Workspace::default());
        let margin = 0.01 * width;
        let found = contact_manifold(a, pose_a, b, pose_b, margin, memory, workspace);
        assert!(found.is_empty(), "seed {seed}: {found:?}");
        let clearance = memory.clearance();
        assert!(clearance > margin, "seed {seed}: {clearance} of {gap} for {pair:?}");
        // The faces of boxes need not prove more, and are cheap to test again.
        if !matches!((a, b), (Shape::Cuboid(_), Shape::Cuboid(_))) {
            let enough = margin + 0.499 * (gap - margin);
            assert!(clearance > enough, "seed {seed}: {clearance} of {gap} for {pair:?}");
        }
    }
}
