//! Prints our time and parry3d-f64's for every pair of shapes, and the ratio: the least of several
//! alternating rounds, in one run. `cargo run --release --bin geometry [FILTER]`

use std::time::Instant;

use msd_bench::{Case, POSES, Question, pairs, shapes};

const ROUNDS: usize = 15;

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let columns = Question::ALL.map(|q| format!("{} msd / parry (ns) | ratio", q.name()));
    println!("| pair | {} |", columns.join(" | "));
    println!("|---|---|---|---|---|---|---|");
    let shapes = shapes();
    for (name, a, b) in pairs(&shapes).filter(|(name, ..)| name.contains(&filter)) {
        let columns = Question::ALL.map(|question| {
            let [ours, theirs] = least_times(&mut Case::new(a, b, question));
            format!("{ours:.0} / {theirs:.0} | {:.2}", ours / theirs)
        });
        println!("| {name} | {} |", columns.join(" | "));
    }
}

/// Nanoseconds for one answer of ours and of theirs, in the fastest round of each.
fn least_times(case: &mut Case) -> [f64; 2] {
    let mut least = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (least, ask) in least.iter_mut().zip([Case::ask_ours, Case::ask_theirs]) {
            let start = Instant::now();
            (0..POSES).for_each(|i| ask(case, i));
            *least = least.min(start.elapsed().as_secs_f64());
        }
    }
    least.map(|time| time / POSES as f64 * 1e9)
}
