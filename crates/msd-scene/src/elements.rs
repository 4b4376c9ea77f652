//! Splits a scene's text into the elements of its long lists, so that the tree of the whole text is never in memory: a
//! tree takes up to 70 times the space of its text.
//!
//! Splitting is conservative: text that is not plainly an element stays in the remainder, and errors are reported by
//! reading the whole text as one tree.

use std::ops::Range;

use crate::error::Fault;
use crate::node::{Node, Value};

/// Lists of a scene that may be long.
pub(crate) const LISTS: [&str; 4] = ["body", "joint", "force", "potential"];

/// An element of a list.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    /// The list's name, one of [`LISTS`].
    pub(crate) list: &'static str,
    /// Byte range in the text; in TOML with the header.
    pub(crate) span: Range<usize>,
}

/// Returns the list elements of a text in order, or `None` if it cannot be split.
pub(crate) fn split(text: &str, json: bool) -> Option<Vec<Element>> {
    if json { split_json(text.as_bytes()) } else { split_toml(text.as_bytes()) }
}

/// Returns the text with its elements blanked out, so that everything else keeps its position.
pub(crate) fn remainder(text: &str, elements: &[Element], json: bool) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    for (index, element) in elements.iter().enumerate() {
        let mut end = element.span.end;
        // In JSON, the comma after an element is blanked out too.
        if json && let Some(comma) = comma_after(&bytes, end, elements.get(index + 1)) {
            end = comma + 1;
        }
        bytes[element.span.start..end].fill(b' ');
    }
    String::from_utf8(bytes).ok()
}

/// Finds the comma between an element and the next one.
fn comma_after(bytes: &[u8], end: usize, next: Option<&Element>) -> Option<usize> {
    let until = next.map_or(bytes.len(), |next| next.span.start);
    let (at, byte) = Scan { bytes, at: end }.next_token()?;
    (byte == b',' && at < until).then_some(at)
}

/// Parses an element.
pub(crate) fn parse(text: &str, element: &Element, json: bool) -> Result<Node, Fault> {
    let piece = text
        .get(element.span.clone())
        .ok_or_else(|| Fault::new("expected an element inside the text"))?;
    let mut node = if json { Node::from_json(piece)? } else { Node::from_toml(piece)? };
    if !json {
        node =
            only_element(node, element.list).ok_or_else(|| Fault::new("expected one element"))?;
    }
    node.shift_spans(element.span.start);
    Ok(node)
}

/// Returns the element of a document that contains only a list of one element.
fn only_element(node: Node, list: &str) -> Option<Node> {
    let Value::Table(mut entries) = node.value else { return None };
    let entry = entries.pop().filter(|entry| entries.is_empty() && entry.key == list)?;
    let Value::List(mut elements) = entry.node.value else { return None };
    let element = elements.pop();
    element.filter(|_| elements.is_empty())
}

/// Splits at headers such as `[[body]]`; subtables such as `[body.material]` belong to their element.
fn split_toml(bytes: &[u8]) -> Option<Vec<Element>> {
    let mut elements: Vec<Element> = Vec::new();
    let mut open = false;
    let mut scan = Scan { bytes, at: 0 };
    while let Some(start) = scan.skip_whitespace() {
        if bytes[start] != b'[' {
            scan.skip_toml_line()?;
            continue;
        }
        let is_list = bytes.get(start + 1) == Some(&b'[');
        let name = &bytes[start + if is_list { 2 } else { 1 }..];
        let name = &name[name.iter().position(|byte| !b" \t".contains(byte))?..];
        let length = name.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        let (name, after) = name.split_at(length.unwrap_or(name.len()));
        let after = after.iter().find(|byte| !b" \t".contains(byte)).copied();
        let list = LISTS.into_iter().find(|list| list.as_bytes() == name);
        let inside =
            after == Some(b'.') && open && elements.last().map(|element| element.list) == list;
        if !inside {
            if let Some(element) = elements.last_mut().filter(|_| open) {
                element.span.end = start;
            }
            open = false;
        }
        match list {
            Some(list) if is_list && after == Some(b']') => {
                elements.push(Element { list, span: start..bytes.len() });
                open = true;
            }
            _ => {}
        }
        scan.skip_header()?;
    }
    Some(elements)
}

/// Splits at the elements of lists in the outermost object.
fn split_json(bytes: &[u8]) -> Option<Vec<Element>> {
    let mut elements = Vec::new();
    let mut scan = Scan { bytes, at: 0 };
    if scan.take()? != b'{' {
        return None;
    }
    loop {
        let (start, byte) = scan.next_token()?;
        match byte {
            b'}' => return Some(elements),
            b',' => scan.at = start + 1,
            b'"' => {
                scan.skip_json_value()?;
                let key = &bytes[start + 1..scan.at - 1];
                if scan.take()? != b':' {
                    return None;
                }
                let list = LISTS.into_iter().find(|list| list.as_bytes() == key);
                match (list, scan.next_token()?) {
                    (Some(list), (open, b'[')) => {
                        scan.at = open + 1;
                        split_list(&mut scan, list, &mut elements)?;
                    }
                    _ => scan.skip_json_value()?,
                }
            }
            _ => return None,
        }
    }
}

