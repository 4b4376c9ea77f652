//! Bodies that have left the rest of their scene: that fall past everything which could catch them, or drift away for ever.

use msd_record::{BodyKey, Frame};
use msd_scene::Scene;
use msd_sim::geometry::{Aabb, Shape};
use msd_sim::math::{Pose, Vec3};
use msd_sim::{Body, BodyKind, Filter, World};

/// What is known of a body, and where it was last.
#[derive(Clone, Debug)]
struct Member {
    key: BodyKey,
    /// The shapes that can touch others, their poses in the frame of the center of mass, and their filters.
    parts: Vec<(Shape, Pose, Filter)>,
    mass: f64,
    gravity_scale: f64,
    /// Whether it can catch falling bodies: an environment body, or jointed to one.
    holds: bool,
    inertial: bool,
    start: Vec3,
    pose: Pose,
    velocity: Vec3,
    /// Position where it began to fall past everything.
    left_at: Option<Vec3>,
}

/// The bodies of a world, observed to tell which of them have left the scene.
#[derive(Clone, Debug, Default)]
pub struct Departures {
    members: Vec<Option<Member>>,
    /// Gravity that the scene's potentials add to that of the settings, m/s^2.
    uniform: Vec3,
    gravity: Vec3,
    /// Diagonal of the bounds of all bodies that could move at the start, m.
    span: f64,
}

/// A body that has left the scene.
#[derive(Clone, Debug)]
pub struct Departure {
    pub body: BodyKey,
    /// How far it is below everything that could catch it, or from every other body, m.
    pub distance: f64,
    pub kind: DepartureKind,
}

/// The way in which a body left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepartureKind {
    /// Gravity pulls it away from everything.
    Fell,
    /// A kinematic body keeps its velocity.
    Drove,
    /// An inertial body without gravity flew off.
    Flew,
}

impl Departures {
    /// Starts to observe a world.
    pub fn new(scene: &Scene, world: &World) -> Self {
        let uniform = scene.potential.iter().filter_map(|potential| potential.acceleration);
        let uniform = uniform.map(|[x, y, z]| Vec3::new(x, y, z)).sum();
        let mut departures = Self { uniform, ..Self::default() };
        for body in world.bodies() {
            departures.add(&body);
        }
        departures.hold_by_joints(world);
        let moving = departures.members.iter().flatten().filter(|member| member.can_move());
        let bounds = moving.filter_map(Member::bounds).reduce(|all, one| all.union(&one));
        departures.span = bounds.map_or(0.0, |bounds| (bounds.max - bounds.min).length());
        departures
    }

    /// Adds a body.
    pub fn add(&mut self, body: &Body<'_>) {
        let (index, pose) = (body.id().index(), body.pose());
        if self.members.len() <= index {
            self.members.resize(index + 1, None);
        }
        self.members[index] = Some(Member {
            key: body.id().into(),
            parts: body
                .colliders()
                .filter(|collider| collider.is_enabled() && !collider.is_sensor())
                .map(|part| (part.shape().clone(), part.place(), part.filter()))
                .collect(),
            mass: body.mass(),
            gravity_scale: body.gravity_scale(),
            holds: body.kind() == BodyKind::Environment,
            inertial: body.kind() == BodyKind::Inertial,
            start: pose.position,
            pose,
            velocity: body.linear_velocity(),
            left_at: None,
        });
    }

    /// Lets bodies hold that are jointed to those that do.
    fn hold_by_joints(&mut self, world: &World) {
        let mut joints: Vec<[usize; 2]> =
            world.joints().map(|(_, def)| def.ends().map(|(body, _)| body.index())).collect();
        loop {
            let before = joints.len();
            joints.retain(|ends| {
                let holds =
                    ends.iter().any(|&end| self.members[end].as_ref().is_some_and(|m| m.holds));
                if holds {
                    ends.iter().for_each(|&end| {
                        self.members[end].iter_mut().for_each(|member| member.holds = true);
                    });
                }
                !holds
            });
            if joints.len() == before {
                return;
            }
        }
    }

    /// Observes a step with the gravity of the world's settings, m/s^2.
    pub fn observe(&mut self, frame: &Frame, gravity: Vec3) {
        self.gravity = gravity + self.uniform;
        for state in &frame.states {
            if let Some(Some(member)) = self.members.get_mut(state.body.index as usize)
                && member.key == state.body
            {
                member.pose = Pose { position: state.position, rotation: state.rotation };
                member.velocity = state.velocity;
            }
        }
        let Some(down) = self.gravity.try_normalize() else { return };
        let Some(lowest) = self.lowest(down) else { return };
        for member in self.members.iter_mut().flatten() {
            let falls = member.depth_below(lowest, down) > 0.0 && member.velocity.dot(down) > 0.0;
            if !(member.inertial && !member.holds && member.gravity_scale > 0.0 && falls) {
                member.left_at = None;
            } else if member.left_at.is_none() {
                member.left_at = Some(member.pose.position);
            }
        }
        // Only bodies outside of every half-space have left: it may be checked last because that is rare.
        for index in 0..self.members.len() {
            let caught = |member: &Member| member.left_at.is_some() && self.is_caught(member, down);
            if self.members[index].as_ref().is_some_and(caught) {
                self.members[index].iter_mut().for_each(|member| member.left_at = None);
            }
        }
    }

