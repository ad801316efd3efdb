//! `package add`: lets a program use a package.

use super::schema::{Described, Which, described};
use crate::commands::install::{Opened, lines, told};
use crate::commands::operations::hosting::Hosting;
use crate::context::Context;
use crate::report::{Failure, Outcome, chain};
use crate::terminal;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use clap::Args;
use drystone_plugins::converter::Remark;
use drystone_plugins::languages::{Program, Sdk};
use drystone_plugins::loader::USUAL_ECOSYSTEM;
use drystone_plugins::proto::pulumirpc::{PackageDependency, PackageParameterization};
use drystone_plugins::schema::Package as Schema;
use drystone_sdks::{Files, Origin};
use drystone_workspace::project::{Package, Project};
use drystone_workspace::quote_json;
use std::fs;
use std::io;
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
    let described = described(context, &args.which).await?;
    let name = described.text("/name").unwrap_or_default().to_owned();
    let folder = sdk_folder(&described)?;
    let place = project.directory().join(&folder);
    if runtime == "yaml" {
        write_folder(&place, &yaml(&described)?)?;
        terminal::note(format!("Wrote {folder}"));
    } else {
        let program = Program::of(&project).map_err(|error| told(&error))?;
        let opened = Opened::new(context, &program).await?;
        let added = add_sdk(context, &project, &opened, &program, &described, &folder).await;
        opened.close().await;
        added?;
    }
    // A file has no plugin that could be asked again.
    if !described.is_file {
        project.add_package(&name, &package(&args.which, &described)).map_err(chain)?;
        terminal::note(format!("Noted the package in {}", shown(&project, &project.path)));
    }
    terminal::note(format!("Added package {}", described.text("/displayName").unwrap_or(&name)));
    Ok(())
}

/// Makes an SDK, and lets a program use it.
async fn add_sdk(
    context: &Context,
    project: &Project,
    opened: &Opened,
    program: &Program,
    described: &Described,
    folder: &str,
) -> Outcome {
    let place = project.directory().join(folder);
    let sdk =
        Sdk { folder: folder.to_owned(), package: dependency(described)?, loader_address: String::new() };
    let Some(host) = opened.language.host() else {
        write_folder(&place, &files(&program.runtime.name, described)?)?;
        terminal::note(format!("Wrote {folder}"));
        let added = opened.language.add_sdk(program, &sdk, lines()).await;
        return added.map(drop).map_err(|error| told(&error));
    };
    // The plugin asks for the schema of what it is told to add.
    let hosting = Hosting::alone(context, Some(project), USUAL_ECOSYSTEM).await?;
    let sdk = Sdk { loader_address: hosting.endpoint().address().to_owned(), ..sdk };
    let added = async {
        let new = Fresh::beside(&place)?;
        let schema = described.schema.to_string();
        let made = host.make_sdk(&schema, new.folder(), &sdk.loader_address).await;
        for Remark { fatal, text } in made.map_err(|error| told(&error))? {
            if fatal {
                return Err(Failure::general(format!(
                    "no SDK can be made of `{}`: {text}",
                    sdk.package.name
                )));
            }
            terminal::warning(text);
        }
        new.put()?;
        terminal::note(format!("Wrote {folder}"));
        opened.language.add_sdk(program, &sdk, lines()).await.map_err(|error| told(&error))
    };
    let added = added.await;
    hosting.close().await;
    let instructions = added?;
    if !instructions.is_empty() {
        terminal::note(instructions);
    }
    Ok(())
}

/// The package as plugins of languages know it.
fn dependency(described: &Described) -> Outcome<PackageDependency> {
    let text = |pointer: &str| described.text(pointer).unwrap_or_default().to_owned();
    let own = PackageDependency {
        name: text("/name"),
        kind: "resource".to_owned(),
        version: text("/version"),
        server: text("/pluginDownloadURL"),
        ..PackageDependency::default()
    };
    let Some(base) = described.text("/parameterization/baseProvider/name") else { return Ok(own) };
    let value = BASE64_STANDARD.decode(text("/parameterization/parameter")).map_err(|error| {
        Failure::general(format!("what makes the package `{}` is not in base64: {error}", own.name))
    })?;
    let made = PackageParameterization { name: own.name, version: own.version, value };
    Ok(PackageDependency {
        name: base.to_owned(),
        version: text("/parameterization/baseProvider/version"),
        parameterization: Some(made),
        ..own
    })
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

/// What a program in YAML needs to use a package.
fn yaml(described: &Described) -> Outcome<Files> {
    let name = described.text("/name").unwrap_or_default();
    let version = described.text("/version");
    let ending = version.map(|version| format!("-{version}")).unwrap_or_default();
    let declaration = declaration(described, name, version)?;
    Ok(Files::from([(format!("{name}{ending}.yaml"), declaration)]))
}

/// The SDK of a package for a language whose SDKs are made here.
fn files(runtime: &str, described: &Described) -> Outcome<Files> {
    let name = described.text("/name").unwrap_or_default();
    let version = described.text("/version");
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
    let made = Schema::read(&described.schema.to_string()).and_then(|schema| match runtime {
        "python" => drystone_sdks::python(&schema, &origin),
        _ => drystone_sdks::node(&schema, &origin),
    });
    made.map_err(|error| Failure::general(format!("no SDK can be made of the schema of `{name}`: {error}")))
}

/// A folder that is written beside the one whose place it takes once it is whole.
struct Fresh {
    place: PathBuf,
    new: PathBuf,
}

impl Fresh {
    fn beside(place: &Path) -> Outcome<Self> {
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        let fresh = Self { place: place.to_owned(), new: place.with_file_name(format!(".{name}.new")) };
        let made = remove(&fresh.new).and_then(|()| fs::create_dir_all(&fresh.new));
        made.map_err(|error| fresh.unwritable(&error))?;
        Ok(fresh)
    }

    fn folder(&self) -> &Path {
        &self.new
    }

    fn write(&self, files: &Files) -> Outcome {
        for (name, text) in files {
            let path = self.new.join(name);
            let parent = path.parent().unwrap_or(&self.new);
            let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, text));
            written.map_err(|error| self.unwritable(&error))?;
        }
        Ok(())
    }

    /// Takes the place of whatever was there.
    fn put(self) -> Outcome {
        let put = remove(&self.place).and_then(|()| fs::rename(&self.new, &self.place));
        put.map_err(|error| self.unwritable(&error))
    }

    fn unwritable(&self, error: &io::Error) -> Failure {
        Failure::general(format!("`{}` cannot be written: {error}", self.place.display()))
    }
}

impl Drop for Fresh {
    /// What was not whole is not kept.
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.new);
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes a folder in the place of whatever was there.
fn write_folder(place: &Path, files: &Files) -> Outcome {
    let fresh = Fresh::beside(place)?;
    fresh.write(files)?;
    fresh.put()
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
