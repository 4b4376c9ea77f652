//! Bodies caught between environment bodies that approach each other: no solver can satisfy both.

use std::collections::HashMap;

use msd_record::{BodyKey, Frame, PairRecord};
use msd_sim::math::Vec3;

/// Cosine of the largest angle between the direction of a squeeze and the normals of the contacts that pass it on.
const ALIGNED: f64 = 0.5;
/// Fraction of the speed of two environment bodies with which they must approach each other: less is rounding.
const CLOSING: f64 = 1e-2;

/// Two environment bodies that approach each other, and the inertial body that one of them presses on.
#[derive(Clone, Debug)]
pub(super) struct Squeeze {
    pub(super) by: [BodyKey; 2],
    pub(super) body: BodyKey,
    /// These bodies, and those that pass the forces on.
    pub(super) chain: Vec<BodyKey>,
}

/// A way for forces from one body to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    bodies: [BodyKey; 2],
    /// Unit direction from the first body to the second.
    normal: Vec3,
    point: Vec3,
    /// Impulse over the step, N s.
    impulse: f64,
}

impl Link {
    /// Returns the links of a step: contacts at its end, and impacts within it.
    fn all(frame: &Frame) -> Vec<Self> {
        let contacts = frame.contacts.iter().filter_map(|pair| Self::of_pair(frame, pair));
        let hits = frame.events.hits.iter().map(|hit| Self {
            bodies: [hit.a, hit.b],
            normal: hit.normal,
            point: hit.position,
            impulse: hit.impulse,
        });
        contacts.chain(hits).collect()
    }

    pub(super) fn of_pair(frame: &Frame, pair: &PairRecord) -> Option<Self> {
        let point = frame.points_of(pair).first()?.position;
        let impulse = pair.impulse.length();
        Some(Self { bodies: [pair.a, pair.b], normal: pair.normal, point, impulse })
    }

    /// Returns the link with the largest impulse.
    pub(super) fn most_loaded(frame: &Frame) -> Option<Self> {
        Self::all(frame).into_iter().max_by(|a, b| a.impulse.total_cmp(&b.impulse))
    }
}

/// Returns the environment bodies that squeeze the bodies of a link, directly or through other bodies.
pub(super) fn find_squeeze(
    frame: &Frame,
    link: Link,
    is_inertial: impl Fn(BodyKey) -> bool,
) -> Option<Squeeze> {
    let mut links_of: HashMap<BodyKey, Vec<Link>> = HashMap::new();
    for link in Link::all(frame) {
        for body in link.bodies {
            links_of.entry(body).or_default().push(link);
        }
    }
    // Follows links from a body along a direction to an environment body; returns it, with its velocity as if it reached to the
    // first link: bodies that move together as one have the same there. Adds the bodies on the way.
    let mut chain = Vec::new();
    let mut follow = |from: BodyKey, direction: Vec3| {
        let mut seen = vec![from];
        let mut next = vec![from];
        while let Some(body) = next.pop() {
            if !is_inertial(body) {
                let state = frame.state(body.index).filter(|state| state.body == body)?;
                let spin = state.angular_velocity.cross(link.point - state.position);
                chain.append(&mut seen);
                return Some((body, state.velocity + spin));
            }
            for link in links_of.get(&body).into_iter().flatten() {
                let [a, b] = link.bodies;
                let (other, normal) = if a == body { (b, link.normal) } else { (a, -link.normal) };
                if normal.dot(direction) > ALIGNED && !seen.contains(&other) {
                    seen.push(other);
                    next.push(other);
                }
            }
        }
        None
    };
    let [a, b] = link.bodies;
    let (before, velocity_before) = follow(a, -link.normal)?;
    let (after, velocity_after) = follow(b, link.normal)?;
    let speed = velocity_before.length().max(velocity_after.length());
    let closing = (velocity_before - velocity_after).dot(link.normal);
    let body = link.bodies.into_iter().find(|&body| is_inertial(body))?;
    (closing > CLOSING * speed).then_some(Squeeze { by: [before, after], body, chain })
}
