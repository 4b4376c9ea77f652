//! A pair of bodies near each other, and the contact points kept for as long as they are.

use super::narrow_phase::{
    PairProperties, anchors, find_manifold, is_same_contact, relative_motion,
};
use crate::bodies::BodySet;
use crate::geometry::{FeatureId, Manifold, PairMemory, Workspace};
use crate::math::{Pose, Vec3};

/// A point at which two bodies touch or are about to touch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contact {
    /// World position, midway between the surfaces: both bodies' lever arms end here.
    pub position: Vec3,
    /// Distance between the surfaces along the normal, m; negative where they overlap.
    pub gap: f64,
    /// The features in contact.
    pub feature: FeatureId,
    /// Impulse on B in the last substep, N s, in world axes.
    pub impulse: Vec3,
    /// Impulse on B over the last step, N s, in world axes.
    pub total_impulse: Vec3,
    /// Normal velocity at which the surfaces met, m/s, negative; zero if there is no impact.
    pub approach: f64,
    /// Residual of the contact and friction laws after the last solve with this point, m/s. `None` if it was not
    /// measured: the point was in no solve, its bodies sleep, or the step was swept without
    /// [`Settings::audit`](crate::Settings::audit).
    pub residual: Option<f64>,
    /// The points on the surfaces, in the frames of A and of B.
    pub(crate) anchors: [Vec3; 2],
}

impl Contact {
    /// Returns the point between the surfaces at the bodies' poses, and the gap there, m.
    fn carried(&self, [a, b]: [&Pose; 2], normal: Vec3) -> (Vec3, f64) {
        let on_a = a.transform_point(self.anchors[0]);
        let on_b = b.transform_point(self.anchors[1]);
        ((on_a + on_b) * 0.5, (on_b - on_a).dot(normal))
    }
}

/// An impact of two bodies: its fastest point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hit {
    pub(crate) position: Vec3,
    pub(crate) normal: Vec3,
    pub(crate) speed: f64,
}

/// A contact as returned to readers.
#[derive(Clone, Debug)]
pub(crate) struct ContactRecord {
    pub(crate) bodies: [u32; 2],
    pub(crate) normal: Vec3,
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
    /// Impulse on B over the step, N s.
    pub(crate) impulse: Vec3,
    pub(crate) points: [Contact; 4],
    /// Number of points.
    pub(crate) len: usize,
}

/// Two bodies whose bounds overlap, and their contact points.
#[derive(Clone, Debug)]
pub struct ContactPair {
    /// Indices of A and B, the smaller one first.
    pub(crate) bodies: [u32; 2],
    /// Friction and restitution between the two.
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
    /// The smaller of the two sizes, m.
    pub(crate) size: f64,
    /// Unit direction from A to B.
    pub(crate) normal: Vec3,
    /// Centers of mass of A and B when the points were last updated.
    pub(crate) centers: [Vec3; 2],
    pub(crate) points: [Contact; 4],
    pub(crate) len: usize,
    memory: PairMemory,
    /// Pose of B relative to A when the points were found, and the normal in A's frame.
    found_at: Option<Pose>,
    local_normal: Vec3,
    margin: f64,
    /// Impulse on B since the step began, N s, and its part along the normals. Kept here because a point that bounces
    /// off is gone before the step ends.
    pub(crate) impulse: Vec3,
    pub(crate) normal_impulse: f64,
    /// The fastest impact since the step began.
    pub(crate) hit: Option<Hit>,
    /// Upper bound on the speed at which two points of the bodies approach, m/s, when the pair was last checked.
    pub(crate) closing_speed: f64,
    /// Whether points without load are known not to meet before the next impact or the end of the substep.
    pub(crate) cannot_close: bool,
    /// Whether the surfaces touched in this step, and in the one before.
    pub(crate) touching: bool,
    pub(crate) touched: bool,
}

impl ContactPair {
    pub(crate) fn new(a: u32, b: u32, bodies: &BodySet) -> Self {
        let PairProperties { friction, restitution, size, .. } = PairProperties::of(bodies, [a, b]);
        Self {
            bodies: [a, b],
            friction,
            restitution,
            size,
            normal: Vec3::ZERO,
            centers: [Vec3::ZERO; 2],
            points: [Contact::default(); 4],
            len: 0,
            memory: PairMemory::default(),
            found_at: None,
            local_normal: Vec3::ZERO,
            margin: 0.0,
            impulse: Vec3::ZERO,
            normal_impulse: 0.0,
            hit: None,
            closing_speed: 0.0,
            cannot_close: false,
            touching: false,
            touched: false,
        }
    }

    /// Returns the points, including those about to touch.
    pub(crate) fn points(&self) -> &[Contact] {
        &self.points[..self.len]
    }

    /// Returns the points that may push, with their indices.
    pub(crate) fn acting(&self) -> impl Iterator<Item = (usize, &Contact)> {
        let acts =
            |(_, point): &(usize, &Contact)| !self.cannot_close || point.impulse != Vec3::ZERO;
        self.points().iter().enumerate().filter(acts)
    }

    /// Clears the sums over the last step.
    pub(crate) fn begin_step(&mut self) {
        self.impulse = Vec3::ZERO;
        self.normal_impulse = 0.0;
        self.hit = None;
        for point in &mut self.points[..self.len] {
            point.total_impulse = Vec3::ZERO;
            point.approach = 0.0;
            point.residual = None;
        }
    }

    pub(crate) fn refresh_materials(&mut self, bodies: &BodySet) {
        let properties = PairProperties::of(bodies, self.bodies);
        (self.friction, self.restitution) = (properties.friction, properties.restitution);
    }

