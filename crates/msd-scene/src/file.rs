//! Scene files: reading, overrides, and the location of errors.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use msd_sim::geometry::ConvexHull;
use msd_sim::math::Vec3;

use crate::elements::{self, Element, LISTS};
use crate::error::{Fault, SceneError, Segment, nearest, parse_path};
use crate::format::{BodyTable, Scene, ShapeTable};
use crate::limits::Limits;
use crate::mesh::Surface;
use crate::node::{Entry, Node, Span, Value};
use crate::old_names::OldNames;
use crate::simulation::Simulation;
use crate::{build, mesh, read};

/// Options for opening a scene file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Bounds on the scene's size.
    pub limits: Limits,
    /// Values that override those of the file: `("substeps", "8")`, `("body.crate.mass", "2.5")`. A key
    /// that is no top-level table or field is taken as a setting in `world`.
    pub set: Vec<(String, String)>,
}

/// The reason a scene could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file is not a valid scene.
    #[error(transparent)]
    Scene(#[from] SceneError),
}

/// A scene and its source text, so that later errors can point into the text.
#[derive(Clone, Debug)]
pub struct SceneFile {
    scene: Scene,
    source: Source,
    limits: Limits,
    meshes: Vec<MeshInfo>,
}

/// A mesh file that the hull of a body or collider was made from.
#[derive(Clone, Debug)]
pub(crate) struct MeshInfo {
    /// Index of the body's table.
    pub(crate) body: usize,
    /// Number of the collider in the body.
    pub(crate) collider: usize,
    /// Path of the file as given in the scene.
    pub(crate) file: String,
    /// Whether the scene gives the mesh's `scale`.
    pub(crate) scaled: bool,
    /// The surface of the mesh; volumes in m^3.
    pub(crate) surface: Surface,
    /// Volume of the hull, m^3.
    pub(crate) hull_volume: f64,
}

/// The source of a scene: its text, the tree of its values, and the overrides.
#[derive(Clone, Debug)]
struct Source {
    name: String,
    text: Arc<str>,
    json: bool,
    /// The tree of values, without `elements`.
    root: Node,
    /// List elements that are not in the tree; they are parsed again to locate an error.
    elements: Vec<Element>,
    /// Paths of overrides, and each override as it was given.
    set: Vec<(Vec<Segment>, String)>,
    /// Old spellings of settings that the text or an override uses.
    old_names: OldNames,
}

/// Rejects file formats of other engines by their extension.
fn foreign_format(path: &Path) -> Option<Fault> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let format = match extension.as_str() {
        "urdf" | "xacro" => "URDF",
        "mjcf" | "mjb" => "MJCF",
        "xml" => "XML (URDF, MJCF)",
        "sdf" | "world" => "SDF",
        "usd" | "usda" | "usdc" | "usdz" => "USD",
        _ => return None,
    };
    let help = "a scene is a TOML or JSON file: `msd scenes` lists some to start from, docs/book/scenes.md explains them";
    Some(Fault::new(format!("{format} files are not read yet")).help(help))
}

impl SceneFile {
    /// Reads a TOML or JSON scene file and the meshes it refers to.
    pub fn open(path: &Path, options: &Options) -> Result<Self, LoadError> {
        let name = path.display().to_string();
        if let Some(fault) = foreign_format(path) {
            return Err(SceneError::new(fault, &name, None).into());
        }
        let bytes =
            read_file(path, options.limits.scene_bytes, "--max-scene-bytes").map_err(|error| {
                match error {
                    ReadError::Io(source) => LoadError::Io { path: path.to_owned(), source },
                    ReadError::TooLarge(fault) => SceneError::new(*fault, &name, None).into(),
                }
            })?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let fault = Fault::new(format!("expected UTF-8 text, found an invalid byte at {at}"));
            SceneError::new(fault, &name, None)
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Ok(Self::read(without_bom(text), &name, Some(folder), options)?)
    }

