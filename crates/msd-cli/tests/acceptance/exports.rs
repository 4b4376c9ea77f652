//! `msd export`: tables of a recording.

use crate::sandbox::{Sandbox, text};

#[test]
fn the_table_has_the_documented_columns_in_full_precision() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("satellite", &["steps=5"]);
    sandbox.run(&["export", text(&recording), "--csv", "table.csv"]).expect(0);
    let table = std::fs::read_to_string(sandbox.path("table.csv")).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("step,time,body,px,py,pz,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz"));
    let first: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(first[..6], ["0", "0.0", "satellite", "0.0", "0.0", "7000000.0"]);
    assert_eq!(lines.count(), 5);
    // JSON lines hold the same numbers.
    sandbox.run(&["export", text(&recording), "--json", "table.jsonl"]).expect(0);
    let lines = std::fs::read_to_string(sandbox.path("table.jsonl")).unwrap();
    for (row, line) in table.lines().skip(1).zip(lines.lines()) {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        let px: f64 = row.split(',').nth(3).unwrap().parse().unwrap();
        assert_eq!(object["px"].as_f64(), Some(px));
    }
}

#[test]
fn bodies_and_steps_can_be_selected() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("tower", &["steps=10"]);
    let args = ["export", text(&recording), "--csv", "-", "--body", "cube[0,0,3]", "--every", "5"];
    let done = sandbox.run(&args).expect(0);
    assert_eq!(done.out.lines().count(), 1 + 3, "{}", done.out);
    let args = ["export", text(&recording), "--csv", "-", "--body", "cube[0,0,33]"];
    let done = sandbox.run(&args).expect(2);
    assert!(done.err.contains("did you mean `cube[0,0,3]`?"), "{}", done.err);
    sandbox.run(&["export", text(&recording)]).expect(2);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_files_hold_one_row_per_body_and_step() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;
    let sandbox = Sandbox::new();
    let recording = sandbox.record("tower", &["steps=10"]);
    sandbox.run(&["export", text(&recording), "--parquet", "table.parquet"]).expect(0);
    let file = std::fs::File::open(sandbox.path("table.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 11 * 11);
    assert_eq!(rows[4].get_string(2).unwrap(), "cube[0,0,3]");
    assert_eq!(rows[4].get_double(5).unwrap(), 3.5);
}

#[test]
fn a_file_that_cannot_be_written_is_an_io_error() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("tower", &["steps=1"]);
    sandbox.run(&["export", text(&recording), "--csv", "no/such/folder/x.csv"]).expect(3);
    sandbox.write("runs-file", b"");
    sandbox.run(&["run", "tower", "--out", "runs-file"]).expect(3);
}

