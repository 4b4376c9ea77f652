//! The constraint graph of contacts: no inertial body has two contacts of one color, so that the contacts of a color
//! can be solved in parallel, in lanes and on threads. A contact keeps its color for as long as it exists.

use super::contact_block::{AllF4, ContactBlock, NewContact};
use super::solver_bodies::DUMMY;
use super::solver_rows::{SolverRows, SweptContact};
use crate::bodies::BodySet;
use crate::collision::{ContactSet, PairList, Slot};

/// Number of colors. The colors used by a body are the bits of a word; the overflow color has no bit.
pub(crate) const COLORS: usize = 64;

/// The last color, for contacts that fit in no other: they are solved one after another.
pub(crate) const OVERFLOW: usize = COLORS - 1;

/// A set of contacts that share no inertial body.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Color {
    pub(crate) blocks: Vec<ContactBlock>,
    /// Rows of the blocks; none in the graph of exact contacts, whose problems have rows of their own.
    pub(crate) rows: Vec<SolverRows>,
    /// Number of contacts: lanes in use are contiguous from the first block's first lane on.
    len: usize,
}

/// The contacts of a world by color.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct ConstraintGraph {
    set: ContactSet,
    pub(crate) colors: Vec<Color>,
    /// By body + 1: the colors of its contacts, one bit each.
    used_colors: Vec<u64>,
    #[serde(skip)]
    check: ColorCheck,
}

impl Default for ConstraintGraph {
    fn default() -> Self {
        Self::new(ContactSet::default())
    }
}

impl ConstraintGraph {
    /// Creates the graph of a set.
    pub(crate) fn new(set: ContactSet) -> Self {
        Self {
            set,
            colors: vec![Color::default(); COLORS],
            used_colors: Vec::new(),
            check: ColorCheck::default(),
        }
    }
}

/// Returns block and lane of a slot.
fn block_and_lane(slot: Slot) -> (usize, usize) {
    let index = slot.index as usize;
    match slot.color as usize {
        OVERFLOW => (index, 0),
        _ => (index / 4, index % 4),
    }
}

/// Copies a lane of an element of a list to a lane of an element before it, or of the same.
fn copy_lane<T: Clone>(
    list: &mut [T],
    [(to, lane), (from, other)]: [(usize, usize); 2],
    copy: impl Fn(&mut T, usize, &T, usize),
) {
    if to == from {
        let same = list[from].clone();
        copy(&mut list[to], lane, &same, other);
    } else {
        let (before, rest) = list.split_at_mut(from);
        copy(&mut before[to], lane, &rest[0], other);
    }
}

impl ConstraintGraph {
    pub(crate) fn resize(&mut self, bodies: usize) {
        self.used_colors.resize(bodies.max(self.used_colors.len()), 0);
    }

    /// Returns whether an inertial body has a contact.
    pub(crate) fn has_contacts(&self, body: u32) -> bool {
        let index = body + 1;
        let overflow = &self.colors[OVERFLOW].blocks;
        self.used_colors.get(index as usize).is_some_and(|&used| used != 0)
            || overflow.iter().any(|block| block.bodies.as_flattened().contains(&index))
    }

    /// Adds a contact; `inertial` marks which of its two bodies are inertial.
    pub(crate) fn add(&mut self, new: &NewContact, inertial: [bool; 2]) -> Slot {
        let slot = self.allocate(new.bodies, inertial, Slot::NONE);
        self.insert(slot, new);
        slot
    }

    /// Starts the contact of a slot over, without points.
    pub(crate) fn insert(&mut self, slot: Slot, new: &NewContact) {
        let (block, rows, lane) = self.lane_mut(slot);
        block.insert(lane, new);
        if let Some(rows) = rows {
            rows.insert(lane, new);
        }
    }

