//! The result that a runner reports to the driver.

use serde::{Deserialize, Serialize};

/// A run of one scene in one engine, as a line of JSON.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Run {
    /// Id of the scene.
    pub scene: String,
    /// Number of bodies, including the ground.
    pub bodies: usize,
    /// Number of steps.
    pub steps: u64,
    /// Number of threads allowed.
    pub threads: u32,
    /// CPU time of all threads, ms per step.
    pub cpu: f64,
    /// Wall-clock time, ms per step.
    pub wall: f64,
    /// Deepest overlap of two bodies in the samples of the last quarter, mm.
    pub deepest: f64,
    /// 99.9th percentile of the overlaps in these samples, mm.
    pub usual: f64,
    /// Figure of the scene at the end, m.
    pub figure: f64,
    /// Number of bodies below the ground or not finite at the end.
    pub lost: usize,
    /// State hash at the end; msd only.
    pub hash: Option<String>,
}
