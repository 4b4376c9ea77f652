//! A binary tree of bounds that stays balanced when leaves are added and removed.

use crate::geometry::Aabb;
use crate::math::{Vec3, largest_axis};

/// No node.
const NONE: u32 = u32::MAX;

/// The tree is rebuilt when more than one in this many leaves was added or removed.
const DEGRADED_FRACTION: usize = 4;

/// A tree of the bounds of bodies.
///
/// A leaf is inserted where the tree's surface grows least. The heights of two siblings never differ by more than one
/// (Adelson-Velsky and Landis), so the depth is at most 1.44 log2 of the number of leaves, and recursion is safe.
/// Balance costs compactness: after many changes the tree should be rebuilt, see [`BoundsTree::rebuild_if_degraded`].
#[derive(Clone, Debug)]
pub(super) struct BoundsTree {
    nodes: Vec<Node>,
    root: u32,
    /// First of the unused nodes, each of which has the next as its parent.
    free: u32,
    /// Number of leaves, and number of leaves added or removed since the tree was built.
    count: usize,
    changes: usize,
    /// Number of leaves whose bounds were changed since then.
    enlarged: usize,
    /// Buffer for rebuilding.
    leaves: Vec<Leaf>,
}

/// A leaf waiting to be inserted.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    bounds: Aabb,
    /// Twice the center.
    middle: Vec3,
    body: u32,
}

/// A node: one cache line.
#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Aabb,
    parent: u32,
    /// In a leaf: none, and the body.
    children: [u32; 2],
    /// 0 for a leaf, [`NONE`] for an unused node.
    height: u32,
}

impl Default for BoundsTree {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            root: NONE,
            free: NONE,
            count: 0,
            changes: 0,
            enlarged: 0,
            leaves: Vec::new(),
        }
    }
}

impl BoundsTree {
    /// Returns the distance of the farthest leaf from the root, in nodes.
    pub(super) fn depth(&self) -> usize {
        self.node(self.root).map_or(0, |node| node.height as usize)
    }

    /// Returns the bounds with which a leaf was inserted.
    pub(super) fn leaf_bounds(&self, leaf: u32) -> &Aabb {
        &self.nodes[leaf as usize].bounds
    }

    /// Adds a leaf and returns its node, valid until it is removed.
    pub(super) fn insert(&mut self, body: u32, bounds: Aabb) -> u32 {
        self.count += 1;
        self.changes += 1;
        let leaf = self.allocate(Node { bounds, parent: NONE, children: [NONE, body], height: 0 });
        if self.root == NONE {
            self.root = leaf;
            return leaf;
        }
        let sibling = self.best_sibling(&bounds);
        let Node { bounds: other, parent: above, height, .. } = self.nodes[sibling as usize];
        let joint = self.allocate(Node {
            bounds: bounds.union(&other),
            parent: above,
            children: [sibling, leaf],
            height: height + 1,
        });
        self.nodes[sibling as usize].parent = joint;
        self.nodes[leaf as usize].parent = joint;
        self.replace_child(above, sibling, joint);
        self.repair(above);
        leaf
    }

    /// Removes a leaf.
    pub(super) fn remove(&mut self, leaf: u32) {
        self.count -= 1;
        self.changes += 1;
        let parent = self.nodes[leaf as usize].parent;
        self.release(leaf);
        let Some(&Node { children, parent: above, .. }) = self.node(parent) else {
            self.root = NONE;
            return;
        };
        let sibling = if children[0] == leaf { children[1] } else { children[0] };
        self.nodes[sibling as usize].parent = above;
        self.replace_child(above, parent, sibling);
        self.release(parent);
        self.repair(above);
    }

    /// Changes the bounds of a leaf in place. Its ancestors grow but do not shrink: the tree should be rebuilt once
    /// most leaves were changed.
    pub(super) fn enlarge(&mut self, leaf: u32, bounds: Aabb) {
        self.enlarged += 1;
        self.nodes[leaf as usize].bounds = bounds;
        let mut above = self.nodes[leaf as usize].parent;
        while let Some(node) = self.nodes.get_mut(above as usize) {
            if node.bounds.contains(&bounds) {
                break;
            }
            node.bounds = node.bounds.union(&bounds);
            above = node.parent;
        }
    }

