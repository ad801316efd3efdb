//! What a package says of itself: of an installed plugin, of one at a path, or as a file.

use crate::commands::operations::hosting::Hosting;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_engine::{PackageDescriptor, Parameterization, ParameterizeArguments, Provider, ProviderError};
use drystone_plugins::loader::{Packages, USUAL_ECOSYSTEM};
use std::path::Path;

/// Which package.
#[derive(Debug, Args)]
pub(super) struct Which {
    /// The name of its plugin, where it is, or a file that has its schema
    #[arg(value_name = "NAME[@VERSION] | PATH")]
    pub(super) provider: String,
    /// What the plugin is parameterised with, after `--` if it begins with a dash
    #[arg(trailing_var_arg = true)]
    pub(super) parameters: Vec<String>,
    /// Where its plugin is downloaded from if it is missing
    #[arg(long, value_name = "URL")]
    pub(super) server: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  drystone schema get random@4.16.0
  drystone schema get ./bin/pulumi-resource-shop
  drystone schema get terraform-provider -- hashicorp/random 3.6.0")]
pub(super) struct GetArgs {
    #[command(flatten)]
    which: Which,
}

pub(super) async fn get(context: &Context, args: &GetArgs) -> Outcome {
    let described = described(context, &args.which).await?;
    terminal::json(&described.schema);
    Ok(())
}

/// A package, described.
pub(super) struct Described {
    /// Its schema.
    pub(super) schema: serde_json::Value,
    /// Whether a file says so, rather than a plugin.
    pub(super) is_file: bool,
}

impl Described {
    /// A text of the schema, or nothing.
    pub(super) fn text(&self, pointer: &str) -> Option<&str> {
        self.schema.pointer(pointer)?.as_str().filter(|text| !text.is_empty())
    }
}

/// What a package says of itself.
pub(super) async fn described(context: &Context, which: &Which) -> Outcome<Described> {
    let path = Path::new(&which.provider);
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let is_file = ["json", "yaml", "yml"].contains(&extension);
    let text = match is_file {
        true => {
            if !which.parameters.is_empty() {
                return Err(Failure::configuration("a file cannot be parameterised")
                    .hint("name the plugin instead, and what it is parameterised with"));
            }
            of_file(&context.environment.resolve(path), extension)?
        }
        false => of_plugin(context, which).await?,
    };
    let wrong = |why: &str| {
        let message = format!("what `{}` says of itself is no schema: {why}", which.provider);
        Failure::general(message).hint("it is told by the plugin; a newer version of it may know better")
    };
    let schema: serde_json::Value = serde_json::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
    let described = Described { schema, is_file };
    match described.text("/name") {
        Some(_) => Ok(described),
        None => Err(wrong("it has no `name`")),
    }
}

fn of_file(path: &Path, extension: &str) -> Outcome<String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::configuration(format!("`{}` cannot be read: {error}", path.display())))?;
    if extension == "json" {
        return Ok(text);
    }
    let value = drystone_workspace::parse_yaml(&text)
        .map_err(|error| Failure::configuration(format!("`{}`: {error}", path.display())))?;
    Ok(value.to_json())
}

async fn of_plugin(context: &Context, which: &Which) -> Outcome<String> {
    let project = context.project()?;
    let hosting = Hosting::alone(context, project.as_ref(), USUAL_ECOSYSTEM).await?;
    let working = terminal::working("asking for the schema");
    let asked = tokio::select! {
        asked = ask(&hosting, which) => asked.map_err(|error| {
            Failure::new(ExitCode::Resource, format!("the schema of `{}` is not known", which.provider))
                .detail(error.message)
        }),
        _ = tokio::signal::ctrl_c() => Err(Failure::new(ExitCode::Cancelled, "cancelled")),
    };
    drop(working);
    hosting.close().await;
    asked
}

async fn ask(hosting: &Hosting, which: &Which) -> Result<String, ProviderError> {
    let is_path = which.provider.starts_with(['.', '/']);
    let (name, version) = match which.provider.split_once('@') {
        Some((name, version)) if !is_path => (name, version),
        _ => (which.provider.as_str(), ""),
    };
    let package = PackageDescriptor {
        name: name.to_owned(),
        version: version.trim_start_matches('v').to_owned(),
        download_url: which.server.clone().unwrap_or_default(),
        ..PackageDescriptor::default()
    };
    let hosted = hosting.hosted();
    if let Some(provider) = hosted.in_process(&package) {
        return schema(provider.as_ref(), &which.parameters).await;
    }
    schema(&hosted.provider(&package).await?, &which.parameters).await
}

async fn schema(provider: &dyn Provider, parameters: &[String]) -> Result<String, ProviderError> {
    if parameters.is_empty() {
        return provider.schema(None).await;
    }
    let arguments = ParameterizeArguments::Arguments(parameters.to_vec());
    let (name, version) = provider.parameterize(arguments).await?;
    provider.schema(Some(Parameterization { name, version, value: Vec::new() })).await
}
