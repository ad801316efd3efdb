//! AWS KMS as moto serves it. What it does not do, such as refusing a disabled key, is in the suite.

use drystone_dialects::unobin::{Envelope, Ref};
use drystone_secrets::envelope::{Encrypter, Encrypters, Form, open, seal};
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

    /// What a process finds in its variables.
    fn variables(&self) -> impl Fn(&str) -> Option<OsString> + Send + Sync + use<> {
        let address = self.address.clone();
        move |name: &str| -> Option<OsString> {
            let own = match name {
                "AWS_ENDPOINT_URL_KMS" => Some(address.as_str()),
                "AWS_REGION" => Some("eu-central-1"),
                "AWS_ACCESS_KEY_ID" => Some("AKIA1"),
                "AWS_SECRET_ACCESS_KEY" => Some("secret"),
                _ => None,
            };
            own.map(Into::into)
        }
    }

    fn keyring(&self) -> Keyring {
        let services = KeyServices::new(self.variables());
        Keyring::with_services(Passphrases::new(|_| None), services, Arc::new(SystemEntropy))
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

#[test]
#[ignore = "needs moto: run by cargo xtask test"]
fn s16_keys_of_aws_seal_whole_documents_by_alias_id_and_arn() {
    let moto = Moto::start();
    let key = moto.call("CreateKey", &serde_json::json!({}))["KeyMetadata"].clone();
    let (id, arn) = (key["KeyId"].as_str().expect("an id"), key["Arn"].as_str().expect("an ARN"));
    moto.call("CreateAlias", &serde_json::json!({ "AliasName": "alias/state", "TargetKeyId": id }));
    let encrypter = |key: &str| -> Arc<dyn Encrypter> {
        let body = [("key-id", key.to_owned()), ("region", "eu-central-1".to_owned())];
        let encrypters = Encrypters::new(Box::new(moto.variables()));
        encrypters.resolve(&Ref::built_in("kms", body)).expect("an encrypter")
    };
    for key in ["alias/state", id, arn] {
        let sealed = seal(b"top", Form::Shared(None), &*encrypter(key)).unwrap();
        let opened = open(&sealed, None, |_| Ok(encrypter(key))).unwrap();
        assert_eq!(opened.body.as_bytes(), b"top", "{key}");
        let mut changed = Envelope::decode(&sealed).unwrap();
        let blob = String::from_utf8(changed.ciphertext.clone()).unwrap();
        changed.ciphertext = blob.replace(r#""encrypted-key":""#, r#""encrypted-key":"AAAA"#).into_bytes();
        let refused = open(&changed.encode(), None, |_| Ok(encrypter(key))).unwrap_err().to_string();
        assert!(refused.contains("cannot open the data key"), "{refused}");
    }
    let missing = seal(b"top", Form::Shared(None), &*encrypter("alias/nothing")).unwrap_err().to_string();
    let told = "seal: encrypt: kms encrypter: cannot seal the data key with alias/nothing: no such key";
    assert!(missing.starts_with(told), "{missing}");
}

/// A data key that the service itself made, as unobin has it do.
#[test]
#[ignore = "needs moto: run by cargo xtask test"]
fn s16_a_document_under_a_data_key_that_aws_made_is_opened() {
    use aes_gcm::aead::Aead;
    use aes_gcm::{Aes256Gcm, KeyInit, Nonce};
    use base64::{Engine, engine::general_purpose::STANDARD};

    let moto = Moto::start();
    let id = moto.call("CreateKey", &serde_json::json!({}))["KeyMetadata"]["KeyId"].clone();
    let made = moto.call("GenerateDataKey", &serde_json::json!({ "KeyId": id, "KeySpec": "AES_256" }));
    let key = STANDARD.decode(made["Plaintext"].as_str().expect("a key")).expect("base64");
    let cipher = Aes256Gcm::new_from_slice(&key).expect("32 bytes");
    let nonce = [7; 12];
    let payload = cipher.encrypt(&Nonce::from(nonce), b"top".as_slice()).expect("sealed");
    let payload = STANDARD.encode([&nonce[..], &payload].concat());
    let wrapped = made["CiphertextBlob"].as_str().expect("sealed");
    let blob = format!(r#"{{"version":1,"encrypted-key":"{wrapped}","payload":"{payload}"}}"#);
    let envelope = Envelope { version: 1, ciphertext: blob.into_bytes(), ..Envelope::default() };
    let body = [("key-id", id.as_str().expect("an id").to_owned())];
    let encrypters = Encrypters::new(Box::new(moto.variables()));
    let encrypter = encrypters.resolve(&Ref::built_in("kms", body)).expect("an encrypter");
    assert_eq!(open(&envelope.encode(), None, |_| Ok(encrypter)).unwrap().body.as_bytes(), b"top");
}