    /// Adds a contact of another graph, in the color of its slot there, `preferred`, if that is free. The rows are those
    /// of the other graph, if both graphs have rows.
    pub(crate) fn transfer(&mut self, from: &Self, preferred: Slot, inertial: [bool; 2]) -> Slot {
        let (others, other) = from.block(preferred);
        let bodies = others.bodies.map(|side| side[other]);
        let slot = self.allocate(bodies, inertial, preferred);
        let (block, rows, lane) = self.lane_mut(slot);
        block.copy_lane(lane, others, other);
        if let (Some(rows), Some(others)) = (rows, from.rows(preferred)) {
            rows.copy_lane(lane, others, other);
        }
        slot
    }

    /// Allocates a slot, in the color of `preferred` if that is free.
    fn allocate(&mut self, bodies: [u32; 2], inertial: [bool; 2], preferred: Slot) -> Slot {
        let used = [0, 1].map(|side: usize| match inertial[side] {
            true => self.used_colors[bodies[side] as usize],
            false => 0,
        });
        let free: u64 = !(used[0] | used[1]) & !(1 << OVERFLOW);
        // Contacts with the environment are solved last in a sweep, so they have the final say.
        let color = match (free, inertial[0] && inertial[1]) {
            _ if preferred.is_assigned() && free >> preferred.color & 1 == 1 => {
                preferred.color as usize
            }
            (0, _) => OVERFLOW,
            (_, true) => free.trailing_zeros() as usize,
            (_, false) => 63 - free.leading_zeros() as usize,
        };
        if color != OVERFLOW {
            for (body, _) in bodies.into_iter().zip(inertial).filter(|(_, dynamic)| *dynamic) {
                self.used_colors[body as usize] |= 1 << color;
            }
        }
        let Color { blocks, rows, len } = &mut self.colors[color];
        let slot = Slot { set: self.set, color: color as u8, index: *len as u32 };
        let (block, _) = block_and_lane(slot);
        if block == blocks.len() {
            blocks.push(ContactBlock::default());
            if self.set == ContactSet::Swept {
                rows.push(SolverRows::default());
            }
        }
        *len += 1;
        slot
    }

    /// Removes a contact. The last contact of its color moves to its slot; returns the pair of the moved contact, if
    /// any.
    pub(crate) fn remove(&mut self, slot: Slot) -> Option<u32> {
        let (block, lane) = block_and_lane(slot);
        let color = &mut self.colors[slot.color as usize];
        if slot.color as usize != OVERFLOW {
            for side in 0..2 {
                let body = color.blocks[block].bodies[side][lane];
                self.used_colors[body as usize] &= !(1 << slot.color);
            }
        }
        color.len -= 1;
        let last = Slot { index: color.len as u32, ..slot };
        let (from, other) = block_and_lane(last);
        let mut moved = None;
        if last != slot {
            moved = Some(color.blocks[from].pairs[other]);
            let places = [(block, lane), (from, other)];
            copy_lane(&mut color.blocks, places, ContactBlock::copy_lane);
            if !color.rows.is_empty() {
                copy_lane(&mut color.rows, places, SolverRows::copy_lane);
            }
        }
        color.blocks[from].clear_lane(other);
        if let Some(rows) = color.rows.get_mut(from) {
            rows.clear_lane(other);
        }
        if other == 0 {
            color.blocks.truncate(from);
            color.rows.truncate(from);
        }
        moved
    }

    /// Removes the contact of a pair, if it has one.
    pub(crate) fn release(&mut self, pairs: &mut PairList, number: u32) {
        let slot = std::mem::replace(&mut pairs.all[number as usize].slot, Slot::NONE);
        if slot.is_assigned()
            && let Some(moved) = self.remove(slot)
        {
            pairs.all[moved as usize].slot = slot;
        }
    }

    /// Removes the contact of a pair, if it has one, and marks the pair to be checked in the next update.
    pub(crate) fn remove_contact(&mut self, pairs: &mut PairList, number: u32) {
        self.release(pairs, number);
        pairs.recheck(number);
    }

    /// Returns block and lane of a slot.
    pub(crate) fn block(&self, slot: Slot) -> (&ContactBlock, usize) {
        let (block, lane) = block_and_lane(slot);
        (&self.colors[slot.color as usize].blocks[block], lane)
    }

