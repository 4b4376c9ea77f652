//! Whether a run can be believed: what is looked at in every step, and what it comes to.

use msd_record::{BodyKey, Frame, PairRecord};
use msd_scene::{Scene, Simulation};
use msd_sim::{Body, Continuous, Ledger, World};
use serde::{Deserialize, Serialize};

use crate::show;
use crate::sums::{Counts, Energy, Scales, relative};

/// Residuals above are worth a look, relative to the speeds of the contacts.
const RESIDUAL: Band = Band { warn: 1e-3, fail: 1e-1 };
/// Overlaps as a fraction of the smaller body's half width.
const PENETRATION: Band = Band { warn: 1e-2, fail: 1e-1 };
/// What the books of a step do not account for, as a fraction of the energy or momentum that is in
/// them: more than rounding is a defect.
const BOOKS: Band = Band { warn: 1e-9, fail: 1e-9 };
/// What discretisation added or took in all, as a fraction of the energy that changed its kind.
const DRIFT: Band = Band { warn: 1e-2, fail: 1e-1 };
/// Way in one step, over the half widths of a body and of the thinnest other one.
const REACH: f64 = 1.0;
/// Impacts that had no bounce because there were too many, as a fraction of all.
const UNANSWERED: Band = Band { warn: 1e-2, fail: f64::INFINITY };

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As promised.
    Pass,
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
    /// What was found, with numbers and units.
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

/// The worst value of a measure, and where it was.
#[derive(Clone, Debug, Default)]
struct Worst {
    value: f64,
    step: Option<u64>,
    bodies: Vec<BodyKey>,
}

impl Worst {
    fn see(&mut self, value: f64, step: u64, bodies: impl FnOnce() -> Vec<BodyKey>) {
        if value > self.value || value.is_nan() {
            *self = Self { value, step: Some(step), bodies: bodies() };
        }
    }
}

/// Looks at every step of a run.
#[derive(Debug, Default)]
pub struct Watch {
    names: Vec<String>,
    /// The smallest of these, and the second smallest.
    thinnest: [f64; 2],
    dt: f64,
    frames: u64,
    energy: Energy,
    audited: bool,
    /// Whether joints may take energy, by dampers.
    damped: bool,
    scales: Scales,
    energy_error: Worst,
    /// Relative to the scene's momentum; and the largest of all, N s.
    momentum_error: Worst,
    momentum_lost: f64,
    /// Relative to the pair's size, with its depth; and the deepest of all, m.
    penetration: Worst,
    penetration_depth: f64,
    deepest: f64,
    residual: Worst,
    unconverged: u64,
    reach: Worst,
    /// Whether fast bodies were followed on their ways.
    followed: bool,
    /// The most impacts of a step that had no bounce, and all of them.
    unanswered: Worst,
    unanswered_sum: u64,
    contained: Worst,
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
        let damped = scene.joint.iter().any(|joint| joint.damping.is_some_and(|rate| rate > 0.0));
        let thinnest = [f64::INFINITY; 2];
        let scales = Scales::new(world);
        let followed = world.settings().continuous != Continuous::Never;
        let last = world.steps();
        let mut watch = Self { dt, thinnest, damped, followed, scales, last, ..Self::default() };
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
        let share = penetration.value;
        let message = format!("{} of the smaller half width", show::share(share));
        warn("penetration", share, &PENETRATION, message, penetration.bodies);
        let residual = frame.report.solve.residual.relative();
        let message = format!("residual {residual:.1e}");
        warn("contact laws", residual, &RESIDUAL, message, worst_contact(frame));
        let (none, hits) = (frame.report.unanswered, frame.events.hits.len());
        if none > 0 {
            let message = format!("{} had no bounce", show::count(none, "impact"));
            let share = none as f64 / (none + hits) as f64;
            warn("impacts", share, &UNANSWERED, message, Vec::new());
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
        if step > std::mem::replace(&mut self.last, step) + 1 {
            self.gaps = true;
            self.energy.skip();
        }
        self.see_contacts(frame);
        let residual = report.solve.residual.relative();
        self.residual.see(residual, step, || worst_contact(frame));
        self.unconverged += u64::from(!report.solve.converged);
        self.most_contacts = self.most_contacts.max(report.contacts);
        self.unanswered.see(report.unanswered as f64, step, Vec::new);
        self.unanswered_sum += report.unanswered as u64;
        for state in &frame.states {
            let size = self.scales.size(state.body);
            let other = self.thinnest[usize::from(size <= self.thinnest[0])];
            let way = state.velocity.length() * self.dt;
            if other.is_finite() && size.is_finite() {
                self.reach.see(way / (size + other), step, || vec![state.body]);
            }
        }
        if let Some(ledger) = frame.ledger() {
            self.see_ledger(frame, ledger);
        }
        if !events.contained.is_empty() && self.contained.step.is_none() {
            self.contained.see(1.0, step, || events.contained.clone());
        }
        self.counts.begun += events.begun.len() as u64;
        self.counts.ended += events.ended.len() as u64;
        self.counts.hits += events.hits.len() as u64;
        self.counts.contained += events.contained.len() as u64;
        self.frames += 1;
    }

