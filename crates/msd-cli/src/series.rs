//! The course of a run, thinned out as it grows so that it always fits a page.

use std::collections::HashMap;

use msd_record::{BodyKey, BodyState, Frame};
use msd_sim::math::Vec3;
use msd_sim::{BodyKind, World};

use crate::report::{BodySeries, Mark, ReportData};
use crate::show;
use crate::sums;

/// Samples are thinned to half of this when they reach it.
const MOST_SAMPLES: usize = 2400;
/// Bodies whose motion is kept.
const MOST_BODIES: usize = 100;
/// Impacts that are marked: the strongest.
const MOST_MARKS: usize = 60;

/// Collects what a report draws.
#[derive(Debug, Default)]
pub struct Series {
    data: ReportData,
    sums: sums::Energy,
    kept: Vec<BodyKey>,
    /// Where those began.
    starts: Vec<Vec3>,
    names: HashMap<BodyKey, String>,
    /// Steps to a sample.
    stride: u64,
    /// Largest values since the last sample.
    peak: Peak,
    seen: u64,
    last: u64,
    marks: Vec<(f64, Mark)>,
}

/// What was not measured is absent.
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

/// The one of larger size; a NaN rather than either.
fn peak(known: &mut Option<f64>, value: Option<f64>) {
    if let Some(value) = value
        && known.is_none_or(|known| !(value.abs() <= known.abs()))
    {
        *known = Some(value);
    }
}

impl Series {
    /// For a world that has not stepped yet.
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
                if series.kept.len() < MOST_BODIES {
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
    pub fn see(&mut self, frame: &Frame) {
        let report = &frame.report;
        let top = &mut self.peak;
        if frame.step > std::mem::replace(&mut self.last, frame.step) + 1 {
            self.sums.skip();
        }
        if let Some(ledger) = frame.ledger() {
            self.sums.add(ledger, self.seen == 0);
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
        for (list, sum) in data.energy.each_mut().into_iter().zip(self.sums.terms.each_mut()) {
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
        if data.time.len() >= MOST_SAMPLES {
            self.thin();
        }
    }

    /// Drops every other sample; of what peaks, the larger of two stays.
    fn thin(&mut self) {
        let data = &mut self.data;
        keep_last(&mut data.time);
        keep_last(&mut data.step);
        for list in [
            &mut data.energy_error,
            &mut data.momentum_error,
            &mut data.penetration,
            &mut data.joint_error,
            &mut data.residual,
            &mut data.iterations,
            &mut data.islands,
        ] {
            keep(list, |a, b| if a.abs() >= b.abs() || b.is_nan() { a } else { b });
        }
        keep(&mut data.contacts, u32::max);
        data.energy.each_mut().into_iter().for_each(keep_last);
        for body in &mut data.bodies {
            [&mut body.height, &mut body.drift, &mut body.speed, &mut body.spin]
                .into_iter()
                .for_each(keep_last);
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
                show::quantity(hit.speed, "m/s"),
                show::quantity(hit.impulse, "N s")
            );
            let mark = Mark { time: frame.time, step: frame.step, kind: "hit".to_owned(), text };
            self.marks.push((hit.impulse, mark));
        }
        for body in &frame.events.quarantined {
            let text = format!("{} was not finite and put back", name(body));
            let kind = "quarantined".to_owned();
            let mark = Mark { time: frame.time, step: frame.step, kind, text };
            self.marks.push((f64::INFINITY, mark));
        }
        if self.marks.len() > 16 * MOST_MARKS {
            self.cut_marks();
        }
    }

    fn cut_marks(&mut self) {
        self.marks.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.marks.truncate(MOST_MARKS);
    }

    /// What a report draws, to the last frame. Titles, facts and checks are the caller's to add.
    pub fn finish(mut self, last: &Frame) -> ReportData {
        if !self.seen.is_multiple_of(self.stride) {
            self.sample(last);
        }
        self.cut_marks();
        self.marks.sort_by_key(|(_, mark)| mark.step);
        self.data.events = self.marks.into_iter().map(|(_, mark)| mark).collect();
        if self.stride > 1 {
            self.data.samples_note = format!(
                "One of {} steps is drawn; of errors, depths and counts the largest since the one before.",
                self.stride
            );
        }
        self.data
    }
}

fn keep_last<T: Copy>(list: &mut Vec<T>) {
    keep(list, |_, last| last);
}

/// Makes one of two.
fn keep<T: Copy>(list: &mut Vec<T>, one: impl Fn(T, T) -> T) {
    let pairs = list.len() / 2;
    for pair in 0..pairs {
        list[pair] = one(list[2 * pair], list[2 * pair + 1]);
    }
    list.truncate(pairs);
}
