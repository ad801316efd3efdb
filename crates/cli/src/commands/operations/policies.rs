//! The policy packs of an operation: which the command line names, and starting them.

use super::flow::ORGANIZATION;
use super::subject::Subject;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use clap::Args;
use drystone_engine::{
    Analyzer, CancelLevel, Cancellation, Diagnostic, Event, EventSink, Options, PolicyEvent, Report, Severity,
};
use drystone_plugins::analyzer::{AnalyzerOptions, GrpcAnalyzer, PackError, PolicySettings, SettingsError};
use drystone_plugins::languages::{PluginError, PluginHost, PolicyRun};
use drystone_plugins::monitor::Endpoint;
use std::path::PathBuf;
use std::sync::Arc;

/// Which policy packs run.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Policies")]
pub(in crate::commands) struct PolicyFlags {
    /// Hold the operation to the policy pack in this folder
    #[arg(long, value_name = "FOLDER", value_delimiter = ',')]
    policy_pack: Vec<String>,
    /// The settings of the policy pack, a JSON file; one for each `--policy-pack`, in the same order
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    policy_pack_config: Vec<String>,
}

/// A policy pack that the command line names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) struct NamedPack {
    /// Its folder, as it is named.
    folder: String,
    /// The file with its settings.
    settings: Option<String>,
}

impl PolicyFlags {
    /// The packs with their settings.
    pub(in crate::commands) fn packs(self) -> Outcome<Vec<NamedPack>> {
        let (packs, settings) = (self.policy_pack, self.policy_pack_config);
        match (packs.len(), settings.len()) {
            (_, 0) => {}
            (0, _) => {
                return Err(Failure::configuration(
                    "\"--policy-pack-config\" must be specified with \"--policy-pack\"",
                ));
            }
            (packs, settings) if packs != settings => {
                return Err(Failure::configuration(
                    "the number of \"--policy-pack-config\" flags must match the number of \"--policy-pack\" flags",
                )
                .hint("a pack without settings of its own gets an empty file"));
            }
            _ => {}
        }
        let mut settings = settings.into_iter();
        Ok(packs.into_iter().map(|folder| NamedPack { folder, settings: settings.next() }).collect())
    }
}

/// What starts policy packs.
pub(in crate::commands) struct Starter<'s> {
    pub(in crate::commands) host: &'s PluginHost,
    pub(in crate::commands) endpoint: &'s Endpoint,
    pub(in crate::commands) cancellation: &'s Cancellation,
    pub(in crate::commands) events: &'s Arc<dyn EventSink>,
}

/// Starts the policy packs of an operation.
pub(super) async fn load(
    context: &Context,
    starter: &Starter<'_>,
    subject: &Subject,
    options: &Options,
    packs: &[NamedPack],
) -> Outcome<Vec<Arc<dyn Analyzer>>> {
    if packs.is_empty() {
        return Ok(Vec::new());
    }
    let tags = subject.backend.store().describe(&subject.stack).await?.tags;
    let secret = subject.values.iter().filter(|(_, value)| value.secret);
    let run = PolicyRun {
        organization: ORGANIZATION.to_owned(),
        project: subject.project.name.clone(),
        stack: subject.stack.name().to_owned(),
        config: subject.values.iter().map(|(key, value)| (key.clone(), value.text.clone())).collect(),
        secret_keys: secret.map(|(key, _)| key.clone()).collect(),
        tags,
        dry_run: options.dry_run,
    };
    starter.load(context, &run, packs).await
}

