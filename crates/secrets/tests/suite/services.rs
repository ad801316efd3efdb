//! Key services: data keys sealed and opened, once a keyring, and every way in which a service can fail.
//!
//! Vault and Google Cloud KMS are stand-ins; AWS KMS answers here with its documented errors, and is
//! moto in a test of its own. What needs the hosts of a cloud is tested through the CLI.

use drystone_secrets::{
    Error, KeyServiceFault as Fault, KeyServices, Keyring, Limits, Manager, Passphrases, Settings,
    SystemEntropy,
};
use drystone_standins::vault::{ROOT, Vault};
use drystone_standins::{Answer, Server, Trouble, google::Google};
use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Variables = Vec<(&'static str, String)>;

/// Short, so that what fails for good fails soon.
const LIMITS: Limits =
    Limits { answer: Duration::from_millis(400), attempts: 2, pause: Duration::from_millis(5) };

/// A keyring of a fresh process with these variables.
fn keyring(variables: &Variables) -> Keyring {
    let variables = variables.clone();
    let lookup = move |name: &str| -> Option<OsString> {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
    };
    let services = KeyServices::new(lookup).with_limits(LIMITS);
    Keyring::with_services(Passphrases::new(|_| None), services, Arc::new(SystemEntropy))
}

fn of_vault(vault: &Vault) -> Variables {
    vec![("VAULT_ADDR", vault.server().address()), ("VAULT_TOKEN", ROOT.to_owned())]
}

const KEY: &str = "hashivault://stacks";

/// The settings of a stack that a service guards, and a secret of it.
fn sealed(url: &str, variables: &Variables) -> (Settings, String) {
    let manager = Manager::with_key_service(&keyring(variables), url).expect("a manager");
    (manager.settings().unwrap(), manager.crypter().encrypt_one(&"top".into()).unwrap())
}

/// What comes of opening a secret in another process.
fn opened(settings: &Settings, secret: &str, variables: &Variables) -> Result<String, Error> {
    let keyring = keyring(variables);
    let manager = Manager::of_settings(&keyring, settings, None)?.expect("they name one");
    let opened = manager.crypter().decrypt_one(secret)?;
    assert_eq!(keyring.unwraps(), 1);
    Ok(opened.as_text()?.to_owned())
}

fn fault(error: &Error) -> &Fault {
    match error.cause() {
        Error::KeyService(error) => &error.fault,
        other => panic!("{other}"),
    }
}

#[test]
fn s18_a_service_opens_a_data_key_once_for_all_managers_and_values() {
    let vault = Vault::start();
    let (settings, secret) = sealed(KEY, &of_vault(&vault));
    assert_eq!((vault.server().count("/encrypt/stacks"), vault.server().count("/decrypt/stacks")), (1, 1));
    assert_eq!(settings.secrets_provider, KEY);
    assert!(settings.encryption_salt.is_empty());

    let keyring = keyring(&of_vault(&vault));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let manager = Manager::of_settings(&keyring, &settings, None).unwrap().unwrap();
                for _ in 0..20 {
                    assert_eq!(manager.crypter().decrypt_one(&secret).unwrap().as_text().unwrap(), "top");
                    manager.crypter().encrypt_one(&"more".into()).unwrap();
                }
            });
        }
    });
    assert_eq!(keyring.unwraps(), 1);
    assert_eq!(vault.server().count("/decrypt/stacks"), 2);
}

#[test]
fn a_manager_that_is_not_used_asks_no_service() {
    let vault = Vault::start();
    let (settings, _) = sealed(KEY, &of_vault(&vault));
    let asked = vault.server().asked().len();
    let keyring = keyring(&vec![]);
    let manager = Manager::of_settings(&keyring, &settings, None).unwrap().unwrap();
    assert_eq!(manager.settings().unwrap(), settings);
    assert_eq!(manager.key_service().as_deref(), Some(KEY));
    assert_eq!((keyring.unwraps(), vault.server().asked().len()), (0, asked));
}

