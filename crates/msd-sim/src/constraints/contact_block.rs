//! The contacts of a world, four manifolds to a block, in lanes: the manifold cache, kept from step to step, and
//! the solver rows of the present step.

use super::solver_bodies::DUMMY;
use crate::collision::{ContactPair, ExactContact, anchors, is_same_contact};
use crate::geometry::{FeatureId, Manifold};
use crate::math::{Pose, Vec3, orthonormal_basis};
use crate::settings::Settings;
use crate::simd::{F4, V4};

/// Depth that is not corrected, as a fraction of the smaller size, so that resting contacts are not pushed apart.
const SLOP: f64 = 5e-4;

/// Maximum number of points of a manifold.
pub(crate) const POINTS: usize = 4;

/// Four contacts, each between two bodies; no inertial body is in two of them.
///
/// Angular velocities are stored as spins `w' = L^T R^T w` with `I = R L L^T R^T`, in which every body's inertia is 1.
/// The angular part of a row, `T (r x d)` with `T = L^-1 R^T`, then both measures velocity and is the change of spin by
/// a unit impulse.
#[derive(Clone, Debug)]
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
    /// Bits of the points' [`FeatureId`]s.
    pub(crate) features: [[u64; 4]; POINTS],
    pub(crate) rows: SolverRows,
    pub(crate) cache: ManifoldCache,
}

/// The data of four contacts that sweeps need, in lanes. All fields are [`F4`]s, so that one lane can be copied.
///
/// The frame of a contact has two tangents and the normal. The points of a manifold lie in a plane perpendicular to the
/// normal, so a point's row is the row at the centroid plus the rows about the plane's two axes, times the point's
/// coordinates. Points interact only through these three plane coordinates: velocity along the normal at the centroid
/// and about the two axes of the plane.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct SolverRows {
    pub(crate) normal: V4,
    pub(crate) tangent: V4,
    /// Angular rows of A: `T` times minus the second tangent, the first tangent, and the normal.
    pub(crate) axes_a: [V4; 3],
    /// Angular rows of B.
    pub(crate) axes_b: [V4; 3],
    /// Coordinates of the centroid along the tangents, from A's center and from B's, m.
    pub(crate) centroid: [F4; 4],
    /// Coordinates of the point where friction acts along tangents and normal, from A's center and from B's, m.
    pub(crate) friction_center: [F4; 6],
    /// Delassus matrix of the three plane coordinates: xx, xy, xz, yy, yz, zz.
    pub(crate) delassus: [F4; 6],
    /// Inverse of `delassus`.
    pub(crate) inverse: [F4; 6],
    /// Inverse second moments of the points, xx, xy, yy: they distribute an impulse about the plane's axes over the
    /// points.
    pub(crate) spread: [F4; 3],
    /// Each point's share of an impulse at the centroid.
    pub(crate) share: F4,
    /// Number of points.
    pub(crate) count: F4,
    pub(crate) friction: F4,
    /// Depth that is not corrected, m.
    pub(crate) slop: F4,
    /// Inverse of the 2 by 2 Delassus matrix of the tangents, xx, xy, yy, and of the entry about the normal.
    pub(crate) friction_mass: [F4; 4],
    /// Friction impulse of the substep along the two tangents, N s, and about the normal, N m s.
    pub(crate) friction_impulse: [F4; 3],
    /// Friction impulse of the step.
    pub(crate) friction_total: [F4; 3],
    pub(crate) points: [Point; POINTS],
}

/// A point of each of four contacts.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Point {
    /// Coordinate from the centroid along the first tangent, m.
    pub(crate) x: F4,
    /// Coordinate from the centroid along the second tangent, m.
    pub(crate) y: F4,
    /// Gap at the start of the step, m.
    pub(crate) gap: F4,
    /// Distance from the point where friction acts, perpendicular to the normal, m; while restitution acts, at the end of
    /// the step, the energy that the point may still return, J.
    pub(crate) lever: F4,
    /// Normal impulse of the substep, N s.
    pub(crate) impulse: F4,
    /// Normal impulse of the step, N s.
    pub(crate) total: F4,
}

