//! The options that the operations share, in the stock CLI's names.

use crate::backend::is_true;
use crate::context::Context;
use crate::report::{Failure, Outcome};
use clap::Args;
use drystone_engine::{Options, Targets};
use drystone_plugins::languages::DebuggedPlugins;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What every operation takes.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct CommonFlags {
    #[command(flatten)]
    pub(super) targets: TargetFlags,
    #[command(flatten)]
    pub(super) config: ConfigFlags,
    #[command(flatten)]
    pub(super) display: DisplayFlags,
    #[command(flatten)]
    pub(super) run: RunFlags,
    #[command(flatten)]
    cloud: CloudFlags,
}

impl CommonFlags {
    /// Those of a command that has no others.
    pub(super) fn of(config_file: Option<PathBuf>, display: DisplayFlags, run: RunFlags) -> Self {
        let config = ConfigFlags { config_file, ..ConfigFlags::default() };
        Self { config, display, run, ..Self::default() }
    }

    /// What the engine is told of them, or why it cannot be had.
    pub(super) fn options(&self, context: &Context) -> Outcome<Options> {
        self.cloud.refuse()?;
        self.config.refuse()?;
        let environment = &context.environment;
        let run_program = switch(
            self.run.run_program.as_deref(),
            "--run-program",
            is_true(environment, "PULUMI_RUN_PROGRAM"),
        )?;
        Ok(Options {
            run_program,
            parallel: self.run.side_by_side(environment.filled_variable("PULUMI_PARALLEL").as_deref()),
            targets: Targets::new(self.targets.target.clone()),
            target_dependents: self.targets.target_dependents,
            excludes: Targets::new(self.targets.exclude.clone()),
            exclude_dependents: self.targets.exclude_dependents,
            legacy_diff: is_true(environment, "PULUMI_ENABLE_LEGACY_DIFF"),
            legacy_refresh_diff: is_true(environment, "PULUMI_ENABLE_LEGACY_REFRESH_DIFF"),
            show_secrets: self.display.show_secrets,
            ..Options::default()
        })
    }
}

/// Whether the state is brought up to what there is first.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct RefreshFlags {
    /// Bring the state up to what there is first
    #[arg(short, long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    refresh: Option<String>,
}

impl RefreshFlags {
    /// What was asked for, if anything was.
    pub(super) fn first(&self) -> Outcome<Option<bool>> {
        self.refresh.as_deref().map(|text| switch(Some(text), "--refresh", false)).transpose()
    }
}

/// Whether a failure ends everything.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct FailureFlags {
    /// Go on with what does not depend on a failure; also PULUMI_CONTINUE_ON_ERROR
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    continue_on_error: Option<String>,
}

impl FailureFlags {
    pub(super) fn goes_on(&self, context: &Context) -> Outcome<bool> {
        let variable = is_true(&context.environment, "PULUMI_CONTINUE_ON_ERROR");
        switch(self.continue_on_error.as_deref(), "--continue-on-error", variable)
    }
}

/// Which configuration an operation runs with.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Configuration")]
pub(super) struct ConfigFlags {
    /// Set a configuration value first, and keep it
    #[arg(short, long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub(super) config: Vec<String>,
    /// Read the keys of `--config` as paths into lists or into named values
    #[arg(long)]
    pub(super) config_path: bool,
    /// Use this settings file rather than the stack's own
    #[arg(long, value_name = "FILE")]
    pub(super) config_file: Option<PathBuf>,
    /// Do not hold the configuration to what the project declares
    #[arg(long)]
    pub(super) skip_config_validation: bool,
    /// Not available: environments are kept by Pulumi Cloud
    #[arg(long, value_name = "ENV=OTHER", hide = true)]
    override_env: Vec<String>,
}

/// Which resources an operation is about.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Resources")]
pub(super) struct TargetFlags {
    /// Only this resource, by its URN; `*` stands for anything in a part, `**` for anything
    #[arg(short, long, value_name = "URN", conflicts_with = "exclude")]
    pub(super) target: Vec<String>,
    /// And what depends on it
    #[arg(long)]
    pub(super) target_dependents: bool,
    /// Everything but this resource; wildcards as for `--target`
    #[arg(short = 'x', long, value_name = "URN")]
    pub(super) exclude: Vec<String>,
    /// And what depends on it
    #[arg(long)]
    pub(super) exclude_dependents: bool,
}

