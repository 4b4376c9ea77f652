//! The monitor: collects from every step what the checks judge.

use msd_record::{BodyKey, Frame, PairRecord};
use msd_scene::{Scene, Simulation};
use msd_sim::{Accuracy, Body, JointKind, Ledger, Settings, World};

use super::methods::Methods;
use super::squeeze::{Link, Squeeze, find_squeeze};
use super::thresholds::{INEXACT, PENETRATION, RESIDUAL, SWEPT_RESIDUAL, Thresholds};
use super::worst_value::WorstValue;
use crate::departures::Departures;
use crate::names::Names;
use crate::scales::{Rounding, Scales, relative};
use crate::totals::{Counts, Energy};

/// A monitor that observes every step of a run and judges it.
#[derive(Debug, Default)]
pub struct Monitor {
    pub(super) names: Names,
    /// Bodies of each joint, by index.
    pub(super) joints: Vec<Option<[BodyKey; 2]>>,
    /// Smallest and second smallest half width of a body, m.
    pub(super) smallest_half_widths: [f64; 2],
    pub(super) settings: Settings,
    pub(super) dt: f64,
    pub(super) steps: u64,
    pub(super) methods: Methods,
    pub(super) energy: Energy,
    pub(super) audited_steps: u64,
    /// Number of steps whose ledger has all terms.
    pub(super) itemized_steps: u64,
    /// Whether bodies were swept in the last step.
    swept_before: bool,
    /// Whether joints may dissipate energy: dampers, or ropes that become taut.
    pub(super) joints_dissipate: bool,
    pub(super) scales: Scales,
    pub(super) departures: Departures,
    pub(super) energy_error: WorstValue,
    /// Momentum error relative to the scales: of exact steps, and linear and angular of swept steps; the largest, N s.
    pub(super) momentum_error: WorstValue,
    pub(super) swept_linear_error: WorstValue,
    pub(super) swept_angular_error: WorstValue,
    pub(super) max_momentum_error: f64,
    /// Worst overlap relative to the size of the pair, its depth in m, and the deepest overlap of all, m.
    pub(super) penetration: WorstValue,
    pub(super) penetration_depth: f64,
    pub(super) max_penetration: Option<f64>,
    /// What squeezes the pair with the worst overlap, and the one with the largest impulse where impacts did not bounce.
    pub(super) squeeze: Option<Squeeze>,
    pub(super) impact_squeeze: Option<Squeeze>,
    /// Worst joint error relative to the size of the smaller body, and the largest, m.
    pub(super) joint_error: WorstValue,
    pub(super) max_joint_gap: f64,
    /// What is judged of residuals: relative in exact steps, as a displacement in exact steps with [`Accuracy::Exact`] and in
    /// swept steps; and the worst relative residual.
    pub(super) residual: WorstValue,
    pub(super) inexact: WorstValue,
    pub(super) swept_residual: WorstValue,
    pub(super) worst_residual: Option<f64>,
    pub(super) unconverged_steps: u64,
    /// Sum of the values of `inexact`.
    pub(super) inexact_displacement: f64,
    pub(super) unmeasured_steps: u64,
    /// Whether a contact has friction.
    pub(super) has_friction: bool,
    pub(super) travel: WorstValue,
    /// Largest number of impacts without a bounce in a step, and their total.
    pub(super) unresolved_impacts: WorstValue,
    pub(super) unresolved_impacts_sum: u64,
    /// Number of times an island had used up its impact work.
    pub(super) exhausted: u64,
    pub(super) quarantined: WorstValue,
    pub(super) counts: Counts,
    pub(super) most_contacts: usize,
    /// Whether frames lacked contacts, so that overlaps cannot be judged.
    pub(super) contacts_missing: bool,
    /// Last step observed, and whether steps are missing, so that work cannot be summed.
    pub(super) last: u64,
    pub(super) steps_missing: bool,
}

impl Monitor {
    /// Creates a monitor for the initial world of a scene.
    pub fn new(scene: &Scene, simulation: &Simulation) -> Self {
        let (world, dt) = (simulation.world(), simulation.dt());
        let mut joints_dissipate =
            scene.joint.iter().any(|joint| joint.damping.is_some_and(|rate| rate > 0.0));
        let mut joints = Vec::new();
        for (id, def) in world.joints() {
            joints_dissipate |=
                matches!(def.kind(), JointKind::Distance { min, max } if min != max);
            joints.resize(joints.len().max(id.index() + 1), None);
            joints[id.index()] = Some(def.ends().map(|(body, _)| body.into()));
        }
        let smallest_half_widths = [f64::INFINITY; 2];
        let scales = Scales::new(world);
        let departures = Departures::new(scene, world);
        let settings = world.settings().clone();
        let last = world.steps();
        let mut monitor = Self {
            dt,
            smallest_half_widths,
            joints_dissipate,
            joints,
            settings,
            scales,
            departures,
            last,
            ..Self::default()
        };
        for body in world.bodies() {
            monitor.register(&body);
        }
        monitor.observe_initial_overlaps(world);
        monitor
    }

