//! Contacts of a world, as the last step left them.

use super::World;
use crate::error::BodyError;
use crate::id::BodyId;
use crate::views::ContactView;

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
        self.bodies.find(body)?;
        Ok(self.contacts_with(Some(body.index)))
    }

    /// Returns the contacts of one body, or of all.
    fn contacts_with(&self, body: Option<u32>) -> impl Iterator<Item = ContactView<'_>> {
        let bodies = &self.bodies;
        let of = move |pair: [u32; 2]| body.is_none_or(|body| pair.contains(&body));
        let exact = self.collision.near_pairs().filter(move |near| of(near.pair.bodies));
        let exact = exact.filter_map(|near| self.constraints.record(bodies, near));
        let swept = self.swept.contacts_of(bodies, &self.collision, &self.constraints, body);
        let (mut exact, mut swept) = (exact.peekable(), swept.peekable());
        let both = std::iter::from_fn(move || match (exact.peek(), swept.peek()) {
            (Some(a), Some(b)) if b.bodies < a.bodies => swept.next(),
            (None, _) => swept.next(),
            _ => exact.next(),
        });
        both.map(move |contact| ContactView { contact, bodies })
    }
}
