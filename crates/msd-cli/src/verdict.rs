//! Whether a run can be believed: what is checked in every step, and what it comes to.

mod advice;

use msd_record::{BodyKey, Frame, PairRecord};
use msd_scene::{Scene, Simulation};
use msd_sim::{Body, Continuous, JointKind, Ledger, Method, Settings, World};
use serde::{Deserialize, Serialize};

use crate::show;
use crate::sums::{Counts, Energy, Scales, relative};

/// Residuals of exact steps, relative to the speeds of their islands.
const RESIDUAL: Band = Band { warn: 1e-3, fail: 1e-1 };
/// Position error that the residual of a swept step makes in that step, as a fraction of the smaller body's half
/// width: a swept step does not solve to a tolerance, so what counts is how far bodies are off by it.
const SWEPT_RESIDUAL: Band = Band { warn: 1e-2, fail: 1e-1 };
/// Overlaps, and position errors of joints, as a fraction of the smaller body's half width.
const PENETRATION: Band = Band { warn: 1e-2, fail: 1e-1 };
/// What the ledger of a step does not account for, as a fraction of the energy or momentum that is in
/// it: more than rounding is a defect.
const LEDGER: Band = Band { warn: 1e-9, fail: 1e-9 };
/// Energy and angular momentum that discretisation added or took in all, as a fraction of what is in motion.
const DRIFT: Band = Band { warn: 1e-2, fail: 1e-1 };
/// Distance in one step, over the half widths of a body and of the thinnest other one.
const REACH: f64 = 1.0;
/// Impacts that had no bounce because there were too many, as a fraction of all.
const UNANSWERED: Band = Band { warn: 0.0, fail: f64::INFINITY };
/// Energy lost to impacts slower than `rest_speed`, as a fraction of the energy in motion.
const REST_SPEED: Band = Band { warn: 5e-2, fail: f64::INFINITY };

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As promised.
    Pass,
    /// Not judged: what it takes was not measured, or does not apply.
    Skip,
    /// Worth a look.
    Warn,
    /// Not as promised.
    Fail,
}

impl Verdict {
    /// As a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Skip => "skip",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One check of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Check {
    /// What was checked.
    pub name: String,
    /// How it ended.
    pub verdict: Verdict,
    /// What was found, with numbers and units; of a check that was skipped, why.
    pub message: String,
    /// The step to look at.
    pub step: Option<u64>,
    /// The bodies concerned.
    pub bodies: Vec<String>,
}

/// What of one step is worth a look.
#[cfg(feature = "view")]
#[derive(Clone, Debug)]
pub struct Warning {
    /// The check that it concerns.
    pub check: &'static str,
    /// How many times what the check passes.
    pub times: f64,
    /// What was found, with numbers and units.
    pub message: String,
    /// The bodies concerned.
    pub bodies: Vec<BodyKey>,
}

/// Limits of a measure.
struct Band {
    warn: f64,
    fail: f64,
}

impl Band {
    /// What is not a number fails.
    fn judge(&self, value: f64) -> Verdict {
        if value <= self.warn {
            Verdict::Pass
        } else if value <= self.fail {
            Verdict::Warn
        } else {
            Verdict::Fail
        }
    }
}

/// The worst value of a measure, and where it was; `None` if it was never measured.
#[derive(Clone, Debug, Default)]
struct Worst {
    value: Option<f64>,
    step: Option<u64>,
    bodies: Vec<BodyKey>,
}

impl Worst {
    fn see(&mut self, value: f64, step: u64, bodies: impl FnOnce() -> Vec<BodyKey>) {
        let known = self.value.unwrap_or(f64::NEG_INFINITY);
        if !known.is_nan() && (value > known || value.is_nan()) {
            *self = Self { value: Some(value), step: Some(step), bodies: bodies() };
        }
    }
}

/// How bodies were stepped over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Methods {
    /// Steps in which bodies were stepped exactly, and the most bodies of one.
    pub exact_steps: u64,
    /// See `exact_steps`.
    pub exact_bodies: usize,
    /// Steps in which bodies were swept, and the most bodies of one.
    pub swept_steps: u64,
    /// See `swept_steps`.
    pub swept_bodies: usize,
}

