//! Providers that are reached over gRPC.
//!
//! What a provider understands is settled by the handshake or, with older ones, by its answer to Configure; every
//! value is then sent in a form that it understands, and what was lost on the way out is put back on the way in.

mod configuration;
mod echo;
pub(crate) mod failure;
mod functions;
mod lifecycle;
mod mappings;
mod session;
#[cfg(test)]
mod tests;
pub(crate) mod unanswered;

pub(crate) use lifecycle::property_diff;
pub use unanswered::{GRACE, STOP_GRACE, stopped_for_good};

use crate::monitor::Endpoint;
use crate::process::Plugin;
use crate::proto::pulumirpc as rpc;
use crate::trace::Trace;
use async_trait::async_trait;
use drystone_engine::{
    AppliedState, CallAnswer, CallArguments, Cancellation, CheckArguments, Checked, ConfigureArguments,
    ConstructArguments, Constructed, CreateArguments, DeleteArguments, Diff, DiffArguments, Invoked,
    Parameterization, ParameterizeArguments, PropertyMap, Provider, ProviderError, ReadArguments, ReadState,
    UpdateArguments,
};
use prost::Message;
use rpc::resource_provider_client::ResourceProviderClient;
use session::Session;
use std::sync::{Arc, Weak};
use std::time::Duration;
use std::{fmt, path::PathBuf};
use tonic::transport::Channel;
use tonic::{Response, Status};
use unanswered::Whom;

/// What a provider is told when it is connected to.
#[derive(Debug, Clone)]
pub struct ProviderOptions {
    /// The package's name, for messages.
    pub name: String,
    /// Where it reaches the engine.
    pub endpoint: Endpoint,
    /// The folder of its program; `None` for one that was started by somebody else.
    pub directory: Option<PathBuf>,
    /// Show inputs as outputs in previews rather than asking the provider.
    pub disable_preview: bool,
    /// The version to answer with instead of its own, for plugins that were built from source.
    pub version: Option<String>,
    /// How long it may take beyond the time limit of an operation before it is given up.
    pub grace: Duration,
    /// Asks the operation that it serves to stop.
    pub cancellation: Cancellation,
}

/// A provider in another process.
pub struct GrpcProvider {
    options: ProviderOptions,
    client: ResourceProviderClient<Channel>,
    session: Session,
    trace: Trace,
    /// Its process, which ends with it.
    process: Option<Arc<Plugin>>,
}

impl fmt::Debug for GrpcProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrpcProvider").field("name", &self.options.name).finish_non_exhaustive()
    }
}

impl GrpcProvider {
    /// Shakes hands over an open channel. `process` is dropped with the provider.
    pub async fn connect(
        channel: Channel,
        options: ProviderOptions,
        process: Option<Plugin>,
    ) -> Result<Self, ProviderError> {
        let client = ResourceProviderClient::new(channel)
            .max_decoding_message_size(crate::LARGEST_MESSAGE)
            .max_encoding_message_size(crate::LARGEST_MESSAGE);
        let trace = Trace::client(options.endpoint.log(), "resource", &options.name);
        let provider =
            Self { options, client, session: Session::default(), trace, process: process.map(Arc::new) };
        provider.handshake().await?;
        if provider.options.directory.is_none() {
            provider.attach().await?;
        }
        Ok(provider)
    }

