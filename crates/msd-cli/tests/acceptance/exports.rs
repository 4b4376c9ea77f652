//! Tables of a recording.

use crate::bench::{Bench, text};

#[test]
fn the_table_has_the_documented_columns_and_every_digit() {
    let bench = Bench::new();
    let recording = bench.record("satellite", &["steps=5"]);
    bench.run(&["export", text(&recording), "--csv", "table.csv"]).expect(0);
    let table = std::fs::read_to_string(bench.path("table.csv")).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("step,time,body,px,py,pz,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz"));
    let first: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(first[..6], ["0", "0.0", "satellite", "0.0", "0.0", "7000000.0"]);
    assert_eq!(lines.count(), 5);
    // JSON lines hold the same numbers.
    bench.run(&["export", text(&recording), "--json", "table.jsonl"]).expect(0);
    let lines = std::fs::read_to_string(bench.path("table.jsonl")).unwrap();
    for (row, line) in table.lines().skip(1).zip(lines.lines()) {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        let px: f64 = row.split(',').nth(3).unwrap().parse().unwrap();
        assert_eq!(object["px"].as_f64(), Some(px));
    }
}

#[test]
fn bodies_and_steps_can_be_chosen() {
    let bench = Bench::new();
    let recording = bench.record("tower", &["steps=10"]);
    let args = ["export", text(&recording), "--csv", "-", "--body", "cube[0,0,3]", "--every", "5"];
    let done = bench.run(&args).expect(0);
    assert_eq!(done.out.lines().count(), 1 + 3, "{}", done.out);
    let args = ["export", text(&recording), "--csv", "-", "--body", "cube[0,0,33]"];
    let done = bench.run(&args).expect(2);
    assert!(done.err.contains("did you mean `cube[0,0,3]`?"), "{}", done.err);
    bench.run(&["export", text(&recording)]).expect(2);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_files_hold_a_row_for_each_body_and_step() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;
    let bench = Bench::new();
    let recording = bench.record("tower", &["steps=10"]);
    bench.run(&["export", text(&recording), "--parquet", "table.parquet"]).expect(0);
    let file = std::fs::File::open(bench.path("table.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 11 * 11);
    assert_eq!(rows[4].get_string(2).unwrap(), "cube[0,0,3]");
    assert_eq!(rows[4].get_double(5).unwrap(), 3.5);
}

#[test]
fn a_file_that_cannot_be_written_is_an_io_error() {
    let bench = Bench::new();
    let recording = bench.record("tower", &["steps=1"]);
    bench.run(&["export", text(&recording), "--csv", "no/such/folder/x.csv"]).expect(3);
    bench.write("runs-file", b"");
    bench.run(&["run", "tower", "--out", "runs-file"]).expect(3);
}

#[test]
fn a_recording_is_not_overwritten_by_its_own_export() {
    let bench = Bench::new();
    let recording = bench.record("tower", &["steps=1"]);
    let before = std::fs::read(&recording).unwrap();
    bench.run(&["export", text(&recording), "--csv", text(&recording)]).expect(2);
    bench.run(&["report", text(&recording), "--out", "runs/../runs/tower.mcap"]).expect(2);
    assert_eq!(std::fs::read(&recording).unwrap(), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_io_error() {
    let bench = Bench::new();
    let recording = bench.record("tower", &["steps=100"]);
    bench.run(&["export", text(&recording), "--csv", "/dev/full"]).expect(3);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = bench.command(&["schema"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    std::fs::create_dir(bench.path("out")).unwrap();
    std::os::unix::fs::symlink("/dev/full", bench.path("out/tower.mcap")).unwrap();
    let done = bench.run(&["run", "tower", "--out", "out"]).expect(3);
    assert!(done.err.contains("tower.mcap"), "{}", done.err);
}
