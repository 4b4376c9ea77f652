//! Errors in scenes: location, field and expectation.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::node::Span;

/// A segment of the path to a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    Key(String),
    Index(usize),
}

/// Formats a path such as `body[3].mass`.
pub(crate) fn path_text(path: &[Segment]) -> String {
    let mut text = String::new();
    for segment in path {
        match segment {
            Segment::Key(key) if text.is_empty() => text.push_str(key),
            Segment::Key(key) => {
                text.push('.');
                text.push_str(key);
            }
            Segment::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

/// Parses a path such as `body[3].mass`.
pub(crate) fn parse_path(text: &str) -> Vec<Segment> {
    let mut path = Vec::new();
    for part in text.split('.') {
        let (key, indices) = part.split_once('[').unwrap_or((part, ""));
        if !key.is_empty() {
            path.push(Segment::Key(key.to_owned()));
        }
        for index in indices.split(['[', ']']).filter(|piece| !piece.is_empty()) {
            match index.parse() {
                Ok(index) => path.push(Segment::Index(index)),
                Err(_) => path.push(Segment::Key(index.to_owned())),
            }
        }
    }
    path
}

/// An error that has not been located in a file yet.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) path: Vec<Segment>,
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { path: Vec::new(), span: None, message: message.into(), help: None }
    }

    /// Creates an error about the field at a path such as `body[3].mass`.
    pub(crate) fn of(path: &str, message: impl Into<String>) -> Self {
        Self { path: parse_path(path), ..Self::new(message) }
    }

    /// Converts an error of the engine about the table at a path. Its text begins with the field and its value:
    /// `mass = -1: expected ...`.
    pub(crate) fn engine(path: &str, error: impl fmt::Display) -> Self {
        let text = shortened(&error.to_string());
        let end = text.find([' ', ':']).unwrap_or(0);
        let message = text[end..].trim_start_matches([' ', ':', '=']).to_owned();
        let (value, expected) = message.split_once(": ").unwrap_or(("", &message));
        let message =
            if value.is_empty() { expected.to_owned() } else { format!("{value}: {expected}") };
        Self::of(&format!("{path}.{}", &text[..end]), message)
    }

    /// Sets the span unless a more exact one is already set.
    pub(crate) fn at(mut self, span: Span) -> Self {
        self.span = self.span.or(span);
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Suggests the nearest known name.
    pub(crate) fn nearest<'a>(self, name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        match nearest(name, known) {
            Some(known) => self.help(format!("did you mean `{known}`?")),
            None => self,
        }
    }

    /// Prepends a segment to the path.
    pub(crate) fn within(mut self, segment: Segment) -> Self {
        self.path.insert(0, segment);
        self
    }
}

/// Writes numbers of more than 20 digits in powers of ten: nobody counts zeros.
fn shortened(text: &str) -> String {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let end = number.find(|c| !is_digit(c)).unwrap_or(number.len());
        let (number, after) = number.split_at(end);
        out += before;
        match number.parse::<f64>() {
            Ok(value) if number.len() > 20 => out += &format!("{value:e}"),
            _ => out += number,
        }
        rest = after;
    }
    out + rest
}

/// Returns the known name with the smallest edit distance, if that is small enough to suggest.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.map(|known| match known.starts_with(name) && !name.is_empty() {
        true => (0, known),
        false => (strsim::damerau_levenshtein(name, known), known),
    });
    let (distance, best) = scored.min_by_key(|(distance, _)| *distance)?;
    let allowed = (name.chars().count().max(best.chars().count()) / 3).max(1);
    (distance <= allowed).then_some(best)
}

/// The reason a scene was rejected.
#[derive(Clone, Debug)]
pub struct SceneError(Box<Details>);

#[derive(Clone, Debug)]
struct Details {
    path: String,
    message: String,
    help: Option<String>,
    file: String,
    location: Option<Location>,
}

/// A location in a text.
#[derive(Clone, Debug)]
struct Location {
    text: Arc<str>,
    span: Range<usize>,
}

impl SceneError {
    pub(crate) fn new(fault: Fault, file: &str, text: Option<&Arc<str>>) -> Self {
        let location = text.zip(fault.span).map(|(text, span)| {
            let end = span.end.min(text.len());
            Location { text: Arc::clone(text), span: span.start.min(end)..end }
        });
        Self(Box::new(Details {
            path: path_text(&fault.path),
            message: fault.message,
            help: fault.help,
            file: file.to_owned(),
            location,
        }))
    }

    /// Returns the field's path, such as `body[3].mass`, spelt as in the file; empty for the file as a whole.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Returns the error and the expectation.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns a hint, such as the nearest known name.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// Returns the line and column, counted from 1, if the error is located in a text.
    pub fn position(&self) -> Option<(usize, usize)> {
        let Location { text, span } = self.0.location.as_ref()?;
        let before = text.get(..span.start)?;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Some((before.matches('\n').count() + 1, before[line_start..].chars().count() + 1))
    }

    /// Renders the message with the source line, for a terminal.
    pub fn render(&self, color: bool) -> String {
        let title = self.title();
        let Some(Location { text, span }) = &self.0.location else {
            let file =
                if self.0.file.is_empty() { String::new() } else { format!("{}: ", self.0.file) };
            let help = self.0.help.as_ref().map_or(String::new(), |help| format!("\n{help}"));
            return format!("error: {file}{title}{help}");
        };
        // Tables are shown by their first line, and long lines are truncated.
        let (excerpt, span, line) = excerpt(text, span);
        let snippet = Snippet::source(excerpt)
            .line_start(line)
            .path(self.0.file.as_str())
            .annotation(AnnotationKind::Primary.span(span));
        let mut group = Level::ERROR.primary_title(title.as_str()).element(snippet);
        if let Some(help) = &self.0.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }

    fn title(&self) -> String {
        if self.0.path.is_empty() {
            self.0.message.clone()
        } else {
            format!("{}: {}", self.0.path, self.0.message)
        }
    }
}

/// Returns the line of a span, truncated for printing, the span within it, and the line's number.
fn excerpt<'a>(text: &'a str, span: &Range<usize>) -> (&'a str, Range<usize>, usize) {
    const MAX_LENGTH: usize = 400;
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let line = text[..span.start].matches('\n').count() + 1;
    let line_end = text[span.start..].find('\n').map_or(text.len(), |at| span.start + at);
    let mut from = start.max(span.start.saturating_sub(MAX_LENGTH / 2));
    let mut to = line_end.min(from + MAX_LENGTH);
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    while !text.is_char_boundary(to) {
        to += 1;
    }
    let end = span.end.clamp(span.start, to.max(span.start));
    (&text[from..to], span.start - from..end - from, line)
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.file.is_empty() {
            write!(f, "{}:", self.0.file)?;
            if let Some((line, column)) = self.position() {
                write!(f, "{line}:{column}:")?;
            }
            write!(f, " ")?;
        }
        f.write_str(&self.title())?;
        match &self.0.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SceneError {}
