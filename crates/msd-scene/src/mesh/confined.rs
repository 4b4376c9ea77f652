//! Files confined to the scene's folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Fault;
use crate::file::{ReadError, read_file};

/// A regular file inside the scene's folder.
pub(super) struct ConfinedFile {
    /// The scene's folder, symbolic links resolved.
    root: PathBuf,
    /// The file, symbolic links resolved.
    path: PathBuf,
    /// The folder of the file as named; paths inside the file are relative to it.
    folder: PathBuf,
}

impl ConfinedFile {
    /// Finds a file by its path relative to `folder`, which is `root` or inside it.
    pub(super) fn find(root: &Path, folder: &Path, name: &str) -> Result<Self, Fault> {
        check_name(name)?;
        // The folder of a scene file named without one is empty: the current directory.
        let here = |path: &Path| path.join(".");
        let root = here(root).canonicalize().map_err(unreadable)?;
        let named = here(folder).join(name);
        let path = named.canonicalize().map_err(unreadable)?;
        if !path.starts_with(&root) {
            return Err(Fault::new(
                "expected a file inside the scene's folder, found a link that leads out of it",
            ));
        }
        // Opening a named pipe would block until it has a writer.
        if !fs::metadata(&path).map_err(unreadable)?.is_file() {
            return Err(Fault::new("expected a regular file"));
        }
        let folder = named.parent().unwrap_or(&root).to_owned();
        Ok(Self { root, path, folder })
    }

    /// Finds a file that this one refers to.
    pub(super) fn beside(&self, name: &str) -> Result<Self, Fault> {
        Self::find(&self.root, &self.folder, name)
    }

    /// Reads the file, at most `limit` bytes.
    pub(super) fn read(&self, limit: u64) -> Result<Vec<u8>, Fault> {
        read_file(&self.path, limit, "--max-mesh-bytes").map_err(|error| match error {
            ReadError::Io(error) => unreadable(error),
            ReadError::TooLarge(fault) => *fault,
        })
    }
}

fn unreadable(error: std::io::Error) -> Fault {
    Fault::new(format!("cannot be read: {error}"))
}

/// Checks that a path is relative, never goes up, and means the same on every system.
fn check_name(name: &str) -> Result<(), Fault> {
    let drive = name.as_bytes().get(1) == Some(&b':');
    if name.is_empty() || name.starts_with('/') || drive {
        return Err(Fault::new("expected a path relative to the scene's folder"));
    }
    if name.contains('\\') {
        return Err(Fault::new("expected folders separated by `/`, found `\\`"));
    }
    if name.contains('\0') {
        return Err(Fault::new("expected a path without zero bytes"));
    }
    if name.split('/').any(|part| part == "..") {
        return Err(Fault::new("expected a file inside the scene's folder, found `..`"));
    }
    Ok(())
}
