//! Recording allocates nothing on the simulation thread but the frames in the queue.

use msd_record::Recorder;

use crate::counter::allocations;
use crate::run::{Scene, header};

/// Frames in flight: those in the queue, the writer's and the recorder's.
const FRAMES: usize = 10;
/// Lists in a frame times reallocations of each until it is large enough.
const GROWTHS: usize = 8 * 6;

#[test]
fn recording_allocates_no_more_in_longer_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::new();
    let mut recorder =
        Recorder::create(&folder.path().join("run.mcap"), &header(), &scene.world).unwrap();
    for _ in 0..100 {
        scene.step();
        recorder.record(&scene.world).unwrap();
    }
    let mut used = 0;
    for _ in 0..2000 {
        scene.step();
        let before = allocations();
        recorder.record(&scene.world).unwrap();
        used += allocations() - before;
    }
    recorder.finish("").unwrap();
    assert!(used <= FRAMES * GROWTHS, "{used}");
}
