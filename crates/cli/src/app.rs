//! The command line: what all commands share, and which there are.

use crate::commands::{Command, version};
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::{Args, Parser, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Runs infrastructure programs and keeps their state safe.
#[derive(Debug, Parser)]
#[command(
    name = "drystone",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    args_override_self = true
)]
pub(crate) struct App {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Color {
    /// When it goes to a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
    /// Never; the stock CLI's word for unprocessed colour codes.
    Raw,
}

/// What every command takes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// The stack to operate on; the selected one by default
    #[arg(short, long, global = true, value_name = "NAME")]
    pub(crate) stack: Option<String>,
    /// Run as if started in this folder
    #[arg(short = 'C', long, global = true, value_name = "FOLDER")]
    pub(crate) cwd: Option<PathBuf>,
    /// Never ask; fail where an answer would be needed
    #[arg(long, global = true)]
    pub(crate) non_interactive: bool,
    /// Wait for a stack that somebody else is updating, at most as long as given (`90s`, `10m`, `1h`)
    #[arg(long, global = true, value_name = "DURATION", num_args = 0..=1, require_equals = true,
          default_missing_value = "24h", value_parser = parse_duration)]
    pub(crate) wait: Option<Duration>,
    /// Colour the output
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Show stack names in full
    #[arg(short = 'Q', long, global = true)]
    pub(crate) fully_qualify_stack_names: bool,
    /// Work on a state that breaks its rules
    #[arg(long, global = true)]
    pub(crate) disable_integrity_checking: bool,
    /// Say more, where a command has more to say
    #[arg(short, long, global = true, value_name = "LEVEL", num_args = 0..=1, default_missing_value = "1")]
    pub(crate) verbose: Option<i64>,
    #[command(flatten)]
    pub(crate) plugin_logs: PluginLogs,
    /// Accepted for the stock CLI's sake.
    #[command(flatten)]
    pub(crate) ignored: Ignored,
}

/// Options of the stock CLI that change nothing here.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Ignored {
    #[arg(short, long, global = true, hide = true)]
    emoji: bool,
    #[arg(long, global = true, hide = true)]
    memprofilerate: Option<i64>,
    #[arg(long, global = true, hide = true)]
    otel_traces: Option<String>,
    #[arg(long, global = true, hide = true)]
    profiling: Option<String>,
    #[arg(long, global = true, hide = true)]
    tracing_header: Option<String>,
}

/// What plugins are told of logs and traces.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PluginLogs {
    /// Tell plugins the options of logs, too
    #[arg(long, global = true, hide = true)]
    logflow: bool,
    /// Log to stderr
    #[arg(long, global = true, hide = true)]
    logtostderr: bool,
    /// Where traces go
    #[arg(long, global = true, hide = true)]
    tracing: Option<String>,
}

impl Globals {
    /// The arguments of every plugin that is started.
    pub(crate) fn plugin_flags(&self) -> Vec<String> {
        let PluginLogs { logflow, logtostderr, tracing } = &self.plugin_logs;
        let mut flags = Vec::new();
        if *logflow {
            flags.extend(logtostderr.then(|| "--logtostderr".to_owned()));
            flags.extend(self.verbose.filter(|level| *level > 0).map(|level| format!("-v={level}")));
        }
        flags.extend(tracing.iter().flat_map(|address| ["--tracing".to_owned(), address.clone()]));
        flags
    }
}

/// Shows what the parser has to say: help and versions are not failures.
pub(crate) fn explain(error: &clap::Error) -> Outcome {
    use clap::error::ErrorKind;
    match error.kind() {
        ErrorKind::DisplayHelp => {
            terminal::data(&error.to_string());
            Ok(())
        }
        ErrorKind::DisplayVersion => version(),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(Failure::new(ExitCode::Configuration, "a command is missing")
                .detail(error.to_string().trim_end())
                .hint("`drystone --help` lists the commands"))
        }
        _ => {
            let text = error.to_string();
            let message = text.trim_start_matches("error: ");
            let (first, rest) = message.split_once('\n').unwrap_or((message, ""));
            let mut failure = Failure::new(ExitCode::Configuration, first);
            for line in rest.lines().map(str::trim).filter(|line| !line.is_empty()) {
                match line.strip_prefix("tip: ") {
                    Some(tip) => failure.hints.push(tip.to_owned()),
                    None if line.starts_with("For more information") => {}
                    None => failure.details.push(line.to_owned()),
                }
            }
            if failure.hints.is_empty() {
                failure.hints.push("`--help` after the command lists what it takes".to_owned());
            }
            Err(failure)
        }
    }
}

/// Reads `90s`, `10m`, `1h30m` or plain seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse::<u64>() {
        return Ok(Duration::from_secs(seconds));
    }
    let span: jiff::SignedDuration =
        text.parse().map_err(|_| format!("`{text}` is not a duration such as 90s, 10m or 1h"))?;
    Duration::try_from(span).map_err(|_| format!("`{text}` is not a duration in the future"))
}
