//! cdkd's stacks as snapshots.

use super::{Member, Projection, aws_native};
use crate::cdkd::{Members, Resource, StackKey, StackState};
use drystone_model::{Json, Properties, Snapshot};
use std::collections::BTreeMap;

/// The package of what Cloud Control has no type for.
pub const PACKAGE: &str = "cdkd";

/// What is nested deeper keeps its names.
const DEEPEST: usize = 64;

/// Properties whose members are the user's own words rather than names of properties.
const FREE_FORM: &[&str] = &[
    "AssumeRolePolicyDocument",
    "Definition",
    "DefinitionSubstitutions",
    "DockerLabels",
    "EventPattern",
    "FilterPolicy",
    "KeyPolicy",
    "Labels",
    "Parameters",
    "PolicyDocument",
    "PolicyText",
    "RedriveAllowPolicy",
    "RedrivePolicy",
    "RepositoryPolicyText",
    "RequestParameters",
    "ResourcePolicy",
    "ResponseParameters",
    "StageVariables",
    "Tags",
    "Variables",
];

impl StackState {
    /// The state as a snapshot: types through Cloud Control's names, physical ids as ids, dependencies kept. A resource's
    /// outputs are what its service told of it, and its attributes.
    #[must_use]
    pub fn project(&self, key: &StackKey) -> Snapshot {
        let region = BTreeMap::from([("region", key.region.as_str())]);
        let members = self.resources.iter().map(|(id, resource)| member(id, resource)).collect();
        Projection {
            project: key.stack.as_str(),
            stack: key.region.as_str(),
            time: written(self.last_modified),
            outputs: object(&self.outputs),
            providers: BTreeMap::from([(aws_native::PACKAGE, object(&region))]),
            members,
        }
        .snapshot()
    }
}

fn member(logical_id: &str, resource: &Resource) -> Member {
    let native = aws_native::type_token(&resource.resource_type);
    let is_native = native.is_some();
    let properties = |json: Option<&Json>| match json {
        Some(json) if is_native => Properties::new(renamed(json, 0)),
        Some(json) => Properties::new(json.clone()),
        None => Properties::default(),
    };
    let mut outputs = Members::<Json>::default();
    for source in
        [&resource.properties, &resource.observed_properties, &resource.attributes].into_iter().flatten()
    {
        for (name, value) in source.decode::<Members<Json>>().unwrap_or_default() {
            outputs.insert(name, value);
        }
    }
    Member {
        name: logical_id.to_owned(),
        type_token: native.unwrap_or_else(|| own_type(&resource.resource_type)),
        id: resource.physical_id.clone(),
        inputs: properties(resource.properties.as_ref()),
        outputs: properties(Json::from_serialize(&outputs).ok().as_ref()),
        needs: resource.needs().to_vec(),
        retained: resource.is_retained(),
    }
}

/// A type of our own for one that Cloud Control does not have: `AWS::CloudFormation::Stack` is
/// `cdkd:AWS.CloudFormation:Stack`.
fn own_type(cloud_formation: &str) -> String {
    let parts: Vec<&str> = cloud_formation.split("::").collect();
    match parts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{PACKAGE}:{}:{last}", rest.join(".")),
        _ => format!("{PACKAGE}:index:{cloud_formation}"),
    }
}

/// A value with the package's names for CloudFormation's. Values stay as they were written (S10).
fn renamed(json: &Json, depth: usize) -> Json {
    if depth == DEEPEST {
        return json.clone();
    }
    let renamed = match json.text().trim_start().as_bytes().first() {
        Some(b'{') => json.decode::<Members<Json>>().ok().and_then(|members| {
            let members: Members<Json> = members
                .into_iter()
                .map(|(name, value)| {
                    let is_free =
                        FREE_FORM.contains(&name.as_str()) && value.text().trim_start().starts_with('{');
                    let value = if is_free { value } else { self::renamed(&value, depth + 1) };
                    (aws_native::property_name(&name), value)
                })
                .collect();
            Json::from_serialize(&members).ok()
        }),
        Some(b'[') => json.decode::<Vec<Json>>().ok().and_then(|elements| {
            let elements: Vec<Json> =
                elements.iter().map(|element| self::renamed(element, depth + 1)).collect();
            Json::from_serialize(&elements).ok()
        }),
        _ => None,
    };
    renamed.unwrap_or_else(|| json.clone())
}

fn object<T: serde::Serialize>(members: &T) -> Properties {
    Json::from_serialize(members).map(Properties::new).unwrap_or_default()
}

/// Milliseconds since 1970 as RFC 3339.
fn written(milliseconds: i64) -> String {
    jiff::Timestamp::from_millisecond(milliseconds).map(|time| time.to_string()).unwrap_or_default()
}
