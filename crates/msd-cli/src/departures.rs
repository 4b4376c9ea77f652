//! Bodies that have left the rest of their scene: that fall past everything which could catch them, or drift away for ever.

use std::collections::HashMap;

use msd_record::{BodyKey, Frame};
use msd_scene::Scene;
use msd_scene::format::{PotentialName, PotentialTable};
use msd_sim::geometry::{Aabb, Plane, Shape, distance};
use msd_sim::math::{Pose, Vec3};
use msd_sim::{Body, BodyKind, Filter, World};

/// Cosine of the least angle between gravity and a surface that catches bodies: less is rounding of a vertical wall.
const LEVEL: f64 = 1e-9;

/// What is known of a body, and where it was last.
#[derive(Clone, Debug)]
struct Member {
    key: BodyKey,
    /// The shapes that can touch others, their poses in the frame of the center of mass, and their filters.
    parts: Vec<(Shape, Pose, Filter)>,
    mass: f64,
    gravity_scale: f64,
    /// Whether it can catch falling bodies: an environment body, or one that a joint or a spring ties to one or to the world.
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
    /// Whether point masses attract bodies, so that nothing falls in one direction.
    has_point_masses: bool,
    /// By body: forces of the scene, N, with the times at which they end, s.
    forces: HashMap<usize, Vec<(Vec3, f64)>>,
    gravity: Vec3,
    /// What could catch falling bodies after the last step.
    floor: Floor,
    /// Diagonal of the bounds of all bodies that could move at the start, m.
    span: f64,
}

/// What catches bodies that fall.
#[derive(Clone, Debug, Default)]
struct Floor {
    /// Lowest coordinate along gravity of bounded bodies that hold, m.
    lowest: Option<f64>,
    /// Half-spaces whose surfaces face up.
    planes: Vec<(Plane, Filter)>,
}

/// What bodies gain by falling past everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Falls {
    /// Kinetic energy, and change of potential energy, J.
    pub kinetic: f64,
    pub potential: f64,
    /// Momentum, N s.
    pub momentum: Vec3,
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
        let is_point_mass = |potential: &PotentialTable| potential.kind == PotentialName::PointMass;
        let has_point_masses = scene.potential.iter().any(is_point_mass);
        let mut departures = Self { uniform, has_point_masses, ..Self::default() };
        let mut index_of = HashMap::new();
        for body in world.bodies() {
            index_of.insert(body.name().to_owned(), body.id().index());
            departures.add(&body);
        }
        for force in &scene.force {
            if let Some(&index) = index_of.get(&force.body) {
                let (until, force) = (force.until.unwrap_or(f64::INFINITY), force.force.into());
                departures.forces.entry(index).or_default().push((force, until));
            }
        }
        let springs = scene.potential.iter().filter_map(|potential| potential.body.as_ref());
        for index in springs.filter_map(|name| index_of.get(name)) {
            departures.members[*index].iter_mut().for_each(|member| member.holds = true);
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
        self.floor = Floor::default();
        let Some(down) = self.down() else { return };
        self.floor = self.find_floor(down);
        let Self { members, floor, forces, gravity, .. } = self;
        for (index, member) in members.iter_mut().enumerate() {
            let Some(member) = member else { continue };
            let lift = forces.get(&index).into_iter().flatten();
            let lift = lift.filter(|(_, until)| *until > frame.time);
            let lift: f64 = lift.map(|(force, _)| (-force.dot(down)).max(0.0)).sum();
            let weight = member.mass * member.gravity_scale * gravity.length();
            let falls = member.inertial
                && !member.holds
                && weight > lift
                && member.velocity.dot(down) > 0.0
                && floor.depth(member, down).is_some_and(|depth| depth > 0.0);
            match falls {
                true => _ = member.left_at.get_or_insert(member.pose.position),
                false => member.left_at = None,
            }
        }
    }

    /// Returns the direction in which bodies fall; `None` if there is none.
    fn down(&self) -> Option<Vec3> {
        self.gravity.try_normalize().filter(|_| !self.has_point_masses)
    }

    fn find_floor(&self, down: Vec3) -> Floor {
        let mut floor = Floor::default();
        for member in self.members.iter().flatten().filter(|member| member.holds) {
            for (shape, place, filter) in &member.parts {
                let pose = member.pose * *place;
                if let Some(plane) = plane_of(shape, &pose) {
                    if plane.normal.dot(down) < -LEVEL {
                        floor.planes.push((plane, *filter));
                    }
                } else {
                    let low = reach(shape, &pose, down);
                    floor.lowest = Some(floor.lowest.map_or(low, |lowest| lowest.max(low)));
                }
            }
        }
        floor
    }

    /// Returns whether there is an environment body that others could leave.
    pub fn has_places_to_leave(&self) -> bool {
        self.members.iter().flatten().any(|member| member.holds)
    }

    /// Returns whether a body could leave in this way, so that it can be judged whether one has.
    pub fn judges(&self, kind: DepartureKind) -> bool {
        let has_floor = self.floor.lowest.is_some() || !self.floor.planes.is_empty();
        let has_inertial = self.members.iter().flatten().any(|member| member.inertial);
        self.members.iter().flatten().any(|member| match kind {
            DepartureKind::Fell => has_floor && member.inertial && member.gravity_scale > 0.0,
            DepartureKind::Drove => has_inertial && member.drives(),
            DepartureKind::Flew => member.flies(self.gravity),
        })
    }

    /// Returns whether a body has left the scene.
    pub fn has_left(&self, body: BodyKey) -> bool {
        let member = self.members.get(body.index as usize).and_then(Option::as_ref);
        member.is_some_and(|member| member.key == body && self.departure(member).is_some())
    }

    /// Returns whether a body falls past everything.
    pub fn falls_for_ever(&self, body: BodyKey) -> bool {
        let member = self.members.get(body.index as usize).and_then(Option::as_ref);
        member.is_some_and(|member| member.key == body && member.left_at.is_some())
    }

    /// Returns what bodies have gained by falling past everything.
    pub fn falls(&self) -> Falls {
        let mut falls = Falls::default();
        for member in self.members.iter().flatten() {
            if let Some(left_at) = member.left_at {
                let fall = (member.pose.position - left_at).dot(self.gravity);
                falls.kinetic += 0.5 * member.mass * member.velocity.length_squared();
                falls.potential -= member.mass * member.gravity_scale * fall;
                falls.momentum += member.mass * member.velocity;
            }
        }
        falls
    }

    /// Returns the bodies that have left the scene, the furthest first.
    pub fn list(&self) -> Vec<Departure> {
        let mut list: Vec<Departure> =
            self.members.iter().flatten().filter_map(|member| self.departure(member)).collect();
        list.sort_by(|a, b| b.distance.total_cmp(&a.distance));
        list
    }

    fn departure(&self, member: &Member) -> Option<Departure> {
        if let (Some(down), Some(_)) = (self.down(), member.left_at) {
            let distance = self.floor.depth(member, down)?;
            return Some(Departure { body: member.key, distance, kind: DepartureKind::Fell });
        }
        let (drives, flies) = (member.drives(), member.flies(self.gravity));
        let travelled = (member.pose.position - member.start).length();
        if !(drives || flies) || !(travelled > self.span) {
            return None;
        }
        // A kinematic body is there for the inertial ones, an inertial one may stay near anything.
        let is_other = |other: &&Member| other.key != member.key && (flies || other.inertial);
        let others = || self.members.iter().flatten().filter(is_other);
        others().next()?;
        let near = others().filter(|other| other.left_at.is_none());
        let distances = near.map(|other| {
            let pairs = member.parts.iter().flat_map(|a| other.parts.iter().map(move |b| (a, b)));
            let distances = pairs.map(|((a, at_a, _), (b, at_b, _))| {
                distance(a, &(member.pose * *at_a), b, &(other.pose * *at_b))
            });
            distances.fold(f64::INFINITY, f64::min)
        });
        let distance = distances.min_by(f64::total_cmp).unwrap_or(travelled);
        let kind = if drives { DepartureKind::Drove } else { DepartureKind::Flew };
        (distance > self.span).then_some(Departure { body: member.key, distance, kind })
    }
}