    fn see_contacts(&mut self, frame: &Frame) {
        if !frame.has_contacts {
            self.blind = true;
            self.deepest = self.deepest.max(frame.report.max_penetration);
            return;
        }
        let mut worst = std::mem::take(&mut self.penetration);
        let (mut depth, mut most) = (self.penetration_depth, self.deepest);
        self.penetrations(frame, |deepest, share, pair| {
            most = most.max(deepest);
            if share > worst.value {
                depth = deepest;
            }
            worst.see(share, frame.step, || vec![pair.a, pair.b]);
        });
        (self.penetration, self.penetration_depth, self.deepest) = (worst, depth, most);
    }

    /// How deep each pair overlaps: in metres, and as a fraction of the smaller half width.
    fn penetrations(&self, frame: &Frame, mut see: impl FnMut(f64, f64, &PairRecord)) {
        for pair in &frame.contacts {
            let size = self.scales.size(pair.a).min(self.scales.size(pair.b));
            let deepest = frame.points_of(pair).iter().map(|point| -point.gap).fold(0.0, f64::max);
            see(deepest, deepest / size, pair);
        }
    }

    fn see_ledger(&mut self, frame: &Frame, ledger: &Ledger) {
        self.energy.add(ledger, !self.audited);
        self.audited = true;
        self.scales.see(frame, ledger);
        self.energy_error.see(ledger.energy_error().abs(), frame.step, Vec::new);
        let share = self.scales.momentum_share(ledger);
        self.momentum_error.see(share, frame.step, Vec::new);
        let error = ledger.momentum_error();
        self.momentum_lost = self.momentum_lost.max(error.linear.length());
    }

    /// Sums of the ledgers, if they were kept.
    pub fn energy(&self) -> Option<&Energy> {
        self.audited.then_some(&self.energy)
    }

    /// Largest momentum that a step's impulses do not account for, N s.
    pub fn momentum_error(&self) -> Option<f64> {
        self.audited.then_some(self.momentum_lost)
    }

    /// Deepest overlap, m.
    pub fn deepest(&self) -> f64 {
        self.deepest
    }

    /// Worst relative residual.
    pub fn residual(&self) -> f64 {
        self.residual.value
    }

    /// Events.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Most contact points in a step.
    pub fn most_contacts(&self) -> usize {
        self.most_contacts
    }

    /// The verdict on each check.
    pub fn checks(&self) -> Vec<Check> {
        let mut checks = vec![self.check_finite()];
        if self.audited {
            checks.extend([self.check_energy(), self.check_momentum()]);
        }
        if self.audited && !self.gaps {
            checks.push(self.check_drift());
        }
        if !self.blind {
            checks.push(self.check_penetration());
        }
        checks.push(self.check_residual());
        checks.extend([self.check_reach(), self.check_impacts()]);
        checks
    }

    fn check(&self, name: &str, verdict: Verdict, worst: &Worst, message: String) -> Check {
        let bodies: Vec<String> = worst.bodies.iter().map(|&body| self.name(body)).collect();
        let quoted: Vec<String> = bodies.iter().map(|name| show::quoted(name)).collect();
        let mut place = String::new();
        if let Some(step) = worst.step.filter(|_| worst.value > 0.0) {
            place = format!(", at step {step}");
            match quoted.as_slice() {
                [] => {}
                [one] => place += &format!(" for {one}"),
                [a, b] => place += &format!(" between {a} and {b}"),
                [a, b, more @ ..] => place += &format!(" for {a}, {b} and {} more", more.len()),
            }
        }
        let advice = match advice(name) {
            Some(advice) if verdict != Verdict::Pass => format!("; {advice}"),
            _ => String::new(),
        };
        let (name, message) = (name.to_owned(), message + &place + &advice);
        Check { name, verdict, message, step: worst.step, bodies }
    }

    fn name(&self, body: BodyKey) -> String {
        let known = self.names.get(body.index as usize).filter(|name| !name.is_empty());
        known.cloned().unwrap_or_else(|| format!("body {}", body.index))
    }