    fn register(&mut self, body: &Body<'_>) {
        self.names.add(body);
        let size = body.size();
        let [first, second] = self.smallest_half_widths;
        self.smallest_half_widths = [first.min(size), second.min(first.max(size))];
    }

    /// Sets the settings from now on.
    #[cfg(feature = "view")]
    pub fn set_settings(&mut self, settings: &Settings) {
        self.settings.clone_from(settings);
    }

    /// Sets the time step from now on, s.
    #[cfg(feature = "view")]
    pub fn set_dt(&mut self, dt: f64) {
        self.dt = dt;
    }

    /// Registers a body that was added to the world.
    #[cfg(feature = "view")]
    pub fn add(&mut self, body: &Body<'_>, gravity: f64) {
        self.register(body);
        self.departures.add(body);
        self.scales.add(body, gravity);
    }

    /// Observes the overlaps before the first step.
    fn observe_initial_overlaps(&mut self, world: &World) {
        // Only a step finds contacts: a copy takes a negligible one.
        let mut probe = world.clone();
        if probe.step(1e-12).is_ok() {
            let mut frame = Frame::of(&probe);
            frame.step = 0;
            self.observe_contacts(&frame);
        }
    }

    /// Observes the frame after a step.
    pub fn observe(&mut self, frame: &Frame) {
        let Frame { step, report, events, .. } = frame;
        let step = *step;
        self.methods.observe(frame);
        self.departures.observe(frame, self.settings.gravity);
        if step > std::mem::replace(&mut self.last, step) + 1 {
            self.steps_missing = true;
            self.energy.skip();
        }
        self.observe_contacts(frame);
        self.observe_residual(frame);
        if let Some((gap, share, bodies)) = self.worst_joint_error(frame) {
            self.max_joint_gap = if self.max_joint_gap > gap { self.max_joint_gap } else { gap };
            self.joint_error.observe(share, step, || bodies);
        }
        self.most_contacts = self.most_contacts.max(report.contacts);
        if report.unresolved_impacts > 0 && self.impact_squeeze.is_none() {
            self.impact_squeeze = self.squeeze_of(frame, Link::most_loaded(frame));
        }
        self.unresolved_impacts.observe(report.unresolved_impacts as f64, step, Vec::new);
        self.unresolved_impacts_sum += report.unresolved_impacts as u64;
        self.exhausted += report.exhausted as u64;
        for state in &frame.states {
            let size = self.scales.size(state.body);
            let other =
                self.smallest_half_widths[usize::from(size <= self.smallest_half_widths[0])];
            let distance = state.velocity.length() * self.dt;
            if other.is_finite() && size.is_finite() {
                self.travel.observe(distance / (size + other), step, || vec![state.body]);
            }
        }
        if let Some(ledger) = frame.ledger() {
            self.observe_ledger(frame, ledger);
        }
        if !events.quarantined.is_empty() && self.quarantined.step.is_none() {
            self.quarantined.observe(1.0, step, || events.quarantined.clone());
        }
        self.counts.begun += events.begun.len() as u64;
        self.counts.ended += events.ended.len() as u64;
        self.counts.hits += events.hits.len() as u64;
        self.counts.quarantined += events.quarantined.len() as u64;
        self.steps += 1;
    }

    fn observe_contacts(&mut self, frame: &Frame) {
        if !frame.has_contacts {
            self.contacts_missing = true;
            let known = self.max_penetration.unwrap_or(0.0);
            self.max_penetration =
                frame.report.max_penetration.map_or(self.max_penetration, |d| Some(d.max(known)));
            return;
        }
        self.has_friction |= frame.contacts.iter().any(|pair| pair.friction > 0.0);
        let mut worst = std::mem::take(&mut self.penetration);
        let (mut worst_depth, mut max_penetration) =
            (self.penetration_depth, self.max_penetration.unwrap_or(0.0));
        let mut worst_pair = None;
        self.for_each_penetration(frame, |depth, share, pair| {
            max_penetration = max_penetration.max(depth);
            if worst.value.is_none_or(|value| share > value) {
                (worst_depth, worst_pair) = (depth, Some(*pair));
            }
            worst.observe_contact(share, frame.step, pair);
        });
        if let Some(pair) = worst_pair
            && worst.value.is_some_and(|value| value > PENETRATION.warn)
        {
            self.squeeze = self.squeeze_of(frame, Link::of_pair(frame, &pair));
        }
        (self.penetration, self.penetration_depth, self.max_penetration) =
            (worst, worst_depth, Some(max_penetration));
    }

