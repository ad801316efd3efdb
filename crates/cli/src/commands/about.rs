//! `about`: what this is, what it runs on, and what it would work with.

use super::identity::{Format, PULUMI_VERSION};
use super::install::{Opened, told};
use crate::backend::Backend;
use crate::context::Context;
use crate::report::Outcome;
use crate::terminal;
use clap::Args;
use drystone_model::Snapshot;
use drystone_plugins::languages::{About, Program};
use drystone_plugins::proto::pulumirpc::PackageDependency;
use drystone_stores::{Host, StackId, SystemHost};
use serde_json::{Value, json};

#[derive(Debug, Args)]
pub(crate) struct AboutArgs {
    #[command(flatten)]
    format: Format,
    /// Accepted for the stock CLI's sake
    #[arg(short, long, hide = true)]
    transitive: bool,
}

/// What could be found out, and what could not.
#[derive(Default)]
struct Found {
    project: Option<String>,
    backend: Option<Backend>,
    stack: Option<(StackId, Snapshot)>,
    language: Option<(String, About)>,
    plugins: Vec<PackageDependency>,
    errors: Vec<String>,
}

/// Prints it. What cannot be found out is told, and fails nothing.
pub(crate) async fn run(context: &Context, args: &AboutArgs) -> Outcome {
    let found = find(context).await;
    if args.format.is_json() {
        terminal::json(&as_json(&found));
    } else {
        terminal::data(&terminal::table(&as_rows(&found)));
        for error in &found.errors {
            terminal::warning(error);
        }
    }
    Ok(())
}

async fn find(context: &Context) -> Found {
    let mut found = Found::default();
    match context.require_project() {
        Ok(project) => {
            found.project = Some(project.name);
            if let Err(failure) = find_language(context, &mut found).await {
                found
                    .errors
                    .push(format!("Failed to get information about the language: {}", failure.message));
            }
        }
        Err(failure) => found.errors.push(format!("Failed to read project: {}", failure.message)),
    }
    match context.backend().await {
        Ok(backend) => {
            match context.current(&backend, None).await {
                Ok((stack, recorded)) => found.stack = Some((stack, recorded.snapshot)),
                Err(failure) => found
                    .errors
                    .push(format!("Failed to get information about the current stack: {}", failure.message)),
            }
            found.backend = Some(backend);
        }
        Err(failure) => found.errors.push(format!("Could not access the backend: {}", failure.message)),
    }
    found
}

/// Looks for what runs the project's program, and for the plugins that it needs.
async fn find_language(context: &Context, found: &mut Found) -> Outcome {
    let project = context.require_project()?;
    let program = Program::of(&project).map_err(|error| told(&error))?;
    let opened = Opened::new(context, &program).await?;
    let about = opened.language.about(&program).await;
    let required = opened.language.required_packages(&program).await;
    opened.close().await;
    found.language = Some((program.runtime.name.clone(), about.map_err(|error| told(&error))?));
    found.plugins = required.map_err(|error| told(&error))?.packages;
    Ok(())
}

/// The members of the stock CLI, in its order.
fn as_json(found: &Found) -> Value {
    let (name, version) = system();
    let host = SystemHost;
    let plugins = found.plugins.iter().map(|plugin| {
        json!({ "name": plugin.name, "version": plugin.version.trim_start_matches('v'), "kind": plugin.kind })
    });
    json!({
        "plugins": if found.plugins.is_empty() { Value::Null } else { plugins.collect() },
        "host": { "os": name, "version": version, "arch": std::env::consts::ARCH },
        "backend": found.backend.as_ref().map(|backend| json!({
            "name": host.hostname(), "url": backend.to_string(), "user": host.user(), "organizations": null,
        })),
        "currentStack": found.stack.as_ref().map(|(stack, snapshot)| stack_json(stack, snapshot)),
        "cliAbout": {
            "version": PULUMI_VERSION.trim_start_matches('v'), "goVersion": "", "goCompiler": "",
            "drystoneVersion": env!("CARGO_PKG_VERSION"),
        },
        "runtime": found.language.as_ref().map(|(name, about)| json!({
            "language": name, "executable": about.executable, "version": about.version,
        })),
        "dependencies": null,
        "errors": found.errors,
    })
}

fn stack_json(stack: &StackId, snapshot: &Snapshot) -> Value {
    let brief = |kind: &str, urn: &str| json!({ "type": kind, "urn": urn });
    let resources: Vec<Value> = snapshot
        .resources
        .iter()
        .map(|resource| brief(resource.urn.type_token(), resource.urn.as_str()))
        .collect();
    let pending: Vec<Value> = snapshot
        .pending_operations
        .iter()
        .map(|operation| brief(operation.resource.urn.type_token(), operation.resource.urn.as_str()))
        .collect();
    json!({
        "name": stack.name(), "fullyQualifiedName": stack.qualified(),
        "resources": resources, "pendingOps": pending,
    })
}

fn as_rows(found: &Found) -> Vec<Vec<String>> {
    let (name, version) = system();
    let host = SystemHost;
    let or = |text: Option<String>, otherwise: &str| text.unwrap_or_else(|| otherwise.to_owned());
    let stack = found.stack.as_ref().map(|(stack, snapshot)| {
        let pending = match snapshot.pending_operations.len() {
            0 => String::new(),
            count => format!(", {count} pending operations"),
        };
        format!("{stack} ({} resources{pending})", snapshot.resources.len())
    });
    let language = found.language.as_ref();
    let language = language.map(|(name, about)| format!("{name} {} ({})", about.version, about.executable));
    [
        ("Drystone", env!("CARGO_PKG_VERSION").to_owned()),
        ("Stands in for", format!("Pulumi {PULUMI_VERSION}")),
        ("Machine", format!("{name} {version} {}", std::env::consts::ARCH).replace("  ", " ")),
        ("User", format!("{}@{}", host.user(), host.hostname())),
        ("Backend", or(found.backend.as_ref().map(ToString::to_string), "not logged in")),
        ("Project", or(found.project.clone(), "none here")),
        ("Stack", or(stack, "none selected")),
        ("Language", or(language, "none here")),
    ]
    .into_iter()
    .map(|(name, value)| vec![name.to_owned(), value])
    .collect()
}

/// The name and version of the operating system.
fn system() -> (String, String) {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let member = |name: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.map(|value| value.trim_matches('"').to_owned())
    };
    (
        member("ID").unwrap_or_else(|| std::env::consts::OS.to_owned()),
        member("VERSION_ID").unwrap_or_default(),
    )
}
