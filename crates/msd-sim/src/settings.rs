//! Every number that controls a step, with its unit, range, default and reason.

use crate::error::SettingsError;
use crate::math::Vec3;
use crate::threads::{MAX_THREADS, default_threads};

/// Number of bodies up to which an island is exact whatever it costs.
pub(crate) const FEW_BODIES: usize = 4;

/// How much a step may cost, and so how exact it is: the one dial in front of the advanced [`Settings`].
///
/// Its name is the same in scene files, on the command line and in [`Display`](std::fmt::Display) and
/// [`FromStr`](std::str::FromStr): `fast`, `balanced` or `exact`.
///
/// | | islands | Newton steps per island and substep | their work |
/// |---|---|---|---|
/// | `fast` | all are swept | none | none |
/// | `balanced` | exact up to 128 inertial bodies, and larger ones while nothing in them moves; others are swept | 40; in motion sweeps first, and 20 where they do not suffice; where nothing moves 60 | 30000 block products, in motion a sixth; where nothing moves 8 million per Newton step |
/// | `exact` | all are exact, whatever their size | 2000 | unlimited |
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum Accuracy {
    /// Every island is swept: fastest, and as accurate as other engines.
    Fast,
    /// Islands of up to 128 inertial bodies are exact within a budget, larger ones are swept while they move. The default.
    #[default]
    Balanced,
    /// Every island is solved to the tolerance, whatever that costs. A step that does not converge reports it, and
    /// fails the checks of `msd run`.
    Exact,
}

impl Accuracy {
    /// All levels, from the fastest to the most exact.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Balanced, Self::Exact];

    /// Returns the name used in scenes and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Balanced => "balanced",
            Self::Exact => "exact",
        }
    }

    /// Returns the level of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|accuracy| accuracy.name() == name)
    }

    /// Returns the maximum number of inertial bodies of an exact island.
    fn exact_bodies(self) -> u32 {
        match self {
            Self::Fast => 0,
            Self::Balanced => 128,
            Self::Exact => u32::MAX,
        }
    }

    /// Returns the maximum cost of an exact island per body and step.
    fn exact_cost(self) -> u32 {
        match self {
            Self::Fast => 1,
            Self::Balanced | Self::Exact => u32::MAX,
        }
    }

    fn newton_steps(self) -> u32 {
        match self {
            Self::Fast => 0,
            Self::Balanced => 40,
            Self::Exact => 2000,
        }
    }

    fn newton_work(self) -> u32 {
        match self {
            Self::Fast => 0,
            Self::Balanced => 30000,
            Self::Exact => u32::MAX,
        }
    }
}

impl std::fmt::Display for Accuracy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Accuracy {
    type Err = SettingsError;

    fn from_str(name: &str) -> Result<Self, SettingsError> {
        Self::named(name).ok_or_else(|| SettingsError::UnknownAccuracy { name: name.to_owned() })
    }
}

/// The method that computes the impulses of an island.
///
/// [`Display`](std::fmt::Display) writes the name that it has in scene files and on the command line, such as `soft-step`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum Method {
    /// Warm-started sweeps, followed by Newton steps on the whole island where the residual shows that sweeps were not
    /// enough and the island is not too expensive. The default.
    #[default]
    SoftStep,
    /// Projected Gauss-Seidel, up to the tolerance or [`Settings::iterations`] sweeps.
    Pgs,
    /// Exact without friction: friction is ignored, contacts and joints are solved by active sets.
    ActiveSet,
    /// Exact Coulomb friction by cone programs; requires the cargo feature `conic`.
    #[cfg(feature = "conic")]
    Conic,
}

impl Method {
    /// Returns the name used in scenes and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::SoftStep => "soft-step",
            Self::Pgs => "pgs",
            Self::ActiveSet => "active-set",
            #[cfg(feature = "conic")]
            Self::Conic => "conic",
        }
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// Continuous collision detection: which bodies are checked along their paths, not only at their poses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Continuous {
    /// Pairs that could pass through each other within a substep, and pairs that may bounce. The default.
    #[default]
    Auto,
    /// All moving pairs, in every substep.
    Always,
    /// None. Bodies farther apart than their size when contacts are updated, once a substep and after each of their
    /// impacts, may tunnel: a fast body can pass through a thin one.
    Never,
}

