//! Scene files: opened, overridden, read, and errors put in their place.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use msd_sim::geometry::ConvexHull;
use msd_sim::math::Vec3;

use crate::error::{Fault, SceneError, Segment, nearest, parse_path};
use crate::format::{Scene, ShapeTable};
use crate::limits::Limits;
use crate::mesh::Surface;
use crate::node::{Entry, Node, Span, Value};
use crate::parts::{self, LISTS, Part};
use crate::simulation::Simulation;
use crate::{build, mesh, read};

/// How a file is opened.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What it may ask for.
    pub limits: Limits,
    /// Values that replace those of the file: `("substeps", "8")`, `("body.crate.mass", "2.5")`. A
    /// key that is no part of a scene is looked for under `world`.
    pub set: Vec<(String, String)>,
}

/// Why no scene was read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What it says is not a scene.
    #[error(transparent)]
    Scene(#[from] SceneError),
}

/// A scene and the text it was read from, so that whatever is found wrong later can be pointed at.
#[derive(Clone, Debug)]
pub struct SceneFile {
    scene: Scene,
    source: Source,
    limits: Limits,
    meshes: Vec<MeshInfo>,
}

/// A mesh file that a body's hull was made from.
#[derive(Clone, Debug)]
pub(crate) struct MeshInfo {
    /// Index of the body's table.
    pub(crate) body: usize,
    /// The file as the scene names it.
    pub(crate) file: String,
    /// Whether the scene says how many metres a unit of the file is.
    pub(crate) scaled: bool,
    /// What the faces enclose, m^3.
    pub(crate) surface: Surface,
    /// Volume of the hull, m^3.
    pub(crate) hull_volume: f64,
}

#[derive(Clone, Debug)]
struct Source {
    name: String,
    text: Arc<str>,
    json: bool,
    /// The tree, without the parts.
    root: Node,
    /// Elements of lists that are not in the tree: they are read again when something is to be pointed at.
    parts: Vec<Part>,
    /// Paths that were replaced, and how that was said.
    set: Vec<(Vec<Segment>, String)>,
}

impl SceneFile {
    /// Reads a scene file, TOML or JSON, and the meshes it names.
    pub fn open(path: &Path, options: &Options) -> Result<Self, LoadError> {
        let name = path.display().to_string();
        let bytes =
            read_file(path, options.limits.scene_bytes, "--max-scene-bytes").map_err(|error| {
                match error {
                    ReadError::Io(source) => LoadError::Io { path: path.to_owned(), source },
                    ReadError::TooLarge(fault) => SceneError::new(*fault, &name, None).into(),
                }
            })?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let fault = Fault::new(format!("expected UTF-8 text, byte {at} is not"));
            SceneError::new(fault, &name, None)
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Ok(Self::read(without_mark(text), &name, Some(folder), options)?)
    }

    /// Reads a scene from text; `name` stands for the file in messages. Meshes are refused.
    pub fn parse(text: &str, name: &str, options: &Options) -> Result<Self, SceneError> {
        Self::read(text.trim_start_matches('\u{feff}').into(), name, None, options)
    }

    fn read(
        text: Arc<str>,
        name: &str,
        folder: Option<&Path>,
        options: &Options,
    ) -> Result<Self, SceneError> {
        let (scene, source) = match Source::in_parts(name, &text, &options.set) {
            Some(read) => read,
            None => Source::whole(name, &text, &options.set)?,
        };
        let mut file = Self { scene, source, limits: options.limits, meshes: Vec::new() };
        file.meshes = inline_meshes(&mut file.scene, folder, &file.limits)
            .map_err(|fault| file.source.locate(fault))?;
        Ok(file)
    }

    /// What it says, meshes replaced by the corners of their hulls.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The mesh files that hulls were made from.
    pub(crate) fn meshes(&self) -> &[MeshInfo] {
        &self.meshes
    }

    /// The world it describes, ready to step.
    pub fn build(&self) -> Result<Simulation, SceneError> {
        build::build(&self.scene, &self.limits).map_err(|fault| self.source.locate(fault))
    }

