//! Where state is kept, who asks, and what this is: `login`, `logout`, `whoami`, `about`, `version`, `completion`.

use crate::app::App;
use crate::backend::{Backend, FILE};
use crate::context::Context;
use crate::report::{Failure, Outcome};
use crate::terminal;
use clap::{Args, CommandFactory};
use drystone_stores::{Host, SystemHost};
use drystone_workspace::home::{Account, CredentialsFile};
use serde_json::json;

/// The version of the stock CLI whose commands and shapes these are. The SDKs refuse to drive anything older.
const PULUMI_VERSION: &str = "v3.259.0";

#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    /// The backend: `file://PATH`
    url: Option<String>,
    /// Keep state in the home folder
    #[arg(short, long, conflicts_with_all = ["url", "cloud_url"])]
    local: bool,
    /// The backend, as an option
    #[arg(short, long, value_name = "URL", conflicts_with = "url")]
    cloud_url: Option<String>,
    /// Accepted for the stock CLI's sake
    #[arg(long, hide = true)]
    insecure: bool,
    /// Accepted for the stock CLI's sake
    #[arg(long, hide = true)]
    default_org: Option<String>,
}

/// Makes a backend the current one.
pub(crate) async fn login(context: &Context, args: &LoginArgs) -> Outcome {
    let local = args.local.then(|| format!("{FILE}~"));
    let named = local.or_else(|| args.url.clone()).or_else(|| args.cloud_url.clone());
    let from_environment = || context.environment.filled_variable("PULUMI_BACKEND_URL");
    let url = named.or_else(from_environment).ok_or_else(|| {
        Failure::configuration("which backend?")
            .hint("keep state on this machine with `drystone login --local`, or in a directory with `drystone login file://PATH`")
    })?;
    let backend = Backend::open(&context.environment, &url)?;
    // A backend that cannot be read is refused before it becomes the current one.
    backend.store().stacks(None).await?;
    let mut credentials = CredentialsFile::open(&context.environment).map_err(Failure::configuration)?;
    credentials.credentials.log_in(&url, Account::default());
    credentials.save().map_err(Failure::configuration)?;
    let host = SystemHost;
    terminal::line(format!("Logged in to {} as {} ({url})", host.hostname(), host.user()));
    Ok(())
}

#[derive(Debug, Args)]
pub(crate) struct LogoutArgs {
    /// The backend; the current one by default
    url: Option<String>,
    /// The backend in the home folder
    #[arg(short, long, conflicts_with = "url")]
    local: bool,
    /// The backend, as an option
    #[arg(short, long, value_name = "URL", conflicts_with = "url")]
    cloud_url: Option<String>,
    /// Every backend
    #[arg(long)]
    all: bool,
}

/// Forgets one backend, or all.
pub(crate) fn logout(context: &Context, args: &LogoutArgs) -> Outcome {
    if args.all {
        CredentialsFile::log_out_of_everything(&context.environment).map_err(Failure::configuration)?;
        terminal::line("Logged out of everything");
        return Ok(());
    }
    let mut credentials = CredentialsFile::open(&context.environment).map_err(Failure::configuration)?;
    let local = args.local.then(|| format!("{FILE}~"));
    let named = local.or_else(|| args.url.clone()).or_else(|| args.cloud_url.clone());
    let Some(url) = named.or_else(|| credentials.credentials.current.clone()) else {
        terminal::line("Not logged in to anything");
        return Ok(());
    };
    let known = credentials.log_out(&context.environment, &url).map_err(Failure::configuration)?;
    credentials.save().map_err(Failure::configuration)?;
    terminal::line(if known { format!("Logged out of {url}") } else { format!("Not logged in to {url}") });
    Ok(())
}

#[derive(Debug, Args)]
pub(crate) struct WhoamiArgs {
    /// Print JSON
    #[arg(short, long)]
    json: bool,
    /// Say more
    #[arg(long = "details")]
    details: bool,
}

/// Prints the user that the backend knows.
pub(crate) fn whoami(context: &Context, args: &WhoamiArgs) -> Outcome {
    let backend = context.backend()?;
    let user = SystemHost.user();
    if args.json {
        terminal::json(&json!({ "user": user, "url": backend.url }));
    } else if args.details {
        terminal::line(format!("User: {user}"));
        terminal::line(format!("Backend URL: {}", backend.url));
    } else {
        terminal::line(user);
    }
    Ok(())
}

#[derive(Debug, Args)]
pub(crate) struct AboutArgs {
    /// Print JSON
    #[arg(short, long)]
    json: bool,
}

/// Prints what this is, what it runs on, and what it would work with.
pub(crate) fn about(context: &Context, args: &AboutArgs) -> Outcome {
    let version = env!("CARGO_PKG_VERSION");
    let project = context.project()?;
    let backend = context.backend().ok();
    let host = SystemHost;
    if args.json {
        terminal::json(&json!({
            "cliAbout": { "version": PULUMI_VERSION.trim_start_matches('v'), "drystoneVersion": version },
            "host": { "os": std::env::consts::OS, "arch": std::env::consts::ARCH },
            "backend": backend.as_ref().map(|backend| json!({
                "name": host.hostname(), "url": backend.url, "user": host.user(),
            })),
            "currentProject": project.as_ref().map(|project| json!({ "name": project.name })),
        }));
        return Ok(());
    }
    let mut rows = vec![
        vec!["Drystone".to_owned(), version.to_owned()],
        vec!["Stands in for".to_owned(), format!("Pulumi {PULUMI_VERSION}")],
        vec!["Machine".to_owned(), format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)],
        vec!["User".to_owned(), format!("{}@{}", host.user(), host.hostname())],
    ];
    rows.push(vec![
        "Backend".to_owned(),
        backend.map_or_else(|| "not logged in".to_owned(), |backend| backend.url),
    ]);
    rows.push(vec![
        "Project".to_owned(),
        project.map_or_else(|| "none here".to_owned(), |project| project.name),
    ]);
    terminal::data(&terminal::table(&rows));
    Ok(())
}

/// Prints the version: under the stock CLI's name the one that its SDKs expect, else our own.
pub(crate) fn version() -> Outcome {
    let name = std::env::args_os().next().map(std::path::PathBuf::from);
    let stands_in = name.as_deref().and_then(|name| name.file_stem()).is_some_and(|name| name == "pulumi");
    terminal::line(if stands_in { PULUMI_VERSION } else { concat!("v", env!("CARGO_PKG_VERSION")) });
    Ok(())
}

#[derive(Debug, Args)]
pub(crate) struct CompletionArgs {
    /// The shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Prints the completion script of a shell.
pub(crate) fn completion(args: &CompletionArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut App::command(), "drystone", &mut script);
    terminal::data_with(|out| out.write_all(&script));
    Ok(())
}
