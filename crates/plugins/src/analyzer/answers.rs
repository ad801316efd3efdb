//! What is sent to a policy pack, and what its answers mean.

use crate::proto::pulumirpc as rpc;
use crate::wire::{Accepts, Decoding, Encoding, Properties, Struct, WireError};
use drystone_engine::{
    Analyzed, AnalyzedOptions, AnalyzedProvider, AnalyzedResource, EnforcementLevel, Policy, PolicyName,
    PolicyPack, PolicyScope, PolicySeverity, PropertyMap, Remediated, Remediation, Violation,
};
use drystone_model::Urn;
use std::collections::HashMap;

/// What becomes of properties that are the engine's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Internal {
    /// They are sent, because what comes back takes the place of all.
    Sent,
    /// They are left out.
    Left,
}

/// An answer that makes no sense.
#[derive(Debug, thiserror::Error)]
pub(super) enum Senseless {
    #[error("{0} is not an enforcement level")]
    Level(i32),
    #[error("a schema of its settings cannot be read")]
    Schema,
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// A question about a resource.
pub(super) fn request(
    resource: &AnalyzedResource,
    internal: Internal,
) -> Result<rpc::AnalyzeRequest, WireError> {
    Ok(rpc::AnalyzeRequest {
        r#type: resource.urn.type_token().to_owned(),
        properties: Some(properties(&resource.properties, internal)?),
        urn: resource.urn.to_string(),
        name: resource.urn.name().to_owned(),
        options: Some(options(&resource.options)),
        provider: provider(resource.provider.as_ref())?,
    })
}

/// A question about the stack.
pub(super) fn stack_request(resources: &[AnalyzedResource]) -> Result<rpc::AnalyzeStackRequest, WireError> {
    let resources = resources.iter().map(|resource| {
        let question = request(resource, Internal::Left)?;
        let of_properties = resource.property_dependencies.iter().filter(|(_, urns)| !urns.is_empty());
        Ok(rpc::AnalyzerResource {
            r#type: question.r#type,
            properties: question.properties,
            urn: question.urn,
            name: question.name,
            options: question.options,
            provider: question.provider,
            parent: resource.options.parent.to_string(),
            dependencies: texts(&resource.dependencies),
            property_dependencies: of_properties
                .map(|(key, urns)| (key.clone(), rpc::AnalyzerPropertyDependencies { urns: texts(urns) }))
                .collect(),
        })
    });
    Ok(rpc::AnalyzeStackRequest { resources: resources.collect::<Result<_, WireError>>()? })
}

fn properties(properties: &PropertyMap, internal: Internal) -> Result<Struct, WireError> {
    let encoding = Encoding::to(Accepts { secrets: true, ..Accepts::default() });
    let is_internal = |key: &String| key.starts_with("__");
    if internal == Internal::Sent || !properties.keys().any(is_internal) {
        return encoding.properties(properties);
    }
    let own = properties.iter().filter(|(key, _)| !is_internal(key));
    encoding.properties(&own.map(|(key, value)| (key.clone(), value.clone())).collect::<Properties>())
}

fn options(options: &AnalyzedOptions) -> rpc::AnalyzerResourceOptions {
    rpc::AnalyzerResourceOptions {
        protect: options.protect,
        ignore_changes: options.ignore_changes.clone(),
        delete_before_replace: options.delete_before_replace.unwrap_or_default(),
        delete_before_replace_defined: options.delete_before_replace.is_some(),
        additional_secret_outputs: options.additional_secret_outputs.clone(),
        aliases: texts(&options.aliases),
        custom_timeouts: Some(rpc::analyzer_resource_options::CustomTimeouts {
            create: options.timeouts.create,
            update: options.timeouts.update,
            delete: options.timeouts.delete,
            read: options.timeouts.read,
        }),
        parent: options.parent.to_string(),
    }
}

fn provider(provider: Option<&AnalyzedProvider>) -> Result<Option<rpc::AnalyzerProviderResource>, WireError> {
    let provider = provider.map(|provider| {
        Ok::<_, WireError>(rpc::AnalyzerProviderResource {
            r#type: provider.urn.type_token().to_owned(),
            properties: Some(properties(&provider.properties, Internal::Left)?),
            urn: provider.urn.to_string(),
            name: provider.urn.name().to_owned(),
        })
    });
    provider.transpose()
}

fn texts(urns: &[Urn]) -> Vec<String> {
    urns.iter().map(ToString::to_string).collect()
}

/// What a pack says of itself.
pub(super) fn pack(
    info: &rpc::AnalyzerInfo,
    speaker: &Speaker,
    folder: &str,
) -> Result<PolicyPack, Senseless> {
    let policies = info.policies.iter().map(|policy| {
        Ok(Policy {
            name: policy.name.clone(),
            level: level(policy.enforcement_level)?,
            scope: match policy.policy_type() {
                rpc::PolicyType::Unknown => PolicyScope::Unknown,
                rpc::PolicyType::Resource => PolicyScope::Resource,
                rpc::PolicyType::Stack => PolicyScope::Stack,
            },
        })
    });
    Ok(PolicyPack {
        name: info.name.clone(),
        version: speaker.version.clone().unwrap_or_else(|| info.version.clone()),
        folder: folder.to_owned(),
        policies: policies.collect::<Result<_, Senseless>>()?,
    })
}

/// Understands the answers of one pack.
#[derive(Debug, Default)]
pub(super) struct Speaker {
    /// The version that goes before what answers say.
    version: Option<String>,
    /// How bad it is to break a policy, by name, where answers do not say.
    severities: HashMap<String, PolicySeverity>,
}

impl Speaker {
    pub(super) fn of(info: &rpc::AnalyzerInfo, version: Option<String>) -> Self {
        let severities =
            info.policies.iter().map(|policy| (policy.name.clone(), severity(policy.severity())));
        Self { version, severities: severities.collect() }
    }

