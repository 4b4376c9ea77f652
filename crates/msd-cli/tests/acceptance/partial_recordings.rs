//! Recordings without some steps or contacts.

use crate::sandbox::{Sandbox, text};

/// Runs a scene and returns its JSON output.
fn run(sandbox: &Sandbox, more: &[&str]) -> serde_json::Value {
    let args = ["run", "bouncing", "--json", "--no-report", "--set", "steps=95"];
    sandbox.run(&[&args[..], more].concat()).expect(0).json()
}

fn steps(sandbox: &Sandbox, recording: &str) -> Vec<u64> {
    let args = ["export", recording, "--json", "-", "--body", "e = 0.5"];
    let rows = sandbox.run(&args).expect(0).out;
    let step = |row: &str| serde_json::from_str::<serde_json::Value>(row).unwrap()["step"].as_u64();
    rows.lines().map(|row| step(row).unwrap()).collect()
}

#[test]
fn every_tenth_step_and_the_last_are_recorded_and_the_checks_cover_every_step() {
    let sandbox = Sandbox::new();
    let whole = run(&sandbox, &["--out", "whole"]);
    let thin = run(&sandbox, &["--record-every", "10"]);
    // The checks cover all steps in both runs.
    for figure in ["checks", "energy", "events", "max_penetration", "worst_residual", "state_hash"]
    {
        assert_eq!(whole[figure], thin[figure], "{figure}");
    }
    let expected: Vec<u64> = (0..=90).step_by(10).chain([95]).collect();
    assert_eq!(steps(&sandbox, "runs/bouncing.mcap"), expected);
    let done = sandbox.run(&["verify", "runs/bouncing.mcap"]).expect(0);
    assert!(
        done.out.contains("identical: all 95 steps match bit for bit (every 10 steps recorded)"),
        "{}",
        done.out
    );
    let json = sandbox.run(&["verify", "runs/bouncing.mcap", "--json"]).expect(0).json();
    assert_eq!((&json["steps"], &json["frames"]), (&95.into(), &11.into()));
    let info = sandbox.run(&["info", "runs/bouncing.mcap"]).expect(0).out;
    assert!(info.contains("every 10 steps recorded") && info.contains("95 of 95"), "{info}");
    let info = sandbox.run(&["info", "runs/bouncing.mcap", "--json"]).expect(0).json();
    assert_eq!(info["recorded"], serde_json::json!({ "every": 10, "contacts": true }));
}

#[test]
fn a_recording_without_contacts_is_smaller_and_can_be_verified() {
    let sandbox = Sandbox::new();
    let args = ["run", "dominoes", "--json", "--no-report", "--set", "steps=60"];
    let size = |more: &[&str]| {
        let done = sandbox.run(&[&args[..], more].concat()).expect(0);
        done.json()["recording_bytes"].as_u64().unwrap()
    };
    let (whole, without) = (size(&["--out", "whole"]), size(&["--record", "contacts=off"]));
    // A domino has four contact points of 14 numbers each and a state of 13; half is a wide margin.
    assert!(without * 2 < whole, "{without} of {whole} bytes");
    let done = sandbox.run(&["verify", "runs/dominoes.mcap"]).expect(0);
    assert!(
        done.out.contains("identical: all 60 steps match bit for bit (contacts not recorded)"),
        "{}",
        done.out
    );
    let done = sandbox.run(&["info", "runs/dominoes.mcap"]).expect(0).out;
    assert!(done.contains("contacts not recorded"), "{done}");
    // The data that both hold is identical.
    sandbox.run(&["diff", "whole/dominoes.mcap", "runs/dominoes.mcap"]).expect(0);
    size(&["--record", "contacts=off", "--record", "contacts=on", "--out", "again"]);
    let info = sandbox.run(&["info", "again/dominoes.mcap", "--json"]).expect(0).json();
    assert_eq!(info["recorded"]["contacts"], true);
}

/// Returns the names of the checks that a report judges.
fn checks(page: &str) -> Vec<&str> {
    ["finite", "energy ledger", "energy drift", "penetration", "contact laws"]
        .into_iter()
        .filter(|name| {
            let check = format!("\"name\":\"{name}\",\"verdict\":\"");
            let (_, verdict) = page.split_once(&check).expect("every check is listed");
            !verdict.starts_with("skip")
        })
        .collect()
}

#[test]
fn a_report_of_a_partial_recording_states_what_its_checks_cover() {
    let sandbox = Sandbox::new();
    run(&sandbox, &["--record-every", "10", "--record", "contacts=off"]);
    let done = sandbox.run(&["report", "runs/bouncing.mcap"]).expect(0);
    assert!(done.err.contains("every 10 steps recorded, contacts not recorded"), "{}", done.err);
    assert!(done.err.contains("checks cover every step of the run"), "{}", done.err);
    let page = std::fs::read_to_string(sandbox.path("runs/bouncing.html")).unwrap();
    assert!(page.contains("plots and marks show only recorded steps"));
    assert_eq!(checks(&page).len(), 5);
    // Without the summary at the end, checks that need the missing steps are skipped.
    let bytes = std::fs::read(sandbox.path("runs/bouncing.mcap")).unwrap();
    let cut = (0..bytes.len()).step_by(50).map(|less| {
        sandbox.write("cut.mcap", &bytes[..bytes.len() - less]);
        sandbox.run(&["info", "cut.mcap", "--json"]).expect(0).json()
    });
    let info = cut.into_iter().find(|info| info["summary"].is_null()).unwrap();
    assert_eq!(info["steps"], 95);
    let done = sandbox.run(&["report", "cut.mcap"]).expect(0);
    assert!(done.err.contains("checks cover only recorded steps"), "{}", done.err);
    let page = std::fs::read_to_string(sandbox.path("cut.html")).unwrap();
    assert!(page.contains("checks cover only recorded steps"));
    assert_eq!(checks(&page), ["finite", "energy ledger", "contact laws"]);
}

#[test]
fn recording_options_are_validated() {
    let sandbox = Sandbox::new();
    for (args, word) in [
        (["--record-every", "0"], "1.."),
        (["--record", "contacts=maybe"], "expected `on` or `off`, found `maybe`"),
        (["--record", "joints=off"], "expected `contacts`, found `joints`"),
        (["--record", "contacts"], "contacts=off"),
    ] {
        let done = sandbox.run(&[&["run", "tower"], &args[..]].concat()).expect(2);
        assert!(done.err.contains(word), "expected `{word}` in {}", done.err);
    }
    sandbox.run(&["run", "tower", "--no-record", "--record-every", "2"]).expect(2);
    sandbox.run(&["run", "tower", "--no-record", "--record", "contacts=off"]).expect(2);
}

/// A recording of four steps of the cradle by a version without partial recordings and joint forces.
const OLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../msd-record/tests/data/format-1.mcap");

#[test]
fn recordings_of_older_versions_are_read() {
    let sandbox = Sandbox::new();
    let older = sandbox.write("older.mcap", std::fs::read(OLDER).unwrap());
    let info = sandbox.run(&["info", text(&older), "--json"]).expect(0).json();
    assert_eq!(info["recorded"], serde_json::json!({ "every": 1, "contacts": true }));
    assert_eq!((&info["steps"], &info["complete"]), (&4.into(), &true.into()));
    let rows = sandbox.run(&["export", text(&older), "--csv", "-"]).expect(0).out;
    assert_eq!(rows.lines().count(), 1 + 5 * 6);
    sandbox.run(&["report", text(&older)]).expect(0);
    sandbox.run(&["diff", text(&older), text(&older)]).expect(0);
}