/// The settings of a world. Every field has a default; [`Settings::check`] validates them.
///
/// Most worlds need only the first ones: the dial [`accuracy`](Self::accuracy), gravity, the number of substeps,
/// sleeping and the audit.
///
/// # Advanced
///
/// The fields from [`method`](Self::method) on are the knobs behind the dial, and fractions and budgets whose defaults
/// suit any scale. Their docs begin with "Advanced". [`max_exact_bodies`](Self::max_exact_bodies),
/// [`max_exact_cost`](Self::max_exact_cost), [`newton_steps`](Self::newton_steps) and [`newton_work`](Self::newton_work) override what the accuracy implies;
/// [`exact_body_limit`](Self::exact_body_limit), [`newton_step_limit`](Self::newton_step_limit) and
/// [`newton_work_limit`](Self::newton_work_limit) return the values in effect.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// How exact a step is, and what it may cost. Default [`Accuracy::Balanced`]. Settings that have no effect with it
    /// are rejected, such as [`newton_work`](Self::newton_work) where every island is swept.
    pub accuracy: Accuracy,
    /// Uniform gravity, m/s^2. Default (0, 0, -9.81).
    pub gravity: Vec3,
    /// Number of substeps per step, 1 to 64. Contact geometry is updated in each. Default 4.
    pub substeps: u32,
    /// Impacts slower than this do not bounce, m/s: restitution applies only above this approach speed. Default 0.5: at
    /// 60 Hz, gravity alone adds 0.16 m/s per step.
    pub rest_speed: f64,
    /// Continuous collision detection. Default [`Continuous::Auto`]. A swept body that moves farther than
    /// its size in a step is stopped where it touches, unless this is [`Continuous::Never`].
    pub continuous: Continuous,
    /// Maximum number of threads for swept islands, 1 to 64; the result is the same bits for any number. A step uses
    /// fewer where more do not pay: about one per 0.4 ms of work, never more than the machine has cores, and only one
    /// while other programs use the cores. Exact steps run on the calling thread. Default: the cores available to this
    /// process, at most 64.
    pub threads: u32,
    /// Puts islands to sleep once every body has been at rest for [`sleep_time`](Self::sleep_time): they stop, and cost
    /// next to nothing until a body touches them (exact islands: until its bounds, grown by its motion in a step, touch
    /// theirs) or the user changes one of theirs. Default off: sleeping stops slow creep.
    pub sleeping: bool,
    /// A body is at rest while its fastest point moves no faster than this, m/s, 0 or more; in exact islands it must not
    /// gain a tenth of it within [`sleep_time`](Self::sleep_time) either. Default 0.05: slower creep is hardly visible,
    /// and gravity makes a body faster than this within 5 ms.
    pub sleep_speed: f64,
    /// Time that a body must be at rest before it may sleep, s, 0 or more. Default 0.5: a body at the top of its path,
    /// or about to tip over, does not rest for that long.
    pub sleep_time: f64,
    /// Fills the ledger of energy and momentum in [`StepReport::audit`](crate::StepReport). Default off.
    pub audit: bool,
    /// Advanced. Method that computes the impulses. Default [`Method::SoftStep`].
    pub method: Method,
    /// Advanced. Islands of more inertial bodies than this are swept by [`Method::SoftStep`]: contacts are found once a
    /// step instead of in every substep, impulses come from two sweeps per substep over colored contacts, with friction
    /// per manifold, and impacts have no times of their own. Much faster, and as accurate as other engines, but not
    /// exact. An island is a group of bodies that joints, contacts, or a possible contact within the step connect;
    /// nothing outside it matters. A swept island becomes exact again at three quarters of this number. A larger island of
    /// which nothing moves, such as a wall that was just built, is exact until something does. 0 sweeps
    /// everything, `u32::MAX` nothing. Default `None`, as the accuracy says: 128, no limit with [`Accuracy::Exact`].
    pub max_exact_bodies: Option<u32>,
    /// Advanced. Islands of five and more inertial bodies without joints that slide, tumble or collide are swept by
    /// [`Method::SoftStep`] if exact steps cost more than this per body and step, 1 or more. The unit is the visit of a
    /// contact point by a sweep; the cost is counted, not timed, so that results do not depend on the machine. A single hit
    /// may cost 16 times as much. After 60 steps, or up to 240 where that failed before, an exact step is tried again;
    /// bodies that leave the island wait as long. Default `None`, no limit. With 300, heaps in motion are 1.1 to 16 times
    /// as fast: they take 1 to 6 times as long as in rapier3d-f64, a tower that was hit 12 times. But while they are swept
    /// their impulses do not satisfy the laws of contact (relative residuals of about 1), and `msd run` fails that check.
    pub max_exact_cost: Option<u32>,
    /// Advanced. Maximum number of Newton steps on one island per substep. 0 leaves every island to the sweeps. Default
    /// `None`, as the accuracy says: 40, or 2000 with [`Accuracy::Exact`].
    pub newton_steps: Option<u32>,
    /// Advanced. Maximum number of products of 6 by 6 blocks that Newton steps may spend on one island per substep. A
    /// tower of n bodies takes about 4 n per Newton step, a loose pile of 32 about 2000. An island that needs more for a
    /// single step is left to the sweeps; one that gets few steps continues from them in the next substep. An island in
    /// which surfaces approach, slide or open faster than gravity accelerates in two substeps gets a sixth and at most 20
    /// steps, unless the accuracy is [`Accuracy::Exact`]. Default `None`, as the accuracy says: 30000, no limit with
    /// [`Accuracy::Exact`].
    pub newton_work: Option<u32>,
    /// Advanced. Number of sweeps over each island whose warm-started impulses are not accurate enough, 1 or more.
    /// Default 2.
    pub sweeps: u32,
    /// Advanced. Maximum number of sweeps, pivots or cone programs of the methods that iterate to the tolerance.
    /// Default 200.
    pub iterations: u32,
    /// Advanced. Residual, relative to the island's speeds, at which a solve has converged, at most 0.01. Default
    /// 1e-10.
    pub tolerance: f64,
    /// Advanced. Limits the number of impact times per island and substep to this value divided by the square of the
    /// number of its bodies, at least 1 (8 for bodies that could pass through others) and at most 256. The last of
    /// these times resolves all impacts predicted for the rest of the substep together; any later impact does not
    /// bounce and is counted in [`StepReport::unresolved_impacts`](crate::StepReport::unresolved_impacts). At least 1.
    /// Default 16384: 16 impact times for 32 bodies.
    pub impact_work: u32,
    /// Advanced. Fraction of a penetration, and of a joint's gap, that is corrected per substep, as a displacement that
    /// leaves no velocity behind. In (0, 1]. Default 0.2.
    pub position_correction: f64,
    /// Advanced. Maximum speed of that displacement, m/s. Default 4: deep overlaps separate gently.
    pub position_correction_speed: f64,
    /// Advanced. Contacts are solved when the bodies are closer than this fraction of the smaller body's size (half its
    /// least width), plus the distance they can travel. Default 0.02.
    pub margin: f64,
    /// Advanced. Contact points move along with their bodies, instead of being found again, while the bodies have moved
    /// and turned relative to each other by less than this fraction of the smaller size. Default 1e-5.
    pub reuse: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            accuracy: Accuracy::Balanced,
            gravity: Vec3::new(0.0, 0.0, -9.81),
            substeps: 4,
            rest_speed: 0.5,
            continuous: Continuous::Auto,
            threads: default_threads(),
            sleeping: false,
            sleep_speed: 0.05,
            sleep_time: 0.5,
            audit: false,
            method: Method::SoftStep,
            max_exact_bodies: None,
            max_exact_cost: None,
            newton_steps: None,
            newton_work: None,
            sweeps: 2,
            iterations: 200,
            tolerance: 1e-10,
            impact_work: 16384,
            position_correction: 0.2,
            position_correction_speed: 4.0,
            margin: 0.02,
            reuse: 1e-5,
        }
    }
}

