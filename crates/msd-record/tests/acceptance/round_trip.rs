use msd_record::{
    BodyInfo, Frame, Header, RecordError, Recorded, Recorder, Recording, first_difference,
};
use msd_sim::{Accuracy, Continuous, Method, Settings, World};

use crate::run::{STEPS, Scene, header, record, recorded};

#[test]
fn every_frame_is_read_back_bit_for_bit() {
    let run = recorded();
    let recording = Recording::open(&run.path).unwrap();
    assert!(recording.is_complete());
    let read: Vec<Frame> = recording.frames().map(Result::unwrap).collect();
    assert_eq!(read.len(), run.frames.len());
    for (read, original) in read.iter().zip(&run.frames) {
        assert!(first_difference(read, original).is_none());
        // The debug text covers fields that the comparison might miss.
        assert_eq!(format!("{read:?}"), format!("{original:?}"));
    }
}

#[test]
fn the_test_scene_covers_everything_that_a_frame_holds() {
    let frames = recorded().frames;
    assert!(frames.iter().any(|frame| !frame.events.begun.is_empty()));
    assert!(frames.iter().any(|frame| !frame.events.ended.is_empty()));
    assert!(frames.iter().any(|frame| !frame.events.hits.is_empty()));
    assert!(frames.iter().any(|frame| !frame.events.quarantined.is_empty()));
    assert!(frames.iter().any(|frame| frame.points.iter().any(|point| point.approach < 0.0)));
    assert!(frames.iter().any(|frame| frame.contacts.iter().any(|pair| pair.point_count > 3)));
    assert!(frames[1..].iter().all(|frame| frame.ledger().is_some()));
    let joints = |frame: &Frame| frame.joints.clone().unwrap();
    assert!(frames[1..].iter().all(|frame| joints(frame).iter().all(|j| j.impulse.length() > 0.0)));
    assert!(frames.iter().all(|frame| joints(frame).len() == 2));
    let generations = frames.iter().flat_map(|frame| &frame.states).map(|s| s.body.generation);
    assert_eq!(generations.max(), Some(1));
}

#[test]
fn seeking_gives_the_same_as_scanning() {
    let run = recorded();
    let recording = Recording::open(&run.path).unwrap();
    assert_eq!((recording.first_step(), recording.steps()), (0, STEPS));
    for step in (0..=STEPS).rev().chain([7, 80, 3, 3, 41]) {
        assert_eq!(recording.frame(step).unwrap(), run.frames[step as usize]);
    }
    let beyond = recording.frame(STEPS + 1).unwrap_err();
    assert!(matches!(beyond, RecordError::NoSuchStep { step, .. } if step == STEPS + 1));
}

#[test]
fn header_settings_bodies_and_summary_are_read_back() {
    let run = recorded();
    let recording = Recording::open(&run.path).unwrap();
    let mut scene = Scene::new();
    assert_eq!(recording.header(), &header());
    assert_eq!(recording.settings(), Some(scene.world.settings()));
    assert_eq!(recording.summary(), Some("{\"ok\":true}"));
    let mut expected: Vec<BodyInfo> =
        scene.world.bodies().map(|body| BodyInfo::of(&body, 0)).collect();
    for _ in 0..STEPS {
        scene.step();
        let step = scene.world.steps();
        for body in scene.world.bodies() {
            let info = BodyInfo::of(&body, step);
            if expected.iter().all(|known| known.body != info.body) {
                expected.push(info);
            }
        }
    }
    assert_eq!(expected.len(), 17);
    assert_eq!(recording.bodies(), expected);
}

#[test]
fn every_setting_is_read_back() {
    // No method uses all settings.
    let swept = Settings {
        accuracy: Accuracy::Exact,
        gravity: msd_sim::math::Vec3::new(-0.0, 1.5, 2.5),
        method: Method::SoftStep,
        substeps: 3,
        rest_speed: 0.25,
        position_correction: 0.75,
        position_correction_speed: 3.5,
        margin: 0.0625,
        reuse: 0.5,
        sweeps: 5,
        tolerance: 1e-3,
        iterations: Settings::default().iterations,
        newton_steps: Some(6),
        newton_work: Some(99),
        continuous: Continuous::Never,
        impact_work: 12,
        max_exact_bodies: Some(3),
        max_exact_cost: Some(250),
        threads: 2,
        sleeping: true,
        sleep_speed: 0.125,
        sleep_time: 2.5,
        audit: true,
    };
    let iterated = Settings {
        method: Method::Pgs,
        iterations: 77,
        gravity: swept.gravity,
        ..Settings::default()
    };
    let fast = Settings { accuracy: Accuracy::Fast, gravity: swept.gravity, ..Settings::default() };
    for settings in [swept, iterated, fast] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.mcap");
        let world = World::new(settings.clone()).unwrap();
        let recorder = Recorder::create(&path, &Header::default(), &world).unwrap();
        recorder.finish("").unwrap();
        let recording = Recording::open(&path).unwrap();
        assert_eq!(recording.settings(), Some(&settings));
        assert_eq!(recording.settings().unwrap().gravity.x.to_bits(), (-0.0_f64).to_bits());
        assert_eq!(recording.summary(), None);
        assert!(recording.is_complete());
    }
}

