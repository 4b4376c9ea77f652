//! The bodies that are moved together: the whole world, or the island of an impact.

use crate::bodies::BodySet;
use crate::collision::CollisionPipeline;
use crate::joints::JointSet;
use crate::math::Vec3;

/// Inertial bodies, and the pairs and joints they take part in; each list ascending.
#[derive(Clone, Debug, Default)]
pub(crate) struct Island {
    pub(crate) bodies: Vec<u32>,
    /// Positions in the list of near pairs.
    pub(crate) pairs: Vec<u32>,
    pub(crate) joints: Vec<u32>,
    /// Whether it is the whole world.
    whole: bool,
}

impl Island {
    /// Fills the island with all bodies that are computed, and the pairs and joints for whose bodies `is_computed`
    /// holds: those that have one of them.
    pub(crate) fn fill(
        &mut self,
        computed: &[u32],
        collision: &CollisionPipeline,
        joints: &JointSet,
        is_computed: impl Fn([u32; 2]) -> bool,
    ) {
        self.bodies.clear();
        self.bodies.extend(computed);
        self.pairs.clear();
        let near = 0..collision.near_len() as u32;
        self.pairs.extend(near.filter(|&at| is_computed(collision.near_bodies(at))));
        self.joints.clear();
        let held = |index: &u32| is_computed(joints.joints[*index as usize].bodies);
        self.joints.extend(joints.slots.iter().filter(held));
        self.whole = true;
    }

    /// Copies another island's pairs and joints, and the bodies for which `takes_part` holds.
    pub(crate) fn copy_filtered(&mut self, other: &Island, takes_part: impl Fn(u32) -> bool) {
        self.bodies.clear();
        self.bodies.extend(other.bodies.iter().filter(|&&body| takes_part(body)));
        self.pairs.clone_from(&other.pairs);
        self.joints.clone_from(&other.joints);
    }

    /// Returns whether each of two bodies is in the island or of the environment.
    #[inline]
    pub(crate) fn contains(&self, bodies: &BodySet, edge: [u32; 2]) -> bool {
        let inside = |&body: &u32| {
            !bodies.is_inertial(body as usize) || self.bodies.binary_search(&body).is_ok()
        };
        self.whole || edge.iter().all(inside)
    }
}

/// The pairs and joints of each body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Adjacency {
    starts: Vec<u32>,
    edges: Vec<Edge>,
    /// By body: whether it is already in the island that is being gathered.
    visited: Vec<bool>,
}

#[derive(Clone, Copy, Debug)]
enum Edge {
    Pair(u32),
    Joint(u32),
}

impl Adjacency {
    /// Lists the pairs and joints of every inertial body.
    pub(crate) fn build(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        joints: &JointSet,
    ) {
        let near = 0..collision.near_len() as u32;
        let pairs = near.map(|at| (Edge::Pair(at), collision.near_bodies(at)));
        let held = joints.slots.iter();
        let held = held.map(|index| (Edge::Joint(index), joints.joints[index as usize].bodies));
        let ends = pairs.chain(held).flat_map(|(edge, ends)| ends.map(|body| (edge, body)));
        let ends = ends.filter(|&(_, body)| bodies.is_inertial(body as usize));
        self.visited.clear();
        self.visited.resize(bodies.poses.len(), false);
        self.starts.clear();
        self.starts.resize(bodies.poses.len() + 2, 0);
        for (_, body) in ends.clone() {
            self.starts[body as usize + 2] += 1;
        }
        for at in 2..self.starts.len() {
            self.starts[at] += self.starts[at - 1];
        }
        self.edges.clear();
        self.edges.resize(self.starts[self.starts.len() - 1] as usize, Edge::Pair(0));
        for (edge, body) in ends {
            let at = &mut self.starts[body as usize + 1];
            self.edges[*at as usize] = edge;
            *at += 1;
        }
    }

    fn of(&self, body: u32) -> &[Edge] {
        let at = body as usize;
        &self.edges[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Returns whether a joint or a contact supports a body, so that it does not fly freely.
    pub(crate) fn is_supported(&self, collision: &CollisionPipeline, body: u32) -> bool {
        self.of(body).iter().any(|edge| match *edge {
            Edge::Joint(_) => true,
            Edge::Pair(at) => {
                let points = collision.near_pair(at as usize).contact.points();
                points.iter().any(|point| point.impulse != Vec3::ZERO)
            }
        })
    }

    /// Lists the pairs of some bodies, ascending.
    pub(crate) fn pairs_of(&self, bodies: &[u32], pairs: &mut Vec<u32>) {
        pairs.clear();
        for &body in bodies {
            let of_pairs = self.of(body).iter().filter_map(|edge| match *edge {
                Edge::Pair(position) => Some(position),
                Edge::Joint(_) => None,
            });
            pairs.extend(of_pairs);
        }
        pairs.sort_unstable();
        pairs.dedup();
    }

    /// Gathers the island of two bodies: those that contacts and joints connect, with all their pairs and joints. Pairs
    /// for which `meets` holds connect as well; bodies for which `moves` does not hold are left out.
    pub(crate) fn gather(
        &mut self,
        island: &mut Island,
        collision: &CollisionPipeline,
        joints: &JointSet,
        pair: [u32; 2],
        meets: impl Fn(u32) -> bool,
        moves: impl Fn(u32) -> bool,
    ) {
        island.bodies.clear();
        island.pairs.clear();
        island.joints.clear();
        for body in pair.into_iter().filter(|&body| moves(body)) {
            self.visit(island, body);
        }
        let mut next = 0;
        while next < island.bodies.len() {
            let body = island.bodies[next];
            next += 1;
            for at in self.starts[body as usize]..self.starts[body as usize + 1] {
                let ends = match self.edges[at as usize] {
                    Edge::Pair(position) => {
                        island.pairs.push(position);
                        let near = collision.near_pair(position as usize);
                        if !near.contact.has_points() && !meets(position) {
                            continue;
                        }
                        near.pair.bodies
                    }
                    Edge::Joint(index) => {
                        island.joints.push(index);
                        joints.joints[index as usize].bodies
                    }
                };
                for body in ends.into_iter().filter(|&body| moves(body)) {
                    self.visit(island, body);
                }
            }
        }
        for &body in &island.bodies {
            self.visited[body as usize] = false;
        }
        island.bodies.sort_unstable();
        for list in [&mut island.pairs, &mut island.joints] {
            list.sort_unstable();
            list.dedup();
        }
    }

    fn visit(&mut self, island: &mut Island, body: u32) {
        if !self.visited[body as usize] {
            self.visited[body as usize] = true;
            island.bodies.push(body);
        }
    }
}