impl Starter<'_> {
    /// Starts policy packs, side by side, and configures them. They keep the order in which they are named.
    pub(in crate::commands) async fn load(
        &self,
        context: &Context,
        run: &PolicyRun,
        packs: &[NamedPack],
    ) -> Outcome<Vec<Arc<dyn Analyzer>>> {
        let loading = packs.iter().map(|pack| {
            self.events.send(Event::Policy(PolicyEvent::Loading));
            self.load_one(context, run, pack)
        });
        futures::future::join_all(loading).await.into_iter().collect()
    }

    async fn load_one(
        &self,
        context: &Context,
        run: &PolicyRun,
        pack: &NamedPack,
    ) -> Outcome<Arc<dyn Analyzer>> {
        let settings = match &pack.settings {
            Some(path) => {
                let path = context.environment.resolve(path.as_ref());
                Some(PolicySettings::load(&path).map_err(settings_failure)?)
            }
            None => None,
        };
        let folder: PathBuf = context.environment.resolve(pack.folder.as_ref());
        if !folder.join("PulumiPolicy.yaml").is_file() {
            return Err(Failure::configuration(format!("there is no policy pack at `{}`", pack.folder))
                .hint("a policy pack is a folder with a `PulumiPolicy.yaml`"));
        }
        let started = tokio::select! {
            biased;
            started = self.host.start_policy_pack(&folder, run) => started,
            () = self.cancellation.requested(CancelLevel::Graceful) => {
                return Err(Failure::new(ExitCode::Cancelled, "cancelled while policy packs were starting"));
            }
        };
        let started = started.map_err(|error| start_failure(pack, &error))?;
        let options = AnalyzerOptions {
            named: pack.folder.clone(),
            folder: started.folder,
            version: started.project.version,
            endpoint: self.endpoint.clone(),
            cancellation: self.cancellation.clone(),
        };
        let channel = started.plugin.channel();
        let connected = GrpcAnalyzer::connect(channel, options, run, Some(started.plugin)).await;
        let mut analyzer = connected.map_err(|error| pack_failure(pack, error))?;
        let strangers = analyzer.configure(settings).await.map_err(|error| pack_failure(pack, error))?;
        for stranger in strangers {
            self.warn(format!(
                "`{}` has settings for the policy `{stranger}`, which {} does not have",
                pack.settings.as_deref().unwrap_or_default(),
                analyzer.pack().name
            ));
        }
        Ok(Arc::new(analyzer))
    }

    fn warn(&self, message: String) {
        let urn = drystone_model::Urn::default();
        let diagnostic =
            Diagnostic { urn, message, severity: Severity::Warning, stream: 0, ephemeral: false };
        self.events.send(Event::Diagnostic(diagnostic));
    }
}

fn settings_failure(error: SettingsError) -> Failure {
    let environments = matches!(error, SettingsError::Environments { .. });
    let failure = Failure::configuration(error);
    if environments { failure.hint("write the values into the file instead") } else { failure }
}

fn start_failure(pack: &NamedPack, error: &PluginError) -> Failure {
    let failure = Failure::configuration(format!("the policy pack `{}` did not start", pack.folder));
    let failure = causes(error).into_iter().fold(failure, Failure::detail);
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure.hint(format!("install what it depends on: `drystone install` in `{}`", pack.folder)),
    }
}

/// What an error says, with its causes; a line each.
fn causes(error: &dyn std::error::Error) -> Vec<String> {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let mut lines: Vec<String> =
        causes.flat_map(|error| error.to_string().lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    lines.dedup();
    lines
}

fn pack_failure(pack: &NamedPack, error: PackError) -> Failure {
    match error {
        PackError::Settings { problems, .. } => {
            let failure = Failure::configuration(format!(
                "the settings of the policy pack `{}` are not what it takes",
                pack.folder
            ));
            let failure = problems.into_iter().fold(failure, Failure::detail);
            failure.hint("mend them in the file of `--policy-pack-config`")
        }
        PackError::NotConfigurable { .. } => {
            Failure::configuration(error).hint("leave out its `--policy-pack-config`")
        }
        error => {
            let mut lines = error.to_string().lines().map(str::to_owned).collect::<Vec<_>>().into_iter();
            let first = lines.next().unwrap_or_default();
            let message = format!("the policy pack `{}` failed: {first}", pack.folder);
            lines.fold(Failure::new(ExitCode::General, message), Failure::detail)
        }
    }
}

/// Why an operation that broke mandatory policies failed, if that is why.
pub(in crate::commands) fn violated(report: &Report, what: &str) -> Option<Failure> {
    let times = match report.mandatory_violations {
        0 => return None,
        1 => "a mandatory policy".to_owned(),
        number => format!("mandatory policies {number} times"),
    };
    Some(Failure::new(ExitCode::Policy, format!("{what} breaks {times}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(packs: &[&str], settings: &[&str]) -> PolicyFlags {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        PolicyFlags { policy_pack: owned(packs), policy_pack_config: owned(settings) }
    }

    #[test]
    fn each_pack_gets_its_settings_or_none_has_any() {
        let named = |folder: &str, settings: Option<&str>| NamedPack {
            folder: folder.to_owned(),
            settings: settings.map(str::to_owned),
        };
        assert_eq!(flags(&["a", "b"], &[]).packs().unwrap(), [named("a", None), named("b", None)]);
        assert_eq!(
            flags(&["a", "b"], &["1", "2"]).packs().unwrap(),
            [named("a", Some("1")), named("b", Some("2"))]
        );
        assert!(flags(&["a", "b"], &["1"]).packs().is_err() && flags(&[], &["1"]).packs().is_err());
    }
}
