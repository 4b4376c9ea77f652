//! What a scene may ask for, checked before anything is allocated.

/// Bounds on a scene. Each refusal names the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bodies, copies in arrays counted. Default 100 000.
    pub bodies: u64,
    /// Most points of one hull or mesh, and a fortieth of those of all bodies together, copies in
    /// arrays counted. Default 100 000.
    pub points: u64,
    /// Largest scene file, bytes: read, it takes up to 5 times as much memory, one that is refused up to 75 times.
    /// Default 8 MiB.
    pub scene_bytes: u64,
    /// Largest mesh file, bytes: read, it takes up to 8 times as much. Default 64 MiB.
    pub mesh_bytes: u64,
    /// Whether settings that have no effect on the scene are accepted, as recordings of earlier versions may hold
    /// them. Default false: they are refused by name.
    pub unused_settings: bool,
}

impl Limits {
    /// Most points of all bodies together.
    pub(crate) fn all_points(&self) -> u64 {
        self.points.saturating_mul(40)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bodies: 100_000,
            points: 100_000,
            scene_bytes: 8 << 20,
            mesh_bytes: 64 << 20,
            unused_settings: false,
        }
    }
}