    /// Rebuilds the tree if enough leaves were added or removed to make it worthwhile, and calls `moved` with every
    /// body and its new leaf.
    pub(super) fn rebuild_if_degraded(&mut self, mut moved: impl FnMut(u32, u32)) {
        if self.changes < self.count / DEGRADED_FRACTION && self.enlarged < self.count {
            return;
        }
        let mut leaves = std::mem::take(&mut self.leaves);
        leaves.clear();
        leaves.extend(self.nodes.iter().filter(|node| node.height == 0).map(|node| Leaf {
            bounds: node.bounds,
            middle: node.bounds.min + node.bounds.max,
            body: node.children[1],
        }));
        self.nodes.clear();
        (self.free, self.changes, self.enlarged) = (NONE, 0, 0);
        self.root = if leaves.is_empty() { NONE } else { self.build(&mut leaves, NONE) };
        // Cleared, so that a copy of the tree need not copy it.
        leaves.clear();
        self.leaves = leaves;
        for (index, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.height == 0) {
            moved(node.children[1], index as u32);
        }
    }

    /// Calls `visit` for every body whose leaf overlaps `bounds`.
    pub(super) fn query(&self, bounds: &Aabb, visit: &mut impl FnMut(u32)) {
        if self.root != NONE {
            self.query_below(self.root, bounds, visit);
        }
    }

    /// Calls `visit` once for every two bodies of this tree whose leaves overlap.
    pub(super) fn pairs_within(&self, visit: &mut impl FnMut(u32, u32)) {
        if self.root != NONE {
            self.pairs_below(self.root, visit);
        }
    }

    /// Calls `visit` for every body of this tree and every body of `other` whose leaves overlap.
    pub(super) fn pairs_with(&self, other: &Self, visit: &mut impl FnMut(u32, u32)) {
        if let (Some(a), Some(b)) = (self.node(self.root), other.node(other.root)) {
            self.pairs_between(a, other, b, visit);
        }
    }

    /// Calls `visit` for the bodies of leaves that cost at most `limit`, which `visit` may lower, the cheaper child of each
    /// node first. `cost` is that of bounds: never more than that of what they contain.
    pub(super) fn search(
        &self,
        cost: &impl Fn(&Aabb) -> f64,
        limit: &mut f64,
        visit: &mut impl FnMut(u32, &mut f64),
    ) {
        if let Some(root) = self.node(self.root)
            && cost(&root.bounds) <= *limit
        {
            self.search_below(root, cost, limit, visit);
        }
    }

    fn search_below(
        &self,
        node: &Node,
        cost: &impl Fn(&Aabb) -> f64,
        limit: &mut f64,
        visit: &mut impl FnMut(u32, &mut f64),
    ) {
        if node.height == 0 {
            return visit(node.children[1], limit);
        }
        let [a, b] = node.children.map(|child| &self.nodes[child as usize]);
        let (of_a, of_b) = (cost(&a.bounds), cost(&b.bounds));
        let order = if of_b < of_a { [(b, of_b), (a, of_a)] } else { [(a, of_a), (b, of_b)] };
        for (child, of_child) in order {
            if of_child <= *limit {
                self.search_below(child, cost, limit, visit);
            }
        }
    }

    fn node(&self, index: u32) -> Option<&Node> {
        self.nodes.get(index as usize)
    }

    /// Halves the leaves across their longest spread, recursively: perfectly balanced, and in the order in which the
    /// nodes will be visited.
    fn build(&mut self, leaves: &mut [Leaf], parent: u32) -> u32 {
        let index = self.nodes.len() as u32;
        let first = leaves[0];
        let node = Node { bounds: first.bounds, parent, children: [NONE, first.body], height: 0 };
        self.nodes.push(node);
        if leaves.len() > 1 {
            let (low, high) =
                leaves.iter().fold((first.middle, first.middle), |(low, high), leaf| {
                    (low.min(leaf.middle), high.max(leaf.middle))
                });
            let axis = largest_axis(high - low);
            let half = leaves.len() / 2;
            leaves.select_nth_unstable_by(half, |a, b| a.middle[axis].total_cmp(&b.middle[axis]));
            let (below, above) = leaves.split_at_mut(half);
            let children = [self.build(below, index), self.build(above, index)];
            self.nodes[index as usize].children = children;
            self.refit(index);
        }
        index
    }

    fn query_below(&self, index: u32, bounds: &Aabb, visit: &mut impl FnMut(u32)) {
        let node = &self.nodes[index as usize];
        if !node.bounds.overlaps(bounds) {
            return;
        }
        let [first, second] = node.children;
        if node.height == 0 {
            visit(second);
        } else {
            self.query_below(first, bounds, visit);
            self.query_below(second, bounds, visit);
        }
    }

    fn pairs_below(&self, index: u32, visit: &mut impl FnMut(u32, u32)) {
        let node = &self.nodes[index as usize];
        if node.height == 0 {
            return;
        }
        let [first, second] = node.children;
        self.pairs_below(first, visit);
        self.pairs_below(second, visit);
        let [a, b] = node.children.map(|child| &self.nodes[child as usize]);
        self.pairs_between(a, self, b, visit);
    }