/// What is replaced although it need not be.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Resources")]
pub(super) struct ReplaceFlags {
    /// Replace this resource, by its URN; wildcards as for `--target`
    #[arg(long, value_name = "URN")]
    pub(super) replace: Vec<String>,
    /// Only this resource, and replace it
    #[arg(long, value_name = "URN")]
    pub(super) target_replace: Vec<String>,
}

impl ReplaceFlags {
    /// Says so to the engine. What is to be replaced alone is a target, too.
    pub(super) fn apply(&self, targets: &TargetFlags, options: &mut Options) {
        options.targets = Targets::new(targets.target.iter().chain(&self.target_replace).cloned());
        options.replace = Targets::new(self.replace.iter().chain(&self.target_replace).cloned());
    }
}

/// What is shown.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct DisplayFlags {
    /// Show every change in full
    #[arg(long)]
    pub(super) diff: bool,
    /// Print JSON
    #[arg(short, long, conflicts_with = "output")]
    pub(super) json: bool,
    /// How to print: default or json
    #[arg(long, value_name = "FORMAT", value_parser = ["default", "json"], hide = true)]
    pub(super) output: Option<String>,
    /// Write every event to this file, or to the stream that listens at `tcp://HOST:PORT`
    #[arg(long, value_name = "FILE")]
    pub(super) event_log: Option<String>,
    /// Show what the engine and plugins say for finding faults
    #[arg(short, long)]
    pub(super) debug: bool,
    /// Show the configuration
    #[arg(long)]
    pub(super) show_config: bool,
    /// Show a replacement's parts
    #[arg(long)]
    pub(super) show_replacement_steps: bool,
    /// Show what does not change, too
    #[arg(long)]
    pub(super) show_sames: bool,
    /// Show what is only read, too
    #[arg(long)]
    pub(super) show_reads: bool,
    /// Show long values in full
    #[arg(long)]
    pub(super) show_full_output: bool,
    /// Show secrets in plain text
    #[arg(long)]
    pub(super) show_secrets: bool,
    /// Show whole URNs rather than names
    #[arg(long)]
    pub(super) urns: bool,
    /// Do not show the stack's outputs
    #[arg(long)]
    pub(super) suppress_outputs: bool,
    /// Do not show what is under way
    #[arg(long)]
    pub(super) suppress_progress: bool,
    /// Accepted for the stock CLI's sake: there are no links
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "false", hide = true)]
    suppress_permalink: Option<String>,
    /// Show each change that a policy makes
    #[arg(long)]
    pub(super) show_policy_remediations: bool,
}

/// How an operation goes about it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Running")]
pub(super) struct RunFlags {
    /// How many resources are worked on side by side; also PULUMI_PARALLEL [default: 4 for each processor]
    #[arg(short, long, value_name = "COUNT", allow_negative_numbers = true)]
    pub(super) parallel: Option<i32>,
    /// Run the program in a refresh or a destroy, too; also PULUMI_RUN_PROGRAM
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    run_program: Option<String>,
    /// What to remember about this
    #[arg(
        short,
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        default_value = "",
        hide_default_value = true
    )]
    pub(super) message: String,
    /// Accepted for the stock CLI's sake: plugins are looked for when they are needed
    #[arg(long, hide = true)]
    skip_plugin_pre_install: bool,
    /// The address of a language host that already runs
    #[arg(long, hide = true, value_name = "ADDRESS")]
    pub(super) client: Option<String>,
    /// Who runs this: cli, auto.local or auto.inline
    #[arg(long, hide = true, default_value = "")]
    pub(super) exec_kind: String,
    /// For whom this runs
    #[arg(long, hide = true, default_value = "")]
    pub(super) exec_agent: String,
}

