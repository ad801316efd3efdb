//! Where passphrases come from. What the real CLI does was tried with it.

use crate::fixtures::{STACKS, environment, keyring, phrase};
use drystone_secrets::{Ask, Error, FILE_VARIABLE, Keyring, PASSPHRASE_VARIABLE, Passphrases};
use std::io::Write;
use std::sync::{Arc, Mutex};

fn file(content: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    file
}

#[test]
fn the_variable_goes_before_the_file_and_is_taken_as_it_is() {
    let file = file(b"from the file");
    let path = file.path().to_str().unwrap();
    let find = |variables: &[_]| Passphrases::new(environment(variables)).for_new(false).unwrap();
    assert_eq!(find(&[(PASSPHRASE_VARIABLE, " spaced "), (FILE_VARIABLE, path)]), phrase(" spaced "));
    assert_eq!(find(&[(PASSPHRASE_VARIABLE, ""), (FILE_VARIABLE, path)]), phrase(""));
    assert_eq!(find(&[(FILE_VARIABLE, path)]), phrase("from the file"));
}

#[test]
fn white_space_around_a_files_passphrase_does_not_count() {
    let cases: [(&[u8], &[u8]); 6] = [
        (b"word\n", b"word"),
        (" \t pässwörd ✓ \u{a0}\n\n".as_bytes(), "pässwörd ✓".as_bytes()),
        (b"", b""),
        (b" \r\n ", b""),
        (b" \xff in the middle \xfe\n", b"\xff in the middle \xfe"),
        (b" \xff \xfe", b"\xff \xfe"),
    ];
    for (content, expected) in cases {
        let file = file(content);
        let passphrases = Passphrases::new(environment(&[(FILE_VARIABLE, file.path().to_str().unwrap())]));
        let found = passphrases.for_new(false).unwrap();
        assert_eq!(found, drystone_secrets::Passphrase::new(expected), "{content:?}");
    }
}

#[test]
fn the_real_clis_stack_opens_with_a_passphrase_file() {
    let file = file(" \t pässwörd ✓ \u{a0}\n\n".as_bytes());
    let keyring = keyring(&[(FILE_VARIABLE, file.path().to_str().unwrap())]);
    keyring.unlock(&STACKS[2].salt, None).unwrap();
}

#[test]
fn without_any_source_the_error_names_the_two_variables() {
    let unset = keyring(&[]).unlock(&STACKS[0].salt, None).unwrap_err();
    let empty = keyring(&[(FILE_VARIABLE, "")]).unlock(&STACKS[0].salt, None).unwrap_err();
    for error in [unset, empty] {
        assert!(matches!(error, Error::PassphraseMissing));
        assert_eq!(
            error.to_string(),
            "passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment variables"
        );
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing");
    let error =
        Passphrases::new(environment(&[(FILE_VARIABLE, path.to_str().unwrap())])).for_new(false).unwrap_err();
    assert!(error.to_string().contains("unable to read PULUMI_CONFIG_PASSPHRASE_FILE"));
    assert!(error.to_string().contains("missing"));
}

#[test]
fn who_is_asked_is_asked_until_the_answer_is_right_and_never_again() {
    let questions = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&questions);
    let passphrases = Passphrases::new(environment(&[])).with_prompt(move |question| {
        let Ask::Unlock { stack, wrong } = question else { panic!("asked {question:?}") };
        seen.lock().unwrap().push((stack.map(str::to_owned), wrong));
        Ok(Some(phrase(if wrong == 0 { "wrong" } else { &STACKS[0].passphrase })))
    });
    let keyring = Keyring::new(passphrases);
    keyring.unlock(&STACKS[0].salt, Some("plain")).unwrap();
    keyring.unlock(&STACKS[0].salt, Some("plain")).unwrap();
    let plain = Some("plain".to_owned());
    assert_eq!(*questions.lock().unwrap(), [(plain.clone(), 0), (plain, 1)]);
    assert_eq!(keyring.derivations(), 2);
}

#[test]
fn no_answer_and_a_broken_terminal_are_errors() {
    let silent = Passphrases::new(environment(&[])).with_prompt(|_| Ok(None));
    assert!(matches!(silent.for_new(false), Err(Error::PassphraseMissing)));
    let broken = Passphrases::new(environment(&[])).with_prompt(|_| Err(std::io::Error::other("hung up")));
    assert_eq!(broken.for_new(false).unwrap_err().to_string(), "unable to ask for the passphrase: hung up");
}

#[test]
fn rotating_asks_although_the_environment_has_a_passphrase() {
    let passphrases = Passphrases::new(environment(&[(PASSPHRASE_VARIABLE, "old")]))
        .with_prompt(|question| Ok((question == Ask::Rotate).then(|| phrase("new"))));
    assert_eq!(passphrases.for_new(false).unwrap(), phrase("old"));
    assert_eq!(passphrases.for_new(true).unwrap(), phrase("new"));
}
