//! Where state is kept and who asks: `login`, `logout`, `whoami`, `version`, `completion`.

use crate::app::App;
use crate::backend::{Backend, FILE, masked};
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::{Args, CommandFactory};
use drystone_stores::{Host, SystemHost};
use drystone_workspace::home::{Account, CredentialsFile, current_backend};
use serde_json::json;

/// The version of the stock CLI whose commands and shapes these are. The SDKs refuse to drive anything older.
pub(super) const PULUMI_VERSION: &str = "v3.259.0";

#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    /// The backend: `file://PATH`, `s3://BUCKET`, `gs://BUCKET`, `azblob://CONTAINER`, `postgres://HOST/DATABASE`
    url: Option<String>,
    /// Keep state in the home folder
    #[arg(short, long, conflicts_with_all = ["url", "cloud_url"])]
    local: bool,
    /// The backend, as an option
    #[arg(short, long, value_name = "URL", conflicts_with = "url")]
    cloud_url: Option<String>,
    /// Use a bucket even if its server lets two writers through at once
    #[arg(long)]
    trust_server: bool,
    /// Accepted for the stock CLI's sake
    #[arg(long, hide = true)]
    insecure: bool,
    /// Accepted for the stock CLI's sake
    #[arg(long, hide = true)]
    default_org: Option<String>,
    /// Accepted for the stock CLI's sake
    #[arg(long, hide = true)]
    interactive: bool,
}

/// Makes a backend the current one.
pub(crate) async fn login(context: &Context, args: &LoginArgs) -> Outcome {
    let named = named_backend(args.local, args.url.as_ref(), args.cloud_url.as_ref());
    let url = match &named {
        Some(url) => Some(url.clone()),
        None => current_url(context)?,
    };
    let url = url.ok_or_else(|| {
        Failure::new(ExitCode::Authentication, "which backend?")
            .hint("keep state on this machine with `drystone login --local`, or in a directory with `drystone login file://PATH`")
    })?;
    // A backend that cannot be used is refused before it becomes the current one.
    Backend::open(&context.environment, &url).await?.refuse_unfit(named.is_some(), args.trust_server).await?;
    let mut credentials = CredentialsFile::open(&context.environment).map_err(Failure::configuration)?;
    credentials.credentials.log_in(&url, Account::default());
    credentials.save().map_err(Failure::configuration)?;
    let url = masked(&url);
    if let Some(other) = context.environment.filled_variable("PULUMI_BACKEND_URL")
        && masked(&other) != url
    {
        let other = masked(&other);
        terminal::warning(format!("PULUMI_BACKEND_URL is set, and {other} stays in use while it is"));
    }
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
    let named = named_backend(args.local, args.url.as_ref(), args.cloud_url.as_ref());
    let url = match named {
        Some(url) => Some(url),
        None => current_url(context)?,
    };
    let Some(url) = url else {
        terminal::line("Not logged in to anything");
        return Ok(());
    };
    let known = credentials.log_out(&context.environment, &url).map_err(Failure::configuration)?;
    credentials.save().map_err(Failure::configuration)?;
    let url = masked(&url);
    terminal::line(if known { format!("Logged out of {url}") } else { format!("Not logged in to {url}") });
    Ok(())
}

/// The backend that the command line names.
fn named_backend(local: bool, url: Option<&String>, option: Option<&String>) -> Option<String> {
    local.then(|| format!("{FILE}~")).or_else(|| url.or(option).cloned())
}

/// The backend in use: of the environment, of the project, or the one last logged in to.
fn current_url(context: &Context) -> Outcome<Option<String>> {
    let project = context.project()?;
    let current = current_backend(&context.environment, project.as_ref()).map_err(Failure::configuration)?;
    Ok(current.map(|current| current.url))
}

/// How a command answers.
#[derive(Debug, Args)]
pub(crate) struct Format {
    /// Print JSON
    #[arg(short, long)]
    json: bool,
    /// How to print: default or json
    #[arg(long, value_name = "FORMAT", value_parser = ["default", "json"])]
    output: Option<String>,
}

impl Format {
    pub(super) fn is_json(&self) -> bool {
        self.json || self.output.as_deref() == Some("json")
    }
}

#[derive(Debug, Args)]
pub(crate) struct WhoamiArgs {
    #[command(flatten)]
    format: Format,
}

/// Prints the user that the backend knows.
pub(crate) fn whoami(context: &Context, args: &WhoamiArgs) -> Outcome {
    let url = masked(&context.backend_url()?);
    let user = SystemHost.user();
    if args.format.is_json() {
        terminal::json(&json!({ "user": user, "url": url }));
    } else if context.globals.verbose.is_some() {
        terminal::line(format!("User: {user}"));
        terminal::line("Organizations: ");
        terminal::line(format!("Backend URL: {url}"));
        terminal::line("Token type: personal");
    } else {
        terminal::line(user);
    }
    Ok(())
}

/// Prints the version: under the stock CLI's name the one that its SDKs expect, else our own.
pub(crate) fn version() -> Outcome {
    terminal::line(if stands_in() { PULUMI_VERSION } else { concat!("v", env!("CARGO_PKG_VERSION")) });
    Ok(())
}

/// Whether we are called by the stock CLI's name.
fn stands_in() -> bool {
    let name = std::env::args_os().next().map(std::path::PathBuf::from);
    name.as_deref().and_then(|name| name.file_stem()).is_some_and(|name| name == "pulumi")
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
    let name = if stands_in() { "pulumi" } else { "drystone" };
    clap_complete::generate(args.shell, &mut App::command(), name, &mut script);
    terminal::data_with(|out| out.write_all(&script));
    Ok(())
}
