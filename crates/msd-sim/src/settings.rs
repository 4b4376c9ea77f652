//! Every number that steers a step, with its unit, range, default and reason.

use crate::error::SettingsError;
use crate::math::Vec3;
use crate::threads::{MAX_THREADS, default_threads};

/// How the impulses of an island are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Warm-started sweeps, then, where the certificate says that these were not enough and the
    /// island is not too costly, Newton steps on the whole island. The default.
    #[default]
    SoftStep,
    /// Projected Gauss-Seidel to the tolerance or to [`Settings::iterations`] sweeps.
    Pgs,
    /// Exact without friction: friction is ignored, joints and contacts are solved by active sets.
    ActiveSet,
    /// Exact Coulomb friction by cone programs; needs the cargo feature `conic`.
    #[cfg(feature = "conic")]
    Conic,
}

/// Whether the ways of bodies are looked at, or only the places they come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Continuous {
    /// Where two bodies could pass each other within a substep, and where they may bounce. The default.
    #[default]
    Auto,
    /// The ways of all bodies that move, in every substep.
    Always,
    /// Bodies farther apart than their size when they are looked at, once a substep and after each of their
    /// impacts, are left to luck: a fast one may pass a thin one.
    Never,
}

/// How a world steps. Every field has a default; [`Settings::check`] says what is refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Uniform gravity, m/s^2. Default (0, 0, -9.81).
    pub gravity: Vec3,
    /// How impulses are found. Default [`Method::SoftStep`].
    pub method: Method,
    /// Pieces into which a step is cut, 1 to 64. Contact geometry is renewed in each. Default 4.
    pub substeps: u32,
    /// Slower impacts (m/s) do not bounce: restitution acts above this approach speed only.
    /// Default 0.5: at 60 Hz gravity alone gives 0.16 m/s a step.
    pub rest_speed: f64,
    /// Fraction of a penetration, and of a joint's gap, that is taken back in a substep, as
    /// displacement that leaves no velocity. In (0, 1]. Default 0.2.
    pub position_correction: f64,
    /// Fastest such displacement, m/s. Default 4: deep overlaps part gently.
    pub position_correction_speed: f64,
    /// Contacts are solved for when closer than this fraction of the smaller body's size (half its
    /// least width), plus what the bodies can travel. Default 0.02.
    pub margin: f64,
    /// A contact's points are moved along with their bodies instead of being found anew while these
    /// moved and turned against each other by less than this fraction of the smaller size. Default
    /// 1e-5.
    pub reuse: f64,
    /// Sweeps over every island whose remembered impulses are not good enough, 1 or more. Default 2.
    pub sweeps: u32,
    /// Residual, relative to the island's speeds, at which a solve is done, at most
    /// 0.01. Default 1e-10.
    pub tolerance: f64,
    /// Most sweeps, pivots or cone programs of the methods that iterate to the tolerance.
    /// Default 200.
    pub iterations: u32,
    /// Most Newton steps on one island in one substep. 0 leaves every island to the sweeps.
    /// Default 40.
    pub newton_steps: u32,
    /// Most products of 6 by 6 blocks that Newton steps may take on one island in one substep. A
    /// tower of n takes about 4 n a step, a loose pile of 32 about 2000; an island that would take
    /// more for one step is left to the sweeps, and one that is allowed few goes on from them in the
    /// next substep. Default 3000.
    pub newton_work: u32,
    /// Which bodies are kept from passing through each other. Default [`Continuous::Auto`]. In a swept world what moves
    /// farther than its size in a step is stopped where it touches, unless it is [`Continuous::Never`].
    pub continuous: Continuous,
    /// Bounds the instants of one substep at which an island has its impacts one after another: this over
    /// the square of its bodies' number, at least 1 (8 for what could pass another body) and at most 256. At
    /// the last of them, all that would hit in the rest of the substep does; what hits later nevertheless has
    /// no bounce and is counted in [`StepReport::unresolved_impacts`](crate::StepReport::unresolved_impacts). At least 1.
    /// Default 16384: 16 instants for 32 bodies.
    pub impact_work: u32,
    /// Worlds with more inertial bodies than this are stepped by sweeping by [`Method::SoftStep`]: contacts are found
    /// once a step instead of in every substep, impulses by two sweeps a substep over contacts that are kept in
    /// colours, with friction for a contact as a whole, and impacts have no instants of their own. Faster by far, and
    /// as good as other engines, but not exact. Default 128.
    pub max_exact_bodies: u32,
    /// Most threads on which a swept world is stepped, 1 to 64; the result is the same bits for any number. A step uses fewer
    /// where more do not pay: about one for every 0.4 ms of work, never more than the machine has cores,
    /// and one as long as other programs have the cores. Worlds that are not swept are stepped on the thread that
    /// calls. Default: the cores that this process may run on, at most 64.
    pub threads: u32,
    /// Puts islands of a swept world to sleep in which every body has rested for [`sleep_time`](Self::sleep_time): they
    /// stop, and nothing is done for them until something touches them or is done to them. Bodies of smaller worlds
    /// never sleep. Default off: what creeps would stop.
    pub sleeping: bool,
    /// A body of which no point is faster rests, m/s, 0 or more. Default 0.05: what creeps slower hardly is
    /// seen to, and what gravity moves is faster after 5 ms.
    pub sleep_speed: f64,
    /// How long a body has to rest before it may sleep, s, 0 or more. Default 0.5: a body that
    /// turns around at the top of its way, or that is about to tip over, does not rest for so long.
    pub sleep_time: f64,
    /// Keeps the books of energy and momentum in [`StepReport::audit`](crate::StepReport).
    /// Default off.
    pub audit: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            gravity: Vec3::new(0.0, 0.0, -9.81),
            method: Method::SoftStep,
            substeps: 4,
            rest_speed: 0.5,
            position_correction: 0.2,
            position_correction_speed: 4.0,
            margin: 0.02,
            reuse: 1e-5,
            sweeps: 2,
            tolerance: 1e-10,
            iterations: 200,
            newton_steps: 40,
            newton_work: 3000,
            continuous: Continuous::Auto,
            impact_work: 16384,
            max_exact_bodies: 128,
            threads: default_threads(),
            sleeping: false,
            sleep_speed: 0.05,
            sleep_time: 0.5,
            audit: false,
        }
    }
}

