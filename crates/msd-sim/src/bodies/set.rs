//! All bodies of a world, in arrays by body.

use super::collider_def::Collider;
use super::colliders::{ColliderSet, Details, Solid};
use super::def::{Amount, BodyDef, BodyKind, MassSpec, Origin, Part, check_place, check_pose};
use super::material::{Combines, Filter, Material};
use super::potential::BodyView;
use crate::error::{BodyError, MassError};
use crate::geometry::{Aabb, MassProperties, Shape};
use crate::id::{BodyId, ColliderId, Slots};
use crate::math::{Mat3, Pose, SpatialVector, Vec3};
use crate::solver::{SolverBody, rotate_freely};

/// Bodies by index, in arrays of equal length. The entries of a removed body stay; `slots` marks them as free.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct BodySet {
    pub(crate) slots: Slots,
    /// Center of mass and orientation: the only store of poses.
    pub(crate) poses: Vec<Pose>,
    /// Velocity and inverse mass: the only store of velocities.
    pub(crate) motions: Vec<SolverBody>,
    /// Mass and inertia in the body's own axes.
    pub(crate) inertias: Vec<Inertia>,
    pub(crate) colliders: ColliderSet,
    pub(crate) combines: Combines,
    /// How large each body is, by its colliders.
    pub(crate) extents: Vec<Extent>,
    /// Forces on each body besides the world's potentials.
    pub(crate) loads: Vec<Load>,
    /// Mass as the user specified it, the surface of colliders without one of their own, and the center of mass in the
    /// frame in which colliders were placed; no step reads them.
    pub(crate) mass_specs: Vec<MassSpec>,
    pub(crate) surfaces: Vec<(Material, Filter)>,
    pub(crate) centers: Vec<Vec3>,
    /// Names and user data; no step reads them.
    pub(crate) names: Vec<String>,
    pub(crate) user_data: Vec<u64>,
    /// Indices of inertial bodies and of environment bodies, ascending.
    pub(crate) inertial: Vec<u32>,
    pub(crate) environment: Vec<u32>,
}

/// Mass of a body, in its own axes. All zero for the environment.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Inertia {
    pub(crate) mass: f64,
    pub(crate) tensor: Mat3,
    pub(crate) inverse: Mat3,
    /// `L^-1` of the tensor `L L^T`.
    pub(crate) root: Mat3,
    /// Whether inertia is equal about every axis: free rotation is then a constant angular velocity.
    pub(crate) isotropic: bool,
}

impl Inertia {
    /// Derives inverse and root, and rejects a mass whose inertia cannot be inverted.
    fn new(properties: &MassProperties) -> Result<Self, BodyError> {
        let tensor = properties.inertia;
        // Determinants are third powers: taken at about one, they neither overflow nor vanish.
        let size = tensor.x_axis.x.max(tensor.y_axis.y).max(tensor.z_axis.z);
        let scale = libm::ldexp(1.0, -libm::frexp(size).1);
        let inverse = (tensor * scale).inverse() * scale;
        let mass = properties.mass;
        let sound = inverse.is_finite() && inverse.x_axis.x > 0.0 && mass.recip().is_normal();
        if !sound {
            return Err(MassError::OutOfRange { field: "mass", value: mass }.into());
        }
        let root = inverse_root(&tensor);
        Ok(Self { mass, tensor, inverse, root, isotropic: is_isotropic(&tensor) })
    }

    /// Returns the inverse in world axes.
    #[inline]
    pub(crate) fn turned_inverse(&self, pose: &Pose) -> Mat3 {
        if self.isotropic { self.inverse } else { turned(&self.inverse, pose) }
    }

    /// The inertia of an environment body.
    const NONE: Self = Self {
        mass: 0.0,
        tensor: Mat3::ZERO,
        inverse: Mat3::ZERO,
        root: Mat3::ZERO,
        isotropic: true,
    };
}

/// How large a body is.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Extent {
    /// Largest distance of a point of its colliders from the center of mass, m.
    pub(crate) radius: f64,
    /// The same for points that move when the body turns, m: 0 for a ball about its center.
    pub(crate) rotation_radius: f64,
    /// Smallest size of its colliders, m: half the least width.
    pub(crate) size: f64,
}

impl Extent {
    /// Returns the size, m; zero for an unbounded body.
    #[inline]
    pub(crate) fn finite_size(&self) -> f64 {
        if self.size.is_finite() { self.size } else { 0.0 }
    }
}

