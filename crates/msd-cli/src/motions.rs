//! The motion of the bodies that matter most in a run, for its report.

use std::collections::HashMap;

use msd_record::{BodyKey, BodyState, Frame, RecordError, Recording};
use msd_sim::math::{Quat, Vec3};
use msd_sim::{BodyKind, World};

use crate::names::body_name;
use crate::report::BodySeries;

/// Maximum number of bodies whose motion is kept.
const MAX_BODIES: usize = 100;

/// The motion of some bodies, and how far every body went.
#[derive(Debug)]
pub struct Motions {
    /// All inertial bodies, in the order of the scene.
    bodies: Vec<Followed>,
    /// Places of bodies in `bodies`.
    places: HashMap<BodyKey, usize>,
    /// Places of the bodies whose motion is kept, and their motion.
    kept: Vec<(usize, BodySeries)>,
    /// Opposite to gravity.
    up: Vec3,
    /// Time step, s.
    dt: f64,
}

/// An inertial body: where it started, how far it went, and its largest contact force.
#[derive(Clone, Debug)]
struct Followed {
    key: BodyKey,
    name: String,
    start: Vec3,
    rotation: Quat,
    /// Largest distance from the start, m.
    moved: f64,
    /// Largest force of a contact, N.
    load: f64,
}

impl Motions {
    /// Follows the bodies of a world before its first step; the motion of the first ones is kept.
    pub fn new(world: &World, dt: f64) -> Self {
        let inertial = world.bodies().filter(|body| body.kind() == BodyKind::Inertial);
        let followed = inertial.map(|body| Followed {
            key: body.id().into(),
            name: body_name(body.name(), body.id().into()),
            start: body.position(),
            rotation: body.pose().rotation,
            moved: 0.0,
            load: 0.0,
        });
        let bodies: Vec<Followed> = followed.collect();
        let places = bodies.iter().enumerate().map(|(place, body)| (body.key, place)).collect();
        let up = (-world.settings().gravity).try_normalize().unwrap_or(Vec3::Z);
        let mut motions = Self { bodies, places, kept: Vec::new(), up, dt };
        motions.keep((0..motions.bodies.len().min(MAX_BODIES)).collect());
        motions
    }

    fn keep(&mut self, places: Vec<usize>) {
        let series = |place: usize| {
            let name = self.bodies[place].name.clone();
            (place, BodySeries { name, ..BodySeries::default() })
        };
        self.kept = places.into_iter().map(series).collect();
    }

    /// Returns the number of inertial bodies.
    pub fn count(&self) -> usize {
        self.bodies.len()
    }

    /// Returns whether there are more bodies than those whose motion is kept.
    pub fn leaves_out_bodies(&self) -> bool {
        self.bodies.len() > self.kept.len()
    }

    /// Observes how far bodies are and how they are loaded.
    pub fn observe(&mut self, frame: &Frame) {
        for state in &frame.states {
            if let Some(body) = self.places.get(&state.body).map(|&at| &mut self.bodies[at]) {
                body.moved = body.moved.max((state.position - body.start).length());
            }
        }
        for pair in &frame.contacts {
            let force = pair.impulse.length() / self.dt;
            for key in [pair.a, pair.b] {
                if let Some(body) = self.places.get(&key).map(|&at| &mut self.bodies[at]) {
                    body.load = body.load.max(force);
                }
            }
        }
    }

    /// Adds a sample of the bodies that are kept.
    pub fn sample(&mut self, frame: &Frame) {
        let up = self.up;
        for (place, series) in &mut self.kept {
            let body = &self.bodies[*place];
            let state = frame.state(body.key.index).filter(|state| state.body == body.key);
            let value = |of: &dyn Fn(&BodyState) -> f64| state.map_or(f64::NAN, of);
            series.height.push(value(&|state| state.position.dot(up)));
            series.drift.push(value(&|state| {
                let moved = state.position - body.start;
                (moved - up * moved.dot(up)).length()
            }));
            series.speed.push(value(&|state| state.velocity.length()));
            series.spin.push(value(&|state| state.angular_velocity.length()));
            series.tilt.push(value(&|state| {
                let turned = state.rotation * (body.rotation.conjugate() * up);
                // More accurate for small angles than the cosine alone.
                turned.cross(up).length().atan2(turned.dot(up)).to_degrees()
            }));
        }
    }

    /// Drops every other sample.
    pub fn thin(&mut self, mut thin: impl FnMut(&mut Vec<f64>)) {
        for (_, series) in &mut self.kept {
            let BodySeries { name: _, height, drift, speed, spin, tilt } = series;
            [height, drift, speed, spin, tilt].into_iter().for_each(&mut thin);
        }
    }

    /// Replaces the bodies that are kept by those that matter most, sampled at `steps` of a recording.
    pub fn resample(&mut self, recording: &Recording, steps: &[u64]) -> Result<(), RecordError> {
        if !self.leaves_out_bodies() {
            return Ok(());
        }
        self.keep(self.most_important((0..self.bodies.len()).collect()));
        for frame in recording.frames() {
            let frame = frame?;
            if steps.binary_search(&frame.step).is_ok() {
                self.sample(&frame);
            }
        }
        Ok(())
    }

    /// Sorts bodies by what they did, alternating between those that moved most and those that were loaded most, and drops
    /// those beyond the number that is kept.
    fn most_important(&self, places: Vec<usize>) -> Vec<usize> {
        let by = |value: fn(&Followed) -> f64| {
            let mut sorted = places.clone();
            sorted.sort_by(|&a, &b| value(&self.bodies[b]).total_cmp(&value(&self.bodies[a])));
            sorted
        };
        let (moved, loaded) = (by(|body| body.moved), by(|body| body.load));
        let (mut chosen, mut is_chosen) = (Vec::new(), vec![false; self.bodies.len()]);
        for place in moved.into_iter().zip(loaded).flat_map(|(a, b)| [a, b]) {
            if chosen.len() < MAX_BODIES && !std::mem::replace(&mut is_chosen[place], true) {
                chosen.push(place);
            }
        }
        chosen
    }

    /// Returns the motion of the bodies that are kept, the most important first.
    pub fn finish(mut self) -> Vec<BodySeries> {
        let order = self.most_important(self.kept.iter().map(|(place, _)| *place).collect());
        let mut kept: HashMap<usize, BodySeries> =
            std::mem::take(&mut self.kept).into_iter().collect();
        order.iter().filter_map(|place| kept.remove(place)).collect()
    }
}
