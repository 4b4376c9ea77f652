//! Which bodies are near each other: bounds trees, so that not every pair must be looked at.

use super::bounds_tree::BoundsTree;
use crate::geometry::Aabb;

/// Whether a body can be moved by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Moved by forces: it may touch every other body.
    Moving,
    /// Not moved by forces: two of these never form a pair.
    Environment,
}

/// The bounds of all bodies, and which of them overlap.
///
/// Bodies are named by an index; memory grows with the largest. Bounds that are not finite on some
/// side are compared with all others, so there should be few; bounds that hold a NaN or whose `min`
/// exceeds their `max` overlap nothing.
///
/// ```
/// use msd_sim::collision::{BroadPhase, Kind};
/// use msd_sim::geometry::Shape;
/// use msd_sim::math::{Pose, Vec3};
/// let mut bodies = BroadPhase::default();
/// let ground = Shape::half_space(Vec3::Z, 0.0)?;
/// let ball = Shape::sphere(0.5)?;
/// bodies.insert(0, Kind::Environment, ground.bounds(&Pose::IDENTITY));
/// bodies.insert(1, Kind::Moving, ball.bounds(&Pose::at(Vec3::new(0.0, 0.0, 1.0))));
/// bodies.insert(2, Kind::Moving, ball.bounds(&Pose::at(Vec3::new(0.0, 0.0, 4.0))));
/// bodies.update(2, ball.bounds(&Pose::at(Vec3::new(0.0, 0.9, 1.0))));
/// let mut pairs = Vec::new();
/// bodies.find_pairs(&mut pairs);
/// assert_eq!(pairs, [(0, 1), (0, 2), (1, 2)]);
/// # Ok::<(), msd_sim::error::ShapeError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct BroadPhase {
    entries: Vec<Entry>,
    /// Environment bodies stand still: their tree is not disturbed by those that move.
    moving: BoundsTree,
    environment: BoundsTree,
    /// Bodies whose bounds are infinite, in no particular order.
    unbounded: Vec<u32>,
    count: usize,
}

impl BroadPhase {
    /// How many bodies there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a body, or gives one that is there another kind and other bounds.
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

    /// Takes a body out. Whether it was there.
    pub fn remove(&mut self, body: u32) -> bool {
        let present = self.entry(body).is_some();
        if present {
            self.displace(body);
            self.entries[body as usize] = Entry::ABSENT;
            self.count -= 1;
        }
        present
    }

    /// Tells where a body is now, or where it may come within the step. Whether it is there at all.
    ///
    /// Cheap as long as it stays within its margin, an eighth of its size.
    pub fn update(&mut self, body: u32, bounds: Aabb) -> bool {
        let Some(&Entry { kind, place, .. }) = self.entry(body) else { return false };
        self.entries[body as usize].tight = bounds;
        let margin = MARGIN * (bounds.max - bounds.min).max_element();
        if let Place::Leaf(leaf) = place {
            let fat = self.tree(kind).leaf_bounds(leaf);
            // A box that has shrunk, since its body was faster, must not stay as large as it was.
            if fat.contains(&bounds) && bounds.grown(SLACK * margin).contains(fat) {
                return true;
            }
        }
        self.displace(body);
        self.place(body, margin);
        true
    }

    /// The same, but takes the bounds as they are: they were grown already, and a body is told of when it leaves
    /// them.
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

    /// Builds trees anew that have become slow.
    pub(crate) fn rebuild(&mut self) {
        let entries = &mut self.entries;
        for tree in [&mut self.moving, &mut self.environment] {
            tree.rebuild_if_worn(|body, leaf| entries[body as usize].place = Place::Leaf(leaf));
        }
    }

    /// Whether the bounds last given for two bodies share a point.
    pub(crate) fn overlap(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|body| &self.entries[body as usize]);
        a.tight.overlaps(&b.tight)
    }

    /// The bounds last given for a body.
    pub fn bounds(&self, body: u32) -> Option<Aabb> {
        self.entry(body).map(|entry| entry.tight)
    }

    /// Every two bodies whose bounds share a point, at least one of which moves: the smaller index
    /// first, in ascending order. `pairs` is overwritten.
    ///
    /// Depends on the present bounds only, not on how they came to be.
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
            if *kind == Kind::Moving {
                self.environment.query(tight, &mut |b| visit(a, b));
            }
            for &b in &self.unbounded[..i] {
                if *kind == Kind::Moving || entries[b as usize].kind == Kind::Moving {
                    visit(a, b);
                }
            }
        }
        pairs.sort_unstable();
    }

    /// Calls `visit` once for every body, of either kind, whose bounds share a point with `bounds`, in
    /// no particular order.
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

    /// How many steps the farthest body is from the root of its tree: at most
    /// `1.45 log2(len() + 2)`.
    pub fn depth(&self) -> usize {
        self.moving.depth().max(self.environment.depth())
    }
}

/// What a body's bounds grow by where they have left the tree's, as a part of their largest extent.
const MARGIN: f64 = 0.125;

/// How many margins a box in the tree may be larger than the body's on each side.
const SLACK: f64 = 4.0;

/// What is known of a body.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// As it was given.
    tight: Aabb,
    kind: Kind,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// There is no such body.
    Absent,
    /// A body without proper bounds.
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
            Kind::Moving => &self.moving,
            Kind::Environment => &self.environment,
        }
    }

    fn tree_mut(&mut self, kind: Kind) -> &mut BoundsTree {
        match kind {
            Kind::Moving => &mut self.moving,
            Kind::Environment => &mut self.environment,
        }
    }

    /// Puts a body where its bounds belong.
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

    /// Takes a body from where it is.
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

/// Whether it holds a point: no NaN, nothing inside out.
fn is_box(bounds: &Aabb) -> bool {
    bounds.min.cmple(bounds.max).all()
}
