//! The keyring: salts, wrong passphrases, and one derivation a key.

use crate::fixtures::{STACKS, keyring, keyring_with, passphrase_provider, phrase};
use drystone_secrets::{Crypter, Error, Manager};

#[test]
fn s18_a_key_is_derived_once_for_a_passphrase_and_a_salt() {
    let stack = &STACKS[0];
    let keyring = keyring_with(&stack.passphrase);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| keyring.open(&stack.salt, &phrase(&stack.passphrase)).unwrap());
        }
    });
    keyring.unlock(&stack.salt, None).unwrap();
    for _ in 0..3 {
        let manager = Manager::of_snapshot(&keyring.clone(), &passphrase_provider(&stack.salt), None);
        manager.crypter().decrypt_one(&stack.config[0].ciphertext).unwrap();
        manager.crypter().encrypt_one(&"more".into()).unwrap();
    }
    assert_eq!(keyring.derivations(), 1);
}

#[test]
fn a_wrong_passphrase_is_told_apart() {
    let stack = &STACKS[0];
    let keyring = keyring_with("wrong");
    for _ in 0..2 {
        assert!(matches!(keyring.open(&stack.salt, &phrase("wrong")), Err(Error::IncorrectPassphrase)));
        assert!(matches!(keyring.unlock(&stack.salt, None), Err(Error::IncorrectPassphrase)));
    }
    assert_eq!(keyring.derivations(), 1);
}

#[test]
fn a_salt_of_its_own_opens_again() {
    let keyring = keyring(&[]);
    let (salt, crypter) = keyring.create(&phrase("new")).unwrap();
    let sealed = crypter.encrypt_one(&"top".into()).unwrap();
    assert_eq!(keyring.derivations(), 1);

    let later = keyring_with("new");
    let opened = later.unlock(&salt, None).unwrap().decrypt_one(&sealed).unwrap();
    assert_eq!(opened.as_text().unwrap(), "top");
}

#[test]
fn a_malformed_salt_is_refused_before_any_derivation() {
    let good: Vec<_> = STACKS[0].salt.splitn(3, ':').collect();
    let cases = [
        (String::new(), "the salt does not have its three parts"),
        ("v1:AAAA".to_owned(), "the salt does not have its three parts"),
        (format!("v2:{}:{}", good[1], good[2]), "the salt's version is not `v1`"),
        (format!("v1:*:{}", good[2]), "the salt is not base64"),
        (format!("v1:{}:nonsense", good[1]), "the salt's check is not a ciphertext"),
        (format!("v1:{}:v1:AAAA:AAAA", good[1]), "the salt's check is not a ciphertext"),
    ];
    let keyring = keyring(&[]);
    for (salt, expected) in cases {
        match keyring.open(&salt, &phrase("any")) {
            Err(Error::MalformedState { kind, reason }) => {
                assert_eq!((kind.as_str(), reason), ("passphrase", expected));
            }
            other => panic!("{salt} gave {other:?}"),
        }
    }
    assert_eq!(keyring.derivations(), 0);
}

#[test]
fn s17_debug_of_a_keyring_shows_no_secret() {
    let keyring = keyring_with(&STACKS[0].passphrase);
    let manager = Manager::of_snapshot(&keyring, &passphrase_provider(&STACKS[0].salt), None);
    manager.unlock().unwrap();
    let shown = format!("{keyring:?} {:?} {manager:?}", keyring.passphrases());
    assert!(!shown.contains("horse"), "{shown}");
}
