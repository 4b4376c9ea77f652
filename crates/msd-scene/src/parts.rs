//! A scene's text cut at the elements of its long lists, so that no tree of all of it is ever in memory: a tree takes
//! up to 70 times the space of its text.
//!
//! Cutting is conservative: what is not plainly an element is left in the rest, and whatever a part or the rest has
//! wrong is told of by reading the whole text as one tree.

use std::ops::Range;

use crate::error::Fault;
use crate::node::{Node, Value};

/// Lists of a scene that may be long.
pub(crate) const LISTS: [&str; 4] = ["body", "joint", "force", "potential"];

/// An element of a list.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The list's name, one of [`LISTS`].
    pub(crate) list: &'static str,
    /// Where it stands: in TOML with its header.
    pub(crate) span: Range<usize>,
}

/// The elements of a text's lists in their order, or none if it cannot be cut.
pub(crate) fn cut(text: &str, json: bool) -> Option<Vec<Part>> {
    if json { cut_json(text.as_bytes()) } else { cut_toml(text.as_bytes()) }
}

/// The text without its parts: blanks stand in their place, so that all else stays where it is.
pub(crate) fn rest(text: &str, parts: &[Part], json: bool) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    for (index, part) in parts.iter().enumerate() {
        let mut end = part.span.end;
        // The commas of a JSON list go with its elements.
        if json && let Some(comma) = comma_after(&bytes, end, parts.get(index + 1)) {
            end = comma + 1;
        }
        bytes[part.span.start..end].fill(b' ');
    }
    String::from_utf8(bytes).ok()
}

/// The comma behind an element, before the next one begins.
fn comma_after(bytes: &[u8], end: usize, next: Option<&Part>) -> Option<usize> {
    let until = next.map_or(bytes.len(), |next| next.span.start);
    let (at, byte) = Scan { bytes, at: end }.next_solid()?;
    (byte == b',' && at < until).then_some(at)
}

/// The tree of a part.
pub(crate) fn node(text: &str, part: &Part, json: bool) -> Result<Node, Fault> {
    let piece =
        text.get(part.span.clone()).ok_or_else(|| Fault::new("a part that is not there"))?;
    let mut node = if json { Node::from_json(piece)? } else { Node::from_toml(piece)? };
    if !json {
        node = only_element(node, part.list).ok_or_else(|| Fault::new("expected one element"))?;
    }
    node.shift(part.span.start);
    Ok(node)
}

/// The element of a document that holds nothing but a list of one.
fn only_element(node: Node, list: &str) -> Option<Node> {
    let Value::Table(mut entries) = node.value else { return None };
    let entry = entries.pop().filter(|entry| entries.is_empty() && entry.key == list)?;
    let Value::List(mut elements) = entry.node.value else { return None };
    let element = elements.pop();
    element.filter(|_| elements.is_empty())
}

/// Cuts at headers such as `[[body]]`; headers of tables inside, such as `[body.material]`, belong to it.
fn cut_toml(bytes: &[u8]) -> Option<Vec<Part>> {
    let mut parts: Vec<Part> = Vec::new();
    let mut open = false;
    let mut scan = Scan { bytes, at: 0 };
    while let Some(start) = scan.next_line() {
        if bytes[start] != b'[' {
            scan.skip_line_of_toml()?;
            continue;
        }
        let is_list = bytes.get(start + 1) == Some(&b'[');
        let name = &bytes[start + if is_list { 2 } else { 1 }..];
        let name = &name[name.iter().position(|byte| !b" \t".contains(byte))?..];
        let length = name.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        let (name, after) = name.split_at(length.unwrap_or(name.len()));
        let after = after.iter().find(|byte| !b" \t".contains(byte)).copied();
        let list = LISTS.into_iter().find(|list| list.as_bytes() == name);
        let inside = after == Some(b'.') && open && parts.last().map(|part| part.list) == list;
        if !inside {
            if let Some(part) = parts.last_mut().filter(|_| open) {
                part.span.end = start;
            }
            open = false;
        }
        match list {
            Some(list) if is_list && after == Some(b']') => {
                parts.push(Part { list, span: start..bytes.len() });
                open = true;
            }
            _ => {}
        }
        scan.skip_header()?;
    }
    Some(parts)
}

