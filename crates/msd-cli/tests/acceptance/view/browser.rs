//! The page in a browser: starts the tests in `viewer/tests`, if there is a browser to start.

use std::path::Path;
use std::process::Command;

/// Whether the page's tools find a browser; CHROMIUM can say where it is.
fn browser_is_there(viewer: &Path) -> bool {
    let ask = "import('./tools/launch.mjs').then((m) => process.exit(m.findBrowser() ? 0 : 1))";
    let mut node = Command::new("node");
    node.args(["--input-type=module", "-e", ask]).current_dir(viewer);
    node.status().is_ok_and(|status| status.success())
}

#[test]
fn the_page_shows_what_was_simulated() {
    let viewer = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../viewer");
    if Command::new("node").arg("--version").output().is_err() {
        return super::skip("there is no Node.js; install version 20.19 or later");
    }
    if !viewer.join("node_modules/playwright-core").is_dir() {
        return super::skip("its packages are not installed; run `npm ci` in viewer/");
    }
    if !browser_is_there(&viewer) {
        return super::skip(
            "there is no Chromium; install it (Debian: apt-get install chromium) or set CHROMIUM",
        );
    }
    let mut tests = Command::new("node");
    tests.args(["--test", "--test-reporter=spec", "tests/browser.test.mjs"]);
    tests.current_dir(&viewer).env("MSD", env!("CARGO_BIN_EXE_msd"));
    let done = tests.output().expect("node was there a moment ago");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
}
