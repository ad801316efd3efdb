//! Stack settings on disk.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use drystone_workspace::config::{Key, Locator, NewValue};
use drystone_workspace::stack::{StackFile, StackFileError};
use drystone_workspace::{FileError, Value};
use std::fs;
use std::path::Path;

const PROJECT: Option<&str> = Some("proj");

fn key(name: &str) -> Locator {
    Locator::from(Key::new("proj", name).unwrap())
}

fn set(file: &mut StackFile, name: &str, text: &str) {
    file.settings.config.set(&key(name), NewValue::Text(text.to_owned())).unwrap();
}

#[test]
fn a_file_is_made_with_its_folders_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stacks/Pulumi.dev.yaml");
    let mut file = StackFile::open(&path, PROJECT).unwrap();
    assert!(!file.exists() && !file.is_changed() && !file.save().unwrap());
    assert!(!path.exists());
    file.settings.secrets_provider = Some("awskms://alias/x".into());
    file.settings.encrypted_key = Some("AAA=".into());
    file.settings.encryption_salt = Some("v1:salt".into());
    file.settings.environment = Some(Value::Array(vec![Value::String("base".into())]));
    set(&mut file, "b", "1");
    set(&mut file, "a", "2");
    assert!(file.is_changed() && file.save().unwrap());
    assert!(!file.is_changed() && !file.save().unwrap());
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "secretsprovider: awskms://alias/x\nencryptedkey: AAA=\nencryptionsalt: v1:salt\n\
         config:\n  proj:a: \"2\"\n  proj:b: \"1\"\nenvironment:\n  - base\n"
    );
    assert_eq!(StackFile::open(&path, PROJECT).unwrap().settings, file.settings);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing else is left there");
}

#[test]
fn a_secrets_provider_is_changed_in_place() {
    let text = "# who keeps the key\nsecretsprovider: passphrase # old\nencryptionsalt: v1:s\nconfig:\n  proj:a: b\n";
    let mut file = StackFile::with_text(Path::new("Pulumi.x.yaml"), Some(text.into()), PROJECT).unwrap();
    file.settings.secrets_provider = Some("gcpkms://k".into());
    file.settings.encrypted_key = Some("BBB=".into());
    file.settings.encryption_salt = None;
    assert_eq!(
        file.render().unwrap(),
        "# who keeps the key\nsecretsprovider: gcpkms://k # old\nconfig:\n  proj:a: b\nencryptedkey: BBB=\n"
    );
}

#[test]
fn a_change_by_somebody_else_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Pulumi.dev.yaml");
    fs::write(&path, "config:\n  proj:a: b\n").unwrap();
    let mut file = StackFile::open(&path, PROJECT).unwrap();
    set(&mut file, "c", "d");
    fs::write(&path, "config:\n  proj:a: changed\n").unwrap();
    assert!(matches!(file.save(), Err(StackFileError::Changed { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "config:\n  proj:a: changed\n");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (target, link) = (folder.path().join("target.yaml"), folder.path().join("Pulumi.dev.yaml"));
    fs::write(&target, "config:\n  proj:a: b\n").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&target, &link).unwrap();
    let mut file = StackFile::open(&link, PROJECT).unwrap();
    set(&mut file, "c", "d");
    file.save().unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_to_string(&target).unwrap(), "config:\n  proj:a: b\n  proj:c: d\n");
}

