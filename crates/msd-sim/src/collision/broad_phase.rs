//! The broad phase: bounds trees that find near pairs without testing every pair.

use super::bounds_tree::BoundsTree;
use crate::geometry::Aabb;

/// The kind of a body: whether forces and other bodies can move it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Kind {
    /// An inertial body: it may touch every other body.
    Inertial,
    /// A body of the environment: two of these never form a pair.
    Environment,
}

/// The bounds of all bodies, and which of them overlap.
///
/// Bodies are identified by an index; memory grows with the largest. Bounds that are not finite on some side are
/// compared with all others, so there should be few; bounds that contain a NaN or whose `min` exceeds their `max`
/// overlap nothing.
///
/// ```
/// use msd_sim::collision::{BroadPhase, Kind};
/// use msd_sim::geometry::Shape;
/// use msd_sim::math::{Pose, Vec3};
/// let mut bodies = BroadPhase::default();
/// let ground = Shape::half_space(Vec3::Z, 0.0)?;
/// let ball = Shape::sphere(0.5)?;
/// bodies.insert(0, Kind::Environment, ground.bounds(&Pose::IDENTITY));
/// bodies.insert(1, Kind::Inertial, ball.bounds(&Pose::at(Vec3::new(0.0, 0.0, 1.0))));
/// bodies.insert(2, Kind::Inertial, ball.bounds(&Pose::at(Vec3::new(0.0, 0.0, 4.0))));
/// bodies.update(2, ball.bounds(&Pose::at(Vec3::new(0.0, 0.9, 1.0))));
/// let mut pairs = Vec::new();
/// bodies.find_pairs(&mut pairs);
/// assert_eq!(pairs, [(0, 1), (0, 2), (1, 2)]);
/// # Ok::<(), msd_sim::error::ShapeError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct BroadPhase {
    entries: Vec<Entry>,
    /// Environment bodies stand still: moving bodies do not disturb their tree.
    moving: BoundsTree,
    environment: BoundsTree,
    /// Bodies whose bounds are infinite, in no particular order.
    unbounded: Vec<u32>,
    count: usize,
}

impl BroadPhase {
    /// Returns the number of bodies.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a body, or changes the kind and bounds of an existing one.
    pub fn insert(&mut self, body: u32, kind: Kind, bounds: Aabb) {
        self.remove(body);
        let index = body as usize;
        if index >= self.entries.len() {
            self.entries.resize(index + 1, Entry::ABSENT);
        }
        self.count += 1;
        self.entries[index] = Entry { tight: bounds, kind, place: Place::Nowhere };
        self.place(body, 0.0);
    }

    /// Removes a body. Returns whether it existed.
    pub fn remove(&mut self, body: u32) -> bool {
        let present = self.entry(body).is_some();
        if present {
            self.displace(body);
            self.entries[body as usize] = Entry::ABSENT;
            self.count -= 1;
        }
        present
    }

    /// Sets where a body is now, or where it may move within the step. Returns whether the body exists.
    ///
    /// Cheap as long as the body stays within its margin, an eighth of its size.
    pub fn update(&mut self, body: u32, bounds: Aabb) -> bool {
        let Some(&Entry { kind, place, .. }) = self.entry(body) else { return false };
        self.entries[body as usize].tight = bounds;
        let margin = MARGIN * (bounds.max - bounds.min).max_element();
        if let Place::Leaf(leaf) = place {
            let fat = self.tree(kind).leaf_bounds(leaf);
            // Bounds that have shrunk because the body slowed down must not stay as large as they were.
            if fat.contains(&bounds) && bounds.grown(SLACK * margin).contains(fat) {
                return true;
            }
        }
        self.displace(body);
        self.place(body, margin);
        true
    }

    /// Sets bounds without adding a margin: they already include a margin, and the caller reports when a
    /// body leaves them.
    pub(crate) fn enlarge(&mut self, body: u32, bounds: Aabb) {
        let Some(&Entry { kind, place, .. }) = self.entry(body) else { return };
        self.entries[body as usize].tight = bounds;
        let finite = is_box(&bounds) && bounds.min.is_finite() && bounds.max.is_finite();
        match place {
            Place::Leaf(leaf) if finite => self.tree_mut(kind).enlarge(leaf, bounds),
            _ => {
                self.displace(body);
                self.place(body, 0.0);
            }
        }
    }

    /// Rebuilds trees that have degraded.
    pub(crate) fn rebuild(&mut self) {
        let entries = &mut self.entries;
        for tree in [&mut self.moving, &mut self.environment] {
            tree.rebuild_if_degraded(|body, leaf| entries[body as usize].place = Place::Leaf(leaf));
        }
    }

