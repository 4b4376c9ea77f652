//! A temporary folder, and the command run in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A temporary folder for one test.
pub struct Sandbox {
    folder: tempfile::TempDir,
}

/// The result of a command.
pub struct Done {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Done {
    /// Parses the standard output as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }

    /// Panics with the output unless the exit code is `code`.
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        self
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Sandbox {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Returns the command with this folder as its working directory.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_msd"));
        command.args(args).current_dir(self.folder.path()).env("NO_COLOR", "1");
        command
    }

    pub fn run(&self, args: &[&str]) -> Done {
        self.command(args).output().unwrap().into()
    }

    /// Runs the command with an address-space limit in kilobytes.
    pub fn run_within(&self, kilobytes: u64, args: &[&str]) -> Done {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\""));
        command.arg(env!("CARGO_BIN_EXE_msd")).args(args);
        command.current_dir(self.folder.path()).env("NO_COLOR", "1").output().unwrap().into()
    }

    /// Records a built-in scene and returns the path of the recording.
    pub fn record(&self, scene: &str, set: &[&str]) -> PathBuf {
        let mut args = vec!["run", scene, "--quiet", "--no-report"];
        set.iter().for_each(|value| args.extend(["--set", value]));
        self.run(&args).expect(0);
        self.path(&format!("runs/{scene}.mcap"))
    }
}

/// Returns a path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns whether a check of a run passed, or had nothing to judge.
pub fn is_good(check: &serde_json::Value) -> bool {
    check["verdict"] == "pass" || check["verdict"] == "skip"
}