#[test]
fn vault_is_asked_with_its_own_variables() {
    let vault = Vault::start();
    vault.mount("team/keys");
    let variables = vec![
        ("VAULT_SERVER_URL", format!("{}/", vault.server().address())),
        ("VAULT_ADDR", "http://127.0.0.1:1".to_owned()),
        ("VAULT_SERVER_TOKEN", ROOT.to_owned()),
        ("VAULT_TOKEN", "another".to_owned()),
        ("VAULT_NAMESPACE", "team".to_owned()),
    ];
    let url = "hashivault://my%20key?engine=keys";
    let (settings, secret) = sealed(url, &variables);
    assert_eq!(opened(&settings, &secret, &variables).unwrap(), "top");
    let asked = vault.server().asked().pop().unwrap();
    assert_eq!((asked.path.as_str(), asked.header("x-vault-request")), ("/v1/keys/decrypt/my%20key", "true"));
    let elsewhere: Variables = variables.into_iter().filter(|(name, _)| *name != "VAULT_NAMESPACE").collect();
    assert!(matches!(fault(&opened(&settings, &secret, &elsewhere).unwrap_err()), Fault::NoKey(_)));
}

#[test]
fn s18_what_an_older_version_of_a_key_sealed_still_opens() {
    let vault = Vault::start();
    let (settings, secret) = sealed(KEY, &of_vault(&vault));
    vault.rotate("stacks");
    assert_eq!(opened(&settings, &secret, &of_vault(&vault)).unwrap(), "top");
    let (newer, other) = sealed(KEY, &of_vault(&vault));
    assert_ne!(newer.encrypted_key, settings.encrypted_key);
    assert!(matches!(
        opened(&newer, &secret, &of_vault(&vault)).unwrap_err().cause(),
        Error::Unauthentic { .. }
    ));
    vault.set_oldest("stacks", 2);
    assert_eq!(opened(&newer, &other, &of_vault(&vault)).unwrap(), "top");
    let refused = opened(&settings, &secret, &of_vault(&vault)).unwrap_err();
    assert!(matches!(fault(&refused), Fault::Unusable(_)), "{refused}");
}

#[test]
fn what_vault_refuses_is_told_apart() {
    let vault = Vault::start();
    let (settings, secret) = sealed(KEY, &of_vault(&vault));
    let try_with = |variables: &Variables| opened(&settings, &secret, variables).unwrap_err();
    let at = |token: &str| vec![("VAULT_ADDR", vault.server().address()), ("VAULT_TOKEN", token.to_owned())];

    vault.grant("sealer", &["/encrypt/stacks"]);
    let denied = try_with(&at("sealer"));
    assert!(matches!(fault(&denied), Fault::Denied(_)), "{denied}");
    assert_eq!(
        denied.cause().to_string(),
        "cannot open the data key with hashivault://stacks: access denied: 1 error occurred: * permission denied"
    );
    vault.grant("short", &[]);
    assert_eq!(opened(&settings, &secret, &at("short")).unwrap(), "top");
    vault.revoke("short");
    assert!(matches!(fault(&try_with(&at("short"))), Fault::Denied(_)));

    let nobody = try_with(&vec![("VAULT_ADDR", vault.server().address())]);
    assert!(matches!(fault(&nobody), Fault::NoCredentials(_)), "{nobody}");
    assert!(matches!(fault(&try_with(&vec![])), Fault::Address(_)));

    vault.set_sealed(true);
    let shut = try_with(&of_vault(&vault));
    assert!(matches!(fault(&shut), Fault::Refused { status: 503, .. }), "{shut}");
    assert!(shut.to_string().contains("Vault is sealed"), "{shut}");
    vault.set_sealed(false);

    vault.delete("stacks");
    assert!(matches!(fault(&try_with(&of_vault(&vault))), Fault::NoKey(_)));
    vault.rotate("stacks");
    let other = try_with(&of_vault(&vault));
    assert!(matches!(fault(&other), Fault::OtherKey(_)), "{other}");
}

#[test]
fn who_may_seal_and_not_open_gets_no_new_data_key() {
    let vault = Vault::start();
    vault.grant("sealer", &["/encrypt/stacks"]);
    let variables = vec![("VAULT_ADDR", vault.server().address()), ("VAULT_TOKEN", "sealer".to_owned())];
    let refused = Manager::with_key_service(&keyring(&variables), KEY).unwrap_err();
    assert!(matches!(fault(&refused), Fault::Denied(_)), "{refused}");
}

