//! How a verb ends: good, bad, or not at all.

use std::fmt::Display;
use std::io::IsTerminal;
use std::path::Path;

use msd_record::RecordError;
use msd_scene::{LoadError, SceneError};

use crate::show;

/// How a verb ended that could do its work.
pub enum Outcome {
    /// Exit code 0.
    Good,
    /// A physics check failed, or two things differ: exit code 1.
    Bad,
}

impl Outcome {
    /// Good if `good`.
    pub fn from(good: bool) -> Result<Self, Failure> {
        Ok(if good { Self::Good } else { Self::Bad })
    }
}

/// Why a verb could not do its work.
pub enum Failure {
    /// What was given makes no sense: exit code 2.
    Input(String),
    /// A scene that makes no sense, with its place: exit code 2.
    Scene(Box<SceneError>),
    /// A file could not be read or written: exit code 3.
    Io(String),
}

impl Failure {
    /// A file that could not be read or written.
    pub fn io(path: &Path, error: impl Display) -> Self {
        Self::Io(format!("{}: {error}", path.display()))
    }

    /// Refuses to write onto what is being read.
    pub fn unless_other(from: &Path, to: &Path) -> Result<(), Self> {
        let same = match (from.canonicalize(), to.canonicalize()) {
            (Ok(from), Ok(to)) => from == to,
            _ => false,
        };
        match same {
            true => {
                Err(Self::Input(format!("{}: would replace what it is made from", to.display())))
            }
            false => Ok(()),
        }
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Input(_) | Self::Scene(_) => 2,
            Self::Io(_) => 3,
        }
    }

    /// Says why, on the error stream.
    pub fn print(&self) {
        let text = match self {
            Self::Input(text) | Self::Io(text) => format!("error: {text}"),
            Self::Scene(error) => error.render(std::io::stderr().is_terminal()),
        };
        show::err(&text);
    }

    /// Why, for those who show it elsewhere.
    #[cfg(feature = "view")]
    pub fn text(&self) -> String {
        match self {
            Self::Input(text) | Self::Io(text) => text.clone(),
            Self::Scene(error) => error.render(false),
        }
    }
}

impl From<SceneError> for Failure {
    fn from(error: SceneError) -> Self {
        Self::Scene(Box::new(error))
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Scene(error) => error.into(),
            LoadError::Io { .. } => Self::Io(error.to_string()),
        }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        if matches!(error, RecordError::Io { .. } | RecordError::Write { .. }) {
            Self::Io(error.to_string())
        } else {
            Self::Input(error.to_string())
        }
    }
}