/// Splits a list, from after its opening bracket to its closing one.
fn split_list(scan: &mut Scan<'_>, list: &'static str, elements: &mut Vec<Element>) -> Option<()> {
    loop {
        let (start, byte) = scan.next_token()?;
        match byte {
            b']' => {
                scan.at = start + 1;
                return Some(());
            }
            b'{' => {
                scan.skip_json_value()?;
                elements.push(Element { list, span: start..scan.at });
                let (at, byte) = scan.next_token()?;
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

/// A scanner at a position in a text.
struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Scan<'_> {
    /// Skips whitespace, and returns the position of the next byte.
    fn skip_whitespace(&mut self) -> Option<usize> {
        let remainder = self.bytes.get(self.at..)?;
        self.at += remainder.iter().position(|byte| !byte.is_ascii_whitespace())?;
        Some(self.at)
    }

    /// Skips to the end of a header's line. Fails for quoted names, which may contain anything.
    fn skip_header(&mut self) -> Option<()> {
        let line = self.bytes[self.at..].split(|byte| *byte == b'\n').next()?;
        let comment = line.iter().position(|byte| *byte == b'#').unwrap_or(line.len());
        if line[..comment].iter().any(|byte| b"\"'".contains(byte)) {
            return None;
        }
        self.at += line.len();
        Some(())
    }

    /// Skips to the end of a line, and of the brackets and strings that begin in it.
    fn skip_toml_line(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' if depth == 0 => return Some(()),
                b'#' => {
                    let remainder = &self.bytes[self.at..];
                    self.at +=
                        remainder.iter().position(|byte| *byte == b'\n').unwrap_or(remainder.len());
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.checked_sub(1)?,
                b'"' | b'\'' => {
                    self.skip_toml_string(byte)?;
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        Some(())
    }

    fn skip_toml_string(&mut self, quote: u8) -> Option<()> {
        let escapes = quote == b'"';
        let triple = [quote; 3];
        let long = self.bytes[self.at..].starts_with(&triple);
        self.at += if long { 3 } else { 1 };
        loop {
            let remainder = self.bytes.get(self.at..)?;
            match *remainder.first()? {
                b'\\' if escapes => self.at += 2,
                b'\n' if !long => return None,
                byte if byte == quote && !long => {
                    self.at += 1;
                    return Some(());
                }
                _ if long && remainder.starts_with(&triple) => {
                    // Up to two quotes before the closing three belong to the string.
                    self.at += remainder.iter().take(5).take_while(|byte| **byte == quote).count();
                    return Some(());
                }
                _ => self.at += 1,
            }
        }
    }

    /// Skips whitespace and comments, and returns the next byte with its position.
    fn next_token(&mut self) -> Option<(usize, u8)> {
        loop {
            let start = self.skip_whitespace()?;
            let remainder = &self.bytes[start..];
            if remainder.starts_with(b"//") {
                self.at += remainder.iter().position(|byte| *byte == b'\n')?;
            } else if remainder.starts_with(b"/*") {
                let end = remainder.windows(2).skip(2).position(|two| two == b"*/")?;
                self.at += end + 4;
            } else {
                return Some((start, remainder[0]));
            }
        }
    }

    /// Consumes the next byte that is neither whitespace nor comment.
    fn take(&mut self) -> Option<u8> {
        let (start, byte) = self.next_token()?;
        self.at = start + 1;
        Some(byte)
    }

    /// Skips a value: a string, number or word, or a bracketed group.
    fn skip_json_value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            let (start, byte) = self.next_token()?;
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
                    let remainder = &self.bytes[self.at..];
                    self.at +=
                        remainder.iter().position(|byte| !word(byte)).unwrap_or(remainder.len());
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_colliders_belong_to_the_element_of_their_body() {
        let toml = "[[body]]\nname = \"a\"\n[[body.collider]]\nmass = 1\n[body.collider.material]\n\
                    friction = 1\n[[body.collider]]\nmass = 2\n[[body]]\nname = \"b\"\n";
        let json = "{ \"body\": [{ \"name\": \"a\", \"collider\": [{ \"mass\": 1 }] }, { \"name\": \"b\" }] }";
        for (text, json) in [(toml, false), (json, true)] {
            let elements = split(text, json).unwrap();
            let pieces: Vec<&str> = elements.iter().map(|part| &text[part.span.clone()]).collect();
            assert_eq!(pieces.len(), 2, "{pieces:?}");
            assert!(pieces[0].contains("mass") && pieces[1].contains("\"b\""), "{pieces:?}");
            assert!(!pieces[1].contains("mass"), "{pieces:?}");
            assert!(parse(text, &elements[0], json).is_ok());
        }
    }
}
