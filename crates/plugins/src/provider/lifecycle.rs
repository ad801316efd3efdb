//! Checking, comparing, making, reading, changing and deleting resources.

use super::session::{Protocol, Readiness};
use super::{GrpcProvider, echo, failure};
use crate::proto::pulumirpc as rpc;
use crate::wire::{Contents, Decoding, Encoding, Properties, Struct, Unknowns, WireError};
use drystone_engine::{
    AppliedState, Autonaming, CheckArguments, CheckFailure, Checked, CreateArguments, DeleteArguments, Diff,
    DiffArguments, DiffChanges, DiffKind, PropertyDiff, ProviderError, ProviderErrorKind, ReadArguments,
    ReadState, State, UpdateArguments,
};

/// Why a preview cannot say what would change.
const UNAVAILABLE: &str = "The provider for this resource has inputs that are not known during preview.\n\
                           This preview may not correctly represent the changes that will be applied during an update.";

impl GrpcProvider {
    /// Where the provider publishes views of what it does under a token.
    fn status_address(&self, token: &str) -> String {
        if token.is_empty() { String::new() } else { self.options.endpoint.address().to_owned() }
    }

    pub(super) async fn call_check(&self, arguments: CheckArguments) -> Result<Checked, ProviderError> {
        let Readiness::Ready(protocol) = self.session.ready().await? else {
            return Ok(Checked { properties: arguments.new_inputs, failures: Vec::new() });
        };
        let encoding = protocol.encoding(sent(arguments.dry_run), Contents::Keep);
        let request = rpc::CheckRequest {
            urn: arguments.urn.to_string(),
            name: arguments.urn.name().to_owned(),
            r#type: arguments.urn.type_token().to_owned(),
            // Always there, even for a new resource: providers written for Node rely on it.
            olds: encode(encoding, &arguments.old_inputs)?,
            news: encode(encoding, &arguments.new_inputs)?,
            random_seed: arguments.seed,
            autonaming: arguments.autonaming.filter(|_| self.session.supports_autonaming()).map(autonaming),
        };
        let answer = self
            .ask("/pulumirpc.ResourceProvider/Check", request, |mut client, request| async move {
                client.check(request).await
            })
            .await
            .map_err(|status| self.failure(&status))?;
        let mut properties = received(answer.inputs.as_ref(), arguments.dry_run)?;
        restore_secrets(protocol, &mut properties, &arguments.new_inputs);
        Ok(Checked { properties, failures: failures(answer.failures) })
    }

    pub(super) async fn call_diff(&self, arguments: DiffArguments) -> Result<Diff, ProviderError> {
        let Readiness::Ready(protocol) = self.session.ready().await? else {
            return Err(ProviderError {
                kind: ProviderErrorKind::DiffUnavailable,
                message: UNAVAILABLE.to_owned(),
            });
        };
        let encoding = protocol.encoding(sent(arguments.dry_run), Contents::Elide);
        let request = rpc::DiffRequest {
            id: arguments.id,
            urn: arguments.urn.to_string(),
            name: arguments.urn.name().to_owned(),
            r#type: arguments.urn.type_token().to_owned(),
            old_inputs: encode(encoding, &arguments.old_inputs)?,
            olds: encode(encoding, &arguments.old_outputs)?,
            news: encode(encoding, &arguments.new_inputs)?,
            ignore_changes: arguments.ignore_changes,
        };
        let answer = self
            .ask("/pulumirpc.ResourceProvider/Diff", request, |mut client, request| async move {
                client.diff(request).await
            })
            .await
            .map_err(|status| self.failure(&status))?;
        Ok(diff(answer))
    }

