//! The page and its assets, built from `viewer/` by `build.rs` and embedded in the executable.

/// A file of the page.
#[derive(Debug)]
pub struct File {
    /// Path below the page's address; the page itself is `index.html`.
    pub path: &'static str,
    /// Content.
    pub bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Returns the file at a path; the empty path is the page itself.
pub fn find(path: &str) -> Option<&'static File> {
    let path = if path.is_empty() { "index.html" } else { path };
    FILES.iter().find(|file| file.path == path)
}

/// Returns the instructions shown if the page could not be built.
pub fn missing() -> String {
    format!(
        "This msd was built without its page:\n{WHY}\nInstall Node.js 20.19 or later with npm and rebuild; until \
         then, only the WebSocket is available.\n"
    )
}

impl File {
    /// Returns the media type, by file extension.
    pub fn media_type(&self) -> &'static str {
        match self.path.rsplit('.').next() {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            Some("jpg") => "image/jpeg",
            Some("png") => "image/png",
            Some("woff2") => "font/woff2",
            _ => "application/octet-stream",
        }
    }
}
