//! Managers of snapshots and settings files, of every kind.

use crate::fixtures::{
    EXPORT, STACKS, environment, keyring, keyring_with, passphrase_provider, phrase, provider,
};
use drystone_model::{Json, SecretsProvider};
use drystone_secrets::{Error, Keyring, Manager, Passphrases, ProviderChoice, Settings, stored};

#[test]
fn a_manager_that_is_not_used_asks_for_nothing() {
    let passphrases = Passphrases::new(|name| panic!("looked up {name}")).with_prompt(|_| panic!("asked"));
    let keyring = Keyring::new(passphrases);
    let provider = passphrase_provider(&STACKS[0].salt);
    let manager = Manager::of_snapshot(&keyring, &provider, None);
    let other = Manager::of_snapshot(&keyring, &provider, None);
    assert_eq!(manager.provider(), &provider);
    assert!(manager.opens_what_is_sealed_by(&other));
    assert_eq!(manager.settings().unwrap().encryption_salt, STACKS[0].salt);
    let texts =
        stored::reseal(&[r#"{"open":"visible"}"#], manager.crypter().as_ref(), other.crypter().as_ref());
    assert_eq!(texts.unwrap(), [None]);
    assert_eq!(keyring.derivations(), 0);
}

#[test]
fn a_wrong_or_missing_passphrase_locks_and_fails_only_on_use() {
    for (keyring, expected) in [
        (keyring_with("wrong"), "incorrect passphrase"),
        (keyring(&[]), "passphrase must be set with PULUMI_CONFIG_PASSPHRASE"),
    ] {
        let manager = Manager::of_snapshot(&keyring, &passphrase_provider(&STACKS[0].salt), None);
        assert_eq!(manager.settings().unwrap().encryption_salt, STACKS[0].salt);
        for error in [
            manager.crypter().decrypt_one(&STACKS[0].config[0].ciphertext).unwrap_err(),
            manager.crypter().encrypt_one(&"top".into()).unwrap_err(),
        ] {
            assert!(matches!(error, Error::Locked { .. }));
            assert!(error.to_string().contains(expected), "{error}");
        }
        assert!(manager.unlock().unwrap_err().to_string().starts_with(expected));
        let error = stored::reveal(&[EXPORT], manager.crypter().as_ref()).unwrap_err();
        assert!(matches!(error.cause(), Error::IncorrectPassphrase | Error::PassphraseMissing));
    }
}

#[test]
fn the_outcome_of_unlocking_is_remembered() {
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = std::sync::Arc::clone(&asked);
    let keyring = Keyring::new(Passphrases::new(environment(&[])).with_prompt(move |_| {
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(None)
    }));
    let manager = Manager::of_snapshot(&keyring, &passphrase_provider(&STACKS[0].salt), None);
    for _ in 0..3 {
        manager.crypter().decrypt_one("v1:a:b").unwrap_err();
    }
    assert_eq!(asked.load(std::sync::atomic::Ordering::Relaxed), 1);
}

#[test]
fn kinds_that_are_not_supported_are_locked_and_named() {
    let cases = [
        (
            provider("service", r#"{"url":"https://vault.example","owner":"o","project":"p","stack":"s"}"#),
            "failed to decrypt: secrets provider `https://vault.example` of kind `service` is not supported yet",
        ),
        (
            provider("service", r#"{"owner":"o"}"#),
            "failed to decrypt: secrets provider `service` of kind `service` is not supported yet",
        ),
        (provider("novel", "{}"), "failed to decrypt: no known secrets provider for type `novel`"),
        (
            provider("passphrase", r#"{"pepper":1}"#),
            "failed to decrypt: malformed state of the `passphrase` secrets provider: its members are not as expected",
        ),
        (
            SecretsProvider { kind: "passphrase".to_owned(), ..SecretsProvider::default() },
            "failed to decrypt: malformed state of the `passphrase` secrets provider: there is none",
        ),
    ];
    for (provider, expected) in cases {
        let manager = Manager::of_snapshot(&keyring_with("any"), &provider, None);
        assert_eq!(manager.provider(), &provider);
        assert_eq!(manager.crypter().decrypt_one("v1:a:b").unwrap_err().to_string(), expected);
    }
    let error = Manager::absent().crypter().decrypt_one("v1:a:b").unwrap_err();
    assert!(matches!(error.cause(), Error::NoProvider));
}

#[test]
fn test_data_in_base64_opens() {
    let b64 = SecretsProvider { kind: "b64".to_owned(), ..SecretsProvider::default() };
    let manager = Manager::of_snapshot(&keyring(&[]), &b64, None);
    assert_eq!(manager.crypter().decrypt_one("InRvcCI=").unwrap().as_text().unwrap(), "\"top\"");
    assert_eq!(manager.settings().unwrap(), Settings::default());
}

#[test]
fn a_blinded_manager_shows_marks() {
    let manager = Manager::blinded(&passphrase_provider(&STACKS[0].salt));
    let shown = stored::reveal(&[EXPORT], manager.crypter().as_ref()).unwrap().remove(0).unwrap();
    assert_eq!(shown.matches(r#""plaintext": "\"[secret]\"""#).count(), 7);
}

#[test]
fn settings_name_the_manager() {
    let stack = &STACKS[0];
    let keyring = keyring_with(&stack.passphrase);
    for name in ["", "default", "passphrase"] {
        let settings = |salt: &str| Settings {
            secrets_provider: name.to_owned(),
            encryption_salt: salt.to_owned(),
            ..Settings::default()
        };
        assert!(Manager::of_settings(&keyring, &settings(""), None).unwrap().is_none());
        let manager = Manager::of_settings(&keyring, &settings(&stack.salt), None).unwrap().unwrap();
        assert_eq!(manager.provider(), &passphrase_provider(&stack.salt));
        let opened = manager.crypter().decrypt_one(&stack.config[0].ciphertext).unwrap();
        assert_eq!(opened.as_text().unwrap(), "hunter2");
        assert_eq!(
            manager.settings().unwrap(),
            Settings { encryption_salt: stack.salt.clone(), ..Settings::default() }
        );
    }
    assert_eq!(keyring.derivations(), 1);

    let cloud = Settings {
        secrets_provider: "gcpkms://projects/p".to_owned(),
        encrypted_key: "QUFB".to_owned(),
        ..Settings::default()
    };
    let manager = Manager::of_settings(&keyring, &cloud, None).unwrap().unwrap();
    assert_eq!(
        manager.provider(),
        &provider("cloud", r#"{"url":"gcpkms://projects/p","encryptedkey":"QUFB"}"#)
    );
    assert_eq!(manager.settings().unwrap(), cloud);
    assert!(matches!(manager.unlock(), Err(Error::KeyService(_))));
    let nothing_sealed_yet = Settings { encrypted_key: String::new(), ..cloud };
    assert!(Manager::of_settings(&keyring, &nothing_sealed_yet, None).unwrap().is_none());
}

#[test]
fn s09_unknown_members_of_a_provider_are_kept() {
    let text = r#"{"type":"passphrase","state":{"salt":"v1:x","later":1},"novel":true}"#;
    let provider: SecretsProvider = serde_json::from_str(text).unwrap();
    let manager = Manager::of_snapshot(&keyring(&[]), &provider, None);
    assert_eq!(Json::from_serialize(manager.provider()).unwrap().text(), text);
}

#[test]
fn a_new_manager_is_written_as_the_real_cli_writes_it() {
    let manager = Manager::with_passphrase(&keyring(&[]), &phrase("new")).unwrap();
    let salt = manager.settings().unwrap().encryption_salt;
    let shape: Vec<_> = salt.split(':').map(str::len).collect();
    assert_eq!(shape, [2, 12, 2, 16, 32]);
    assert_eq!(
        Json::from_serialize(manager.provider()).unwrap().text(),
        format!(r#"{{"type":"passphrase","state":{{"salt":"{salt}"}}}}"#)
    );
    let other = Manager::of_snapshot(&keyring(&[]), &passphrase_provider(&STACKS[0].salt), None);
    assert!(!manager.opens_what_is_sealed_by(&other));
}

#[test]
fn users_name_providers() {
    assert_eq!("default".parse::<ProviderChoice>().unwrap(), ProviderChoice::Default);
    assert_eq!("passphrase".parse::<ProviderChoice>().unwrap(), ProviderChoice::Passphrase);
    let url = "awskms://alias/main?region=eu-1";
    assert_eq!(url.parse::<ProviderChoice>().unwrap(), ProviderChoice::Cloud(url.to_owned()));
    assert_eq!(
        "sops://x".parse::<ProviderChoice>().unwrap_err().to_string(),
        "unknown secrets provider type 'sops' (supported values: default,passphrase,awskms,azurekeyvault,gcpkms,hashivault)"
    );
}
