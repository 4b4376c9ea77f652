//! Where a file is: always inside the scene's folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Fault;
use crate::file::{ReadError, read_file};

/// A regular file inside the scene's folder.
pub(super) struct Place {
    /// The scene's folder, links resolved.
    root: PathBuf,
    /// The file, links resolved.
    path: PathBuf,
    /// The folder that it was named in, which its own names are relative to.
    folder: PathBuf,
}

impl Place {
    /// Finds a file named relative to `folder`, which is `root` or inside of it.
    pub(super) fn find(root: &Path, folder: &Path, name: &str) -> Result<Self, Fault> {
        check_name(name)?;
        // A scene file named without a folder is in the current one.
        let here = |path: &Path| path.join(".");
        let root = here(root).canonicalize().map_err(unreadable)?;
        let named = here(folder).join(name);
        let path = named.canonicalize().map_err(unreadable)?;
        if !path.starts_with(&root) {
            return Err(Fault::new(
                "expected a file inside the scene's folder, the link leads out",
            ));
        }
        // Opening a pipe would wait for a writer.
        if !fs::metadata(&path).map_err(unreadable)?.is_file() {
            return Err(Fault::new("expected a file, found something else of that name"));
        }
        let folder = named.parent().unwrap_or(&root).to_owned();
        Ok(Self { root, path, folder })
    }

    /// A file that this one names.
    pub(super) fn beside(&self, name: &str) -> Result<Self, Fault> {
        Self::find(&self.root, &self.folder, name)
    }

    /// Its bytes, at most `limit`.
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

/// A name is relative, goes only down, and means the same on every system.
fn check_name(name: &str) -> Result<(), Fault> {
    let drive = name.as_bytes().get(1) == Some(&b':');
    if name.is_empty() || name.starts_with('/') || drive {
        return Err(Fault::new("expected a path relative to the scene's folder"));
    }
    if name.contains('\\') {
        return Err(Fault::new("expected folders separated by `/`, found `\\`"));
    }
    if name.contains('\0') {
        return Err(Fault::new("expected a path, found a zero byte in it"));
    }
    if name.split('/').any(|part| part == "..") {
        return Err(Fault::new("expected a file inside the scene's folder, found `..`"));
    }
    Ok(())
}
