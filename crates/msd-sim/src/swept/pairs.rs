//! Near pairs of a swept world, kept while their grown bounds overlap, and what is known of them.

use super::block::Entrant;
use super::graph::{Graph, Seat};
use super::riders::Trip;
use crate::bodies::BodySet;
use crate::collision::closing_speed;
use crate::geometry::{Manifold, PairMemory, Workspace, contact_manifold};
use crate::math::Pose;
use crate::settings::Settings;

/// A contact's points are carried along while its bodies moved against each other by less than this fraction
/// of the smaller size. The gap at a point is then off by less than its square, the place of a point by it.
const REUSE: f64 = 0.02;

/// Points are looked for this fraction of the size farther than they are needed, so that they need not be looked
/// for again when the bodies get a little faster.
const SPARE: f64 = 0.02;

/// Bodies are never looked at from farther than this many times the smaller size: what is faster is stopped on its
/// way.
const FARTHEST: f64 = 1.0;

/// Depth that is left, as a fraction of the smaller size: contacts that hold are not pushed apart.
const SLOP: f64 = 5e-4;

/// Two bodies whose grown bounds overlap. What every look at it needs comes first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct NearPair {
    /// A has the smaller index.
    pub(crate) bodies: [u32; 2],
    /// Where its contact is, if it has points.
    pub(crate) seat: Seat,
    /// Whether the surfaces met in the last step.
    pub(crate) touching: bool,
    /// Whether `found_at` holds.
    known: bool,
    /// The smaller of the two sizes, m.
    size: f64,
    /// Of the two radii, m.
    reach: f64,
    /// With points: within which margin they were found. Without: how far apart the bodies were at least.
    room: f64,
    /// B seen from A when the points were found.
    found_at: Pose,
    /// Sum of both odometers less how far the bodies were from there, when it was last looked at.
    odometer: f64,
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
    memory: PairMemory,
}

/// What an update came to.
pub(crate) enum News {
    /// As before.
    Same,
    /// There are points, to be put into a block.
    Points(Manifold),
    /// There are none any more.
    Apart,
}

impl NearPair {
    pub(crate) fn new(a: u32, b: u32, bodies: &BodySet) -> Self {
        let (solid_a, solid_b) = (&bodies.solids[a as usize], &bodies.solids[b as usize]);
        Self {
            bodies: [a, b],
            seat: Seat::NONE,
            touching: false,
            known: false,
            friction: solid_a.material.friction_with(&solid_b.material),
            restitution: solid_a.material.restitution_with(&solid_b.material),
            size: solid_a.size.min(solid_b.size),
            reach: solid_a.radius.min(solid_b.radius),
            found_at: Pose::IDENTITY,
            odometer: 0.0,
            room: 0.0,
            memory: PairMemory::default(),
        }
    }

    pub(crate) fn entrant(&self, pair: u32, settings: &Settings) -> Entrant {
        Entrant {
            riders: self.bodies.map(|body| body + 1),
            pair,
            friction: self.friction,
            restitution: self.restitution,
            slop: SLOP * self.size,
            near: settings.margin * self.size,
        }
    }

    /// Forgets what was found.
    pub(crate) fn forget(&mut self) {
        self.known = false;
        self.memory = PairMemory::default();
    }

    pub(crate) fn refresh_materials(&mut self, bodies: &BodySet) {
        let [a, b] = self.bodies.map(|body| &bodies.solids[body as usize].material);
        self.friction = a.friction_with(b);
        self.restitution = a.restitution_with(b);
    }

    /// Up to which sum of odometers, with what both bodies travel in a step, a pair without points cannot get any.
    pub(crate) fn alarm(&self, settings: &Settings) -> f64 {
        match (self.seat.is_some(), self.known) {
            (true, _) => f64::INFINITY,
            (false, false) => f64::NEG_INFINITY,
            (false, true) => self.odometer + self.room - settings.margin * self.size,
        }
    }

    /// Up to which sum of odometers and of speeds points need not be found anew, in steps `dt`.
    pub(crate) fn calm(&self, settings: &Settings, dt: f64) -> (f64, f64) {
        if !self.known {
            return (f64::NEG_INFINITY, f64::NEG_INFINITY);
        }
        let speed = (self.room - settings.margin * self.size) / dt;
        (self.odometer + REUSE * self.size, speed)
    }

