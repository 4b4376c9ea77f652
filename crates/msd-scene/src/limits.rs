//! Bounds on the size of a scene, checked before anything is allocated.

/// Bounds on a scene. Errors name the limit that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of bodies, copies in arrays included. Default 100 000.
    pub bodies: u64,
    /// Maximum number of colliders of all bodies together, copies in arrays included. Default 400 000.
    pub colliders: u64,
    /// Maximum points of one hull or mesh; all bodies together, copies in arrays included, may have 40 times as many.
    /// Default 100 000.
    pub points: u64,
    /// Maximum size of a scene file, bytes. Reading takes up to 5 times as much memory, rejecting up to 75 times.
    /// Default 8 MiB.
    pub scene_bytes: u64,
    /// Maximum size of a mesh file, bytes. Reading takes up to 8 times as much memory. Default 64 MiB.
    pub mesh_bytes: u64,
    /// Whether to accept settings that have no effect on the scene, which recordings of earlier versions may contain.
    /// Default false: they are rejected by name.
    pub unused_settings: bool,
}

impl Limits {
    /// Returns the maximum points of all bodies together.
    pub(crate) fn all_points(&self) -> u64 {
        self.points.saturating_mul(40)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bodies: 100_000,
            colliders: 400_000,
            points: 100_000,
            scene_bytes: 8 << 20,
            mesh_bytes: 64 << 20,
            unused_settings: false,
        }
    }
}