impl RunFlags {
    /// How many steps run side by side, as the engine counts: 0 for as many as there are.
    pub(super) fn side_by_side(&self, variable: Option<&str>) -> usize {
        let given = self.parallel.or_else(|| {
            let text = variable?;
            let count = text.trim().parse::<i64>().ok().filter(|count| *count > 0);
            if count.is_none() {
                crate::terminal::warning(format!("PULUMI_PARALLEL is `{text}`, which is no number above 0"));
            }
            Some(i32::try_from(count?).unwrap_or(i32::MAX))
        });
        match given {
            Some(i32::MAX) => 0,
            Some(count) => usize::try_from(count).unwrap_or(1).max(1),
            None => 4 * std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Whether protection holds.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Resources")]
pub(super) struct ProtectFlags {
    /// Delete and replace protected resources too
    #[arg(long)]
    pub(super) ignore_protect: bool,
}

/// Whether somebody is asked.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(super) struct ApprovalFlags {
    /// Do not ask
    #[arg(short, long)]
    pub(super) yes: bool,
    /// Do not preview it first, and do not ask
    #[arg(short = 'f', long)]
    pub(super) skip_preview: bool,
}

/// Asks for what runs in Pulumi Cloud.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Needs Pulumi Cloud")]
pub(super) struct CloudFlags {
    /// Run the operation in Pulumi Deployments
    #[arg(long)]
    remote: bool,
    /// Inherit the settings of the stack in Pulumi Deployments
    #[arg(long)]
    remote_inherit_settings: bool,
    #[arg(long, hide = true)]
    suppress_stream_logs: bool,
    #[arg(long, hide = true)]
    remote_env: Vec<String>,
    #[arg(long, hide = true)]
    remote_env_secret: Vec<String>,
    #[arg(long, hide = true)]
    remote_pre_run_command: Vec<String>,
    #[arg(long, hide = true)]
    remote_skip_install_dependencies: bool,
    #[arg(long, hide = true)]
    remote_git_branch: Option<String>,
    #[arg(long, hide = true)]
    remote_git_commit: Option<String>,
    #[arg(long, hide = true)]
    remote_git_repo_dir: Option<String>,
    #[arg(long, hide = true)]
    remote_git_auth_access_token: Option<String>,
    #[arg(long, hide = true)]
    remote_git_auth_ssh_private_key: Option<String>,
    #[arg(long, hide = true)]
    remote_git_auth_ssh_private_key_path: Option<String>,
    #[arg(long, hide = true)]
    remote_git_auth_password: Option<String>,
    #[arg(long, hide = true)]
    remote_git_auth_username: Option<String>,
    #[arg(long, hide = true)]
    remote_executor_image: Option<String>,
    #[arg(long, hide = true)]
    remote_executor_image_username: Option<String>,
    #[arg(long, hide = true)]
    remote_executor_image_password: Option<String>,
    #[arg(long, hide = true)]
    remote_agent_pool_id: Option<String>,
    /// Ask Pulumi Neo about what goes wrong
    #[arg(long, hide = true, alias = "copilot")]
    neo: bool,
    #[arg(long, hide = true)]
    neo_task_on_failure: bool,
}

impl CloudFlags {
    /// Refuses what only Pulumi Cloud can do. The first that was given is named.
    pub(super) fn refuse(&self) -> Outcome {
        let given = [
            ("remote", self.remote),
            ("remote-inherit-settings", self.remote_inherit_settings),
            ("suppress-stream-logs", self.suppress_stream_logs),
            ("remote-env", !self.remote_env.is_empty()),
            ("remote-env-secret", !self.remote_env_secret.is_empty()),
            ("remote-pre-run-command", !self.remote_pre_run_command.is_empty()),
            ("remote-skip-install-dependencies", self.remote_skip_install_dependencies),
            ("remote-git-branch", self.remote_git_branch.is_some()),
            ("remote-git-commit", self.remote_git_commit.is_some()),
            ("remote-git-repo-dir", self.remote_git_repo_dir.is_some()),
            ("remote-git-auth-access-token", self.remote_git_auth_access_token.is_some()),
            ("remote-git-auth-ssh-private-key", self.remote_git_auth_ssh_private_key.is_some()),
            ("remote-git-auth-ssh-private-key-path", self.remote_git_auth_ssh_private_key_path.is_some()),
            ("remote-git-auth-password", self.remote_git_auth_password.is_some()),
            ("remote-git-auth-username", self.remote_git_auth_username.is_some()),
            ("remote-executor-image", self.remote_executor_image.is_some()),
            ("remote-executor-image-username", self.remote_executor_image_username.is_some()),
            ("remote-executor-image-password", self.remote_executor_image_password.is_some()),
            ("remote-agent-pool-id", self.remote_agent_pool_id.is_some()),
        ];
        if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
            return Err(Failure::configuration(format!(
                "`--{name}` needs Pulumi Deployments, which only Pulumi Cloud has"
            ))
            .hint("leave it out to run the operation on this machine"));
        }
        if self.neo || self.neo_task_on_failure {
            crate::terminal::warning("Neo features are not available with DIY backends");
        }
        Ok(())
    }
}

/// Asks for a debugger.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Running")]
pub(super) struct DebuggerFlags {
    /// Let the program wait for a debugger, and say how to attach it: `program`, `plugins`, `plugin:NAME`, `all`
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "program", value_name = "WHAT",
          value_delimiter = ',')]
    attach_debugger: Vec<String>,
}