impl Methods {
    fn see(&mut self, frame: &Frame) {
        let report = &frame.report;
        self.exact_steps += u64::from(report.exact > 0);
        self.exact_bodies = self.exact_bodies.max(report.exact);
        self.swept_steps += u64::from(report.swept > 0);
        self.swept_bodies = self.swept_bodies.max(report.swept);
    }

    /// By which method how many bodies were computed, in one line.
    pub fn text(&self) -> String {
        let part = |bodies: usize, steps: u64, how: &str| {
            let bodies = match bodies {
                1 => "1 body".to_owned(),
                n => format!("{n} bodies"),
            };
            format!("{bodies} {how} in {}", show::count(steps as usize, "step"))
        };
        let exact = part(self.exact_bodies, self.exact_steps, "exact");
        let swept = part(self.swept_bodies, self.swept_steps, "swept (approximate)");
        match (self.exact_steps, self.swept_steps) {
            (0, 0) => "nothing moved, or the recording does not say".to_owned(),
            (_, 0) => exact,
            (0, _) => swept,
            _ => format!("{exact}, {swept}"),
        }
    }
}

/// Watches every step of a run.
#[derive(Debug, Default)]
pub struct Watch {
    names: Vec<String>,
    /// By index of the joint: its bodies.
    joints: Vec<Option<[BodyKey; 2]>>,
    /// The smallest of these, and the second smallest.
    thinnest: [f64; 2],
    settings: Settings,
    dt: f64,
    frames: u64,
    methods: Methods,
    energy: Energy,
    audited: u64,
    /// Steps whose ledger has all terms.
    ledgers: u64,
    /// Whether joints may take energy: by dampers, or as ropes that become taut.
    yielding: bool,
    scales: Scales,
    energy_error: Worst,
    /// Of exact steps, relative to the scene's momentum; of swept ones linear and angular; the largest of all, N s.
    momentum_error: Worst,
    swept_linear: Worst,
    swept_angular: Worst,
    momentum_lost: f64,
    /// Relative to the pair's size, with its depth; and the deepest of all, m.
    penetration: Worst,
    penetration_depth: f64,
    deepest: Option<f64>,
    /// Relative to the size of the joint's smaller body, and the largest of all, m.
    joint_error: Worst,
    joint_gap: f64,
    /// Relative, of exact steps; as a position error relative to size, of swept ones; and the worst relative one.
    residual: Worst,
    swept_residual: Worst,
    worst_residual: Option<f64>,
    unconverged: u64,
    unmeasured: u64,
    /// Whether a contact has friction.
    frictional: bool,
    reach: Worst,
    /// The most impacts of a step that had no bounce, and all of them.
    unresolved_impacts: Worst,
    unresolved_impacts_sum: u64,
    /// How often an island had spent all its impact work.
    exhausted: u64,
    quarantined: Worst,
    counts: Counts,
    most_contacts: usize,
    /// Frames came without contacts: overlaps cannot be judged.
    blind: bool,
    /// The last step seen, and whether some before it were not: works do not add up then.
    last: u64,
    gaps: bool,
}

impl Watch {
    /// Watches the world of a scene from its start.
    pub fn new(scene: &Scene, simulation: &Simulation) -> Self {
        let (world, dt) = (simulation.world(), simulation.dt());
        let mut yielding =
            scene.joint.iter().any(|joint| joint.damping.is_some_and(|rate| rate > 0.0));
        let mut joints = Vec::new();
        for (id, def) in world.joints() {
            yielding |= matches!(def.kind(), JointKind::Distance { min, max } if min != max);
            joints.resize(joints.len().max(id.index() + 1), None);
            joints[id.index()] = Some(def.ends().map(|(body, _)| body.into()));
        }
        let thinnest = [f64::INFINITY; 2];
        let scales = Scales::new(world);
        let settings = world.settings().clone();
        let last = world.steps();
        let mut watch =
            Self { dt, thinnest, yielding, joints, settings, scales, last, ..Self::default() };
        for body in world.bodies() {
            watch.know(&body);
        }
        watch.see_start(world);
        watch
    }

    fn know(&mut self, body: &Body<'_>) {
        let index = body.id().index();
        if self.names.len() <= index {
            self.names.resize(index + 1, String::new());
        }
        self.names[index] = body.name().to_owned();
        let size = 0.5 * body.shape().least_width();
        let [first, second] = self.thinnest;
        self.thinnest = [first.min(size), second.min(first.max(size))];
    }