/// Forces that act on a body besides the world's potentials.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Load {
    /// Applied by the user, until the end of the next step.
    pub(crate) user: SpatialVector,
    pub(crate) linear_damping: f64,
    pub(crate) angular_damping: f64,
    pub(crate) gravity_scale: f64,
}

impl BodySet {
    pub(crate) fn insert(&mut self, def: BodyDef) -> Result<BodyId, BodyError> {
        def.check_state()?;
        let parts = def.colliders.0.iter().filter_map(Collider::part);
        let (inertia, center) = derive(&def.mass, def.kind, parts)?;
        let mut pose = def.pose;
        if def.origin == Origin::Frame {
            pose.position += pose.rotation * center;
            check_pose(&pose)?;
        }
        let (index, generation) = self.slots.take();
        let mut motion = SolverBody { velocity: def.velocity, ..SolverBody::default() };
        if def.kind == BodyKind::Inertial {
            motion.inverse_mass = inertia.mass.recip();
        }
        let load = Load {
            user: SpatialVector::ZERO,
            linear_damping: def.linear_damping,
            angular_damping: def.angular_damping,
            gravity_scale: def.gravity_scale,
        };
        put(&mut self.poses, index, pose);
        put(&mut self.motions, index, motion);
        put(&mut self.inertias, index, inertia);
        put(&mut self.loads, index, load);
        put(&mut self.mass_specs, index, def.mass);
        put(&mut self.surfaces, index, (def.material, def.filter));
        put(&mut self.centers, index, center);
        put(&mut self.names, index, def.name);
        put(&mut self.user_data, index, def.user_data);
        let list = match def.kind {
            BodyKind::Inertial => &mut self.inertial,
            BodyKind::Environment => &mut self.environment,
        };
        let at = list.partition_point(|&other| other < index);
        list.insert(at, index);
        self.colliders.insert_body(index);
        for collider in def.colliders.0 {
            self.insert_collider(index, collider);
        }
        put(&mut self.extents, index, Extent::default());
        self.measure(index as usize);
        self.turn_inertia(index as usize);
        Ok(BodyId { index, generation })
    }

    /// Adds a collider to a body, whose mass and center of mass stay.
    fn insert_collider(&mut self, body: u32, def: Collider) -> ColliderId {
        let solid = self.solid(body, &def);
        self.colliders.insert(body, solid, Details::of(def))
    }

    /// Returns the solid of a collider of a body.
    fn solid(&self, body: u32, def: &Collider) -> Solid {
        let (material, filter) = self.surfaces[body as usize];
        Solid::new(def, self.centers[body as usize], material, filter)
    }

    /// Adds a collider to a body, whose mass follows. Returns its handle, and by how much the center of mass moved in
    /// the body's axes.
    pub(crate) fn add_collider(
        &mut self,
        index: usize,
        def: Collider,
    ) -> Result<(ColliderId, Vec3), BodyError> {
        check_place(&def.place)?;
        let parts = self.parts(index as u32, None).chain(def.part());
        let (inertia, center) = derive(&self.mass_specs[index], self.kind(index), parts)?;
        let id = self.insert_collider(index as u32, def);
        Ok((id, self.fill(index, inertia, center)))
    }

    /// Removes a collider, and the mass that it gave its body. Returns by how much the center of mass moved.
    pub(crate) fn remove_collider(&mut self, collider: u32) -> Result<Vec3, BodyError> {
        let index = self.colliders.body(collider) as usize;
        let parts = self.parts(index as u32, Some(collider));
        let (inertia, center) = derive(&self.mass_specs[index], self.kind(index), parts)?;
        self.colliders.remove(collider);
        Ok(self.fill(index, inertia, center))
    }

    /// Replaces a collider; the mass of its body follows. Returns by how much the center of mass moved.
    pub(crate) fn replace_collider(
        &mut self,
        collider: u32,
        def: Collider,
    ) -> Result<Vec3, BodyError> {
        check_place(&def.place)?;
        let body = self.colliders.body(collider);
        let index = body as usize;
        let parts = self.parts(body, Some(collider)).chain(def.part());
        let (inertia, center) = derive(&self.mass_specs[index], self.kind(index), parts)?;
        let solid = self.solid(body, &def);
        self.colliders.replace(collider, solid, Details::of(def));
        Ok(self.fill(index, inertia, center))
    }

