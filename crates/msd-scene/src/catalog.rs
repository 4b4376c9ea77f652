//! The named scenes: written once, in `scenes/`, and used by the command, tests, benchmarks and docs.

pub mod benchmarks;

use crate::error::SceneError;
use crate::file::{Options, SceneFile};

/// A named scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, that of its file.
    pub name: &'static str,
    /// Its text, TOML.
    pub text: &'static str,
}

macro_rules! entries {
    ($($name:literal),* $(,)?) => {
        &[$(Entry { name: $name, text: include_str!(concat!("../../../scenes/", $name, ".toml")) }),*]
    };
}

/// All scenes, from the simple to the busy.
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
];

/// A scene by its name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

impl Entry {
    /// Reads it.
    pub fn open(&self, options: &Options) -> Result<SceneFile, SceneError> {
        SceneFile::parse(self.text, &format!("{}.toml", self.name), options)
    }

    /// The comment at its head: what it shows, what to expect and which warnings are due.
    pub fn comment(&self) -> String {
        let lines = self.text.lines().map_while(|line| line.strip_prefix('#'));
        lines.map(str::trim).collect::<Vec<_>>().join("\n")
    }
}
