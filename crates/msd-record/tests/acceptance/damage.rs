use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use msd_record::{Frame, RecordError, Recorder, Recording};

use crate::run::{DT, Run, STEPS, Scene, header, recorded};

/// Reads all readable frames and returns their number. Every frame must be as recorded, and every missing one must be
/// reported.
fn read_all_frames(path: &Path, frames: &[Frame]) -> usize {
    let Ok(recording) = Recording::open(path) else { return 0 };
    let (mut held, mut error) = (0, None);
    for frame in recording.frames() {
        match frame {
            Ok(frame) => {
                assert_eq!(frame, frames[frame.step as usize]);
                held += 1;
            }
            Err(RecordError::Damaged { step, .. }) => {
                // Every frame before the first error is readable.
                assert!(error.is_some() || step == held as u64, "{step} and {held}");
                error = Some(step);
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(held == frames.len() || error.is_some() || !recording.is_complete());
    for step in [0, 20, 50, STEPS] {
        if let Ok(frame) = recording.frame(step) {
            assert_eq!(frame, frames[step as usize]);
        }
    }
    held
}

#[test]
fn a_file_truncated_anywhere_gives_correct_frames_or_an_error() {
    let run = recorded();
    let bytes = run.bytes();
    let (mut before, mut most) = (0, 0);
    for end in (0..bytes.len()).step_by(97) {
        let held = read_all_frames(&run.with_bytes(&bytes[..end]), &run.frames);
        assert!(held >= before, "a longer file holds no fewer frames");
        (before, most) = (held, most.max(held));
    }
    assert_eq!(most, run.frames.len(), "no frame is lost with the index alone");
}

#[test]
fn a_file_truncated_within_a_chunk_is_read_up_to_that_chunk_without_an_error() {
    let run = recorded();
    let bytes = run.bytes();
    for share in [0.3, 0.5, 0.77, 0.9] {
        let end = (bytes.len() as f64 * share) as usize;
        let recording = Recording::open(&run.with_bytes(&bytes[..end])).unwrap();
        assert!(!recording.is_complete());
        let frames: Vec<_> = recording.frames().map(Result::unwrap).collect();
        assert_eq!(frames.len() as u64, recording.steps() + 1);
        assert_eq!(frames, run.frames[..frames.len()]);
    }
}

#[test]
fn a_flipped_bit_anywhere_is_detected_or_harmless() {
    let run = recorded();
    let bytes = run.bytes();
    let mut random = random(7);
    let mut whole = 0;
    // Both ends hold most of the bytes outside chunks: every byte there is tested.
    let ends = (0..64).chain(bytes.len() - 2500..bytes.len());
    let anywhere: Vec<usize> = (0..500).map(|_| random() as usize % bytes.len()).collect();
    for at in ends.chain(anywhere) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (random() % 8);
        let held = read_all_frames(&run.with_bytes(&damaged), &run.frames);
        whole += usize::from(held == run.frames.len());
    }
    assert!(whole > 0, "no frame depends on the index");
}

#[test]
fn an_error_names_the_first_unreadable_step() {
    let run = recorded();
    let mut bytes = run.bytes();
    // The middle of the file lies in a chunk that is neither the first nor the last.
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    let path = run.with_bytes(&bytes);
    let recording = Recording::open(&path).unwrap();
    let Some(Err(RecordError::Damaged { step, .. })) = recording.frames().find(Result::is_err)
    else {
        panic!("the damage is not reported")
    };
    assert!(step > 0 && step < STEPS);
    assert_eq!(recording.frame(step - 1).unwrap(), run.frames[step as usize - 1]);
    let rejected = recording.frame(step).unwrap_err();
    assert!(matches!(rejected, RecordError::Damaged { step: first, .. } if first == step));
    assert_eq!(recording.frame(STEPS).unwrap(), run.frames[STEPS as usize]);
}

#[test]
fn wrong_lengths_in_a_file_do_no_harm() {
    let run = recorded();
    let bytes = run.bytes();
    let huge = [u64::MAX, u64::MAX / 2, 1 << 40, 1 << 31].map(u64::to_le_bytes);
    for at in
        (8..bytes.len() - 8).step_by(1009).chain(8..120).chain(bytes.len() - 60..bytes.len() - 8)
    {
        for huge in &huge {
            let mut damaged = bytes.clone();
            damaged[at..at + 8].copy_from_slice(huge);
            read_all_frames(&run.with_bytes(&damaged), &run.frames);
        }
    }
}

/// A file of 13 MiB whose chunks unpack to 4.2 GB took all of that in memory.
#[test]
fn a_chunk_that_unpacks_to_more_than_any_step_needs_is_rejected_unread() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.mcap");
    let file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    let mut writer = mcap::WriteOptions::new().chunk_size(None).create(file).unwrap();
    let channel = writer.add_channel(0, "/msd/header", "protobuf", &Default::default()).unwrap();
    let header = mcap::records::MessageHeader {
        channel_id: channel,
        sequence: 0,
        log_time: 0,
        publish_time: 0,
    };
    let zeros = vec![0; 1 << 20];
    for _ in 0..300 {
        writer.write_to_known_channel(&header, &zeros).unwrap();
    }
    writer.finish().unwrap();
    let size = std::fs::metadata(&path).unwrap().len();
    assert!(size < 1 << 20, "{size}");
    // Nothing can be unpacked from a chunk of noise: only its claim can be read.
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 4..bytes.len() / 2;
    bytes[middle].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
    let rejected = Recording::open(&path).unwrap_err().to_string();
    assert!(rejected.contains("a chunk claims 3145"), "{rejected}");
}

#[test]
fn other_files_are_rejected() {
    let run = recorded();
    for bytes in [&b""[..], b"hello", &[0; 100], mcap::MAGIC, &[mcap::MAGIC; 9].concat()] {
        let rejected = Recording::open(&run.with_bytes(bytes)).unwrap_err();
        assert!(matches!(rejected, RecordError::NotARecording { .. }));
    }
    let missing = Recording::open(Path::new("/nowhere/run.mcap")).unwrap_err();
    assert!(matches!(missing, RecordError::Io { .. }));
    let world = Scene::new().world;
    let rejected = Recorder::create(Path::new("/nowhere/run.mcap"), &header(), &world).unwrap_err();
    assert!(matches!(rejected, RecordError::Io { .. }));
}

#[test]
fn a_dropped_recorder_leaves_all_its_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dropped.mcap");
    let mut scene = Scene::new();
    let mut recorder = Recorder::create(&path, &header(), &scene.world).unwrap();
    for _ in 0..10 {
        scene.step();
        recorder.record(&scene.world).unwrap();
    }
    drop(recorder);
    let recording = Recording::open(&path).unwrap();
    assert!(!recording.is_complete());
    assert_eq!(recording.summary(), None);
    assert_eq!(recording.frames().map(Result::unwrap).count(), 11);
    assert_eq!(recording.frame(10).unwrap(), Frame::of(&scene.world));
}

