//! What stands between `${` and `}`: `resource.property["key"][0]`.

use std::fmt;
use std::sync::Arc;

/// A way into a value: the name of a resource, variable or config value, and what is looked up in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The name.
    pub root: Arc<str>,
    /// What is looked up in it.
    pub path: Vec<Accessor>,
}

/// One step of the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accessor {
    /// `.name`
    Name(Arc<str>),
    /// `["name"]`
    Key(Arc<str>),
    /// `[0]`
    Index(i64),
}

/// A piece of a text: some characters, then a value, if any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The characters.
    pub text: String,
    /// The value behind them.
    pub access: Option<Access>,
}

/// Whether a text can be written without brackets and quotes.
fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(['.', '[', '}', '"'])
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| text.replace('"', "\\\"");
        if is_name(&self.root) {
            f.write_str(&self.root)?;
        } else {
            write!(f, "[\"{}\"]", quoted(&self.root))?;
        }
        for accessor in &self.path {
            match accessor {
                Accessor::Name(name) => write!(f, ".{name}")?,
                Accessor::Key(key) => write!(f, "[\"{}\"]", quoted(key))?,
                Accessor::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// The pieces of a text with `${…}` in it; `$$` stands for `$`.
pub(super) fn interpolate(mut text: &str) -> Result<Vec<Part>, &'static str> {
    let mut parts = Vec::new();
    let mut characters = String::new();
    while let Some(at) = text.find('$') {
        characters.push_str(&text[..at]);
        text = &text[at..];
        if let Some(rest) = text.strip_prefix("$$") {
            characters.push('$');
            text = rest;
        } else if let Some(inner) = text.strip_prefix("${") {
            let (access, rest) = access(inner)?;
            parts.push(Part { text: std::mem::take(&mut characters), access: Some(access) });
            text = rest;
        } else {
            characters.push('$');
            text = &text[1..];
        }
    }
    characters.push_str(text);
    if !characters.is_empty() {
        parts.push(Part { text: characters, access: None });
    }
    Ok(parts)
}

/// Reads up to the closing brace, and gives what comes behind it.
fn access(mut text: &str) -> Result<(Access, &str), &'static str> {
    let mut steps = Vec::new();
    loop {
        match text.as_bytes().first() {
            None => return Err("unterminated interpolation"),
            Some(b'}') => return Ok((rooted(steps)?, &text[1..])),
            Some(b'.') => text = &text[1..],
            Some(b'[') if text.as_bytes().get(1) == Some(&b'"') => {
                let (key, rest) = quoted(&text[2..])?;
                steps.push(Accessor::Key(key.into()));
                text = rest.strip_prefix(']').ok_or("missing closing bracket in property access")?;
            }
            Some(b'[') => {
                let end = text.find(']').ok_or("missing closing bracket in list index")?;
                let index = text[1..end].parse().map_err(|_| "invalid list index")?;
                if steps.is_empty() {
                    return Err("the root property must be a string subscript or a name");
                }
                steps.push(Accessor::Index(index));
                text = &text[end + 1..];
            }
            Some(_) => {
                let end = text.find(['.', '[', '}']).unwrap_or(text.len());
                steps.push(Accessor::Name(text[..end].into()));
                text = &text[end..];
            }
        }
    }
}

/// Reads up to the closing quote, and gives what comes behind it. `\"` stands for a quote.
fn quoted(text: &str) -> Result<(String, &str), &'static str> {
    let mut key = String::new();
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Ok((key, &text[at + 1..])),
            '\\' if characters.peek().is_some_and(|(_, next)| *next == '"') => {
                characters.next();
                key.push('"');
            }
            other => key.push(other),
        }
    }
    Err("missing closing quote in property name")
}

fn rooted(steps: Vec<Accessor>) -> Result<Access, &'static str> {
    let mut steps = steps.into_iter();
    let root = match steps.next() {
        Some(Accessor::Name(root) | Accessor::Key(root)) => root,
        Some(Accessor::Index(_)) => return Err("the root property must be a string subscript or a name"),
        None => return Err("property access expressions cannot be empty"),
    };
    Ok(Access { root, path: steps.collect() })
}
