//! The check that bodies do not start in one place: every pair of them would be a contact, and the memory for those grows with
//! the square of their number.

use std::collections::HashMap;

use msd_sim::math::Vec3;
use msd_sim::{Body, BodyKind, Filter, World};

use crate::error::Fault;

/// Largest number of bodies of similar size that all collide with each other and have their centers in one block of 2 x 2 x 2
/// cells; of bodies with filters, as many pairs may collide. Bodies that do not overlap have at most 177 there: a body contains a
/// ball of some radius around its center, a cell is at most four of these radii wide, so that the balls lie in a cube of ten, and
/// the densest packing fills 74 % of it: 10^3 * 0.74 / (4 pi / 3).
const MOST: u64 = 256;

/// A cell of a grid for bodies of one order of size: the order, and coordinates.
type Place = (i32, [i64; 3]);

/// The bodies with their centers in a cell.
#[derive(Clone, Debug)]
struct Cell {
    /// Number and position of the first one.
    first: usize,
    position: Vec3,
    /// Number of bodies by filter.
    filters: Vec<(Filter, u64)>,
}

impl Cell {
    fn add(&mut self, filter: Filter, count: u64) {
        match self.filters.iter_mut().find(|(known, _)| *known == filter) {
            Some((_, sum)) => *sum += count,
            None => self.filters.push((filter, count)),
        }
    }

    /// Returns the number of bodies.
    fn count(&self) -> u64 {
        self.filters.iter().map(|(_, count)| count).sum()
    }

    /// Returns the number of pairs that collide.
    fn pairs(&self) -> u64 {
        let mut pairs = 0;
        for (number, (filter, count)) in self.filters.iter().enumerate() {
            let own = count * (count - 1) / 2;
            pairs += if filter.allows(filter) { own } else { 0 };
            let others = self.filters[..number].iter().filter(|(other, _)| filter.allows(other));
            pairs += others.map(|(_, other)| count * other).sum::<u64>();
        }
        pairs
    }
}

/// Rejects a world in which more pairs of bodies start in one place and collide than [`MOST`] bodies have. `path_of` returns the
/// path of the table of the nth body.
pub(super) fn refuse_piles(world: &World, path_of: impl Fn(usize) -> String) -> Result<(), Fault> {
    let mut cells: HashMap<Place, Cell> = HashMap::new();
    for (first, body) in world.bodies().enumerate() {
        if body.kind() == BodyKind::Inertial {
            let position = body.position();
            let new = || Cell { first, position, filters: Vec::new() };
            let mut colliders = body.colliders();
            let touches = colliders.find(|collider| collider.is_enabled() && !collider.is_sensor());
            let Some(collider) = touches else { continue };
            cells.entry(place_of(&body)).or_insert_with(new).add(collider.filter(), 1);
        }
    }
    // A pile may lie across the boundary of cells: it is within a block of eight, of which one has an eighth of its bodies.
    let large = cells.iter().filter(|(_, cell)| cell.count() > MOST / 8);
    let all = &cells;
    let blocks = large.flat_map(|(&(order, at), _)| {
        let lower =
            move |corner: [i64; 3]| [0, 1, 2].map(|axis| at[axis].wrapping_sub(corner[axis]));
        corners().map(move |corner| block(all, (order, lower(corner))))
    });
    let piles = blocks.filter(|block| block.pairs() > MOST * (MOST - 1) / 2);
    let Some(pile) = piles.min_by_key(|block| block.first) else { return Ok(()) };
    let (bodies, pairs, Vec3 { x, y, z }) = (pile.count(), pile.pairs(), pile.position);
    let message = format!(
        "{bodies} bodies start within each other around ({x:.3}, {y:.3}, {z:.3}), this one first: each of {pairs} pairs would be a \
         contact"
    );
    let help = "spread them, for example by the `spacing` of an `array`, or let a `filter` keep them from colliding";
    Err(Fault::of(&path_of(pile.first), message).help(help))
}

/// Returns the corners of a cube of side one.
fn corners() -> impl Iterator<Item = [i64; 3]> {
    (0..8).map(|corner| [corner & 1, corner >> 1 & 1, corner >> 2])
}

/// Returns the bodies of a cell and of those next to it on its upper sides, as those of one cell.
fn block(cells: &HashMap<Place, Cell>, (order, at): Place) -> Cell {
    let mut block = Cell { first: usize::MAX, position: Vec3::ZERO, filters: Vec::new() };
    for corner in corners() {
        let Some(cell) =
            cells.get(&(order, [0, 1, 2].map(|axis| at[axis].wrapping_add(corner[axis]))))
        else {
            continue;
        };
        if cell.first < block.first {
            (block.first, block.position) = (cell.first, cell.position);
        }
        cell.filters.iter().for_each(|&(filter, count)| block.add(filter, count));
    }
    block
}

/// Returns the cell of a body.
fn place_of(body: &Body<'_>) -> Place {
    // The ball around its center may be half as wide as the body is thick.
    let radius = body.size();
    let order = radius.log2().floor() as i32;
    // Four times half of the least radius of this order.
    let side = 2.0_f64.powi(order + 1);
    let cell = (body.position() / side).floor().to_array();
    (order, cell.map(|coordinate| coordinate as i64))
}