    /// Gives a body another inertia and center of mass, while its colliders and all points of it keep their places and
    /// velocities. Returns by how much the center of mass moved in the body's axes.
    fn fill(&mut self, index: usize, inertia: Inertia, center: Vec3) -> Vec3 {
        // Where the origin of an environment body is makes no difference to how it moves.
        let center = if self.is_inertial(index) { center } else { self.centers[index] };
        let shift = center - self.centers[index];
        if shift != Vec3::ZERO {
            let way = self.poses[index].transform_vector(shift);
            self.poses[index].position += way;
            let velocity = &mut self.motions[index].velocity;
            velocity.linear += velocity.angular.cross(way);
            self.centers[index] = center;
            self.colliders.for_each_of(index as u32, |solid, place| solid.set_place(place, center));
        }
        self.set_inertia(index, inertia);
        self.measure(index);
        shift
    }

    /// Measures how large a body is.
    fn measure(&mut self, index: usize) {
        let mut extent = Extent { size: f64::INFINITY, ..Extent::default() };
        let mut any = false;
        for collider in self.colliders.of(index as u32) {
            let solid = &self.colliders.solids[collider as usize];
            extent.radius = extent.radius.max(solid.radius);
            extent.rotation_radius = extent.rotation_radius.max(solid.rotation_radius);
            if solid.is_solid() {
                any = true;
                extent.size = extent.size.min(solid.size);
            }
        }
        let Inertia { mass, tensor, .. } = &self.inertias[index];
        if !any && *mass > 0.0 {
            // Its inertia is all that says how large it is: the radius of gyration.
            let trace = tensor.x_axis.x + tensor.y_axis.y + tensor.z_axis.z;
            extent.size = (trace / (3.0 * mass)).sqrt();
            extent.radius = extent.radius.max(extent.size);
            extent.rotation_radius = extent.rotation_radius.max(extent.size);
        }
        self.extents[index] = extent;
    }

