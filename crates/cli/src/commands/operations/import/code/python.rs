//! Declarations in Python.

use super::{Declaration, Grammar, identifier, packages, quoted};
use std::fmt::Write;

const RESERVED: [&str; 36] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "exec", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "print", "raise", "return", "try", "while", "with",
];

/// What is inside of values keeps its names: the SDK sends those that it does not know as they are.
const GRAMMAR: Grammar = Grammar {
    nothing: "None",
    truths: ["False", "True"],
    bare_keys: false,
    secret: "pulumi.Output.secret",
    asset: "pulumi.",
};

pub(super) fn write(declared: &[Declaration]) -> String {
    let mut text = "import pulumi\n".to_owned();
    for package in packages(declared) {
        let module = package.replace('-', "_");
        let _ = writeln!(text, "import pulumi_{module} as {}", identifier(&package, &RESERVED));
    }
    for declaration in declared {
        let (package, modules, kind) = declaration.path();
        let mut path = vec![identifier(&package, &RESERVED)];
        path.extend(modules.iter().map(|module| snake_case(module)));
        path.push(kind);
        let variable = snake_case(&declaration.variable);
        let mut arguments = vec![quoted(&declaration.name)];
        for (key, input) in declaration.inputs.iter().filter(|(_, input)| !input.is_null()) {
            arguments.push(format!("{}={}", snake_case(key), GRAMMAR.value(input, 1)));
        }
        arguments.extend(options(declaration));
        let _ = write!(text, "\n{variable} = {}({})\n", path.join("."), arguments.join(",\n    "));
    }
    text
}

fn options(declaration: &Declaration) -> Option<String> {
    let mut options = Vec::new();
    if let Some(parent) = &declaration.parent {
        options.push(format!("parent={}", snake_case(parent)));
    }
    if let Some(provider) = &declaration.provider {
        options.push(format!("provider={}", snake_case(provider)));
    }
    if declaration.protect {
        options.push("protect=True".to_owned());
    }
    (!options.is_empty()).then(|| format!("opts=pulumi.ResourceOptions({})", options.join(", ")))
}

/// `cidrBlock` as Python has it: `cidr_block`.
fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut text = String::new();
    for (index, &letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(index + 1).copied();
        let starts_word = letter.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase() && after.is_some_and(|after| after.is_ascii_lowercase()))
            });
        if starts_word {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    identifier(&text, &RESERVED)
}
