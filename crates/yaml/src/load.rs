//! Finding and reading the text of a program.

use crate::diagnostics::{Diagnostic, Diagnostics, Source};
use crate::program::YamlProgram;
use crate::syntax::{self, LONGEST_TEXT, Span};
use crate::template::Template;
use std::io::ErrorKind;
use std::path::Path;

/// A program as it was read.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) source: Source,
    pub(crate) template: Template,
    pub(crate) diagnostics: Diagnostics,
}

/// The files that a program may be in, the first that exists counts.
const FILES: [&str; 3] = ["Main.json", "Main.yaml", "Pulumi.yaml"];

/// Reads the program of a folder, or what its compiler prints.
pub(crate) async fn program(program: &YamlProgram) -> Loaded {
    match &program.compiler {
        Some(command) => loaded(compile(program, command).await),
        None => folder(&program.directory),
    }
}

/// Reads the program of a folder.
pub(crate) fn folder(folder: &Path) -> Loaded {
    loaded(find(folder))
}

fn loaded(source: Result<Source, String>) -> Loaded {
    match source {
        Ok(source) => read(source),
        Err(problem) => Loaded {
            source: Source { name: FILES[2].to_owned(), text: String::new(), is_file: false },
            diagnostics: [Diagnostic::error(Span::default(), problem)].into_iter().collect(),
            ..Loaded::default()
        },
    }
}

/// Reads the text of a program.
pub(crate) fn read(source: Source) -> Loaded {
    match syntax::parse(&source.text) {
        Ok(root) => {
            let (template, diagnostics) = Template::read(&root);
            Loaded { source, template, diagnostics }
        }
        Err(fault) => Loaded { source, diagnostics: [fault].into_iter().collect(), ..Loaded::default() },
    }
}

fn find(folder: &Path) -> Result<Source, String> {
    for name in FILES {
        let path = folder.join(name);
        match path.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            _ => return file(&path),
        }
    }
    Err(format!("there is no program in {}: no {}", folder.display(), FILES.join(", ")))
}

/// The text of a file.
pub(crate) fn file(path: &Path) -> Result<Source, String> {
    let fail = |error: std::io::Error| format!("{} cannot be read: {error}", path.display());
    let length = path.metadata().map_err(fail)?.len();
    if usize::try_from(length).unwrap_or(usize::MAX) > LONGEST_TEXT {
        return Err(format!("{} is longer than {} MiB", path.display(), LONGEST_TEXT >> 20));
    }
    let text = std::fs::read_to_string(path).map_err(fail)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Source { name, text, is_file: true })
}

/// Runs the command that prints a program.
async fn compile(program: &YamlProgram, command: &str) -> Result<Source, String> {
    let words = shlex::split(command).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| format!("the compiler `{command}` is not a command"))?;
    let config: serde_json::Map<String, serde_json::Value> =
        program.config.iter().map(|(key, value)| (key.clone(), value.text.clone().into())).collect();
    let variables = [
        ("PULUMI_STACK", program.stack.clone()),
        ("PULUMI_ORGANIZATION", program.organization.clone()),
        ("PULUMI_PROJECT", program.project.clone()),
        ("PULUMI_CONFIG", serde_json::Value::Object(config).to_string()),
        ("PULUMI_ROOT_DIRECTORY", program.root.to_string_lossy().into_owned()),
    ];
    let output = tokio::process::Command::new(&words[0])
        .args(&words[1..])
        .envs(variables.into_iter().filter(|(name, _)| std::env::var_os(name).is_none()))
        .current_dir(&program.directory)
        .stdin(std::process::Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|error| format!("error running compiler {}: {error}", words[0]))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "error running compiler {}: {}, stderr follows: {said}",
            words[0], output.status
        ));
    }
    let text = String::from_utf8(output.stdout)
        .map_err(|_| format!("what the compiler {} printed is not valid UTF-8", words[0]))?;
    Ok(Source { name: format!("<stdout from compiler {}>", words[0]), text, is_file: false })
}
