//! The contacts of a world, four manifolds to a block, in lanes, kept from step to step.

use super::solver_bodies::DUMMY;
use crate::collision::{ContactPair, anchors};
use crate::geometry::{FeatureId, Manifold};
use crate::math::{Pose, Vec3};
use crate::settings::Settings;
use crate::simd::{F4, V4};

/// Depth that is not corrected, as a fraction of the smaller size, so that resting contacts are not pushed apart.
pub(super) const SLOP: f64 = 5e-4;

/// Maximum number of points of a manifold.
pub(crate) const POINTS: usize = 4;

/// Four contacts, each between two bodies; no inertial body is in two of them. Swept ones have rows as well:
/// [`SolverRows`](super::solver_rows::SolverRows).
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[repr(C, align(64))]
pub(crate) struct ContactBlock {
    /// Indices of bodies A and B, plus one; [`DUMMY`] in empty lanes.
    pub(crate) bodies: [[u32; 4]; 2],
    /// Numbers of the pairs; `u32::MAX` in empty lanes.
    pub(crate) pairs: [u32; 4],
    /// Number of points of each contact.
    pub(crate) counts: [u8; 4],
    /// Largest of `counts`.
    pub(crate) max_points: u8,
    /// Whether a contact may have a restitution above zero.
    pub(crate) any_restitution: bool,
    /// Whether a body of a contact is an environment body that rotates.
    pub(crate) kinematic: bool,
    /// By lane: whether the bodies move too far in a swept step for the points found at its start, in bits 0 to 3; and
    /// whether one of them is a ball, which has only one point to touch with, in bits 4 to 7.
    fast: u8,
    /// Bits of the points' [`FeatureId`]s.
    pub(crate) features: [[u64; 4]; POINTS],
    pub(crate) cache: ManifoldCache,
}

/// The data of four manifolds, in lanes. All fields are [`F4`]s.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
#[repr(C)]
pub(crate) struct ManifoldCache {
    pub(crate) restitution: F4,
    /// Normal in A's frame.
    pub(crate) local_normal: V4,
    /// Each point on the surfaces of A and of B, in their frames.
    pub(crate) anchors: [[V4; 2]; POINTS],
}

impl Default for ContactBlock {
    fn default() -> Self {
        Self {
            bodies: [[DUMMY; 4]; 2],
            pairs: [u32::MAX; 4],
            counts: [0; 4],
            max_points: 0,
            any_restitution: false,
            kinematic: false,
            fast: 0,
            features: [[0; 4]; POINTS],
            cache: ManifoldCache::default(),
        }
    }
}

/// A contact to be inserted into a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewContact {
    /// Indices of bodies A and B, plus one.
    pub(crate) bodies: [u32; 2],
    /// Number of the pair.
    pub(crate) pair: u32,
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
    /// Depth that is not corrected in swept steps, m.
    pub(crate) slop: f64,
    /// Gap below which points count as touching in swept steps, m.
    pub(crate) touch_distance: f64,
    /// Whether one of the bodies is a ball.
    pub(crate) has_ball: bool,
}

impl NewContact {
    /// Creates the contact of a pair with this number.
    pub(crate) fn of(pair: &ContactPair, number: u32, settings: &Settings) -> Self {
        Self {
            bodies: pair.bodies.map(|body| body + 1),
            pair: number,
            friction: pair.friction,
            restitution: pair.restitution,
            slop: SLOP * pair.size,
            touch_distance: settings.margin * pair.size,
            has_ball: pair.has_ball,
        }
    }
}

/// Writes a vector to a lane.
pub(crate) fn set(to: &mut V4, lane: usize, v: Vec3) {
    for (component, value) in to.iter_mut().zip(v.to_array()) {
        component.0[lane] = value;
    }
}

/// Reads the vector of a lane.
pub(crate) fn get(from: &V4, lane: usize) -> Vec3 {
    Vec3::new(from[0].0[lane], from[1].0[lane], from[2].0[lane])
}

impl ContactBlock {
    /// Inserts a new contact, without points, into a lane.
    pub(crate) fn insert(&mut self, lane: usize, new: &NewContact) {
        self.clear_lane(lane);
        self.bodies[0][lane] = new.bodies[0];
        self.bodies[1][lane] = new.bodies[1];
        self.pairs[lane] = new.pair;
        self.cache.restitution.0[lane] = new.restitution;
        self.any_restitution |= new.restitution > 0.0;
        self.set_bit(4 + lane, new.has_ball);
    }

    /// Clears a lane: both sides point at the dummy body.
    pub(crate) fn clear_lane(&mut self, lane: usize) {
        self.bodies[0][lane] = DUMMY;
        self.bodies[1][lane] = DUMMY;
        self.pairs[lane] = u32::MAX;
        self.set_bit(lane, false);
        self.set_bit(4 + lane, false);
        self.clear_points(lane);
        self.features.iter_mut().for_each(|features| features[lane] = 0);
        self.cache.clear_lane(lane);
    }

