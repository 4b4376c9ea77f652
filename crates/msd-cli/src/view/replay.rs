//! A recording, read for pages.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use msd_record::Recording;
use serde_json::Value;

use crate::failure::Failure;
use crate::summary::recorded_scene;
use crate::verdict::{Check, Monitor};

use super::board::Board;
use super::wire::{self, Conditions, Hello, Motion, Numbers, Status};

/// Samples of a body's course at most.
pub const MOST_SAMPLES: usize = 1000;
/// How often pages are told of what was read.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// A recording that is shown.
#[derive(Debug)]
pub struct Replay {
    recording: Recording,
    numbers: Numbers,
    by: Conditions,
    epoch: u32,
}

impl Replay {
    /// Begins, and reads through it on a thread of its own for series, marks and checks.
    pub fn start(
        recording: Recording,
        name: &str,
        board: Arc<Board>,
    ) -> Result<Arc<Self>, Failure> {
        let header = recording.header();
        // A world that was built by a program has no scene; it is shown all the same.
        let scene = recorded_scene(&recording, None).ok();
        let numbers =
            Numbers::new(recording.bodies().iter(), scene.as_ref().map(|(_, built)| built.world()));
        let settings = recording.settings().cloned().unwrap_or_default();
        let hello = Hello {
            mode: "replay",
            name,
            title: &header.title,
            comment: scene.as_ref().map_or("", |(file, _)| &file.scene().description),
            settings: wire::settings(&settings, header.dt, None, None),
            complete: recording.is_complete(),
            recorded: header.recorded,
            bodies: recording.bodies(),
            numbers: &numbers,
        };
        let status = Status {
            first_step: recording.first_step(),
            last_step: recording.steps(),
            speed: 1.0,
            settings: hello.settings.clone(),
            ..Status::default()
        };
        let epoch = board.begin(|epoch| hello.message(epoch), status.clone());
        let watch = scene.map(|(file, simulation)| Monitor::new(file.scene(), &simulation));
        let by = Conditions { dt: header.dt, gravity: settings.gravity };
        let replay = Arc::new(Self { recording, numbers, by, epoch });
        let reader = Arc::clone(&replay);
        std::thread::Builder::new()
            .name("reader".to_owned())
            .spawn(move || reader.read_through(&board, watch, status))
            .map_err(|error| Failure::Io(format!("cannot start a thread: {error}")))?;
        Ok(replay)
    }

    /// The frame of a step, or why there is none.
    pub fn frame(&self, step: u64) -> Result<Bytes, String> {
        let frame = self.recording.frame(step).map_err(|error| error.to_string())?;
        Ok(wire::frame(&frame, self.by, self.epoch, &self.numbers))
    }

    /// The course of a body.
    pub fn motion(&self, body: u32) -> Motion {
        let (first, last) = (self.recording.first_step(), self.recording.steps());
        let every = self.recording.header().recorded.every;
        let stride = every * ((last - first) / every + 1).div_ceil(MOST_SAMPLES as u64);
        let mut motion = Motion::default();
        for step in (first..=last).step_by(stride as usize) {
            let Ok(frame) = self.recording.frame(step) else { continue };
            let state = frame.states.iter().find(|state| self.numbers.of(state.body) == Some(body));
            if let Some(state) = state {
                motion.see(frame.time, state.position, state.velocity, state.angular_velocity);
            }
        }
        motion
    }

    fn read_through(&self, board: &Board, mut watch: Option<Monitor>, mut status: Status) {
        let mut told = Instant::now();
        for frame in self.recording.frames() {
            let current = match &frame {
                Ok(frame) if frame.step == 0 => true,
                Ok(frame) => {
                    if let Some(watch) = &mut watch {
                        watch.observe(frame);
                    }
                    board.update(self.epoch, |notes| {
                        notes.history.see(frame);
                        notes.marks.see(frame, watch.as_ref(), &self.numbers);
                    })
                }
                Err(error) => {
                    status.problem = error.to_string();
                    board.update(self.epoch, |notes| notes.set_status(status.clone()))
                }
            };
            if !current {
                return; // Something else is shown by now.
            }
            if told.elapsed() > TELL_EVERY {
                told = Instant::now();
                status.checks = watch.as_ref().map_or_else(Vec::new, Monitor::checks);
                board.update(self.epoch, |notes| notes.set_status(status.clone()));
            }
        }
        // Where something was left out, the run itself has seen more.
        let whole = self.recording.header().recorded.is_everything();
        status.checks = match (&watch, self.recorded_checks()) {
            (Some(watch), recorded) if whole || recorded.is_empty() => watch.checks(),
            (_, recorded) => recorded,
        };
        board.update(self.epoch, |notes| {
            notes.history.finish();
            notes.set_status(status);
        });
    }

    /// The checks as the run itself made them.
    fn recorded_checks(&self) -> Vec<Check> {
        let summary = self.recording.summary().and_then(|json| serde_json::from_str(json).ok());
        let checks = summary.and_then(|summary: Value| summary.get("checks").cloned());
        checks.and_then(|checks| serde_json::from_value(checks).ok()).unwrap_or_default()
    }
}