    fn check_finite(&self) -> Check {
        let (verdict, message) = match self.counts.contained {
            0 => (Verdict::Pass, "every state stayed finite".to_owned()),
            n => (Verdict::Fail, format!("{n} states were not finite and put back, first")),
        };
        self.check("finite", verdict, &self.contained, message)
    }

    fn check_energy(&self) -> Check {
        let share = relative(self.energy_error.value, self.scales.booked());
        let message = format!("books of energy close to {} of what is in them", show::share(share));
        self.check("energy books", BOOKS.judge(share), &self.energy_error, message)
    }

    fn check_momentum(&self) -> Check {
        let share = self.momentum_error.value;
        let message =
            format!("books of momentum close to {} of what is in them", show::share(share));
        self.check("momentum books", BOOKS.judge(share), &self.momentum_error, message)
    }

    fn check_drift(&self) -> Check {
        let mut drift = self.energy.terms.integration + self.energy.terms.correction;
        if !self.damped {
            // Rigid joints do no work: what they are said to take is put back by correction.
            drift += self.energy.terms.joints;
        }
        let share = relative(drift, self.scales.energy());
        let verb = if drift > 0.0 { "added" } else { "took" };
        let message = format!(
            "discretisation {verb} {} ({} of the energy in motion)",
            show::quantity(drift.abs(), "J"),
            show::share(share.abs())
        );
        self.check("energy drift", DRIFT.judge(share.abs()), &Worst::default(), message)
    }

    fn check_penetration(&self) -> Check {
        let message = format!(
            "deepest overlap for its size {} ({} of the smaller half width)",
            show::quantity(self.penetration_depth, "m"),
            show::share(self.penetration.value)
        );
        let verdict = PENETRATION.judge(self.penetration.value);
        self.check("penetration", verdict, &self.penetration, message)
    }

    fn check_residual(&self) -> Check {
        let open = match self.unconverged {
            0 => String::new(),
            n => format!(" ({n} of {} steps above the tolerance)", self.frames),
        };
        let message =
            format!("worst residual of the contact laws {:.1e}{open}", self.residual.value);
        self.check("contact laws", RESIDUAL.judge(self.residual.value), &self.residual, message)
    }

    fn check_reach(&self) -> Check {
        let Worst { value, bodies, .. } = &self.reach;
        if *value <= REACH || self.followed {
            let message = match *value <= REACH {
                true => "nothing moved far enough in a step to pass through another body",
                false => "bodies fast enough to pass through others were followed on their ways",
            };
            let message = message.to_owned();
            return self.check("tunnelling", Verdict::Pass, &Worst::default(), message);
        }
        let size = bodies.first().map_or(0.0, |&body| self.scales.size(body));
        let message = format!(
            "a body {} wide moved by {value:.1} times what it and the thinnest other body measure: \
             it may have passed through one",
            show::quantity(2.0 * size, "m"),
        );
        self.check("tunnelling", Verdict::Warn, &self.reach, message)
    }

    fn check_impacts(&self) -> Check {
        let (none, hits) = (self.unanswered_sum, self.counts.hits);
        if none == 0 {
            let message = "no impact was left without a bounce for want of work".to_owned();
            return self.check("impacts", Verdict::Pass, &Worst::default(), message);
        }
        let share = none as f64 / (hits + none) as f64;
        let message = format!(
            "{} had no bounce, too many came at once ({} of those told)",
            show::count(none as usize, "impact"),
            show::share(share)
        );
        self.check("impacts", UNANSWERED.judge(share), &self.unanswered, message)
    }
}

/// What to try if a check does not pass.
fn advice(check: &str) -> Option<&'static str> {
    match check {
        "energy drift" => Some("try a shorter dt or more substeps"),
        "penetration" => {
            Some("try a shorter dt, more substeps, or, in a pile, newton_work = 100000")
        }
        "contact laws" => Some("try newton_work = 100000, or solver = \"conic\" for few bodies"),
        "tunnelling" => Some("try continuous = \"auto\", or a shorter dt: `msd check` advises one"),
        "impacts" => Some("try a larger impact_work"),
        _ => None,
    }
}

/// The pair whose contact is furthest from the law, if it is a contact and not a joint that is.
fn worst_contact(frame: &Frame) -> Vec<BodyKey> {
    let residual = &frame.report.solve.residual;
    if residual.joint >= residual.largest() {
        return Vec::new();
    }
    let worst_of = |pair| frame.points_of(pair).iter().map(|p| p.residual).fold(0.0, f64::max);
    let worst = frame.contacts.iter().max_by(|a, b| worst_of(a).total_cmp(&worst_of(b)));
    worst.map_or(Vec::new(), |pair| vec![pair.a, pair.b])
}
