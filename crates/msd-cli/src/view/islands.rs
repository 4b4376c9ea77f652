//! Which bodies contacts and joints connect, of a frame: recordings do not say.

use std::collections::HashMap;

use msd_record::{BodyState, PairRecord};

use super::wire::Numbers;

/// For bodies that nothing moves.
const NONE: u32 = u32::MAX;

/// The island of each body, numbered in the order of their first bodies.
pub fn of(
    bodies: &[(u32, &BodyState)],
    pairs: &[(u32, u32, &PairRecord)],
    numbers: &Numbers,
) -> Vec<u32> {
    let places: HashMap<u32, u32> =
        bodies.iter().zip(0..).map(|((number, _), place)| (*number, place)).collect();
    // Each points towards the first of its island.
    let mut first: Vec<u32> = (0..bodies.len() as u32).collect();
    let touching = pairs.iter().map(|(a, b, _)| [*a, *b]);
    for [a, b] in touching.chain(numbers.joints.iter().map(|joint| [joint.a, joint.b])) {
        if !(numbers.is_inertial(a) && numbers.is_inertial(b)) {
            continue; // What does not move passes nothing on.
        }
        if let (Some(&a), Some(&b)) = (places.get(&a), places.get(&b)) {
            let (a, b) = (root(&mut first, a), root(&mut first, b));
            first[a.max(b) as usize] = a.min(b);
        }
    }
    let mut islands = vec![NONE; bodies.len()];
    let mut count = 0;
    for (place, (number, _)) in bodies.iter().enumerate() {
        if !numbers.is_inertial(*number) {
            continue;
        }
        let root = root(&mut first, place as u32) as usize;
        if root == place {
            islands[place] = count;
            count += 1;
        } else {
            islands[place] = islands[root];
        }
    }
    islands
}

fn root(first: &mut [u32], mut place: u32) -> u32 {
    while first[place as usize] != place {
        let next = first[place as usize];
        first[place as usize] = first[next as usize];
        place = next;
    }
    place
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use msd_record::{BodyInfo, BodyKey, Frame};
    use msd_scene::{Options, catalog};

    use super::*;

    /// A second answer to the same question: the engine's own islands, of its last substep. A frame also tells
    /// of pairs that touched earlier in the step, so that in motion an island here may be several there; in
    /// scenes at rest they are the same.
    #[test]
    fn islands_are_those_that_the_engine_solved() {
        for (name, steps) in [("pyramid", 60), ("arch", 60), ("chain", 40), ("bricks", 200)] {
            let file = catalog::find(name).unwrap().open(&Options::default()).unwrap();
            let mut simulation = file.build().unwrap();
            let world = simulation.world();
            let infos: Vec<BodyInfo> = world.bodies().map(|body| BodyInfo::of(&body, 0)).collect();
            let numbers = Numbers::new(infos.iter(), Some(world));
            for _ in 0..steps {
                simulation.step();
            }
            let frame = Frame::of(simulation.world());
            let bodies: Vec<_> =
                frame.states.iter().map(|state| (numbers.of(state.body).unwrap(), state)).collect();
            let pairs: Vec<_> = frame
                .contacts
                .iter()
                .map(|pair| (numbers.of(pair.a).unwrap(), numbers.of(pair.b).unwrap(), pair))
                .collect();
            let found = of(&bodies, &pairs, &numbers);
            let mut ours: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
            for ((number, _), island) in bodies.iter().zip(&found) {
                ours.entry(*island).or_default().insert(*number);
            }
            for island in simulation.world().islands() {
                let theirs: BTreeSet<u32> = island
                    .map(|id| numbers.of(BodyKey::from(id)).unwrap())
                    .filter(|number| numbers.is_inertial(*number))
                    .collect();
                let Some(first) = theirs.first() else { continue };
                let mine = &ours[&found[*first as usize]];
                assert!(theirs.is_subset(mine), "{name}: {theirs:?} and {mine:?}");
                assert!(theirs == *mine || name == "bricks", "{name}: {theirs:?} and {mine:?}");
            }
        }
    }
}
