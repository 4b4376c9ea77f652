//! The time series of a run for its report, thinned as it grows to a bounded size.

use std::collections::HashMap;

use msd_record::{BodyKey, BodyState, Frame};
use msd_sim::math::Vec3;
use msd_sim::{BodyKind, World};

use crate::output;
use crate::report::{BodySeries, Mark, ReportData};
use crate::totals;

/// Number of samples at which every other one is dropped.
const MAX_SAMPLES: usize = 2400;
/// Maximum number of bodies whose motion is kept.
const MAX_BODIES: usize = 100;
/// Maximum number of marked events: the strongest impacts.
const MAX_MARKS: usize = 60;

/// The data that a report draws, collected step by step.
#[derive(Debug, Default)]
pub struct Series {
    data: ReportData,
    totals: totals::Energy,
    kept: Vec<BodyKey>,
    /// Initial positions of those bodies, m.
    starts: Vec<Vec3>,
    names: HashMap<BodyKey, String>,
    /// Steps per sample.
    stride: u64,
    /// Largest values since the last sample.
    peak: Peak,
    seen: u64,
    last: u64,
    marks: Vec<(f64, Mark)>,
}

/// The largest values of several steps; `None` if not measured.
#[derive(Clone, Copy, Debug, Default)]
struct Peak {
    energy_error: Option<f64>,
    momentum_error: Option<f64>,
    penetration: Option<f64>,
    joint_error: Option<f64>,
    residual: Option<f64>,
    contacts: u32,
    iterations: Option<f64>,
    islands: Option<f64>,
}

/// Keeps the value of larger magnitude; NaN replaces any value.
fn peak(known: &mut Option<f64>, value: Option<f64>) {
    if let Some(value) = value
        && known.is_none_or(|known| !(value.abs() <= known.abs()))
    {
        *known = Some(value);
    }
}

impl Series {
    /// Creates the series of a world before its first step.
    pub fn new(world: &World) -> Self {
        let mut series = Self { stride: 1, last: world.steps(), ..Self::default() };
        for body in world.bodies() {
            let key = BodyKey::from(body.id());
            let name = match body.name() {
                "" => format!("body {}", key.index),
                name => name.to_owned(),
            };
            if body.kind() == BodyKind::Inertial {
                series.data.bodies_total += 1;
                if series.kept.len() < MAX_BODIES {
                    series.kept.push(key);
                    series.starts.push(body.position());
                    series
                        .data
                        .bodies
                        .push(BodySeries { name: name.clone(), ..BodySeries::default() });
                }
            }
            series.names.insert(key, name);
        }
        series
    }

    /// Adds a step.
    pub fn observe(&mut self, frame: &Frame) {
        let report = &frame.report;
        let top = &mut self.peak;
        if frame.step > std::mem::replace(&mut self.last, frame.step) + 1 {
            self.totals.skip();
        }
        if let Some(ledger) = frame.ledger() {
            self.totals.add(ledger, self.seen == 0, frame.report.swept > 0);
            peak(&mut top.energy_error, ledger.energy_error());
            peak(&mut top.momentum_error, Some(ledger.momentum_error().linear.length()));
        }
        peak(&mut top.penetration, report.max_penetration);
        peak(&mut top.joint_error, report.max_joint_error);
        peak(&mut top.residual, report.residual());
        top.contacts = top.contacts.max(report.contacts as u32);
        peak(&mut top.iterations, report.solve.map(|solve| solve.iterations as f64));
        peak(&mut top.islands, report.islands.map(|islands| islands as f64));
        self.mark(frame);
        self.seen += 1;
        if self.seen.is_multiple_of(self.stride) {
            self.sample(frame);
        }
    }

