//! Policy packs that are reached over gRPC.
//!
//! A pack is shaken hands with, told of the stack, asked what it holds and configured before it judges anything. Packs
//! are told secrets as secrets; their SDKs open them for policies.

mod answers;
mod config;
mod failure;
mod schema;
#[cfg(test)]
mod tests;

pub use config::{PolicySettings, SettingsError};
pub use failure::PackError;

use crate::languages::PolicyRun;
use crate::monitor::Endpoint;
use crate::process::Plugin;
use crate::proto::pulumirpc as rpc;
use crate::provider::unanswered::{self, GRACE, STOP_GRACE, Whom};
use crate::trace::Trace;
use answers::Speaker;
use async_trait::async_trait;
use drystone_engine::{Analyzed, AnalyzedResource, Analyzer, Cancellation, Failed, PolicyPack, Remediated};
use prost::Message;
use rpc::analyzer_client::AnalyzerClient;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tonic::transport::Channel;
use tonic::{Code, Response, Status};

/// What is known of a policy pack before it is asked.
#[derive(Debug, Clone)]
pub struct AnalyzerOptions {
    /// Its folder, as the user named it.
    pub named: String,
    /// Its folder.
    pub folder: PathBuf,
    /// The version that its `PulumiPolicy.yaml` gives it, which goes before its own.
    pub version: Option<String>,
    /// Where it reaches the engine.
    pub endpoint: Endpoint,
    /// Asks the operation that it serves to stop.
    pub cancellation: Cancellation,
}

/// A policy pack in another process.
pub struct GrpcAnalyzer {
    options: AnalyzerOptions,
    client: Client,
    trace: Trace,
    /// Its process, which ends with it.
    process: Option<Arc<Plugin>>,
    info: rpc::AnalyzerInfo,
    speaker: Speaker,
    pack: PolicyPack,
}

type Client = AnalyzerClient<Channel>;

impl fmt::Debug for GrpcAnalyzer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrpcAnalyzer").field("named", &self.options.named).finish_non_exhaustive()
    }
}

impl GrpcAnalyzer {
    /// Shakes hands with a pack over an open channel, tells it of the stack and asks what it holds. `process` is dropped
    /// with the pack.
    pub async fn connect(
        channel: Channel,
        options: AnalyzerOptions,
        run: &PolicyRun,
        process: Option<Plugin>,
    ) -> Result<Self, PackError> {
        let client = AnalyzerClient::new(channel)
            .max_decoding_message_size(crate::LARGEST_MESSAGE)
            .max_encoding_message_size(crate::LARGEST_MESSAGE);
        let trace = Trace::client(options.endpoint.log(), "analyzer", &options.folder.display().to_string());
        let mut analyzer = Self {
            options,
            client,
            trace,
            process: process.map(Arc::new),
            info: rpc::AnalyzerInfo::default(),
            speaker: Speaker::default(),
            pack: PolicyPack::default(),
        };
        analyzer.handshake().await?;
        analyzer.configure_stack(run).await?;
        analyzer.info = analyzer
            .ask("GetAnalyzerInfo", (), |mut client, request| async move {
                client.get_analyzer_info(request).await
            })
            .await
            .map_err(|status| analyzer.failure(&status))?;
        analyzer.speaker = Speaker::of(&analyzer.info, analyzer.options.version.clone());
        analyzer.pack = answers::pack(&analyzer.info, &analyzer.speaker, &analyzer.options.named)
            .map_err(|problem| analyzer.senseless(problem))?;
        Ok(analyzer)
    }

    /// Gives the pack its settings, held to what it says they may be. Names policies in them that it does not have.
    pub async fn configure(&mut self, settings: Option<PolicySettings>) -> Result<Vec<String>, PackError> {
        if !self.info.supports_config {
            return match settings {
                Some(_) => Err(PackError::NotConfigurable { pack: self.pack.name.clone() }),
                None => Ok(Vec::new()),
            };
        }
        let strangers = settings.as_ref().map(|given| given.strangers(&self.info)).unwrap_or_default();
        let settings = config::reconciled(&self.info, settings).map_err(|problem| self.senseless(problem))?;
        let problems = settings.problems(&self.info).map_err(|problem| self.senseless(problem))?;
        if !problems.is_empty() {
            return Err(PackError::Settings { pack: self.pack.name.clone(), problems });
        }
        for policy in &mut self.pack.policies {
            policy.level = settings.level(&policy.name).unwrap_or(policy.level);
        }
        let request = settings.to_wire();
        if !request.policy_config.is_empty() {
            self.ask(
                "Configure",
                request,
                |mut client, request| async move { client.configure(request).await },
            )
            .await
            .map_err(|status| self.failure(&status))?;
        }
        Ok(strangers)
    }

