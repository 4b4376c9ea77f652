//! Builds the viewer's page, `viewer/`, with npm, and lists its files for `src/view/page.rs`.
//!
//! Without npm, or where the registry cannot be reached, msd is built all the same, and `msd view` says what is
//! missing. With `MSD_REQUIRE_PAGE` set that is an error instead.

use std::env;
use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the page is made of, in `viewer/`.
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
    let viewer = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../viewer");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", viewer.join(source).display());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to"));
    let page = out.join("page");
    let mut files = Vec::new();
    match build(&viewer, &page) {
        Ok(()) => list(&page, "", &mut files),
        Err(reason) if env::var_os("MSD_REQUIRE_PAGE").is_some() => {
            panic!("the viewer's page cannot be built: {reason}")
        }
        Err(reason) => {
            for line in reason.lines() {
                println!("cargo::warning={line}");
            }
            println!("cargo::warning=`msd view` will have no page; all else works");
        }
    }
    files.sort();
    let mut code = String::from("/// All files.\npub const FILES: &[File] = &[\n");
    for path in files {
        let at = page.join(&path);
        let _ = writeln!(code, "    File {{ path: {path:?}, bytes: include_bytes!({at:?}) }},");
    }
    code.push_str("];\n");
    fs::write(out.join("page.rs"), code).expect("cargo's folder can be written");
}

fn build(viewer: &Path, page: &Path) -> Result<(), String> {
    // Builds of several profiles share the packages.
    let lock = File::create(viewer.join(".build.lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    let wanted = fs::read(viewer.join("package-lock.json")).map_err(|error| error.to_string())?;
    let stamp = viewer.join("node_modules/.built-from");
    if fs::read(&stamp).ok().as_ref() != Some(&wanted) {
        npm(viewer, &["ci", "--no-audit", "--no-fund", "--ignore-scripts"])?;
        fs::write(&stamp, wanted).map_err(|error| error.to_string())?;
    }
    let page = page.display().to_string();
    npm(viewer, &["run", "build", "--", "--outDir", &page, "--emptyOutDir", "--logLevel", "warn"])
}

fn npm(folder: &Path, args: &[&str]) -> Result<(), String> {
    let name = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let output = Command::new(name).args(args).current_dir(folder).output().map_err(|error| {
        format!("npm cannot be run ({error}): install Node.js 20.19 or later to have the viewer")
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said =
        [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    Err(format!("npm {} failed\n{}{}", args[0], said[0], said[1]))
}

/// All files below a folder, with slashes.
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
