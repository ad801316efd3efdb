//! Snapshots: everything a stack knows at one moment.

use crate::{Json, Operation, Resource, Urn, record};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

record! {
    /// A stack's state at one moment, secrets sealed. Resources stand after everything they refer to.
    pub struct Snapshot {
        /// Who wrote it and when.
        always "manifest" => manifest: Manifest,
        /// What seals its secrets.
        optional "secrets_providers" => secrets_provider: Option<SecretsProvider>,
        /// The resources, in dependency order.
        optional "resources" => resources: Vec<Resource>,
        /// Operations that had begun and not ended.
        optional "pending_operations" => pending_operations: Vec<Operation>,
        /// Facts about the snapshot itself.
        always "metadata" => metadata: Metadata,
        /// Program snippets kept with the state.
        optional "snippets" => snippets: Vec<Snippet>,
        /// Extension blobs by reference.
        optional "extensions" => extensions: BTreeMap<String, Extension>,
    }
}

record! {
    /// Who wrote a snapshot and when.
    pub struct Manifest {
        /// The moment, RFC 3339.
        always "time" => time: String,
        /// The SHA-256 of `version` in hex, or empty with it.
        always "magic" => magic: String,
        /// The version of the tool.
        always "version" => version: String,
        /// Plugins that took part; older tools wrote them.
        optional "plugins" => plugins: Vec<Json>,
    }
}

impl Manifest {
    /// A manifest whose magic fits its version.
    #[must_use]
    pub fn new(time: impl Into<String>, version: impl Into<String>) -> Self {
        let version = version.into();
        Self { time: time.into(), magic: Self::magic_of(&version), version, ..Self::default() }
    }

    /// The magic that belongs to a version.
    #[must_use]
    pub fn magic_of(version: &str) -> String {
        if version.is_empty() {
            return String::new();
        }
        Sha256::digest(version.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

record! {
    /// The secrets manager of a snapshot and what it needs to open values.
    pub struct SecretsProvider {
        /// The kind: `passphrase`, `cloud`, `service`, …
        always "type" => kind: String,
        /// Its public state, such as the salt.
        optional "state" => state: Option<Json>,
    }
}

record! {
    /// Facts about the snapshot itself.
    pub struct Metadata {
        /// Set when the snapshot was written although it breaks a rule (S7).
        optional "integrity_error" => integrity_error: Option<IntegrityErrorRecord>,
    }
}

record! {
    /// Which command wrote a snapshot that breaks a rule, and which rule.
    pub struct IntegrityErrorRecord {
        /// The version of the tool.
        optional "version" => version: String,
        /// Its command line.
        optional "command" => command: String,
        /// The rule that is broken.
        optional "error" => error: String,
        /// The settings in its environment.
        optional "env_vars" => env_vars: BTreeMap<String, String>,
    }
}

record! {
    /// A piece of program kept with the state.
    pub struct Snippet {
        /// Its identity.
        always "uuid" => uuid: String,
        /// The name of the resource that it registers.
        always "name" => name: String,
        /// The type of that resource.
        always "type" => type_token: String,
        /// Its source.
        always "code" => code: String,
        /// The package that owns the type.
        always "descriptor" => descriptor: Option<Json>,
        /// The resources that the source names.
        optional "references" => references: BTreeMap<String, Urn>,
    }
}

record! {
    /// An extension of a package, as its provider returned it.
    pub struct Extension {
        /// The package's name.
        always "name" => name: String,
        /// The package's version.
        always "version" => version: String,
        /// The blob, base64.
        always "value" => value: Option<String>,
    }
}
