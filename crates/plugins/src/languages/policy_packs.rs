//! Starting policy packs.

use super::host::HostedPlugin;
use super::node::Node;
use super::plugins::{plain, whole_environment};
use super::python::Python;
use super::{LanguageError, PluginError, PluginHost, Program};
use crate::process::{Deadlines, LineSink, Plugin};
use crate::search::{BuiltIn, Kind, Place, SearchError, Wanted};
use drystone_workspace::project::PluginProject;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a policy pack is told of the operation that it judges.
#[derive(Debug, Clone, Default)]
pub struct PolicyRun {
    /// The organization.
    pub organization: String,
    /// The project.
    pub project: String,
    /// The stack's short name.
    pub stack: String,
    /// The configuration by `namespace:name`, opened.
    pub config: BTreeMap<String, String>,
    /// The keys of the secrets among it.
    pub secret_keys: BTreeSet<String>,
    /// The stack's tags.
    pub tags: BTreeMap<String, String>,
    /// Whether it is only said what would be done.
    pub dry_run: bool,
}

impl PolicyRun {
    /// The same as variables, for SDKs that know no other way.
    fn variables(&self) -> BTreeMap<String, String> {
        let mut variables = BTreeMap::new();
        let facts = [
            ("ORGANIZATION", self.organization.as_str()),
            ("PROJECT", &self.project),
            ("STACK", &self.stack),
            ("DRY_RUN", if self.dry_run { "true" } else { "false" }),
        ];
        for (name, value) in facts.into_iter().filter(|(_, value)| !value.is_empty()) {
            variables.insert(format!("PULUMI_NODEJS_{name}"), value.to_owned());
            variables.insert(format!("PULUMI_{name}"), value.to_owned());
        }
        let config: serde_json::Map<_, _> =
            self.config.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect();
        variables.insert("PULUMI_CONFIG".to_owned(), serde_json::Value::from(config).to_string());
        variables
    }
}

/// A policy pack that has come up.
#[derive(Debug)]
pub struct StartedPolicyPack {
    /// Its process.
    pub plugin: Plugin,
    /// Its folder.
    pub folder: PathBuf,
    /// What its `PulumiPolicy.yaml` says.
    pub project: PluginProject,
}

impl PluginHost {
    /// Starts the policy pack of a folder.
    pub async fn start_policy_pack(
        &self,
        folder: &Path,
        run: &PolicyRun,
    ) -> Result<StartedPolicyPack, PluginError> {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let project_file = folder.join("PulumiPolicy.yaml");
        let project = PluginProject::load(&project_file).map_err(SearchError::Project)?;
        let program = Program::of_plugin(&folder, project.runtime.clone());
        let name = folder.display().to_string();
        let wanted = Wanted { kind: Kind::Analyzer, name: name.clone(), version: None };
        let sink = (self.sink)(&wanted);
        let deadlines = self.deadlines.unwrap_or_else(Deadlines::for_source);
        let place = self.search.find(&Wanted::language(&project.runtime.name)).map(|found| found.place);
        let mut command = match place {
            Ok(Place::BuiltIn(language)) => {
                let mut command = self.built_in_pack(language, &program, sink.clone()).await?;
                command.args(self.arguments()).arg(&folder);
                command
            }
            Ok(place) => {
                let plugin = self.hosted_pack(&place, &program, run, &name, deadlines, sink).await?;
                return Ok(StartedPolicyPack { plugin, folder, project });
            }
            Err(missing @ SearchError::Missing(_)) => self.analyzer_of(&program).ok_or(missing)?,
            Err(error) => return Err(error.into()),
        };
        command.current_dir(&folder).envs(run.variables());
        let plugin = Plugin::spawn(&name, command, deadlines, sink).await?;
        Ok(StartedPolicyPack { plugin, folder, project })
    }

    async fn built_in_pack(
        &self,
        language: BuiltIn,
        program: &Program,
        sink: LineSink,
    ) -> Result<Command, LanguageError> {
        let environment = self.environment.clone();
        match language {
            BuiltIn::Node | BuiltIn::NodeDynamic => Node::new(environment, sink).policy_pack(program).await,
            BuiltIn::Bun => Node::bun(environment, sink).policy_pack(program).await,
            BuiltIn::Python | BuiltIn::PythonDynamic => {
                Python::new(environment, sink).policy_pack(program).await
            }
        }
    }

    /// A pack that the plugin of its language runs.
    async fn hosted_pack(
        &self,
        place: &Place,
        program: &Program,
        run: &PolicyRun,
        name: &str,
        deadlines: Deadlines,
        sink: LineSink,
    ) -> Result<Plugin, PluginError> {
        let host = self.host(&program.runtime.name, place, sink.clone()).await?;
        let origin = host
            .run_plugin(HostedPlugin {
                program,
                kind: Kind::Analyzer.as_str(),
                name,
                working_directory: &self.program.directory,
                args: self.arguments(),
                env: whole_environment(run.variables()),
                debugged: false,
            })
            .await?;
        Ok(Plugin::come_up(name, origin, deadlines, sink).await?)
    }

    /// The command of a plugin that runs policy packs of a language that has no plugin of its own, with all its
    /// arguments: `pulumi-analyzer-policy-<runtime>`, as for OPA.
    fn analyzer_of(&self, program: &Program) -> Option<Command> {
        let name = format!("policy-{}", program.runtime.name);
        let found = self.search.find(&Wanted { kind: Kind::Analyzer, name, version: None }).ok()?;
        let Place::Executable(path) = found.place else { return None };
        let mut command = Command::new(path);
        command.args(self.arguments()).arg(".");
        for (option, value) in &program.runtime.options {
            let value = plain(value);
            if !value.is_empty() {
                command.arg(format!("-{option}={value}"));
            }
        }
        Some(command)
    }
}
