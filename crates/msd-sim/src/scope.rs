//! What is moved at once: the whole world, or the bodies that an impact concerns.

use crate::bodies::BodySet;
use crate::collision::CollisionPipeline;
use crate::joints::JointSet;
use crate::math::Vec3;
use crate::motion::Motion;

/// Inertial bodies, and the pairs and joints in which they take part; each list ascending.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    pub(crate) bodies: Vec<u32>,
    /// Positions in the collision pipeline's order.
    pub(crate) pairs: Vec<u32>,
    pub(crate) joints: Vec<u32>,
    /// Whether it is the whole world.
    whole: bool,
}

impl Scope {
    /// Everything there is.
    pub(crate) fn fill(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        joints: &JointSet,
    ) {
        self.bodies.clear();
        self.bodies.extend(&bodies.inertial);
        self.pairs.clear();
        self.pairs.extend(0..collision.len() as u32);
        self.joints.clear();
        self.joints.extend(joints.slots.iter());
        self.whole = true;
    }

    /// Takes over another's pairs and joints, and those of its bodies that are behind `time`.
    pub(crate) fn take_behind(&mut self, other: &Scope, motion: &Motion, time: f64) {
        self.bodies.clear();
        self.bodies.extend(other.bodies.iter().filter(|&&body| motion.clock(body) < time));
        self.pairs.clone_from(&other.pairs);
        self.joints.clone_from(&other.joints);
    }

    /// Whether both bodies of a tie are in it, or of the environment.
    #[inline]
    pub(crate) fn holds(&self, bodies: &BodySet, tie: [u32; 2]) -> bool {
        let inside = |&body: &u32| {
            !bodies.is_inertial(body as usize) || self.bodies.binary_search(&body).is_ok()
        };
        self.whole || tie.iter().all(inside)
    }
}

/// By body, the pairs and joints in which it takes part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Neighbours {
    starts: Vec<u32>,
    ties: Vec<Tie>,
    /// By body: whether it is in the scope that is being gathered.
    gathered: Vec<bool>,
}

#[derive(Clone, Copy, Debug)]
enum Tie {
    Pair(u32),
    Joint(u32),
}

impl Neighbours {
    /// Lists the ties of every inertial body.
    pub(crate) fn list(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        joints: &JointSet,
    ) {
        let pairs =
            collision.pairs().enumerate().map(|(at, pair)| (Tie::Pair(at as u32), pair.bodies));
        let held = joints.slots.iter();
        let held = held.map(|index| (Tie::Joint(index), joints.joints[index as usize].bodies));
        let ends = pairs.chain(held).flat_map(|(tie, ends)| ends.map(|body| (tie, body)));
        let ends = ends.filter(|&(_, body)| bodies.is_inertial(body as usize));
        self.gathered.clear();
        self.gathered.resize(bodies.poses.len(), false);
        self.starts.clear();
        self.starts.resize(bodies.poses.len() + 2, 0);
        for (_, body) in ends.clone() {
            self.starts[body as usize + 2] += 1;
        }
        for at in 2..self.starts.len() {
            self.starts[at] += self.starts[at - 1];
        }
        self.ties.clear();
        self.ties.resize(self.starts[self.starts.len() - 1] as usize, Tie::Pair(0));
        for (tie, body) in ends {
            let at = &mut self.starts[body as usize + 1];
            self.ties[*at as usize] = tie;
            *at += 1;
        }
    }

    fn of(&self, body: u32) -> &[Tie] {
        let at = body as usize;
        &self.ties[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Whether something else may carry or hold a body: it then does not fly freely.
    pub(crate) fn is_held(&self, collision: &CollisionPipeline, body: u32) -> bool {
        self.of(body).iter().any(|tie| match *tie {
            Tie::Joint(_) => true,
            Tie::Pair(at) => {
                let points = collision.pair(at as usize).points();
                points.iter().any(|point| point.impulse != Vec3::ZERO)
            }
        })
    }

    /// The pairs in which bodies take part, ascending.
    pub(crate) fn pairs_of(&self, bodies: &[u32], pairs: &mut Vec<u32>) {
        pairs.clear();
        for &body in bodies {
            let of_pairs = self.of(body).iter().filter_map(|tie| match *tie {
                Tie::Pair(position) => Some(position),
                Tie::Joint(_) => None,
            });
            pairs.extend(of_pairs);
        }
        pairs.sort_unstable();
        pairs.dedup();
    }

    /// Gathers the island of two bodies: those that contacts and joints connect, with all their ties.
    /// Pairs for which `meets` holds connect as well; bodies for which `moves` does not are left out.
    pub(crate) fn gather(
        &mut self,
        scope: &mut Scope,
        collision: &CollisionPipeline,
        joints: &JointSet,
        pair: [u32; 2],
        meets: impl Fn(u32) -> bool,
        moves: impl Fn(u32) -> bool,
    ) {
        scope.bodies.clear();
        scope.pairs.clear();
        scope.joints.clear();
        for body in pair.into_iter().filter(|&body| moves(body)) {
            self.enter(scope, body);
        }
        let mut next = 0;
        while next < scope.bodies.len() {
            let body = scope.bodies[next];
            next += 1;
            for at in self.starts[body as usize]..self.starts[body as usize + 1] {
                let ends = match self.ties[at as usize] {
                    Tie::Pair(position) => {
                        scope.pairs.push(position);
                        let pair = collision.pair(position as usize);
                        if pair.len == 0 && !meets(position) {
                            continue;
                        }
                        pair.bodies
                    }
                    Tie::Joint(index) => {
                        scope.joints.push(index);
                        joints.joints[index as usize].bodies
                    }
                };
                for body in ends.into_iter().filter(|&body| moves(body)) {
                    self.enter(scope, body);
                }
            }
        }
        for &body in &scope.bodies {
            self.gathered[body as usize] = false;
        }
        scope.bodies.sort_unstable();
        for list in [&mut scope.pairs, &mut scope.joints] {
            list.sort_unstable();
            list.dedup();
        }
    }

    fn enter(&mut self, scope: &mut Scope, body: u32) {
        if !self.gathered[body as usize] {
            self.gathered[body as usize] = true;
            scope.bodies.push(body);
        }
    }
}
