//! Finding where each part of a document stands.
//!
//! The parser's marks are good for where scalars begin and plain ones end; quotes, block scalars, dashes and colons are
//! found in the text itself. What cannot be found is left without a range, and is then not edited in place.

use super::node::{Kind, Node, Range, Style};

/// Places a root node whose document starts at `start`.
pub(crate) fn root(node: &mut Node, text: &str, start: usize) {
    place(node, text, start, None);
}

/// Where a key stands; keys with tags or anchors and block scalars as keys have no place.
pub(crate) fn key(key: &Node, text: &str) -> Option<Range> {
    let Kind::Scalar(style) = key.kind else { return None };
    if key.decorated || key.seen.start == key.seen.end {
        return None;
    }
    let start = key.seen.start;
    let end = scalar_end(text, start, key.seen.end, style)?;
    let before = text[..start].trim_end_matches([' ', '\t']);
    let explicit = before.ends_with('?') && text[line_start(text, start)..before.len() - 1].trim().is_empty();
    Some(Range { start: if explicit { before.len() - 1 } else { start }, end })
}

/// The offset of the first character of the line that `at` is on.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The offset of the end of the line that `at` is on, its line break left out.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
    if end > at && text[..end].ends_with('\r') { end - 1 } else { end }
}

/// The offset of the line after the one that `at` is on.
pub(crate) fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |length| at + length + 1)
}

/// How many characters stand before `at` on its line.
pub(crate) fn column(text: &str, at: usize) -> usize {
    text[line_start(text, at)..at].chars().count()
}

/// Skips white space, line breaks and comments.
pub(crate) fn skip_trivia(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\r' | b'\n') => at += 1,
            Some(b'#') if at == 0 || matches!(bytes[at - 1], b' ' | b'\t' | b'\n') => at = line_end(text, at),
            _ => return at,
        }
    }
}

/// Places a node whose slot starts at `after`: behind a colon, a dash, a comma or a bracket. `indent` is the column of
/// the key or dash that it belongs to.
fn place(node: &mut Node, text: &str, after: usize, indent: Option<usize>) {
    node.range = match &mut node.kind {
        Kind::Scalar(Style::Plain) if is_blank_scalar(node.seen, text) => {
            (!node.decorated).then_some(Range { start: after, end: after })
        }
        Kind::Scalar(style @ (Style::Literal | Style::Folded)) => {
            let start = begin(text, after, node.decorated);
            let indicator = if *style == Style::Literal { '|' } else { '>' };
            text[start..].starts_with(indicator).then(|| Range { start, end: block_end(text, start, indent) })
        }
        Kind::Scalar(style) => {
            let start = begin(text, node.seen.start, node.decorated);
            scalar_end(text, start, node.seen.end, *style).map(|end| Range { start, end })
        }
        Kind::Alias => Some(Range { start: node.seen.start, end: trimmed_end(text, node.seen) }),
        Kind::Sequence { flow: true, .. } | Kind::Mapping { flow: true, .. } => {
            let start = begin(text, node.seen.start, node.decorated);
            let end = node.seen.end + 1;
            text.get(start..end).filter(|flow| flow.starts_with(['[', '{'])).map(|_| Range { start, end })
        }
        Kind::Mapping { entries, .. } => {
            for entry in entries.iter_mut() {
                let Some(key) = entry.key_range else { continue };
                let explicit = text[key.start..].starts_with('?');
                let colon = if explicit { skip_trivia(text, key.end) } else { skip_blanks(text, key.end) };
                if text[colon..].starts_with(':') {
                    entry.colon = Some(colon);
                    place(&mut entry.value, text, colon + 1, Some(column(text, key.start)));
                }
            }
            let start = entries.first().and_then(|entry| entry.key_range).map(|key| key.start);
            let end = entries.last().and_then(|entry| entry.value.range).map(|range| range.end);
            start.zip(end).map(|(start, end)| Range { start, end })
        }
        Kind::Sequence { items, .. } => {
            let mut at = begin(text, after, node.decorated);
            let start = at;
            let mut placed = !items.is_empty();
            for item in items.iter_mut() {
                at = skip_trivia(text, at);
                if !text[at..].starts_with('-') {
                    placed = false;
                    break;
                }
                item.dash = Some(at);
                place(&mut item.value, text, at + 1, Some(column(text, at)));
                let Some(range) = item.value.range else {
                    placed = false;
                    break;
                };
                at = range.end;
            }
            placed.then_some(Range { start, end: at })
        }
    };
    if let (Some(range), Kind::Sequence { flow: true, .. } | Kind::Mapping { flow: true, .. }) =
        (node.range, &node.kind)
    {
        place_flow(node, text, range.start + 1);
    }
}

