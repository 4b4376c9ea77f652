//! The page in a browser: runs the tests in `viewer/tests` if a browser is installed.

use std::path::Path;
use std::process::Command;

/// Returns whether the page's tools find a browser; CHROMIUM can name its path.
fn browser_is_installed(viewer: &Path) -> bool {
    let script = "import('./tools/launch.mjs').then((m) => process.exit(m.findBrowser() ? 0 : 1))";
    let mut node = Command::new("node");
    node.args(["--input-type=module", "-e", script]).current_dir(viewer);
    node.status().is_ok_and(|status| status.success())
}

#[test]
fn the_page_shows_the_simulated_state() {
    let viewer = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../viewer");
    if Command::new("node").arg("--version").output().is_err() {
        return super::skip("Node.js is not installed; install version 20.19 or later");
    }
    if !viewer.join("node_modules/playwright-core").is_dir() {
        return super::skip("the page's packages are not installed; run `npm ci` in viewer/");
    }
    if !browser_is_installed(&viewer) {
        return super::skip(
            "Chromium is not installed; install it (Debian: apt-get install chromium) or set CHROMIUM",
        );
    }
    let files = std::fs::read_dir(viewer.join("tests")).unwrap().map(|file| file.unwrap().path());
    let files = files.filter(|file| file.to_string_lossy().ends_with(".test.mjs"));
    let mut tests = Command::new("node");
    tests
        .args(["--test", "--test-reporter=spec"])
        .args(files.map(|file| file.canonicalize().unwrap()));
    tests.current_dir(&viewer).env("MSD", env!("CARGO_BIN_EXE_msd"));
    let done = tests.output().expect("node is installed");
    let printed = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{printed}{}", String::from_utf8_lossy(&done.stderr));
}
