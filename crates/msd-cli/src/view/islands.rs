//! The islands of a frame, found from its contacts and joints: recordings do not store them.

use std::collections::HashMap;

use msd_record::{BodyState, PairRecord};

use super::body_table::BodyTable;

/// The island index of environment bodies.
const NONE: u32 = u32::MAX;

/// Returns the island index of each body. Islands are numbered in the order of their first bodies.
pub fn find(
    bodies: &[(u32, &BodyState)],
    pairs: &[(u32, u32, &PairRecord)],
    table: &BodyTable,
) -> Vec<u32> {
    let rows: HashMap<u32, u32> =
        bodies.iter().zip(0..).map(|((index, _), row)| (*index, row)).collect();
    // A union-find forest whose roots are the first bodies of their islands.
    let mut first: Vec<u32> = (0..bodies.len() as u32).collect();
    let touching = pairs.iter().map(|(a, b, _)| [*a, *b]);
    for [a, b] in touching.chain(table.joints.iter().map(|joint| [joint.a, joint.b])) {
        if !(table.is_inertial(a) && table.is_inertial(b)) {
            continue; // Environment bodies do not connect islands.
        }
        if let (Some(&a), Some(&b)) = (rows.get(&a), rows.get(&b)) {
            let (a, b) = (root(&mut first, a), root(&mut first, b));
            first[a.max(b) as usize] = a.min(b);
        }
    }
    let mut islands = vec![NONE; bodies.len()];
    let mut count = 0;
    for (row, (index, _)) in bodies.iter().enumerate() {
        if !table.is_inertial(*index) {
            continue;
        }
        let root = root(&mut first, row as u32) as usize;
        if root == row {
            islands[row] = count;
            count += 1;
        } else {
            islands[row] = islands[root];
        }
    }
    islands
}

/// Returns the root of a row, halving the path to it.
fn root(first: &mut [u32], mut row: u32) -> u32 {
    while first[row as usize] != row {
        let next = first[row as usize];
        first[row as usize] = first[next as usize];
        row = next;
    }
    row
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use msd_record::{BodyInfo, BodyKey, Frame};
    use msd_scene::{Options, catalog};

    use super::*;

    /// Compares with the engine's own islands of its last substep. A frame also lists pairs that touched earlier in the
    /// step, so in motion one island here may be several there; in scenes at rest they are the same.
    #[test]
    fn islands_match_those_of_the_engine() {
        for (name, steps) in [("pyramid", 60), ("arch", 60), ("chain", 40), ("bricks", 200)] {
            let file = catalog::find(name).unwrap().open(&Options::default()).unwrap();
            let mut simulation = file.build().unwrap();
            let world = simulation.world();
            let infos: Vec<BodyInfo> = world.bodies().map(|body| BodyInfo::of(&body, 0)).collect();
            let table = BodyTable::new(infos.iter(), Some(world));
            for _ in 0..steps {
                simulation.step();
            }
            let frame = Frame::of(simulation.world());
            let bodies: Vec<_> = frame
                .states
                .iter()
                .map(|state| (table.index_of(state.body).unwrap(), state))
                .collect();
            let pairs: Vec<_> = frame
                .contacts
                .iter()
                .map(|pair| {
                    (table.index_of(pair.a).unwrap(), table.index_of(pair.b).unwrap(), pair)
                })
                .collect();
            let found = find(&bodies, &pairs, &table);
            let mut ours: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
            for ((index, _), island) in bodies.iter().zip(&found) {
                ours.entry(*island).or_default().insert(*index);
            }
            for island in simulation.world().islands() {
                let theirs: BTreeSet<u32> = island
                    .map(|id| table.index_of(BodyKey::from(id)).unwrap())
                    .filter(|index| table.is_inertial(*index))
                    .collect();
                let Some(first) = theirs.first() else { continue };
                let mine = &ours[&found[*first as usize]];
                assert!(theirs.is_subset(mine), "{name}: {theirs:?} and {mine:?}");
                assert!(theirs == *mine || name == "bricks", "{name}: {theirs:?} and {mine:?}");
            }
        }
    }
}
