//! Solvers by their names in scenes, on the command line and in the viewer.

use msd_sim::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A solver for the contact and joint impulses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Warm-started sweeps and Newton steps.
    SoftStep,
    /// Projected Gauss-Seidel, iterated to the tolerance.
    Pgs,
    /// Exact active-set solver without friction.
    ActiveSet,
    /// Exact Coulomb friction by cone programming.
    Conic,
}

impl Solver {
    /// All solvers.
    pub const ALL: [Self; 4] = [Self::SoftStep, Self::Pgs, Self::ActiveSet, Self::Conic];

    /// Returns the name used in scenes and on the command line.
    pub fn name(self) -> &'static str {
        // Builds without the conic method know its name, too.
        self.method().map_or("conic", Method::name)
    }

    /// Returns the solver of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|solver| solver.name() == name)
    }

    /// Returns the engine's method, if this build includes it.
    pub fn method(self) -> Option<Method> {
        match self {
            Self::SoftStep => Some(Method::SoftStep),
            Self::Pgs => Some(Method::Pgs),
            Self::ActiveSet => Some(Method::ActiveSet),
            #[cfg(feature = "conic")]
            Self::Conic => Some(Method::Conic),
            #[cfg(not(feature = "conic"))]
            Self::Conic => None,
        }
    }

    /// Returns the solver of an engine method.
    pub fn of(method: Method) -> Self {
        let found = Self::ALL.into_iter().find(|solver| solver.method() == Some(method));
        found.unwrap_or(Self::SoftStep)
    }
}