#[test]
fn a_file_that_cannot_be_written_is_named_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let blocker = folder.path().join("file");
    fs::write(&blocker, "").unwrap();
    let path = blocker.join("Pulumi.dev.yaml");
    let mut file = StackFile::with_text(&path, None, PROJECT).unwrap();
    set(&mut file, "a", "b");
    assert!(matches!(
        file.save(),
        Err(StackFileError::File(FileError::Read { .. } | FileError::Write { .. }))
    ));
    assert!(file.is_changed());
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_its_place() {
    for (text, expected) in [
        (
            "config:\n  a:b:c: 1\n",
            "2:3: `a:b:c` is not a configuration key, which has the form `<namespace>:<name>`",
        ),
        ("config:\n  proj:a: .nan\n", "2:3: `proj:a` is not a number that configuration can hold"),
        ("config:\n  proj:a: 1\n  a: 2\n", "3:3: `a` and `proj:a` name the same value"),
        ("config: [1]\n", "1:9: `config` is a mapping"),
        ("- 1\n", "1:1: stack settings are a mapping"),
        ("encryptionsalt: [1]\n", "1:17: `encryptionsalt` is a text"),
        ("config:\n  proj:a: 1\n  proj:a: 2\n", "3:3: the key `proj:a` was already given on line 2"),
        ("config:\n  proj:a: !!int x\n", "2:11: `x` is not a int"),
        ("config:\n\tproj:a: 1\n", "2:2: "),
    ] {
        let error = StackFile::with_text(Path::new("Pulumi.x.yaml"), Some(text.into()), PROJECT).unwrap_err();
        let told = error.to_string();
        assert!(told.starts_with("Pulumi.x.yaml:"), "{told}");
        assert!(told.starts_with(&format!("Pulumi.x.yaml:{expected}")) || expected.is_empty(), "{told}");
    }
    let error = StackFile::open(Path::new("settings.txt"), PROJECT).unwrap_err();
    assert_eq!(error.to_string(), "`settings.txt` ends neither with .yaml, .yml nor .json");
}

#[test]
fn a_key_named_like_the_mark_of_secrets_is_a_key() {
    let text = "config:\n  secure: x # only this\n";
    let mut file = StackFile::with_text(Path::new("Pulumi.x.yaml"), Some(text.into()), PROJECT).unwrap();
    assert_eq!(file.settings.config.ciphertexts(), [""; 0]);
    set(&mut file, "secure", "z");
    assert_eq!(file.render().unwrap(), "config:\n  secure: z # only this\n");
    set(&mut file, "b", "c");
    assert_eq!(file.render().unwrap(), "config:\n  secure: z # only this\n  proj:b: c\n");
}

#[test]
fn the_same_value_under_both_names_is_changed_under_both() {
    let text = "config:\n  proj:a: x\n  a: x\n";
    let mut file = StackFile::with_text(Path::new("Pulumi.x.yaml"), Some(text.into()), PROJECT).unwrap();
    set(&mut file, "a", "y");
    assert_eq!(file.render().unwrap(), "config:\n  proj:a: \"y\"\n  a: \"y\"\n");
}

/// As the stock CLI lays out JSON settings, but members that it would drop stay.
#[test]
fn s09_json_settings_are_laid_out_as_the_stock_cli_does_and_keep_unknown_members() {
    let text = r#"{"unknown": {"big": 9007199254740993}, "encryptionsalt": "v1:s", "config": {"bare": "<b>", "proj:o": {"l": [1, {"secure": "ct"}]}}}"#;
    let mut file = StackFile::with_text(Path::new("Pulumi.x.json"), Some(text.into()), PROJECT).unwrap();
    assert_eq!(file.settings.config.ciphertexts(), ["ct"]);
    assert_eq!(file.render().unwrap(), text);
    set(&mut file, "a", "5");
    assert_eq!(
        file.render().unwrap(),
        "{\n    \"encryptionsalt\": \"v1:s\",\n    \"config\": {\n        \"bare\": \"\\u003cb\\u003e\",\n        \
         \"proj:a\": \"5\",\n        \"proj:o\": {\n            \"l\": [\n                1,\n                {\n                    \
         \"secure\": \"ct\"\n                }\n            ]\n        }\n    },\n    \"unknown\": {\n        \"big\": 9007199254740993\n    }\n}\n"
    );
    let mut new = StackFile::with_text(Path::new("Pulumi.x.json"), None, PROJECT).unwrap();
    set(&mut new, "a", "5");
    assert_eq!(new.render().unwrap(), "{\n    \"config\": {\n        \"proj:a\": \"5\"\n    }\n}\n");
}