    /// An error about a field of this file, such as a lint's.
    pub(crate) fn place_of(&self, path: &str) -> Option<(usize, usize)> {
        self.source.locate(Fault::of(path, "")).position()
    }
}

impl Scene {
    /// The world it describes, ready to step. `limits` bounds how many bodies it may have.
    pub fn build(&self, limits: &Limits) -> Result<Simulation, SceneError> {
        build::build(self, limits).map_err(|fault| SceneError::new(fault, "", None))
    }
}

impl Source {
    fn is_json(name: &str, text: &str) -> bool {
        name.to_ascii_lowercase().ends_with(".json") || text.trim_start().starts_with('{')
    }

    /// Reads the text as one tree: whatever is wrong is found in the order of the text.
    fn whole(
        name: &str,
        text: &Arc<str>,
        set: &[(String, String)],
    ) -> Result<(Scene, Self), SceneError> {
        let json = Self::is_json(name, text);
        let root = if json { Node::from_json(text) } else { Node::from_toml(text) };
        let root = root.map_err(|fault| SceneError::new(fault, name, Some(text)))?;
        let mut source = Self::new(name, text, json, root, Vec::new());
        for (key, value) in set {
            source
                .set(key, value)
                .map_err(|fault| SceneError::new(fault, &format!("--set {key}={value}"), None))?;
        }
        let scene = read::read(&source.root).map_err(|fault| source.locate(fault))?;
        Ok((scene, source))
    }

    /// Reads the text part by part, so that only the tree of one is in memory. None if it cannot be cut, if parts are
    /// to be replaced, or if anything is wrong.
    fn in_parts(name: &str, text: &Arc<str>, set: &[(String, String)]) -> Option<(Scene, Self)> {
        let json = Self::is_json(name, text);
        let list = parts::cut(text, json).filter(|parts| !parts.is_empty())?;
        let rest = parts::rest(text, &list, json)?;
        let root = if json { Node::from_json(&rest) } else { Node::from_toml(&rest) }.ok()?;
        drop(rest);
        // A list of which some is cut and some is not has another order.
        let left = |part: &Part| root.child(&Segment::Key(part.list.to_owned()));
        let is_empty = |node: &Node| matches!(&node.value, Value::List(list) if list.is_empty());
        if list.iter().filter_map(left).any(|node| !json || !is_empty(node)) {
            return None;
        }
        let mut source = Self::new(name, text, json, root, list);
        for (key, value) in set {
            let path = parse_path(key);
            let in_part =
                matches!(path.first(), Some(Segment::Key(key)) if LISTS.contains(&key.as_str()));
            if in_part || source.set(key, value).is_err() {
                return None;
            }
        }
        let mut scene: Scene = read::read(&source.root).ok()?;
        let count = |list: &str| source.parts.iter().filter(|part| part.list == list).count();
        scene.body.reserve_exact(count("body"));
        scene.joint.reserve_exact(count("joint"));
        for part in &source.parts {
            let node = parts::node(text, part, json).ok()?;
            match part.list {
                "body" => scene.body.push(read::read(&node).ok()?),
                "joint" => scene.joint.push(read::read(&node).ok()?),
                "force" => scene.force.push(read::read(&node).ok()?),
                _ => scene.potential.push(read::read(&node).ok()?),
            }
            if let Some(ShapeTable::Hull { points: Some(points), .. }) =
                scene.body.last_mut().map(|body| &mut body.shape)
            {
                points.shrink_to_fit();
            }
        }
        Some((scene, source))
    }

    fn new(name: &str, text: &Arc<str>, json: bool, root: Node, parts: Vec<Part>) -> Self {
        let text = Arc::clone(text);
        Self { name: name.to_owned(), text, json, root, parts, set: Vec::new() }
    }

