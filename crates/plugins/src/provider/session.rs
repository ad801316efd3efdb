//! What is settled with a provider: what it understands, and whether it is configured.

use crate::proto::pulumirpc as rpc;
use crate::wire::{Accepts, Contents, Encoding, Unknowns};
use drystone_engine::ProviderError;
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;

/// What a provider understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Protocol {
    pub(super) accepts: Accepts,
    /// Whether it can say what Create and Update would give.
    pub(super) previews: bool,
    autonaming: bool,
}

impl Protocol {
    /// How inputs and outputs are written for it. Outputs with dependencies only travel to components.
    pub(super) fn encoding(self, unknowns: Unknowns, contents: Contents) -> Encoding {
        let accepts = Accepts { outputs: false, ..self.accepts };
        Encoding { accepts, unknowns, contents, ..Encoding::default() }
    }
}

impl From<&rpc::ProviderHandshakeResponse> for Protocol {
    fn from(answer: &rpc::ProviderHandshakeResponse) -> Self {
        Self {
            accepts: Accepts {
                secrets: answer.accept_secrets,
                resources: answer.accept_resources,
                outputs: answer.accept_outputs,
                bytes: answer.accepts_byte_string,
            },
            previews: true,
            autonaming: answer.supports_autonaming_configuration,
        }
    }
}

impl From<&rpc::ConfigureResponse> for Protocol {
    /// Bytes are only settled by a handshake.
    fn from(answer: &rpc::ConfigureResponse) -> Self {
        Self {
            accepts: Accepts {
                secrets: answer.accept_secrets,
                resources: answer.accept_resources,
                outputs: answer.accept_outputs,
                bytes: false,
            },
            previews: answer.supports_preview,
            autonaming: answer.supports_autonaming_configuration,
        }
    }
}

/// How far a provider's configuration has come.
#[derive(Debug, Clone, Default)]
enum Progress {
    #[default]
    NotBegun,
    Running,
    /// Some of it is not known before the update, so the provider did not get it.
    Unknown,
    Done,
    Failed(ProviderError),
}

/// Whether a provider may be asked about resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Readiness {
    /// It may.
    Ready(Protocol),
    /// Some of its configuration is not known, so it was never told and cannot be asked.
    Unconfigured,
}

/// What is settled with a provider. Copies are the same session.
#[derive(Debug, Clone, Default)]
pub(super) struct Session {
    protocol: Arc<OnceLock<Protocol>>,
    progress: watch::Sender<Progress>,
}

impl Session {
    pub(super) fn shook_hands(&self, answer: &rpc::ProviderHandshakeResponse) {
        let _ = self.protocol.set(answer.into());
    }

    pub(super) fn begin(&self) {
        self.progress.send_replace(Progress::Running);
    }

    pub(super) fn leave_unconfigured(&self) {
        self.progress.send_replace(Progress::Unknown);
    }

    /// What Configure answered. It settles the protocol only if no handshake did.
    pub(super) fn configured(&self, answer: Result<&rpc::ConfigureResponse, ProviderError>) {
        self.progress.send_replace(match answer {
            Ok(answer) => {
                let _ = self.protocol.set(answer.into());
                Progress::Done
            }
            Err(error) => Progress::Failed(error),
        });
    }

    /// Waits until the provider has its configuration or refused it.
    pub(super) async fn ready(&self) -> Result<Readiness, ProviderError> {
        let mut watched = self.progress.subscribe();
        let settled = watched.wait_for(|progress| !matches!(progress, Progress::Running)).await;
        let settled = settled.map_err(|_| ProviderError::new("the provider is gone"))?;
        match &*settled {
            Progress::Done => Ok(Readiness::Ready(self.protocol.get().copied().unwrap_or_default())),
            Progress::Unknown => Ok(Readiness::Unconfigured),
            Progress::Failed(error) => Err(error.clone()),
            Progress::NotBegun | Progress::Running => {
                Err(ProviderError::new("the provider has not been configured"))
            }
        }
    }

    pub(super) fn supports_autonaming(&self) -> bool {
        self.protocol.get().is_some_and(|protocol| protocol.autonaming)
    }
}