    /// Returns the rows of a slot's block, if this graph has rows.
    fn rows(&self, slot: Slot) -> Option<&SolverRows> {
        let (block, _) = block_and_lane(slot);
        self.colors[slot.color as usize].rows.get(block)
    }

    /// Returns the block of a slot, its rows if this graph has rows, and the lane in both.
    pub(crate) fn lane_mut(
        &mut self,
        slot: Slot,
    ) -> (&mut ContactBlock, Option<&mut SolverRows>, usize) {
        let (block, lane) = block_and_lane(slot);
        let Color { blocks, rows, .. } = &mut self.colors[slot.color as usize];
        (&mut blocks[block], rows.get_mut(block), lane)
    }

    /// Returns the swept contact in a slot. Panics if this graph has no rows.
    pub(crate) fn contact(&self, slot: Slot) -> SweptContact<'_> {
        let (block, lane) = block_and_lane(slot);
        let Color { blocks, rows, .. } = &self.colors[slot.color as usize];
        SweptContact { block: &blocks[block], rows: &rows[block], lane }
    }

    /// Returns block, rows and lane of the swept contact in a slot. Panics if this graph has no rows.
    pub(crate) fn contact_mut(
        &mut self,
        slot: Slot,
    ) -> (&mut ContactBlock, &mut SolverRows, usize) {
        let (block, lane) = block_and_lane(slot);
        let Color { blocks, rows, .. } = &mut self.colors[slot.color as usize];
        (&mut blocks[block], &mut rows[block], lane)
    }

    /// Panics if the slot of a contact's pair is not its place, or a swept block has no rows.
    pub(crate) fn check_slots(&self, pairs: &PairList) {
        for (color, Color { blocks, rows, len }) in (0..).zip(&self.colors) {
            let swept = if self.set == ContactSet::Swept { blocks.len() } else { 0 };
            assert_eq!(rows.len(), swept, "rows of color {color}");
            for index in 0..*len as u32 {
                let slot = Slot { set: self.set, color, index };
                let (block, lane) = block_and_lane(slot);
                let number = blocks[block].pairs[lane];
                assert!(pairs.all[number as usize].slot == slot, "the pair of {slot:?}");
            }
        }
    }

    /// Panics if a color other than the overflow holds an inertial body twice: the soundness of sweeps relies on it.
    pub(crate) fn check_colors(&mut self, bodies: &BodySet) {
        for (number, color) in self.colors.iter().enumerate().filter(|(at, _)| *at != OVERFLOW) {
            self.check.begin(number, bodies);
            self.check.add(color.blocks.iter().map(|block| block.bodies));
        }
    }
}

/// The check, in debug builds, that no inertial body is in two lanes of a color.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColorCheck {
    color: usize,
    stamp: u64,
    /// By body + 1: the stamp of the last color in which it was seen; [`SHARED`] for the environment and the dummy.
    seen: Vec<u64>,
}

/// The mark of bodies that may be in many lanes.
const SHARED: u64 = u64::MAX;

impl ColorCheck {
    /// Begins the check of a color; the first one resets the marks.
    pub(crate) fn begin(&mut self, color: usize, bodies: &BodySet) {
        (self.color, self.stamp) = (color, self.stamp + 1);
        self.seen.resize(bodies.poses.len() + 1, 0);
        if color == 0 {
            self.seen.fill(0);
            let fixed = bodies.environment.iter().map(|&body| body + 1);
            fixed.chain([DUMMY]).for_each(|index| self.seen[index as usize] = SHARED);
        }
    }