    /// Watches steps of another length from now on.
    #[cfg(feature = "view")]
    pub fn set_dt(&mut self, dt: f64) {
        self.dt = dt;
    }

    /// Watches a body that was added to the world.
    #[cfg(feature = "view")]
    pub fn add(&mut self, body: &Body<'_>, gravity: f64) {
        self.know(body);
        self.scales.add(body, gravity);
    }

    /// What of a step is worth a look.
    #[cfg(feature = "view")]
    pub fn warnings(&self, frame: &Frame) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let mut warn = |check, value: f64, band: &Band, message, bodies| {
            if band.judge(value) != Verdict::Pass {
                warnings.push(Warning { check, times: value / band.warn, message, bodies });
            }
        };
        let mut penetration = Worst::default();
        self.penetrations(frame, |_, share, pair| {
            penetration.see(share, frame.step, || vec![pair.a, pair.b]);
        });
        let share = penetration.value.unwrap_or(0.0);
        let message = format!("{} of the smaller half width", show::share(share));
        warn("penetration", share, &PENETRATION, message, penetration.bodies);
        if let Some((_, share, bodies)) = self.joint_error_of(frame) {
            let message = format!("{} of the smaller half width", show::share(share));
            warn("joint error", share, &PENETRATION, message, bodies);
        }
        if let Some(residual) = frame.report.residual() {
            let bodies = furthest(frame);
            let message = format!("residual {residual:.1e}");
            match self.moved_by_residual(frame) {
                Some(moved) => warn("contact laws", moved, &SWEPT_RESIDUAL, message, bodies),
                None => warn("contact laws", residual, &RESIDUAL, message, bodies),
            }
        }
        let none = frame.report.unresolved_impacts;
        if none > 0 {
            let message = format!("{} had no bounce", show::count(none, "impact"));
            warnings.push(Warning {
                check: "impacts",
                times: none as f64,
                message,
                bodies: Vec::new(),
            });
        }
        warnings
    }

    /// Energy that is worth a line, J.
    pub fn energy_scale(&self) -> f64 {
        self.scales.energy()
    }

    /// Looks at how bodies overlap before the first step.
    fn see_start(&mut self, world: &World) {
        // Contacts are found by stepping: a copy, by next to nothing.
        let mut probe = world.clone();
        if probe.step(1e-12).is_ok() {
            let mut frame = Frame::of(&probe);
            frame.step = 0;
            self.see_contacts(&frame);
        }
    }

    /// Looks at the world after a step.
    pub fn see(&mut self, frame: &Frame) {
        let Frame { step, report, events, .. } = frame;
        let step = *step;
        self.methods.see(frame);
        if step > std::mem::replace(&mut self.last, step) + 1 {
            self.gaps = true;
            self.energy.skip();
        }
        self.see_contacts(frame);
        self.see_residual(frame);
        if let Some((gap, share, bodies)) = self.joint_error_of(frame) {
            self.joint_gap = if self.joint_gap > gap { self.joint_gap } else { gap };
            self.joint_error.see(share, step, || bodies);
        }
        self.most_contacts = self.most_contacts.max(report.contacts);
        self.unresolved_impacts.see(report.unresolved_impacts as f64, step, Vec::new);
        self.unresolved_impacts_sum += report.unresolved_impacts as u64;
        self.exhausted += report.exhausted as u64;
        for state in &frame.states {
            let size = self.scales.size(state.body);
            let other = self.thinnest[usize::from(size <= self.thinnest[0])];
            let distance = state.velocity.length() * self.dt;
            if other.is_finite() && size.is_finite() {
                self.reach.see(distance / (size + other), step, || vec![state.body]);
            }
        }
        if let Some(ledger) = frame.ledger() {
            self.see_ledger(frame, ledger);
        }
        if !events.quarantined.is_empty() && self.quarantined.step.is_none() {
            self.quarantined.see(1.0, step, || events.quarantined.clone());
        }
        self.counts.begun += events.begun.len() as u64;
        self.counts.ended += events.ended.len() as u64;
        self.counts.hits += events.hits.len() as u64;
        self.counts.quarantined += events.quarantined.len() as u64;
        self.frames += 1;
    }

    fn see_contacts(&mut self, frame: &Frame) {
        if !frame.has_contacts {
            self.blind = true;
            let known = self.deepest.unwrap_or(0.0);
            self.deepest =
                frame.report.max_penetration.map_or(self.deepest, |d| Some(d.max(known)));
            return;
        }
        self.frictional |= frame.contacts.iter().any(|pair| pair.friction > 0.0);
        let mut worst = std::mem::take(&mut self.penetration);
        let (mut depth, mut most) = (self.penetration_depth, self.deepest.unwrap_or(0.0));
        self.penetrations(frame, |deepest, share, pair| {
            most = most.max(deepest);
            if worst.value.is_none_or(|value| share > value) {
                depth = deepest;
            }
            worst.see(share, frame.step, || vec![pair.a, pair.b]);
        });
        (self.penetration, self.penetration_depth, self.deepest) = (worst, depth, Some(most));
    }

    /// How deep each pair overlaps: in metres, and as a fraction of the smaller half width.
    fn penetrations(&self, frame: &Frame, mut see: impl FnMut(f64, f64, &PairRecord)) {
        for pair in &frame.contacts {
            let size = self.scales.size(pair.a).min(self.scales.size(pair.b));
            let deepest = frame.points_of(pair).iter().map(|point| -point.gap).fold(0.0, f64::max);
            see(deepest, deepest / size, pair);
        }
    }

    /// The widest joint's position error: in metres, as a fraction of the smaller half width, and its bodies.
    fn joint_error_of(&self, frame: &Frame) -> Option<(f64, f64, Vec<BodyKey>)> {
        let error = frame.report.max_joint_error?;
        let Some(joint) = frame.report.worst_joint else {
            return Some((error, error, Vec::new()));
        };
        let ends = self.joints.get(joint.index()).copied().flatten();
        let bodies = ends.map_or(Vec::new(), |ends| ends.to_vec());
        let size = bodies.iter().map(|&body| self.scales.size(body)).fold(f64::INFINITY, f64::min);
        Some((error, relative(error, size), bodies))
    }

    /// By how much the residual of a swept step puts bodies off in that step, of the smaller half width.
    fn moved_by_residual(&self, frame: &Frame) -> Option<f64> {
        if frame.report.swept == 0 {
            return None;
        }
        let Some(violation) = frame.report.worst_violation else { return Some(0.0) };
        let sizes = violation.bodies.map(|body| self.scales.size(body.into()));
        Some(relative(violation.residual * self.dt, sizes[0].min(sizes[1])))
    }

    fn see_residual(&mut self, frame: &Frame) {
        let Some(relative) = frame.report.residual() else {
            self.unmeasured += 1;
            return;
        };
        let worst = self.worst_residual.unwrap_or(0.0);
        self.worst_residual = Some(if worst >= relative { worst } else { relative });
        match self.moved_by_residual(frame) {
            Some(moved) => self.swept_residual.see(moved, frame.step, || furthest(frame)),
            None => {
                self.residual.see(relative, frame.step, || furthest(frame));
                self.unconverged += u64::from(frame.report.converged() == Some(false));
            }
        }
    }

    fn see_ledger(&mut self, frame: &Frame, ledger: &Ledger) {
        self.energy.add(ledger, self.audited == 0);
        self.audited += 1;
        self.scales.see(frame, ledger);
        let [linear, angular] = self.scales.momentum_shares(ledger);
        match ledger.energy_error() {
            Some(error) => {
                self.ledgers += 1;
                self.energy_error.see(error.abs(), frame.step, Vec::new);
                let share = if linear > angular || linear.is_nan() { linear } else { angular };
                self.momentum_error.see(share, frame.step, Vec::new);
            }
            None => {
                self.swept_linear.see(linear, frame.step, Vec::new);
                self.swept_angular.see(angular, frame.step, Vec::new);
            }
        }
        let error = ledger.momentum_error();
        self.momentum_lost = self.momentum_lost.max(error.linear.length());
    }

    /// Sums of the ledgers, if they were kept.
    pub fn energy(&self) -> Option<&Energy> {
        (self.audited > 0).then_some(&self.energy)
    }

    /// Largest momentum that a step's impulses do not account for, N s.
    pub fn momentum_error(&self) -> Option<f64> {
        (self.audited > 0).then_some(self.momentum_lost)
    }

    /// Deepest overlap, m.
    pub fn deepest(&self) -> Option<f64> {
        self.deepest
    }

    /// Largest position error of a joint, m; none without joints.
    pub fn joint_error(&self) -> Option<f64> {
        self.joint_error.value.filter(|_| !self.joints.is_empty()).map(|_| self.joint_gap)
    }

    /// Whether there are joints.
    pub fn has_joints(&self) -> bool {
        !self.joints.is_empty()
    }

    /// Worst relative residual.
    pub fn residual(&self) -> Option<f64> {
        self.worst_residual
    }

    /// How bodies were stepped.
    pub fn methods(&self) -> Methods {
        self.methods
    }

    /// Events.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Most contact points in a step.
    pub fn most_contacts(&self) -> usize {
        self.most_contacts
    }

    /// The verdict on each check, those that were skipped included.
    pub fn checks(&self) -> Vec<Check> {
        vec![
            self.check_finite(),
            self.check_energy(),
            self.check_momentum(),
            self.check_drift(),
            self.check_rest_speed(),
            self.check_penetration(),
            self.check_joints(),
            self.check_residual(),
            self.check_reach(),
            self.check_impacts(),
        ]
    }

    fn check(&self, name: &str, verdict: Verdict, worst: &Worst, message: String) -> Check {
        let bodies: Vec<String> = worst.bodies.iter().map(|&body| self.name(body)).collect();
        let quoted: Vec<String> = bodies.iter().map(|name| show::quoted(name)).collect();
        let mut place = String::new();
        if let Some(step) = worst.step.filter(|_| worst.value != Some(0.0)) {
            place = format!(", at step {step}");
            match quoted.as_slice() {
                [] => {}
                [one] => place += &format!(" for {one}"),
                [a, b] => place += &format!(" between {a} and {b}"),
                [a, b, more @ ..] => place += &format!(" for {a}, {b} and {} more", more.len()),
            }
        }
        let advice = match self.advice(name) {
            // What was so before the first step is the scene's, and nothing helps but to change it.
            Some(_) if worst.step == Some(0) && verdict != Verdict::Pass => {
                "; the scene begins so".to_owned()
            }
            Some(advice) if matches!(verdict, Verdict::Warn | Verdict::Fail) => {
                format!("; try {advice}")
            }
            _ => String::new(),
        };
        let (name, message) = (name.to_owned(), message + &place + &advice);
        Check { name, verdict, message, step: worst.step, bodies }
    }

    /// A check that was not judged, and why.
    fn skip(&self, name: &str, why: &str) -> Check {
        let message = format!("skipped, because {why}");
        Check { name: name.to_owned(), verdict: Verdict::Skip, message, step: None, bodies: vec![] }
    }

    fn name(&self, body: BodyKey) -> String {
        let known = self.names.get(body.index as usize).filter(|name| !name.is_empty());
        known.cloned().unwrap_or_else(|| format!("body {}", body.index))
    }

    /// Says of how many steps a check speaks, if not of all.
    fn of_steps(&self, judged: u64) -> String {
        match judged == self.frames {
            true => String::new(),
            false => format!(" in the {judged} of {} steps that measured it", self.frames),
        }
    }

    fn check_finite(&self) -> Check {
        let (verdict, message) = match self.counts.quarantined {
            0 => (Verdict::Pass, "every state stayed finite".to_owned()),
            n => (Verdict::Fail, format!("{n} states were not finite and put back, first")),
        };
        self.check("finite", verdict, &self.quarantined, message)
    }

    fn check_energy(&self) -> Check {
        let name = "energy ledger";
        if self.audited == 0 {
            return self.skip(name, NOT_AUDITED);
        }
        let Some(error) = self.energy_error.value else {
            return self.skip(
                name,
                "swept steps measure the work of contacts and joints only as a sum, with nothing to compare it with",
            );
        };
        let share = relative(error, self.scales.booked());
        let message = format!(
            "every step's energy is accounted for to {} of what is in the ledger{}",
            show::share(share),
            self.of_steps(self.ledgers)
        );
        self.check(name, LEDGER.judge(share), &self.energy_error, message)
    }

    fn check_momentum(&self) -> Check {
        let name = "momentum ledger";
        if self.audited == 0 {
            return self.skip(name, NOT_AUDITED);
        }
        let exact = self.momentum_error.value.unwrap_or(0.0);
        let linear = self.swept_linear.value.unwrap_or(0.0);
        let close = if exact > linear || exact.is_nan() { exact } else { linear };
        let mut message = format!(
            "every step's momentum is accounted for to {} of what is in the ledger{}",
            show::share(close),
            self.of_steps(self.audited)
        );
        let mut verdict = LEDGER.judge(close);
        let mut worst = if exact >= linear { &self.momentum_error } else { &self.swept_linear };
        if let Some(angular) = self.swept_angular.value {
            message += &format!(
                "; angular momentum of swept steps, which keep it to first order in dt, to {}",
                show::share(angular)
            );
            let judged = DRIFT.judge(angular);
            if judged > verdict {
                (verdict, worst) = (judged, &self.swept_angular);
            }
        }
        self.check(name, verdict, worst, message)
    }

    fn check_drift(&self) -> Check {
        let name = "energy drift";
        if self.audited == 0 {
            return self.skip(name, NOT_AUDITED);
        }
        if self.gaps {
            return self.skip(name, SOME_STEPS);
        }
        let scale = self.scales.energy();
        if !(scale > 0.0) {
            return self.skip(
                name,
                "nothing moves and nothing could fall: there is no energy to compare with",
            );
        }
        let terms = &self.energy.terms;
        let mut drift = terms.integration.unwrap_or(0.0) + terms.correction.unwrap_or(0.0);
        if !self.yielding {
            // Rigid joints do no work: what they are said to take is put back by correction.
            drift += terms.joints.unwrap_or(0.0);
        }
        // Contacts and joints can only take energy: of swept steps what was added is known to be an error, no more.
        let gained = self.energy.gained.unwrap_or(0.0);
        let share = relative(if gained > drift.abs() { gained } else { drift }, scale);
        let verb = if drift > 0.0 { "added" } else { "took" };
        let exact = format!("discretisation {verb} {}", show::quantity(drift.abs(), "J"));
        let of = format!("{} of the energy in motion", show::share(share.abs()));
        let message = match terms.unsplit {
            None => format!("{exact} ({of})"),
            Some(sum) => {
                let exact = if self.ledgers > 0 {
                    format!("{exact} in exact steps; ")
                } else {
                    String::new()
                };
                let verb = if sum > 0.0 { "added" } else { "took" };
                format!(
                    "{exact}in swept steps contacts, joints and discretisation together {verb} {}, and added {} in those \
                     in which energy rose ({of}); errors that took energy are not seen",
                    show::quantity(sum.abs(), "J"),
                    show::quantity(gained, "J")
                )
            }
        };
        self.check(name, DRIFT.judge(share.abs()), &Worst::default(), message)
    }

    fn check_rest_speed(&self) -> Check {
        let name = "rest speed";
        if self.audited == 0 {
            return self.skip(name, NOT_AUDITED);
        }
        if self.gaps {
            return self.skip(name, SOME_STEPS);
        }
        let loss = self.energy.rest_speed_loss.unwrap_or(f64::NAN);
        if loss.is_nan() {
            return self.skip(name, "the recording is of a version that did not measure it");
        }
        let share = relative(loss, self.scales.energy());
        let message = format!(
            "impacts slower than rest_speed = {} do not bounce: that took {} ({} of the energy in motion)",
            show::quantity(self.settings.rest_speed, "m/s"),
            show::quantity(loss, "J"),
            show::share(share)
        );
        self.check(name, REST_SPEED.judge(share), &Worst::default(), message)
    }

    fn check_penetration(&self) -> Check {
        if self.blind {
            return self.skip("penetration", "the recording holds no contacts");
        }
        let share = self.penetration.value.unwrap_or(0.0);
        let message = format!(
            "deepest overlap for its size {} ({} of the smaller half width)",
            show::quantity(self.penetration_depth, "m"),
            show::share(share)
        );
        self.check("penetration", PENETRATION.judge(share), &self.penetration, message)
    }

    fn check_joints(&self) -> Check {
        let name = "joint error";
        if self.joints.is_empty() {
            let message = "there are no joints".to_owned();
            return self.check(name, Verdict::Pass, &Worst::default(), message);
        }
        let Some(share) = self.joint_error.value else { return self.skip(name, NOT_MEASURED) };
        let message = format!(
            "joints are off by at most {} ({} of the smaller half width){}",
            show::quantity(self.joint_gap, "m"),
            show::share(share),
            self.of_steps(self.frames - self.unmeasured)
        );
        self.check(name, PENETRATION.judge(share), &self.joint_error, message)
    }

    fn check_residual(&self) -> Check {
        let name = "contact laws";
        let Some(worst) = self.worst_residual else { return self.skip(name, NOT_MEASURED) };
        let open = match self.unconverged {
            0 => String::new(),
            n => format!(" ({n} of {} steps above the tolerance)", self.frames),
        };
        let mut of_steps = self.of_steps(self.frames - self.unmeasured);
        let mut exact = self.residual.value.map_or(Verdict::Pass, |value| RESIDUAL.judge(value));
        if self.frictional && self.settings.method == Method::ActiveSet {
            of_steps += "; friction is not solved by active-set";
            exact = exact.max(Verdict::Warn);
        }
        let Some(moved) = self.swept_residual.value else {
            let message =
                format!("worst residual of contacts and joints {worst:.1e}{open}{of_steps}");
            return self.check(name, exact, &self.residual, message);
        };
        let swept = SWEPT_RESIDUAL.judge(moved);
        let message = format!(
            "worst residual of contacts and joints {worst:.1e}{open}; in swept steps it puts bodies off by up to {} of the \
             smaller half width a step{of_steps}",
            show::share(moved)
        );
        let place = if exact > swept { &self.residual } else { &self.swept_residual };
        self.check(name, exact.max(swept), place, message)
    }

    fn check_reach(&self) -> Check {
        let followed = self.settings.continuous != Continuous::Never;
        let value = self.reach.value.unwrap_or(0.0);
        if value <= REACH || followed {
            let message = match value <= REACH {
                true => "nothing moved far enough in a step to pass through another body",
                false => {
                    "bodies fast enough to pass through others were followed along their paths"
                }
            };
            let message = message.to_owned();
            return self.check("tunnelling", Verdict::Pass, &Worst::default(), message);
        }
        let size = self.reach.bodies.first().map_or(0.0, |&body| self.scales.size(body));
        let message = format!(
            "a body {} wide moved by {value:.1} times what it and the thinnest other body measure: \
             it may have passed through one",
            show::quantity(2.0 * size, "m"),
        );
        self.check("tunnelling", Verdict::Warn, &self.reach, message)
    }

    fn check_impacts(&self) -> Check {
        let name = "impacts";
        let none = self.unresolved_impacts_sum;
        if none > 0 {
            let share = none as f64 / (self.counts.hits + none) as f64;
            let mut message = format!(
                "{} had no bounce, too many followed each other within a substep ({} of all)",
                show::count(none as usize, "impact"),
                show::share(share)
            );
            let mut verdict = UNANSWERED.judge(share);
            if self.exhausted > 0 {
                let times = show::count(self.exhausted as usize, "time");
                message += &format!(", and {times} an island went on from contact points alone");
                verdict = Verdict::Fail;
            }
            return self.check(name, verdict, &self.unresolved_impacts, message);
        }
        if self.methods.exact_steps + self.methods.swept_steps == 0 && self.counts.hits > 0 {
            return self
                .skip(name, "the recording is of a version that did not say by which method");
        }
        if self.methods.swept_steps > 0 {
            let rest = match self.methods.exact_steps {
                0 => "",
                _ => "; in exact steps every impact was computed at its own time",
            };
            let why = format!(
                "swept steps compute impacts at the end of the step, not at their own time{rest}"
            );
            return self.skip(name, &why);
        }
        let message = "every impact was computed at its own time".to_owned();
        self.check(name, Verdict::Pass, &Worst::default(), message)
    }
}

const NOT_AUDITED: &str = "`audit` is off: energy and momentum were not measured";
const SOME_STEPS: &str = "the recording holds only some of the steps";
const NOT_MEASURED: &str = "no step measured it: swept steps do so only with `audit` on";

/// The bodies of the contact or joint that is furthest from its law.
fn furthest(frame: &Frame) -> Vec<BodyKey> {
    frame
        .report
        .worst_violation
        .map_or(Vec::new(), |violation| violation.bodies.map(BodyKey::from).to_vec())
}
