//! What a scene may ask for, checked before anything is allocated.

/// Bounds on a scene. Each refusal names the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bodies, copies in arrays counted. Default 100 000.
    pub bodies: u64,
    /// Most points of one hull or mesh. Default 100 000.
    pub points: u64,
    /// Largest scene or mesh file, bytes. Default 64 MiB.
    pub file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bodies: 100_000, points: 100_000, file_bytes: 64 << 20 }
    }
}