    /// Returns what squeezes the bodies of a link, if anything.
    fn squeeze_of(&self, frame: &Frame, link: Option<Link>) -> Option<Squeeze> {
        find_squeeze(frame, link?, |body| self.scales.mass(body) > 0.0)
    }

    /// Visits the overlap of each pair: in meters, and as a fraction of the smaller half width.
    pub(super) fn for_each_penetration(
        &self,
        frame: &Frame,
        mut visit: impl FnMut(f64, f64, &PairRecord),
    ) {
        for pair in &frame.contacts {
            let size = self.scales.size(pair.a).min(self.scales.size(pair.b));
            let depth = frame.points_of(pair).iter().map(|point| -point.gap).fold(0.0, f64::max);
            visit(depth, depth / size, pair);
        }
    }

    /// Returns the largest joint error in meters and as a fraction of the smaller half width, with its bodies.
    pub(super) fn worst_joint_error(&self, frame: &Frame) -> Option<(f64, f64, Vec<BodyKey>)> {
        let error = frame.report.max_joint_error?;
        let Some(joint) = frame.report.worst_joint else {
            return Some((error, error, Vec::new()));
        };
        let ends = self.joints.get(joint.index()).copied().flatten();
        let bodies = ends.map_or(Vec::new(), |ends| ends.to_vec());
        let size = bodies.iter().map(|&body| self.scales.size(body)).fold(f64::INFINITY, f64::min);
        Some((error, relative(error, size), bodies))
    }

    /// Returns how the residual of a step is judged, with the value that is.
    pub(super) fn judge_residual(&self, frame: &Frame) -> Option<(JudgedResidual, f64)> {
        let relative = frame.report.residual()?;
        let unconverged = frame.report.converged() == Some(false);
        Some(match self.settings.accuracy {
            _ if frame.report.swept > 0 => {
                (JudgedResidual::Swept, self.residual_displacement(frame))
            }
            // What is within the tolerance is what was asked for.
            Accuracy::Exact if unconverged => {
                (JudgedResidual::Inexact, self.residual_displacement(frame))
            }
            Accuracy::Exact => (JudgedResidual::Inexact, 0.0),
            _ => (JudgedResidual::Relative, relative),
        })
    }

    /// Returns the position error that the worst violation of a step causes in that step, relative to the smaller half width.
    fn residual_displacement(&self, frame: &Frame) -> f64 {
        let Some(violation) = frame.report.worst_violation else { return 0.0 };
        let sizes = violation.bodies.map(|body| self.scales.size(body.into()));
        relative(violation.residual * self.dt, sizes[0].min(sizes[1]))
    }

    fn observe_residual(&mut self, frame: &Frame) {
        let Some(relative) = frame.report.residual() else {
            self.unmeasured_steps += 1;
            return;
        };
        let worst = self.worst_residual.unwrap_or(0.0);
        self.worst_residual = Some(if worst >= relative { worst } else { relative });
        let Some((kind, value)) = self.judge_residual(frame) else { return };
        let worst = match kind {
            JudgedResidual::Relative => &mut self.residual,
            JudgedResidual::Inexact => &mut self.inexact,
            JudgedResidual::Swept => &mut self.swept_residual,
        };
        worst.observe(value, frame.step, || worst_violation_bodies(frame));
        if kind == JudgedResidual::Inexact {
            self.inexact_displacement += value;
        }
        let unconverged = kind != JudgedResidual::Swept && frame.report.converged() == Some(false);
        self.unconverged_steps += u64::from(unconverged);
    }

