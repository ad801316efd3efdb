//! Options of resources between the wire and the engine.

use super::{duration, refusal::Refusal};
use crate::proto::pulumirpc as rpc;
use drystone_engine::{Alias, AliasParent, HookBindings, HookMoment, Timeouts};
use drystone_model::Urn;
use rpc::alias::{Alias as Form, Spec, spec::Parent};
use rpc::register_resource_request::{CustomTimeouts, ResourceHooksBinding};

/// Whether aliases mean what they say. Older SDKs of Node have it the wrong way round: they say no parent for the same
/// parent and nothing for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AliasStyle {
    Specified,
    OldNode,
}

/// A name that a resource had before.
pub(crate) fn read_alias(alias: rpc::Alias, style: AliasStyle) -> Result<Alias, Refusal> {
    let spec = match alias.alias {
        Some(Form::Spec(spec)) => spec,
        Some(Form::Urn(urn)) => return read_urn("alias", &urn).map(Alias::Urn),
        None => return read_urn("alias", "").map(Alias::Urn),
    };
    let parent = match (spec.parent, style) {
        (Some(Parent::ParentUrn(urn)), _) if !urn.is_empty() => {
            AliasParent::Urn(read_urn("parent alias", &urn)?)
        }
        (Some(Parent::ParentUrn(_)) | None, AliasStyle::OldNode) => AliasParent::Root,
        (Some(Parent::NoParent(true)), AliasStyle::Specified) => AliasParent::Root,
        _ => AliasParent::Unchanged,
    };
    let Spec { name, r#type: type_token, stack, project, .. } = spec;
    Ok(Alias::Spec { name, type_token, stack, project, parent })
}

/// The same for the wire.
pub(crate) fn write_alias(alias: Alias) -> rpc::Alias {
    let form = match alias {
        Alias::Urn(urn) => Form::Urn(urn.to_string()),
        Alias::Spec { name, type_token, stack, project, parent } => Form::Spec(Spec {
            name,
            r#type: type_token,
            stack,
            project,
            parent: match parent {
                AliasParent::Unchanged => None,
                AliasParent::Root => Some(Parent::NoParent(true)),
                AliasParent::Urn(urn) => Some(Parent::ParentUrn(urn.to_string())),
            },
        }),
    };
    rpc::Alias { alias: Some(form) }
}

/// A URN that must be one.
pub(crate) fn read_urn(what: &str, text: &str) -> Result<Urn, Refusal> {
    Urn::parse(text).map_err(|error| Refusal::urn(what, &error))
}

/// A URN that may be missing.
pub(crate) fn read_optional_urn(what: &str, text: &str) -> Result<Urn, Refusal> {
    if text.is_empty() { Ok(Urn::default()) } else { read_urn(what, text) }
}

/// URNs that must be such.
pub(crate) fn read_urns(what: &str, texts: &[String]) -> Result<Vec<Urn>, Refusal> {
    texts.iter().map(|text| read_urn(what, text)).collect()
}

/// URNs as texts.
pub(crate) fn write_urns(urns: &[Urn]) -> Vec<String> {
    urns.iter().map(ToString::to_string).collect()
}

/// Time limits in seconds.
pub(crate) fn read_timeouts(timeouts: Option<CustomTimeouts>) -> Result<Timeouts, Refusal> {
    let read = |text: String| {
        if text.is_empty() {
            return Ok(0.0);
        }
        duration::seconds(&text)
            .ok_or_else(|| Refusal::invalid(format!("unable to parse customTimeout Value {text}")))
    };
    let timeouts = timeouts.unwrap_or_default();
    Ok(Timeouts {
        create: read(timeouts.create)?,
        update: read(timeouts.update)?,
        delete: read(timeouts.delete)?,
        read: read(timeouts.read)?,
    })
}

/// Time limits as durations; none when all are the provider's own.
pub(crate) fn write_timeouts(timeouts: Timeouts) -> Option<CustomTimeouts> {
    (timeouts != Timeouts::default()).then(|| CustomTimeouts {
        create: duration::text(timeouts.create),
        update: duration::text(timeouts.update),
        delete: duration::text(timeouts.delete),
        read: duration::text(timeouts.read),
    })
}

/// Names of hooks by the moment they run.
pub(crate) fn read_hooks(binding: Option<ResourceHooksBinding>) -> HookBindings {
    let Some(binding) = binding else { return HookBindings::new() };
    [
        (HookMoment::BeforeCreate, binding.before_create),
        (HookMoment::AfterCreate, binding.after_create),
        (HookMoment::BeforeUpdate, binding.before_update),
        (HookMoment::AfterUpdate, binding.after_update),
        (HookMoment::BeforeDelete, binding.before_delete),
        (HookMoment::AfterDelete, binding.after_delete),
        (HookMoment::OnError, binding.on_error),
    ]
    .into_iter()
    .filter(|(_, names)| !names.is_empty())
    .collect()
}

/// The same for the wire; none when there are no hooks.
pub(crate) fn write_hooks(mut bindings: HookBindings) -> Option<ResourceHooksBinding> {
    if bindings.is_empty() {
        return None;
    }
    let mut take = |moment| bindings.remove(&moment).unwrap_or_default();
    Some(ResourceHooksBinding {
        before_create: take(HookMoment::BeforeCreate),
        after_create: take(HookMoment::AfterCreate),
        before_update: take(HookMoment::BeforeUpdate),
        after_update: take(HookMoment::AfterUpdate),
        before_delete: take(HookMoment::BeforeDelete),
        after_delete: take(HookMoment::AfterDelete),
        on_error: take(HookMoment::OnError),
    })
}
