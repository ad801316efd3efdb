//! What languages call things.

use std::collections::HashSet;

/// A name with everything made an underscore that identifiers cannot have.
pub fn identifier(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let mut text: String = name.chars().map(plain).collect();
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, '_');
    }
    text
}

/// A name that nothing else has: the name itself, or with the first number from 2 on that makes it so.
pub fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let mut found = name.to_owned();
    let mut number = 2;
    while !taken.insert(found.clone()) {
        found = format!("{name}{number}");
        number += 1;
    }
    found
}

/// `bucket` as a class: `Bucket`.
pub fn capitalized(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().map(char::to_uppercase).into_iter().flatten();
    first.chain(characters).collect()
}

/// Names that Python's SDKs have had before they were written by a rule.
const OLDER_THAN_THE_RULE: [&str; 1] = ["openXJsonSerDe"];

const PYTHON_KEYWORDS: [&str; 37] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "exec", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "print", "raise", "return", "try", "while", "with", "yield",
];

/// What came before a letter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    /// A capital that starts a word.
    Capital,
    /// Several capitals.
    Capitals,
    /// A small letter, a digit, or anything else.
    Small,
}

/// `cidrBlock` as Python's SDKs have it: `cidr_block`. Capitals in a row are one word, with the digits or the plural's
/// `s` behind them: `publicIPs` is `public_ips`, `SHA256Hash` is `sha256_hash`.
pub fn snake_case(name: &str) -> String {
    let has_plurals = !OLDER_THAN_THE_RULE.contains(&name);
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut before = Before::Nothing;
    for letter in name.chars() {
        let letter = if letter.is_alphanumeric() || letter == '_' { letter } else { '_' };
        let is_capital = letter.is_uppercase();
        match (before, is_capital) {
            (Before::Nothing, _) if letter.is_numeric() => word.push('_'),
            (Before::Small, true) => words.push(std::mem::take(&mut word)),
            (Before::Capitals, false) if !(letter.is_numeric() || (letter == 's' && has_plurals)) => {
                // The last of the capitals starts the next word.
                let last = word.pop();
                words.push(std::mem::take(&mut word));
                word.extend(last);
            }
            _ => {}
        }
        word.extend(letter.to_lowercase());
        before = match (before, is_capital) {
            (_, false) => Before::Small,
            (Before::Capital | Before::Capitals, true) => Before::Capitals,
            (Before::Nothing | Before::Small, true) => Before::Capital,
        };
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    python_safe(words.join("_"))
}

/// An argument of a resource in Python, apart from those that every resource has.
pub fn python_argument(property: &str) -> String {
    let name = snake_case(property);
    if matches!(name.as_str(), "resource_name" | "opts") { name + "_" } else { name }
}

/// A variable in Python.
pub fn python_variable(name: &str) -> String {
    snake_case(&identifier(name))
}

fn python_safe(name: String) -> String {
    if PYTHON_KEYWORDS.contains(&name.as_str()) { name + "_" } else { name }
}

/// Words that TypeScript has for itself.
const TYPESCRIPT_WORDS: &[&str] = &[
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// Names that a module has already, or may not have.
const TYPESCRIPT_MODULE: &[&str] = &[
    "Object",
    "Promise",
    "__dirname",
    "__filename",
    "arguments",
    "eval",
    "exports",
    "globalThis",
    "let",
    "module",
    "process",
    "require",
    "static",
    "undefined",
];

/// A name as TypeScript's SDKs have it.
pub fn typescript_name(name: &str) -> String {
    let text = identifier(name);
    if TYPESCRIPT_WORDS.contains(&text.as_str()) { format!("_{text}") } else { text }
}

/// A variable in TypeScript.
pub fn typescript_variable(name: &str) -> String {
    let text = typescript_name(name);
    if TYPESCRIPT_MODULE.contains(&text.as_str()) { format!("_{text}") } else { text }
}
