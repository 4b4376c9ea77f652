//! The command, used as a user would: what it prints, writes and returns.

mod bench; // a folder to work in, and the command
mod command; // help, completions, schema, scenes
mod exports; // tables of a recording
#[cfg(unix)]
mod full_disk; // files that cannot be written to their end
mod gallery; // every scene of the catalog, and what its comment promises
mod interrupted; // Ctrl-C, kill -9
mod malformed; // scenes and meshes that are refused
mod runs; // run, check, report
mod same; // verify and diff
mod thinned; // recordings that leave steps or contacts out
mod verdicts; // what is said of exact and of swept runs
#[cfg(feature = "view")]
mod view; // the server for browsers: who comes in, what it says, what it does