#[test]
fn a_service_in_trouble_is_asked_again_within_limits_and_then_told_of() {
    let vault = Vault::start();
    let (settings, secret) = sealed(KEY, &of_vault(&vault));
    let server = vault.server();
    let try_now = || opened(&settings, &secret, &of_vault(&vault));

    server.suffer(Trouble::RefusesOnce(503, 1));
    assert_eq!(try_now().unwrap(), "top");

    let before = server.asked().len();
    server.suffer(Trouble::Refuses(500, "out\nof order".to_owned()));
    let broken = try_now().unwrap_err();
    assert!(matches!(fault(&broken), Fault::Refused { status: 500, .. }), "{broken}");
    assert!(broken.to_string().ends_with("answered 500: out of order"), "{broken}");
    assert_eq!(server.asked().len() - before, 2);

    server.suffer(Trouble::Babbles);
    let garbage = try_now().unwrap_err();
    assert!(matches!(fault(&garbage), Fault::Garbage { .. }), "{garbage}");

    server.suffer(Trouble::HangsUp);
    assert!(matches!(fault(&try_now().unwrap_err()), Fault::Silent { .. }));

    server.suffer(Trouble::Slow(Duration::from_secs(5)));
    let start = Instant::now();
    let late = try_now().unwrap_err();
    assert!(matches!(fault(&late), Fault::Silent { .. }), "{late}");
    assert!(late.to_string().contains("it took too long"), "{late}");
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());

    let gone = vec![("VAULT_ADDR", "http://127.0.0.1:1".to_owned())];
    let gone = opened(&settings, &secret, &gone).unwrap_err();
    assert!(gone.to_string().contains("no answer from 127.0.0.1:1"), "{gone}");
}

#[test]
fn s17_a_server_that_repeats_the_key_is_not_quoted() {
    let vault = Vault::start();
    vault.server().suffer(Trouble::Echoes);
    let variables = of_vault(&vault);
    let refused = Manager::with_key_service(&keyring(&variables), KEY).unwrap_err();
    let sent = vault.server().asked().pop().unwrap().json().unwrap();
    let key = sent["plaintext"].as_str().unwrap();
    let shown = format!("{refused} {refused:?}");
    assert!(!shown.contains(key.trim_end_matches('=')), "{shown}");
    assert!(shown.contains("left out"), "{shown}");
}

#[test]
fn s17_debug_of_a_keyring_with_an_open_data_key_shows_no_key_and_no_token() {
    let vault = Vault::start();
    let keyring = keyring(&of_vault(&vault));
    let manager = Manager::with_key_service(&keyring, KEY).unwrap();
    let shown = format!("{keyring:?} {manager:?}");
    assert!(!shown.contains(ROOT) && !shown.contains("vault:v1"), "{shown}");
}

#[test]
fn google_keys_check_sums_tokens_and_what_is_authenticated() {
    let google = Google::default();
    let name = "projects/acme/locations/eu/keyRings/ci/cryptoKeys/stacks";
    google.make(name);
    let inside = google.clone();
    let server = Server::start(move |asked| inside.answer(asked));
    let variables: Variables = vec![
        ("CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS", server.address()),
        ("GOOGLE_OAUTH_ACCESS_TOKEN", google.token()),
    ];
    let url = format!("gcpkms://{name}?additional_authenticated_data=c2hvcA==");
    let (settings, secret) = sealed(&url, &variables);
    assert_eq!(opened(&settings, &secret, &variables).unwrap(), "top");
    let refused = |settings: &Settings| opened(settings, &secret, &variables).unwrap_err();

    let bare = Settings { secrets_provider: format!("gcpkms://{name}"), ..settings.clone() };
    assert!(matches!(fault(&refused(&bare)), Fault::OtherKey(_)), "{}", refused(&bare));
    let missing = Settings { secrets_provider: format!("gcpkms://{name}2"), ..settings.clone() };
    assert!(matches!(fault(&refused(&missing)), Fault::NoKey(_)));
    let malformed = Settings { secrets_provider: "gcpkms://stacks".to_owned(), ..settings.clone() };
    assert!(matches!(fault(&refused(&malformed)), Fault::Address(_)));

    google.set_corrupts(true);
    let lost = refused(&settings);
    assert!(lost.to_string().contains("its plaintext was changed on the way"), "{lost}");
    let lost = Manager::with_key_service(&keyring(&variables), &url).unwrap_err();
    assert!(lost.to_string().contains("its ciphertext was changed on the way"), "{lost}");
    google.set_corrupts(false);

    google.set_disabled(true);
    assert!(matches!(fault(&refused(&settings)), Fault::Unusable(_)));
    google.set_disabled(false);
    google.forbid("decrypt");
    assert!(matches!(fault(&refused(&settings)), Fault::Denied(_)));
    google.expire_tokens();
    assert!(matches!(fault(&refused(&settings)), Fault::Expired(_)));
}

