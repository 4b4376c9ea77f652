//! Queries about a pair do not allocate once their workspace is warm.

use msd_sim::geometry::{PairMemory, Simplex, Workspace, contact_manifold, separation};

use crate::counter::allocations;
use crate::oracle::pairs::{Difficulty, Pair, Rng, adversarial_pair, random_pair};

#[test]
fn warm_queries_do_not_allocate() {
    let pairs: Vec<Pair> = (0..1_600)
        .map(|seed| {
            let rng = &mut Rng::new(seed);
            let difficulty = Difficulty::ALL[seed as usize / 2 % Difficulty::ALL.len()];
            if seed % 2 == 0 { random_pair(rng) } else { adversarial_pair(rng, difficulty) }
        })
        .collect();
    let mut workspace = Workspace::default();
    let mut query = || {
        for Pair { a, pose_a, b, pose_b } in &pairs {
            let simplex = &mut Simplex::default();
            let _ = separation(a, pose_a, b, pose_b, simplex, &mut workspace);
            let memory = &mut PairMemory::default();
            let _ = contact_manifold(a, pose_a, b, pose_b, 0.1, memory, &mut workspace);
        }
    };
    query();
    let before = allocations();
    query();
    assert_eq!(allocations() - before, 0, "allocations in 3200 warm queries");
}