    /// Brings it up to date with the bodies' poses; a step `dt` is to follow.
    pub(crate) fn update(
        &mut self,
        bodies: &BodySet,
        trips: &[Trip],
        settings: &Settings,
        dt: f64,
        workspace: &mut Workspace,
    ) -> News {
        let [a, b] = self.bodies.map(|body| body as usize);
        let odometer = trips[a].odometer + trips[b].odometer;
        let poses = [&bodies.poses[a], &bodies.poses[b]];
        let relative = poses[0].relative(poses[1]);
        let most = FARTHEST * self.size;
        let margin = |closing: f64| settings.margin * self.size + (closing * dt).min(most);
        let touches = self.seat.is_some();
        // Whether what is known still holds after so much motion, within such a margin.
        let holds = |moved: f64, margin: f64| match touches {
            true => moved <= REUSE * self.size && margin <= self.room,
            false => moved + margin < self.room,
        };
        let mut closing = None;
        if self.known {
            // Twice the sine of half the angle, from the vector part of the difference.
            let turn =
                (relative.rotation * self.found_at.rotation.conjugate()).xyz().length() * 2.0;
            let moved = (relative.position - self.found_at.position).length() + turn * self.reach;
            let known = holds(moved, margin(trips[a].speed + trips[b].speed))
                || holds(moved, margin(*closing.insert(closing_speed(bodies, self.bodies))));
            if known {
                self.odometer = odometer - moved;
                return News::Same;
            }
        }
        let margin = margin(closing.unwrap_or_else(|| closing_speed(bodies, self.bodies)));
        let margin = margin + SPARE * self.size;
        let manifold = contact_manifold(
            &bodies.solids[a].shape,
            &bodies.solids[a].shape_pose(poses[0]),
            &bodies.solids[b].shape,
            &bodies.solids[b].shape_pose(poses[1]),
            margin,
            &mut self.memory,
            workspace,
        );
        self.known = true;
        self.found_at = relative;
        self.odometer = odometer;
        if manifold.is_empty() {
            self.room = self.memory.clearance().max(margin);
            if touches { News::Apart } else { News::Same }
        } else {
            self.room = margin;
            News::Points(manifold)
        }
    }
}

/// All near pairs: by number, and in the order of their bodies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    pub(crate) all: Vec<NearPair>,
    free: Vec<u32>,
    pub(crate) order: Vec<Listed>,
    next: Vec<Listed>,
}

/// A near pair in the order of bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    /// Smaller index first.
    pub(crate) key: (u32, u32),
    pub(crate) number: u32,
    /// See [`NearPair::alarm`]; infinite for a pair with points.
    pub(crate) alarm: f64,
}

impl Pairs {
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.free.clear();
        self.order.clear();
    }

    /// Drops the pairs of `dropped`, numbers ascending, and makes those of `found`, ascending and without doubles,
    /// that there are not yet. Neither has contact points.
    pub(crate) fn merge(
        &mut self,
        found: &[(u32, u32)],
        mut make: impl FnMut((u32, u32)) -> Option<NearPair>,
        dropped: &[u32],
    ) {
        if found.is_empty() && dropped.is_empty() {
            return;
        }
        let Self { all, free, order, next } = self;
        next.clear();
        let mut new = found.iter().copied().peekable();
        let mut put = |key: (u32, u32), next: &mut Vec<Listed>, free: &mut Vec<u32>| {
            let Some(pair) = make(key) else { return };
            let number = match free.pop() {
                Some(number) => {
                    all[number as usize] = pair;
                    number
                }
                None => {
                    all.push(pair);
                    all.len() as u32 - 1
                }
            };
            next.push(Listed { key, number, alarm: f64::NEG_INFINITY });
        };
        for &listed in order.iter() {
            let Listed { key, number, .. } = listed;
            while let Some(other) = new.next_if(|other| *other < key) {
                put(other, next, free);
            }
            let again = new.next_if_eq(&key).is_some();
            if dropped.binary_search(&number).is_err() {
                next.push(listed);
            } else {
                free.push(number);
                if again {
                    put(key, next, free);
                }
            }
        }
        for key in new {
            put(key, next, free);
        }
        std::mem::swap(order, next);
    }

    /// Numbers of a body's pairs.
    pub(crate) fn of(&self, body: u32) -> impl Iterator<Item = u32> + '_ {
        let of = move |listed: &&Listed| listed.key.0 == body || listed.key.1 == body;
        self.order.iter().filter(of).map(|listed| listed.number)
    }

    /// Lets a pair be looked at again.
    pub(crate) fn rouse(&mut self, number: u32) {
        let [a, b] = self.all[number as usize].bodies;
        if let Ok(at) = self.order.binary_search_by_key(&(a, b), |listed| listed.key) {
            self.order[at].alarm = f64::NEG_INFINITY;
        }
    }

    /// Takes a pair's contact out of the graph: it is looked at among the others from now on.
    pub(crate) fn unseat(&mut self, number: u32, graph: &mut Graph) {
        self.leave(number, graph);
        self.rouse(number);
    }

    /// Gives up a pair's seat.
    pub(crate) fn leave(&mut self, number: u32, graph: &mut Graph) {
        let seat = std::mem::replace(&mut self.all[number as usize].seat, Seat::NONE);
        if seat.is_some()
            && let Some(moved) = graph.remove(seat)
        {
            self.all[moved as usize].seat = seat;
        }
    }
}
