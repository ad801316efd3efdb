//! Finding the secrets in JSON text, without building values and without recursion.

use crate::Error;
use crate::values::{push_index, push_name};
use std::borrow::Cow;
use std::ops::Range;
use zeroize::Zeroizing;

/// The member that marks an object as something other than an object.
const SIGNATURE_KEY: &str = "4dabf18193072939515e22adb298388d";
/// The mark of a secret.
const SECRET_SIGNATURE: &str = "1b47061264138c4ac30d75fd1eb44270";

/// The two forms of a secret in stored JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Ciphertext,
    Plaintext,
}

impl Form {
    /// The member that holds it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ciphertext => "ciphertext",
            Self::Plaintext => "plaintext",
        }
    }
}

/// A secret, and where its text stands.
pub(super) struct Found {
    pub(super) form: Form,
    /// The member's name, quotes included.
    pub(super) name: Range<usize>,
    /// The member's value, quotes included.
    pub(super) value: Range<usize>,
    /// The value without quotes and escapes.
    pub(super) content: Zeroizing<String>,
    /// The property path.
    pub(super) place: String,
}

/// The secrets of a JSON text, in the order in which they stand.
pub(super) fn secrets(text: &str) -> Result<Vec<Found>, Error> {
    // A signature can only hide from this look by being written with escapes.
    if !text.contains(SIGNATURE_KEY) && !text.contains("\\u") {
        return Ok(Vec::new());
    }
    let mut scan = Scan { text, at: 0, open: Vec::new(), found: Vec::new() };
    scan.run()?;
    scan.found.sort_by_key(|secret| secret.value.start);
    Ok(scan.found)
}

/// An object or array that has begun and not ended.
enum Open {
    Array { index: usize },
    Object(Object),
}

/// What is known so far of an object.
#[derive(Default)]
struct Object {
    /// The name of the current member, quotes included.
    name: Range<usize>,
    /// Whether it bears the mark of a secret.
    secret: bool,
    /// Its members that may hold a secret's text.
    texts: Vec<(Form, Range<usize>, Range<usize>)>,
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
    open: Vec<Open>,
    found: Vec<Found>,
}

impl<'t> Scan<'t> {
    fn run(&mut self) -> Result<(), Error> {
        while let Some(byte) = self.next_token() {
            let start = self.at;
            self.at += 1;
            match byte {
                b'{' => self.open.push(Open::Object(Object::default())),
                b'[' => self.open.push(Open::Array { index: 0 }),
                b'}' | b']' => self.end(start)?,
                b'"' => self.string(start)?,
                b',' => {
                    if let Some(Open::Array { index }) = self.open.last_mut() {
                        *index += 1;
                    }
                }
                _ => {}
            }
        }
        if self.open.is_empty() { Ok(()) } else { Err(Error::NotJson { offset: self.at }) }
    }

    /// The next byte that is not white space.
    fn next_token(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        self.at += rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes the string that starts at `start`: a member's name, a member's text, or an item.
    fn string(&mut self, start: usize) -> Result<(), Error> {
        let string = start..self.string_end(start)?;
        self.at = string.end;
        let is_name = self.next_token() == Some(b':');
        let text = self.text;
        let Some(Open::Object(object)) = self.open.last_mut() else { return Ok(()) };
        if is_name {
            object.name = string;
            return Ok(());
        }
        match unquoted(text, &object.name).as_deref() {
            Some(SIGNATURE_KEY) => {
                object.secret |= unquoted(text, &string).as_deref() == Some(SECRET_SIGNATURE);
            }
            Some("ciphertext") => object.texts.push((Form::Ciphertext, object.name.clone(), string)),
            Some("plaintext") => object.texts.push((Form::Plaintext, object.name.clone(), string)),
            _ => {}
        }
        Ok(())
    }

    /// The end of the string that starts at `start`, its last quote included.
    fn string_end(&self, start: usize) -> Result<usize, Error> {
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        loop {
            match bytes.get(at) {
                Some(b'"') => return Ok(at + 1),
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
                None => return Err(Error::NotJson { offset: start }),
            }
        }
    }

    /// Ends an object or array; an object that is a secret is kept.
    fn end(&mut self, offset: usize) -> Result<(), Error> {
        let Some(open) = self.open.pop() else { return Err(Error::NotJson { offset }) };
        if let Open::Object(Object { secret: true, texts, .. }) = open {
            let place = self.place();
            let [(form, name, value)] = texts.as_slice() else {
                return Err(Error::MalformedSecret.at(&place));
            };
            let content = unquoted(self.text, value).filter(|content| !content.is_empty());
            let content = content.ok_or_else(|| Error::MalformedSecret.at(&place))?.into_owned();
            let content = Zeroizing::new(content);
            self.found.push(Found { form: *form, name: name.clone(), value: value.clone(), content, place });
        }
        Ok(())
    }

    /// The property path of what just ended.
    fn place(&self) -> String {
        let mut place = String::new();
        for open in &self.open {
            match open {
                Open::Array { index } => push_index(&mut place, *index),
                Open::Object(object) => {
                    push_name(&mut place, &unquoted(self.text, &object.name).unwrap_or_default());
                }
            }
        }
        place
    }
}

/// A string without its quotes and escapes; `None` when it is no string or an escape stands for nothing.
fn unquoted<'t>(text: &'t str, string: &Range<usize>) -> Option<Cow<'t, str>> {
    let quoted = text.get(string.clone())?;
    let inside = quoted.strip_prefix('"')?.strip_suffix('"')?;
    if inside.contains('\\') {
        serde_json::from_str(quoted).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inside))
    }
}
