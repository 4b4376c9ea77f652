//! The page and its assets, built by `build.rs` from `viewer/` and kept in the program.

/// A file of the page.
#[derive(Debug)]
pub struct File {
    /// Its path below the page's address; the page itself is `index.html`.
    pub path: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The file at a path; the empty path is the page.
pub fn find(path: &str) -> Option<&'static File> {
    let path = if path.is_empty() { "index.html" } else { path };
    FILES.iter().find(|file| file.path == path)
}

/// What to do if the page could not be built.
pub fn missing() -> String {
    format!(
        "This msd was built without its page:\n{WHY}\nWith Node.js 20.19 or later and its npm installed, build it \
         again; until then only its socket can be used.\n"
    )
}

impl File {
    /// What it is, by its name.
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
