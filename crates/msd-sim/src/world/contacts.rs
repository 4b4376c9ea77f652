//! Contacts of a world, as the last step left them.

use super::World;
use crate::error::BodyError;
use crate::id::BodyId;
use crate::math::SpatialVector;
use crate::views::{BodyImpulses, ContactView};

impl World {
    /// Returns the pairs of bodies that touched in the last step, or are about to, at the end of the step and in the
    /// order of their handles: without points if they separated within it.
    #[doc(alias = "contact_pairs")]
    #[doc(alias = "mjContact")]
    pub fn contacts(&self) -> impl Iterator<Item = ContactView<'_>> {
        self.contacts_with(None)
    }

    /// Returns the contacts of a body, as in [`contacts`](Self::contacts): one pass over the near pairs of the world.
    #[doc(alias = "contact_pairs_with")]
    pub fn contacts_of(
        &self,
        body: BodyId,
    ) -> Result<impl Iterator<Item = ContactView<'_>>, BodyError> {
        self.model.bodies.find(body)?;
        Ok(self.contacts_with(Some(body.index)))
    }

    /// Returns what contacts and joints did to a body over the last step, by cause.
    ///
    /// Moments of contacts are those that acted; those of joints are taken at the anchors as the step left them.
    ///
    /// ```
    /// use msd_sim::{BodyDef, JointDef, World, geometry::Shape, math::Vec3};
    /// let mut world = World::default();
    /// let hook = world.add_body(BodyDef::environment(Shape::sphere(0.1)?))?;
    /// let lamp = BodyDef::inertial(Shape::sphere(0.1)?).mass(3.0).position(-Vec3::Z);
    /// let lamp = world.add_body(lamp)?;
    /// world.add_joint(JointDef::rod(hook, lamp, 1.0))?;
    /// let dt = 1.0 / 60.0;
    /// world.step(dt)?;
    /// let impulses = world.impulses_on(lamp)?;
    /// let force = impulses.joints.linear / dt;
    /// assert!((force.z - 3.0 * 9.81).abs() < 1e-9);
    /// assert_eq!(impulses.contacts.linear, Vec3::ZERO);
    /// # Ok::<(), msd_sim::Error>(())
    /// ```
    pub fn impulses_on(&self, body: BodyId) -> Result<BodyImpulses, BodyError> {
        let pose = self.model.bodies.poses[self.model.bodies.find(body)?];
        let mut impulses = BodyImpulses::default();
        for contact in self.contacts_of(body)? {
            impulses.contacts += contact.impulse_on(body);
        }
        for index in self.model.joints.of(body.index) {
            let joint = &self.model.joints.joints[index as usize];
            for (end, sign) in [(0, -1.0), (1, 1.0)] {
                if joint.bodies[end] == body.index {
                    let arm = pose.transform_vector(joint.def.anchors[end]);
                    impulses.joints += SpatialVector::force_at(joint.total * sign, arm);
                }
            }
        }
        Ok(impulses)
    }

    /// Returns the contacts of one body, or of all.
    fn contacts_with(&self, body: Option<u32>) -> impl Iterator<Item = ContactView<'_>> {
        let bodies = &self.model.bodies;
        let of = move |pair: [u32; 2]| body.is_none_or(|body| pair.contains(&body));
        let exact = self.contacts.collision.near_pairs().filter(move |near| of(near.pair.bodies));
        let exact = exact.filter_map(|near| self.contacts.constraints.record(bodies, near));
        let swept = self.states.swept.contacts_of(
            bodies,
            &self.contacts.collision,
            &self.contacts.constraints,
            body,
        );
        let (mut exact, mut swept) = (exact.peekable(), swept.peekable());
        let both = std::iter::from_fn(move || match (exact.peek(), swept.peek()) {
            (Some(a), Some(b)) if b.colliders < a.colliders => swept.next(),
            (None, _) => swept.next(),
            _ => exact.next(),
        });
        both.map(move |contact| ContactView { contact, bodies })
    }
}
