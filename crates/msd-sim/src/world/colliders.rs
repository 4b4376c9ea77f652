//! The colliders of a world: shapes that are added to bodies, changed and removed while it runs.

use super::{Change, World};
use crate::bodies::Collider;
use crate::error::BodyError;
use crate::id::{BodyId, ColliderId};
use crate::math::Vec3;
use crate::views::ColliderView;

impl World {
    /// Adds a collider to a body. Mass, inertia and center of mass follow; the velocity of every point of the body stays.
    ///
    /// ```
    /// use msd_sim::{BodyDef, Collider, World, geometry::Shape, math::Vec3};
    /// let mut world = World::default();
    /// let cube = |x: f64| -> Result<Collider, msd_sim::Error> {
    ///     Ok(Collider::new(Shape::cuboid(Vec3::splat(0.5))?).at(Vec3::X * x))
    /// };
    /// let body = world.add_body(BodyDef::inertial(cube(0.0)?))?;
    /// let second = world.add_collider(body, cube(1.0)?)?;
    /// // The center of mass, which is the body's position, is now between the two.
    /// assert_eq!((world.body(body)?.mass(), world.body(body)?.position()), (2000.0, Vec3::X * 0.5));
    /// assert_eq!(world.collider(second)?.pose().position, Vec3::X);
    /// world.remove_collider(second)?;
    /// assert_eq!((world.body(body)?.mass(), world.body(body)?.position()), (1000.0, Vec3::ZERO));
    /// # Ok::<(), msd_sim::Error>(())
    /// ```
    #[doc(alias = "insert_with_parent")]
    pub fn add_collider(
        &mut self,
        body: BodyId,
        collider: impl Into<Collider>,
    ) -> Result<ColliderId, BodyError> {
        let index = self.model.bodies.find(body)?;
        let (id, shift) = self.model.bodies.add_collider(index, collider.into())?;
        self.contacts.collision.insert_collider(&self.model.bodies, id.index);
        self.refill(body, id, shift);
        Ok(id)
    }

    /// Removes a collider, and the mass that it gave its body. Its contacts end without an event, and what overlapped a sensor
    /// that is removed does not leave it. Fails for the last collider with mass of an inertial body, unless the body was given
    /// both mass and inertia.
    pub fn remove_collider(&mut self, id: ColliderId) -> Result<(), BodyError> {
        let collider = self.model.bodies.colliders.find(id)?;
        let body = self.model.bodies.id(self.model.bodies.colliders.body(collider as u32));
        let shift = self.model.bodies.remove_collider(collider as u32)?;
        self.refill(body, id, shift);
        self.notify(body.index, Change::Removed { collider: Some(id.index) });
        Ok(())
    }

    /// Changes a collider: `change` gets its definition, with the material and filter it has, and returns another. Mass,
    /// inertia and center of mass of the body follow; the velocity of every point of the body stays.
    ///
    /// ```
    /// use msd_sim::{BodyDef, World, geometry::Shape, math::Vec3};
    /// let mut world = World::default();
    /// let ball = world.add_body(BodyDef::inertial(Shape::sphere(1.0)?))?;
    /// let collider = world.body(ball)?.colliders().next().expect("a ball").id();
    /// world.change_collider(collider, |ball| ball.at(Vec3::X).mass(2.0))?;
    /// assert_eq!((world.body(ball)?.mass(), world.body(ball)?.position()), (2.0, Vec3::X));
    /// # Ok::<(), msd_sim::Error>(())
    /// ```
    #[doc(alias = "set_sensor")]
    #[doc(alias = "set_enabled")]
    #[doc(alias = "set_position_wrt_parent")]
    pub fn change_collider(
        &mut self,
        id: ColliderId,
        change: impl FnOnce(Collider) -> Collider,
    ) -> Result<(), BodyError> {
        let collider = self.model.bodies.colliders.find(id)? as u32;
        let body = self.model.bodies.id(self.model.bodies.colliders.body(collider));
        let old = self.model.bodies.colliders.def(collider);
        let new = change(old.clone());
        let solid = new.is_as_solid_as(&old);
        let shift = self.model.bodies.replace_collider(collider, new.clone())?;
        if !solid {
            self.refill(body, id, shift);
        }
        if !solid || new.filter != old.filter {
            self.notify(body.index, Change::Filter);
        }
        if new.material != old.material {
            self.notify(body.index, Change::Material);
        }
        Ok(())
    }

    /// Returns a view of a collider, or an error if there is no such collider.
    pub fn collider(&self, id: ColliderId) -> Result<ColliderView<'_>, BodyError> {
        let index = self.model.bodies.colliders.find(id)? as u32;
        Ok(ColliderView { bodies: &self.model.bodies, index })
    }

    /// Returns all colliders, in the order of their handles; `colliders().len()` counts them.
    pub fn colliders(&self) -> impl ExactSizeIterator<Item = ColliderView<'_>> {
        let bodies = &self.model.bodies;
        bodies.colliders.slots.map(move |index| ColliderView { bodies, index })
    }

    /// Returns the colliders that overlapped a [sensor](Collider::sensor) after the last step, in the order of their handles;
    /// none for a collider that is no sensor.
    #[doc(alias = "intersection_pairs_with")]
    pub fn overlaps_of(
        &self,
        sensor: ColliderId,
    ) -> Result<impl Iterator<Item = ColliderId>, BodyError> {
        self.model.bodies.colliders.find(sensor)?;
        Ok(self.output.sensors.overlaps_of(sensor))
    }

    /// Updates everything that depends on a collider that was added to a body, removed or changed. The center of mass
    /// moved by `shift` in the body's axes.
    fn refill(&mut self, body: BodyId, collider: ColliderId, shift: Vec3) {
        if shift != Vec3::ZERO {
            self.model.joints.shift_anchors(body.index, -shift);
            self.model.potentials.shift_anchors(body, -shift);
        }
        let collider = (shift == Vec3::ZERO).then_some(collider.index);
        self.notify(body.index, Change::Shape { collider });
    }
}