    /// Reads a scene from text; messages use `name` as the file's name. Meshes are rejected.
    pub fn parse(text: &str, name: &str, options: &Options) -> Result<Self, SceneError> {
        Self::read(text.trim_start_matches('\u{feff}').into(), name, None, options)
    }

    fn read(
        text: Arc<str>,
        name: &str,
        folder: Option<&Path>,
        options: &Options,
    ) -> Result<Self, SceneError> {
        let (scene, source) = match Source::read_by_element(name, &text, &options.set) {
            Some(read) => read,
            None => Source::read_whole(name, &text, &options.set)?,
        };
        let mut file = Self { scene, source, limits: options.limits, meshes: Vec::new() };
        file.meshes = inline_meshes(&mut file.scene, folder, &file.limits)
            .map_err(|fault| file.source.locate(fault))?;
        Ok(file)
    }

    /// Returns the scene, with meshes replaced by the vertices of their hulls.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Returns the mesh files that hulls were made from.
    pub(crate) fn meshes(&self) -> &[MeshInfo] {
        &self.meshes
    }

    /// Builds the world that the scene describes.
    pub fn build(&self) -> Result<Simulation, SceneError> {
        build::build(&self.scene, &self.limits).map_err(|fault| self.source.locate(fault))
    }

    /// Returns the line and column of a field.
    pub(crate) fn position_of(&self, path: &str) -> Option<(usize, usize)> {
        self.source.locate(Fault::of(path, "")).position()
    }
}

impl Scene {
    /// Builds the world that the scene describes. `limits` bounds its size.
    pub fn build(&self, limits: &Limits) -> Result<Simulation, SceneError> {
        build::build(self, limits).map_err(|fault| SceneError::new(fault, "", None))
    }
}

impl Source {
    fn is_json(name: &str, text: &str) -> bool {
        name.to_ascii_lowercase().ends_with(".json") || text.trim_start().starts_with('{')
    }

    /// Reads the text as one tree, so that the first error in the text is reported.
    fn read_whole(
        name: &str,
        text: &Arc<str>,
        set: &[(String, String)],
    ) -> Result<(Scene, Self), SceneError> {
        let json = Self::is_json(name, text);
        let root = if json { Node::from_json(text) } else { Node::from_toml(text) };
        let root = root.map_err(|fault| SceneError::new(fault, name, Some(text)))?;
        let mut source = Self::new(name, text, json, root, Vec::new())
            .map_err(|fault| SceneError::new(fault, name, Some(text)))?;
        for (key, value) in set {
            source
                .set(key, value)
                .map_err(|fault| SceneError::new(fault, &format!("--set {key}={value}"), None))?;
        }
        let scene = read::read(&source.root).map_err(|fault| source.locate(fault))?;
        Ok((scene, source))
    }

    /// Reads the text element by element, so that only one element's tree is in memory. Returns `None` if the text
    /// cannot be split, if an override concerns an element, or on any error.
    fn read_by_element(
        name: &str,
        text: &Arc<str>,
        set: &[(String, String)],
    ) -> Option<(Scene, Self)> {
        let json = Self::is_json(name, text);
        let list = elements::split(text, json).filter(|elements| !elements.is_empty())?;
        let rest = elements::remainder(text, &list, json)?;
        let root = if json { Node::from_json(&rest) } else { Node::from_toml(&rest) }.ok()?;
        drop(rest);
        // A list with elements both split off and left in the tree would be reordered.
        let left = |element: &Element| root.child(&Segment::Key(element.list.to_owned()));
        let is_empty = |node: &Node| matches!(&node.value, Value::List(list) if list.is_empty());
        if list.iter().filter_map(left).any(|node| !json || !is_empty(node)) {
            return None;
        }
        let mut source = Self::new(name, text, json, root, list).ok()?;
        for (key, value) in set {
            let path = parse_path(key);
            let in_part =
                matches!(path.first(), Some(Segment::Key(key)) if LISTS.contains(&key.as_str()));
            if in_part || source.set(key, value).is_err() {
                return None;
            }
        }
        let mut scene: Scene = read::read(&source.root).ok()?;
        let count =
            |list: &str| source.elements.iter().filter(|element| element.list == list).count();
        scene.body.reserve_exact(count("body"));
        scene.joint.reserve_exact(count("joint"));
        for element in &source.elements {
            let node = elements::parse(text, element, json).ok()?;
            match element.list {
                "body" => scene.body.push(read::read(&node).ok()?),
                "joint" => scene.joint.push(read::read(&node).ok()?),
                "force" => scene.force.push(read::read(&node).ok()?),
                _ => scene.potential.push(read::read(&node).ok()?),
            }
            for (_, shape) in scene.body.last_mut().into_iter().flat_map(BodyTable::shapes_mut) {
                if let ShapeTable::Hull { points: Some(points), .. } = shape {
                    points.shrink_to_fit();
                }
            }
        }
        Some((scene, source))
    }

