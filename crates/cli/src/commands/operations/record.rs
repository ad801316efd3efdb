//! The record of an operation for the stack's history, as the stock CLI writes it.

use super::git::Gathering;
use super::request::Request;
use super::subject::Subject;
use crate::app::App;
use crate::commands::identity::PULUMI_VERSION;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::words;
use clap::CommandFactory;
use clap::parser::ValueSource;
use drystone_dialects::pulumi::history::UpdateRecord;
use drystone_engine::Report;
use drystone_model::Json;
use drystone_workspace::config::Config;
use jiff::Timestamp;
use std::collections::BTreeMap;

/// A record that waits for its operation to end.
#[derive(Debug)]
pub(super) struct OpenRecord {
    record: UpdateRecord,
    git: Gathering,
}

impl OpenRecord {
    /// Begins the record of an operation that begins.
    pub(super) fn begin(context: &Context, request: &Request, subject: &Subject) -> Outcome<Self> {
        let record = UpdateRecord {
            kind: request.kind.recorded().to_owned(),
            start_time: Timestamp::now().as_second(),
            message: request.run.message.clone(),
            environment: Some(environment(request, subject)),
            config: Some(config(&subject.config)?),
            ..UpdateRecord::default()
        };
        let git = Gathering::start(&context.environment, subject.project.directory());
        Ok(Self { record, git })
    }

    /// The record of an operation that ended.
    pub(super) fn end(self, report: &Report, succeeded: bool) -> Outcome<(UpdateRecord, Json)> {
        let Self { mut record, git } = self;
        let facts = git.finish();
        if record.message.is_empty() {
            record.message = facts.title;
        }
        record.environment.get_or_insert_default().extend(facts.environment);
        record.result = if succeeded { "succeeded" } else { "failed" }.to_owned();
        record.end_time = Timestamp::now().as_second();
        record.resource_changes = report
            .changes
            .iter()
            .map(|(op, count)| (op.to_string(), i64::try_from(*count).unwrap_or(i64::MAX)))
            .collect();
        let internal = |error: &dyn std::fmt::Display| {
            Failure::new(ExitCode::Internal, format!("writing the record of the update: {error}"))
        };
        let bytes = record.to_vec().map_err(|error| internal(&error))?;
        let text = String::from_utf8(bytes).map_err(|error| internal(&error))?;
        let json = Json::parse(text).map_err(|error| internal(&error))?;
        Ok((record, json))
    }
}

/// The configuration with its secrets sealed.
pub(super) fn config(config: &Config) -> Outcome<Json> {
    let members: serde_json::Map<String, serde_json::Value> = config
        .iter()
        .map(|(key, value)| {
            // Only lists and named values keep their types in configuration.
            let json = if value.is_object() || value.is_secure() {
                value.to_json()
            } else {
                serde_json::Value::String(value.text(&mut |_| "".into())).to_string()
            };
            serde_json::from_str(&json).map(|json| (key.to_string(), json))
        })
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::new(ExitCode::Internal, error))?;
    Json::from_serialize(&members).map_err(|error| Failure::new(ExitCode::Internal, error))
}

/// Where an operation runs and from what, by the names that the stock CLI gives to it all.
fn environment(request: &Request, subject: &Subject) -> BTreeMap<String, String> {
    let mut facts: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.to_str()?;
            name.starts_with("PULUMI_")
                .then(|| (format!("pulumi.env.{name}"), setness(name, &value.to_string_lossy()).to_owned()))
        })
        .collect();
    facts.extend(given_options());
    let kind = match request.run.exec_kind.as_str() {
        kind @ ("auto.local" | "auto.inline") => kind,
        _ => "cli",
    };
    let runtime = subject.project.runtime.as_ref().map(|runtime| runtime.name.clone());
    let fixed = [
        ("pulumi.version", PULUMI_VERSION.to_owned()),
        ("pulumi.os", os().to_owned()),
        ("pulumi.arch", arch().to_owned()),
        ("exec.kind", kind.to_owned()),
        ("exec.agent", request.run.exec_agent.clone()),
        ("updatePlan", request.plan.is_named().to_string()),
        ("stack.environments", "[]".to_owned()),
        ("runtime.name", runtime.unwrap_or_default()),
    ];
    facts.extend(
        fixed
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name.to_owned(), value)),
    );
    facts
}

/// The variables of the stock CLI that are true or false, without `PULUMI_`.
const SWITCHES: [&str; 34] = [
    "AUTOMATION_API_SKIP_VERSION_CHECK",
    "CONTINUE_ON_ERROR",
    "DEBUG_COMMANDS",
    "DEV",
    "DISABLE_AUTOMATIC_PLUGIN_ACQUISITION",
    "DISABLE_JOURNALING",
    "DISABLE_OUTPUT_VALUES",
    "DISABLE_PROVIDER_PREVIEW",
    "DISABLE_REGISTRY_RESOLVE",
    "DISABLE_RESOURCE_REFERENCES",
    "DISABLE_SECRET_CACHE",
    "DISABLE_VALIDATION",
    "DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS",
    "DIY_BACKEND_GZIP",
    "DIY_BACKEND_IGNORE_DEPRECATION_ERROR",
    "DIY_BACKEND_LEGACY_LAYOUT",
    "DIY_BACKEND_NO_LEGACY_WARNING",
    "DIY_BACKEND_RETAIN_CHECKPOINTS",
    "DIY_BACKEND_ZSTD",
    "ENABLE_LEGACY_DIFF",
    "ENABLE_LEGACY_REFRESH_DIFF",
    "ENABLE_STREAMING_JSON_PREVIEW",
    "ERROR_ON_DEPENDENCY_CYCLES",
    "ERROR_OUTPUT_STRING",
    "EXPERIMENTAL",
    "FALLBACK_TO_STATE_SECRETS_MANAGER",
    "IGNORE_AMBIENT_PLUGINS",
    "NEO",
    "PARALLEL_DIFF",
    "RUN_PROGRAM",
    "SKIP_CHECKPOINTS",
    "SKIP_CONFIRMATIONS",
    "SKIP_UPDATE_CHECK",
    "SUPPRESS_NEO_LINK",
];

/// Whether a variable is set, or what a truth value says. Values themselves are nobody's business.
fn setness(name: &str, value: &str) -> &'static str {
    let switch = name.strip_prefix("PULUMI_").is_some_and(|name| SWITCHES.contains(&name));
    match value {
        _ if !switch => "set",
        "1" => "true",
        value if value.eq_ignore_ascii_case("true") => "true",
        _ => "false",
    }
}

/// The options of the command line by name, and whether each is on.
fn given_options() -> BTreeMap<String, String> {
    let mut command = App::command();
    let words = words::of_process(&command);
    let Ok(matches) = command.try_get_matches_from_mut(words) else { return BTreeMap::new() };
    let Some((name, matches)) = matches.subcommand() else { return BTreeMap::new() };
    let Some(command) = command.find_subcommand(name) else { return BTreeMap::new() };
    let given = command.get_arguments().filter_map(|argument| {
        let id = argument.get_id().as_str();
        let long = argument.get_long()?;
        (matches.value_source(id) == Some(ValueSource::CommandLine)).then(|| {
            let value = match matches.try_get_one::<bool>(id) {
                Ok(Some(true)) => "true",
                Ok(Some(false)) => "false",
                _ => "set",
            };
            (format!("pulumi.flag.{long}"), value.to_owned())
        })
    });
    given.collect()
}

/// The system, as Go names it.
fn os() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    }
}

/// The processor, as Go names it.
fn arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    }
}
