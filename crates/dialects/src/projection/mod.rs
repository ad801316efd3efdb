//! The stacks of other systems as snapshots of the model, for the commands that read, compare and copy.
//!
//! A projection keeps everything: what has a type that a Pulumi provider serves gets that type, and what has none gets
//! one of the system's own package (`cdkd:…`, `unobin:…`), which [`leave_out`] takes away where a provider must serve all
//! that is there.

mod aws_native;
mod back;
pub mod cdkd;
mod leaving_out;
pub mod unobin;

pub use back::NoWayBack;
pub use leaving_out::leave_out;

use drystone_model::{Manifest, Properties, ProviderReference, ROOT_STACK_TYPE, Resource, Snapshot, Urn};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The type of what a member needs and nobody knows, so that the snapshot breaks a rule as its stack does.
const MISSING: &str = "unknown:index:Missing";

/// What is to become a resource.
#[derive(Debug, Default)]
struct Member {
    /// Its name, which no other has.
    name: String,
    type_token: String,
    id: String,
    inputs: Properties,
    outputs: Properties,
    /// The names of what it needs.
    needs: Vec<String>,
    retained: bool,
}

/// A stack that is being put together.
struct Projection<'a> {
    project: &'a str,
    stack: &'a str,
    /// When the state was written, RFC 3339.
    time: String,
    outputs: Properties,
    /// The inputs of the provider of each package that has some.
    providers: BTreeMap<&'static str, Properties>,
    members: Vec<Member>,
}

impl Projection<'_> {
    /// The snapshot: the stack itself, the providers, and the members after what they need.
    fn snapshot(mut self) -> Snapshot {
        let members = in_order(std::mem::take(&mut self.members));
        let packages: BTreeSet<&str> = members.iter().map(|member| package(&member.type_token)).collect();
        let urns: HashMap<&str, Urn> = members
            .iter()
            .map(|member| (member.name.as_str(), self.urn(&member.type_token, &member.name)))
            .collect();
        let root = self.root();
        let mut resources = vec![root.clone()];
        resources.extend(packages.iter().map(|package| self.provider(package)));
        for member in &members {
            let missing = |name: &String| self.urn(MISSING, name);
            let needs = member
                .needs
                .iter()
                .map(|name| urns.get(name.as_str()).cloned().unwrap_or_else(|| missing(name)));
            let provider = self.provider(package(&member.type_token));
            resources.push(Resource {
                urn: self.urn(&member.type_token, &member.name),
                custom: true,
                id: member.id.clone(),
                type_token: member.type_token.clone(),
                inputs: member.inputs.clone(),
                outputs: member.outputs.clone(),
                parent: root.urn.clone(),
                dependencies: needs.collect(),
                provider: ProviderReference { urn: provider.urn, id: provider.id }.to_string(),
                retain_on_delete: member.retained,
                ..Resource::default()
            });
        }
        Snapshot {
            manifest: Manifest { time: self.time, ..Manifest::default() },
            resources,
            ..Snapshot::default()
        }
    }

    fn urn(&self, type_token: &str, name: &str) -> Urn {
        Urn::build(self.stack, self.project, "", type_token, name)
    }

    fn root(&self) -> Resource {
        Resource {
            urn: self.urn(ROOT_STACK_TYPE, &format!("{}-{}", self.project, self.stack)),
            type_token: ROOT_STACK_TYPE.to_owned(),
            outputs: self.outputs.clone(),
            ..Resource::default()
        }
    }

    /// The default provider of a package.
    fn provider(&self, package: &str) -> Resource {
        let type_token = format!("pulumi:providers:{package}");
        let inputs = self.providers.get(package).cloned().unwrap_or_default();
        let urn = self.urn(&type_token, "default");
        Resource {
            id: identity(&urn),
            urn,
            custom: true,
            type_token,
            outputs: inputs.clone(),
            inputs,
            ..Resource::default()
        }
    }
}

/// The package of a type.
fn package(type_token: &str) -> &str {
    type_token.split(':').next().unwrap_or(type_token)
}

/// An id in the form of those that providers have, the same each time for the same provider.
fn identity(urn: &Urn) -> String {
    let digest = Sha256::digest(urn.as_str().as_bytes());
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// The members after what they need, as near to their own order as that allows. Those that need themselves by some way
/// come last: the snapshot then breaks a rule, which is told where snapshots are checked.
fn in_order(members: Vec<Member>) -> Vec<Member> {
    let known: HashSet<String> = members.iter().map(|member| member.name.clone()).collect();
    let mut placed: HashSet<String> = HashSet::new();
    let mut ordered = Vec::with_capacity(members.len());
    let mut waiting = members;
    loop {
        let before = waiting.len();
        let mut still = Vec::new();
        for member in waiting {
            if member.needs.iter().all(|need| placed.contains(need) || !known.contains(need)) {
                placed.insert(member.name.clone());
                ordered.push(member);
            } else {
                still.push(member);
            }
        }
        if still.is_empty() || still.len() == before {
            ordered.extend(still);
            return ordered;
        }
        waiting = still;
    }
}