    async fn handshake(&self) -> Result<(), PackError> {
        // The pack, not what runs it, is where it is.
        let folder = Some(self.options.folder.display().to_string());
        let request = rpc::AnalyzerHandshakeRequest {
            engine_address: self.options.endpoint.address().to_owned(),
            root_directory: folder.clone(),
            program_directory: folder,
        };
        let shaken = self
            .ask("Handshake", request, |mut client, request| async move { client.handshake(request).await });
        let shaken = unanswered::answer_within(self.whom(), Duration::ZERO, GRACE, shaken).await;
        self.unless_unknown(shaken).map(drop)
    }

    async fn configure_stack(&self, run: &PolicyRun) -> Result<(), PackError> {
        let request = rpc::AnalyzerStackConfigureRequest {
            stack: run.stack.clone(),
            project: run.project.clone(),
            organization: run.organization.clone(),
            dry_run: run.dry_run,
            config_secret_keys: run.secret_keys.iter().cloned().collect(),
            config: run.config.clone().into_iter().collect(),
            tags: run.tags.clone().into_iter().collect(),
        };
        let configured = self.ask("ConfigureStack", request, |mut client, request| async move {
            client.configure_stack(request).await
        });
        self.unless_unknown(configured.await).map(drop)
    }

    /// An answer, or nothing from a pack that is too old for the question.
    fn unless_unknown<A>(&self, answer: Result<A, Status>) -> Result<Option<A>, PackError> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(status) if status.code() == Code::Unimplemented => Ok(None),
            Err(status) => Err(self.failure(&status)),
        }
    }

    /// Makes a call and writes down how it went. It is not waited for long when the operation is asked to stop.
    async fn ask<Q, A, F>(
        &self,
        method: &'static str,
        request: Q,
        send: impl FnOnce(Client, Q) -> F,
    ) -> Result<A, Status>
    where
        Q: Message,
        A: Message,
        F: Future<Output = Result<Response<A>, Status>>,
    {
        let whole = format!("/pulumirpc.Analyzer/{method}");
        let call = async {
            let call = self.trace.begin(&whole, &request);
            let answer = send(self.client.clone(), request).await.map(Response::into_inner);
            call.end(answer.as_ref());
            answer
        };
        let process: Weak<Plugin> = self.process.as_ref().map(Arc::downgrade).unwrap_or_default();
        let answer = unanswered::answer(&process, call);
        unanswered::answer_of_use(self.whom(), method, &self.options.cancellation, answer).await
    }

    fn whom(&self) -> Whom<'_> {
        Whom::PolicyPack(&self.options.named)
    }

    fn failure(&self, status: &Status) -> PackError {
        PackError::Call(unanswered::describe(status, self.whom()))
    }

    fn senseless(&self, problem: impl fmt::Display) -> PackError {
        PackError::Call(format!("the answer of {} makes no sense: {problem}", self.whom()))
    }

    fn failed(&self, error: impl Into<PackError>) -> Failed {
        Failed(error.into().to_string())
    }
}

#[async_trait]
impl Analyzer for GrpcAnalyzer {
    fn pack(&self) -> &PolicyPack {
        &self.pack
    }

    async fn remediate(&self, resource: &AnalyzedResource) -> Result<Remediated, Failed> {
        let request =
            answers::request(resource, answers::Internal::Sent).map_err(|error| self.failed(error))?;
        let answer = self
            .ask("Remediate", request, |mut client, request| async move { client.remediate(request).await });
        let answer = self.unless_unknown(answer.await).map_err(|error| self.failed(error))?;
        let answer = answer.map(|answer| self.speaker.remediated(answer)).transpose();
        answer.map(Option::unwrap_or_default).map_err(|problem| self.failed(self.senseless(problem)))
    }

    async fn analyze(&self, resource: &AnalyzedResource) -> Result<Analyzed, Failed> {
        let request =
            answers::request(resource, answers::Internal::Left).map_err(|error| self.failed(error))?;
        let answer = self
            .ask("Analyze", request, |mut client, request| async move { client.analyze(request).await })
            .await
            .map_err(|status| self.failed(self.failure(&status)))?;
        self.speaker.analyzed(answer).map_err(|problem| self.failed(self.senseless(problem)))
    }

    async fn analyze_stack(&self, resources: &[AnalyzedResource]) -> Result<Analyzed, Failed> {
        let request = answers::stack_request(resources).map_err(|error| self.failed(error))?;
        let answer = self.ask("AnalyzeStack", request, |mut client, request| async move {
            client.analyze_stack(request).await
        });
        let answer = self.unless_unknown(answer.await).map_err(|error| self.failed(error))?;
        let answer = answer.map(|answer| self.speaker.analyzed(answer)).transpose();
        answer.map(Option::unwrap_or_default).map_err(|problem| self.failed(self.senseless(problem)))
    }

    /// A pack that does not take note of it is stopped with its process.
    async fn cancel(&self) {
        let mut client = self.client.clone();
        let told = async {
            let call = self.trace.begin("/pulumirpc.Analyzer/Cancel", &());
            let answer = client.cancel(()).await.map(Response::into_inner);
            call.end(answer.as_ref());
            answer
        };
        let _ = unanswered::answer_within(self.whom(), Duration::ZERO, STOP_GRACE, told).await;
    }
}
