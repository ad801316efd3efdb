//! Declarations in TypeScript.

use super::{Declaration, Grammar, identifier, packages, quoted};
use drystone_model::Value;
use std::fmt::Write;

const RESERVED: [&str; 40] = [
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
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "typeof",
];

const GRAMMAR: Grammar = Grammar {
    nothing: "undefined",
    truths: ["false", "true"],
    bare_keys: true,
    secret: "pulumi.secret",
    asset: "new pulumi.asset.",
};

pub(super) fn write(declared: &[Declaration]) -> String {
    let mut text = "import * as pulumi from \"@pulumi/pulumi\";\n".to_owned();
    for package in packages(declared) {
        let _ = writeln!(text, "import * as {} from \"@pulumi/{package}\";", identifier(&package, &RESERVED));
    }
    for declaration in declared {
        let (package, modules, kind) = declaration.path();
        let mut path = vec![identifier(&package, &RESERVED)];
        path.extend(modules.iter().map(|module| identifier(module, &[])));
        path.push(kind);
        let variable = identifier(&declaration.variable, &RESERVED);
        let inputs = GRAMMAR.value(&Value::Object(declaration.inputs.clone()), 0);
        let name = quoted(&declaration.name);
        let _ = write!(text, "\nconst {variable} = new {}({name}, {inputs}", path.join("."));
        text.push_str(&options(declaration));
        text.push_str(");\n");
    }
    text
}

fn options(declaration: &Declaration) -> String {
    let mut options = Vec::new();
    if let Some(parent) = &declaration.parent {
        options.push(format!("parent: {}", identifier(parent, &RESERVED)));
    }
    if let Some(provider) = &declaration.provider {
        options.push(format!("provider: {}", identifier(provider, &RESERVED)));
    }
    if declaration.protect {
        options.push("protect: true".to_owned());
    }
    if options.is_empty() {
        return String::new();
    }
    let lines: String = options.iter().map(|option| format!("    {option},\n")).collect();
    format!(", {{\n{lines}}}")
}