    fn sample(&mut self, frame: &Frame) {
        let (data, peak) = (&mut self.data, std::mem::take(&mut self.peak));
        data.time.push(frame.time);
        data.step.push(frame.step);
        let value = |peak: Option<f64>| peak.unwrap_or(f64::NAN);
        data.energy_error.push(value(peak.energy_error));
        data.momentum_error.push(value(peak.momentum_error));
        data.penetration.push(value(peak.penetration));
        data.joint_error.push(value(peak.joint_error));
        data.residual.push(value(peak.residual));
        data.contacts.push(peak.contacts);
        data.iterations.push(value(peak.iterations));
        data.islands.push(value(peak.islands));
        for (list, sum) in data.energy.each_mut().into_iter().zip(self.totals.terms.each_mut()) {
            list.push(sum.filter(|_| frame.ledger().is_some()).unwrap_or(f64::NAN));
        }
        for ((body, start), series) in self.kept.iter().zip(&self.starts).zip(&mut data.bodies) {
            let state = frame.state(body.index).filter(|state| state.body == *body);
            let value =
                |of: fn(&BodyState, Vec3) -> f64| state.map_or(f64::NAN, |state| of(state, *start));
            series.height.push(value(|state, _| state.position.z));
            series.drift.push(value(|state, start| (state.position - start).truncate().length()));
            series.speed.push(value(|state, _| state.velocity.length()));
            series.spin.push(value(|state, _| state.angular_velocity.length()));
        }
        if data.time.len() >= MAX_SAMPLES {
            self.thin();
        }
    }

    /// Drops every other sample; peak values keep the larger of two.
    fn thin(&mut self) {
        let data = &mut self.data;
        keep_later(&mut data.time);
        keep_later(&mut data.step);
        for list in [
            &mut data.energy_error,
            &mut data.momentum_error,
            &mut data.penetration,
            &mut data.joint_error,
            &mut data.residual,
            &mut data.iterations,
            &mut data.islands,
        ] {
            merge_pairs(list, |a, b| if a.abs() >= b.abs() || b.is_nan() { a } else { b });
        }
        merge_pairs(&mut data.contacts, u32::max);
        data.energy.each_mut().into_iter().for_each(keep_later);
        for body in &mut data.bodies {
            [&mut body.height, &mut body.drift, &mut body.speed, &mut body.spin]
                .into_iter()
                .for_each(keep_later);
        }
        self.stride *= 2;
    }

    fn mark(&mut self, frame: &Frame) {
        let name = |key| self.names.get(key).map_or("?", String::as_str);
        for hit in &frame.events.hits {
            let text = format!(
                "{} hit {} at {}, {}",
                name(&hit.a),
                name(&hit.b),
                output::quantity(hit.speed, "m/s"),
                output::quantity(hit.impulse, "N s")
            );
            let mark = Mark { time: frame.time, step: frame.step, kind: "hit".to_owned(), text };
            self.marks.push((hit.impulse, mark));
        }
        for body in &frame.events.quarantined {
            let text = format!("{} was not finite and was reset", name(body));
            let kind = "quarantined".to_owned();
            let mark = Mark { time: frame.time, step: frame.step, kind, text };
            self.marks.push((f64::INFINITY, mark));
        }
        if self.marks.len() > 16 * MAX_MARKS {
            self.keep_strongest_marks();
        }
    }

    fn keep_strongest_marks(&mut self) {
        self.marks.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.marks.truncate(MAX_MARKS);
    }

    /// Returns the data up to the last frame. The caller adds title, facts and checks.
    pub fn finish(mut self, last: &Frame) -> ReportData {
        if !self.seen.is_multiple_of(self.stride) {
            self.sample(last);
        }
        self.keep_strongest_marks();
        self.marks.sort_by_key(|(_, mark)| mark.step);
        self.data.events = self.marks.into_iter().map(|(_, mark)| mark).collect();
        if self.stride > 1 {
            self.data.samples_note = format!(
                "One step in {} is drawn; errors, depths and counts show the largest value since the previous sample.",
                self.stride
            );
        }
        self.data
    }
}

fn keep_later<T: Copy>(list: &mut Vec<T>) {
    merge_pairs(list, |_, last| last);
}

/// Replaces each two neighbors by one value.
fn merge_pairs<T: Copy>(list: &mut Vec<T>, merge: impl Fn(T, T) -> T) {
    let pairs = list.len() / 2;
    for pair in 0..pairs {
        list[pair] = merge(list[2 * pair], list[2 * pair + 1]);
    }
    list.truncate(pairs);
}
