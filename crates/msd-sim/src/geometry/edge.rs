//! Where two straight edges touch.

use super::feature::{Feature, FeatureName};
use super::manifold::{FeatureId, Manifold};
use crate::math::Vec3;

/// Edges that enclose a smaller angle (radians) meet along a line, not in a point.
pub(crate) const PARALLEL: f64 = 1e-2;

/// How far beyond its end, relative to its length, an edge still counts as crossed.
const BEYOND: f64 = 1e-6;

/// A straight edge.
pub(crate) struct Edge {
    pub ends: [Vec3; 2],
    pub names: [FeatureName; 2],
    pub name: FeatureName,
}

impl Edge {
    /// The side of a capsule.
    pub fn new(ends: [Vec3; 2]) -> Self {
        let names = [FeatureName::vertex(0), FeatureName::vertex(1)];
        Self { ends, names, name: FeatureName::edge(0) }
    }

    /// None if the feature is not an edge.
    pub fn of(feature: &Feature) -> Option<Self> {
        match &feature.corners[..] {
            [p, q] => Some(Self {
                ends: [p.position, q.position],
                names: [p.name, q.name],
                name: feature.name,
            }),
            _ => None,
        }
    }

    fn along(&self) -> Vec3 {
        self.ends[1] - self.ends[0]
    }

    pub fn is_parallel(&self, other: &Self) -> bool {
        let (u, v) = (self.along(), other.along());
        let limit = PARALLEL * PARALLEL * u.length_squared() * v.length_squared();
        u.cross(v).length_squared() <= limit
    }

    /// The contact of this edge of A with one of B: the ends of their common stretch if they are
    /// parallel, else where they cross. Nothing if they lie beside each other.
    pub fn touch(&self, b: &Self, n: Vec3, margin: f64) -> Manifold {
        let mut manifold = Manifold::along(n);
        let (u, v) = (self.along(), b.along());
        let from = b.ends[0] - self.ends[0];
        let (uu, uv, du) = (u.length_squared(), u.dot(v), from.dot(u));
        let mut add = |s: f64, t: f64, id: FeatureId| {
            let on_a = self.ends[0] + u * s.clamp(0.0, 1.0);
            let on_b = b.ends[0] + v * t.clamp(0.0, 1.0);
            let gap = n.dot(on_b - on_a);
            if gap <= margin {
                manifold.push((on_a + on_b) * 0.5, -gap, id);
            }
        };
        if !self.is_parallel(b) {
            // |from + t v - s u| is least.
            let (vv, dv) = (v.length_squared(), from.dot(v));
            let square = u.cross(v).length_squared();
            let (s, t) = ((du * vv - dv * uv) / square, (du * uv - dv * uu) / square);
            // Beyond an end, it is corners that come nearest.
            let within = |x: f64| (-BEYOND..=1.0 + BEYOND).contains(&x);
            if within(s) && within(t) {
                add(s, t, FeatureId::new(self.name, b.name));
            }
            return manifold;
        }
        // Along u, in units of its length: A covers 0 to 1, B covers low to high.
        let (first, span) = (du / uu, uv / uu);
        let (low, high) = if span >= 0.0 { (0, 1) } else { (1, 0) };
        let reach = [first, first + span];
        if reach[low] > 1.0 || reach[high] < 0.0 {
            return Manifold::default();
        }
        let start = if reach[low] > 0.0 {
            (reach[low], FeatureId::new(self.name, b.names[low]))
        } else {
            (0.0, FeatureId::new(self.names[0], b.name))
        };
        let end = if reach[high] < 1.0 {
            (reach[high], FeatureId::new(self.name, b.names[high]))
        } else {
            (1.0, FeatureId::new(self.names[1], b.name))
        };
        add(start.0, (start.0 - first) / span, start.1);
        if end.0 > start.0 {
            add(end.0, (end.0 - first) / span, end.1);
        }
        manifold
    }
}
