//! The crypters: round trips, tampering, malformed ciphertexts, and what `Debug` shows.

use crate::fixtures::{Counting, OPENED, STACKS, phrase, seeded};
use drystone_secrets::{
    Action, Base64, Blinding, Crypter, Error, Locked, Nop, Plaintext, SymmetricCrypter, recrypt,
};
use proptest::prelude::*;

fn crypter(key: u8) -> SymmetricCrypter {
    SymmetricCrypter::new(&[key; 32])
}

#[test]
fn equal_plaintexts_get_different_ciphertexts() {
    let plaintext = Plaintext::from("top");
    let sealed = crypter(1).encrypt(&[&plaintext, &plaintext]).unwrap();
    assert_ne!(sealed[0], sealed[1]);
}

#[test]
fn a_change_of_any_byte_is_noticed() {
    let crypter = crypter(1);
    let sealed = crypter.encrypt_one(&"a secret of some length".into()).unwrap();
    for at in 0..sealed.len() {
        for change in [b'A', b'B', b'=', b':', b'!'] {
            let mut bytes = sealed.clone().into_bytes();
            if bytes[at] == change {
                continue;
            }
            bytes[at] = change;
            let changed = String::from_utf8(bytes).unwrap();
            let error = crypter.decrypt_one(&changed).unwrap_err();
            assert!(
                matches!(error, Error::Unauthentic { .. } | Error::MalformedCiphertext { .. }),
                "{changed} gave {error:?}"
            );
        }
        assert!(crypter.decrypt_one(&sealed[..at]).is_err(), "the first {at} bytes opened");
    }
}

#[test]
fn another_key_does_not_open() {
    let sealed = crypter(1).encrypt_one(&"top".into()).unwrap();
    assert!(matches!(crypter(2).decrypt_one(&sealed), Err(Error::Unauthentic { index: 0 })));
}

#[test]
fn malformed_ciphertexts_are_named_with_their_index() {
    let good = crypter(1).encrypt_one(&"top".into()).unwrap();
    let cases = [
        ("", "it does not have three parts"),
        ("v1", "it does not have three parts"),
        ("v1::", "its nonce is not 12 bytes long"),
        ("v1:AAAA:AAAA", "its nonce is not 12 bytes long"),
        ("v1:AAAAAAAAAAAAAAAA:AAAA:AAAA", "it does not have three parts"),
        ("v2:AAAAAAAAAAAAAAAA:AAAA", "its version is not `v1`"),
        ("V1:AAAAAAAAAAAAAAAA:AAAA", "its version is not `v1`"),
        ("v1:AAAAAAAAAAAAAAA*:AAAA", "its nonce is not base64"),
        ("v1:AAAAAAAAAAAAAAAA:AAA", "its second part is not base64"),
        ("v1:AAAAAAAAAAAAAAAA:ü", "its second part is not base64"),
    ];
    for (malformed, expected) in cases {
        match crypter(1).decrypt(&[&good, malformed]) {
            Err(Error::MalformedCiphertext { index: 1, reason }) => {
                assert_eq!(reason, expected, "{malformed}");
            }
            other => panic!("{malformed} gave {other:?}"),
        }
    }
    for short in ["v1:AAAAAAAAAAAAAAAA:", "v1:AAAAAAAAAAAAAAAA:AAAA"] {
        assert!(matches!(crypter(1).decrypt_one(short), Err(Error::Unauthentic { index: 0 })));
    }
}

#[test]
fn line_breaks_in_a_hand_edited_ciphertext_are_skipped() {
    let crypter = crypter(1);
    let sealed = crypter.encrypt_one(&"top".into()).unwrap();
    let edited = format!("{}\r\n{}\n", &sealed[..10], &sealed[10..]);
    assert_eq!(crypter.decrypt_one(&edited).unwrap().as_text().unwrap(), "top");
}

#[test]
fn crypters_without_a_key() {
    let plaintext = Plaintext::from("\"top\"");
    assert_eq!(Nop.encrypt_one(&plaintext).unwrap(), "\"top\"");
    assert_eq!(Nop.decrypt_one("\"top\"").unwrap(), plaintext);
    assert!(matches!(Nop.encrypt_one(&vec![0xff].into()), Err(Error::NotText)));

    assert_eq!(Blinding::Config.encrypt_one(&plaintext).unwrap(), "[secret]");
    assert_eq!(Blinding::Config.decrypt_one("v1:a:b").unwrap().as_text().unwrap(), "[secret]");
    assert_eq!(Blinding::State.decrypt_one("v1:a:b").unwrap().as_text().unwrap(), "\"[secret]\"");

    assert_eq!(Base64.encrypt_one(&plaintext).unwrap(), "InRvcCI=");
    assert_eq!(Base64.decrypt_one("InRvcCI=").unwrap(), plaintext);
    assert!(matches!(Base64.decrypt_one("*"), Err(Error::MalformedCiphertext { index: 0, .. })));
}

#[test]
fn a_locked_crypter_fails_only_on_use() {
    let locked = Locked(Error::IncorrectPassphrase);
    assert!(matches!(locked.encrypt_one(&"top".into()), Err(Error::Locked { action: Action::Encrypt, .. })));
    let error = locked.decrypt_one("v1:a:b").unwrap_err();
    assert_eq!(error.to_string(), "failed to decrypt: incorrect passphrase");
    assert!(matches!(error.cause(), Error::IncorrectPassphrase));
}

#[test]
fn ciphertexts_pass_from_one_crypter_to_another() {
    let (from, to) = (Counting::new(1), Counting::new(2));
    let plaintexts = [Plaintext::from("hunter2"), Plaintext::from(vec![0xff, 0xfe])];
    let sealed = from.encrypt(&plaintexts.each_ref()).unwrap();
    let sealed: Vec<_> = sealed.iter().map(String::as_str).collect();
    let resealed = recrypt(&sealed, from.as_ref(), to.as_ref()).unwrap();
    assert_eq!((from.seen(), to.seen()), ((2, 4), (1, 2)));
    for (plaintext, ciphertext) in plaintexts.iter().zip(&resealed) {
        assert_eq!(&to.decrypt_one(ciphertext).unwrap(), plaintext);
    }
    let locked = Locked(Error::NoProvider);
    assert!(recrypt(&[], &locked, &locked).unwrap().is_empty());
}

#[test]
fn s17_debug_shows_no_secret() {
    let stack = &STACKS[0];
    let shown = format!(
        "{:?} {:?} {:?} {:?}",
        phrase(&stack.passphrase),
        Plaintext::from("hunter2"),
        OPENED.as_ref(),
        OPENED.decrypt_one(&stack.config[0].ciphertext),
    );
    assert_eq!(shown, "[secret] [secret] SymmetricCrypter([secret]) Ok([secret])");
}

proptest! {
    #![proptest_config(seeded())]

    #[test]
    fn what_is_sealed_opens(key in any::<[u8; 32]>(), secrets in proptest::collection::vec(any::<Vec<u8>>(), 0..8)) {
        let crypter = SymmetricCrypter::new(&key);
        let plaintexts: Vec<_> = secrets.into_iter().map(Plaintext::from).collect();
        let sealed = crypter.encrypt(&plaintexts.iter().collect::<Vec<_>>()).unwrap();
        let opened = crypter.decrypt(&sealed.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
        prop_assert_eq!(opened, plaintexts);
    }

    #[test]
    fn no_text_makes_it_panic(text in "(v1:)?[A-Za-z0-9+/=:]{0,40}|\\PC{0,20}") {
        prop_assert!(crypter(1).decrypt_one(&text).is_err());
    }
}
