//! Contacts of two straight edges.

use super::feature::{Feature, FeatureKey};
use super::manifold::{FeatureId, Manifold};
use crate::math::Vec3;

/// Edges at a smaller angle (radians) touch along a line rather than at a point.
pub(crate) const PARALLEL: f64 = 1e-2;

/// Distance beyond its end, relative to its length, within which an edge still counts as crossed.
const BEYOND: f64 = 1e-6;

/// A straight edge with the keys of its ends and of itself.
pub(crate) struct Edge {
    pub ends: [Vec3; 2],
    pub keys: [FeatureKey; 2],
    pub key: FeatureKey,
}

impl Edge {
    /// Creates the edge along the side of a capsule.
    pub fn new(ends: [Vec3; 2]) -> Self {
        let keys = [FeatureKey::vertex(0), FeatureKey::vertex(1)];
        Self { ends, keys, key: FeatureKey::edge(0) }
    }

    /// Returns the edge of a feature, or `None` if the feature is not an edge.
    pub fn of(feature: &Feature) -> Option<Self> {
        match &feature.corners[..] {
            [p, q] => Some(Self {
                ends: [p.position, q.position],
                keys: [p.key, q.key],
                key: feature.key,
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

    /// Returns the contact of this edge of A with one of B: the two ends of their overlap if they
    /// are parallel, otherwise the point where they cross. Empty if they do not overlap or cross.
    pub fn contact(&self, b: &Self, n: Vec3, margin: f64) -> Manifold {
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
            // Minimizes |from + t v - s u|.
            let (vv, dv) = (v.length_squared(), from.dot(v));
            let square = u.cross(v).length_squared();
            let (s, t) = ((du * vv - dv * uv) / square, (du * uv - dv * uu) / square);
            // Beyond an end, a corner is nearest instead.
            let within = |x: f64| (-BEYOND..=1.0 + BEYOND).contains(&x);
            if within(s) && within(t) {
                add(s, t, FeatureId::new(self.key, b.key));
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
            (reach[low], FeatureId::new(self.key, b.keys[low]))
        } else {
            (0.0, FeatureId::new(self.keys[0], b.key))
        };
        let end = if reach[high] < 1.0 {
            (reach[high], FeatureId::new(self.key, b.keys[high]))
        } else {
            (1.0, FeatureId::new(self.keys[1], b.key))
        };
        add(start.0, (start.0 - first) / span, start.1);
        if end.0 > start.0 {
            add(end.0, (end.0 - first) / span, end.1);
        }
        manifold
    }
}
