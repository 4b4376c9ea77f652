//! The named scenes: files in `scenes/`, used by the command, tests, benchmarks and docs.

pub mod benchmarks;

use crate::error::SceneError;
use crate::file::{Options, SceneFile};

/// A named scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name of the scene and of its file.
    pub name: &'static str,
    /// Text of the scene, TOML.
    pub text: &'static str,
}

macro_rules! entries {
    ($($name:literal),* $(,)?) => {
        &[$(Entry { name: $name, text: include_str!(concat!("../../../scenes/", $name, ".toml")) }),*]
    };
}

/// All scenes, from simple to complex.
pub const ENTRIES: &[Entry] = entries![
    "tower",
    "pyramid",
    "heavy-on-light",
    "arch",
    "ladder-holds",
    "ladder-slips",
    "incline-race",
    "conveyor",
    "bouncing",
    "cradle",
    "dominoes",
    "billiards",
    "top",
    "t-handle",
    "satellite",
    "piston",
    "chain",
    "bullet",
    "bricks",
    "hull-pile",
    "furniture",
];

/// Returns the scene of a name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

impl Entry {
    /// Reads the scene.
    pub fn open(&self, options: &Options) -> Result<SceneFile, SceneError> {
        SceneFile::parse(self.text, &format!("{}.toml", self.name), options)
    }

    /// Returns the comment at the top of the file: what the scene shows, and the expected result and warnings.
    pub fn comment(&self) -> String {
        let lines = self.text.lines().map_while(|line| line.strip_prefix('#'));
        lines.map(str::trim).collect::<Vec<_>>().join("\n")
    }
}