/// Settings that differ from their defaults and have no effect: see [`Settings::unused`].
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct UnusedSettings(u32);

/// Settings that have no effect in some worlds, by their bit in [`UnusedSettings`].
const CONDITIONAL: [&str; 12] = [
    "position_correction",
    "reuse",
    "sweeps",
    "iterations",
    "newton_steps",
    "newton_work",
    "continuous",
    "impact_work",
    "max_exact_bodies",
    "sleep_speed",
    "sleep_time",
    "max_exact_cost",
];

impl UnusedSettings {
    /// Returns their names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let all = CONDITIONAL.into_iter().enumerate();
        all.filter(move |(place, _)| self.0 & 1 << place != 0).map(|(_, name)| name)
    }

    /// Returns whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl std::fmt::Debug for UnusedSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// The way in which an island is stepped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stepping {
    Exact,
    Swept,
}

/// The length of a step and of its substeps, s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepTime {
    pub(crate) dt: f64,
    pub(crate) h: f64,
}

impl StepTime {
    pub(crate) fn new(dt: f64, settings: &Settings) -> Self {
        Self { dt, h: dt / f64::from(settings.substeps) }
    }
}

impl Settings {
    /// Returns the number of inertial bodies above which an island is swept:
    /// [`max_exact_bodies`](Self::max_exact_bodies), or what the accuracy says. Only [`Method::SoftStep`] sweeps.
    pub fn exact_body_limit(&self) -> u32 {
        self.in_effect(self.max_exact_bodies, Accuracy::exact_bodies)
    }

