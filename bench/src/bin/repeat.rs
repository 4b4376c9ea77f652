//! Asks one question of one pair over and over, for a profiler to look at:
//! `valgrind --tool=callgrind target/release/repeat "hull32 - hull32" manifold 10`

use msd_bench::{Case, POSES, Question, pairs, shapes};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !run(&arguments) {
        eprintln!("usage: repeat PAIR distance|depth|manifold ROUNDS");
        std::process::exit(2);
    }
}

/// False if the arguments are not a pair, a question and a number.
fn run(arguments: &[String]) -> bool {
    let [pair, question, rounds] = arguments else { return false };
    let (Some(question), Ok(rounds)) = (Question::named(question), rounds.parse::<usize>()) else {
        return false;
    };
    let shapes = shapes();
    let Some((_, a, b)) = pairs(&shapes).find(|(name, ..)| name == pair) else { return false };
    let mut case = Case::new(a, b, question);
    (0..rounds * POSES).for_each(|i| case.ask_ours(i));
    true
}