    /// Makes a call that changes nothing. It is not waited for long when the operation is asked to stop.
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
        let call = self.send(method, request, send);
        unanswered::answer_of_use(self.whom(), method, &self.options.cancellation, call).await
    }

    /// Makes a call and waits for its answer.
    async fn send<Q, A, F>(
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
        let call = ask(&self.trace, self.client.clone(), method, request, send);
        unanswered::answer(&self.process(), call).await
    }

    /// Makes a call that may change something, with a time limit in seconds; 0 is none.
    async fn change<Q, A, F>(
        &self,
        limit: f64,
        method: &'static str,
        request: Q,
        send: impl FnOnce(Client, Q) -> F,
    ) -> Result<A, Status>
    where
        Q: Message,
        A: Message,
        F: Future<Output = Result<Response<A>, Status>>,
    {
        self.limited(limit, self.send(method, request, send)).await
    }

    /// Gives up a call some time after its limit.
    async fn limited<A>(
        &self,
        limit: f64,
        call: impl Future<Output = Result<A, Status>>,
    ) -> Result<A, Status> {
        match Duration::try_from_secs_f64(limit) {
            Ok(limit) if !limit.is_zero() => {
                unanswered::answer_within(self.whom(), limit, self.options.grace, call).await
            }
            _ => call.await,
        }
    }

    fn whom(&self) -> Whom<'_> {
        Whom::Provider(&self.options.name)
    }

    fn process(&self) -> Weak<Plugin> {
        self.process.as_ref().map(Arc::downgrade).unwrap_or_default()
    }

    fn failure(&self, status: &Status) -> ProviderError {
        failure::describe(status, &self.options.name)
    }

    async fn handshake(&self) -> Result<(), ProviderError> {
        let address = self.options.endpoint.address().to_owned();
        let directory = self.options.directory.as_ref().map(|directory| directory.display().to_string());
        let request = rpc::ProviderHandshakeRequest {
            engine_address: address.clone(),
            root_directory: directory.clone(),
            program_directory: directory,
            configure_with_urn: true,
            supports_views: true,
            supports_refresh_before_update: true,
            invoke_with_preview: true,
            mapper_target: Some(address.clone()),
            loader_target: Some(address.clone()),
            resolver_target: Some(address.clone()),
            accepts_byte_string: true,
        };
        let shaken =
            self.ask("/pulumirpc.ResourceProvider/Handshake", request, |mut client, request| async move {
                client.handshake(request).await
            });
        // One that somebody else runs may stand in a debugger.
        let answer = if self.process.is_some() && self.options.directory.is_some() {
            unanswered::answer_within(self.whom(), Duration::ZERO, self.options.grace, shaken).await
        } else {
            shaken.await
        };
        match answer {
            Ok(answer) => {
                self.session.shook_hands(&answer);
                Ok(())
            }
            Err(status) if status.code() == tonic::Code::Unimplemented => Ok(()),
            Err(status) => {
                let mut error = self.failure(&status);
                error.message =
                    format!("failed to handshake with '{}': {}", self.options.name, error.message);
                Err(error)
            }
        }
    }

    async fn attach(&self) -> Result<(), ProviderError> {
        let request = rpc::PluginAttach { address: self.options.endpoint.address().to_owned() };
        self.ask("/pulumirpc.ResourceProvider/Attach", request, |mut client, request| async move {
            client.attach(request).await
        })
        .await
        .map(drop)
        .map_err(|status| self.failure(&status))
    }
}

/// A client of a provider.
type Client = ResourceProviderClient<Channel>;

/// Makes a call and writes down how it went.
async fn ask<Q, A, F>(
    trace: &Trace,
    client: Client,
    method: &'static str,
    request: Q,
    send: impl FnOnce(Client, Q) -> F,
) -> Result<A, Status>
where
    Q: Message,
    A: Message,
    F: Future<Output = Result<Response<A>, Status>>,
{
    let call = trace.begin(method, &request);
    let answer = send(client, request).await.map(Response::into_inner);
    call.end(answer.as_ref());
    answer
}

#[async_trait]
impl Provider for GrpcProvider {
    async fn parameterize(
        &self,
        arguments: ParameterizeArguments,
    ) -> Result<(String, String), ProviderError> {
        use rpc::parameterize_request::{Parameters, ParametersArgs, ParametersValue};
        let parameters = match arguments {
            ParameterizeArguments::Arguments(args) => Parameters::Args(ParametersArgs { args }),
            ParameterizeArguments::Value(Parameterization { name, version, value })
            | ParameterizeArguments::Extension(Parameterization { name, version, value }) => {
                Parameters::Value(ParametersValue { name, version, value })
            }
        };
        let request = rpc::ParameterizeRequest { parameters: Some(parameters) };
        let answer = self
            .ask("/pulumirpc.ResourceProvider/Parameterize", request, |mut client, request| async move {
                client.parameterize(request).await
            })
            .await
            .map_err(|status| self.failure(&status))?;
        Ok((answer.name, answer.version))
    }