    pub(super) async fn call_create(
        &self,
        arguments: CreateArguments,
    ) -> Result<AppliedState, ProviderError> {
        let readiness = self.session.ready().await?;
        if let Some(preview) = self.preview_without_asking(readiness, arguments.dry_run, &arguments.inputs) {
            return Ok(preview);
        }
        let protocol = known(readiness)?;
        let request = rpc::CreateRequest {
            urn: arguments.urn.to_string(),
            name: arguments.urn.name().to_owned(),
            r#type: arguments.urn.type_token().to_owned(),
            properties: encode(
                protocol.encoding(sent(arguments.dry_run), Contents::Keep),
                &arguments.inputs,
            )?,
            timeout: arguments.timeout,
            preview: arguments.dry_run,
            resource_status_address: self.status_address(&arguments.status_token),
            resource_status_token: arguments.status_token,
        };
        let (id, live, incomplete, refresh_before_update) = match self
            .change(
                arguments.timeout,
                "/pulumirpc.ResourceProvider/Create",
                request,
                |mut client, request| async move { client.create(request).await },
            )
            .await
        {
            Ok(answer) => (answer.id, answer.properties, Vec::new(), answer.refresh_before_update),
            Err(status) => {
                let mut failed = failure::init_failed(&status).ok_or_else(|| self.failure(&status))?;
                let reasons = failure::reasons(&mut failed);
                (failed.id, failed.properties, reasons, failed.refresh_before_update)
            }
        };
        if id.is_empty() && !arguments.dry_run {
            let urn = &arguments.urn;
            return Err(ProviderError::unknown(format!("the provider gave '{urn}' no id when it made it")));
        }
        let mut outputs = received(live.as_ref(), arguments.dry_run)?;
        restore_secrets(protocol, &mut outputs, &arguments.inputs);
        Ok(AppliedState { id, outputs, inputs: None, incomplete, refresh_before_update })
    }

    pub(super) async fn call_update(
        &self,
        arguments: UpdateArguments,
    ) -> Result<AppliedState, ProviderError> {
        let readiness = self.session.ready().await?;
        let preview = self.preview_without_asking(readiness, arguments.dry_run, &arguments.new_inputs);
        if let Some(preview) = preview {
            return Ok(AppliedState { id: arguments.id, ..preview });
        }
        let protocol = known(readiness)?;
        let old = protocol.encoding(Unknowns::Drop, Contents::Elide);
        let request = rpc::UpdateRequest {
            id: arguments.id.clone(),
            urn: arguments.urn.to_string(),
            name: arguments.urn.name().to_owned(),
            r#type: arguments.urn.type_token().to_owned(),
            old_inputs: encode(old, &arguments.old_inputs)?,
            olds: encode(old, &arguments.old_outputs)?,
            news: encode(protocol.encoding(sent(arguments.dry_run), Contents::Keep), &arguments.new_inputs)?,
            timeout: arguments.timeout,
            ignore_changes: arguments.ignore_changes,
            preview: arguments.dry_run,
            resource_status_address: self.status_address(&arguments.status_token),
            resource_status_token: arguments.status_token,
            old_views: views(protocol, &arguments.old_views)?,
        };
        let (live, incomplete, refresh_before_update) = match self
            .change(
                arguments.timeout,
                "/pulumirpc.ResourceProvider/Update",
                request,
                |mut client, request| async move { client.update(request).await },
            )
            .await
        {
            Ok(answer) => (answer.properties, Vec::new(), answer.refresh_before_update),
            Err(status) => {
                let mut failed = failure::init_failed(&status).ok_or_else(|| self.failure(&status))?;
                let reasons = failure::reasons(&mut failed);
                (failed.properties, reasons, failed.refresh_before_update)
            }
        };
        let mut outputs = received(live.as_ref(), arguments.dry_run)?;
        restore_secrets(protocol, &mut outputs, &arguments.new_inputs);
        Ok(AppliedState { id: arguments.id, outputs, inputs: None, incomplete, refresh_before_update })
    }

    /// What a preview gives without asking: nothing, where the provider could not be configured, so that everything
    /// counts as unknown; the inputs, where it cannot preview.
    fn preview_without_asking(
        &self,
        readiness: Readiness,
        dry_run: bool,
        inputs: &Properties,
    ) -> Option<AppliedState> {
        let outputs = match readiness {
            _ if !dry_run => return None,
            Readiness::Unconfigured => Properties::new(),
            Readiness::Ready(protocol) if protocol.previews && !self.options.disable_preview => return None,
            Readiness::Ready(_) => inputs.clone(),
        };
        Some(AppliedState { outputs, ..AppliedState::default() })
    }