/// The status and the name of a refusal, and which fault it is.
type Case = (u16, &'static str, fn(&Fault) -> bool);

#[test]
fn what_aws_refuses_is_told_apart() {
    let said = Arc::new(std::sync::Mutex::new((400, String::new())));
    let inside = Arc::clone(&said);
    let server = Server::start(move |asked| {
        assert_eq!(asked.header("x-amz-target"), "TrentService.Decrypt");
        assert!(asked.header("authorization").starts_with("AWS4-HMAC-SHA256 Credential=AKIA1/"));
        let (status, kind) = inside.lock().unwrap().clone();
        let body = serde_json::json!({ "__type": format!("com.amazonaws.kms#{kind}"), "message": "no\nway" });
        Answer::json(status, &body)
    });
    let variables: Variables = vec![
        ("AWS_ENDPOINT_URL_KMS", server.address()),
        ("AWS_REGION", "eu-central-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", "AKIA1".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "very secret".to_owned()),
    ];
    let settings = Settings {
        secrets_provider: "awskms://alias/stacks".to_owned(),
        encrypted_key: "AAAA".to_owned(),
        ..Settings::default()
    };
    let cases: [Case; 8] = [
        (400, "AccessDeniedException", |fault| matches!(fault, Fault::Denied(_))),
        (400, "UnrecognizedClientException", |fault| matches!(fault, Fault::Denied(_))),
        (400, "ExpiredTokenException", |fault| matches!(fault, Fault::Expired(_))),
        (400, "NotFoundException", |fault| matches!(fault, Fault::NoKey(_))),
        (400, "InvalidCiphertextException", |fault| matches!(fault, Fault::OtherKey(_))),
        (400, "DisabledException", |fault| matches!(fault, Fault::Unusable(_))),
        (400, "ThrottlingException", |fault| matches!(fault, Fault::Refused { .. })),
        (500, "KMSInternalException", |fault| matches!(fault, Fault::Refused { .. })),
    ];
    for (status, kind, expected) in cases {
        *said.lock().unwrap() = (status, kind.to_owned());
        let refused = opened(&settings, "v1:a:b", &variables).unwrap_err();
        assert!(expected(fault(&refused)), "{kind}: {refused}");
        assert!(refused.to_string().contains(&format!("{kind}: no way")), "{refused}");
        assert!(!format!("{refused:?}").contains("very secret"));
    }
    // What is passing was asked for twice.
    assert_eq!(server.asked().len(), cases.len() + 2);

    let nobody: Variables = variables
        .into_iter()
        .filter(|(name, _)| !name.contains("KEY"))
        .chain([("AWS_EC2_METADATA_DISABLED", "true".to_owned())])
        .collect();
    let refused = opened(&settings, "v1:a:b", &nobody).unwrap_err();
    assert!(matches!(fault(&refused), Fault::NoCredentials(_)), "{refused}");
    assert!(refused.to_string().contains("AWS_ACCESS_KEY_ID"), "{refused}");
}

#[test]
fn a_stored_key_that_is_none_is_refused_before_anybody_is_asked() {
    let vault = Vault::start();
    for text in ["not base64!", "/w=="] {
        let settings = Settings {
            secrets_provider: KEY.to_owned(),
            encrypted_key: text.to_owned(),
            ..Settings::default()
        };
        let refused = opened(&settings, "v1:a:b", &of_vault(&vault)).unwrap_err();
        assert!(matches!(fault(&refused), Fault::Malformed(_)), "{refused}");
    }
    assert!(vault.server().asked().is_empty());
}
