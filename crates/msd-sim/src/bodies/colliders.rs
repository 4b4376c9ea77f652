//! All colliders of a world, in arrays by collider.

use super::collider_def::Collider;
use super::def::Amount;
use super::material::{Filter, Material};
use crate::error::BodyError;
use crate::geometry::{Aabb, Shape};
use crate::id::{ColliderId, Slots};
use crate::math::{Pose, Quat, Vec3};

/// The end of a list of colliders.
const NONE: u32 = u32::MAX;

/// Colliders by index, in arrays of equal length, and the colliders of each body. The entries of a removed collider stay;
/// `slots` marks them as free. In a world with one collider a body, every collider has the index of its body.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct ColliderSet {
    pub(crate) slots: Slots,
    /// Shape, place in the body, and surface.
    #[serde(with = "with_shared_hulls")]
    pub(crate) solids: Vec<Solid>,
    /// The body of each.
    owners: Vec<u32>,
    /// The next collider of the same body, ascending, or [`NONE`].
    next: Vec<u32>,
    /// What no step reads; `None` where all of it is as by default.
    details: Vec<Option<Box<Details>>>,
    /// By body: its first and its last collider, or [`NONE`].
    ends: Vec<[u32; 2]>,
    /// The colliders that are sensors, ascending.
    sensors: Vec<u32>,
}

/// The shape of a collider, its place in the body's frame, and its surface.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Solid {
    /// Not written with the rest, because colliders share hulls: see [`with_shared_hulls`].
    #[serde(skip, default = "with_shared_hulls::unknown")]
    pub(crate) shape: Shape,
    /// The shape's origin in the body's frame, whose origin is the center of mass.
    pub(crate) offset: Vec3,
    /// The shape's orientation in the body's frame; the identity unless `is_turned`.
    turn: Quat,
    is_turned: bool,
    /// Whether it pushes nothing.
    pub(crate) is_sensor: bool,
    /// Whether it takes part in anything.
    pub(crate) is_enabled: bool,
    /// Largest distance of a point of the shape from the center of mass, m.
    pub(crate) radius: f64,
    /// The same for points that move when the body turns, m: 0 for a ball about its center.
    pub(crate) rotation_radius: f64,
    /// Half the least width of the shape, m: the length by which tolerances scale.
    pub(crate) size: f64,
    pub(crate) material: Material,
    pub(crate) filter: Filter,
}

/// The properties of a collider that no step reads.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Details {
    /// Its density or mass, if it has one of its own.
    pub(crate) amount: Option<Amount>,
    /// Its place in the frame of the body's definition.
    pub(crate) place: Pose,
    pub(crate) name: String,
    pub(crate) user_data: u64,
}

impl Details {
    pub(crate) fn of(def: Collider) -> Self {
        let Collider { amount, place, name, user_data, .. } = def;
        Self { amount, place, name, user_data }
    }

    fn boxed(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }
}

impl Solid {
    /// Creates the solid of a collider. The center of mass is at `center` in the frame in which it was placed; material and
    /// filter are those it has unless it has others.
    pub(crate) fn new(def: &Collider, center: Vec3, material: Material, filter: Filter) -> Self {
        let mut solid = Self {
            shape: def.shape.clone(),
            offset: Vec3::ZERO,
            turn: Quat::IDENTITY,
            is_turned: false,
            is_sensor: def.is_sensor,
            is_enabled: def.is_enabled,
            radius: 0.0,
            rotation_radius: 0.0,
            size: 0.5 * def.shape.least_width(),
            material: def.material.unwrap_or(material),
            filter: def.filter.unwrap_or(filter),
        };
        solid.set_place(&def.place, center);
        solid
    }

    /// Sets the place in the frame of the body's definition, in which the center of mass is at `center`.
    pub(crate) fn set_place(&mut self, place: &Pose, center: Vec3) {
        self.offset = place.position - center;
        (self.turn, self.is_turned) = (place.rotation, place.rotation != Quat::IDENTITY);
        let distance = self.offset.length();
        self.radius = self.shape.bounding_radius() + distance;
        self.rotation_radius =
            if let Shape::Sphere(_) = self.shape { distance } else { self.radius };
    }

    /// Returns the pose of the shape's own frame for a pose of the body.
    #[inline]
    pub(crate) fn shape_pose(&self, pose: &Pose) -> Pose {
        let turn = if self.is_turned { pose.rotation * self.turn } else { pose.rotation };
        Pose::new(pose.transform_point(self.offset), turn)
    }

    /// Returns the shape's own frame in the body's.
    pub(crate) fn place(&self) -> Pose {
        Pose::new(self.offset, self.turn)
    }

