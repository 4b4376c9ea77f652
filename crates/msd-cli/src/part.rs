//! Files that appear whole or not at all.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A file that is being written under another name beside its own, which it gets when it is whole. Dropped before
/// that, it is removed, and a file of its name from before stays as it was.
///
/// What is no regular file, such as a device, is written in place.
#[derive(Debug)]
pub struct PartFile {
    path: PathBuf,
    part: Option<PathBuf>,
}

impl PartFile {
    /// Begins a file.
    pub fn create(path: &Path) -> Result<(Self, File), Failure> {
        let fail = |error| Failure::io(path, error);
        // A link stays one: the file that it leads to is replaced.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if target.exists() && !target.is_file() {
            let file = File::options().write(true).open(path).map_err(fail)?;
            return Ok((Self { path: path.to_owned(), part: None }, file));
        }
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let part = target.with_file_name(name);
        let file = File::create(&part).map_err(fail)?;
        Ok((Self { path: target, part: Some(part) }, file))
    }

    /// Gives the file its name. What was written must have been flushed.
    pub fn finish(mut self) -> Result<(), Failure> {
        let Some(part) = self.part.take() else { return Ok(()) };
        std::fs::rename(&part, &self.path).map_err(|error| {
            let _ = std::fs::remove_file(&part);
            Failure::io(&self.path, error)
        })
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            // If that fails too there is nothing more to be done.
            let _ = std::fs::remove_file(part);
        }
    }
}

/// Writes a file.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let (part, mut file) = PartFile::create(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| match part.part {
        // A file system may only now find that it is full.
        Some(_) => file.sync_all(),
        None => file.flush(),
    });
    written.map_err(|error| Failure::io(path, error))?;
    part.finish()
}
