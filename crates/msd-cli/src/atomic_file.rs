//! Files that are written completely or not at all.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A file that is written under a temporary name and renamed when it is complete. If dropped before that, the temporary
/// file is removed and an existing file stays as it was.
///
/// Devices and other special files are written in place.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    temporary: Option<PathBuf>,
}

impl AtomicFile {
    /// Creates the temporary file.
    pub fn create(path: &Path) -> Result<(Self, File), Failure> {
        let fail = |error| Failure::io(path, error);
        // A symbolic link is kept: its target is replaced.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if target.exists() && !target.is_file() {
            let file = File::options().write(true).open(path).map_err(fail)?;
            return Ok((Self { path: path.to_owned(), temporary: None }, file));
        }
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let temporary = target.with_file_name(name);
        let file = File::create(&temporary).map_err(fail)?;
        Ok((Self { path: target, temporary: Some(temporary) }, file))
    }

    /// Renames the file to its final name. All writes must have been flushed.
    pub fn finish(mut self) -> Result<(), Failure> {
        let Some(temporary) = self.temporary.take() else { return Ok(()) };
        std::fs::rename(&temporary, &self.path).map_err(|error| {
            let _ = std::fs::remove_file(&temporary);
            Failure::io(&self.path, error)
        })
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Nothing can be done if this fails too.
            let _ = std::fs::remove_file(temporary);
        }
    }
}

/// Writes a file atomically.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    let (pending, mut file) = AtomicFile::create(path)?;
    let written = file.write_all(content.as_ref()).and_then(|()| match pending.temporary {
        // Some file systems report a full disk only now.
        Some(_) => file.sync_all(),
        None => file.flush(),
    });
    written.map_err(|error| Failure::io(path, error))?;
    pending.finish()
}