#[test]
fn two_recordings_of_one_run_hold_identical_frames() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.mcap", "b.mcap"].map(|name| folder.path().join(name));
    paths.iter().for_each(|path| drop(record(path, "")));
    let [a, b] = paths.map(|path| Recording::open(&path).unwrap());
    assert_eq!(a.steps(), b.steps());
    for (a, b) in a.frames().zip(b.frames()) {
        let difference = first_difference(&a.unwrap(), &b.unwrap());
        assert!(difference.is_none(), "{}", difference.unwrap());
    }
}

#[test]
fn a_recording_may_skip_steps_but_not_go_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse.mcap");
    let mut scene = Scene::new();
    let mut recorder = Recorder::create(&path, &header(), &scene.world).unwrap();
    let rejected = recorder.record(&scene.world).unwrap_err();
    assert!(matches!(rejected, RecordError::NotAfter { step: 0, last: 0 }));
    for step in 1..=10 {
        scene.step();
        if step % 5 == 0 {
            recorder.record(&scene.world).unwrap();
        }
    }
    recorder.finish("").unwrap();
    let recording = Recording::open(&path).unwrap();
    let steps: Vec<u64> = recording.frames().map(|frame| frame.unwrap().step).collect();
    assert_eq!(steps, [0, 5, 10]);
    assert!(matches!(recording.frame(7), Err(RecordError::NoSuchStep { step: 7, .. })));
}

#[test]
fn every_nth_step_and_the_last_are_recorded_with_or_without_contacts() {
    let folder = tempfile::tempdir().unwrap();
    for contacts in [true, false] {
        let path = folder.path().join(format!("{contacts}.mcap"));
        let wanted = Recorded { every: 4, contacts };
        let header = Header { recorded: wanted, ..header() };
        let mut scene = Scene::new();
        let mut recorder = Recorder::create(&path, &header, &scene.world).unwrap();
        let mut expected = vec![Frame::of(&scene.world)];
        for step in 1..=42 {
            scene.step();
            recorder.record(&scene.world).unwrap();
            if step % 4 == 0 || step == 42 {
                expected.push(Frame::of(&scene.world));
            }
        }
        recorder.record_last(&scene.world).unwrap();
        recorder.record_last(&scene.world).unwrap();
        assert_eq!(recorder.finish("{}").unwrap().frames, 12);
        let recording = Recording::open(&path).unwrap();
        assert_eq!(recording.header().recorded, wanted);
        let read: Vec<Frame> = recording.frames().map(Result::unwrap).collect();
        assert_eq!(read.len(), expected.len());
        for (read, mut original) in read.iter().zip(expected) {
            assert!(first_difference(read, &original).is_none());
            assert_eq!(*read == original, contacts);
            if !contacts {
                original.clear_contacts();
            }
            assert_eq!(format!("{read:?}"), format!("{original:?}"));
        }
        // A body removed between two frames is still listed; a new one is listed from the next frame on.
        assert!(recording.bodies().iter().any(|body| body.name == "guest"));
        let late = recording.bodies().iter().find(|body| body.name == "late").unwrap();
        assert_eq!(late.first_step, 24);
    }
}

#[test]
fn joints_are_unknown_in_a_recording_of_an_older_version() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/format-1.mcap");
    let recording = Recording::open(path.as_ref()).unwrap();
    assert!(recording.header().recorded.is_everything());
    // Its limits are those of its version: they override the accuracy, which it does not hold.
    let settings = recording.settings().unwrap();
    assert_eq!(settings.accuracy, Accuracy::Balanced);
    assert_eq!(settings.overrides().collect::<Vec<_>>(), [("newton_work", 3000)]);
    let frames: Vec<Frame> = recording.frames().map(Result::unwrap).collect();
    assert_eq!(frames.len(), 5);
    assert!(frames.iter().all(|frame| frame.has_contacts && frame.joints.is_none()));
    assert!(frames[1..].iter().all(|frame| frame.states.len() == 6));
}