    /// What a pack found wrong.
    pub(super) fn analyzed(&self, answer: rpc::AnalyzeResponse) -> Result<Analyzed, Senseless> {
        let violations = answer.diagnostics.into_iter().map(|said| {
            let severity = match severity(said.severity()) {
                PolicySeverity::Unspecified => self.severities.get(&said.policy_name).copied(),
                said => Some(said),
            };
            Ok(Violation {
                level: level(said.enforcement_level)?,
                severity: severity.unwrap_or_default(),
                name: self.name(said.policy_name, said.policy_pack_name, said.policy_pack_version),
                description: said.description,
                message: said.message,
                urn: Urn::new(said.urn),
            })
        });
        Ok(Analyzed {
            violations: violations.collect::<Result<_, Senseless>>()?,
            not_applicable: not_applicable(answer.not_applicable),
        })
    }

    /// What a pack would change.
    pub(super) fn remediated(&self, answer: rpc::RemediateResponse) -> Result<Remediated, Senseless> {
        let remediations = answer.remediations.into_iter().map(|said| {
            Ok(Remediation {
                properties: Decoding::default().properties(&said.properties.unwrap_or_default())?,
                name: self.name(said.policy_name, said.policy_pack_name, said.policy_pack_version),
                description: said.description,
                diagnostic: said.diagnostic,
            })
        });
        Ok(Remediated {
            remediations: remediations.collect::<Result<_, Senseless>>()?,
            not_applicable: not_applicable(answer.not_applicable),
        })
    }

    fn name(&self, policy: String, pack: String, version: String) -> PolicyName {
        PolicyName { policy, pack, version: self.version.clone().unwrap_or(version) }
    }
}

fn not_applicable(said: Vec<rpc::PolicyNotApplicable>) -> Vec<String> {
    said.into_iter().map(|said| said.policy_name).collect()
}

/// The level of a number on the wire.
pub(super) fn level(number: i32) -> Result<EnforcementLevel, Senseless> {
    match rpc::EnforcementLevel::try_from(number) {
        Ok(rpc::EnforcementLevel::Advisory) => Ok(EnforcementLevel::Advisory),
        Ok(rpc::EnforcementLevel::Mandatory) => Ok(EnforcementLevel::Mandatory),
        Ok(rpc::EnforcementLevel::Disabled) => Ok(EnforcementLevel::Disabled),
        Ok(rpc::EnforcementLevel::Remediate) => Ok(EnforcementLevel::Remediate),
        Err(_) => Err(Senseless::Level(number)),
    }
}

/// The number of a level on the wire.
pub(super) fn level_number(level: EnforcementLevel) -> i32 {
    let level = match level {
        EnforcementLevel::Advisory => rpc::EnforcementLevel::Advisory,
        EnforcementLevel::Mandatory => rpc::EnforcementLevel::Mandatory,
        EnforcementLevel::Disabled => rpc::EnforcementLevel::Disabled,
        EnforcementLevel::Remediate => rpc::EnforcementLevel::Remediate,
    };
    level.into()
}

fn severity(severity: rpc::PolicySeverity) -> PolicySeverity {
    match severity {
        rpc::PolicySeverity::Unspecified => PolicySeverity::Unspecified,
        rpc::PolicySeverity::Low => PolicySeverity::Low,
        rpc::PolicySeverity::Medium => PolicySeverity::Medium,
        rpc::PolicySeverity::High => PolicySeverity::High,
        rpc::PolicySeverity::Critical => PolicySeverity::Critical,
    }
}
