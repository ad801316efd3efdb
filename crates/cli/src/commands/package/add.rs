//! `package add`: lets a program use a package.

use super::schema::{Described, Which, described};
use crate::context::Context;
use crate::report::{Failure, Outcome, chain};
use crate::terminal;
use clap::Args;
use drystone_workspace::project::{Package, Project};
use drystone_workspace::quote_json;
use std::fs;
use std::path::{Path, PathBuf};

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
    if runtime != "yaml" {
        return Err(Failure::configuration(format!(
            "an SDK for `{runtime}` cannot be made from a schema yet; programs in YAML need none"
        ))
        .hint("install the package's SDK with the package manager of the language"));
    }
    let described = described(context, &args.which).await?;
    let name = described.text("/name").unwrap_or_default().to_owned();
    let written = write_declaration(&project, &described)?;
    terminal::note(format!("Wrote {}", shown(&project, &written)));
    // A file has no plugin that could be asked again.
    if !described.is_file {
        project.add_package(&name, &package(&args.which, &described)).map_err(chain)?;
        terminal::note(format!("Noted the package in {}", shown(&project, &project.path)));
    }
    terminal::note(format!("Added package {}", described.text("/displayName").unwrap_or(&name)));
    Ok(())
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

/// Declares a package to programs in YAML, in the place of another version of it.
fn write_declaration(project: &Project, described: &Described) -> Outcome<PathBuf> {
    let name = described.text("/name").unwrap_or_default();
    let version = described.text("/version");
    let is_file_name =
        |text: &str| text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.+".contains(letter));
    if name.starts_with('.') || !is_file_name(name) || !version.is_none_or(is_file_name) {
        return Err(Failure::general(format!(
            "the schema's name `{name}` or its version cannot be one of a file"
        )));
    }
    let text = declaration(described, name, version)?;
    let folder = match described.text("/namespace").filter(|namespace| is_file_name(namespace)) {
        Some(namespace) => project.directory().join("sdks").join(format!("{namespace}-{name}")),
        None => project.directory().join("sdks").join(name),
    };
    let ending = version.map(|version| format!("-{version}")).unwrap_or_default();
    let path = folder.join(format!("{name}{ending}.yaml"));
    let written = replace_folder(&folder).and_then(|()| fs::write(&path, text));
    written.map_err(|error| Failure::general(format!("`{}` cannot be written: {error}", path.display())))?;
    Ok(path)
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
