//! Help, completions, schema, built-in scenes, validation, benchmarks.

use crate::sandbox::Sandbox;

const COMMANDS: [&str; 13] = [
    "run",
    "check",
    "verify",
    "diff",
    "info",
    "export",
    "report",
    "scenes",
    "validate",
    "bench",
    "schema",
    "completions",
    "man",
];

#[test]
fn every_command_has_help_with_an_example() {
    let sandbox = Sandbox::new();
    let all = sandbox.run(&["--help"]).expect(0).out;
    assert!(all.contains("Exit codes") && all.contains("Examples"));
    for verb in COMMANDS {
        assert!(all.contains(verb), "{verb}");
        let help = sandbox.run(&[verb, "--help"]).expect(0).out;
        assert!(help.contains("Example") && help.contains("msd "), "{verb}: {help}");
    }
    sandbox.run(&["fly"]).expect(2);
    sandbox.run(&[]).expect(2);
}

#[test]
fn completions_and_man_pages_cover_every_command() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = sandbox.run(&["completions", shell]).expect(0).out;
        for verb in COMMANDS {
            assert!(script.contains(verb), "{shell}: {verb}");
        }
    }
    sandbox.run(&["man", "man1"]).expect(0);
    for verb in COMMANDS {
        assert!(sandbox.path(&format!("man1/msd-{verb}.1")).exists(), "{verb}");
    }
}

#[test]
fn completions_offer_names_of_scenes_and_benchmarks_and_files() {
    let sandbox = Sandbox::new();
    let script = |shell: &str| sandbox.run(&["completions", shell]).expect(0).out;
    // In the section of each command that takes a name.
    let line = |script: &str, words: &[&str]| {
        let found = script.lines().any(|line| words.iter().all(|word| line.contains(word)));
        assert!(found, "no line with {words:?}");
    };
    let bash = script("bash");
    line(&bash, &["opts=", "--record-every", "hull-pile", "tower"]);
    line(&bash, &["opts=", "--strict", "hull-pile", "tower"]);
    line(&bash, &["opts=", "--list", "s10-1e5", "s2r"]);
    line(&bash, &["complete -F _msd", "-o default"]);
    let zsh = script("zsh");
    line(&zsh, &["_alternative 'scenes:scene:(", "hull-pile", "'files:file:_files'"]);
    line(&zsh, &["':scene -- ", ":_msd_scenes'"]);
    line(&zsh, &["ids -- ", "s10-1e5", ")'"]);
    let fish = script("fish");
    line(&fish, &["using_subcommand run\" -a \"", "hull-pile"]);
    line(&fish, &["using_subcommand bench\" -f -a \"", "s10-1e5"]);
    line(
        &script("powershell"),
        &["new('hull-pile', 'hull-pile', [CompletionResultType]::ParameterValue"],
    );
    line(&script("elvish"), &["cand hull-pile"]);
    line(&script("elvish"), &["cand s10-1e5"]);
}

#[cfg(unix)]
#[test]
fn bash_completes_a_scene_a_benchmark_and_a_file() {
    let sandbox = Sandbox::new();
    sandbox.write("msd.bash", sandbox.run(&["completions", "bash"]).expect(0).out);
    let complete = |words: &str| {
        let script = format!(
            "source msd.bash; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _msd msd \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        let mut bash = std::process::Command::new("bash");
        let output = bash.arg("-c").arg(script).current_dir(sandbox.path("")).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete("msd run hull"), "hull-pile");
    assert_eq!(complete("msd check ladder"), "ladder-holds ladder-slips");
    assert_eq!(complete("msd bench s10"), "s10-1e3 s10-1e4 s10-1e5");
    // No match: bash then offers files.
    assert_eq!(complete("msd run ./my-"), "");
}

#[test]
fn the_schema_names_every_field_and_describes_it() {
    let sandbox = Sandbox::new();
    let schema = sandbox.run(&["schema"]).expect(0).json();
    assert_eq!(schema["properties"]["version"]["type"], "integer");
    let world = &schema["$defs"]["WorldTable"]["properties"];
    for (name, field) in world.as_object().unwrap() {
        assert!(field["description"].is_string(), "{name}");
    }
    assert!(world["newton_work"].is_object());
}

#[test]
fn scenes_are_listed_and_printed() {
    let sandbox = Sandbox::new();
    assert!(sandbox.run(&["scenes"]).expect(0).out.contains("cradle"));
    assert!(sandbox.run(&["scenes", "cradle"]).expect(0).out.contains("version = 1"));
    let done = sandbox.run(&["scenes", "cradel"]).expect(2);
    assert!(done.err.contains("did you mean `cradle`?"), "{}", done.err);
    assert!(sandbox.run(&["scenes", "--json"]).expect(0).json().as_array().unwrap().len() >= 15);
}

#[test]
fn validation_prints_expected_and_measured_values_errors_and_tolerances() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&["validate", "projectile", "ladder"]).expect(0);
    for word in ["expected", "measured", "error", "7.38", "ladder-60", "4 of 4 cases"] {
        assert!(done.out.contains(word), "expected `{word}` in {}", done.out);
    }
    let json = sandbox.run(&["validate", "free-wedge", "--json"]).expect(0).json();
    assert_eq!(json["passes"], true);
    sandbox.run(&["validate", "no-such-case"]).expect(2);
}

