//! Contacts of a swept world, four manifolds to a block: what is known of them from step to step, and the rows of
//! the present step, in lanes.

use super::sweep_bodies::DUMMY;
use crate::geometry::{FeatureId, Manifold};
use crate::math::{Pose, Vec3};
use crate::simd::{F4, V4};

/// Points of a manifold.
pub(crate) const POINTS: usize = 4;

/// Four contacts, each between two bodies, no inertial body in two of them.
///
/// Angular velocities are `w' = L^T R^T w` with `I = R L L^T R^T`, in which every body's inertia is 1. A row's
/// angular part `T (r x d)`, `T = L^-1 R^T`, is then both what measures velocity and what an impulse changes it
/// by.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct ContactBlock {
    /// Riders of A and of B.
    pub(crate) bodies: [[u32; 4]; 2],
    /// Numbers of the near pairs.
    pub(crate) pairs: [u32; 4],
    /// How many points each has, and the most of them.
    pub(crate) counts: [u8; 4],
    pub(crate) max_points: u8,
    /// Whether one of them has a restitution.
    pub(crate) any_restitution: bool,
    /// Whether one of them is with an environment body that turns.
    pub(crate) kinematic: bool,
    pub(crate) features: [[u64; 4]; POINTS],
    pub(crate) rows: SolverRows,
    pub(crate) cache: ManifoldCache,
}

/// What sweeps need, in lanes. Nothing but [`F4`], so that one lane can be taken out.
///
/// In the frame of the contact: two tangents and the normal. Points of a manifold lie in a plane across the normal,
/// so a point's row is that of the middle, and two more times the point's coordinates: all that points do to
/// each other goes through these three, velocity along the normal and about the two axes of the plane.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct SolverRows {
    pub(crate) normal: V4,
    pub(crate) tangent: V4,
    /// `T` times minus the second tangent, the first, and the normal: what a turn about these moves.
    pub(crate) axes_a: [V4; 3],
    pub(crate) axes_b: [V4; 3],
    /// The middle, along the tangents from A's centre and from B's.
    pub(crate) centroid: [F4; 4],
    /// Where friction acts, along tangents and normal from A's centre and from B's.
    pub(crate) friction_center: [F4; 6],
    /// How velocities along the three answer to impulses, and the inverse.
    pub(crate) delassus: [F4; 6],
    pub(crate) inverse: [F4; 6],
    /// How an impulse about the axes is shared by points: xx, xy, yy; and one at the middle: the part of each.
    pub(crate) spread: [F4; 3],
    pub(crate) share: F4,
    /// How many points there are.
    pub(crate) count: F4,
    pub(crate) friction: F4,
    /// Depth that is not taken back, m.
    pub(crate) slop: F4,
    /// Friction: inverse of its 2 by 2 coupling, xx, xy, yy, and of that about the normal.
    pub(crate) friction_mass: [F4; 4],
    /// Along the two tangents, and about the normal: of the substep and of the step.
    pub(crate) friction_impulse: [F4; 3],
    pub(crate) friction_total: [F4; 3],
    pub(crate) points: [Point; POINTS],
}

/// A point.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Point {
    /// From the middle along the tangents, m.
    pub(crate) x: F4,
    pub(crate) y: F4,
    /// Gap when the step began, m.
    pub(crate) gap: F4,
    /// From where friction acts, across the normal, m.
    pub(crate) lever: F4,
    /// Of the substep, and of the step, N s.
    pub(crate) impulse: F4,
    pub(crate) total: F4,
}

/// What is known besides, in lanes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct ManifoldCache {
    pub(crate) restitution: F4,
    /// Points nearer than this count as touching, m.
    pub(crate) touch_distance: F4,
    /// In A's frame.
    pub(crate) local_normal: V4,
    /// Of each point: on the surfaces of A and of B, in their frames.
    pub(crate) anchors: [[V4; 2]; POINTS],
    /// Normal velocity of each point when the step began, m/s.
    pub(crate) approach: [F4; POINTS],
    /// The contact need not be looked at while the sum of both odometers is no more, and the sum of both speeds.
    pub(crate) recheck_distance: F4,
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

