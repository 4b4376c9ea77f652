//! Solves every friction problem in a folder and prints error, iterations and time:
//! `cargo run --release --features conic --example contact_problems [folder]`.
#![allow(clippy::print_stdout)]

use std::path::Path;
use std::time::Instant;

use msd_sim::solver::DelassusProblem;

#[path = "../tests/acceptance/contact_file.rs"]
mod contact_file;

fn main() {
    let standard = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/contact-problems");
    let folder = std::env::args().nth(1).unwrap_or_else(|| standard.to_owned());
    let files = contact_file::list(Path::new(&folder));
    if files.is_empty() {
        println!("no problems in {folder}");
    }
    println!("| file | contacts | error | iterations | ms |");
    println!("|---|---|---|---|---|");
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let Some((w, q, mu)) = contact_file::read(&path) else {
            println!("| {name} | cannot be read | | | |");
            continue;
        };
        let problem = DelassusProblem { w, q, mu };
        let begin = Instant::now();
        let answer = problem.solve(None, 1e-10, 2000);
        let spent = begin.elapsed().as_secs_f64() * 1e3;
        let (contacts, error, iterations) = (problem.mu.len(), answer.error, answer.iterations);
        println!("| {name} | {contacts} | {error:.1e} | {iterations} | {spent:.2} |");
    }
}