    /// Where the field at a path stands, or the last one on the way to it.
    fn span_of(&self, path: &[Segment]) -> Span {
        let [Segment::Key(list), Segment::Index(index), rest @ ..] = path else {
            return self.root.nearest(path).span.clone();
        };
        let part = self.parts.iter().filter(|part| part.list == list).nth(*index);
        match part.map(|part| parts::node(&self.text, part, self.json)) {
            Some(Ok(node)) => node.nearest(rest).span.clone(),
            _ => self.root.nearest(path).span.clone(),
        }
    }

    /// Finds where the field of a fault stands.
    fn locate(&self, mut fault: Fault) -> SceneError {
        // A field that was set, or one on the way to it that is not in the file.
        let made =
            |path: &[Segment]| path.starts_with(&fault.path) && self.span_of(&fault.path).is_none();
        let replaced = self.set.iter().find(|(path, _)| fault.path.starts_with(path) || made(path));
        if let Some((_, how)) = replaced {
            return SceneError::new(fault, how, None);
        }
        if fault.span.is_none() {
            fault.span = self.span_of(&fault.path);
        }
        SceneError::new(fault, &self.name, Some(&self.text))
    }

    /// Replaces or adds a value.
    fn set(&mut self, key: &str, value: &str) -> Result<(), Fault> {
        const TOP: [&str; 9] = [
            "version",
            "title",
            "description",
            "world",
            "materials",
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
        let missing = || Fault::new(format!("there is no `{key}` in this scene"));
        let mut node = &mut self.root;
        let (last, parents) = path.split_last_mut().ok_or_else(missing)?;
        for segment in parents {
            if let Some(help) = names_instead(node, segment) {
                return Err(missing().help(help));
            }
            node = enter(node, segment).ok_or_else(missing)?;
        }
        // Two ways to say one thing: the last one counts.
        if let (Segment::Key(key), Value::Table(entries)) = (&*last, &mut node.value)
            && let Some(twin) = twin(key)
        {
            entries.retain(|entry| entry.key != twin);
        }
        *enter(node, last).ok_or_else(missing)? = value_of(value)?;
        self.set.push((path, set_label(key, value)));
        Ok(())
    }
}

/// A text without the mark that some editors put before it.
fn without_mark(text: String) -> Arc<str> {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.into(),
        None => text.into(),
    }
}

/// How a replacement is told, cut if it is long.
fn set_label(key: &str, value: &str) -> String {
    let label = format!("--set {key}={value}");
    match label.char_indices().nth(80) {
        Some((end, _)) => format!("{}...", &label[..end]),
        None => label,
    }
}

/// What says the same in another way.
fn twin(key: &str) -> Option<&'static str> {
    const TWINS: [(&str, &str); 4] =
        [("steps", "duration"), ("duration", "steps"), ("mass", "density"), ("density", "mass")];
    TWINS.iter().find(|(one, _)| *one == key).map(|(_, other)| *other)
}

/// What a list's elements are called, if none of them has the name that is looked for.
fn names_instead(node: &Node, segment: &Segment) -> Option<String> {
    /// Names that are listed if none is near.
    const LISTED: usize = 5;
    let (Segment::Key(key), Value::List(list)) = (segment, &node.value) else { return None };
    let names = || list.iter().filter_map(|item| item.text_of("name").map(String::as_str));
    if names().any(|name| name == key) {
        return None;
    }
    if let Some(near) = nearest(key, names()) {
        return Some(format!("did you mean `{near}`?"));
    }
    let listed: Vec<String> = names().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = if names().nth(LISTED).is_some() { ", ..." } else { "" };
    match listed.is_empty() {
        true => Some("none of them has a name: say its place, such as `body[0]`".to_owned()),
        false => Some(format!("names are {}{more}", listed.join(", "))),
    }
}