/// Places the parts of a flow collection, up to the first that cannot be found.
fn place_flow(node: &mut Node, text: &str, mut at: usize) {
    let comma = |at: usize| {
        let at = skip_trivia(text, at);
        if text[at..].starts_with(',') { at + 1 } else { at }
    };
    match &mut node.kind {
        Kind::Sequence { items, .. } => {
            for item in items {
                if matches!(
                    item.value.kind,
                    Kind::Mapping { flow: false, .. } | Kind::Sequence { flow: false, .. }
                ) {
                    return;
                }
                place(&mut item.value, text, skip_trivia(text, at), None);
                let Some(range) = item.value.range else { return };
                at = comma(range.end);
            }
        }
        Kind::Mapping { entries, .. } => {
            for entry in entries {
                let Some(key) = entry.key_range else { return };
                let colon = skip_trivia(text, key.end);
                if !text[colon..].starts_with(':') {
                    return;
                }
                entry.colon = Some(colon);
                place(&mut entry.value, text, colon + 1, None);
            }
        }
        _ => {}
    }
}

/// Whether the parser saw nothing where a value could have stood.
fn is_blank_scalar(seen: Range, text: &str) -> bool {
    seen.start >= seen.end || matches!(text.get(seen.start..seen.end), Some("}" | "]" | ","))
}

/// Where a node begins when its slot starts at `at`: behind white space, comments, and its tag and anchor.
fn begin(text: &str, at: usize, decorated: bool) -> usize {
    let mut at = skip_trivia(text, at);
    while decorated && text[at..].starts_with(['&', '!']) {
        at += text[at..].find([' ', '\t', '\r', '\n']).unwrap_or(text.len() - at);
        at = skip_trivia(text, at);
    }
    at
}

fn skip_blanks(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start_matches([' ', '\t']).len()
}

fn trimmed_end(text: &str, seen: Range) -> usize {
    seen.start + text[seen.start..seen.end].trim_end().len()
}

/// The end of a plain or quoted scalar.
fn scalar_end(text: &str, start: usize, seen_end: usize, style: Style) -> Option<usize> {
    let body = text.get(start..)?;
    match style {
        Style::Plain => (seen_end > start).then(|| trimmed_end(text, Range { start, end: seen_end })),
        Style::SingleQuoted => {
            let mut rest = body.strip_prefix('\'')?;
            loop {
                let quote = rest.find('\'')?;
                rest = &rest[quote + 1..];
                match rest.strip_prefix('\'') {
                    Some(after) => rest = after,
                    None => return Some(text.len() - rest.len()),
                }
            }
        }
        Style::DoubleQuoted => {
            let mut escaped = false;
            for (offset, byte) in body.bytes().enumerate().skip(1) {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' => escaped = true,
                    b'"' => return body.starts_with('"').then_some(start + offset + 1),
                    _ => {}
                }
            }
            None
        }
        Style::Literal | Style::Folded => None,
    }
}

/// The end of a block scalar whose indicator is at `start`: the end of its last line of content, or of the last blank
/// line that it keeps.
fn block_end(text: &str, start: usize, indent: Option<usize>) -> usize {
    let header = &text[start + 1..line_end(text, start)];
    let indicators = &header[..header.find([' ', '\t']).unwrap_or(header.len())];
    let keep = indicators.contains('+');
    let least = indent.map_or(0, |indent| indent + 1);
    let mut content = indicators
        .chars()
        .find_map(|indicator| indicator.to_digit(10))
        .and_then(|digit| usize::try_from(digit).ok())
        .map(|digit| indent.unwrap_or(0) + digit);
    let mut end = start + 1 + indicators.len();
    let mut at = next_line(text, start);
    while at < text.len() {
        let line = &text[at..line_end(text, at)];
        let depth = line.len() - line.trim_start_matches(' ').len();
        if line.len() == depth && content.is_none_or(|content| depth <= content) {
            if keep {
                end = at + line.len();
            }
        } else {
            if depth < *content.get_or_insert(depth.max(least)) || starts_document(line) {
                break;
            }
            end = at + line.len();
        }
        at = next_line(text, at);
    }
    end
}

/// Whether a line ends the document.
fn starts_document(line: &str) -> bool {
    ["---", "..."].iter().any(|marker| {
        line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    })
}
