//! Languages that have a plugin of their own, or run in the process that started us.

use super::{About, LanguageError, Outcome, Program, RunRequest};
use crate::LARGEST_MESSAGE;
use crate::process::{Deadlines, Exit, Life, LineSink, Origin, Plugin, Remote, Stream, connect, forward};
use crate::proto::pulumirpc::language_runtime_client::LanguageRuntimeClient;
use crate::proto::pulumirpc::run_plugin_response::Output;
use crate::proto::pulumirpc::{
    AboutRequest, AboutResponse, GetRequiredPackagesRequest, GetRequiredPluginsRequest,
    InstallDependenciesRequest, LanguageHandshakeRequest, PackageDependency, PackageSpec, ProgramInfo,
    RunPluginRequest, RunRequest as WireRequest, RunResponse,
};
use crate::search::Place;
use crate::wire::Struct;
use drystone_engine::{PackageDescriptor, Parameterization};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tokio::io::{AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::watch;
use tokio::time::timeout;
use tonic::transport::Channel;
use tonic::{Code, Status};

/// How long a host has to answer that it has cancelled, and then to give up.
const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// A language that has a plugin of its own, or runs in the process that started us.
#[derive(Debug)]
pub struct LanguageHost {
    language: String,
    client: LanguageRuntimeClient<Channel>,
    plugin: Option<Plugin>,
}

/// The packages that a program needs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequiredPackages {
    /// Packages with their plugins.
    pub packages: Vec<PackageDependency>,
    /// Packages that are yet to be resolved.
    pub specs: Vec<PackageSpec>,
}

impl RequiredPackages {
    pub(super) fn installed(packages: Vec<PackageDependency>) -> Self {
        Self { packages, specs: Vec::new() }
    }

    /// The plugins that serve resources. Extensions have none of their own: they are a part of another package's.
    pub fn providers(&self) -> impl Iterator<Item = PackageDescriptor> + '_ {
        let packages = self.packages.iter();
        let packages = packages.filter(|package| package.kind == "resource" && package.extension.is_none());
        packages.map(|package| PackageDescriptor {
            name: package.name.clone(),
            version: package.version.trim_start_matches('v').to_owned(),
            download_url: package.server.clone(),
            checksums: package.checksums.clone().into_iter().collect(),
            parameterization: package.parameterization.as_ref().map(|made| Parameterization {
                name: made.name.clone(),
                version: made.version.clone(),
                value: made.value.clone(),
            }),
            ..PackageDescriptor::default()
        })
    }
}

/// A plugin in source code that a host is to run.
#[derive(Debug)]
pub(super) struct HostedPlugin<'a> {
    pub(super) program: &'a Program,
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
    pub(super) working_directory: &'a Path,
    pub(super) args: Vec<String>,
    pub(super) env: Vec<String>,
    /// Whether it waits for a debugger.
    pub(super) debugged: bool,
}

impl LanguageHost {
    /// The host that listens at an address, `host:port`.
    pub async fn connect(address: &str) -> Result<Self, LanguageError> {
        let channel = connect(address, Deadlines::default().connect).await?;
        Ok(Self { language: "client".to_owned(), client: client(channel), plugin: None })
    }

    /// Starts the plugin of a language, or attaches to one that runs.
    pub(super) async fn start(
        language: &str,
        place: &Place,
        engine_address: &str,
        directory: &Path,
        sink: LineSink,
    ) -> Result<Self, LanguageError> {
        let name = format!("pulumi-language-{language}");
        let plugin = match place {
            Place::Attached(port) => Plugin::attach(&name, *port, Deadlines::default()).await?,
            Place::Executable(path) => {
                let mut command = Command::new(path);
                command.arg(engine_address).current_dir(directory);
                Plugin::spawn(&name, command, Deadlines::default(), sink).await?
            }
            Place::Source(source) => {
                let folder = source.folder.clone();
                return Err(LanguageError::NotRunnable { folder });
            }
            Place::BuiltIn(_) => {
                return Err(LanguageError::NotRunnable { folder: directory.to_owned() });
            }
        };
        let host =
            Self { language: language.to_owned(), client: client(plugin.channel()), plugin: Some(plugin) };
        if matches!(place, Place::Attached(_)) {
            let request = LanguageHandshakeRequest {
                engine_address: engine_address.to_owned(),
                root_directory: None,
                program_directory: None,
            };
            host.client.clone().handshake(request).await.map_err(|status| host.failed(status))?;
        }
        Ok(host)
    }

    /// The version of the plugin, if it says one.
    pub async fn version(&self) -> Result<Option<String>, LanguageError> {
        let info = self.client.clone().get_plugin_info(()).await.map_err(|status| self.failed(status))?;
        Ok(Some(info.into_inner().version).filter(|version| !version.is_empty()))
    }