    fn observe_ledger(&mut self, frame: &Frame, ledger: &Ledger) {
        // Swept bodies that fall asleep in a step are no longer counted as swept in it.
        let sweeps = frame.report.swept > 0;
        let swept = std::mem::replace(&mut self.swept_before, sweeps) || sweeps;
        self.energy.add(ledger, self.audited_steps == 0, swept);
        self.audited_steps += 1;
        self.scales.observe(frame, ledger, &self.departures);
        let [linear, angular] = self.scales.momentum_shares(ledger);
        if let Some(error) = ledger.energy_error() {
            self.itemized_steps += 1;
            self.energy_error.observe(error.abs(), frame.step, Vec::new);
        }
        if swept {
            self.swept_linear_error.observe(linear, frame.step, Vec::new);
            self.swept_angular_error.observe(angular, frame.step, Vec::new);
        } else {
            let share = if linear > angular || linear.is_nan() { linear } else { angular };
            self.momentum_error.observe(share, frame.step, Vec::new);
        }
        let error = ledger.momentum_error();
        self.max_momentum_error = self.max_momentum_error.max(error.linear.length());
    }

    /// Returns the reference energy of plots, J.
    pub fn energy_scale(&self) -> f64 {
        self.scales.energy()
    }

    /// Returns the rounding of the total energies of the run.
    pub fn rounding(&self) -> Rounding {
        Rounding { energy: self.scales.energy_rounding(self.audited_steps), ..self.step_rounding() }
    }

    /// Returns the rounding of the figures of one step.
    pub fn step_rounding(&self) -> Rounding {
        Rounding {
            energy: self.scales.energy_rounding(1),
            momentum: self.scales.momentum_rounding(),
            length: f64::EPSILON * self.smallest_half_widths[0],
        }
    }

    /// Returns the smallest half width of a body, m.
    pub fn smallest_half_width(&self) -> f64 {
        self.smallest_half_widths[0]
    }

    /// Returns whether a body has left the scene.
    pub fn has_left(&self, body: BodyKey) -> bool {
        self.departures.has_left(body)
    }

    /// Returns the largest factor by which a step exceeds the warning limit of a check, with the name of the check and the
    /// bodies concerned, if the step is the worst so far.
    pub fn excess(&self, step: u64) -> Option<(f64, &'static str, &[BodyKey])> {
        let values = [
            ("penetration", &self.penetration, PENETRATION),
            ("joint error", &self.joint_error, PENETRATION),
            ("contact laws", &self.residual, JudgedResidual::Relative.limits()),
            ("contact laws", &self.inexact, JudgedResidual::Inexact.limits()),
            ("contact laws", &self.swept_residual, JudgedResidual::Swept.limits()),
        ];
        let excess = values.into_iter().filter_map(|(check, worst, limits)| {
            let value = worst.value.filter(|_| worst.step == Some(step))?;
            Some((value / limits.warn, check, worst.bodies.as_slice()))
        });
        excess.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Returns the totals of the ledgers, if they were kept.
    pub fn energy(&self) -> Option<&Energy> {
        (self.audited_steps > 0).then_some(&self.energy)
    }

    /// Returns the largest momentum error of a step, N s.
    pub fn momentum_error(&self) -> Option<f64> {
        (self.audited_steps > 0).then_some(self.max_momentum_error)
    }

    /// Returns the deepest overlap, m.
    pub fn max_penetration(&self) -> Option<f64> {
        self.max_penetration
    }

    /// Returns the largest joint error, m; `None` without joints.
    pub fn joint_error(&self) -> Option<f64> {
        self.joint_error.value.filter(|_| !self.joints.is_empty()).map(|_| self.max_joint_gap)
    }

    /// Returns whether the scene has joints.
    pub fn has_joints(&self) -> bool {
        !self.joints.is_empty()
    }

    /// Returns the worst relative residual.
    pub fn residual(&self) -> Option<f64> {
        self.worst_residual
    }

    /// Returns the number of bodies and steps per method.
    pub fn methods(&self) -> Methods {
        self.methods
    }

    /// Returns the number of events.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the largest number of contact points in a step.
    pub fn most_contacts(&self) -> usize {
        self.most_contacts
    }
}

/// The way in which the residual of a step is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JudgedResidual {
    /// Relative to the speeds of the island.
    Relative,
    /// By the displacement that it causes, in a run that asked for exact steps.
    Inexact,
    /// By the displacement that it causes in a swept step.
    Swept,
}

impl JudgedResidual {
    pub(super) fn limits(self) -> Thresholds {
        match self {
            Self::Relative => RESIDUAL,
            Self::Inexact => INEXACT,
            Self::Swept => SWEPT_RESIDUAL,
        }
    }
}

/// Returns the bodies of the contact or joint with the largest violation.
pub(super) fn worst_violation_bodies(frame: &Frame) -> Vec<BodyKey> {
    frame
        .report
        .worst_violation
        .map_or(Vec::new(), |violation| violation.bodies.map(BodyKey::from).to_vec())
}
