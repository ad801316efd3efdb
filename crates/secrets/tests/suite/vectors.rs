//! The real CLI's salts, configuration and state, opened here, and made again byte for byte.

use crate::fixtures::{EXPORT, EXPORT_REVEALED, OPENED, STACKS, Scripted, environment, keyring, phrase};
use drystone_secrets::{Crypter, Keyring, Passphrases, Plaintext, stored};

#[test]
fn salts_of_the_real_cli_open() {
    let keyring = keyring(&[]);
    for stack in STACKS.iter() {
        let crypter = keyring.open(&stack.salt, &phrase(&stack.passphrase)).unwrap();
        for secret in &stack.config {
            let opened = crypter.decrypt_one(&secret.ciphertext).unwrap();
            assert_eq!(opened.as_bytes(), secret.plaintext(), "{}", secret.name);
        }
    }
    assert_eq!(keyring.derivations(), STACKS.len());
}

#[test]
fn the_same_salt_and_nonces_give_the_real_ciphertexts() {
    let stack = &STACKS[0];
    let salt_parts: Vec<_> = stack.salt.split(':').collect();
    let nonces = stack.config.iter().map(|secret| secret.ciphertext.split(':').nth(1).unwrap());
    let script: Vec<_> = [salt_parts[1], salt_parts[3]].into_iter().chain(nonces).collect();
    let keyring = Keyring::with_entropy(Passphrases::new(environment(&[])), Scripted::base64(&script));

    let (salt, crypter) = keyring.create(&phrase(&stack.passphrase)).unwrap();
    assert_eq!(salt, stack.salt);
    let plaintexts: Vec<_> =
        stack.config.iter().map(|secret| Plaintext::from(secret.plaintext().to_vec())).collect();
    let ciphertexts = crypter.encrypt(&plaintexts.iter().collect::<Vec<_>>()).unwrap();
    let expected: Vec<_> = stack.config.iter().map(|secret| secret.ciphertext.as_str()).collect();
    assert_eq!(ciphertexts, expected);
}

#[test]
fn an_export_is_revealed_as_the_real_cli_reveals_it() {
    let revealed = stored::reveal(&[EXPORT], OPENED.as_ref()).unwrap();
    assert_eq!(revealed, [Some(EXPORT_REVEALED.to_owned())]);
}

#[test]
fn a_revealed_export_of_the_real_cli_is_sealed_again() {
    let sealed = stored::conceal(&[EXPORT_REVEALED], OPENED.as_ref()).unwrap().remove(0).unwrap();
    assert!(!sealed.contains("plaintext") && !sealed.contains("top"));
    let revealed = stored::reveal(&[&sealed], OPENED.as_ref()).unwrap();
    assert_eq!(revealed, [Some(EXPORT_REVEALED.to_owned())]);
}