    /// Adds the bodies of blocks, by lane, as indices plus one.
    pub(crate) fn add(&mut self, blocks: impl Iterator<Item = [[u32; 4]; 2]>) {
        for index in blocks.flatten().flatten() {
            let seen = &mut self.seen[index as usize];
            if *seen != SHARED {
                assert!(*seen != self.stamp, "color {} holds body {} twice", self.color, index - 1);
                *seen = self.stamp;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Shape;
    use crate::math::Vec3;
    use crate::{BodyDef, World};

    /// A floor, and three balls.
    fn world() -> World {
        let mut world = World::default();
        let floor = Shape::half_space(Vec3::Z, 0.0).unwrap();
        world.add_body(BodyDef::environment(floor)).unwrap();
        for x in [0.0, 2.0, 4.0] {
            let ball = BodyDef::inertial(Shape::sphere(0.5).unwrap()).mass(1.0);
            world.add_body(ball.position(Vec3::X * x)).unwrap();
        }
        world
    }

    fn contact(pair: u32, a: u32, b: u32) -> NewContact {
        let bodies = [a + 1, b + 1];
        NewContact {
            bodies,
            pair,
            friction: 0.5,
            restitution: 0.0,
            slop: 0.0,
            touch_distance: 0.1,
            has_ball: false,
        }
    }

    /// Three balls on a floor that touch each other.
    fn graph(world: &World) -> ConstraintGraph {
        let mut graph = ConstraintGraph::default();
        graph.resize(5);
        for (pair, [a, b]) in [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3], [1, 3]].iter().enumerate() {
            let inertial = [*a, *b].map(|body| world.model.bodies.is_inertial(body as usize));
            graph.add(&contact(pair as u32, *a, *b), inertial);
        }
        graph
    }

    #[test]
    fn no_color_of_a_graph_holds_a_body_twice() {
        let world = world();
        graph(&world).check_colors(&world.model.bodies);
    }

    #[test]
    fn only_swept_contacts_have_rows() {
        let mut exact = ConstraintGraph::new(ContactSet::Exact);
        let mut swept = ConstraintGraph::new(ContactSet::Swept);
        exact.resize(5);
        swept.resize(5);
        let slot = exact.add(&contact(0, 1, 2), [true; 2]);
        let there = swept.transfer(&exact, slot, [true; 2]);
        exact.transfer(&swept, there, [true; 2]);
        let count = |graph: &ConstraintGraph| {
            let rows: usize = graph.colors.iter().map(|color| color.rows.len()).sum();
            (graph.colors.iter().map(|color| color.blocks.len()).sum::<usize>(), rows)
        };
        assert_eq!([count(&exact), count(&swept)], [(2, 0), (1, 1)]);
    }

    #[test]
    fn a_contact_that_moves_to_another_slot_keeps_its_rows() {
        let mut graph = ConstraintGraph::default();
        graph.resize(13);
        // One color: the contacts of six pairs of bodies.
        let slots: Vec<Slot> = (0..6)
            .map(|pair| {
                let new = contact(pair, 2 * pair, 2 * pair + 1);
                graph.add(&NewContact { friction: f64::from(pair), ..new }, [true; 2])
            })
            .collect();
        let friction = |graph: &ConstraintGraph, slot: Slot| {
            let SweptContact { block, rows, lane } = graph.contact(slot);
            (block.pairs[lane], rows.friction.0[lane])
        };
        // From another block, and within a block.
        for (removed, moved) in [(1, 5), (0, 4), (2, 3)] {
            assert_eq!(graph.remove(slots[removed]), Some(moved));
            assert_eq!(friction(&graph, slots[removed]), (moved, f64::from(moved)));
        }
        let Color { blocks, rows, .. } = &graph.colors[slots[0].color as usize];
        assert_eq!((blocks.len(), rows.len()), (1, 1));
        // The lane that was left is empty.
        assert_eq!((blocks[0].pairs[3], rows[0].friction.0[3]), (u32::MAX, 0.0));
    }

    #[test]
    #[should_panic(expected = "holds body 2 twice")]
    fn a_color_with_a_body_twice_is_found() {
        let world = world();
        let mut graph = graph(&world);
        // Two lanes of the color that the contact of balls 1 and 2 is in.
        let color = graph.colors.iter_mut().find(|color| {
            color.blocks.iter().any(|block| (0..4).any(|lane| block.pairs[lane] == 3))
        });
        let block = &mut color.unwrap().blocks[0];
        let free = (0..4).find(|&lane| block.pairs[lane] == u32::MAX).unwrap();
        block.insert(free, &contact(6, 0, 2));
        graph.check_colors(&world.model.bodies);
    }
}
