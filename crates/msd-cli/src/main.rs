//! The command `msd`: runs scenes, records them and checks their physics.

mod args;
mod atomic_file;
mod bench;
mod check;
mod completions;
mod departures;
mod diff;
mod export;
mod failure;
mod info;
mod motions;
mod names;
mod output;
mod report;
mod run;
mod saved;
mod scales;
mod scenes;
mod series;
mod summary;
mod totals;
mod validate;
mod verdict;
mod verify;
#[cfg(feature = "view")]
mod view;

use std::process::ExitCode;

use clap::Parser;

use args::{Command, Msd};
use failure::Outcome;

fn main() -> ExitCode {
    let result = match Msd::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Verify(args) => verify::verify(&args),
        Command::Diff(args) => diff::diff(&args),
        Command::Info(args) => info::info(&args),
        Command::Export(args) => export::export(&args),
        Command::Report(args) => summary::report(&args),
        Command::Check(args) => check::check(&args),
        Command::Scenes(args) => scenes::scenes(&args),
        Command::Validate(args) => validate::validate(&args),
        Command::Bench(args) => bench::bench(&args),
        #[cfg(feature = "view")]
        Command::View(args) => view::view(&args),
        Command::Schema => scenes::schema(),
        Command::Completions { shell } => completions::completions(shell),
        Command::Man { dir } => args::man(&dir),
    };
    match result {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::Bad) => ExitCode::from(1),
        Err(failure) => {
            failure.print();
            ExitCode::from(failure.code())
        }
    }
}