    /// Returns the cost per body and step above which an island in motion is swept: [`max_exact_cost`](Self::max_exact_cost),
    /// or what the accuracy says; `u32::MAX` is no limit.
    pub fn exact_cost_limit(&self) -> u32 {
        self.in_effect(self.max_exact_cost, Accuracy::exact_cost)
    }

    /// Returns the maximum number of Newton steps on one island per substep: [`newton_steps`](Self::newton_steps), or
    /// what the accuracy says.
    pub fn newton_step_limit(&self) -> u32 {
        self.in_effect(self.newton_steps, Accuracy::newton_steps)
    }

    /// Returns the maximum number of block products of Newton steps on one island per substep:
    /// [`newton_work`](Self::newton_work), or what the accuracy says.
    pub fn newton_work_limit(&self) -> u32 {
        self.in_effect(self.newton_work, Accuracy::newton_work)
    }

    /// Returns what is in effect of an override and the value of the accuracy. Nothing overrides [`Accuracy::Fast`].
    fn in_effect(&self, given: Option<u32>, of: impl Fn(Accuracy) -> u32) -> u32 {
        match (self.accuracy, given) {
            (Accuracy::Balanced | Accuracy::Exact, Some(value)) => value,
            (accuracy, _) => of(accuracy),
        }
    }

    /// Returns the settings that override the accuracy with a value other than its own, with their values.
    pub fn overrides(&self) -> impl Iterator<Item = (&'static str, u32)> {
        let accuracy = self.accuracy;
        let all = [
            ("max_exact_bodies", self.max_exact_bodies, accuracy.exact_bodies()),
            ("max_exact_cost", self.max_exact_cost, accuracy.exact_cost()),
            ("newton_steps", self.newton_steps, accuracy.newton_steps()),
            ("newton_work", self.newton_work, accuracy.newton_work()),
        ];
        let given = all.into_iter().filter_map(|(name, given, own)| Some((name, given?, own)));
        given.filter(|(_, given, own)| given != own).map(|(name, given, _)| (name, given))
    }

    /// Returns these settings without the overrides that repeat what the accuracy says, which changes no results.
    /// [`Accuracy::Fast`] has no overrides: [`check`](Self::check) rejects those that are given.
    #[must_use]
    pub fn without_redundant_overrides(mut self) -> Self {
        let accuracy = self.accuracy;
        if accuracy == Accuracy::Fast {
            return self;
        }
        for (given, own) in [
            (&mut self.max_exact_bodies, accuracy.exact_bodies()),
            (&mut self.max_exact_cost, accuracy.exact_cost()),
            (&mut self.newton_steps, accuracy.newton_steps()),
            (&mut self.newton_work, accuracy.newton_work()),
        ] {
            *given = given.filter(|given| *given != own);
        }
        self
    }

    /// Returns whether the two give the same results: they may differ in the number of threads.
    pub(crate) fn acts_as(&self, other: &Self) -> bool {
        Self { threads: other.threads, ..self.clone() } == *other
    }

