//! The fields of a glTF document that describe positions and faces.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Visitor};

use crate::error::Fault;

/// Maximum list length: a node takes some 50 times the memory of the `{}` it may be written as.
const MAX_LIST_LENGTH: usize = 1 << 16;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document<'d> {
    asset: Asset,
    #[serde(default, deserialize_with = "bounded_list")]
    extensions_required: Vec<String>,
    pub(super) scene: Option<usize>,
    #[serde(default, deserialize_with = "bounded_list")]
    pub(super) scenes: Vec<Scene>,
    #[serde(default, deserialize_with = "bounded_list")]
    pub(super) nodes: Vec<Node>,
    #[serde(default, deserialize_with = "bounded_list")]
    pub(super) meshes: Vec<Mesh>,
    #[serde(default, deserialize_with = "bounded_list")]
    accessors: Vec<Accessor>,
    #[serde(default, deserialize_with = "bounded_list")]
    pub(super) buffer_views: Vec<BufferView>,
    #[serde(default, borrow, deserialize_with = "bounded_list")]
    pub(super) buffers: Vec<Buffer<'d>>,
}

#[derive(Deserialize)]
struct Asset {
    version: String,
}

#[derive(Deserialize)]
pub(super) struct Scene {
    #[serde(default)]
    pub(super) nodes: Vec<usize>,
}

#[derive(Deserialize)]
pub(super) struct Node {
    #[serde(default)]
    pub(super) children: Vec<usize>,
    pub(super) mesh: Option<usize>,
    pub(super) skin: Option<IgnoredAny>,
    pub(super) matrix: Option<Box<[f64; 16]>>,
    pub(super) translation: Option<[f64; 3]>,
    pub(super) rotation: Option<[f64; 4]>,
    pub(super) scale: Option<[f64; 3]>,
}

/// A mesh: the accessors of its positions, each once, and the primitives that connect them to faces.
#[derive(Deserialize)]
#[serde(from = "Primitives")]
pub(super) struct Mesh {
    pub(super) accessors: Vec<usize>,
    pub(super) primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
struct Primitives {
    primitives: Vec<Primitive>,
}

/// A primitive of a mesh.
#[derive(Deserialize)]
pub(super) struct Primitive {
    attributes: Attributes,
    /// The accessor of the vertex indices; without one, vertices are used in order.
    pub(super) indices: Option<usize>,
    /// Topology: 4 for triangles, 5 for strips, 6 for fans; other modes have no faces.
    #[serde(default = "triangles")]
    pub(super) mode: u32,
}

fn triangles() -> u32 {
    4
}

#[derive(Deserialize)]
struct Attributes {
    #[serde(rename = "POSITION")]
    position: Option<usize>,
}

impl Primitive {
    /// Returns the accessor of the positions.
    pub(super) fn position(&self) -> Option<usize> {
        self.attributes.position
    }
}

impl From<Primitives> for Mesh {
    fn from(mesh: Primitives) -> Self {
        let primitives = mesh.primitives;
        let mut accessors: Vec<usize> = primitives.iter().filter_map(Primitive::position).collect();
        accessors.sort_unstable();
        accessors.dedup();
        Self { accessors, primitives }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub(super) buffer_view: Option<usize>,
    #[serde(default)]
    pub(super) byte_offset: u64,
    pub(super) component_type: u32,
    #[serde(default)]
    pub(super) normalized: bool,
    pub(super) count: u64,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) sparse: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub(super) buffer: usize,
    #[serde(default)]
    pub(super) byte_offset: u64,
    pub(super) byte_length: u64,
    pub(super) byte_stride: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct Buffer<'d> {
    #[serde(borrow)]
    pub(super) uri: Option<Cow<'d, str>>,
}

impl<'d> Document<'d> {
    pub(super) fn read(bytes: &'d [u8]) -> Result<Self, Fault> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let document: Self = serde_json::from_slice(bytes)
            .map_err(|error| Fault::new(format!("expected a glTF document: {error}")))?;
        let version = &document.asset.version;
        if !version.starts_with("2.") {
            return Err(Fault::new(format!("expected glTF 2, found version {version}")));
        }
        if let Some(name) = document.extensions_required.iter().find(|name| !is_known(name)) {
            let message = format!("requires the extension {name}, which is not supported");
            return Err(Fault::new(message));
        }
        Ok(document)
    }

    /// Returns an accessor with at least one element.
    pub(super) fn accessor(&self, index: usize) -> Result<&Accessor, Fault> {
        let accessor = self.accessors.get(index);
        let accessor =
            accessor.ok_or_else(|| Fault::new(format!("there is no accessor {index}")))?;
        if accessor.count == 0 {
            return Err(Fault::new(format!("accessor {index}: expected a count above 0")));
        }
        Ok(accessor)
    }
}

/// Returns whether an extension is supported or does not affect positions.
fn is_known(extension: &str) -> bool {
    const VISUAL_ONLY: [&str; 4] =
        ["KHR_materials_", "KHR_texture_", "EXT_texture_", "KHR_lights_"];
    extension == "KHR_mesh_quantization"
        || VISUAL_ONLY.iter().any(|start| extension.starts_with(start))
}

/// Reads a list, and fails once it exceeds [`MAX_LIST_LENGTH`].
fn bounded_list<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    struct BoundedList<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for BoundedList<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut items = Vec::new();
            while let Some(item) = list.next_element()? {
                if items.len() == MAX_LIST_LENGTH {
                    return Err(A::Error::custom(format!(
                        "a list of more than {MAX_LIST_LENGTH} elements"
                    )));
                }
                items.push(item);
            }
            Ok(items)
        }
    }

    from.deserialize_seq(BoundedList(PhantomData))
}