#[test]
fn benchmarks_are_listed_and_give_the_same_state_each_time() {
    let sandbox = Sandbox::new();
    let list = sandbox.run(&["bench", "--list"]).expect(0).out;
    assert!(list.contains("s10-1e5") && list.contains("net of 10000 balls"), "{list}");
    let hash = |threads: &str| {
        let done = sandbox.run(&["bench", "s5", "--steps", "2", "--threads", threads]).expect(0);
        for word in ["cpu ms/step", "wall ms/step", "deepest", "drift 0.000 mm", "stack of 20"] {
            assert!(done.out.contains(word), "expected `{word}` in {}", done.out);
        }
        let is_hash = |word: &&str| word.len() == 16 && word.chars().all(|c| c.is_ascii_hexdigit());
        done.out.split_whitespace().find(is_hash).map(str::to_owned)
    };
    assert_eq!(hash("1").expect("a hash"), hash("2").expect("a hash"));
    let done = sandbox.run(&["bench", "s2rr"]).expect(2);
    assert!(done.err.contains("did you mean `s2r`?"), "{}", done.err);
    sandbox.run(&["bench", "s5", "--steps", "0"]).expect(2);
}

#[test]
fn the_validation_page_is_what_the_command_prints() {
    let sandbox = Sandbox::new();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/validation.md");
    let page = std::fs::read_to_string(page).unwrap();
    // A case that is known to miss its tolerance is listed by the page, and fails nothing.
    let done = sandbox.run(&["validate", "--markdown"]).expect(0);
    assert!(done.out.contains("known to miss it: ledger-physical."), "{}", done.out);
    assert_eq!(page, done.out, "run `msd validate --markdown > docs/validation.md`");
}

#[test]
fn a_closed_pipe_is_no_error_and_does_not_change_the_exit_code() {
    let sandbox = Sandbox::new();
    sandbox.record("tower", &["steps=300"]);
    // Exit code of msd at the start of a pipe.
    let both = |line: &str| {
        let mut command = std::process::Command::new("bash");
        command.arg("-c").arg(format!("\"$0\" {line}; echo ${{PIPESTATUS[0]}}"));
        let output = command.arg(env!("CARGO_BIN_EXE_msd")).current_dir(sandbox.path("")).output();
        let output = output.unwrap();
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    assert_eq!(both("schema | true"), "0");
    assert_eq!(both("export runs/tower.mcap --csv - | true"), "0");
    assert_eq!(both("validate ledger-physical --json | true"), "0");
    // One iteration cannot hold 1000 kg on 1 kg.
    assert_eq!(
        both(
            "run heavy-on-light --solver pgs --set iterations=1 --no-record --no-report --json | true"
        ),
        "1"
    );
}

/// Tables in the text were wrapped in the middle of their lines.
#[test]
fn the_help_of_export_wraps_at_any_width() {
    let sandbox = Sandbox::new();
    for width in [80, 100] {
        let mut command = sandbox.command(&["export", "--help"]);
        let done = command.env("COLUMNS", width.to_string()).output().unwrap();
        let help = String::from_utf8(done.stdout).unwrap();
        let (about, _) = help.split_once("\nUsage:").unwrap();
        for paragraph in about.split("\n\n") {
            let lines: Vec<&str> = paragraph.trim_end().lines().collect();
            for line in &lines[..lines.len() - 1] {
                // The longest word has 20 letters.
                assert!(line.len() > width - 25 && line.len() <= width, "{width}: {line}");
            }
        }
    }
}