/// The data of four manifolds that is kept from step to step, in lanes. All fields are [`F4`]s.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct ManifoldCache {
    pub(crate) restitution: F4,
    /// Gap below which points count as touching, m.
    pub(crate) touch_distance: F4,
    /// Normal in A's frame.
    pub(crate) local_normal: V4,
    /// Each point on the surfaces of A and of B, in their frames.
    pub(crate) anchors: [[V4; 2]; POINTS],
    /// Normal velocity of each point at the start of the step, m/s.
    pub(crate) approach: [F4; POINTS],
    /// Sum of both odometers up to which the manifold remains valid, m.
    pub(crate) recheck_distance: F4,
    /// Sum of both speeds up to which the manifold remains valid, m/s.
    pub(crate) recheck_speed: F4,
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
            features: [[0; 4]; POINTS],
            rows: SolverRows::default(),
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
    /// See [`SolverRows::slop`].
    pub(crate) slop: f64,
    /// See [`ManifoldCache::touch_distance`].
    pub(crate) touch_distance: f64,
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
        self.rows.friction.0[lane] = new.friction;
        self.rows.slop.0[lane] = new.slop;
        self.cache.restitution.0[lane] = new.restitution;
        self.cache.touch_distance.0[lane] = new.touch_distance;
        self.any_restitution |= new.restitution > 0.0;
    }

    /// Clears a lane: both sides point at the dummy body.
    pub(crate) fn clear_lane(&mut self, lane: usize) {
        self.bodies[0][lane] = DUMMY;
        self.bodies[1][lane] = DUMMY;
        self.pairs[lane] = u32::MAX;
        self.counts[lane] = 0;
        self.update_max_points();
        self.features.iter_mut().for_each(|features| features[lane] = 0);
        for field in f4_fields_mut(&mut self.rows).iter_mut().chain(f4_fields_mut(&mut self.cache))
        {
            field.0[lane] = 0.0;
        }
    }

    /// Copies the contact of another block's lane.
    pub(crate) fn copy_lane(&mut self, lane: usize, from: &Self, other: usize) {
        for side in 0..2 {
            self.bodies[side][lane] = from.bodies[side][other];
        }
        self.pairs[lane] = from.pairs[other];
        self.counts[lane] = from.counts[other];
        self.any_restitution |= from.cache.restitution.0[other] > 0.0;
        self.update_max_points();
        for (features, others) in self.features.iter_mut().zip(&from.features) {
            features[lane] = others[other];
        }
        let fields = f4_fields_mut(&mut self.rows).iter_mut().chain(f4_fields_mut(&mut self.cache));
        for (field, others) in
            fields.zip(f4_fields(&from.rows).iter().chain(f4_fields(&from.cache)))
        {
            field.0[lane] = others.0[other];
        }
    }

    fn update_max_points(&mut self) {
        self.max_points = self.counts.into_iter().max().unwrap_or(0);
    }

    /// Starts the points of a lane with the impulses of the same contact in exact steps.
    pub(crate) fn warm_start(&mut self, lane: usize, exact: &ExactContact) {
        let normal = exact.normal;
        let mut friction = Vec3::ZERO;
        for (at, known) in exact.points().iter().enumerate() {
            let load = known.impulse.dot(normal);
            self.rows.points[at].impulse.0[lane] = load.max(0.0);
            friction += known.impulse - normal * load;
        }
        let (tangent, _) = orthonormal_basis(normal);
        set(&mut self.rows.normal, lane, normal);
        set(&mut self.rows.tangent, lane, tangent);
        self.rows.friction_impulse[0].0[lane] = friction.dot(tangent);
        self.rows.friction_impulse[1].0[lane] = friction.dot(normal.cross(tangent));
        self.rows.friction_impulse[2].0[lane] = 0.0;
    }

    /// Clears the points of a lane, and with them their impulses.
    pub(crate) fn clear_points(&mut self, lane: usize) {
        self.clear_impulses(lane);
        self.counts[lane] = 0;
        self.update_max_points();
    }

    /// Clears the impulses of a lane.
    pub(crate) fn clear_impulses(&mut self, lane: usize) {
        self.rows.points.iter_mut().for_each(|point| point.impulse.0[lane] = 0.0);
        self.rows.friction_impulse.iter_mut().for_each(|impulse| impulse.0[lane] = 0.0);
    }

    /// Stores the points of a manifold found at these poses. Points with the same feature keep their impulses, unless
    /// the normal has turned so far that it is another contact.
    pub(crate) fn set_points(&mut self, lane: usize, manifold: &Manifold, [a, b]: [&Pose; 2]) {
        let mut old = [(0, 0.0); POINTS];
        for (at, entry) in old.iter_mut().enumerate().take(self.counts[lane] as usize) {
            *entry = (self.features[at][lane], self.rows.points[at].impulse.0[lane]);
        }
        let old = &old[..self.counts[lane] as usize];
        let turned = !is_same_contact(get(&self.rows.normal, lane), manifold.normal);
        if turned {
            self.clear_impulses(lane);
        }
        self.counts[lane] = manifold.points().len() as u8;
        self.update_max_points();
        let local = a.inverse_transform_vector(manifold.normal);
        set(&mut self.cache.local_normal, lane, local);
        for (at, point) in self.rows.points.iter_mut().enumerate() {
            point.impulse.0[lane] = 0.0;
            let Some(found) = manifold.points().get(at) else {
                continue;
            };
            let found_anchors = anchors(manifold.normal, found, [a, b]);
            for (to, anchor) in self.cache.anchors[at].iter_mut().zip(found_anchors) {
                set(to, lane, anchor);
            }
            let feature = found.feature.bits();
            self.features[at][lane] = feature;
            let old = old.iter().find(|(old, _)| *old == feature && !turned);
            point.impulse.0[lane] = old.map_or(0.0, |&(_, impulse)| impulse);
        }
    }

    /// Stores the sums of odometers and of speeds up to which a manifold remains valid.
    pub(crate) fn set_recheck(
        &mut self,
        lane: usize,
        (recheck_distance, recheck_speed): (f64, f64),
    ) {
        self.cache.recheck_distance.0[lane] = recheck_distance;
        self.cache.recheck_speed.0[lane] = recheck_speed;
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

/// A struct that is laid out as a sequence of [`F4`]s.
///
/// # Safety
/// It is `repr(C)` and consists of `F4` alone.
#[allow(unsafe_code)]
unsafe trait AllF4 {}

// SAFETY: repr(C), and all fields are `F4` or arrays and structs of it.
#[allow(unsafe_code)]
unsafe impl AllF4 for SolverRows {}
// SAFETY: as above.
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
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(std::ptr::from_mut(of).cast(), count) }
}