    /// Fails if the tree gives a setting in two spellings.
    fn new(
        name: &str,
        text: &Arc<str>,
        json: bool,
        mut root: Node,
        elements: Vec<Element>,
    ) -> Result<Self, Fault> {
        let old_names = OldNames::replace(&mut root)?;
        let (name, text) = (name.to_owned(), Arc::clone(text));
        Ok(Self { name, text, json, root, elements, set: Vec::new(), old_names })
    }

    /// Returns the span of the field at a path, or of its nearest ancestor.
    fn span_of(&self, path: &[Segment]) -> Span {
        let [Segment::Key(list), Segment::Index(index), rest @ ..] = path else {
            return self.root.nearest(path).span.clone();
        };
        let element = self.elements.iter().filter(|element| element.list == list).nth(*index);
        match element.map(|element| elements::parse(&self.text, element, self.json)) {
            Some(Ok(node)) => node.nearest(rest).span.clone(),
            _ => self.root.nearest(path).span.clone(),
        }
    }

    /// Locates the field of an error in the text or in an override.
    fn locate(&self, mut fault: Fault) -> SceneError {
        // The field was overridden, or is an ancestor that only the override created.
        let created =
            |path: &[Segment]| path.starts_with(&fault.path) && self.span_of(&fault.path).is_none();
        let replaced =
            self.set.iter().find(|(path, _)| fault.path.starts_with(path) || created(path));
        if let Some((_, how)) = replaced {
            return SceneError::new(self.old_names.restore(fault), how, None);
        }
        if fault.span.is_none() {
            fault.span = self.span_of(&fault.path);
        }
        SceneError::new(self.old_names.restore(fault), &self.name, Some(&self.text))
    }

    /// Overrides or adds a value.
    fn set(&mut self, key: &str, value: &str) -> Result<(), Fault> {
        const TOP: [&str; 10] = [
            "version",
            "title",
            "description",
            "world",
            "materials",
            "combine",
            "body",
            "joint",
            "force",
            "potential",
        ];
        let mut path = parse_path(key);
        if path.is_empty() {
            return Err(Fault::new("expected the name of a field before the `=`"));
        }
        if !matches!(path.first(), Some(Segment::Key(first)) if TOP.contains(&first.as_str())) {
            path.insert(0, Segment::Key("world".to_owned()));
        }
        self.old_names.replace_in_path(&mut path);
        let missing = || Fault::new(format!("there is no `{key}` in this scene"));
        let mut node = &mut self.root;
        let mut list = String::new();
        let (last, parents) = path.split_last_mut().ok_or_else(missing)?;
        for segment in parents {
            if let Some(help) = suggest_names(node, &list, segment) {
                return Err(missing().help(help));
            }
            if let Segment::Key(key) = &*segment {
                list.clone_from(key);
            }
            node = child_or_insert(node, segment).ok_or_else(missing)?;
        }
        // The override also replaces the alternative field.
        if let (Segment::Key(key), Value::Table(entries)) = (&*last, &mut node.value)
            && let Some(alternative) = alternative(key)
        {
            entries.retain(|entry| entry.key != alternative);
        }
        *child_or_insert(node, last).ok_or_else(missing)? = parse_value(value)?;
        if matches!(path.as_slice(), [Segment::Key(key)] if key == "world") {
            self.old_names = OldNames::replace(&mut self.root)?;
        }
        self.set.push((path, set_label(key, value)));
        Ok(())
    }
}