    /// Adds the impulse of a kick on B at a point. `approach` is the normal velocity of an impact, zero if there is
    /// none.
    pub(crate) fn add_impulse(&mut self, point: usize, impulse: Vec3, approach: f64) {
        let (normal, position) = (self.normal, self.points[point].position);
        self.points[point].total_impulse += impulse;
        self.impulse += impulse;
        self.normal_impulse += impulse.dot(normal);
        let speed = -approach;
        if speed > 0.0 && self.hit.is_none_or(|hit| hit.speed < speed) {
            self.hit = Some(Hit { position, normal, speed });
        }
    }

    /// Discards everything known from earlier steps, as if the pair were new, except whether it touches.
    pub(crate) fn invalidate(&mut self, bodies: &BodySet) {
        let (touching, touched) = (self.touching, self.touched);
        *self = Self { touching, touched, ..Self::new(self.bodies[0], self.bodies[1], bodies) };
    }

    /// Starts with the points and impulses of a swept contact, until the points are found again.
    pub(crate) fn warm_start(&mut self, bodies: &BodySet, swept: &ContactRecord) {
        self.centers = self.bodies.map(|body| bodies.poses[body as usize].position);
        (self.normal, self.len) = (swept.normal, swept.len);
        for (to, known) in self.points.iter_mut().zip(&swept.points[..swept.len]) {
            let Contact { position, gap, feature, impulse, .. } = *known;
            *to = Contact { position, gap, feature, impulse, ..Contact::default() };
        }
    }

    /// Updates the points at the bodies' poses: moves them along while the two bodies have moved little relative to
    /// each other since the points were found (`reuse`, relative to size); otherwise finds them again, and keeps the
    /// impulses of points with the same feature.
    pub(crate) fn update(
        &mut self,
        bodies: &BodySet,
        poses: [Pose; 2],
        margin: f64,
        reuse: f64,
        workspace: &mut Workspace,
    ) {
        let [a, b] = self.bodies.map(|body| body as usize);
        let relative = poses[0].relative(&poses[1]);
        self.centers = poses.map(|pose| pose.position);
        if let Some(found_at) = &self.found_at {
            let reach = bodies.solids[a].radius.min(bodies.solids[b].radius);
            let moved = relative_motion(found_at, &relative, reach);
            if moved <= reuse * self.size && margin <= self.margin {
                self.carry(&poses);
                return;
            }
        }
        self.find(bodies, &poses, relative, margin, workspace);
    }

    fn carry(&mut self, [a, b]: &[Pose; 2]) {
        self.normal = a.transform_vector(self.local_normal);
        for point in &mut self.points[..self.len] {
            (point.position, point.gap) = point.carried([a, b], self.normal);
        }
    }

    /// Returns the contact at the bodies' poses, if it has points or pushed in the last step.
    pub(crate) fn record(&self, bodies: &BodySet) -> Option<ContactRecord> {
        let (normal, points) = self.carried(self.bodies.map(|body| &bodies.poses[body as usize]));
        (self.len > 0 || self.normal_impulse > 0.0).then_some(ContactRecord {
            bodies: self.bodies,
            normal: if self.len > 0 { normal } else { self.normal },
            friction: self.friction,
            restitution: self.restitution,
            impulse: self.impulse,
            points,
            len: self.len,
        })
    }

    /// Returns the normal and the points at the bodies' poses.
    pub(crate) fn carried(&self, [a, b]: [&Pose; 2]) -> (Vec3, [Contact; 4]) {
        let normal = a.transform_vector(self.local_normal);
        let mut points = self.points;
        for point in &mut points[..self.len] {
            (point.position, point.gap) = point.carried([a, b], normal);
        }
        (normal, points)
    }

    fn find(
        &mut self,
        bodies: &BodySet,
        poses: &[Pose; 2],
        relative: Pose,
        margin: f64,
        workspace: &mut Workspace,
    ) {
        let at = poses.each_ref();
        let manifold = find_manifold(bodies, self.bodies, at, margin, &mut self.memory, workspace);
        let (old, old_len) = (self.points, self.len);
        let old_normal = self.normal;
        self.len = manifold.points().len();
        self.normal = manifold.normal;
        self.margin = margin;
        self.found_at = Some(relative);
        self.fill(&manifold, poses);
        for point in &mut self.points[..self.len] {
            if let Some(known) = old[..old_len].iter().find(|old| old.feature == point.feature) {
                point.total_impulse = known.total_impulse;
                if !is_same_contact(old_normal, manifold.normal) {
                    continue;
                }
                point.impulse = turned_impulse(known.impulse, old_normal, manifold.normal);
                point.approach = known.approach;
            }
        }
    }

    fn fill(&mut self, manifold: &Manifold, [a, b]: &[Pose; 2]) {
        self.local_normal = a.inverse_transform_vector(manifold.normal);
        for (point, found) in self.points.iter_mut().zip(manifold.points()) {
            *point = Contact {
                position: found.position,
                gap: -found.depth,
                feature: found.feature,
                anchors: anchors(manifold.normal, found, [a, b]),
                ..Contact::default()
            };
        }
    }
}

/// Turns an impulse from an old normal to a new one: its magnitudes along and across the normal stay.
fn turned_impulse(impulse: Vec3, old: Vec3, new: Vec3) -> Vec3 {
    let normal_impulse = impulse.dot(old);
    let across = impulse - old * normal_impulse;
    let flat = across - new * across.dot(new);
    let length = flat.length();
    let kept = if length > 0.0 { flat * (across.length() / length) } else { Vec3::ZERO };
    new * normal_impulse + kept
}
