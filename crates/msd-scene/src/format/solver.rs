//! Solvers by the names that scenes, the command line and the viewer know them by.

use msd_sim::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How impulses are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Warm-started sweeps and Newton steps.
    SoftStep,
    /// Projected Gauss-Seidel to the tolerance.
    Pgs,
    /// Exact without friction.
    ActiveSet,
    /// Exact Coulomb friction by cone programs.
    Conic,
}

impl Solver {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::SoftStep, Self::Pgs, Self::ActiveSet, Self::Conic];

    /// The name by which scenes and the command line know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::SoftStep => "soft-step",
            Self::Pgs => "pgs",
            Self::ActiveSet => "active-set",
            Self::Conic => "conic",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|solver| solver.name() == name)
    }

    /// The engine's, if this build has it.
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

    /// That of the engine's.
    pub fn of(method: Method) -> Self {
        let found = Self::ALL.into_iter().find(|solver| solver.method() == Some(method));
        found.unwrap_or(Self::SoftStep)
    }
}
