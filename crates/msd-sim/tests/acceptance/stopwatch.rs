//! CPU time of a thread, independent of other load on the machine.

use std::time::{Duration, Instant};

/// A stopwatch for the CPU time of this thread; wall-clock time on systems without it.
pub struct Stopwatch {
    wall: Instant,
    processor: Option<Duration>,
}

impl Stopwatch {
    pub fn start() -> Self {
        Self { wall: Instant::now(), processor: processor() }
    }

    /// Returns the seconds since the start.
    pub fn seconds(&self) -> f64 {
        let spent = self.processor.zip(processor()).map(|(start, now)| now - start);
        spent.unwrap_or_else(|| self.wall.elapsed()).as_secs_f64()
    }
}

#[cfg(unix)]
fn processor() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Some(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

#[cfg(not(unix))]
fn processor() -> Option<Duration> {
    None
}
