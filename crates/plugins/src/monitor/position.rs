//! Where in the program something was asked for.

use crate::proto::pulumirpc as rpc;
use drystone_model::StackFrame;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

/// A position as the state keeps it: `project:///relative/path#line,column`. Empty when the program gives none or one
/// that makes no sense.
pub(super) fn read(position: Option<&rpc::SourcePosition>, root: &Path) -> String {
    position.and_then(|position| relative(position, root)).unwrap_or_default()
}

/// A stack trace as the state keeps it. Frames that are no place in a file are empty; when the position itself is none,
/// the trace is left out.
pub(super) fn read_trace(
    position: Option<&rpc::SourcePosition>,
    trace: Option<&rpc::StackTrace>,
    root: &Path,
) -> Vec<StackFrame> {
    if position.is_some_and(|position| relative(position, root).is_none()) {
        return Vec::new();
    }
    let frames = trace.iter().flat_map(|trace| &trace.frames);
    frames
        .map(|frame| StackFrame { source_position: read(frame.pc.as_ref(), root), ..StackFrame::default() })
        .collect()
}

fn relative(position: &rpc::SourcePosition, root: &Path) -> Option<String> {
    if position.line < 0 || position.column < 0 {
        return None;
    }
    let file = PathBuf::from(unescape(position.uri.strip_prefix("file://")?)?);
    let (line, column) = (position.line.unsigned_abs(), position.column.unsigned_abs());
    source_position(root, &file, line, column)
}

/// A place in a file as the state keeps it; `None` when the file's path is not absolute. A column of 0 is left out.
#[must_use]
pub fn source_position(root: &Path, file: &Path, line: u32, column: u32) -> Option<String> {
    let mut text = format!("project:///{}#{line}", escape(&from_to(root, file)?));
    if column != 0 {
        let _ = write!(text, ",{column}");
    }
    Some(text)
}

/// The way from a folder to a file, with `..` where it leaves the folder.
fn from_to(root: &Path, file: &Path) -> Option<String> {
    if !file.is_absolute() {
        return None;
    }
    let clean = |path: &Path| {
        let mut parts: Vec<String> = Vec::new();
        for part in path.components() {
            match part {
                Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
                Component::ParentDir => {
                    parts.pop();
                }
                _ => {}
            }
        }
        parts
    };
    let (root, file) = (clean(root), clean(file));
    let shared = root.iter().zip(&file).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..".to_owned(), root.len() - shared);
    let way: Vec<String> = up.chain(file.into_iter().skip(shared)).collect();
    Some(if way.is_empty() { ".".to_owned() } else { way.join("/") })
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

fn escape(path: &str) -> String {
    path.bytes().fold(String::with_capacity(path.len()), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(uri: &str, line: i32, column: i32) -> String {
        let position = rpc::SourcePosition { uri: uri.to_owned(), line, column };
        read(Some(&position), Path::new("/home/me/shop"))
    }

    #[test]
    fn positions_are_relative_to_the_project() {
        assert_eq!(shown("file:///home/me/shop/src/index.ts", 3, 7), "project:///src/index.ts#3,7");
        assert_eq!(shown("file:///home/me/shop/a%20b.ts", 3, 0), "project:///a%20b.ts#3");
        assert_eq!(shown("file:///home/me/other/x.ts", 1, 1), "project:///../other/x.ts#1,1");
        assert_eq!(shown("file:///home/me/shop/../shop/./x.ts", 1, 1), "project:///x.ts#1,1");
    }

    #[test]
    fn positions_that_make_no_sense_are_left_out() {
        for (uri, line, column) in [
            ("https://x/y", 1, 1),
            ("file://relative", 1, 1),
            ("file:///x", -1, 0),
            ("file:///x", 1, -1),
            ("file:///%zz", 1, 1),
            ("file:///%f", 1, 1),
        ] {
            assert_eq!(shown(uri, line, column), "", "{uri}");
        }
        assert_eq!(read(None, Path::new("/")), "");
    }
}