/// Removes the byte order mark that some editors write.
fn without_bom(text: String) -> Arc<str> {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.into(),
        None => text.into(),
    }
}

/// Formats an override for messages, truncated if it is long.
fn set_label(key: &str, value: &str) -> String {
    let label = format!("--set {key}={value}");
    match label.char_indices().nth(80) {
        Some((end, _)) => format!("{}...", &label[..end]),
        None => label,
    }
}

/// Returns the field that a field excludes, because both give the same quantity.
fn alternative(key: &str) -> Option<&'static str> {
    const ALTERNATIVES: [(&str, &str); 6] = [
        ("steps", "duration"),
        ("duration", "steps"),
        ("mass", "density"),
        ("density", "mass"),
        ("shape", "collider"),
        ("collider", "shape"),
    ];
    ALTERNATIVES.iter().find(|(one, _)| *one == key).map(|(_, other)| *other)
}

/// Returns a hint with the names of the elements of a list, if none of them has the wanted name.
fn suggest_names(node: &Node, list_name: &str, segment: &Segment) -> Option<String> {
    /// Number of names listed if none is similar.
    const LISTED: usize = 5;
    let (Segment::Key(key), Value::List(list)) = (segment, &node.value) else { return None };
    let names = || list.iter().filter_map(|item| item.string_field("name").map(String::as_str));
    if names().any(|name| name == key) {
        return None;
    }
    if let Some(near) = nearest(key, names()) {
        return Some(format!("did you mean `{near}`?"));
    }
    let listed: Vec<String> = names().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = if names().nth(LISTED).is_some() { ", ..." } else { "" };
    match listed.is_empty() {
        true => Some(format!("none of them has a name: give its index, such as `{list_name}[0]`")),
        false => Some(format!("names are {}{more}", listed.join(", "))),
    }
}

/// Returns a child to override; inserts a missing key of a table. A list element can be given by its `name`; the
/// segment then becomes its index.
fn child_or_insert<'n>(node: &'n mut Node, segment: &mut Segment) -> Option<&'n mut Node> {
    if let (Segment::Key(key), Value::List(list)) = (&*segment, &node.value) {
        let named = list.iter().position(|item| item.string_field("name") == Some(key))?;
        *segment = Segment::Index(named);
    }
    match (segment, &mut node.value) {
        (Segment::Index(index), Value::List(list)) => list.get_mut(*index),
        (Segment::Key(key), Value::Table(entries)) => {
            let at = match entries.iter().position(|entry| entry.key == *key) {
                Some(at) => at,
                None => {
                    let node = Node { span: None, value: Value::Table(Vec::new()) };
                    entries.push(Entry { key: key.clone(), key_span: None, node });
                    entries.len() - 1
                }
            };
            Some(&mut entries[at].node)
        }
        _ => None,
    }
}

