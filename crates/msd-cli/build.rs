//! Builds the page of the viewer (`viewer/`) with npm and lists its files for `src/view/page.rs`.
//!
//! If npm is missing or the registry cannot be reached, msd is built without the page and `msd view` reports the
//! reason. With `MSD_REQUIRE_PAGE` set this is an error instead.

use std::env;
use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Sources of the page, in `viewer/`.
const SOURCES: [&str; 7] = [
    "src",
    "public",
    "index.html",
    "gallery.html",
    "package.json",
    "package-lock.json",
    "vite.config.ts",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_VIEW").is_none() {
        return;
    }
    println!("cargo::rerun-if-env-changed=MSD_REQUIRE_PAGE");
    // Read at run time, not compile time: several checkouts may share a target folder.
    let here = env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let viewer = Path::new(&here).join("../../viewer");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", viewer.join(source).display());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let page = out.join("page");
    let mut files = Vec::new();
    let mut why = String::new();
    match build(&viewer, &page) {
        Ok(()) => list(&page, "", &mut files),
        Err(reason) if env::var_os("MSD_REQUIRE_PAGE").is_some() => {
            panic!("the viewer's page cannot be built: {reason}")
        }
        Err(reason) => {
            for line in reason.lines() {
                println!("cargo::warning={line}");
            }
            println!("cargo::warning=`msd view` will have no page; everything else works");
            // A missing file counts as changed, so the next build tries again.
            println!("cargo::rerun-if-changed={}", viewer.join(".missing").display());
            why = reason;
        }
    }
    files.sort();
    let mut code = String::from("/// All files.\npub const FILES: &[File] = &[\n");
    for path in files {
        let at = page.join(&path);
        let _ = writeln!(code, "    File {{ path: {path:?}, bytes: include_bytes!({at:?}) }},");
    }
    code.push_str("];\n");
    let _ =
        writeln!(code, "/// Reason why there are no files, if any.\nconst WHY: &str = {why:?};");
    fs::write(out.join("page.rs"), code).expect("OUT_DIR is writable");
}

fn build(viewer: &Path, page: &Path) -> Result<(), String> {
    // Builds of several profiles share the npm packages.
    let at = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let path = viewer.join(".build.lock");
    let lock = File::create(&path).map_err(|error| at(&path, error))?;
    lock.lock().map_err(|error| at(&path, error))?;
    let path = viewer.join("package-lock.json");
    let wanted = fs::read(&path).map_err(|error| at(&path, error))?;
    let stamp = viewer.join("node_modules/.built-from");
    if fs::read(&stamp).ok().as_ref() != Some(&wanted) {
        npm(viewer, &["ci", "--no-audit", "--no-fund", "--ignore-scripts"])?;
        fs::write(&stamp, wanted).map_err(|error| at(&stamp, error))?;
    }
    let page = page.display().to_string();
    npm(viewer, &["run", "build", "--", "--outDir", &page, "--emptyOutDir", "--logLevel", "warn"])
}

fn npm(folder: &Path, args: &[&str]) -> Result<(), String> {
    let name = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let output = Command::new(name).args(args).current_dir(folder).output().map_err(|error| {
        format!("npm cannot be run ({error}): install Node.js 20.19 or later to build the viewer")
    })?;
    if output.status.success() {
        return Ok(());
    }
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Err(format!("npm {} failed\n{stdout}{stderr}", args[0]))
}

/// Lists all files below a folder, with slashes as separators.
fn list(folder: &Path, prefix: &str, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            list(&entry.path(), &format!("{path}/"), files);
        } else {
            files.push(path);
        }
    }
}