    /// Returns the lowest coordinate along `down` of bounded bodies that hold; `None` if there are none.
    fn lowest(&self, down: Vec3) -> Option<f64> {
        let holding = self.members.iter().flatten().filter(|member| member.holds);
        holding.filter_map(|member| member.extent(down)).max_by(f64::total_cmp)
    }

    /// Returns whether a half-space will catch a body that falls.
    fn is_caught(&self, member: &Member, down: Vec3) -> bool {
        let catches = |other: &Member| {
            other.parts.iter().any(|(shape, place, filter)| match shape {
                Shape::HalfSpace(half_space) => {
                    let normal = half_space.plane().normal;
                    let up = (other.pose * *place).transform_vector(normal).dot(down) < 0.0;
                    up && member.parts.iter().any(|(_, _, of_member)| filter.allows(of_member))
                }
                _ => false,
            })
        };
        self.members.iter().flatten().any(catches)
    }

    /// Returns whether there is an environment body that others could leave.
    pub fn has_places_to_leave(&self) -> bool {
        self.members.iter().flatten().any(|member| member.holds)
    }

    /// Returns whether a body has left the scene.
    pub fn has_left(&self, body: BodyKey) -> bool {
        let member = self.members.get(body.index as usize).and_then(Option::as_ref);
        member.is_some_and(|member| member.key == body && self.departure(member).is_some())
    }

    /// Returns the energy (kinetic, potential), J, that bodies have gained by falling past everything.
    pub fn energy_of_falls(&self) -> [f64; 2] {
        let mut energy = [0.0; 2];
        for member in self.members.iter().flatten() {
            if let Some(left_at) = member.left_at {
                let fall = (member.pose.position - left_at).dot(self.gravity);
                energy[0] += 0.5 * member.mass * member.velocity.length_squared();
                energy[1] -= member.mass * member.gravity_scale * fall;
            }
        }
        energy
    }

    /// Returns the bodies that have left the scene, the furthest first.
    pub fn list(&self) -> Vec<Departure> {
        let mut list: Vec<Departure> =
            self.members.iter().flatten().filter_map(|member| self.departure(member)).collect();
        list.sort_by(|a, b| b.distance.total_cmp(&a.distance));
        list
    }

    fn departure(&self, member: &Member) -> Option<Departure> {
        let down = self.gravity.try_normalize();
        if let (Some(down), Some(_)) = (down, member.left_at) {
            let distance = member.depth_below(self.lowest(down)?, down);
            return Some(Departure { body: member.key, distance, kind: DepartureKind::Fell });
        }
        // A body without gravity in a scene without gravity is free to go anywhere.
        let drives = !member.inertial && member.velocity != Vec3::ZERO;
        let flies = member.inertial
            && !member.holds
            && member.gravity_scale == 0.0
            && self.gravity != Vec3::ZERO;
        let travelled = (member.pose.position - member.start).length();
        if !(drives || flies) || !(travelled > self.span) {
            return None;
        }
        let bounds = member.bounds()?;
        // A kinematic body is there for the inertial ones, an inertial one may stay near anything.
        let others = self.members.iter().flatten().filter(|other| {
            other.key != member.key && (flies || other.inertial) && other.left_at.is_none()
        });
        let nearest = others.filter_map(Member::bounds).map(|other| gap(&bounds, &other));
        let distance = nearest.min_by(f64::total_cmp).unwrap_or(travelled);
        let kind = if drives { DepartureKind::Drove } else { DepartureKind::Flew };
        (distance > self.span).then_some(Departure { body: member.key, distance, kind })
    }
}

impl Member {
    fn can_move(&self) -> bool {
        self.inertial || self.velocity != Vec3::ZERO
    }

    /// Returns its bounds; `None` if it is unbounded.
    fn bounds(&self) -> Option<Aabb> {
        let all = self.parts.iter().map(|(shape, place, _)| shape.bounds(&(self.pose * *place)));
        let bounds = all.reduce(|all, one| all.union(&one))?;
        (bounds.min.is_finite() && bounds.max.is_finite()).then_some(bounds)
    }

    /// Returns its largest coordinate along a direction; `None` if it is unbounded.
    fn extent(&self, direction: Vec3) -> Option<f64> {
        let extents = self.parts.iter().map(|(shape, place, _)| {
            let pose = self.pose * *place;
            let local = pose.inverse_transform_vector(direction);
            let is_bounded = !matches!(shape, Shape::HalfSpace(_));
            is_bounded.then(|| pose.transform_point(shape.support(local)).dot(direction))
        });
        extents.reduce(|a, b| Some(a?.max(b?)))?
    }

    /// Returns how far all of it is beyond a coordinate along `down`, m; negative if it is not.
    fn depth_below(&self, lowest: f64, down: Vec3) -> f64 {
        self.extent(-down).map_or(f64::NEG_INFINITY, |top| -top - lowest)
    }
}

/// Returns the distance of two boxes, m.
fn gap(a: &Aabb, b: &Aabb) -> f64 {
    (a.min - b.max).max(b.min - a.max).max(Vec3::ZERO).length()
}