/// Settings that differ from their defaults and have no effect: see [`Settings::unused`].
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct UnusedSettings(u32);

/// Settings that do not act in every world, by their place in [`UnusedSettings`].
const SOMETIMES: [&str; 12] = [
    "position_correction",
    "reuse",
    "sweeps",
    "iterations",
    "newton_steps",
    "newton_work",
    "continuous",
    "impact_work",
    "max_exact_bodies",
    "sleeping",
    "sleep_speed",
    "sleep_time",
];

impl UnusedSettings {
    /// Their names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let all = SOMETIMES.into_iter().enumerate();
        all.filter(move |(place, _)| self.0 & 1 << place != 0).map(|(_, name)| name)
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl std::fmt::Debug for UnusedSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// How a world is stepped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stepping {
    Exact,
    Swept,
}

impl Settings {
    /// The settings that differ from their defaults and have no effect on a world with so many inertial bodies.
    ///
    /// A world steps with them all the same, because another body may change that:
    /// [`World::unused_settings`](crate::World::unused_settings) tells. Scene files that set one of them are refused.
    /// [`threads`](Self::threads) is an upper bound and never among them.
    pub fn unused(&self, inertial: usize) -> UnusedSettings {
        match self.sweeps_world(inertial) {
            true => self.unused_when(Stepping::Swept),
            false => self.unused_when(Stepping::Exact),
        }
    }

    /// Whether a world with so many inertial bodies is swept instead of stepped exactly: see [`max_exact_bodies`](Self::max_exact_bodies).
    pub fn sweeps_world(&self, inertial: usize) -> bool {
        self.method == Method::SoftStep && inertial > self.max_exact_bodies as usize
    }

    fn unused_when(&self, stepping: Stepping) -> UnusedSettings {
        let swept = stepping == Stepping::Swept;
        let soft = self.method == Method::SoftStep;
        // Whether each of `SOMETIMES` acts.
        let acts = [
            !swept,
            !swept,
            soft && !swept,
            !soft,
            soft && !swept,
            soft && !swept,
            !(swept && self.continuous == Continuous::Always),
            !swept,
            soft,
            swept,
            swept && self.sleeping,
            swept && self.sleeping,
        ];
        let default = Self::default();
        let differs = [
            self.position_correction != default.position_correction,
            self.reuse != default.reuse,
            self.sweeps != default.sweeps,
            self.iterations != default.iterations,
            self.newton_steps != default.newton_steps,
            self.newton_work != default.newton_work,
            self.continuous != default.continuous,
            self.impact_work != default.impact_work,
            self.max_exact_bodies != default.max_exact_bodies,
            self.sleeping != default.sleeping,
            self.sleep_speed != default.sleep_speed,
            self.sleep_time != default.sleep_time,
        ];
        let mut unused = 0;
        for (place, (acts, differs)) in acts.into_iter().zip(differs).enumerate() {
            unused |= u32::from(differs && !acts) << place;
        }
        UnusedSettings(unused)
    }

    /// The largest number of [`threads`](Self::threads).
    pub const MAX_THREADS: u32 = MAX_THREADS;

    /// Refuses what cannot be stepped with, naming the field and the value, and settings that have no effect with this
    /// method whatever the number of bodies.
    pub fn check(&self) -> Result<(), SettingsError> {
        self.check_ranges()?;
        match self.never_used().names().next() {
            Some(field) => Err(SettingsError::Unused { field, method: self.method }),
            None => Ok(()),
        }
    }

    /// Refuses what cannot be stepped with.
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

    /// The settings that differ from their defaults and have no effect with the method, whatever the number of bodies.
    pub fn never_used(&self) -> UnusedSettings {
        let exact = self.unused_when(Stepping::Exact);
        match self.method {
            Method::SoftStep => UnusedSettings(exact.0 & self.unused_when(Stepping::Swept).0),
            _ => exact,
        }
    }

    /// The same settings with [`never_used`](Self::never_used) ones at their defaults.
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
                "sleeping" => self.sleeping = default.sleeping,
                "sleep_speed" => self.sleep_speed = default.sleep_speed,
                "sleep_time" => self.sleep_time = default.sleep_time,
                _ => {}
            }
        }
        self
    }
}
