//! Scene files for msd: reads the description of a world, checks it and builds the world.
//!
//! ```
//! use msd_scene::{Options, SceneFile};
//!
//! let text = r#"
//!     version = 1
//!     [world]
//!     duration = 1.0
//!     [[body]]
//!     name = "ball"
//!     kind = "inertial"
//!     shape = { sphere = { radius = 0.5 } }
//!     mass = 2.0
//! "#;
//! let mut simulation = SceneFile::parse(text, "ball.toml", &Options::default())?.build()?;
//! for _ in 0..simulation.steps() {
//!     simulation.step();
//! }
//! // Free fall for one second.
//! let ball = simulation.world().bodies().next().expect("a body");
//! assert!((ball.position().z + 0.5 * 9.81).abs() < 1e-12);
//!
//! // Errors point at the line and column.
//! let error = SceneFile::parse(&text.replace("mass", "mas"), "ball.toml", &Options::default());
//! let error = error.expect_err("`mas` is no field");
//! assert_eq!((error.path(), error.position()), ("body[0].mas", Some((9, 5))));
//! assert_eq!(error.help(), Some("did you mean `mass`?"));
//! # Ok::<(), msd_scene::SceneError>(())
//! ```
//!
//! | | |
//! |---|---|
//! | [`SceneFile`], [`Options`], [`Limits`] | an opened scene file |
//! | [`Scene`] and [`mod@format`] | its contents |
//! | [`Simulation`] | the world it describes, ready to step |
//! | [`SceneError`] | the reason a scene was rejected |
//! | [`lint`] | warnings about probable mistakes |
//! | [`changes`] | differences in meaning between two scenes |
//! | [`catalog`] | named scenes |
//! | [`closed_forms`] | cases with a known answer |

mod build;
mod canonical;
pub mod catalog;
pub mod closed_forms;
mod elements;
mod error;
mod file;
pub mod format;
mod limits;
mod lint;
mod mesh;
mod node;
mod old_names;
mod random;
mod read;
mod simulation;

pub use canonical::{Change, changes};
pub use error::{SceneError, nearest};
pub use file::{LoadError, Options, SceneFile};
pub use format::{Scene, schema};
pub use limits::Limits;
pub use lint::{Finding, lint};
pub use mesh::Mesh;
pub use simulation::{ResumeError, Simulation};