/// A child to be replaced; one of a table is made if it is not there. A list's elements can be named
/// by their `name`; the segment becomes their index.
fn enter<'n>(node: &'n mut Node, segment: &mut Segment) -> Option<&'n mut Node> {
    if let (Segment::Key(key), Value::List(list)) = (&*segment, &node.value) {
        let named = list.iter().position(|item| item.text_of("name") == Some(key))?;
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
    fn text_of(&self, name: &str) -> Option<&String> {
        let Value::Table(entries) = &self.value else { return None };
        match &entries.iter().find(|entry| entry.key == name)?.node.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A value as TOML writes it, or a fraction such as `1/120`; words that are neither are a string.
fn value_of(text: &str) -> Result<Node, Fault> {
    if let Some(value) = fraction(text) {
        return Ok(Node { span: None, value: Value::Float(value) });
    }
    match Node::from_toml(&format!("value = {text}")) {
        Ok(Node { value: Value::Table(mut entries), .. }) if entries.len() == 1 => {
            let mut node = entries.remove(0).node;
            node.forget_place();
            Ok(node)
        }
        // What was meant to be more than a word is not taken for one.
        Err(fault) if text.starts_with(['[', '{', '"', '\'']) || text.parse::<f64>().is_ok() => {
            Err(Fault::new(format!("{}: not a value", fault.message)))
        }
        _ => Ok(Node { span: None, value: Value::Text(text.to_owned()) }),
    }
}

/// The value of one number over another.
fn fraction(text: &str) -> Option<f64> {
    let (above, below) = text.split_once('/')?;
    let number = |text: &str| text.trim().parse().ok().filter(|value: &f64| value.is_finite());
    let value = number(above)? / number(below)?;
    value.is_finite().then_some(value)
}

impl Node {
    fn forget_place(&mut self) {
        self.span = None;
        match &mut self.value {
            Value::List(list) => list.iter_mut().for_each(Self::forget_place),
            Value::Table(entries) => {
                for entry in entries {
                    entry.key_span = None;
                    entry.node.forget_place();
                }
            }
            _ => {}
        }
    }
}

/// Why a file's bytes are not there.
pub(crate) enum ReadError {
    Io(std::io::Error),
    TooLarge(Box<Fault>),
}

/// A file's bytes, if they are not too many. Read to the limit, whatever the file system says of the
/// size.
pub(crate) fn read_file(path: &Path, limit: u64, flag: &str) -> Result<Vec<u8>, ReadError> {
    let file = File::open(path).map_err(ReadError::Io)?;
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(ReadError::Io)?;
    if bytes.len() as u64 > limit {
        let message = format!("larger than {limit} bytes, the limit of file sizes");
        let help = format!("raise it with {flag}");
        return Err(ReadError::TooLarge(Box::new(Fault::new(message).help(help))));
    }
    Ok(bytes)
}

/// Replaces meshes by the corners of their hulls, so that a scene is complete by itself.
fn inline_meshes(
    scene: &mut Scene,
    folder: Option<&Path>,
    limits: &Limits,
) -> Result<Vec<MeshInfo>, Fault> {
    let mut meshes = Vec::new();
    for (index, body) in scene.body.iter_mut().enumerate() {
        let ShapeTable::Hull { points, mesh, scale } = &mut body.shape else { continue };
        let Some(file) = mesh else { continue };
        let path = format!("body[{index}].shape.hull.mesh");
        if points.is_some() {
            return Err(Fault::of(&path, "expected either `points` or `mesh`, found both"));
        }
        let found = mesh::load(file, folder, limits)
            .map_err(|fault| Fault { path: parse_path(&path), ..fault })?;
        let factor = scale.unwrap_or(1.0);
        let cloud: Vec<Vec3> = found.points.into_iter().map(|point| point * factor).collect();
        let hull = ConvexHull::new(&cloud)
            .map_err(|error| Fault::of(&path, format!("\"{file}\": {error}")))?;
        *points = Some(hull.vertices().iter().map(|point| point.to_array()).collect());
        let surface = match found.surface {
            Surface::Closed { volume } => Surface::Closed { volume: volume * factor.abs().powi(3) },
            other => other,
        };
        let (scaled, hull_volume) = (scale.is_some(), hull.volume());
        meshes.push(MeshInfo { body: index, file: file.clone(), scaled, surface, hull_volume });
        (*mesh, *scale) = (None, None);
    }
    Ok(meshes)
}
