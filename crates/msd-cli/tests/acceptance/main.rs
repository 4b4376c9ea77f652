//! End-to-end tests of the command: output, files and exit codes.

mod accuracy; // fast, balanced and exact
mod colliders; // bodies of several colliders in tables, comparisons and checks
mod command; // help, completions, schema, scenes
mod comparisons; // verify and diff
mod exports; // tables of a recording
#[cfg(unix)]
mod full_disk; // files that cannot be completed
mod gallery; // every built-in scene, and the claims of its comment
mod interrupted; // Ctrl-C, kill -9
mod malformed; // invalid scenes and meshes
mod partial_recordings; // recordings without some steps or contacts
mod report; // pictures and bodies in reports
mod runs; // run, check, report
mod sandbox; // a temporary folder, and the command run in it
mod saved; // states that another process goes on from
mod sense; // scenes that do not do what their author meant
mod verdicts; // checks of exact and of swept runs
#[cfg(feature = "view")]
mod view; // the server of the viewer: access, protocol, commands