    /// Returns the colliders of which the mass of a body is derived, without one of them.
    fn parts(&self, body: u32, without: Option<u32>) -> impl Iterator<Item = Part<'_>> {
        let colliders = &self.colliders;
        let counts = move |&at: &u32| {
            colliders.solids[at as usize].is_solid() && without.is_none_or(|other| at != other)
        };
        colliders.of(body).filter(counts).map(|collider| {
            let details = colliders.details(collider);
            let amount = details.and_then(|details| details.amount);
            (&colliders.solids[collider as usize].shape, colliders.place(collider), amount)
        })
    }

    /// Gives an inertial body another mass; an inertia that the user specified scales with it.
    pub(crate) fn set_mass(&mut self, index: usize, mass: f64) -> Result<(), BodyError> {
        let mut spec = self.mass_specs[index].clone();
        spec.amount = Amount::Mass(mass);
        let factor = mass / self.inertias[index].mass;
        if let Some(inertia) = spec.given.as_mut().and_then(|given| given.inertia.as_mut()) {
            *inertia *= factor;
        }
        let derived = derive(&spec, BodyKind::Inertial, self.parts(index as u32, None));
        let (inertia, _) = derived.map_err(|error| match error {
            // An inertia that the caller did not give: it is the mass that is out of range.
            BodyError::Inertia { .. } => {
                MassError::OutOfRange { field: "mass", value: mass }.into()
            }
            error => error,
        })?;
        self.mass_specs[index] = spec;
        self.set_inertia(index, inertia);
        Ok(())
    }

    /// Gives the only collider of a body another shape, and the body the mass and frame that its specification gives
    /// that shape. Its center of mass stays where it is.
    pub(crate) fn set_shape(&mut self, index: usize, shape: Shape) -> Result<(), BodyError> {
        let body = index as u32;
        let collider = match *self.colliders.of(body).collect::<Vec<u32>>() {
            [collider] => collider,
            ref all => {
                return Err(BodyError::NotOneCollider { index: body, colliders: all.len() });
            }
        };
        let def = Collider { shape, ..self.colliders.def(collider) };
        let (inertia, center) =
            derive(&self.mass_specs[index], self.kind(index), def.part().into_iter())?;
        self.centers[index] = center;
        let solid = self.solid(body, &def);
        self.colliders.replace(collider, solid, Details::of(def));
        self.set_inertia(index, inertia);
        self.measure(index);
        Ok(())
    }

    fn set_inertia(&mut self, index: usize, inertia: Inertia) {
        self.inertias[index] = inertia;
        if inertia.mass > 0.0 {
            self.motions[index].inverse_mass = inertia.mass.recip();
        }
        self.turn_inertia(index);
    }

    /// Removes a body; returns whether it existed.
    pub(crate) fn remove(&mut self, id: BodyId) -> bool {
        if !self.contains(id) {
            return false;
        }
        self.inertial.retain(|&index| index != id.index);
        self.environment.retain(|&index| index != id.index);
        self.motions[id.index()] = SolverBody::default();
        while let Some(collider) = self.colliders.of(id.index).last() {
            self.colliders.remove(collider);
        }
        self.slots.free(id.index);
        true
    }

    pub(crate) fn contains(&self, id: BodyId) -> bool {
        self.slots.contains(id.index, id.generation)
    }

    /// Returns the index of a body, or an error if there is no such body.
    pub(crate) fn find(&self, id: BodyId) -> Result<usize, BodyError> {
        if self.contains(id) {
            Ok(id.index())
        } else {
            Err(BodyError::Unknown { index: id.index, generation: id.generation })
        }
    }

    pub(crate) fn id(&self, index: u32) -> BodyId {
        BodyId { index, generation: self.slots.generation(index) }
    }

    pub(crate) fn is_inertial(&self, index: usize) -> bool {
        self.inertias[index].mass > 0.0
    }

    pub(crate) fn kind(&self, index: usize) -> BodyKind {
        if self.is_inertial(index) { BodyKind::Inertial } else { BodyKind::Environment }
    }

    /// Returns the pose of a collider's own frame.
    #[inline]
    pub(crate) fn shape_pose(&self, collider: u32) -> Pose {
        let body = self.colliders.body(collider);
        self.colliders.solids[collider as usize].shape_pose(&self.poses[body as usize])
    }

    /// Returns the bounds of a collider.
    #[inline]
    pub(crate) fn bounds(&self, collider: u32) -> Aabb {
        self.colliders.bounds(collider, &self.poses[self.colliders.body(collider) as usize])
    }

    /// Returns the velocity of the body of a collider.
    #[inline]
    pub(crate) fn velocity_of(&self, collider: u32) -> &SpatialVector {
        &self.motions[self.colliders.body(collider) as usize].velocity
    }

    /// Returns whether the body of a collider is inertial.
    #[inline]
    pub(crate) fn is_of_inertial(&self, collider: u32) -> bool {
        self.is_inertial(self.colliders.body(collider) as usize)
    }

    /// Returns the inertia tensor in world axes.
    pub(crate) fn world_inertia(&self, index: usize) -> Mat3 {
        turned(&self.inertias[index].tensor, &self.poses[index])
    }

    /// Returns the state of a body that potentials depend on.
    pub(crate) fn view(&self, body: u32) -> BodyView {
        let index = body as usize;
        BodyView {
            id: self.id(body),
            pose: self.poses[index],
            velocity: self.motions[index].velocity,
            mass: self.inertias[index].mass,
            inertia: self.world_inertia(index),
            gravity_scale: self.loads[index].gravity_scale,
        }
    }

    /// Updates the inverse inertia in world axes from the pose.
    pub(crate) fn turn_inertia(&mut self, index: usize) {
        self.motions[index].inverse_inertia =
            self.inertias[index].turned_inverse(&self.poses[index]);
    }

    /// Moves a body freely for `time`: along a line, and turning with its angular momentum.
    #[inline]
    pub(crate) fn drift(&mut self, index: usize, time: f64) {
        let motion = &mut self.motions[index];
        let pose = &mut self.poses[index];
        pose.position += motion.velocity.linear * time;
        if motion.velocity.angular == Vec3::ZERO {
            return;
        }
        let inertia = &self.inertias[index];
        // An environment body keeps its angular velocity, as if its inertia were equal about every axis.
        let isotropic = inertia.isotropic || inertia.mass == 0.0;
        (pose.rotation, motion.velocity.angular) = rotate_freely(
            pose.rotation,
            motion.velocity.angular,
            &inertia.tensor,
            &inertia.inverse,
            isotropic,
            time,
        );
        self.turn_inertia(index);
    }

    /// Returns an upper bound of the angular velocity that free rotation reaches, along the present one: energy is
    /// kept, so `w^2 <= (w . I w) / I_min`, and the trace of the inverse is at least `1 / I_min`.
    pub(crate) fn fastest_spin(&self, index: usize) -> Vec3 {
        let inertia = &self.inertias[index];
        let spin = self.motions[index].velocity.angular;
        if inertia.isotropic || spin == Vec3::ZERO {
            return spin;
        }
        let local = self.poses[index].inverse_transform_vector(spin);
        let trace = inertia.inverse.x_axis.x + inertia.inverse.y_axis.y + inertia.inverse.z_axis.z;
        let most = (local.dot(inertia.tensor * local) * trace).sqrt();
        spin * (most / spin.length()).max(1.0)
    }

    /// Displaces and turns a body in addition to its motion. Its angular momentum keeps its direction.
    pub(crate) fn displace(&mut self, index: usize, shift: SpatialVector) {
        if shift == SpatialVector::ZERO {
            return;
        }
        let spin = self.momentum_of(index, self.motions[index].velocity).angular;
        let inertia = self.inertias[index];
        let pose = &mut self.poses[index];
        pose.position += shift.linear;
        let (tensor, inverse) = (&inertia.tensor, &inertia.inverse);
        (pose.rotation, _) =
            rotate_freely(pose.rotation, shift.angular, tensor, inverse, true, 1.0);
        self.turn_inertia(index);
        if !inertia.isotropic {
            let motion = &mut self.motions[index];
            motion.velocity.angular = motion.inverse_inertia * spin;
        }
    }

    /// Clears the forces that the user applied.
    pub(crate) fn clear_user_forces(&mut self) {
        for load in &mut self.loads {
            load.user = SpatialVector::ZERO;
        }
    }

    /// Returns the kinetic energy of a body, J.
    pub(crate) fn kinetic_energy(&self, index: usize) -> f64 {
        let v = &self.motions[index].velocity;
        let inertia = &self.inertias[index];
        let local = self.poses[index].inverse_transform_vector(v.angular);
        0.5 * (inertia.mass * v.linear.length_squared() + local.dot(inertia.tensor * local))
    }

    /// Returns the momentum of a velocity: linear, and angular about the center of mass, in world axes.
    pub(crate) fn momentum_of(&self, index: usize, velocity: SpatialVector) -> SpatialVector {
        let pose = &self.poses[index];
        let inertia = &self.inertias[index];
        let local = pose.inverse_transform_vector(velocity.angular);
        SpatialVector::new(
            velocity.linear * inertia.mass,
            pose.transform_vector(inertia.tensor * local),
        )
    }
}

