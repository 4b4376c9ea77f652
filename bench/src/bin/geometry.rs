//! Prints the query times of msd and parry3d-f64 and their ratio for every pair of shapes: the minimum of several
//! alternating rounds, in one run. `cargo run --release --bin geometry [FILTER]`

use std::time::Instant;

use msd_bench::{Case, POSES, Query, pairs, shapes};

const ROUNDS: usize = 15;

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let columns = Query::ALL.map(|q| format!("{} msd / parry (ns) | ratio", q.name()));
    println!("| pair | {} |", columns.join(" | "));
    println!("|---|---|---|---|---|---|---|");
    let shapes = shapes();
    for (name, a, b) in pairs(&shapes).filter(|(name, ..)| name.contains(&filter)) {
        let columns = Query::ALL.map(|query| {
            let [ours, theirs] = least_times(&mut Case::new(a, b, query));
            format!("{ours:.0} / {theirs:.0} | {:.2}", ours / theirs)
        });
        println!("| {name} | {} |", columns.join(" | "));
    }
}

/// Returns the nanoseconds per query of msd and of parry, in the fastest round of each.
fn least_times(case: &mut Case) -> [f64; 2] {
    let mut least = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (least, run_query) in least.iter_mut().zip([Case::query_msd, Case::query_parry]) {
            let start = Instant::now();
            (0..POSES).for_each(|i| run_query(case, i));
            *least = least.min(start.elapsed().as_secs_f64());
        }
    }
    least.map(|time| time / POSES as f64 * 1e9)
}
