//! Recordings of runs: writing during the run, reading and comparing.
//!
//! A recording is one [MCAP](https://mcap.dev) file with every bit of every step, or of every Nth ([`Recorded`]). Any
//! reader of MCAP with protobuf messages can read it, since its schemas are embedded, and Foxglove shows it as an
//! animated scene. A run that is killed leaves a recording of all but its last half second.
//!
//! ```
//! use msd_record::{Frame, Header, Recorder, Recording};
//! use msd_sim::geometry::Shape;
//! use msd_sim::{BodyDef, World};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("fall.mcap");
//! let mut world = World::default();
//! world.add_body(BodyDef::inertial(Shape::sphere(0.5)?).name("ball"))?;
//!
//! let header = Header { title: "fall".into(), dt: 0.01, planned_steps: 10, ..Header::default() };
//! let mut recorder = Recorder::create(&path, &header, &world)?;
//! for _ in 0..10 {
//!     world.step(0.01)?;
//!     recorder.record(&world)?;
//! }
//! recorder.finish("{}")?;
//!
//! let recording = Recording::open(&path)?;
//! assert!(recording.is_complete());
//! assert_eq!(recording.bodies()[0].name, "ball");
//! assert_eq!(recording.frame(10)?, Frame::of(&world));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod bytes;
mod chunks;
mod difference;
mod error;
mod foxglove;
mod frame;
mod header;
mod integrity;
mod messages;
mod recorder;
mod recording;
mod wire;
mod writer;

pub use body::{BodyInfo, ColliderInfo, ColliderKey, ShapeInfo};
pub use difference::{Difference, Stage, Value, first_difference};
pub use error::RecordError;
pub use frame::{
    BodyKey, BodyState, ContactEventRecord, EventsRecord, Frame, HitRecord, JointRecord,
    PairRecord, PointRecord, SensorEventRecord,
};
pub use header::{Header, Recorded};
pub use recorder::{Finished, Recorder};
pub use recording::Recording;
