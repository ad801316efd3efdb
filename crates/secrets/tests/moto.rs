//! AWS KMS as moto serves it. What it does not do, such as refusing a disabled key, is in the suite.

use drystone_secrets::{Error, KeyServiceFault, KeyServices, Keyring, Manager, Passphrases, SystemEntropy};
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// A server of moto, ended with the test.
struct Moto {
    process: Child,
    address: String,
}

impl Moto {
    fn start() -> Self {
        let place = std::env::var_os("DRYSTONE_PEER_MOTO").expect("DRYSTONE_PEER_MOTO is not set");
        let program = std::path::Path::new(&place).join("bin/moto_server");
        let mut process = Command::new(program)
            .args(["-H", "127.0.0.1", "-p", "0"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("moto starts");
        let lines = BufReader::new(process.stderr.take().expect("piped")).lines();
        let mut lines = lines.map_while(Result::ok);
        let running = lines.find_map(|line| line.split("Running on ").nth(1).map(str::to_owned));
        let address = running.expect("it says where it is");
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, address: address.trim().to_owned() }
    }

    fn call(&self, action: &str, body: &serde_json::Value) -> serde_json::Value {
        let mut answer = ureq::post(&self.address)
            .header("content-type", "application/x-amz-json-1.1")
            .header("x-amz-target", format!("TrentService.{action}"))
            .header("authorization", "AWS4-HMAC-SHA256 Credential=a/20260101/eu-central-1/kms/aws4_request")
            .send(body.to_string())
            .expect("an answer");
        serde_json::from_str(&answer.body_mut().read_to_string().expect("text")).unwrap_or_default()
    }

    fn keyring(&self) -> Keyring {
        let address = self.address.clone();
        let lookup = move |name: &str| -> Option<OsString> {
            let own = match name {
                "AWS_ENDPOINT_URL_KMS" => Some(address.as_str()),
                "AWS_REGION" => Some("eu-central-1"),
                "AWS_ACCESS_KEY_ID" => Some("AKIA1"),
                "AWS_SECRET_ACCESS_KEY" => Some("secret"),
                _ => None,
            };
            own.map(Into::into)
        };
        Keyring::with_services(Passphrases::new(|_| None), KeyServices::new(lookup), Arc::new(SystemEntropy))
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn fault(error: &Error) -> &KeyServiceFault {
    match error.cause() {
        Error::KeyService(error) => &error.fault,
        other => panic!("{other}"),
    }
}

#[test]
#[ignore = "needs moto: run by cargo xtask test"]
fn keys_of_aws_seal_data_keys_by_alias_id_and_arn() {
    let moto = Moto::start();
    let key = moto.call("CreateKey", &serde_json::json!({}))["KeyMetadata"].clone();
    let (id, arn) = (key["KeyId"].as_str().expect("an id"), key["Arn"].as_str().expect("an ARN"));
    moto.call("CreateAlias", &serde_json::json!({ "AliasName": "alias/stacks", "TargetKeyId": id }));
    let urls = [
        "awskms://alias/stacks".to_owned(),
        format!("awskms://{id}?region=eu-central-1&awssdk=v2"),
        format!("awskms:///{arn}?context_stack=shop&context_team=a"),
    ];
    for url in &urls {
        let manager = Manager::with_key_service(&moto.keyring(), url).expect("a manager");
        let secret = manager.crypter().encrypt_one(&"top".into()).unwrap();
        let keyring = moto.keyring();
        let later = Manager::of_snapshot(&keyring, manager.provider(), None);
        assert_eq!(later.crypter().decrypt_one(&secret).unwrap().as_text().unwrap(), "top", "{url}");
        assert_eq!(keyring.unwraps(), 1);
    }

    // What was sealed in one context opens in no other.
    let sealed = Manager::with_key_service(&moto.keyring(), &urls[2]).unwrap().settings().unwrap();
    let other = drystone_secrets::Settings {
        secrets_provider: urls[2].replace("context_team=a", "context_team=b"),
        ..sealed
    };
    let other = Manager::of_settings(&moto.keyring(), &other, None).unwrap().unwrap();
    let refused = other.unlock().unwrap_err();
    assert!(matches!(fault(&refused), KeyServiceFault::OtherKey(_)), "{refused}");

    let missing = Manager::with_key_service(&moto.keyring(), "awskms://alias/nothing").unwrap_err();
    assert!(matches!(fault(&missing), KeyServiceFault::NoKey(_)), "{missing}");
}