    pub(super) async fn call_read(&self, arguments: ReadArguments) -> Result<ReadState, ProviderError> {
        let Readiness::Ready(protocol) = self.session.ready().await? else {
            let nothing = Some(Properties::new());
            return Ok(ReadState { inputs: nothing.clone(), outputs: nothing, ..ReadState::default() });
        };
        let encoding = protocol.encoding(Unknowns::Drop, Contents::Elide);
        let inputs = if arguments.inputs.is_empty() { None } else { encode(encoding, &arguments.inputs)? };
        let request = rpc::ReadRequest {
            id: arguments.id,
            urn: arguments.urn.to_string(),
            name: arguments.urn.name().to_owned(),
            r#type: arguments.urn.type_token().to_owned(),
            properties: encode(encoding, &arguments.outputs)?,
            inputs,
            timeout: arguments.timeout,
            resource_status_address: self.status_address(&arguments.status_token),
            resource_status_token: arguments.status_token,
            old_views: views(protocol, &arguments.old_views)?,
        };
        let (answer, incomplete) = match self
            .limited(
                arguments.timeout,
                self.ask("/pulumirpc.ResourceProvider/Read", request, |mut client, request| async move {
                    client.read(request).await
                }),
            )
            .await
        {
            Ok(answer) => (answer, Vec::new()),
            Err(status) => {
                let mut failed = failure::init_failed(&status).ok_or_else(|| self.failure(&status))?;
                let reasons = failure::reasons(&mut failed);
                let answer = rpc::ReadResponse {
                    id: failed.id,
                    properties: failed.properties,
                    inputs: failed.inputs,
                    refresh_before_update: failed.refresh_before_update,
                };
                (answer, reasons)
            }
        };
        let read = |live: Option<&Struct>| live.map(|live| received(Some(live), false)).transpose();
        let mut inputs = read(answer.inputs.as_ref())?;
        let mut outputs = read(answer.properties.as_ref())?;
        if let Some(inputs) = &mut inputs {
            restore_secrets(protocol, inputs, &arguments.inputs);
            echo::restore_contents(inputs, &arguments.inputs);
        }
        if let Some(outputs) = &mut outputs {
            restore_secrets(protocol, outputs, &arguments.outputs);
            echo::restore_contents(outputs, &arguments.inputs);
        }
        let refresh_before_update = answer.refresh_before_update;
        Ok(ReadState { id: answer.id, inputs, outputs, incomplete, refresh_before_update })
    }

    pub(super) async fn call_delete(&self, arguments: DeleteArguments) -> Result<(), ProviderError> {
        let protocol = known(self.session.ready().await?)?;
        let encoding = protocol.encoding(Unknowns::Drop, Contents::Elide);
        let request = rpc::DeleteRequest {
            id: arguments.id,
            urn: arguments.urn.to_string(),
            name: arguments.urn.name().to_owned(),
            r#type: arguments.urn.type_token().to_owned(),
            properties: encode(encoding, &arguments.outputs)?,
            old_inputs: encode(encoding, &arguments.inputs)?,
            timeout: arguments.timeout,
            resource_status_address: self.status_address(&arguments.status_token),
            resource_status_token: arguments.status_token,
            old_views: views(protocol, &arguments.old_views)?,
        };
        self.change(
            arguments.timeout,
            "/pulumirpc.ResourceProvider/Delete",
            request,
            |mut client, request| async move { client.delete(request).await },
        )
        .await
        .map(drop)
        .map_err(|status| self.failure(&status))
    }
}

/// The protocol of a provider that must be configured by now, because something real is about to be done.
fn known(readiness: Readiness) -> Result<Protocol, ProviderError> {
    match readiness {
        Readiness::Ready(protocol) => Ok(protocol),
        Readiness::Unconfigured => {
            Err(ProviderError::new("the provider's configuration has values that are not known"))
        }
    }
}

/// Unknown values travel in previews only.
pub(super) fn sent(dry_run: bool) -> Unknowns {
    if dry_run { Unknowns::Keep } else { Unknowns::Drop }
}

