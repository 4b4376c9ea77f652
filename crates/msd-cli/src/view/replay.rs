//! A recording on display: serves its frames and reads through it for series, marks and checks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use msd_record::Recording;

use crate::failure::Failure;
use crate::summary::{notes_of, recorded, recorded_scene};
use crate::verdict::{Check, Monitor};

use super::body_table::{BodyTable, CheckInfo};
use super::state::SharedState;
use super::wire::{self, Conditions, Hello, Motion, Status};

/// Maximum number of samples of a body's motion.
pub const MAX_SAMPLES: usize = 1000;
/// Time between two status updates while reading.
const STATUS_INTERVAL: Duration = Duration::from_millis(200);

/// A recording on display.
#[derive(Debug)]
pub struct Replay {
    recording: Recording,
    table: BodyTable,
    conditions: Conditions,
    epoch: u32,
}

impl Replay {
    /// Publishes the recording and starts a thread that reads through it for series, marks and checks.
    pub fn start(
        recording: Recording,
        name: &str,
        shared: Arc<SharedState>,
    ) -> Result<Arc<Self>, Failure> {
        let header = recording.header();
        // A world built by a program has no scene, but can still be shown.
        let scene = recorded_scene(&recording, None).ok();
        let table = BodyTable::new(
            recording.bodies().iter(),
            scene.as_ref().map(|(_, built)| built.world()),
        );
        let settings = recording.settings().cloned().unwrap_or_default();
        let hello = Hello {
            mode: "replay",
            name,
            title: &header.title,
            comment: scene.as_ref().map_or("", |(file, _)| &file.scene().description),
            settings: wire::settings(&settings, header.dt, None, None),
            complete: recording.is_complete(),
            recorded: header.recorded,
            notes: &notes_of(&recording),
            bodies: recording.bodies(),
            table: &table,
        };
        let status = Status {
            first_step: recording.first_step(),
            last_step: recording.steps(),
            speed: 1.0,
            settings: hello.settings.clone(),
            ..Status::default()
        };
        let epoch = shared.begin(|epoch| hello.message(epoch), status.clone());
        let monitor = scene.map(|(file, simulation)| Monitor::new(file.scene(), &simulation));
        let conditions = Conditions { dt: header.dt, gravity: settings.gravity };
        let replay = Arc::new(Self { recording, table, conditions, epoch });
        let reader = Arc::clone(&replay);
        std::thread::Builder::new()
            .name("reader".to_owned())
            .spawn(move || reader.read_through(&shared, monitor, status))
            .map_err(|error| Failure::Io(format!("cannot start a thread: {error}")))?;
        Ok(replay)
    }

    /// Returns the frame of a step, or the reason it is unavailable.
    pub fn frame(&self, step: u64) -> Result<Bytes, String> {
        let frame = self.recording.frame(step).map_err(|error| error.to_string())?;
        Ok(wire::frame(&frame, self.conditions, self.epoch, &self.table))
    }

    /// Returns the motion of a body over time.
    pub fn motion(&self, body: u32) -> Motion {
        let (first, last) = (self.recording.first_step(), self.recording.steps());
        let every = self.recording.header().recorded.every;
        let stride = every * ((last - first) / every + 1).div_ceil(MAX_SAMPLES as u64);
        let mut motion = Motion::default();
        // With the last step: a body may exist only there.
        let steps = (first..last).step_by(stride as usize).chain([last]);
        for step in steps {
            let Ok(frame) = self.recording.frame(step) else { continue };
            let state =
                frame.states.iter().find(|state| self.table.index_of(state.body) == Some(body));
            if let Some(state) = state {
                motion.push(frame.time, state.position, state.velocity, state.angular_velocity);
            }
        }
        motion
    }

    fn read_through(&self, shared: &SharedState, mut monitor: Option<Monitor>, mut status: Status) {
        let mut last_status = Instant::now();
        for frame in self.recording.frames() {
            let current = match &frame {
                Ok(frame) if frame.step == 0 => true,
                Ok(frame) => {
                    if let Some(monitor) = &mut monitor {
                        monitor.observe(frame);
                    }
                    shared.update(self.epoch, |state| {
                        state.history.push(frame);
                        state.marks.push(frame, monitor.as_ref(), &self.table);
                    })
                }
                Err(error) => {
                    status.problem = error.to_string();
                    shared.update(self.epoch, |state| state.set_status(status.clone()))
                }
            };
            if !current {
                return; // The session has switched to another source.
            }
            if last_status.elapsed() > STATUS_INTERVAL {
                last_status = Instant::now();
                status.checks =
                    self.by_index(monitor.as_ref().map_or_else(Vec::new, Monitor::checks));
                shared.update(self.epoch, |state| state.set_status(status.clone()));
            }
        }
        // If the recording omits steps or contacts, the checks made during the run covered more.
        let whole = self.recording.header().recorded.is_everything();
        let during_run: Vec<Check> = recorded(&self.recording, "checks").unwrap_or_default();
        status.checks = self.by_index(match &monitor {
            Some(monitor) if whole || during_run.is_empty() => monitor.checks(),
            _ => during_run,
        });
        shared.update(self.epoch, |state| {
            state.history.finish();
            state.set_status(status);
        });
    }

    fn by_index(&self, checks: Vec<Check>) -> Vec<CheckInfo> {
        checks.into_iter().map(|check| self.table.check(check)).collect()
    }
}
