//! Sandboxes whose stacks a key service guards.

#![allow(dead_code, reason = "each test uses a part of it")]

use crate::harness::{Ended, Sandbox};
use drystone_standins::Cloud;
use drystone_standins::azure::{self, Azure};
use drystone_standins::google::Google;
use drystone_standins::vault::{ROOT, Vault};

/// A key of Vault.
pub(crate) const VAULT_KEY: &str = "hashivault://stacks";

/// A key of Azure.
pub(crate) const AZURE_KEY: &str = "azurekeyvault://acme.vault.azure.net/keys/stacks";

/// A key of Google.
pub(crate) const GOOGLE_KEY: &str = "gcpkms://projects/acme/locations/eu/keyRings/ci/cryptoKeys/stacks";

/// A program with secrets of its own and one of the configuration.
pub(crate) const PROGRAM: &str = "name: shop
runtime: yaml
config:
  token: { type: string, secret: true, default: none }
resources:
  kept: { type: 'pulumi:index:Stash', properties: { input: ['${token}', { 'fn::secret': hush-hush }] } }
outputs:
  hidden: ${kept.output}
";

/// Lets a sandbox's commands find Vault.
pub(crate) fn set_vault(sandbox: &mut Sandbox, vault: &Vault) {
    sandbox.set("VAULT_ADDR", &vault.server().address());
    sandbox.set("VAULT_TOKEN", ROOT);
    sandbox.set("VAULT_MAX_RETRIES", "0");
}

/// Puts a sandbox's commands behind a cloud's proxy, and lets them trust it.
pub(crate) fn set_cloud(sandbox: &mut Sandbox, cloud: &Cloud) {
    let authority = sandbox.folder().join("authority.pem");
    std::fs::write(&authority, cloud.authority()).expect("a file");
    sandbox.set("HTTPS_PROXY", &cloud.server().address());
    sandbox.set("SSL_CERT_FILE", &authority.display().to_string());
}

/// A stand-in of Azure with the key [`AZURE_KEY`], and what lets a sandbox's commands ask it.
pub(crate) fn azure(sandbox: &mut Sandbox) -> (Azure, Cloud) {
    let azure = Azure::default();
    azure.make("stacks");
    let inside = azure.clone();
    let cloud = Cloud::start(move |asked| inside.answer(asked));
    set_cloud(sandbox, &cloud);
    sandbox.set("AZURE_TENANT_ID", azure::TENANT);
    sandbox.set("AZURE_CLIENT_ID", azure::CLIENT);
    sandbox.set("AZURE_CLIENT_SECRET", azure::SECRET);
    (azure, cloud)
}

/// A stand-in of Google with the key [`GOOGLE_KEY`], and what lets a sandbox's commands ask it.
pub(crate) fn google(sandbox: &mut Sandbox) -> (Google, Cloud) {
    let google = Google::default();
    google.make(GOOGLE_KEY.trim_start_matches("gcpkms://"));
    let inside = google.clone();
    let cloud = Cloud::start(move |asked| inside.answer(asked));
    set_cloud(sandbox, &cloud);
    let file = sandbox.folder().join("account.json");
    std::fs::write(&file, google.credentials()).expect("a file");
    sandbox.set("GOOGLE_APPLICATION_CREDENTIALS", &file.display().to_string());
    (google, cloud)
}

/// Makes the stack `dev`, guarded by a key, with a secret in its configuration and secrets in its state.
pub(crate) fn make_guarded(sandbox: &Sandbox, url: &str) {
    sandbox.ok(&["stack", "init", "dev", "--secrets-provider", url]);
    sandbox.write("Pulumi.yaml", PROGRAM);
    sandbox.ok(&["config", "set", "--secret", "token", "tok-1", "-s", "dev"]);
    let ended = up(sandbox);
    assert_eq!(ended.code, 0, "{ended:#?}");
}

pub(crate) fn up(sandbox: &Sandbox) -> Ended {
    sandbox.drystone(&["up", "--yes", "--skip-preview", "--stack", "dev"])
}

/// Asserts that settings and state open, and that neither shows a secret unasked.
pub(crate) fn opens(sandbox: &Sandbox) {
    assert_eq!(sandbox.ok(&["config", "get", "token", "-s", "dev"]).trim(), "tok-1");
    let hidden = sandbox.ok(&["stack", "output", "hidden", "-s", "dev", "--show-secrets"]);
    assert!(hidden.contains("hush-hush") && hidden.contains("tok-1"), "{hidden}");
    let state = sandbox.ok(&["stack", "export", "-s", "dev", "--show-secrets"]);
    assert!(state.contains("hush-hush"), "{state}");
    let sealed = sandbox.ok(&["stack", "export", "-s", "dev"]) + &sandbox.read("Pulumi.dev.yaml");
    assert!(!sealed.contains("hush-hush") && !sealed.contains("tok-1"), "{sealed}");
}
