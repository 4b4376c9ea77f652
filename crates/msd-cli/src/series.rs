//! The time series of a run for its report, thinned as it grows to a bounded size.

use msd_record::{Frame, RecordError, Recording};
use msd_sim::World;

use crate::motions::Motions;
use crate::names::Names;
use crate::output;
use crate::report::{Album, Mark, ReportData};
use crate::totals;
use crate::verdict::Monitor;

/// Number of samples at which every other one is dropped.
const MAX_SAMPLES: usize = 2400;
/// Maximum number of marked events: the strongest impacts.
const MAX_MARKS: usize = 60;

/// The data that a report draws, collected step by step.
#[derive(Debug)]
pub struct Series {
    data: ReportData,
    totals: totals::Energy,
    motions: Motions,
    album: Album,
    names: Names,
    /// Time step, s.
    dt: f64,
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
    force: Option<f64>,
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
    pub fn new(world: &World, dt: f64) -> Self {
        Self {
            data: ReportData::default(),
            totals: totals::Energy::default(),
            motions: Motions::new(world, dt),
            album: Album::new(world),
            names: Names::of_world(world),
            dt,
            stride: 1,
            peak: Peak::default(),
            seen: 0,
            last: world.steps(),
            marks: Vec::new(),
        }
    }

    /// Adds a step.
    pub fn observe(&mut self, frame: &Frame, monitor: &Monitor) {
        let report = &frame.report;
        self.motions.observe(frame);
        self.album.observe(frame, monitor.excess(frame.step));
        let top = &mut self.peak;
        if frame.step > std::mem::replace(&mut self.last, frame.step) + 1 {
            self.totals.skip();
        }
        if let Some(ledger) = frame.ledger() {
            self.totals.add(ledger, self.seen == 0, frame.report.swept > 0);
            peak(&mut top.energy_error, ledger.energy_error());
            peak(&mut top.momentum_error, Some(ledger.momentum_error().linear.length()));
        }
        if frame.has_contacts {
            let forces = frame.contacts.iter().map(|pair| pair.impulse.length() / self.dt);
            peak(&mut top.force, Some(forces.fold(0.0, f64::max)));
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
        data.force.push(value(peak.force));
        data.penetration.push(value(peak.penetration));
        data.joint_error.push(value(peak.joint_error));
        data.residual.push(value(peak.residual));
        data.contacts.push(peak.contacts);
        data.iterations.push(value(peak.iterations));
        data.islands.push(value(peak.islands));
        for (list, sum) in data.energy.each_mut().into_iter().zip(self.totals.terms.each_mut()) {
            list.push(sum.filter(|_| frame.ledger().is_some()).unwrap_or(f64::NAN));
        }
        self.motions.sample(frame);
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
            &mut data.force,
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
        self.motions.thin(keep_later);
        self.stride *= 2;
    }

    fn mark(&mut self, frame: &Frame) {
        for hit in &frame.events.hits {
            let [a, b] = hit.colliders;
            let text = format!(
                "{} hit {} at {}, {}",
                self.names.collider(hit.a, a),
                self.names.collider(hit.b, b),
                output::quantity(hit.speed, "m/s"),
                output::quantity(hit.impulse, "N s")
            );
            let mark = Mark { time: frame.time, step: frame.step, kind: "hit".to_owned(), text };
            self.marks.push((hit.impulse, mark));
        }
        for body in &frame.events.quarantined {
            let text = format!("{} was not finite and was reset", self.names.body(*body));
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

    /// Returns whether there are more bodies than those whose motion is kept.
    pub fn leaves_out_bodies(&self) -> bool {
        self.motions.leaves_out_bodies()
    }

    /// Returns the data up to the last frame; with a recording of the run, it has the motion of the bodies that matter most
    /// of all. The caller adds title, facts and checks.
    pub fn finish(
        mut self,
        last: &Frame,
        monitor: &Monitor,
        recording: Option<&Recording>,
    ) -> Result<ReportData, RecordError> {
        if !self.seen.is_multiple_of(self.stride) {
            self.sample(last);
        }
        self.keep_strongest_marks();
        self.marks.sort_by_key(|(_, mark)| mark.step);
        if let Some(recording) = recording {
            self.motions.resample(recording, &self.data.step)?;
        }
        let samples_note = match self.stride {
            1 => String::new(),
            stride => format!(
                "One step in {stride} is drawn; errors, depths and counts show the largest value since the previous sample."
            ),
        };
        Ok(ReportData {
            pictures: self.album.draw(last, |body| monitor.has_left(body)),
            rounding: monitor.step_rounding(),
            length_scale: monitor.smallest_half_width(),
            bodies_total: self.motions.count(),
            bodies: self.motions.finish(),
            events: self.marks.into_iter().map(|(_, mark)| mark).collect(),
            samples_note,
            ..self.data
        })
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
