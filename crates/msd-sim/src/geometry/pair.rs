//! Contact manifolds of pairs without a closed form: the facing features, clipped against each
//! other.

use super::clip::Clipper;
use super::edge::Edge;
use super::feature::{Corner, Feature, FeatureKey, FeatureKind, Features};
use super::manifold::{FeatureId, Manifold, PairMemory};
use super::minkowski::Difference;
use super::reduce::reduce;
use super::separation::{LocalSeparation, Workspace, local_separation};
use super::shape::Shape;
use crate::math::{Mat3, Pose, Vec3, inverse_rotate};

/// A face of one of the two shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Reference {
    pub side: Side,
    pub face: FeatureKey,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Side {
    A,
    B,
}

impl Side {
    fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// A face is the contact's reference unless the direction of largest gap has a gap larger by this
/// much, relative to the smaller shape's width. This turns edges that cross almost in the plane of
/// two faces, and slightly tilted resting bodies, into face contacts.
pub(super) const FACE_PREFERENCE: f64 = 1e-3;

/// The reference face is kept unless another face's gap is larger by this much, relative to the
/// smaller shape's width.
pub(super) const HYSTERESIS: f64 = 1e-4;

/// Two shapes in A's frame.
pub(super) struct Pair<'a> {
    pub a: &'a Shape,
    pub b: &'a Shape,
    pub b_in_a: &'a Pose,
    pub rotation: &'a Mat3,
    pub margin: f64,
}

