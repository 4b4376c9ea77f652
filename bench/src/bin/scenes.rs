//! Prints the step times of the built-in scenes in msd and rapier3d-f64, in one run: the minimum over several
//! alternating rounds of the mean, with state hash and largest penetration of msd.
//! `cargo run --release --bin scenes`, or with names: `cargo run --release --bin scenes -- tower arch`

use std::error::Error;
use std::time::Instant;

use msd_bench::rapier::Rapier;
use msd_scene::{Options, catalog};

const ROUNDS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    println!(
        "| scene | bodies | steps | msd us/step | rapier3d-f64 us/step | ratio | deepest, mm | hash |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for entry in catalog::ENTRIES {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == entry.name) {
            continue;
        }
        let file = entry.open(&Options::default())?;
        let scene = file.scene();
        // Rapier has no equivalent of the joints and force fields.
        let comparable = scene.joint.is_empty() && scene.potential.is_empty();
        let start = file.build()?;
        let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
        let (mut deepest, mut hash) = (None::<f64>, 0);
        for _ in 0..ROUNDS {
            let mut simulation = start.clone();
            let clock = Instant::now();
            for _ in 0..start.steps() {
                // Not measured in swept steps without the ledger.
                deepest = simulation
                    .step()
                    .max_penetration
                    .map(|depth| depth.max(deepest.unwrap_or(0.0)))
                    .or(deepest);
            }
            ours = ours.min(clock.elapsed().as_secs_f64());
            hash = simulation.world().state_hash();
            if comparable {
                let mut world = Rapier::of(start.world(), start.dt())?;
                let clock = Instant::now();
                (0..start.steps()).for_each(|_| world.step());
                theirs = theirs.min(clock.elapsed().as_secs_f64());
            }
        }
        let per_step = 1e6 / start.steps() as f64;
        let (peer, ratio) = match comparable {
            true => (format!("{:.1}", theirs * per_step), format!("{:.2}", ours / theirs)),
            false => ("-".to_owned(), "-".to_owned()),
        };
        let depth = deepest.map_or("-".to_owned(), |depth| format!("{:.3}", 1e3 * depth));
        println!(
            "| {} | {} | {} | {:.1} | {peer} | {ratio} | {depth} | {hash:016x} |",
            entry.name,
            start.world().bodies().len(),
            start.steps(),
            ours * per_step,
        );
    }
    Ok(())
}
