//! What a runner tells the driver.

use serde::{Deserialize, Serialize};

/// One run of one scene in one engine, as a line of JSON.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Run {
    /// The scene's id.
    pub scene: String,
    /// Bodies, the ground included.
    pub bodies: usize,
    /// Steps taken.
    pub steps: u64,
    /// Threads that were allowed.
    pub threads: u32,
    /// Processor time of all threads, ms a step.
    pub cpu: f64,
    /// Time on the wall, ms a step.
    pub wall: f64,
    /// Deepest overlap of two bodies in the samples of the last quarter, mm.
    pub deepest: f64,
    /// 99.9 % of the overlaps in these samples are less deep, mm.
    pub usual: f64,
    /// The scene's figure at the end, m.
    pub figure: f64,
    /// Bodies that are below the ground or nowhere at the end.
    pub lost: usize,
    /// State hash at the end; msd only.
    pub hash: Option<String>,
}
