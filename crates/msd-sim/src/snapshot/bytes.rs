//! Worlds as bytes: a header with versions and a checksum, and the state.
//!
//! Written are all parts of a world that outlast a step. Buffers, trees and threads are not: they are made anew, and no
//! result depends on them.

use std::sync::Arc;

use super::RESULTS_VERSION;
use crate::bodies::PotentialField;
use crate::error::StateError;
use crate::world::World;

/// The first bytes of every world.
const MAGIC: [u8; 8] = *b"msdworld";

/// Version of the layout. It changes whenever a field of the state does.
const LAYOUT: u32 = 1;

/// Length of the header: magic, layout, version of the results, length of the state and its checksum.
const HEADER: usize = 8 + 4 + 4 + 8 + 16;

impl World {
    /// Returns the whole state of the world as bytes, from which [`from_bytes`](Self::from_bytes) makes a world that
    /// continues bit for bit: in another process, with any number of threads, on another machine.
    ///
    /// Bytes are for the version of the engine that wrote them. Fails for a world with user-defined force fields without
    /// a [name](PotentialField::name), and for one that was [stopped](Self::is_stopped) within a step.
    ///
    /// ```
    /// use msd_sim::{BodyDef, World, geometry::Shape};
    /// let mut world = World::default();
    /// world.add_body(BodyDef::inertial(Shape::sphere(0.5)?))?;
    /// world.step(0.1)?;
    /// let bytes = world.to_bytes()?;
    /// let mut other = World::from_bytes(&bytes, &[])?;
    /// (world.step(0.1)?, other.step(0.1)?);
    /// assert_eq!(other.state_hash(), world.state_hash());
    /// assert!(World::from_bytes(&bytes[1..], &[]).is_err());
    /// # Ok::<(), msd_sim::Error>(())
    /// ```
    #[doc(alias = "save")]
    #[doc(alias = "serialize")]
    pub fn to_bytes(&self) -> Result<Vec<u8>, StateError> {
        if self.is_stopped() {
            return Err(StateError::Stopped);
        }
        if self.model.potentials.user_names().any(str::is_empty) {
            return Err(StateError::UnnamedField);
        }
        let Self { model, contacts, states, output, .. } = self;
        let state = postcard::to_stdvec(&(model, contacts, states, output));
        let state = state.map_err(|error| StateError::Malformed { why: error.to_string() })?;
        let mut bytes = Vec::with_capacity(HEADER + state.len());
        bytes.extend(MAGIC);
        bytes.extend(LAYOUT.to_le_bytes());
        bytes.extend(RESULTS_VERSION.to_le_bytes());
        bytes.extend((state.len() as u64).to_le_bytes());
        bytes.extend(xxhash_rust::xxh3::xxh3_128(&state).to_le_bytes());
        bytes.extend(state);
        Ok(bytes)
    }

    /// Returns the world that [`to_bytes`](Self::to_bytes) wrote. User-defined force fields are attached again by their
    /// [names](PotentialField::name), from `fields`.
    ///
    /// Bytes of another version, and bytes that were damaged or cut off, are rejected by their header and checksum. These do not
    /// protect from malice: a state that somebody forged may make later steps panic.
    #[doc(alias = "load")]
    #[doc(alias = "deserialize")]
    pub fn from_bytes(
        bytes: &[u8],
        fields: &[Arc<dyn PotentialField>],
    ) -> Result<Self, StateError> {
        let (header, state) = bytes.split_at_checked(HEADER).ok_or(StateError::NotAWorld)?;
        let (magic, header) = header.split_at(8);
        if magic != MAGIC {
            return Err(StateError::NotAWorld);
        }
        let number = |at: usize, len: usize| {
            let mut bytes = [0; 16];
            bytes[..len].copy_from_slice(&header[at..at + len]);
            u128::from_le_bytes(bytes)
        };
        for (what, at, expected) in [("layout", 0, LAYOUT), ("results", 4, RESULTS_VERSION)] {
            let found = number(at, 4) as u32;
            if found != expected {
                return Err(StateError::Version { what, found, expected });
            }
        }
        let length = number(8, 8) as u64;
        if state.len() as u64 != length {
            return Err(StateError::Length { found: state.len() as u64, expected: length });
        }
        if xxhash_rust::xxh3::xxh3_128(state) != number(16, 16) {
            return Err(StateError::Checksum);
        }
        let malformed = |why: String| StateError::Malformed { why };
        let (parts, rest) =
            postcard::take_from_bytes(state).map_err(|e| malformed(e.to_string()))?;
        if !rest.is_empty() {
            return Err(malformed(format!("{} bytes too many", rest.len())));
        }
        let (model, contacts, states, output) = parts;
        let mut world = Self { model, contacts, states, output, ..Self::default() };
        let settings = world.model.settings.check();
        settings.map_err(|error| malformed(error.to_string()))?;
        let attached = world.model.potentials.attach(fields);
        attached.map_err(|name| StateError::MissingField { name })?;
        Ok(world)
    }
}