    /// Returns whether it may push other solids.
    #[inline]
    pub(crate) fn is_solid(&self) -> bool {
        self.is_enabled && !self.is_sensor
    }
}

impl ColliderSet {
    /// Adds a body without colliders.
    pub(crate) fn insert_body(&mut self, body: u32) {
        let count = self.ends.len().max(body as usize + 1);
        self.ends.resize(count, [NONE; 2]);
        self.ends[body as usize] = [NONE; 2];
    }

    /// Adds a collider to a body.
    pub(crate) fn insert(&mut self, body: u32, solid: Solid, details: Details) -> ColliderId {
        let (index, generation) = self.slots.take();
        self.list_sensor(index, solid.is_sensor);
        super::set::put(&mut self.solids, index, solid);
        super::set::put(&mut self.owners, index, body);
        super::set::put(&mut self.details, index, details.boxed());
        super::set::put(&mut self.next, index, NONE);
        let before = self.before(body, index);
        let following = self.link(body, before, index);
        self.next[index as usize] = following;
        if following == NONE {
            self.ends[body as usize][1] = index;
        }
        ColliderId { index, generation }
    }

    /// Removes a collider.
    pub(crate) fn remove(&mut self, collider: u32) {
        let body = self.owners[collider as usize];
        let following = self.next[collider as usize];
        let before = self.before(body, collider);
        self.link(body, before, following);
        if following == NONE {
            self.ends[body as usize][1] = before.unwrap_or(NONE);
        }
        self.list_sensor(collider, false);
        self.slots.free(collider);
    }

    /// Returns the last collider of a body with a smaller index.
    fn before(&self, body: u32, collider: u32) -> Option<u32> {
        let [_, last] = self.ends[body as usize];
        match last < collider {
            true => Some(last),
            false => self.of(body).take_while(|&other| other < collider).last(),
        }
    }

    /// Links a collider of a body, or its beginning, to another one. Returns the one to which it was linked.
    fn link(&mut self, body: u32, from: Option<u32>, to: u32) -> u32 {
        let link = match from {
            Some(from) => &mut self.next[from as usize],
            None => &mut self.ends[body as usize][0],
        };
        std::mem::replace(link, to)
    }

    /// Registers whether a collider is a sensor.
    fn list_sensor(&mut self, collider: u32, is_sensor: bool) {
        match (self.sensors.binary_search(&collider), is_sensor) {
            (Err(at), true) => self.sensors.insert(at, collider),
            (Ok(at), false) => drop(self.sensors.remove(at)),
            _ => {}
        }
    }

    /// Returns the colliders that are sensors, ascending.
    pub(crate) fn sensors(&self) -> &[u32] {
        &self.sensors
    }

    /// Returns the index of a collider, or an error if there is no such collider.
    pub(crate) fn find(&self, id: ColliderId) -> Result<usize, BodyError> {
        match self.slots.contains(id.index, id.generation) {
            true => Ok(id.index()),
            false => Err(BodyError::UnknownCollider { index: id.index, generation: id.generation }),
        }
    }

    pub(crate) fn id(&self, collider: u32) -> ColliderId {
        ColliderId { index: collider, generation: self.slots.generation(collider) }
    }