impl Floor {
    /// Returns how far all of a body is below everything that could catch it, m; `None` if something will, or nothing ever could.
    fn depth(&self, member: &Member, down: Vec3) -> Option<f64> {
        if self
            .planes
            .iter()
            .any(|(_, filter)| member.parts.iter().any(|(.., own)| filter.allows(own)))
        {
            return None;
        }
        let planes = self.planes.iter().map(|(plane, _)| {
            let below = -member.highest_over(plane).unwrap_or(f64::INFINITY);
            below / -plane.normal.dot(down)
        });
        let bounded = self
            .lowest
            .map(|lowest| member.extent(-down).map_or(f64::NEG_INFINITY, |top| -top - lowest));
        planes.chain(bounded).min_by(f64::total_cmp)
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

    /// Returns whether it is an environment body that moves.
    fn drives(&self) -> bool {
        !self.inertial && self.velocity != Vec3::ZERO
    }

    /// Returns whether gravity pulls on others, but not on this body. In a scene without gravity, bodies are free to go anywhere.
    fn flies(&self, gravity: Vec3) -> bool {
        self.inertial && !self.holds && self.gravity_scale == 0.0 && gravity != Vec3::ZERO
    }

    /// Returns its largest coordinate along a direction; `None` if it is unbounded.
    fn extent(&self, direction: Vec3) -> Option<f64> {
        let extents = self.parts.iter().map(|(shape, place, _)| {
            let is_bounded = !matches!(shape, Shape::HalfSpace(_));
            is_bounded.then(|| reach(shape, &(self.pose * *place), direction))
        });
        extents.reduce(|a, b| Some(a?.max(b?)))?
    }

    /// Returns the height of its highest point over a plane, m; `None` if it is unbounded.
    fn highest_over(&self, plane: &Plane) -> Option<f64> {
        self.extent(plane.normal).map(|highest| highest - plane.offset)
    }
}

/// Returns the surface of a shape in the world if it is a half-space.
fn plane_of(shape: &Shape, pose: &Pose) -> Option<Plane> {
    let Shape::HalfSpace(half_space) = shape else { return None };
    let plane = half_space.plane();
    let normal = pose.transform_vector(plane.normal);
    Some(Plane { normal, offset: plane.offset + normal.dot(pose.position) })
}

/// Returns the largest coordinate of a bounded shape along a direction.
fn reach(shape: &Shape, pose: &Pose, direction: Vec3) -> f64 {
    let local = pose.inverse_transform_vector(direction);
    pose.transform_point(shape.support(local)).dot(direction)
}
