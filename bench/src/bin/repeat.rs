//! Repeats one query of one pair, for a profiler:
//! `valgrind --tool=callgrind target/release/repeat "hull32 - hull32" manifold 10`

use msd_bench::{Case, POSES, Query, pairs, shapes};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !run(&arguments) {
        eprintln!("usage: repeat PAIR distance|depth|manifold ROUNDS");
        std::process::exit(2);
    }
}

/// Returns false if the arguments are not a pair, a query and a number.
fn run(arguments: &[String]) -> bool {
    let [pair, query, rounds] = arguments else { return false };
    let (Some(query), Ok(rounds)) = (Query::from_name(query), rounds.parse::<usize>()) else {
        return false;
    };
    let shapes = shapes();
    let Some((_, a, b)) = pairs(&shapes).find(|(name, ..)| name == pair) else { return false };
    let mut case = Case::new(a, b, query);
    (0..rounds * POSES).for_each(|i| case.query_msd(i));
    true
}