impl DebuggerFlags {
    /// What is to wait.
    pub(super) fn debugged(&self) -> Outcome<Debugged> {
        let mut debugged = Debugged::default();
        let mut names = BTreeSet::new();
        for what in &self.attach_debugger {
            match (what.as_str(), what.strip_prefix("plugin:")) {
                ("program", _) => debugged.program = true,
                ("plugins", _) => debugged.plugins = DebuggedPlugins::All,
                ("all", _) => debugged = Debugged { program: true, plugins: DebuggedPlugins::All },
                (_, Some(name)) => {
                    names.insert(name.to_owned());
                }
                (what, None) => {
                    return Err(Failure::configuration(format!("`--attach-debugger={what}` makes no sense"))
                        .hint("it takes `program`, `plugins`, `plugin:NAME` or `all`"));
                }
            }
        }
        if debugged.plugins != DebuggedPlugins::All && !names.is_empty() {
            debugged.plugins = DebuggedPlugins::Named(names);
        }
        Ok(debugged)
    }
}

/// What waits for a debugger.
#[derive(Debug, Clone, Default)]
pub(super) struct Debugged {
    pub(super) program: bool,
    pub(super) plugins: DebuggedPlugins,
}

impl DisplayFlags {
    /// Whether scripts read what is printed.
    pub(super) fn is_json(&self) -> bool {
        self.json || self.output.as_deref() == Some("json")
    }
}

impl ConfigFlags {
    /// Refuses environments, which are not here.
    pub(super) fn refuse(&self) -> Outcome {
        if self.override_env.is_empty() {
            return Ok(());
        }
        Err(Failure::configuration("`--override-env` needs environments, which only Pulumi Cloud has")
            .hint("set the values themselves with `--config KEY=VALUE`"))
    }
}

/// Refuses something that belongs to a later version, by the option that asks for it.
pub(super) fn later(option: &str, given: bool, hint: &str) -> Outcome {
    if !given {
        return Ok(());
    }
    Err(Failure::configuration(format!("`{option}` is not part of this version yet")).hint(hint))
}

/// Reads a truth value as Go does; an option that was not given leaves it to the variable.
pub(super) fn switch(text: Option<&str>, option: &str, otherwise: bool) -> Outcome<bool> {
    match text {
        None => Ok(otherwise),
        Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
        Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
        Some(_) => Err(Failure::configuration(format!("unable to determine value for {option}"))
            .hint(format!("`{option}` takes true or false"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_side_by_side_come_from_the_option_then_the_variable_then_the_machine() {
        let given = |parallel| RunFlags { parallel, ..RunFlags::default() };
        assert_eq!(given(Some(3)).side_by_side(Some("9")), 3);
        assert_eq!(given(Some(0)).side_by_side(None), 1);
        assert_eq!(given(Some(-5)).side_by_side(None), 1);
        assert_eq!(given(Some(i32::MAX)).side_by_side(None), 0);
        assert_eq!(given(None).side_by_side(Some("9")), 9);
        assert_eq!(given(None).side_by_side(Some("99999999999")), 0);
        let machine = given(None).side_by_side(None);
        assert!(machine >= 4 && machine.is_multiple_of(4));
        for odd in ["", "0", "-1", "many"] {
            assert_eq!(given(None).side_by_side(Some(odd)), machine, "{odd}");
        }
    }

    #[test]
    fn a_switch_takes_the_words_for_true_and_false_only() {
        assert!(switch(None, "--x", true).unwrap() && !switch(None, "--x", false).unwrap());
        assert!(switch(Some("T"), "--x", false).unwrap() && !switch(Some("0"), "--x", true).unwrap());
        assert!(switch(Some("yes"), "--x", true).is_err());
    }
}