/// Derives a body's inertia, and the center of mass in its frame.
fn derive<'a>(
    spec: &MassSpec,
    kind: BodyKind,
    parts: impl Iterator<Item = Part<'a>>,
) -> Result<(Inertia, Vec3), BodyError> {
    let (center, properties) = spec.derive(kind, parts)?;
    let inertia = properties.as_ref().map_or(Ok(Inertia::NONE), Inertia::new)?;
    Ok((inertia, center))
}

pub(super) fn put<T>(list: &mut Vec<T>, index: u32, value: T) {
    match list.get_mut(index as usize) {
        Some(slot) => *slot = value,
        None => list.push(value),
    }
}

fn turned(tensor: &Mat3, pose: &Pose) -> Mat3 {
    let rotation = Mat3::from_quat(pose.rotation);
    rotation * *tensor * rotation.transpose()
}

/// Returns the inverse of the lower triangle `L` with `L L^T = tensor` (Cholesky).
fn inverse_root(tensor: &Mat3) -> Mat3 {
    let (x, y, z) = (tensor.x_axis, tensor.y_axis, tensor.z_axis);
    let a = x.x.sqrt();
    let (b, c) = (x.y / a, x.z / a);
    let d = (y.y - b * b).sqrt();
    let e = (y.z - b * c) / d;
    let f = (z.z - c * c - e * e).sqrt();
    let (ia, id, jf) = (a.recip(), d.recip(), f.recip());
    let below = -b * ia * id;
    let last = -(c * ia + e * below) * jf;
    Mat3::from_cols(Vec3::new(ia, below, last), Vec3::new(0.0, id, -e * id * jf), Vec3::Z * jf)
}

/// Returns whether a tensor is a multiple of the identity to rounding.
fn is_isotropic(tensor: &Mat3) -> bool {
    let mean = (tensor.x_axis.x + tensor.y_axis.y + tensor.z_axis.z) / 3.0;
    let rest = *tensor - Mat3::from_diagonal(Vec3::splat(mean));
    rest.to_cols_array().iter().all(|entry| entry.abs() <= 16.0 * f64::EPSILON * mean)
}