/// One contact as it enters a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewContact {
    pub(crate) bodies: [u32; 2],
    pub(crate) pair: u32,
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
    pub(crate) slop: f64,
    pub(crate) touch_distance: f64,
}

pub(crate) fn set(to: &mut V4, lane: usize, v: Vec3) {
    for (component, value) in to.iter_mut().zip(v.to_array()) {
        component.0[lane] = value;
    }
}

pub(crate) fn get(from: &V4, lane: usize) -> Vec3 {
    Vec3::new(from[0].0[lane], from[1].0[lane], from[2].0[lane])
}

impl ContactBlock {
    /// Puts a new contact without points into a lane.
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

    /// Empties a lane: nobody touches nobody there.
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

    /// Takes over the contact of another block's lane.
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

    /// Forgets the impulses of a lane.
    pub(crate) fn clear_impulses(&mut self, lane: usize) {
        self.rows.points.iter_mut().for_each(|point| point.impulse.0[lane] = 0.0);
        self.rows.friction_impulse.iter_mut().for_each(|impulse| impulse.0[lane] = 0.0);
    }

    /// Takes over points found at these poses; points of the same name keep their impulses, unless the normal is that
    /// of another contact.
    pub(crate) fn set_points(&mut self, lane: usize, manifold: &Manifold, [a, b]: [&Pose; 2]) {
        let mut old = [(0, 0.0); POINTS];
        for (at, entry) in old.iter_mut().enumerate().take(self.counts[lane] as usize) {
            *entry = (self.features[at][lane], self.rows.points[at].impulse.0[lane]);
        }
        let old = &old[..self.counts[lane] as usize];
        let turned = get(&self.rows.normal, lane).dot(manifold.normal) < SAME_CONTACT;
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
            // The surface of A reaches half the depth beyond the point, that of B falls short of it.
            let half = manifold.normal * (0.5 * found.depth);
            let [on_a, on_b] = &mut self.cache.anchors[at];
            set(on_a, lane, a.inverse_transform_point(found.position + half));
            set(on_b, lane, b.inverse_transform_point(found.position - half));
            let feature = found.feature.bits();
            self.features[at][lane] = feature;
            let old = old.iter().find(|(old, _)| *old == feature && !turned);
            point.impulse.0[lane] = old.map_or(0.0, |&(_, impulse)| impulse);
        }
    }

    /// Remembers up to which odometers and speeds a contact need not be looked at.
    pub(crate) fn set_recheck(
        &mut self,
        lane: usize,
        (recheck_distance, recheck_speed): (f64, f64),
    ) {
        self.cache.recheck_distance.0[lane] = recheck_distance;
        self.cache.recheck_speed.0[lane] = recheck_speed;
    }

    /// A point's name.
    pub(crate) fn feature(&self, lane: usize, point: usize) -> FeatureId {
        FeatureId::from_bits(self.features[point][lane])
    }
}

/// Cosine of 30 degrees: a normal that turned farther is that of another contact.
const SAME_CONTACT: f64 = 0.866;

/// The lanes of a struct that is made of [`F4`] alone.
#[allow(unsafe_code)]
fn f4_fields<T>(of: &T) -> &[F4] {
    let count = size_of::<T>() / size_of::<F4>();
    // SAFETY: `SolverRows` and `ManifoldCache`, the only ones asked for, are laid out by repr(C) and hold nothing but F4.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(of).cast(), count) }
}

/// The same, to be changed.
#[allow(unsafe_code)]
fn f4_fields_mut<T>(of: &mut T) -> &mut [F4] {
    let count = size_of::<T>() / size_of::<F4>();
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(std::ptr::from_mut(of).cast(), count) }
}