    /// Copies the contact of another block's lane.
    pub(crate) fn copy_lane(&mut self, lane: usize, from: &Self, other: usize) {
        for side in 0..2 {
            self.bodies[side][lane] = from.bodies[side][other];
        }
        self.pairs[lane] = from.pairs[other];
        self.set_bit(lane, from.bit(other));
        self.set_bit(4 + lane, from.bit(4 + other));
        self.counts[lane] = from.counts[other];
        self.any_restitution |= from.cache.restitution.0[other] > 0.0;
        self.update_max_points();
        for (features, others) in self.features.iter_mut().zip(&from.features) {
            features[lane] = others[other];
        }
        self.cache.copy_lane(lane, &from.cache, other);
    }

    /// Returns whether the bodies of a lane move too far in a swept step for the points found at its start.
    pub(crate) fn is_fast(&self, lane: usize) -> bool {
        self.bit(lane)
    }

    /// Stores whether the bodies of a lane move far in a swept step. A ball does not get other points by that.
    pub(crate) fn set_fast(&mut self, lane: usize, far: bool) {
        self.set_bit(lane, far && !self.bit(4 + lane));
    }

    fn bit(&self, at: usize) -> bool {
        self.fast >> at & 1 == 1
    }

    fn set_bit(&mut self, at: usize, value: bool) {
        self.fast = self.fast & !(1 << at) | u8::from(value) << at;
    }

    fn update_max_points(&mut self) {
        self.max_points = self.counts.into_iter().max().unwrap_or(0);
    }

    /// Clears the points of a lane.
    pub(crate) fn clear_points(&mut self, lane: usize) {
        self.counts[lane] = 0;
        self.update_max_points();
    }

    /// Stores the points of a manifold found at these poses. Their impulses are matched by the features so far, hence
    /// before this.
    pub(crate) fn set_points(&mut self, lane: usize, manifold: &Manifold, [a, b]: [&Pose; 2]) {
        self.counts[lane] = manifold.points().len() as u8;
        self.update_max_points();
        let local = a.inverse_transform_vector(manifold.normal);
        set(&mut self.cache.local_normal, lane, local);
        for (at, found) in manifold.points().iter().enumerate() {
            let found_anchors = anchors(manifold.normal, found, [a, b]);
            for (to, anchor) in self.cache.anchors[at].iter_mut().zip(found_anchors) {
                set(to, lane, anchor);
            }
            self.features[at][lane] = found.feature.bits();
        }
    }

    /// Returns the point between the surfaces at the bodies' poses, and the gap there along a normal, m.
    pub(crate) fn point_at(
        &self,
        lane: usize,
        point: usize,
        [a, b]: [&Pose; 2],
        normal: Vec3,
    ) -> (Vec3, f64) {
        let [on_a, on_b] = &self.cache.anchors[point];
        let on_a = a.transform_point(get(on_a, lane));
        let on_b = b.transform_point(get(on_b, lane));
        ((on_a + on_b) * 0.5, (on_b - on_a).dot(normal))
    }

    /// Returns the feature of a point.
    pub(crate) fn feature(&self, lane: usize, point: usize) -> FeatureId {
        FeatureId::from_bits(self.features[point][lane])
    }
}

/// A struct that is laid out as a sequence of [`F4`]s, so that one lane can be cleared or copied.
///
/// # Safety
/// It is `repr(C)` and consists of `F4` alone.
#[allow(unsafe_code)]
pub(crate) unsafe trait AllF4: Sized {
    /// Clears a lane.
    fn clear_lane(&mut self, lane: usize) {
        f4_fields_mut(self).iter_mut().for_each(|field| field.0[lane] = 0.0);
    }

    /// Copies the lane `other` of another struct.
    fn copy_lane(&mut self, lane: usize, from: &Self, other: usize) {
        for (field, others) in f4_fields_mut(self).iter_mut().zip(f4_fields(from)) {
            field.0[lane] = others.0[other];
        }
    }
}

// SAFETY: repr(C), and all fields are `F4` or arrays of it.
#[allow(unsafe_code)]
unsafe impl AllF4 for ManifoldCache {}

/// Returns a struct that consists of [`F4`]s as a slice.
#[allow(unsafe_code)]
fn f4_fields<T: AllF4>(of: &T) -> &[F4] {
    let count = size_of::<T>() / size_of::<F4>();
    // SAFETY: `AllF4`.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(of).cast(), count) }
}

/// Returns a struct that consists of [`F4`]s as a mutable slice.
#[allow(unsafe_code)]
fn f4_fields_mut<T: AllF4>(of: &mut T) -> &mut [F4] {
    let count = size_of::<T>() / size_of::<F4>();
    // SAFETY: `AllF4`.
    unsafe { std::slice::from_raw_parts_mut(std::ptr::from_mut(of).cast(), count) }
}
