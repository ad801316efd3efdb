//! The commands, a file or folder each.

mod about;
mod cancel;
mod cdk;
mod config;
mod debug;
mod demo;
mod identity;
mod install;
mod manual;
mod missing;
mod new;
mod operations;
mod package;
mod plugin;
mod policy;
mod stack;
mod state;

pub(crate) use identity::version;

use crate::context::Context;
use crate::report::Outcome;
use clap::Subcommand;
use std::ffi::OsString;

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(visible_alias = "update")]
    Up(Box<operations::UpArgs>),
    #[command(visible_alias = "pre")]
    Preview(Box<operations::PreviewArgs>),
    Refresh(Box<operations::RefreshArgs>),
    Import(Box<operations::ImportArgs>),
    #[command(visible_aliases = ["down", "dn"])]
    Destroy(Box<operations::DestroyArgs>),
    Watch(Box<operations::WatchArgs>),
    /// Make, list, look at and change stacks
    Stack(stack::StackArgs),
    /// Look at and mend the state of a stack
    State(state::StateArgs),
    /// Read and change the configuration of a stack
    Config(config::ConfigArgs),
    /// End the update that is running on a stack
    Cancel(cancel::CancelArgs),
    New(Box<new::NewArgs>),
    /// Install what the project depends on
    Install(install::InstallArgs),
    /// Install, list, run and remove plugins
    Plugin(plugin::PluginArgs),
    /// Add packages to the project, and look at them
    Package(package::PackageArgs),
    /// Look at what packages say of themselves
    Schema(package::SchemaArgs),
    /// Judge states by policy packs
    Policy(policy::PolicyArgs),
    /// Look at and mend the stacks that cdkd keeps in a bucket
    Cdk(cdk::CdkArgs),
    /// Choose where state is kept
    Login(identity::LoginArgs),
    /// Forget where state is kept
    Logout(identity::LogoutArgs),
    /// Show who you are to the backend; with `--verbose`, the backend too
    Whoami(identity::WhoamiArgs),
    /// Show what this is and what it runs on
    About(about::AboutArgs),
    /// Print the version
    Version,
    /// Print a completion script for a shell
    #[command(alias = "gen-completion")]
    Completion(identity::CompletionArgs),
    Man(manual::ManArgs),
    /// Show what the state commands do, on a stack of its own
    Demo(demo::DemoArgs),
    /// For tests and support
    #[command(hide = true)]
    Debug(debug::DebugArgs),
    /// Anything else.
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

/// Runs a command.
pub(crate) async fn run(context: &Context, command: Command) -> Outcome {
    match command {
        Command::Up(args) => operations::up(context, *args).await,
        Command::Preview(args) => operations::preview(context, *args).await,
        Command::Refresh(args) => operations::refresh(context, *args).await,
        Command::Import(args) => operations::import(context, *args).await,
        Command::Destroy(args) => operations::destroy(context, *args).await,
        Command::Watch(args) => operations::watch(context, *args).await,
        Command::Stack(args) => stack::run(context, args).await,
        Command::State(args) => state::run(context, args).await,
        Command::Config(args) => config::run(context, args).await,
        Command::Cancel(args) => cancel::run(context, args).await,
        Command::New(args) => new::run(context, *args).await,
        Command::Install(args) => install::run(context, &args).await,
        Command::Plugin(args) => plugin::run(context, args).await,
        Command::Package(args) => package::run(context, args).await,
        Command::Schema(args) => package::schema(context, args).await,
        Command::Policy(args) => policy::run(context, args).await,
        Command::Cdk(args) => cdk::run(context, args).await,
        Command::Login(args) => identity::login(context, &args).await,
        Command::Logout(args) => identity::logout(context, &args),
        Command::Whoami(args) => identity::whoami(context, &args),
        Command::About(args) => about::run(context, &args).await,
        Command::Version => version(),
        Command::Completion(args) => identity::completion(&args),
        Command::Man(args) => manual::man(context, &args),
        Command::Demo(args) => demo::run(&args),
        Command::Debug(args) => debug::run(&args).await,
        Command::Other(words) => missing::run(&words),
    }
}
