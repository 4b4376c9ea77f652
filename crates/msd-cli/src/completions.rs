//! `msd completions`: shell scripts that also complete the names of scenes and benchmarks.
//!
//! The generator lists values of a positional argument for bash and zsh only, and then no files. This module adds the
//! missing values in the section of each command.

use clap::CommandFactory;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use msd_scene::catalog;

use crate::args::Msd;
use crate::failure::{Failure, Outcome};
use crate::output;

/// A positional argument that accepts names.
struct NamedArg {
    subcommand: &'static str,
    arg: &'static str,
    /// Whether it also accepts a file.
    or_file: bool,
    names: Vec<&'static str>,
}

fn named() -> Vec<NamedArg> {
    let scenes = || catalog::ENTRIES.iter().map(|entry| entry.name).collect();
    let benchmarks = || catalog::benchmarks::ALL.iter().map(|benchmark| benchmark.id).collect();
    let mut list = vec![
        NamedArg { subcommand: "run", arg: "scene", or_file: true, names: scenes() },
        NamedArg { subcommand: "check", arg: "scene", or_file: true, names: scenes() },
        NamedArg { subcommand: "scenes", arg: "name", or_file: false, names: scenes() },
        NamedArg { subcommand: "bench", arg: "ids", or_file: false, names: benchmarks() },
    ];
    if cfg!(feature = "view") {
        list.push(NamedArg { subcommand: "view", arg: "what", or_file: true, names: scenes() });
    }
    list
}

/// Prints a completion script.
pub fn completions(shell: Shell) -> Result<Outcome, Failure> {
    output::print(script(shell).trim_end());
    Ok(Outcome::Good)
}

fn script(shell: Shell) -> String {
    let named = named();
    let mut command = Msd::command();
    for NamedArg { subcommand, arg, names, .. } in &named {
        let names = names.clone();
        command = command.mut_subcommand(subcommand, |subcommand| {
            subcommand.mut_arg(arg, |arg| arg.value_parser(PossibleValuesParser::new(names)))
        });
    }
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut command, "msd", &mut bytes);
    let script = String::from_utf8_lossy(&bytes).into_owned();
    match shell {
        Shell::Zsh => named.iter().find(|named| named.or_file).map_or(script.clone(), |scenes| {
            let list = scenes.names.join(" ");
            let either = "_msd_scenes() {\n    _alternative 'scenes:scene:(@)' 'files:file:_files'\n}\n";
            let function = either.replace('@', &list);
            let begin = script.find("_msd() {").unwrap_or(0);
            let (head, rest) = script.split_at(begin);
            // `msd scenes` takes no files, but offering them does no harm.
            format!("{head}{function}\n{}", rest.replace(&format!(":({list})'"), ":_msd_scenes'"))
        }),
        Shell::Fish => named.iter().fold(script, |script, named| {
            let (subcommand, names) = (named.subcommand, named.names.join(" "));
            let files = if named.or_file { "" } else { " -f" };
            script
                + &format!(
                    "complete -c msd -n \"__fish_msd_using_subcommand {subcommand}\"{files} -a \"{names}\"\n"
                )
        }),
        Shell::PowerShell => insert(script, &named, |subcommand| format!("'msd;{subcommand}' {{\n"), |name| {
            let kind = "[CompletionResultType]::ParameterValue";
            format!("            [CompletionResult]::new('{name}', '{name}', {kind}, '{name}')\n")
        }),
        Shell::Elvish => {
            insert(script, &named, |subcommand| format!("&'msd;{subcommand}'= {{\n"), |name| {
                format!("            cand {name} '{name}'\n")
            })
        }
        // Bash lists them, and offers files if no name matches.
        _ => script,
    }
}

/// Adds a line for each name at the start of the section of its command.
fn insert(
    script: String,
    named: &[NamedArg],
    head: impl Fn(&str) -> String,
    line: impl Fn(&str) -> String,
) -> String {
    named.iter().fold(script, |script, named| {
        let head = head(named.subcommand);
        let lines: String = named.names.iter().map(|name| line(name)).collect();
        script.replacen(&head, &format!("{head}{lines}"), 1)
    })
}