    /// Returns the settings that differ from their defaults and have no effect on a world with this many inertial
    /// bodies, however they are grouped into islands.
    ///
    /// The world accepts them anyway, because adding a body may change that: see
    /// [`World::unused_settings`](crate::World::unused_settings). Scene files that set one of them are rejected.
    /// [`threads`](Self::threads) is an upper bound and never among them.
    pub fn unused(&self, inertial: usize) -> UnusedSettings {
        if !self.may_sweep(inertial) {
            return self.unused_when(Stepping::Exact);
        }
        let swept = self.unused_when(Stepping::Swept);
        match self.exact_body_limit() {
            0 => swept,
            _ => UnusedSettings(swept.0 & self.unused_when(Stepping::Exact).0),
        }
    }

    /// Returns whether a world with this many inertial bodies may have an island that is swept instead of stepped
    /// exactly: see [`exact_body_limit`](Self::exact_body_limit) and [`exact_cost_limit`](Self::exact_cost_limit).
    pub fn may_sweep(&self, inertial: usize) -> bool {
        let costs = self.exact_cost_limit() < u32::MAX && inertial > FEW_BODIES;
        self.method == Method::SoftStep && (inertial > self.exact_body_limit() as usize || costs)
    }

    fn unused_when(&self, stepping: Stepping) -> UnusedSettings {
        let swept = stepping == Stepping::Swept;
        let soft = self.method == Method::SoftStep;
        let fast = self.accuracy == Accuracy::Fast;
        // Whether each of `CONDITIONAL` has an effect.
        let acts = [
            !swept,
            !swept,
            soft && !swept,
            !soft,
            soft && !swept,
            soft && !swept,
            !(swept && self.continuous == Continuous::Always),
            !swept,
            soft && !fast,
            self.sleeping,
            self.sleeping,
            soft && !fast && self.exact_body_limit() > 0,
        ];
        let default = Self::default();
        let overrides = |name: &str, given: Option<u32>| match fast {
            true => given.is_some(),
            false => self.overrides().any(|(other, _)| other == name),
        };
        let differs = [
            self.position_correction != default.position_correction,
            self.reuse != default.reuse,
            self.sweeps != default.sweeps,
            self.iterations != default.iterations,
            overrides("newton_steps", self.newton_steps),
            overrides("newton_work", self.newton_work),
            self.continuous != default.continuous,
            self.impact_work != default.impact_work,
            overrides("max_exact_bodies", self.max_exact_bodies),
            self.sleep_speed != default.sleep_speed,
            self.sleep_time != default.sleep_time,
            overrides("max_exact_cost", self.max_exact_cost),
        ];
        let mut unused = 0;
        for (place, (acts, differs)) in acts.into_iter().zip(differs).enumerate() {
            unused |= u32::from(differs && !acts) << place;
        }
        UnusedSettings(unused)
    }

    /// The maximum number of [`threads`](Self::threads).
    pub const MAX_THREADS: u32 = MAX_THREADS;

    /// Rejects values out of range, naming the field and the value, and settings that have no effect with this accuracy
    /// and method whatever the number of bodies.
    pub fn check(&self) -> Result<(), SettingsError> {
        self.check_ranges()?;
        let accuracy = self.accuracy;
        if accuracy == Accuracy::Fast && self.method != Method::SoftStep {
            let (field, value) = ("method", self.method.to_string());
            return Err(SettingsError::UnusedWithAccuracy { field, value, accuracy });
        }
        let Some(field) = self.never_used().names().next() else { return Ok(()) };
        let balanced = Self { accuracy: Accuracy::Balanced, ..self.clone() };
        if balanced.unused_with_method().names().any(|name| name == field) {
            return Err(SettingsError::Unused { field, method: self.method });
        }
        let value = self.value_of(field);
        Err(SettingsError::UnusedWithAccuracy { field, value, accuracy })
    }

