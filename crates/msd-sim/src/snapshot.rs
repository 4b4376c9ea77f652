//! A world set aside, and the hash of a world's state.

use crate::world::World;

/// Everything that a world is at one moment, remembered contacts included: a world that is put back
/// to it goes on bit for bit as the first one did.
#[derive(Clone, Debug)]
pub struct Snapshot(Box<World>);

impl World {
    /// Sets the present state aside.
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

    /// Goes back to a snapshot of this world or another.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        self.clone_from(&snapshot.0);
    }

    /// A hash of where every body is and how it moves, and of the number of steps: equal only if all
    /// bits are.
    pub fn state_hash(&self) -> u64 {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        hash.update(&self.steps.to_le_bytes());
        for index in self.bodies.slots.iter() {
            let pose = &self.bodies.poses[index as usize];
            let velocity = &self.bodies.motions[index as usize].velocity;
            let [px, py, pz] = pose.position.to_array();
            let [qx, qy, qz, qw] = pose.rotation.to_array();
            let [vx, vy, vz] = velocity.linear.to_array();
            let [wx, wy, wz] = velocity.angular.to_array();
            let index = f64::from(index);
            // One piece for each body: the hash takes it in whole.
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
