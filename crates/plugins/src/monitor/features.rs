//! What programs are told of the run and of what this engine can do.

use super::MonitorSettings;
use crate::proto::pulumirpc::{DeploymentInfo, ResourceMonitorFeature as Feature};

/// Every feature with the name that older SDKs ask for it by; newer features have none.
const FEATURES: [(Feature, &str); 16] = [
    (Feature::Secrets, "secrets"),
    (Feature::ResourceReferences, "resourceReferences"),
    (Feature::OutputValues, "outputValues"),
    (Feature::AliasSpecs, "aliasSpecs"),
    (Feature::ReplacementTrigger, "replacementTrigger"),
    (Feature::DeletedWith, "deletedWith"),
    (Feature::ReplaceWith, "replaceWith"),
    (Feature::Transforms, "transforms"),
    (Feature::InvokeTransforms, "invokeTransforms"),
    (Feature::Parameterization, "parameterization"),
    (Feature::ResourceHooks, "resourceHooks"),
    (Feature::ErrorHooks, "errorHooks"),
    (Feature::SendsOptionsToHooks, "sendsOptionsToHooks"),
    (Feature::ByteString, ""),
    (Feature::InvokeDependsOn, ""),
    (Feature::InvokeParent, ""),
];

fn enabled(settings: &MonitorSettings, feature: Feature) -> bool {
    match feature {
        Feature::ResourceReferences => settings.resource_references,
        Feature::OutputValues => settings.output_values,
        _ => true,
    }
}

/// Whether there is a feature of that name.
pub(super) fn supports(settings: &MonitorSettings, id: &str) -> bool {
    FEATURES.iter().any(|(feature, name)| !name.is_empty() && *name == id && enabled(settings, *feature))
}

/// The run as programs see it.
pub(super) fn deployment_info(settings: &MonitorSettings) -> DeploymentInfo {
    let info = &settings.info;
    let features = FEATURES.iter().filter(|(feature, _)| enabled(settings, *feature));
    DeploymentInfo {
        project: info.project.clone(),
        stack: info.stack.clone(),
        organization: info.organization.clone(),
        config: info.config.clone().into_iter().collect(),
        config_secret_keys: info.secret_keys.clone(),
        dry_run: info.dry_run,
        parallel: i32::try_from(info.parallel).ok().filter(|parallel| *parallel > 0).unwrap_or(i32::MAX),
        supported_features: features.map(|(feature, _)| i32::from(*feature)).collect(),
    }
}
