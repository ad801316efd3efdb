//! `package add`: lets a program use a package.

use super::schema::{Described, Which, described};
use crate::commands::install::{add_package, told};
use crate::context::Context;
use crate::report::{Failure, Outcome, chain};
use crate::terminal;
use clap::Args;
use drystone_plugins::languages::Program;
use drystone_plugins::schema::Package as Schema;
use drystone_sdks::{Files, Origin};
use drystone_workspace::project::{Package, Project};
use drystone_workspace::quote_json;
use std::fs;
use std::path::Path;

#[derive(Debug, Args)]
#[command(
    after_help = "The package is noted in the project file, and what the program needs to use it is written to the \
                        folder `sdks`.

Examples:
  drystone package add random@4.16.0
  drystone package add terraform-provider -- hashicorp/random 3.6.0"
)]
pub(crate) struct AddArgs {
    #[command(flatten)]
    which: Which,
}

pub(crate) async fn run(context: &Context, args: AddArgs) -> Outcome {
    let project = context.require_project()?;
    let runtime = project.runtime.as_ref().map(|runtime| runtime.name.as_str()).unwrap_or_default();
    let language = match runtime {
        "yaml" => Language::Yaml,
        "nodejs" | "bun" => Language::Node,
        "python" => Language::Python,
        _ => {
            return Err(Failure::configuration(format!(
                "an SDK for `{runtime}` cannot be made from a schema"
            ))
            .hint("install the package's SDK with the package manager of the language"));
        }
    };
    let described = described(context, &args.which).await?;
    let name = described.text("/name").unwrap_or_default().to_owned();
    let folder = sdk_folder(&described)?;
    let files = files(language, &described)?;
    write_files(&project.directory().join(&folder), &files)?;
    terminal::note(format!("Wrote {folder}"));
    if language != Language::Yaml {
        let program = Program::of(&project).map_err(|error| told(&error))?;
        add_package(context, &program, &folder).await?;
    }
    // A file has no plugin that could be asked again.
    if !described.is_file {
        project.add_package(&name, &package(&args.which, &described)).map_err(chain)?;
        terminal::note(format!("Noted the package in {}", shown(&project, &project.path)));
    }
    terminal::note(format!("Added package {}", described.text("/displayName").unwrap_or(&name)));
    Ok(())
}

/// A language that a package can be added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Yaml,
    Node,
    Python,
}

/// Whether a text is one name of a file.
fn is_file_name(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.+".contains(letter);
    !text.is_empty() && !text.starts_with('.') && text.chars().all(is_plain)
}

/// The folder of a package's SDK in the project.
fn sdk_folder(described: &Described) -> Outcome<String> {
    let name = described.text("/name").unwrap_or_default();
    let parts = [Some(name), described.text("/version"), described.text("/namespace")];
    if let Some(odd) = parts.into_iter().flatten().find(|part| !is_file_name(part)) {
        return Err(Failure::general(format!(
            "`{odd}` in the schema of `{name}` cannot be the name of a file"
        )));
    }
    Ok(match described.text("/namespace") {
        Some(namespace) => format!("sdks/{namespace}-{name}"),
        None => format!("sdks/{name}"),
    })
}

/// What a program needs to use a package.
fn files(language: Language, described: &Described) -> Outcome<Files> {
    let name = described.text("/name").unwrap_or_default();
    let version = described.text("/version");
    if language == Language::Yaml {
        let ending = version.map(|version| format!("-{version}")).unwrap_or_default();
        let declaration = declaration(described, name, version)?;
        return Ok(Files::from([(format!("{name}{ending}.yaml"), declaration)]));
    }
    let base = described.text("/parameterization/baseProvider/name");
    let origin = Origin {
        plugin: base.unwrap_or(name).to_owned(),
        version: match base {
            Some(_) => described.text("/parameterization/baseProvider/version"),
            None => version,
        }
        .unwrap_or_default()
        .to_owned(),
        server: described.text("/pluginDownloadURL").unwrap_or_default().to_owned(),
        parameter: base.map(|_| described.text("/parameterization/parameter").unwrap_or_default().to_owned()),
    };
    let made = Schema::read(&described.schema.to_string()).and_then(|schema| match language {
        Language::Python => drystone_sdks::python(&schema, &origin),
        Language::Node | Language::Yaml => drystone_sdks::node(&schema, &origin),
    });
    made.map_err(|error| Failure::general(format!("no SDK can be made of the schema of `{name}`: {error}")))
}

/// Writes the files of a folder in the place of whatever was there.
fn write_files(folder: &Path, files: &Files) -> Outcome {
    let write = || {
        replace_folder(folder)?;
        for (name, text) in files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(path, text)?;
        }
        Ok(())
    };
    let written: std::io::Result<()> = write();
    written.map_err(|error| Failure::general(format!("`{}` cannot be written: {error}", folder.display())))
}

fn shown(project: &Project, path: &Path) -> String {
    path.strip_prefix(project.directory()).unwrap_or(path).display().to_string()
}

/// How the project notes a package.
fn package(which: &Which, described: &Described) -> Package {
    let is_path = which.provider.starts_with(['.', '/']);
    let (source, version) = match which.provider.split_once('@') {
        Some((source, version)) if !is_path => (source, Some(version.to_owned())),
        _ => (which.provider.as_str(), None),
    };
    // Whoever runs the program next takes the same plugin.
    let plugin = match described.text("/parameterization/baseProvider/version") {
        Some(version) => Some(version),
        None => described.text("/version"),
    };
    let known = plugin.filter(|_| !is_path).map(str::to_owned);
    Package {
        source: source.to_owned(),
        version: version.or(known),
        parameters: which.parameters.clone(),
        plugin_download_url: which.server.clone(),
        ..Package::default()
    }
}

/// The text that declares a package to programs in YAML. A package that another is made of is declared by that one and what
/// makes it.
fn declaration(described: &Described, name: &str, version: Option<&str>) -> Outcome<String> {
    let line = |indent: &str, member: &str, value: Option<&str>| {
        let mut line = format!("{indent}{member}: ");
        value.map(|value| quote_json(value, &mut line)).map(|()| line + "\n").unwrap_or_default()
    };
    let mut text = "packageDeclarationVersion: 1\n".to_owned();
    let download_url = line("", "downloadUrl", described.text("/pluginDownloadURL"));
    let Some(base) = described.text("/parameterization/baseProvider/name") else {
        text += &(line("", "name", Some(name)) + &line("", "version", version) + &download_url);
        return Ok(text);
    };
    let Some(version) = version else {
        return Err(Failure::general(format!("the package {name} is parameterised but has no version")));
    };
    text += &line("", "name", Some(base));
    text += &line("", "version", described.text("/parameterization/baseProvider/version"));
    text += &(download_url + "parameterization:\n");
    text += &(line("  ", "name", Some(name)) + &line("  ", "version", Some(version)));
    text += &line("  ", "value", described.text("/parameterization/parameter").or(Some("")));
    Ok(text)
}

/// An empty folder in the place of whatever was there.
fn replace_folder(folder: &Path) -> std::io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir_all(folder)
}