impl Node {
    fn string_field(&self, name: &str) -> Option<&String> {
        let Value::Table(entries) = &self.value else { return None };
        match &entries.iter().find(|entry| entry.key == name)?.node.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Parses a TOML value or a fraction such as `1/120`; any other word is a string.
fn parse_value(text: &str) -> Result<Node, Fault> {
    if let Some(value) = fraction(text) {
        return Ok(Node { span: None, value: Value::Float(value) });
    }
    match Node::from_toml(&format!("value = {text}")) {
        Ok(Node { value: Value::Table(mut entries), .. }) if entries.len() == 1 => {
            let mut node = entries.remove(0).node;
            node.clear_spans();
            Ok(node)
        }
        // A broken list, table, string or number is not taken as a word.
        Err(fault) if text.starts_with(['[', '{', '"', '\'']) || text.parse::<f64>().is_ok() => {
            Err(Fault::new(format!("expected a value: {}", fault.message)))
        }
        _ => Ok(Node { span: None, value: Value::Text(text.to_owned()) }),
    }
}

/// Parses one number over another, such as `1/120`.
fn fraction(text: &str) -> Option<f64> {
    let (above, below) = text.split_once('/')?;
    let number = |text: &str| text.trim().parse().ok().filter(|value: &f64| value.is_finite());
    let value = number(above)? / number(below)?;
    value.is_finite().then_some(value)
}

impl Node {
    fn clear_spans(&mut self) {
        self.span = None;
        match &mut self.value {
            Value::List(list) => list.iter_mut().for_each(Self::clear_spans),
            Value::Table(entries) => {
                for entry in entries {
                    entry.key_span = None;
                    entry.node.clear_spans();
                }
            }
            _ => {}
        }
    }
}

/// The reason a file could not be read.
pub(crate) enum ReadError {
    Io(std::io::Error),
    TooLarge(Box<Fault>),
}

/// Reads a file of at most `limit` bytes. Reads up to the limit, whatever size the file system reports.
pub(crate) fn read_file(path: &Path, limit: u64, flag: &str) -> Result<Vec<u8>, ReadError> {
    let file = File::open(path).map_err(ReadError::Io)?;
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(ReadError::Io)?;
    if bytes.len() as u64 > limit {
        let message = format!("larger than {limit} bytes, the file size limit");
        let help = format!("raise it with {flag}");
        return Err(ReadError::TooLarge(Box::new(Fault::new(message).help(help))));
    }
    Ok(bytes)
}

/// Replaces meshes by the vertices of their hulls, so that the scene is self-contained.
fn inline_meshes(
    scene: &mut Scene,
    folder: Option<&Path>,
    limits: &Limits,
) -> Result<Vec<MeshInfo>, Fault> {
    let mut meshes = Vec::new();
    for (index, body) in scene.body.iter_mut().enumerate() {
        for (number, (place, shape)) in body.shapes_mut().enumerate() {
            let ShapeTable::Hull { mesh: Some(_), .. } = shape else { continue };
            let path = format!("body[{index}].{place}.hull.mesh");
            meshes.extend(inline_mesh(shape, (index, number), &path, folder, limits)?);
        }
    }
    Ok(meshes)
}

/// Replaces the mesh of a body's collider by the vertices of its hull; `path` is that of the file's name.
fn inline_mesh(
    shape: &mut ShapeTable,
    (body, collider): (usize, usize),
    path: &str,
    folder: Option<&Path>,
    limits: &Limits,
) -> Result<Option<MeshInfo>, Fault> {
    let ShapeTable::Hull { points, mesh, scale } = shape else { return Ok(None) };
    let Some(file) = mesh.take() else { return Ok(None) };
    if points.is_some() {
        return Err(Fault::of(path, "expected either `points` or `mesh`, found both"));
    }
    let found = mesh::load(&file, folder, limits)
        .map_err(|fault| Fault { path: parse_path(path), ..fault })?;
    let factor = scale.unwrap_or(1.0);
    let cloud: Vec<Vec3> = found.points.into_iter().map(|point| point * factor).collect();
    let hull =
        ConvexHull::new(&cloud).map_err(|error| Fault::of(path, format!("\"{file}\": {error}")))?;
    *points = Some(hull.vertices().iter().map(|point| point.to_array()).collect());
    let surface = match found.surface {
        Surface::Closed { volume } => Surface::Closed { volume: volume * factor.abs().powi(3) },
        other => other,
    };
    let (scaled, hull_volume) = (scale.take().is_some(), hull.volume());
    Ok(Some(MeshInfo { body, collider, file, scaled, surface, hull_volume }))
}
