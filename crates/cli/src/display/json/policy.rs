//! What event logs say of policies.

use super::state::blinded;
use crate::display::text::strip_sequences;
use drystone_engine::{PolicyName, PolicySummary, PropertyMap, Violation};
use drystone_model::{Json, Urn};
use serde::Serialize;

/// Which policy pack.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PackShape<'e> {
    policy_pack_name: &'e str,
    policy_pack_version: &'e str,
    policy_pack_version_tag: &'e str,
}

impl<'e> PackShape<'e> {
    fn new(name: &'e str, version: &'e str) -> Self {
        Self { policy_pack_name: name, policy_pack_version: version, policy_pack_version_tag: version }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ViolationShape<'e> {
    #[serde(skip_serializing_if = "is_no_urn")]
    resource_urn: &'e Urn,
    message: String,
    color: &'static str,
    policy_name: &'e str,
    #[serde(flatten)]
    pack: PackShape<'e>,
    enforcement_level: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    severity: &'static str,
}

impl<'e> ViolationShape<'e> {
    pub(super) fn new(violation: &'e Violation) -> Self {
        Self {
            resource_urn: &violation.urn,
            message: message(violation),
            color: "never",
            policy_name: &violation.name.policy,
            pack: PackShape::new(&violation.name.pack, &violation.name.version),
            enforcement_level: violation.level.as_str(),
            severity: violation.severity.as_str(),
        }
    }
}

/// The words of a pack with a line break at the end, because readers print them as they are.
pub(super) fn message(violation: &Violation) -> String {
    format!("{}\n", strip_sequences(&violation.message))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RemediationShape<'e> {
    #[serde(skip_serializing_if = "is_no_urn")]
    resource_urn: &'e Urn,
    color: &'static str,
    policy_name: &'e str,
    #[serde(flatten)]
    pack: PackShape<'e>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Json>,
}

impl<'e> RemediationShape<'e> {
    pub(super) fn new(name: &'e PolicyName, urn: &'e Urn, before: &PropertyMap, after: &PropertyMap) -> Self {
        let filled = |properties: &PropertyMap| blinded(properties).filter(|_| !properties.is_empty());
        Self {
            resource_urn: urn,
            color: "raw",
            policy_name: &name.policy,
            pack: PackShape::new(&name.pack, &name.version),
            before: filled(before),
            after: filled(after),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PolicySummaryShape<'e> {
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_urn: Option<&'e Urn>,
    #[serde(flatten)]
    pack: PackShape<'e>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    passed: &'e [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    failed: &'e [String],
}

impl<'e> PolicySummaryShape<'e> {
    /// Of the stack, which has no URN there, or of a resource.
    pub(super) fn new(summary: &'e PolicySummary, urn: Option<&'e Urn>) -> Self {
        Self {
            resource_urn: urn,
            pack: PackShape::new(&summary.pack, &summary.version),
            passed: &summary.passed,
            failed: &summary.failed,
        }
    }
}

fn is_no_urn(urn: &&Urn) -> bool {
    urn.is_empty()
}