/// Cuts at the elements of lists in the outermost object.
fn cut_json(bytes: &[u8]) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut scan = Scan { bytes, at: 0 };
    if scan.take()? != b'{' {
        return None;
    }
    loop {
        let (start, byte) = scan.next_solid()?;
        match byte {
            b'}' => return Some(parts),
            b',' => scan.at = start + 1,
            b'"' => {
                scan.skip_value_of_json()?;
                let key = &bytes[start + 1..scan.at - 1];
                if scan.take()? != b':' {
                    return None;
                }
                let list = LISTS.into_iter().find(|list| list.as_bytes() == key);
                match (list, scan.next_solid()?) {
                    (Some(list), (open, b'[')) => {
                        scan.at = open + 1;
                        cut_list(&mut scan, list, &mut parts)?;
                    }
                    _ => scan.skip_value_of_json()?,
                }
            }
            _ => return None,
        }
    }
}

/// Cuts at the elements of a list whose bracket was passed, to its other bracket.
fn cut_list(scan: &mut Scan<'_>, list: &'static str, parts: &mut Vec<Part>) -> Option<()> {
    loop {
        let (start, byte) = scan.next_solid()?;
        match byte {
            b']' => {
                scan.at = start + 1;
                return Some(());
            }
            b'{' => {
                scan.skip_value_of_json()?;
                parts.push(Part { list, span: start..scan.at });
                let (at, byte) = scan.next_solid()?;
                match byte {
                    b',' => scan.at = at + 1,
                    b']' => {}
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
}

/// A place in a text.
struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Scan<'_> {
    /// Where the next line begins that is not empty, blanks before it passed over.
    fn next_line(&mut self) -> Option<usize> {
        let rest = self.bytes.get(self.at..)?;
        self.at += rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        Some(self.at)
    }

    /// To the end of a header's line. Names in quotes could have anything in them.
    fn skip_header(&mut self) -> Option<()> {
        let line = self.bytes[self.at..].split(|byte| *byte == b'\n').next()?;
        let comment = line.iter().position(|byte| *byte == b'#').unwrap_or(line.len());
        if line[..comment].iter().any(|byte| b"\"'".contains(byte)) {
            return None;
        }
        self.at += line.len();
        Some(())
    }

    /// To the end of a line and of the brackets and strings that begin in it.
    fn skip_line_of_toml(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' if depth == 0 => return Some(()),
                b'#' => {
                    let rest = &self.bytes[self.at..];
                    self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.checked_sub(1)?,
                b'"' | b'\'' => {
                    self.skip_string_of_toml(byte)?;
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        Some(())
    }

    fn skip_string_of_toml(&mut self, quote: u8) -> Option<()> {
        let escapes = quote == b'"';
        let triple = [quote; 3];
        let long = self.bytes[self.at..].starts_with(&triple);
        self.at += if long { 3 } else { 1 };
        loop {
            let rest = self.bytes.get(self.at..)?;
            match *rest.first()? {
                b'\\' if escapes => self.at += 2,
                b'\n' if !long => return None,
                byte if byte == quote && !long => {
                    self.at += 1;
                    return Some(());
                }
                _ if long && rest.starts_with(&triple) => {
                    // Up to two more quotes belong to the string.
                    self.at += rest.iter().take(5).take_while(|byte| **byte == quote).count();
                    return Some(());
                }
                _ => self.at += 1,
            }
        }
    }

    /// The next byte that is neither blank nor comment, and where it is.
    fn next_solid(&mut self) -> Option<(usize, u8)> {
        loop {
            let start = self.next_line()?;
            let rest = &self.bytes[start..];
            if rest.starts_with(b"//") {
                self.at += rest.iter().position(|byte| *byte == b'\n')?;
            } else if rest.starts_with(b"/*") {
                let end = rest.windows(2).skip(2).position(|two| two == b"*/")?;
                self.at += end + 4;
            } else {
                return Some((start, rest[0]));
            }
        }
    }

    /// Passes that byte.
    fn take(&mut self) -> Option<u8> {
        let (start, byte) = self.next_solid()?;
        self.at = start + 1;
        Some(byte)
    }

    /// To the end of a value: a string, a number or word, or what stands in brackets.
    fn skip_value_of_json(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            let (start, byte) = self.next_solid()?;
            self.at = start + 1;
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.checked_sub(1)?,
                b'"' => loop {
                    match *self.bytes.get(self.at)? {
                        b'"' => {
                            self.at += 1;
                            break;
                        }
                        b'\\' => self.at += 2,
                        _ => self.at += 1,
                    }
                },
                b',' | b':' if depth > 0 => {}
                b',' | b':' | b'\'' => return None,
                _ => {
                    let word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
                    let rest = &self.bytes[self.at..];
                    self.at += rest.iter().position(|byte| !word(byte)).unwrap_or(rest.len());
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }
}