#[test]
fn a_recording_is_not_overwritten_by_its_own_export() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("tower", &["steps=1"]);
    let before = std::fs::read(&recording).unwrap();
    sandbox.run(&["export", text(&recording), "--csv", text(&recording)]).expect(2);
    sandbox.run(&["report", text(&recording), "--out", "runs/../runs/tower.mcap"]).expect(2);
    assert_eq!(std::fs::read(&recording).unwrap(), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_io_error() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("tower", &["steps=100"]);
    sandbox.run(&["export", text(&recording), "--csv", "/dev/full"]).expect(3);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = sandbox.command(&["schema"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    std::fs::create_dir(sandbox.path("out")).unwrap();
    std::os::unix::fs::symlink("/dev/full", sandbox.path("out/tower.mcap")).unwrap();
    let done = sandbox.run(&["run", "tower", "--out", "out"]).expect(3);
    assert!(done.err.contains("tower.mcap"), "{}", done.err);
}

/// Returns a table of a recording as JSON objects.
fn table(sandbox: &Sandbox, recording: &str, what: &str) -> Vec<serde_json::Value> {
    let done = sandbox.run(&["export", recording, "--what", what, "--json", "-"]).expect(0);
    done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(row: &serde_json::Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("{name} of {row}"))
}

/// Returns the CSV header of a table.
fn columns(sandbox: &Sandbox, recording: &str, what: &str) -> String {
    let done = sandbox.run(&["export", recording, "--what", what, "--csv", "-"]).expect(0);
    done.out.lines().next().unwrap().to_owned()
}

#[test]
fn contact_forces_of_a_tower_equal_the_weight_above() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("tower", &["steps=60"]);
    let recording = text(&recording);
    assert_eq!(
        columns(&sandbox, recording, "contacts"),
        "step,time,a,b,point,px,py,pz,nx,ny,nz,gap,fx,fy,fz,normal_force,friction_force,friction,approach"
    );
    let rows = table(&sandbox, recording, "contacts");
    assert!(rows.iter().all(|row| row["step"] != 0), "there are no contacts before the first step");
    // Ten cubes of 1 kg: the nth from below carries 10 - n.
    for (index, below) in ["floor", "cube[0,0,0]", "cube[0,0,8]"].into_iter().enumerate() {
        let carried = [10.0, 9.0, 1.0][index];
        let points = rows.iter().filter(|row| row["step"] == 60 && row["a"] == below);
        let points: Vec<_> = points.collect();
        assert_eq!(points.len(), 4, "{below}");
        let sum: f64 = points.iter().map(|row| number(row, "fz")).sum();
        // The solver tolerance is 1e-10 of the speed gained by gravity in a substep.
        assert!((sum - 9.81 * carried).abs() < 1e-6 * 9.81 * carried, "{below}: {sum}");
        for row in points {
            let [normal, force] = [["nx", "ny", "nz"], ["fx", "fy", "fz"]]
                .map(|names| names.map(|name| number(row, name)));
            assert!((normal[2] - 1.0).abs() < 1e-12, "{row}");
            let along: f64 = normal.iter().zip(force).map(|(n, f)| n * f).sum();
            assert!((number(row, "normal_force") - along).abs() < 1e-12, "{row}");
            let across = [0, 1, 2].map(|i| (force[i] - along * normal[i]).powi(2));
            let across = across.iter().sum::<f64>().sqrt();
            assert!((number(row, "friction_force") - across).abs() < 1e-12, "{row}");
        }
    }
    let args = ["export", recording, "--what", "contacts", "--json", "-", "--body", "cube[0,0,9]"];
    let done = sandbox.run(&args).expect(0);
    assert!(
        done.out.lines().count() > 0 && done.out.lines().all(|row| row.contains("cube[0,0,9]"))
    );
}

#[test]
fn the_joint_force_of_a_hanging_ball_equals_its_weight() {
    let sandbox = Sandbox::new();
    // A ball that hangs at rest on a rod.
    let scene = "version = 1\n[world]\nsteps = 5\n[[body]]\nname = \"hook\"\nkind = \"environment\"\n\
         shape = { sphere = { radius = 0.1 } }\n[[body]]\nname = \"bob\"\nkind = \"inertial\"\nmass = 2\n\
         shape = { sphere = { radius = 0.1 } }\nposition = [0, 0, -1]\n\
         [[joint]]\nkind = \"distance\"\na = \"hook\"\nb = \"bob\"\nlength = 1\n";
    sandbox.write("bob.toml", scene);
    sandbox.run(&["run", "bob.toml", "--quiet", "--no-report"]).expect(0);
    assert_eq!(columns(&sandbox, "runs/bob.mcap", "joints"), "step,time,joint,a,b,fx,fy,fz,force");
    let rows = table(&sandbox, "runs/bob.mcap", "joints");
    assert_eq!(rows.len(), 6);
    // Forces before the first step are not measured: null, not 0.
    assert!(rows[0]["fz"].is_null() && rows[0]["force"].is_null(), "{}", rows[0]);
    for row in &rows[1..] {
        assert_eq!(
            (&row["joint"], &row["a"], &row["b"]),
            (&0.into(), &"hook".into(), &"bob".into())
        );
        // Upward on the bob.
        assert!((number(row, "fz") - 2.0 * 9.81).abs() < 1e-6, "{row}");
        assert!((number(row, "force") - number(row, "fz").abs()).abs() < 1e-12, "{row}");
    }
    let csv =
        sandbox.run(&["export", "runs/bob.mcap", "--what", "joints", "--csv", "-"]).expect(0).out;
    assert_eq!(csv.lines().nth(1), Some("0,0.0,0,hook,bob,,,,"));
}

#[test]
fn energies_of_a_fall_add_up() {
    let sandbox = Sandbox::new();
    let scene = "version = 1\n[world]\nsteps = 30\n[[body]]\nname = \"ball\"\nkind = \"inertial\"\nmass = 2\n\
         shape = { sphere = { radius = 0.1 } }\nposition = [0, 0, 5]\n";
    sandbox.write("fall.toml", scene);
    sandbox.run(&["run", "fall.toml", "--quiet", "--no-report"]).expect(0);
    assert_eq!(
        columns(&sandbox, "runs/fall.mcap", "energy"),
        "step,time,kinetic,potential,normal_impulses,friction,joints,position_correction,damping,applied_forces,moving_environment,\
         integration,contacts,error,px,py,pz,lx,ly,lz"
    );
    let rows = table(&sandbox, "runs/fall.mcap", "energy");
    assert_eq!(rows.len(), 31);
    assert!(rows[0]["kinetic"].is_null(), "{}", rows[0]);
    for (step, row) in rows.iter().enumerate().skip(1) {
        let (kinetic, potential) = (number(row, "kinetic"), number(row, "potential"));
        let speed = 9.81 * step as f64 / 60.0;
        // Rounding of 30 steps with 98 J and 10 N s.
        assert!((kinetic - speed * speed).abs() < 1e-12, "{row}");
        assert!((kinetic + potential - 2.0 * 9.81 * 5.0).abs() < 1e-11, "{row}");
        assert!((number(row, "pz") + 2.0 * speed).abs() < 1e-12, "{row}");
    }
    let args = ["export", "runs/fall.mcap", "--what", "energy", "--body", "ball", "--csv", "-"];
    assert!(sandbox.run(&args).expect(2).err.contains("all bodies together"));
}

#[test]
fn a_table_that_was_not_recorded_is_rejected() {
    let sandbox = Sandbox::new();
    let args =
        ["run", "tower", "--quiet", "--no-report", "--record", "contacts=off", "--set", "steps=5"];
    sandbox.run(&args).expect(0);
    let args = ["export", "runs/tower.mcap", "--what", "contacts", "--csv", "contacts.csv"];
    let done = sandbox.run(&args).expect(2);
    assert!(done.err.contains("recorded without contacts (--record contacts=off)"), "{}", done.err);
    assert!(!sandbox.path("contacts.csv").exists());
    let older = concat!(env!("CARGO_MANIFEST_DIR"), "/../msd-record/tests/data/format-1.mcap");
    let done = sandbox.run(&["export", older, "--what", "joints", "--csv", "-"]).expect(2);
    assert!(done.err.contains("forces of joints were not recorded"), "{}", done.err);
    // The recorded tables can be exported.
    assert!(
        !table(&sandbox, older, "energy").is_empty()
            && !table(&sandbox, older, "contacts").is_empty()
    );
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_nulls_where_nothing_was_measured() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;
    let sandbox = Sandbox::new();
    let recording = sandbox.record("cradle", &["steps=3"]);
    let args = ["export", text(&recording), "--what", "energy", "--parquet", "energy.parquet"];
    sandbox.run(&args).expect(0);
    let file = std::fs::File::open(sandbox.path("energy.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 4);
    assert!(rows[0].get_double(2).is_err() && rows[1].get_double(2).unwrap() > 0.0);
}
