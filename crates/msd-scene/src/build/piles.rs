//! The check that bodies do not start in one place: every pair of them would be a contact, and the memory for those grows with
//! the square of their number.

use std::collections::HashMap;

use msd_sim::math::Vec3;
use msd_sim::{Body, BodyKind, Filter, World};

use crate::error::Fault;

/// Largest number of bodies of similar size with their centers in one cell. Bodies that do not overlap have at most 38 there: a
/// body contains a ball of some radius around its center, a cell is at most four of these radii wide, so that the balls lie in a
/// cube of six, and the densest packing fills 74 % of it: 6^3 * 0.74 / (4 pi / 3).
const MOST: u32 = 256;

/// A cell of a grid for bodies of one order of size.
#[derive(Clone, Copy, Debug)]
struct Cell {
    first: usize,
    filter: Filter,
    count: u32,
}

/// Rejects a world in which more than [`MOST`] bodies that collide with each other start in one place. `path_of` returns the path
/// of the table of the nth body.
pub(super) fn refuse_piles(world: &World, path_of: impl Fn(usize) -> String) -> Result<(), Fault> {
    let mut cells: HashMap<(i32, [i64; 3]), Cell> = HashMap::new();
    for (number, body) in world.bodies().enumerate() {
        if body.kind() != BodyKind::Inertial {
            continue;
        }
        let Some(collider) = body.colliders().next() else { continue };
        let filter = collider.filter();
        let cell = cells.entry(cell_of(&body)).or_insert(Cell { first: number, filter, count: 0 });
        if !cell.filter.allows(&filter) {
            continue;
        }
        cell.count += 1;
        if cell.count > MOST {
            let Vec3 { x, y, z } = body.position();
            let message = format!(
                "more than {MOST} bodies start within each other around ({x:.3}, {y:.3}, {z:.3}), the first one in {}: each pair of \
                 them would be a contact",
                path_of(cell.first)
            );
            let help = "spread them, for example by the `spacing` of an `array`, or let a `filter` keep them from colliding";
            return Err(Fault::of(&path_of(number), message).help(help));
        }
    }
    Ok(())
}

/// Returns the cell of a body: the order of its size, and the coordinates of the cell.
fn cell_of(body: &Body<'_>) -> (i32, [i64; 3]) {
    // The ball around its center may be half as wide as the body is thick.
    let radius = body.size();
    let order = radius.log2().floor() as i32;
    // Four times half of the least radius of this order.
    let side = 2.0_f64.powi(order + 1);
    let cell = (body.position() / side).floor().to_array();
    (order, cell.map(|coordinate| coordinate as i64))
}
