//! Islands at rest are skipped, which changes no bit: every scene of the catalog, compared with a run that computes
//! them like all others.

use msd_scene::{Options, Simulation, catalog};

/// Steps compared, at most.
const STEPS: u64 = 400;

/// Builds a scene on one thread.
fn scene(name: &str, computed: bool) -> Simulation {
    let file = catalog::find(name).unwrap().open(&Options::default()).unwrap();
    let mut simulation = file.build().unwrap();
    simulation.set_threads(1);
    simulation.world_mut().compute_resting_islands(computed);
    simulation
}

#[test]
fn skipping_islands_at_rest_changes_no_bit_of_any_scene() {
    for entry in catalog::ENTRIES {
        let [mut skipping, mut computing] = [false, true].map(|all| scene(entry.name, all));
        let mut most = 0;
        for step in 1..=skipping.steps().min(STEPS) {
            skipping.step();
            computing.step();
            let (one, other) = (skipping.world(), computing.world());
            assert_eq!(one.state_hash(), other.state_hash(), "{} at step {step}", entry.name);
            most = most.max(one.report().resting);
            assert_eq!(other.report().resting, 0);
            assert_eq!(one.report().residual(), other.report().residual(), "{}", entry.name);
        }
        let inertial = skipping.world().report().exact;
        let rests = ["tower", "pyramid", "heavy-on-light", "arch", "ladder-holds"];
        if rests.contains(&entry.name) {
            assert_eq!(most, inertial, "all bodies of {} come to rest", entry.name);
        }
    }
}