    /// Returns the value of one of [`CONDITIONAL`] for messages.
    fn value_of(&self, field: &str) -> String {
        let given = |value: Option<u32>| value.map_or(String::new(), |value| value.to_string());
        match field {
            "position_correction" => self.position_correction.to_string(),
            "reuse" => self.reuse.to_string(),
            "sweeps" => self.sweeps.to_string(),
            "iterations" => self.iterations.to_string(),
            "newton_steps" => given(self.newton_steps),
            "newton_work" => given(self.newton_work),
            "continuous" => format!("{:?}", self.continuous),
            "impact_work" => self.impact_work.to_string(),
            "max_exact_bodies" => given(self.max_exact_bodies),
            "max_exact_cost" => given(self.max_exact_cost),
            "sleep_speed" => self.sleep_speed.to_string(),
            "sleep_time" => self.sleep_time.to_string(),
            _ => String::new(),
        }
    }

    /// Rejects values out of range.
    pub(crate) fn check_ranges(&self) -> Result<(), SettingsError> {
        if !self.gravity.is_finite() {
            return Err(SettingsError::Gravity { value: self.gravity });
        }
        let real = [
            ("rest_speed", self.rest_speed, 0.0, f64::MAX),
            ("position_correction", self.position_correction, f64::MIN_POSITIVE, 1.0),
            ("position_correction_speed", self.position_correction_speed, 0.0, f64::MAX),
            ("margin", self.margin, 0.0, 1.0),
            ("reuse", self.reuse, 0.0, 1.0),
            ("tolerance", self.tolerance, 0.0, 1e-2),
            ("sleep_speed", self.sleep_speed, 0.0, f64::MAX),
            ("sleep_time", self.sleep_time, 0.0, f64::MAX),
        ];
        for (field, value, least, most) in real {
            if !(value >= least && value <= most) {
                return Err(SettingsError::OutOfRange { field, value, least, most });
            }
        }
        let whole = [
            ("substeps", self.substeps, 1, 64),
            ("sweeps", self.sweeps, 1, u32::MAX),
            ("iterations", self.iterations, 1, u32::MAX),
            ("impact_work", self.impact_work, 1, u32::MAX),
            ("threads", self.threads, 1, MAX_THREADS),
            ("max_exact_cost", self.max_exact_cost.unwrap_or(u32::MAX), 1, u32::MAX),
        ];
        for (field, value, least, most) in whole {
            if !(least..=most).contains(&value) {
                return Err(SettingsError::OutOfRange {
                    field,
                    value: f64::from(value),
                    least: f64::from(least),
                    most: f64::from(most),
                });
            }
        }
        Ok(())
    }

    /// Returns the settings that differ from their defaults and have no effect with this accuracy and method, whatever
    /// the number of bodies.
    pub fn never_used(&self) -> UnusedSettings {
        match (self.method, self.accuracy) {
            (Method::SoftStep, Accuracy::Fast) => self.unused_when(Stepping::Swept),
            (Method::SoftStep, Accuracy::Exact)
                if self.max_exact_bodies.is_none() && self.max_exact_cost.is_none() =>
            {
                self.unused_when(Stepping::Exact)
            }
            _ => self.unused_with_method(),
        }
    }

    /// Returns the settings that differ from their defaults and have no effect with this method, whether islands are
    /// exact or swept.
    fn unused_with_method(&self) -> UnusedSettings {
        let exact = self.unused_when(Stepping::Exact);
        match self.method {
            Method::SoftStep => UnusedSettings(exact.0 & self.unused_when(Stepping::Swept).0),
            _ => exact,
        }
    }

    /// Returns these settings with the [`never_used`](Self::never_used) ones reset to their defaults.
    pub fn without_never_used(mut self) -> Self {
        let default = Self::default();
        for name in self.never_used().names() {
            match name {
                "position_correction" => self.position_correction = default.position_correction,
                "reuse" => self.reuse = default.reuse,
                "sweeps" => self.sweeps = default.sweeps,
                "iterations" => self.iterations = default.iterations,
                "newton_steps" => self.newton_steps = default.newton_steps,
                "newton_work" => self.newton_work = default.newton_work,
                "continuous" => self.continuous = default.continuous,
                "impact_work" => self.impact_work = default.impact_work,
                "max_exact_bodies" => self.max_exact_bodies = default.max_exact_bodies,
                "max_exact_cost" => self.max_exact_cost = default.max_exact_cost,
                "sleep_speed" => self.sleep_speed = default.sleep_speed,
                "sleep_time" => self.sleep_time = default.sleep_time,
                _ => {}
            }
        }
        self
    }
}