    /// Returns whether the last bounds of two bodies share a point.
    pub(crate) fn overlap(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|body| &self.entries[body as usize]);
        a.tight.overlaps(&b.tight)
    }

    /// Returns the last bounds of a body.
    pub fn bounds(&self, body: u32) -> Option<Aabb> {
        self.entry(body).map(|entry| entry.tight)
    }

    /// Finds all pairs of bodies whose bounds share a point and at least one of which is inertial: smaller index first,
    /// in ascending order. `pairs` is overwritten.
    ///
    /// The result depends only on the present bounds, not on their history.
    pub fn find_pairs(&mut self, pairs: &mut Vec<(u32, u32)>) {
        pairs.clear();
        self.rebuild();
        let entries = &self.entries;
        let mut visit = |a: u32, b: u32| {
            // Margins may overlap where bounds do not.
            if entries[a as usize].tight.overlaps(&entries[b as usize].tight) {
                pairs.push(if a < b { (a, b) } else { (b, a) });
            }
        };
        self.moving.pairs_within(&mut visit);
        self.moving.pairs_with(&self.environment, &mut visit);
        for (i, &a) in self.unbounded.iter().enumerate() {
            let Entry { tight, kind, .. } = &entries[a as usize];
            self.moving.query(tight, &mut |b| visit(a, b));
            if *kind == Kind::Inertial {
                self.environment.query(tight, &mut |b| visit(a, b));
            }
            for &b in &self.unbounded[..i] {
                if *kind == Kind::Inertial || entries[b as usize].kind == Kind::Inertial {
                    visit(a, b);
                }
            }
        }
        pairs.sort_unstable();
    }

    /// Calls `visit` once for every body, of either kind, whose bounds share a point with `bounds`, in no particular
    /// order.
    pub fn query(&self, bounds: &Aabb, mut visit: impl FnMut(u32)) {
        if !is_box(bounds) {
            return;
        }
        let mut check = |body: u32| {
            if self.entries[body as usize].tight.overlaps(bounds) {
                visit(body);
            }
        };
        self.moving.query(bounds, &mut check);
        self.environment.query(bounds, &mut check);
        self.unbounded.iter().copied().for_each(check);
    }

    /// Calls `visit` for the bodies whose bounds cost at most `limit`, which `visit` may lower: roughly from cheap to
    /// expensive. `cost` is that of bounds: never more than that of what they contain.
    pub(crate) fn search(
        &self,
        cost: impl Fn(&Aabb) -> f64,
        mut limit: f64,
        mut visit: impl FnMut(u32, &mut f64),
    ) {
        let mut check = |body: u32, limit: &mut f64| {
            if cost(&self.entries[body as usize].tight) <= *limit {
                visit(body, limit);
            }
        };
        self.unbounded.iter().for_each(|&body| check(body, &mut limit));
        self.environment.search(&cost, &mut limit, &mut check);
        self.moving.search(&cost, &mut limit, &mut check);
    }

    /// Returns the depth of the deepest body in its tree: at most `1.45 log2(len() + 2)`.
    pub fn depth(&self) -> usize {
        self.moving.depth().max(self.environment.depth())
    }
}

/// Bodies as bytes: kind and bounds of each. The trees are built anew, which no result depends on.
impl serde::Serialize for BroadPhase {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let listed =
            |entry: &Entry| (entry.place != Place::Absent).then_some((entry.kind, entry.tight));
        to.collect_seq(self.entries.iter().map(listed))
    }
}

impl<'de> serde::Deserialize<'de> for BroadPhase {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let listed: Vec<Option<(Kind, Aabb)>> = serde::Deserialize::deserialize(from)?;
        let mut all = Self::default();
        for (body, entry) in (0..).zip(&listed) {
            if let Some((kind, bounds)) = *entry {
                all.insert(body, kind, bounds);
            }
        }
        all.entries.resize(listed.len(), Entry::ABSENT);
        all.rebuild();
        Ok(all)
    }
}

/// Margin added to bounds that have left those in the tree, as a fraction of their largest extent.
const MARGIN: f64 = 0.125;

/// Number of margins by which bounds in the tree may exceed the body's on each side.
const SLACK: f64 = 4.0;

/// The record of a body.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The bounds as they were given.
    tight: Aabb,
    kind: Kind,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// No such body.
    Absent,
    /// A body without valid bounds.
    Nowhere,
    /// In the list of unbounded bodies.
    Unbounded,
    /// A leaf of the tree of its kind.
    Leaf(u32),
}

impl Entry {
    const ABSENT: Self = Self {
        tight: Aabb { min: crate::math::Vec3::ZERO, max: crate::math::Vec3::ZERO },
        kind: Kind::Environment,
        place: Place::Absent,
    };
}

impl BroadPhase {
    fn entry(&self, body: u32) -> Option<&Entry> {
        self.entries.get(body as usize).filter(|entry| entry.place != Place::Absent)
    }

    fn tree(&self, kind: Kind) -> &BoundsTree {
        match kind {
            Kind::Inertial => &self.moving,
            Kind::Environment => &self.environment,
        }
    }

    fn tree_mut(&mut self, kind: Kind) -> &mut BoundsTree {
        match kind {
            Kind::Inertial => &mut self.moving,
            Kind::Environment => &mut self.environment,
        }
    }

    /// Puts a body into the tree or list that its bounds require.
    fn place(&mut self, body: u32, margin: f64) {
        let Entry { tight, kind, .. } = self.entries[body as usize];
        let place = if !is_box(&tight) {
            Place::Nowhere
        } else if !(tight.min.is_finite() && tight.max.is_finite()) {
            self.unbounded.push(body);
            Place::Unbounded
        } else {
            Place::Leaf(self.tree_mut(kind).insert(body, tight.grown(margin)))
        };
        self.entries[body as usize].place = place;
    }

    /// Removes a body from its tree or list.
    fn displace(&mut self, body: u32) {
        let Entry { kind, place, .. } = self.entries[body as usize];
        match place {
            Place::Leaf(leaf) => self.tree_mut(kind).remove(leaf),
            Place::Unbounded => self.unbounded.retain(|&other| other != body),
            Place::Absent | Place::Nowhere => {}
        }
        self.entries[body as usize].place = Place::Nowhere;
    }
}

/// Returns whether bounds contain a point: no NaN, not inverted.
fn is_box(bounds: &Aabb) -> bool {
    bounds.min.cmple(bounds.max).all()
}