    /// Returns the colliders of a body, ascending.
    #[inline]
    pub(crate) fn of(&self, body: u32) -> impl Iterator<Item = u32> + Clone + '_ {
        let listed = |collider: u32| (collider != NONE).then_some(collider);
        let first = self.ends.get(body as usize).map_or(NONE, |ends| ends[0]);
        std::iter::successors(listed(first), move |&at| listed(self.next[at as usize]))
    }

    /// Returns the body of a collider.
    #[inline]
    pub(crate) fn body(&self, collider: u32) -> u32 {
        self.owners[collider as usize]
    }

    /// Returns the bodies of two colliders.
    #[inline]
    pub(crate) fn bodies(&self, (a, b): (u32, u32)) -> [u32; 2] {
        [self.body(a), self.body(b)]
    }

    /// Returns what no step reads of a collider.
    pub(crate) fn details(&self, collider: u32) -> Option<&Details> {
        self.details[collider as usize].as_deref()
    }

    /// Replaces a collider; its body stays.
    pub(crate) fn replace(&mut self, collider: u32, solid: Solid, details: Details) {
        self.list_sensor(collider, solid.is_sensor);
        self.solids[collider as usize] = solid;
        self.details[collider as usize] = details.boxed();
    }

    /// Changes the solids of a body; `change` also gets the place of each in the frame of the body's definition.
    pub(crate) fn for_each_of(&mut self, body: u32, mut change: impl FnMut(&mut Solid, &Pose)) {
        let [mut at, _] = self.ends[body as usize];
        while at != NONE {
            let place = self.place(at);
            change(&mut self.solids[at as usize], &place);
            at = self.next[at as usize];
        }
    }

    /// Returns the definition of a collider.
    pub(crate) fn def(&self, collider: u32) -> Collider {
        let Details { amount, place, name, user_data } =
            self.details(collider).cloned().unwrap_or_default();
        let Solid { shape, material, filter, is_sensor, is_enabled, .. } =
            &self.solids[collider as usize];
        Collider {
            shape: shape.clone(),
            place,
            amount,
            material: Some(*material),
            filter: Some(*filter),
            name,
            user_data,
            is_sensor: *is_sensor,
            is_enabled: *is_enabled,
        }
    }

    /// Returns the place of a collider in the frame of its body's definition.
    pub(crate) fn place(&self, collider: u32) -> Pose {
        self.details(collider).map_or(Pose::IDENTITY, |details| details.place)
    }

    /// Returns the bounds of a collider for a pose of its body.
    pub(crate) fn bounds(&self, collider: u32, pose: &Pose) -> Aabb {
        let solid = &self.solids[collider as usize];
        solid.shape.bounds(&solid.shape_pose(pose))
    }
}

/// Solids as bytes: hulls that colliders share are written once.
mod with_shared_hulls {
    use std::collections::HashMap;
    use std::sync::Arc;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Solid;
    use crate::geometry::{
        Capsule, Cone, ConvexHull, Cuboid, Cylinder, HalfSpace, Plane, Shape, Sphere,
    };
    use crate::math::Vec3;

    /// A shape, with a hull by its number.
    #[derive(Serialize, Deserialize)]
    enum Written {
        Sphere(Sphere),
        Capsule(Capsule),
        Cylinder(Cylinder),
        Cone(Cone),
        Cuboid(Cuboid),
        HalfSpace(HalfSpace),
        Hull(u32),
    }

    /// Stands for the shape of a solid until it is known.
    pub(super) fn unknown() -> Shape {
        Shape::HalfSpace(HalfSpace { plane: Plane { normal: Vec3::Z, offset: 0.0 } })
    }

    pub(super) fn serialize<S: Serializer>(solids: &[Solid], to: S) -> Result<S::Ok, S::Error> {
        let mut hulls: Vec<&ConvexHull> = Vec::new();
        let mut numbers: HashMap<*const ConvexHull, u32> = HashMap::new();
        let shapes: Vec<Written> = solids
            .iter()
            .map(|solid| match &solid.shape {
                Shape::Sphere(shape) => Written::Sphere(*shape),
                Shape::Capsule(shape) => Written::Capsule(*shape),
                Shape::Cylinder(shape) => Written::Cylinder(*shape),
                Shape::Cone(shape) => Written::Cone(*shape),
                Shape::Cuboid(shape) => Written::Cuboid(*shape),
                Shape::HalfSpace(shape) => Written::HalfSpace(*shape),
                Shape::Hull(hull) => {
                    Written::Hull(*numbers.entry(Arc::as_ptr(hull)).or_insert_with(|| {
                        hulls.push(hull);
                        hulls.len() as u32 - 1
                    }))
                }
            })
            .collect();
        (hulls, shapes, solids).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Solid>, D::Error> {
        type Parts = (Vec<ConvexHull>, Vec<Written>, Vec<Solid>);
        let (hulls, shapes, mut solids): Parts = Deserialize::deserialize(from)?;
        let hulls: Vec<Arc<ConvexHull>> = hulls.into_iter().map(Arc::new).collect();
        if shapes.len() != solids.len() {
            return Err(D::Error::custom("as many shapes as colliders expected"));
        }
        for (solid, shape) in solids.iter_mut().zip(shapes) {
            solid.shape = match shape {
                Written::Sphere(shape) => Shape::Sphere(shape),
                Written::Capsule(shape) => Shape::Capsule(shape),
                Written::Cylinder(shape) => Shape::Cylinder(shape),
                Written::Cone(shape) => Shape::Cone(shape),
                Written::Cuboid(shape) => Shape::Cuboid(shape),
                Written::HalfSpace(shape) => Shape::HalfSpace(shape),
                Written::Hull(number) => {
                    let hull = hulls.get(number as usize);
                    Shape::Hull(Arc::clone(hull.ok_or_else(|| D::Error::custom("no such hull"))?))
                }
            };
        }
        Ok(solids)
    }
}
