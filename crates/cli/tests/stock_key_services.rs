//! Our CLI and the stock one take turns on stacks that a key service guards.

mod guarded;
mod harness;

use drystone_standins::vault::Vault;
use guarded::{AZURE_KEY, VAULT_KEY, azure, opens, set_vault};
use harness::Sandbox;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

type Turn = fn(&Sandbox, &[&str]) -> String;

const OURS: Turn = |sandbox, arguments| sandbox.ok(arguments);
const STOCK: Turn = |sandbox, arguments| sandbox.stock_ok(arguments);

/// A document with a secret in clear.
fn document() -> String {
    let secret = serde_json::json!({
        "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
        "plaintext": "[\"tok-1\",\"hush-hush\"]",
    });
    serde_json::json!({ "version": 3, "deployment": {
        "manifest": { "time": "2026-01-02T03:04:05.678Z", "magic": "", "version": "" },
        "resources": [{ "urn": "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev", "custom": false,
            "type": "pulumi:pulumi:Stack", "outputs": { "hidden": secret } }],
    }})
    .to_string()
}

/// One CLI makes the stack and its secrets, the other opens them and changes the data key, the first opens those.
fn take_turns(sandbox: &Sandbox, url: &str) {
    for (first, second) in [(OURS, STOCK), (STOCK, OURS)] {
        first(sandbox, &["stack", "init", "dev", "--secrets-provider", url]);
        first(sandbox, &["config", "set", "--secret", "token", "tok-1", "-s", "dev"]);
        let file = sandbox.folder().join("document.json");
        std::fs::write(&file, document()).expect("a file");
        // The stock CLI does not seal what a document holds in clear; ours does, with the data key that the first made.
        sandbox.ok(&["stack", "import", "-s", "dev", "--file", &file.display().to_string()]);
        opens_with(sandbox, second);
        second(sandbox, &["stack", "change-secrets-provider", url, "-s", "dev"]);
        opens_with(sandbox, first);
        second(sandbox, &["stack", "change-secrets-provider", "passphrase", "-s", "dev"]);
        opens_with(sandbox, first);
        first(sandbox, &["stack", "change-secrets-provider", url, "-s", "dev"]);
        opens_with(sandbox, second);
        opens(sandbox);
        sandbox.ok(&["stack", "rm", "dev", "--yes", "--force"]);
    }
}

fn opens_with(sandbox: &Sandbox, turn: Turn) {
    assert_eq!(turn(sandbox, &["config", "get", "token", "-s", "dev"]).trim(), "tok-1");
    let hidden = turn(sandbox, &["stack", "output", "hidden", "-s", "dev", "--show-secrets"]);
    assert!(hidden.contains("hush-hush"), "{hidden}");
    let state = turn(sandbox, &["stack", "export", "-s", "dev", "--show-secrets"]);
    assert!(state.contains("hush-hush"), "{state}");
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn the_stock_cli_and_ours_share_a_stack_guarded_by_vault() {
    let mut sandbox = Sandbox::new();
    let vault = Vault::start();
    set_vault(&mut sandbox, &vault);
    take_turns(&sandbox, VAULT_KEY);
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn the_stock_cli_and_ours_share_a_stack_guarded_by_azure() {
    let mut sandbox = Sandbox::new();
    let (_azure, _cloud) = azure(&mut sandbox);
    take_turns(&sandbox, AZURE_KEY);
}

/// A server of moto, ended with the test.
struct Moto(Child);

impl Moto {
    fn start(sandbox: &mut Sandbox) -> Self {
        let place = std::env::var_os("DRYSTONE_PEER_MOTO").expect("DRYSTONE_PEER_MOTO is not set");
        let mut process = Command::new(std::path::Path::new(&place).join("bin/moto_server"))
            .args(["-H", "127.0.0.1", "-p", "0"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("moto starts");
        let lines = BufReader::new(process.stderr.take().expect("piped")).lines();
        let mut lines = lines.map_while(Result::ok);
        let address = lines.find_map(|line| line.split("Running on ").nth(1).map(str::to_owned));
        std::thread::spawn(move || lines.for_each(drop));
        sandbox.set("AWS_ENDPOINT_URL_KMS", address.expect("it says where it is").trim());
        sandbox.set("AWS_REGION", "eu-central-1");
        sandbox.set("AWS_ACCESS_KEY_ID", "AKIA1");
        sandbox.set("AWS_SECRET_ACCESS_KEY", "secret");
        Self(process)
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Asks moto for something.
fn kms(sandbox: &Sandbox, action: &str, body: &str) -> String {
    let script = "import os,sys,urllib.request as u\nprint(u.urlopen(u.Request(os.environ['AWS_ENDPOINT_URL_KMS'],sys.argv[2].encode(),{'X-Amz-Target':'TrentService.'+sys.argv[1],'Content-Type':'application/x-amz-json-1.1','Authorization':'AWS4-HMAC-SHA256 Credential=a/20260101/eu-central-1/kms/aws4_request'})).read().decode())";
    let place = std::env::var_os("DRYSTONE_PEER_MOTO").expect("DRYSTONE_PEER_MOTO is not set");
    let python = std::path::Path::new(&place).join("bin/python");
    let output = sandbox.command(&python, &["-c", script, action, body]).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
#[ignore = "needs the stock Pulumi CLI and moto: run by cargo xtask test"]
fn the_stock_cli_and_ours_share_a_stack_guarded_by_aws() {
    let mut sandbox = Sandbox::new();
    let _moto = Moto::start(&mut sandbox);
    let made: serde_json::Value = serde_json::from_str(&kms(&sandbox, "CreateKey", "{}")).expect("JSON");
    let (id, arn) = (&made["KeyMetadata"]["KeyId"], &made["KeyMetadata"]["Arn"]);
    kms(&sandbox, "CreateAlias", &format!(r#"{{"AliasName":"alias/stacks","TargetKeyId":{id}}}"#));
    take_turns(&sandbox, "awskms://alias/stacks?region=eu-central-1&awssdk=v2");
    take_turns(&sandbox, &format!("awskms:///{}?context_team=shop", arn.as_str().expect("an ARN")));
}