pub(super) fn encode(encoding: Encoding, properties: &Properties) -> Result<Option<Struct>, ProviderError> {
    encoding.properties(properties).map(Some).map_err(|error| cannot_send(&error))
}

pub(super) fn cannot_send(error: &WireError) -> ProviderError {
    ProviderError::new(error.to_string())
}

/// What the provider answered. Outside of previews everything must be known.
pub(super) fn received(live: Option<&Struct>, dry_run: bool) -> Result<Properties, ProviderError> {
    let unknowns = if dry_run { Unknowns::Keep } else { Unknowns::Reject };
    let decoding = Decoding { unknowns, ..Decoding::default() };
    live.map_or(Ok(Properties::new()), |live| decoding.properties(live)).map_err(failure::senseless)
}

fn restore_secrets(protocol: Protocol, answered: &mut Properties, sent: &Properties) {
    if !protocol.accepts.secrets {
        echo::restore_secrets(answered, sent);
    }
}

fn autonaming(naming: Autonaming) -> rpc::check_request::AutonamingOptions {
    use rpc::check_request::autonaming_options::Mode;
    let (mode, proposed_name) = match naming {
        Autonaming::Propose(name) => (Mode::Propose, name),
        Autonaming::Enforce(name) => (Mode::Enforce, name),
        Autonaming::Disable => (Mode::Disable, String::new()),
    };
    rpc::check_request::AutonamingOptions { proposed_name, mode: mode.into() }
}

pub(super) fn failures(failures: Vec<rpc::CheckFailure>) -> Vec<CheckFailure> {
    failures
        .into_iter()
        .map(|failure| CheckFailure { property: failure.property, reason: failure.reason })
        .collect()
}

pub(super) fn diff(answer: rpc::DiffResponse) -> Diff {
    let changes = match answer.changes() {
        rpc::diff_response::DiffChanges::DiffUnknown => DiffChanges::Unknown,
        rpc::diff_response::DiffChanges::DiffNone => DiffChanges::None,
        rpc::diff_response::DiffChanges::DiffSome => DiffChanges::Some,
    };
    let detailed = answer.has_detailed_diff.then(|| {
        answer.detailed_diff.into_iter().map(|(path, change)| (path, property_diff(change))).collect()
    });
    Diff {
        changes,
        replace_keys: answer.replaces,
        stable_keys: answer.stables,
        changed_keys: answer.diffs,
        detailed,
        delete_before_replace: answer.delete_before_replace,
    }
}

/// A change of a kind that nobody knows is an update.
pub(crate) fn property_diff(change: rpc::PropertyDiff) -> PropertyDiff {
    use rpc::property_diff::Kind;
    let kind = match Kind::try_from(change.kind) {
        Ok(Kind::Add) => DiffKind::Add,
        Ok(Kind::AddReplace) => DiffKind::AddReplace,
        Ok(Kind::Delete) => DiffKind::Delete,
        Ok(Kind::DeleteReplace) => DiffKind::DeleteReplace,
        Ok(Kind::UpdateReplace) => DiffKind::UpdateReplace,
        Ok(Kind::Update) | Err(_) => DiffKind::Update,
    };
    PropertyDiff { kind, input_diff: change.input_diff }
}

/// The views that a resource has, for the provider that published them.
fn views(protocol: Protocol, states: &[State]) -> Result<Vec<rpc::View>, ProviderError> {
    let encoding = protocol.encoding(Unknowns::Drop, Contents::Keep);
    states
        .iter()
        .map(|state| {
            // The parent of a view inside another one is that view; otherwise it is the resource itself.
            let parent = &state.record.parent;
            let inner = !parent.is_empty() && *parent != state.record.view_of;
            Ok(rpc::View {
                r#type: state.record.type_token.clone(),
                name: state.record.urn.name().to_owned(),
                parent_type: if inner { parent.type_token().to_owned() } else { String::new() },
                parent_name: if inner { parent.name().to_owned() } else { String::new() },
                inputs: encode(encoding, &state.inputs)?,
                outputs: encode(encoding, &state.outputs)?,
            })
        })
        .collect()
}