#[test]
fn a_copy_made_during_the_run_holds_all_but_the_last_half_second() {
    let folder = tempfile::tempdir().unwrap();
    let [path, copy] = ["run.mcap", "copy.mcap"].map(|name| folder.path().join(name));
    let mut scene = Scene::new();
    let mut recorder = Recorder::create(&path, &header(), &scene.world).unwrap();
    for _ in 0..10 {
        scene.step();
        recorder.record(&scene.world).unwrap();
    }
    // Longer than half a second, for slow machines.
    std::thread::sleep(Duration::from_millis(1000));
    std::fs::copy(&path, &copy).unwrap();
    let recording = Recording::open(&copy).unwrap();
    assert!(!recording.is_complete());
    assert_eq!(recording.bodies().len(), 14);
    assert_eq!(recording.frame(10).unwrap(), Frame::of(&scene.world));
}

/// Not a test: the process that the next test starts and kills.
#[test]
#[ignore = "started and killed by another test"]
fn records_until_it_is_killed() {
    let Ok(path) = std::env::var(KILLED) else { return };
    let mut scene = Scene::new();
    let mut recorder = Recorder::create(Path::new(&path), &header(), &scene.world).unwrap();
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        scene.step();
        recorder.record(&scene.world).unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Environment variable with the file of the process that is killed.
const KILLED: &str = "MSD_RECORD_TEST_FILE";

#[test]
fn a_killed_process_leaves_a_readable_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.mcap");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "damage::records_until_it_is_killed", "--ignored"])
        .env(KILLED, &path)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // Wait until two chunks were written because of their age, on slow machines too.
    let deadline = Instant::now() + Duration::from_secs(30);
    let held = || Recording::open(&path).map_or(0, |recording| recording.steps());
    while held() < 30 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let recording = Recording::open(&path).unwrap();
    assert!(!recording.is_complete());
    assert!(recording.steps() >= 30);
    let mut scene = Scene::new();
    for step in 0..=recording.steps() {
        assert_eq!(recording.frame(step).unwrap(), Frame::of(&scene.world));
        scene.step();
    }
    assert!(scene.world.time() > 30.0 * DT);
}

/// Returns a generator with the same numbers in every run.
fn random(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 33
    }
}

#[test]
fn the_test_recording_has_many_chunks() {
    // The tests above prove little if all frames are in one chunk.
    let run: Run = recorded();
    let summary = mcap::Summary::read(&run.bytes()).unwrap().unwrap();
    assert!(summary.chunk_indexes.len() >= 5, "{}", summary.chunk_indexes.len());
}