    fn pairs_between(&self, a: &Node, other: &Self, b: &Node, visit: &mut impl FnMut(u32, u32)) {
        if !meet(&a.bounds, &b.bounds) {
            return;
        }
        if a.height == 0 && b.height == 0 {
            visit(a.children[1], b.children[1]);
        } else if a.height >= b.height {
            // The higher node is split, as it is likely to be the larger.
            for child in a.children {
                self.pairs_between(&self.nodes[child as usize], other, b, visit);
            }
        } else {
            for child in b.children {
                self.pairs_between(a, other, &other.nodes[child as usize], visit);
            }
        }
    }

    /// Returns the node beside which a leaf costs least: the surface of their common parent, plus the growth of all
    /// nodes above.
    fn best_sibling(&self, bounds: &Aabb) -> u32 {
        let mut best = self.root;
        while let Some(&Node { bounds: here, children, height: 1.., .. }) = self.node(best) {
            let joined = here.union(bounds).surface();
            let inherited = joined - here.surface();
            let cost = children.map(|child| {
                let child = &self.nodes[child as usize];
                let joined = child.bounds.union(bounds).surface();
                let saved = if child.height == 0 { 0.0 } else { child.bounds.surface() };
                (joined - saved + inherited, child.height)
            });
            if joined < cost[0].0 && joined < cost[1].0 {
                break;
            }
            // Among equals the lower one, so that a pile of equal boxes needs little repair.
            best = children[usize::from(cost[1] < cost[0])];
        }
        best
    }

    /// Restores bounds and balance from `index` up to the root.
    fn repair(&mut self, mut index: u32) {
        while index != NONE {
            let before = self.nodes[index as usize];
            let top = self.balance(index);
            self.refit(top);
            let after = &self.nodes[top as usize];
            if top == index && after.bounds == before.bounds && after.height == before.height {
                break;
            }
            index = after.parent;
        }
    }

    /// Rotates where a child is higher than the other by two: it takes its parent's place, and the parent takes one of
    /// its children in exchange. Returns the node now at the top.
    fn balance(&mut self, index: u32) -> u32 {
        let [first, second] = self.nodes[index as usize].children;
        let height = |i: u32| self.nodes[i as usize].height;
        let (low, high) = if height(first) + 1 < height(second) {
            (first, second)
        } else if height(second) + 1 < height(first) {
            (second, first)
        } else {
            return index;
        };
        let [p, q] = self.nodes[high as usize].children;
        let joined = |i: u32| {
            self.nodes[i as usize].bounds.union(&self.nodes[low as usize].bounds).surface()
        };
        // The lower grandchild goes down; of equals, the one that leaves the smaller box.
        let q_goes = height(q) < height(p) || (height(q) == height(p) && joined(q) < joined(p));
        let (stays, goes) = if q_goes { (p, q) } else { (q, p) };
        let above = self.nodes[index as usize].parent;
        self.replace_child(above, index, high);
        self.nodes[high as usize].parent = above;
        self.nodes[high as usize].children = [index, stays];
        self.nodes[index as usize].parent = high;
        self.nodes[index as usize].children = [low, goes];
        self.nodes[goes as usize].parent = index;
        self.refit(index);
        high
    }

    /// Updates bounds and height from the children.
    fn refit(&mut self, index: u32) {
        let [a, b] = self.nodes[index as usize].children.map(|child| &self.nodes[child as usize]);
        let (bounds, height) = (a.bounds.union(&b.bounds), a.height.max(b.height) + 1);
        let node = &mut self.nodes[index as usize];
        (node.bounds, node.height) = (bounds, height);
    }

    fn replace_child(&mut self, parent: u32, old: u32, new: u32) {
        match self.nodes.get_mut(parent as usize) {
            Some(node) => node.children[usize::from(node.children[1] == old)] = new,
            None => self.root = new,
        }
    }

    fn allocate(&mut self, node: Node) -> u32 {
        let index = self.free;
        match self.nodes.get_mut(index as usize) {
            Some(place) => {
                self.free = place.parent;
                *place = node;
                index
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        }
    }

    fn release(&mut self, index: u32) {
        self.nodes[index as usize].parent = self.free;
        self.nodes[index as usize].height = NONE;
        self.free = index;
    }
}

/// Returns [`Aabb::overlaps`] without branches, which would be unpredictable here.
#[inline]
fn meet(a: &Aabb, b: &Aabb) -> bool {
    (a.min.x <= b.max.x)
        & (b.min.x <= a.max.x)
        & (a.min.y <= b.max.y)
        & (b.min.y <= a.max.y)
        & (a.min.z <= b.max.z)
        & (b.min.z <= a.max.z)
}

impl Aabb {
    /// Returns a quarter of the surface area.
    fn surface(&self) -> f64 {
        let d = self.max - self.min;
        0.5 * (d.x * (d.y + d.z) + d.y * d.z)
    }
}