    /// What runs programs, as the host says.
    pub(super) async fn about(&self, program: &Program) -> Result<About, LanguageError> {
        let request = AboutRequest { info: Some(info(program)) };
        let answer = self.client.clone().about(request).await.map_err(|status| self.failed(status))?;
        let AboutResponse { executable, version, .. } = answer.into_inner();
        Ok(About { executable, version })
    }

    /// The packages that a program needs. Hosts that are too old to say have none.
    pub async fn required_packages(&self, program: &Program) -> Result<RequiredPackages, LanguageError> {
        let request = GetRequiredPackagesRequest { info: Some(info(program)) };
        match self.client.clone().get_required_packages(request).await {
            Ok(response) => {
                let response = response.into_inner();
                Ok(RequiredPackages { packages: response.packages, specs: response.specs })
            }
            Err(status) if status.code() == Code::Unimplemented => self.required_plugins(program).await,
            Err(status) => Err(self.failed(status)),
        }
    }

    async fn required_plugins(&self, program: &Program) -> Result<RequiredPackages, LanguageError> {
        let request = GetRequiredPluginsRequest {
            project: "deprecated".to_owned(),
            pwd: program.directory.to_string_lossy().into_owned(),
            program: program.entry_point.clone(),
            info: Some(info(program)),
        };
        let plugins = match self.client.clone().get_required_plugins(request).await {
            Ok(response) => response.into_inner().plugins,
            Err(status) if status.code() == Code::Unimplemented => Vec::new(),
            Err(status) => return Err(self.failed(status)),
        };
        let packages = plugins.into_iter().map(|plugin| PackageDependency {
            name: plugin.name,
            kind: plugin.kind,
            version: plugin.version,
            server: plugin.server,
            checksums: plugin.checksums,
            ..PackageDependency::default()
        });
        Ok(RequiredPackages { packages: packages.collect(), specs: Vec::new() })
    }

    /// Runs a program to its end, or until the caller cancels it.
    pub async fn run(
        &self,
        request: &RunRequest,
        cancelled: impl Future<Output = ()>,
    ) -> Result<Outcome, LanguageError> {
        let mut client = self.client.clone();
        let mut wire = wire_request(request);
        if self.plugin.is_none() {
            // A client was not started by us: its first argument is how it learns where to log.
            wire.args.insert(0, request.engine_address.clone());
        }
        let running = client.run(wire);
        tokio::pin!(running);
        tokio::select! {
            answer = &mut running => match answer {
                Ok(response) => Ok(outcome(response.into_inner())),
                Err(status) => self.run_failure(status).await,
            },
            () = cancelled => {
                if timeout(CANCEL_GRACE, self.cancel()).await.is_ok() {
                    let _ = timeout(CANCEL_GRACE, running).await;
                }
                Ok(Outcome::Cancelled)
            }
        }
    }

    /// A host that is gone is a fault; one that answers with an error says that the program failed.
    async fn run_failure(&self, status: Status) -> Result<Outcome, LanguageError> {
        let gone = matches!(status.code(), Code::Unavailable | Code::Cancelled | Code::Unknown);
        if gone && let Some(plugin) = &self.plugin {
            let exit = timeout(Duration::from_secs(1), plugin.exited()).await;
            if let Ok(exit) = exit {
                let (language, printed) = (self.language.clone(), plugin.last_lines());
                return Err(LanguageError::HostEnded { language, exit, printed });
            }
        }
        match status.code() {
            Code::Unavailable => Err(self.failed(status)),
            _ => Ok(Outcome::Failed { message: status.message().to_owned() }),
        }
    }

    /// Asks the host to end what it runs. Hosts that cannot are left alone.
    pub async fn cancel(&self) {
        let _ = self.client.clone().cancel(()).await;
    }

    /// Cancels what runs and ends the plugin; what it still prints is delivered.
    pub async fn close(&self) {
        if let Some(plugin) = &self.plugin {
            let _ = timeout(CANCEL_GRACE, self.cancel()).await;
            plugin.stop().await;
        }
    }

    /// Installs what a program depends on.
    pub async fn install_dependencies(
        &self,
        program: &Program,
        sink: &LineSink,
    ) -> Result<(), LanguageError> {
        let request = InstallDependenciesRequest {
            directory: program.directory.to_string_lossy().into_owned(),
            info: Some(info(program)),
            ..InstallDependenciesRequest::default()
        };
        let mut stream = match self.client.clone().install_dependencies(request).await {
            Ok(stream) => stream.into_inner(),
            Err(status) if status.code() == Code::Unimplemented => return Ok(()),
            Err(status) => return Err(self.failed(status)),
        };
        let (mut stdout, read_stdout) = tokio::io::duplex(PIPE);
        let (mut stderr, read_stderr) = tokio::io::duplex(PIPE);
        let readers = [
            tokio::spawn(forward(BufReader::new(read_stdout), Stream::Stdout, sink.clone())),
            tokio::spawn(forward(BufReader::new(read_stderr), Stream::Stderr, sink.clone())),
        ];
        let failure = loop {
            match stream.message().await {
                Ok(Some(printed)) => {
                    write(&mut stdout, &printed.stdout).await;
                    write(&mut stderr, &printed.stderr).await;
                }
                Ok(None) => break None,
                Err(status) => break Some(status),
            }
        };
        drop((stdout, stderr));
        for reader in readers {
            let _ = reader.await;
        }
        failure.map_or(Ok(()), |status| Err(self.failed(status)))
    }