    async fn schema(&self, package: Option<Parameterization>) -> Result<String, ProviderError> {
        let package = package.unwrap_or_default();
        let request = rpc::GetSchemaRequest {
            version: 0,
            subpackage_name: package.name,
            subpackage_version: package.version,
        };
        let answer = self
            .ask("/pulumirpc.ResourceProvider/GetSchema", request, |mut client, request| async move {
                client.get_schema(request).await
            })
            .await
            .map_err(|status| self.failure(&status))?;
        Ok(answer.schema)
    }

    async fn version(&self) -> Result<String, ProviderError> {
        if let Some(version) = &self.options.version {
            return Ok(version.clone());
        }
        match self
            .ask("/pulumirpc.ResourceProvider/GetPluginInfo", (), |mut client, request| async move {
                client.get_plugin_info(request).await
            })
            .await
        {
            Ok(info) => Ok(info.version),
            Err(status) if status.code() == tonic::Code::Unimplemented => Ok(String::new()),
            Err(status) => Err(self.failure(&status)),
        }
    }

    async fn check_config(&self, arguments: CheckArguments) -> Result<Checked, ProviderError> {
        self.call_check_config(arguments).await
    }

    async fn diff_config(&self, arguments: DiffArguments) -> Result<Diff, ProviderError> {
        self.call_diff_config(arguments).await
    }

    /// Returns at once; the provider takes its configuration while others go on, and whoever needs it waits. That it
    /// refused the configuration is the answer to the first who does.
    async fn configure(&self, arguments: ConfigureArguments) -> Result<(), ProviderError> {
        self.begin_configure(arguments)
    }

    async fn check(&self, arguments: CheckArguments) -> Result<Checked, ProviderError> {
        self.call_check(arguments).await
    }

    async fn diff(&self, arguments: DiffArguments) -> Result<Diff, ProviderError> {
        self.call_diff(arguments).await
    }

    async fn create(&self, arguments: CreateArguments) -> Result<AppliedState, ProviderError> {
        self.call_create(arguments).await
    }

    async fn read(&self, arguments: ReadArguments) -> Result<ReadState, ProviderError> {
        self.call_read(arguments).await
    }

    async fn update(&self, arguments: UpdateArguments) -> Result<AppliedState, ProviderError> {
        self.call_update(arguments).await
    }

    async fn delete(&self, arguments: DeleteArguments) -> Result<(), ProviderError> {
        self.call_delete(arguments).await
    }

    async fn invoke(
        &self,
        token: &str,
        arguments: PropertyMap,
        dry_run: bool,
    ) -> Result<Invoked, ProviderError> {
        self.call_invoke(token, arguments, dry_run).await
    }

    async fn call(&self, arguments: CallArguments) -> Result<CallAnswer, ProviderError> {
        self.call_method(arguments).await
    }

    async fn construct(&self, arguments: ConstructArguments) -> Result<Constructed, ProviderError> {
        self.call_construct(arguments).await
    }

    fn supports_autonaming(&self) -> bool {
        self.session.supports_autonaming()
    }

    async fn cancel(&self) -> Result<(), ProviderError> {
        let sent = self.send("/pulumirpc.ResourceProvider/Cancel", (), |mut client, request| async move {
            client.cancel(request).await
        });
        match unanswered::answer_within(self.whom(), Duration::ZERO, STOP_GRACE, sent).await {
            Err(status) if status.code() != tonic::Code::Unimplemented => Err(self.failure(&status)),
            _ => Ok(()),
        }
    }
}
