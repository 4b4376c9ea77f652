//! Names of bodies and of their colliders in results.

use std::borrow::Cow;
use std::collections::HashMap;

use msd_record::{BodyInfo, BodyKey, ColliderKey, Recording};
use msd_sim::{Body, World};

use crate::output;

/// The names of all bodies of a run and of their colliders.
#[derive(Debug, Default)]
pub struct Names {
    bodies: HashMap<BodyKey, NamedBody>,
    owners: HashMap<ColliderKey, BodyKey>,
}

#[derive(Debug)]
struct NamedBody {
    name: String,
    has_own_name: bool,
    /// Its colliders with their names in results, in the order in which the body lists them.
    colliders: Vec<(ColliderKey, String)>,
}

impl Names {
    /// Returns the names in a world.
    pub fn of_world(world: &World) -> Self {
        let mut names = Self::default();
        world.bodies().for_each(|body| names.add(&body));
        names
    }

    /// Returns the names in a recording.
    pub fn of_recording(recording: &Recording) -> Self {
        let mut names = Self::default();
        recording.bodies().iter().for_each(|body| names.add_info(body));
        names
    }

    /// Adds a body of a world.
    pub fn add(&mut self, body: &Body<'_>) {
        let colliders = body.colliders();
        let colliders = colliders.map(|one| (one.id().into(), one.name().to_owned())).collect();
        self.insert(body.id().into(), body.name(), colliders);
    }

    /// Adds a recorded body.
    pub fn add_info(&mut self, body: &BodyInfo) {
        let colliders = body.colliders.iter().map(|one| (one.collider, one.name.clone()));
        self.insert(body.body, &body.name, colliders.collect());
    }

    fn insert(&mut self, key: BodyKey, name: &str, colliders: Vec<(ColliderKey, String)>) {
        self.owners.extend(colliders.iter().map(|(collider, _)| (*collider, key)));
        let (has_own_name, name) = (!name.is_empty(), body_name(name, key));
        let is_only = colliders.len() == 1;
        let named = |(place, (key, own)): (usize, (ColliderKey, String))| match own.as_str() {
            _ if is_only => (key, name.clone()),
            "" => (key, format!("{name}/collider {place}")),
            own => (key, format!("{name}/{own}")),
        };
        let colliders = colliders.into_iter().enumerate().map(named).collect();
        self.bodies.insert(key, NamedBody { name, has_own_name, colliders });
    }

    /// Returns the name of a body: its own, or one with its index.
    pub fn body(&self, body: BodyKey) -> Cow<'_, str> {
        match self.bodies.get(&body) {
            Some(named) => Cow::Borrowed(&named.name),
            None => Cow::Owned(body_name("", body)),
        }
    }

    /// Returns the names of all bodies.
    pub fn bodies(&self) -> impl Iterator<Item = &str> + Clone {
        self.bodies.values().map(|named| named.name.as_str())
    }

    /// Returns the name of a body, quoted if it is its own.
    pub fn quoted_body(&self, body: BodyKey) -> String {
        self.quoted(body, &self.body(body))
    }

    /// Returns the name of a collider of a body, quoted if the body has a name of its own.
    pub fn quoted_collider(&self, body: BodyKey, collider: ColliderKey) -> String {
        self.quoted(body, &self.collider(body, collider))
    }

    fn quoted(&self, body: BodyKey, name: &str) -> String {
        let has_own_name = self.bodies.get(&body).is_some_and(|named| named.has_own_name);
        if has_own_name { output::quoted(name) } else { output::plain(name) }
    }

    /// Returns the name of a collider of a body: that of the body if it has no other, else both, as in `table/top`, or
    /// `table/collider 1` if the second one has no name.
    pub fn collider(&self, body: BodyKey, collider: ColliderKey) -> Cow<'_, str> {
        let Some(named) = self.bodies.get(&body) else { return Cow::Owned(body_name("", body)) };
        match named.colliders.iter().find(|(key, _)| *key == collider) {
            Some((_, name)) => Cow::Borrowed(name),
            // Added to its body later.
            None => Cow::Owned(format!("{}/collider in slot {}", named.name, collider.index)),
        }
    }

    /// Returns the position of a collider in the list of its body's colliders, unless it was added later.
    #[cfg(feature = "view")]
    pub fn position(&self, body: BodyKey, collider: ColliderKey) -> Option<u32> {
        let list = &self.bodies.get(&body)?.colliders;
        list.iter().position(|(key, _)| *key == collider).map(|at| at as u32)
    }

    /// Returns the body of a collider, unless the collider was added to its body later.
    pub fn owner(&self, collider: ColliderKey) -> Option<BodyKey> {
        self.owners.get(&collider).copied()
    }
}

/// Returns the name of a body in results: its own, or one with its index.
pub fn body_name(name: &str, body: BodyKey) -> String {
    if name.is_empty() { format!("body {}", body.index) } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collider_is_named_where_its_body_has_others_or_it_was_added_later() {
        let collider = |index| ColliderKey { index, generation: 0 };
        let body = |index| BodyKey { index, generation: 0 };
        let mut names = Names::default();
        names.insert(body(0), "ball", vec![(collider(0), "shell".to_owned())]);
        let parts = vec![(collider(1), "top".to_owned()), (collider(2), String::new())];
        names.insert(body(1), "table", parts);
        names.insert(body(2), "", vec![]);
        assert_eq!(names.collider(body(0), collider(0)), "ball");
        assert_eq!(names.collider(body(0), collider(9)), "ball/collider in slot 9");
        assert_eq!(names.collider(body(1), collider(1)), "table/top");
        assert_eq!(names.collider(body(1), collider(2)), "table/collider 1");
        assert_eq!(names.collider(body(2), collider(5)), "body 2/collider in slot 5");
        assert_eq!(names.collider(body(7), collider(7)), "body 7");
        assert_eq!(names.quoted_collider(body(1), collider(1)), "\"table/top\"");
        assert_eq!(names.quoted_body(body(2)), "body 2");
        assert_eq!(names.owner(collider(2)), Some(body(1)));
        assert_eq!(names.owner(collider(5)), None);
    }
}
