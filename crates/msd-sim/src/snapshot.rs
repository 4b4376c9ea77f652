//! Snapshots of a world, and the hash of its state.

mod bytes;

use crate::world::World;

/// Version of the results: raised whenever some world, stepped alike, ends in other bits than before. Recordings store it,
/// so that a run that no longer repeats is not mistaken for a defect.
pub const RESULTS_VERSION: u32 = 11;

/// A copy of a world, caches and user data included: a world that is restored to it continues bit for bit as the
/// original did.
#[derive(Clone, Debug)]
pub struct Snapshot(Box<World>);

impl World {
    /// Takes a snapshot of the world.
    ///
    /// ```
    /// use msd_sim::{BodyDef, World, geometry::Shape};
    /// let mut world = World::default();
    /// world.add_body(BodyDef::inertial(Shape::sphere(0.5)?))?;
    /// let before = world.snapshot();
    /// world.step(0.1)?;
    /// let after = world.state_hash();
    /// world.restore(&before);
    /// world.step(0.1)?;
    /// assert_eq!(world.state_hash(), after);
    /// # Ok::<(), msd_sim::Error>(())
    /// ```
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(Box::new(self.clone()))
    }

    /// Restores a snapshot of this world or another. Handles that were valid when it was taken are valid again; those
    /// of bodies, joints and force fields added since are not, and later additions may get the same ones.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        // What it has said, it has said; and who may stop it, still may.
        let warnings = self.output.warnings;
        let stop = std::mem::take(&mut self.scratch.stop);
        self.clone_from(&snapshot.0);
        self.output.warnings = warnings;
        self.scratch.stop.take_flag(stop);
    }

    /// Returns a hash of every body's pose and velocity and of the number of steps: equal states have equal hashes,
    /// and states that differ in one bit almost surely do not. Names and user data are not part of it.
    pub fn state_hash(&self) -> u64 {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        hash.update(&self.steps().to_le_bytes());
        for index in self.model.bodies.slots.iter() {
            let pose = &self.model.bodies.poses[index as usize];
            let velocity = &self.model.bodies.motions[index as usize].velocity;
            let [px, py, pz] = pose.position.to_array();
            let [qx, qy, qz, qw] = pose.rotation.to_array();
            let [vx, vy, vz] = velocity.linear.to_array();
            let [wx, wy, wz] = velocity.angular.to_array();
            let index = f64::from(index);
            // One update for each body is faster than one for each number.
            let values = [index, px, py, pz, qx, qy, qz, qw, vx, vy, vz, wx, wy, wz];
            let mut bytes = [0; 14 * 8];
            for (place, value) in bytes.chunks_exact_mut(8).zip(values) {
                place.copy_from_slice(&value.to_bits().to_le_bytes());
            }
            hash.update(&bytes);
        }
        hash.digest()
    }
}