impl Pair<'_> {
    /// Returns the smaller shape's width, to which tolerances are relative.
    fn size(&self) -> f64 {
        self.a.least_width().min(self.b.least_width())
    }

    pub fn manifold(&self, memory: &mut PairMemory, workspace: &mut Workspace) -> Manifold {
        if self.is_still_separated(memory) {
            return Manifold::default();
        }
        if let Some(found) = self.reuse_face(memory, workspace) {
            return found;
        }
        let Some(nearest) = self.nearest(memory, workspace) else { return Manifold::default() };
        if matches!(self.a, Shape::Sphere(_)) || matches!(self.b, Shape::Sphere(_)) {
            return nearest.contact(FeatureId::default());
        }
        self.contact_along(nearest.normal, nearest.distance, memory, workspace)
            .unwrap_or_else(|| nearest.contact(workspace.features.id()))
    }

    /// Returns a one-point contact between the nearest points, if they are within the margin.
    pub fn closest_point_contact(
        &self,
        id: FeatureId,
        memory: &mut PairMemory,
        workspace: &mut Workspace,
    ) -> Manifold {
        let nearest = self.nearest(memory, workspace);
        nearest.map_or_else(Manifold::default, |nearest| nearest.contact(id))
    }

    fn nearest(
        &self,
        memory: &mut PairMemory,
        workspace: &mut Workspace,
    ) -> Option<LocalSeparation> {
        let Self { a, b, b_in_a, margin, .. } = *self;
        let search = &mut workspace.search;
        let found = local_separation(a, b, b_in_a, margin, &mut memory.simplex, search)?;
        if memory.record_separation(found.distance, margin) {
            memory.separating_axis = found.normal;
        }
        (found.distance <= margin).then_some(found)
    }

    /// Returns whether the cached direction still separates the shapes.
    fn is_still_separated(&self, memory: &mut PairMemory) -> bool {
        if !memory.was_separated() {
            return false;
        }
        let n = memory.separating_axis;
        let reach = self.a.reach(n) + self.b.reach(inverse_rotate(self.rotation, -n));
        memory.record_separation(n.dot(self.b_in_a.position) - reach, self.margin)
    }

    /// Returns the contact on the previous reference face, if that face would provably be chosen
    /// again: the simplex of the last search proves that no direction has a gap larger by more than
    /// the hysteresis.
    fn reuse_face(&self, memory: &mut PairMemory, workspace: &mut Workspace) -> Option<Manifold> {
        let Reference { side, face } = memory.reference?;
        let ((core_a, radius_a), (core_b, radius_b)) = (self.a.core()?, self.b.core()?);
        let Workspace { features, clipper, .. } = workspace;
        let feature = features.of_mut(side);
        if !self.set_face(side, face, Vec3::Z, feature) || feature.kind != FeatureKind::Polygon {
            return None;
        }
        let gap = self.gap_beyond(side, feature);
        let difference = Difference::new(core_a, core_b, self.b_in_a);
        let largest = memory.simplex.largest_gap(&difference) - (radius_a + radius_b);
        if !(largest <= self.margin.min(gap + HYSTERESIS * self.size())) {
            return None;
        }
        let n = features.outward(side);
        match side {
            Side::A => self.set_facing_b(&mut features.b, n),
            Side::B => features.a.set_facing(self.a, n),
        }
        let found = self.face_contact(side, features, clipper);
        (!self.misses(&found, gap)).then_some(found)
    }

    /// Returns whether the shapes are deeper than any point found, because they meet beside these
    /// features.
    fn misses(&self, found: &Manifold, gap: f64) -> bool {
        found.is_empty() || found.depth() < -gap - FACE_PREFERENCE * self.size()
    }

    /// Returns the contact of the features that face each other along `n`, the direction of the
    /// largest gap.
    ///
    /// Returns `None` if the shapes are deeper than any point found, because they meet beside these
    /// features.
    fn contact_along(
        &self,
        n: Vec3,
        gap: f64,
        memory: &mut PairMemory,
        workspace: &mut Workspace,
    ) -> Option<Manifold> {
        let Workspace { features, clipper, .. } = workspace;
        features.a.set_facing(self.a, n);
        self.set_facing_b(&mut features.b, n);
        let side = self.reference(n, gap, memory, features);
        memory.reference = side.map(|side| Reference { side, face: features.of(side).key });
        let found = match side {
            Some(side) => {
                match side {
                    // The features facing n already face this normal.
                    _ if is_same(features.outward(side), n) => {}
                    Side::A => self.set_facing_b(&mut features.b, features.a.normal),
                    Side::B => features.a.set_facing(self.a, -features.b.normal),
                }
                self.face_contact(side, features, clipper)
            }
            None => self.edge_contact(n, features),
        };
        (!self.misses(&found, gap)).then_some(found)
    }

    /// Returns the side whose face is the contact's reference: the one with the larger gap, if it
    /// is not clearly less than the `gap` along `n`. The previous reference face has an advantage,
    /// even if it no longer faces `n`.
    fn reference(
        &self,
        n: Vec3,
        gap: f64,
        memory: &PairMemory,
        features: &mut Features,
    ) -> Option<Side> {
        let advantage = HYSTERESIS * self.size();
        let enough = gap - FACE_PREFERENCE * self.size();
        let before = memory.reference;
        let mut best: Option<(f64, Side)> = None;
        for side in [Side::A, Side::B] {
            let feature = features.of(side);
            if !feature.is_face() {
                continue;
            }
            let favored = match before {
                Some(before) => before == Reference { side, face: feature.key },
                None => side == Side::A,
            };
            let aligned = is_same(features.outward(side), n);
            // The gap cannot exceed the height of any corner of the other shape.
            let other = features.of(side.other());
            let reaches = |corner: &Corner| {
                feature.normal.dot(corner.position - feature.anchor) + advantage < enough
            };
            if !aligned && other.corners.iter().any(reaches) {
                continue;
            }
            let gap = if aligned { gap } else { self.gap_beyond(side, feature) };
            let gap = if favored { gap + advantage } else { gap };
            if best.is_none_or(|(largest, _)| gap > largest) {
                best = Some((gap, side));
            }
        }
        if let Some(Reference { side, face }) = before
            && face != features.of(side).key
            && self.set_face(side, face, n, &mut features.spare)
        {
            let gap = self.gap_beyond(side, &features.spare) + advantage;
            if best.is_none_or(|(largest, _)| gap > largest) {
                best = Some((gap, side));
                match side {
                    Side::A => std::mem::swap(&mut features.a, &mut features.spare),
                    Side::B => std::mem::swap(&mut features.b, &mut features.spare),
                }
            }
        }
        best.filter(|&(gap, _)| gap >= enough).map(|(_, side)| side)
    }

    fn set_facing_b(&self, feature: &mut Feature, n: Vec3) {
        feature.set_facing(self.b, inverse_rotate(self.rotation, -n));
        feature.transform(self.rotation, self.b_in_a);
    }

    /// Sets a feature to the face of one side with the given key.
    fn set_face(&self, side: Side, face: FeatureKey, n: Vec3, feature: &mut Feature) -> bool {
        if side == Side::A {
            return feature.set_face(self.a, face, n);
        }
        let found = feature.set_face(self.b, face, inverse_rotate(self.rotation, -n));
        if found {
            feature.transform(self.rotation, self.b_in_a);
        }
        found
    }

    /// Returns the gap between the plane of a face and the other shape, negative if it reaches
    /// behind the plane.
    fn gap_beyond(&self, side: Side, face: &Feature) -> f64 {
        let nearest = match side {
            Side::A => {
                let support = self.b.support(inverse_rotate(self.rotation, -face.normal));
                *self.rotation * support + self.b_in_a.position
            }
            Side::B => self.a.support(-face.normal),
        };
        face.normal.dot(nearest - face.anchor)
    }

    /// Returns the contact of one feature with a face of the other shape.
    fn face_contact(&self, side: Side, features: &Features, clipper: &mut Clipper) -> Manifold {
        let (reference, incident) = match side {
            Side::A => (&features.a, &features.b),
            Side::B => (&features.b, &features.a),
        };
        clipper.clip(reference, incident, self.margin, self.size());
        reduce(&mut clipper.points, reference.normal, self.size());
        let sign = if side == Side::A { 1.0 } else { -1.0 };
        let mut manifold = Manifold::along(reference.normal * sign);
        for p in &clipper.points {
            let feature = match side {
                Side::A => FeatureId::new(p.on_reference, p.on_incident),
                Side::B => FeatureId::new(p.on_incident, p.on_reference),
            };
            manifold.push(p.position - reference.normal * (0.5 * p.gap), -p.gap, feature);
        }
        manifold
    }

    /// Returns the contact of two edges; empty if one feature is a corner.
    fn edge_contact(&self, n: Vec3, features: &mut Features) -> Manifold {
        let tolerance = FACE_PREFERENCE * self.size();
        features.a.narrow(n, tolerance);
        features.b.narrow(-n, tolerance);
        match (Edge::of(&features.a), Edge::of(&features.b)) {
            (Some(a), Some(b)) => a.contact(&b, n, self.margin),
            _ => Manifold::default(),
        }
    }
}

impl Features {
    fn of(&self, side: Side) -> &Feature {
        match side {
            Side::A => &self.a,
            Side::B => &self.b,
        }
    }

    fn of_mut(&mut self, side: Side) -> &mut Feature {
        match side {
            Side::A => &mut self.a,
            Side::B => &mut self.b,
        }
    }

    /// Returns the normal of one side's feature as a direction from A to B.
    fn outward(&self, side: Side) -> Vec3 {
        match side {
            Side::A => self.a.normal,
            Side::B => -self.b.normal,
        }
    }

    /// Returns the id of a contact between the two.
    fn id(&self) -> FeatureId {
        FeatureId::new(self.a.key, self.b.key)
    }
}

/// Returns whether two unit vectors differ by rounding only.
fn is_same(n: Vec3, other: Vec3) -> bool {
    n.distance_squared(other) <= 64.0 * f64::EPSILON * f64::EPSILON
}