    /// Runs a plugin in source code. Dropping what it gives ends the plugin.
    pub(super) async fn run_plugin(&self, plugin: HostedPlugin<'_>) -> Result<Origin, LanguageError> {
        let request = RunPluginRequest {
            pwd: plugin.working_directory.to_string_lossy().into_owned(),
            args: plugin.args,
            env: plugin.env,
            info: Some(info(plugin.program)),
            kind: plugin.kind.to_owned(),
            name: plugin.name.to_owned(),
            attach_debugger: plugin.debugged,
            ..RunPluginRequest::default()
        };
        let stream = self.client.clone().run_plugin(request).await.map_err(|status| self.failed(status))?;
        let mut stream = stream.into_inner();
        let (mut stdout, read_stdout) = tokio::io::duplex(PIPE);
        let (mut stderr, read_stderr) = tokio::io::duplex(PIPE);
        let (sender, exit) = watch::channel(None);
        let task = tokio::spawn(async move {
            let exit = loop {
                match stream.message().await {
                    Ok(Some(response)) => match response.output {
                        Some(Output::Stdout(bytes)) => write(&mut stdout, &bytes).await,
                        Some(Output::Stderr(bytes)) => write(&mut stderr, &bytes).await,
                        Some(Output::Exitcode(code)) => break Exit::Code(code),
                        None => {}
                    },
                    Ok(None) => break Exit::Code(0),
                    Err(status) => {
                        write(&mut stderr, status.message().as_bytes()).await;
                        break Exit::Unknown;
                    }
                }
            };
            drop((stdout, stderr));
            sender.send_replace(Some(exit));
        });
        Ok(Origin {
            stdout: Box::new(read_stdout),
            stderr: Box::new(read_stderr),
            life: Life::Remote(Remote { exit, task: task.abort_handle() }),
        })
    }

    pub(super) fn language(&self) -> &str {
        &self.language
    }

    pub(super) fn client(&self) -> LanguageRuntimeClient<Channel> {
        self.client.clone()
    }

    pub(super) fn failed(&self, status: Status) -> LanguageError {
        LanguageError::Host { language: self.language.clone(), status: Box::new(status) }
    }
}

/// What a pipe between tasks holds before the writer waits.
const PIPE: usize = 64 << 10;

/// A reader that has gone is not waited for.
async fn write(pipe: &mut DuplexStream, bytes: &[u8]) {
    let _ = pipe.write_all(bytes).await;
}

fn client(channel: Channel) -> LanguageRuntimeClient<Channel> {
    LanguageRuntimeClient::new(channel)
        .max_decoding_message_size(LARGEST_MESSAGE)
        .max_encoding_message_size(LARGEST_MESSAGE)
}

pub(super) fn info(program: &Program) -> ProgramInfo {
    let options = program.runtime.options.iter();
    let options = options.map(|(name, value)| {
        (name.clone(), serde_json::from_str(&value.to_json()).unwrap_or(serde_json::Value::Null))
    });
    ProgramInfo {
        root_directory: program.root.to_string_lossy().into_owned(),
        program_directory: program.directory.to_string_lossy().into_owned(),
        entry_point: program.entry_point.clone(),
        options: Some(Struct::from_json(&options.collect())),
    }
}

fn wire_request(request: &RunRequest) -> WireRequest {
    let program = &request.program;
    WireRequest {
        project: request.project.clone(),
        stack: request.stack.clone(),
        organization: request.organization.clone(),
        pwd: program.directory.to_string_lossy().into_owned(),
        program: program.entry_point.clone(),
        args: request.args.clone(),
        config: request.config.iter().map(|(key, value)| (key.to_string(), value.clone())).collect(),
        config_secret_keys: request.secret_keys.iter().map(ToString::to_string).collect(),
        dry_run: request.dry_run,
        parallel: i32::try_from(request.parallel).unwrap_or(i32::MAX),
        monitor_address: request.monitor_address.clone(),
        loader_target: request.loader_address.clone().unwrap_or_default(),
        info: Some(info(program)),
        attach_debugger: request.debugger.is_some(),
        ..WireRequest::default()
    }
}

fn outcome(response: RunResponse) -> Outcome {
    match response {
        RunResponse { bail: true, .. } => Outcome::Bailed,
        RunResponse { error, .. } if error.is_empty() => Outcome::Finished,
        RunResponse { error, .. } => Outcome::Failed { message: error },
    }
}
