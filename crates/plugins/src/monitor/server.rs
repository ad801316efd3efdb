//! The port that programs and plugins are given.

use super::{Endpoint, service::Service};
use crate::LARGEST_MESSAGE;
use crate::loader::Schemas;
use crate::proto::codegen::{loader_server::LoaderServer, mapper_server::MapperServer};
use crate::proto::pulumirpc::{
    engine_server::EngineServer, package_resolver_server::PackageResolverServer,
    resource_monitor_server::ResourceMonitorServer, resource_status_server::ResourceStatusServer,
};
use crate::trace::CallLog;
use drystone_engine::{EventSink, RunInfo};
use std::{fmt, io, net::Ipv4Addr, path::PathBuf, sync::Arc, time::Duration};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};
use tonic::transport::{Server, server::TcpIncoming};

/// How long calls that are under way may take when the server stops.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// What the server knows of the run.
#[derive(Clone)]
pub struct MonitorSettings {
    /// What programs are told of it.
    pub info: RunInfo,
    /// The project's folder, which source positions are relative to.
    pub root: PathBuf,
    /// The program's folder, which paths of assets are relative to.
    pub directory: PathBuf,
    /// The version that programs may require.
    pub version: String,
    /// Whether programs may send references to resources.
    pub resource_references: bool,
    /// Whether programs may send values with their dependencies.
    pub output_values: bool,
    /// Who hears of messages when no operation runs.
    pub events: Arc<dyn EventSink>,
}

impl fmt::Debug for MonitorSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MonitorSettings").field("project", &self.info.project).finish_non_exhaustive()
    }
}

/// The running server. Dropping it closes the port.
#[derive(Debug)]
pub struct MonitorServer {
    endpoint: Endpoint,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

impl MonitorServer {
    /// Opens a port on this machine and serves there.
    pub async fn start(settings: MonitorSettings) -> io::Result<Self> {
        Self::start_logged(settings, None).await
    }

    /// The same, with every call written to a log: those of programs and plugins to us, and ours to providers and
    /// callbacks.
    pub async fn start_logged(settings: MonitorSettings, log: Option<CallLog>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let endpoint = Endpoint::new(listener.local_addr()?.to_string()).logged(log);
        let service = Arc::new(Service::new(settings, endpoint.clone()));
        let schemas = Arc::new(Schemas::new(endpoint.clone()));
        let router = Server::builder()
            .add_service(
                ResourceMonitorServer::from_arc(Arc::clone(&service))
                    .max_decoding_message_size(LARGEST_MESSAGE)
                    .max_encoding_message_size(LARGEST_MESSAGE),
            )
            .add_service(
                EngineServer::from_arc(Arc::clone(&service)).max_decoding_message_size(LARGEST_MESSAGE),
            )
            .add_service(ResourceStatusServer::from_arc(service).max_decoding_message_size(LARGEST_MESSAGE))
            .add_service(
                LoaderServer::from_arc(Arc::clone(&schemas)).max_encoding_message_size(LARGEST_MESSAGE),
            )
            .add_service(MapperServer::from_arc(Arc::clone(&schemas)))
            .add_service(PackageResolverServer::from_arc(schemas));
        let (stop, stopped) = oneshot::channel();
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let serving = tokio::spawn(async move {
            let stopped = async { drop(stopped.await) };
            // It fails only when it cannot accept connections, which those who try to connect notice.
            let _ = router.serve_with_incoming_shutdown(incoming, stopped).await;
        });
        Ok(Self { endpoint, stop: Some(stop), serving })
    }

    /// Where it is reached, and where an operation attaches.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Closes the port. Calls that are under way get a moment to end.
    pub async fn stop(mut self) {
        self.endpoint.detach();
        drop(self.stop.take());
        let _ = tokio::time::timeout(STOP_GRACE, &mut self.serving).await;
    }
}

impl Drop for MonitorServer {
    fn drop(&mut self) {
        self.endpoint.detach();
        self.serving.abort();
    }
}
