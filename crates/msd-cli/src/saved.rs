//! States of runs as files: `msd run --save` and `--from`.

use std::path::Path;

use msd_scene::format::Scene;
use msd_scene::{SceneFile, Simulation, changes};

use crate::args::RunArgs;
use crate::atomic_file;
use crate::failure::Failure;

/// What may differ between the scene of a state and that of the run which goes on from it.
const MAY_DIFFER: [&str; 5] =
    ["title", "description", "world.steps", "world.duration", "world.threads"];

/// Where and when to write the state of a run.
pub struct Save<'a> {
    path: Option<&'a Path>,
    /// The number of steps after which it is written.
    step: u64,
    /// The scene, as JSON.
    scene: String,
}

impl<'a> Save<'a> {
    pub fn new(
        args: &'a RunArgs,
        file: &SceneFile,
        simulation: &Simulation,
    ) -> Result<Self, Failure> {
        let last = simulation.steps();
        let step = match args.at {
            None => last,
            Some(at) => {
                let duration = last as f64 * simulation.dt();
                let start = simulation.world().time();
                let step = (at / simulation.dt()).round();
                if !(at > start && step <= last as f64) {
                    return Err(Failure::Input(format!(
                        "--at {at}: expected a time after the start ({start} s) and no later than the end ({duration} s)"
                    )));
                }
                step as u64
            }
        };
        Ok(Self { path: args.save.as_deref(), step, scene: file.scene().canonical()?.to_json() })
    }

    /// Writes the state if it is due: the length of the scene, the scene, and the state of the simulation.
    pub fn write_if_due(&self, simulation: &Simulation) -> Result<(), Failure> {
        let Some(path) = self.path.filter(|_| simulation.world().steps() == self.step) else {
            return Ok(());
        };
        let state = simulation.to_bytes();
        let state =
            state.map_err(|error| Failure::Input(format!("{}: {error}", path.display())))?;
        let mut bytes = (self.scene.len() as u64).to_le_bytes().to_vec();
        bytes.extend(self.scene.as_bytes());
        bytes.extend(state);
        atomic_file::write(path, &bytes)
    }
}

/// Goes on from a state that [`Save`] wrote. Rejects one of a scene with other values: they would have no effect.
pub fn resume(path: &Path, file: &SceneFile, simulation: &mut Simulation) -> Result<(), Failure> {
    let fail = |text: &str| Failure::Input(format!("{}: {text}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| Failure::io(path, error))?;
    let not_a_state = "not a state that `msd run --save` wrote, or cut off";
    let (length, rest) = bytes.split_first_chunk().ok_or_else(|| fail(not_a_state))?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let (scene, state) = rest.split_at_checked(length).ok_or_else(|| fail(not_a_state))?;
    let scene: Scene = serde_json::from_slice(scene).map_err(|_| fail(not_a_state))?;
    let differs = changes(&scene, file.scene())?;
    let differs = differs.iter().find(|change| !MAY_DIFFER.contains(&change.path.as_str()));
    if let Some(change) = differs {
        let value = |value: &Option<serde_json::Value>| {
            value.as_ref().map_or("absent".to_owned(), ToString::to_string)
        };
        return Err(fail(&format!(
            "the state is of a scene in which {} = {}: expected {}, as in this one; only the duration and the number of threads may \
             change",
            change.path,
            value(&change.a),
            value(&change.b)
        )));
    }
    simulation.resume(state).map_err(|error| fail(&error.to_string()))?;
    if simulation.world().steps() >= simulation.steps() {
        let (time, end) = (simulation.world().time(), simulation.steps() as f64 * simulation.dt());
        return Err(fail(&format!(
            "the state is that after {time} s: expected one from before the end of the scene ({end} s); a longer duration goes on"
        )));
    }
    Ok(())
}
