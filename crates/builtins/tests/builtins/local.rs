//! Files and folders: what is written, noticed, refused and deleted.

use crate::harness::Bench;
use serde_json::json;
use std::fs;

fn mode(path: &std::path::Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_file_lives_from_creation_to_deletion() {
    let bench = Bench::new();
    let program = json!({ "filename": "out/deep/a.txt", "content": "one\n" });
    let foreseen = bench.preview("local:File", &program);
    assert!(foreseen["contentMd5"].contains_unknowns() && !bench.path("out").exists());
    let thing = bench.create("local:File", &program);
    assert_eq!(thing.id, "out/deep/a.txt");
    assert_eq!(fs::read_to_string(bench.path("out/deep/a.txt")).unwrap(), "one\n");
    assert_eq!((mode(&bench.path("out/deep/a.txt")), mode(&bench.path("out/deep"))), (0o644, 0o755));
    assert_eq!(thing.text("contentMd5"), "5bbf5a52328e7439ae6e719dfe712200");
    assert_eq!(bench.changes(&thing, &program), [""; 0]);
    let two = json!({ "filename": "out/deep/a.txt", "content": "two\n", "filePermission": "0600" });
    assert_eq!(bench.changes(&thing, &two), ["update content", "add filePermission"]);
    assert!(!bench.diff(&thing, &two).is_replace());
    let updated = bench.update(&thing, &two);
    assert_eq!((updated.id.as_str(), mode(&bench.path("out/deep/a.txt"))), ("out/deep/a.txt", 0o600));
    assert_eq!(
        bench
            .changes(&updated, &json!({ "filename": "b.txt", "content": "two\n", "filePermission": "0600" })),
        ["update-replace filename"]
    );
    let bench = bench.again();
    bench.delete(&updated);
    assert!(!bench.path("out/deep/a.txt").exists());
    bench.delete(&updated);
    fs::remove_dir_all(bench.path("out")).unwrap();
    bench.delete(&updated);
    fs::write(bench.path("out"), "a file where a folder was").unwrap();
    bench.delete(&updated);
}

#[test]
fn every_kind_of_content_is_written_as_it_is() {
    let bench = Bench::new();
    bench.create("local:File", &json!({ "filename": "text", "content": "é\0" }));
    assert_eq!(fs::read(bench.path("text")).unwrap(), "é\0".as_bytes());
    bench.try_create("local:File", "b", &json!({ "filename": "bytes", "contentBase64": "//79" })).unwrap();
    assert_eq!(fs::read(bench.path("bytes")).unwrap(), [255, 254, 253]);
    bench.try_create("local:File", "c", &json!({ "filename": "copy", "source": "bytes" })).unwrap();
    assert_eq!(fs::read(bench.path("copy")).unwrap(), [255, 254, 253]);
    bench.try_create("local:File", "d", &json!({ "filename": "empty", "content": "" })).unwrap();
    assert_eq!(fs::metadata(bench.path("empty")).unwrap().len(), 0);
}

#[test]
fn s17_sensitive_content_is_secret_and_for_its_owner_alone() {
    let bench = Bench::new();
    let thing = bench.create("local:File", &json!({ "filename": "a", "sensitiveContent": "hush" }));
    assert!(thing.inputs["sensitiveContent"].is_secret() && thing.is_secret("sensitiveContent"));
    assert!(thing.is_secret("contentSha256") && thing.is_secret("contentMd5"));
    assert_eq!(mode(&bench.path("a")), 0o600);
    assert!(!format!("{thing:?}").contains("hush"));
    fs::write(bench.path("a"), "changed").unwrap();
    assert!(bench.read(&thing).unwrap().inputs["sensitiveContent"].is_secret());
    let hidden = bench
        .try_create("local:File", "b", &json!({ "filename": "b", "content": { "secret": "x" } }))
        .unwrap();
    assert!(hidden.is_secret("content") && hidden.is_secret("contentSha1"));
}

#[test]
fn reading_notices_what_others_did() {
    let bench = Bench::new();
    let program = json!({ "filename": "a", "content": "one" });
    let thing = bench.create("local:File", &program);
    let path = bench.path("a");
    let seen = bench.read(&thing).unwrap();
    assert_eq!((&seen.inputs, &seen.outputs), (&thing.inputs, &thing.outputs));

    fs::write(&path, "two").unwrap();
    let seen = bench.read(&thing).unwrap();
    assert_eq!(seen.text("content"), "two");
    assert_ne!(seen.text("contentSha256"), thing.text("contentSha256"));
    assert_eq!(bench.changes(&seen, &program), ["update content"]);

    fs::write(&path, [0xff, 0xfe]).unwrap();
    let seen = bench.read(&thing).unwrap();
    assert_eq!(seen.text("contentBase64"), "//4=");
    assert_eq!(bench.changes(&seen, &program), ["add content", "delete contentBase64"]);
    assert_eq!(bench.update(&seen, &program).outputs, thing.outputs);
    assert_eq!(fs::read_to_string(&path).unwrap(), "one");

    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
    let seen = bench.read(&thing).unwrap();
    assert_eq!(bench.changes(&seen, &program), ["delete filePermission"]);
    bench.update(&seen, &program);
    assert_eq!(mode(&path), 0o644);

    fs::File::create(&path).unwrap().set_len(17 << 20).unwrap();
    let seen = bench.read(&thing).unwrap();
    assert_eq!(bench.changes(&seen, &program), ["update content"], "a large file is seen by its digest");

    fs::remove_file(&path).unwrap();
    assert!(bench.read(&thing).is_none());
    fs::create_dir(&path).unwrap();
    assert!(bench.read(&thing).is_none(), "a folder is not the file");
}

#[test]
fn a_changed_source_is_seen_before_anything_is_refreshed() {
    let bench = Bench::new();
    fs::write(bench.path("source"), "one").unwrap();
    let program = json!({ "filename": "a", "source": "source" });
    let thing = bench.create("local:File", &program);
    assert_eq!(bench.changes(&thing, &program), [""; 0]);
    fs::write(bench.path("source"), "two").unwrap();
    assert_eq!(bench.changes(&thing, &program), ["update source"]);
    bench.update(&thing, &program);
    assert_eq!(fs::read_to_string(bench.path("a")).unwrap(), "two");
    fs::remove_file(bench.path("source")).unwrap();
    assert_eq!(bench.changes(&thing, &program), [""; 0], "it may come from this very update");
    let error = bench.try_update(&thing, &program).unwrap_err();
    assert!(error.message.starts_with("`source` cannot be read: "), "{error}");
    assert_eq!(fs::read_to_string(bench.path("a")).unwrap(), "two");
}

#[test]
fn files_and_folders_are_imported_by_their_paths() {
    let bench = Bench::new();
    fs::write(bench.path("a"), "text").unwrap();
    fs::write(bench.path("b"), [0xff]).unwrap();
    assert_eq!(bench.import("local:File", "a").text("content"), "text");
    assert_eq!(bench.import("local:File", "b").text("contentBase64"), "/w==");
    assert!(bench.try_import("local:File", "gone").unwrap().is_none());
    // A program that only reads it has no inputs for it, then or later.
    let mut read = bench.import("local:File", "a");
    read.inputs.clear();
    assert_eq!(bench.read(&read).unwrap().outputs, read.outputs);
    fs::create_dir(bench.path("d")).unwrap();
    let folder = bench.import("local:Directory", "d");
    bench.delete(&folder);
    assert!(!bench.path("d").exists());
    fs::File::create(bench.path("large")).unwrap().set_len(17 << 20).unwrap();
    assert!(bench.try_import("local:File", "large").unwrap_err().message.contains("too large"));
}

#[test]
fn a_relative_path_does_not_leave_the_program_s_folder() {
    let bench = Bench::new();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("theirs"), "theirs").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), bench.path("link")).unwrap();
    for name in ["../a", "x/../../a", "link/a", "link/deep/a"] {
        for (kind, inputs) in [
            ("local:File", json!({ "filename": name, "content": "mine" })),
            ("local:Directory", json!({ "path": name })),
            ("archive:File", json!({ "type": "zip", "outputPath": name, "sources": [] })),
        ] {
            let error = bench.try_create(kind, "x", &inputs).unwrap_err();
            assert!(error.message.contains("leads out of the program's folder"), "{kind} {name}: {error}");
        }
    }
    let copy = json!({ "filename": "copy", "source": "link/theirs" });
    assert!(bench.try_create("local:File", "x", &copy).unwrap_err().message.contains("leads out"));
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
    // An absolute path says that it is meant.
    let absolute = elsewhere.path().join("mine");
    bench.create("local:File", &json!({ "filename": absolute, "content": "mine" }));
    assert_eq!(fs::read_to_string(absolute).unwrap(), "mine");
    bench.try_create("local:File", "y", &json!({ "filename": "x/../y", "content": "inside" })).unwrap();
    assert!(bench.path("y").exists());
}

#[test]
fn a_folder_that_became_a_way_out_is_not_deleted_through() {
    let bench = Bench::new();
    let thing = bench.create("local:File", &json!({ "filename": "d/a", "content": "mine" }));
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("a"), "theirs").unwrap();
    fs::remove_dir_all(bench.path("d")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), bench.path("d")).unwrap();
    let bench = bench.again();
    assert!(bench.try_delete(&thing).unwrap_err().message.contains("leads out"));
    assert!(elsewhere.path().join("a").exists());
}

#[test]
fn traps_at_its_place_are_refused_and_left_alone() {
    let bench = Bench::new();
    let program = |name: &str| json!({ "filename": name, "content": "mine" });
    fs::write(bench.path("target"), "theirs").unwrap();
    std::os::unix::fs::symlink(bench.path("target"), bench.path("link")).unwrap();
    std::os::unix::fs::symlink(bench.path("nowhere"), bench.path("dangling")).unwrap();
    fs::create_dir(bench.path("folder")).unwrap();
    std::process::Command::new("mkfifo").arg(bench.path("fifo")).status().unwrap();
    for (name, says) in [
        ("link", "a symbolic link is in its place"),
        ("dangling", "a symbolic link is in its place"),
        ("folder", "a folder is in its place"),
        ("fifo", "no ordinary file is in its place"),
    ] {
        let error = bench.try_create("local:File", name, &program(name)).unwrap_err();
        assert_eq!(error.message, format!("`{name}` cannot be written: {says}"));
        let source = json!({ "filename": "copy", "source": name });
        if name != "link" {
            assert!(bench.try_create("local:File", "copy", &source).is_err(), "{name}");
        }
    }
    assert_eq!(fs::read_to_string(bench.path("target")).unwrap(), "theirs");
    let thing = bench.try_create("local:File", "own", &program("own")).unwrap();
    fs::remove_file(bench.path("own")).unwrap();
    std::os::unix::fs::symlink(bench.path("target"), bench.path("own")).unwrap();
    let bench = bench.again();
    bench.delete(&thing);
    assert!(bench.path("own").symlink_metadata().is_ok() && bench.path("target").exists());
}

#[test]
fn a_path_that_is_none_is_one_error() {
    let bench = Bench::new();
    fs::write(bench.path("file"), "").unwrap();
    for (name, says) in [("file/a", "cannot be written"), ("a\0b", "null character")] {
        let error =
            bench.try_create("local:File", name, &json!({ "filename": name, "content": "" })).unwrap_err();
        assert!(error.message.contains(says), "{error}");
    }
    let long = "x".repeat(5000);
    let error = bench.try_create("local:File", "x", &json!({ "filename": long, "content": "" })).unwrap_err();
    assert!(error.message.contains("cannot be written"), "{error}");
    assert_eq!(bench.failures("local:File", &json!({ "filename": "a/", "content": "" })).len(), 1);
}

#[test]
fn two_resources_do_not_write_one_path() {
    let bench = Bench::new();
    let program = json!({ "filename": "a", "content": "one" });
    bench.try_create("local:File", "first", &program).unwrap();
    let error = bench.try_create("local:File", "second", &program).unwrap_err();
    assert_eq!(
        error.message,
        format!(
            "`{}` is written by `first` already; two resources cannot share a path",
            bench.path("a").display()
        )
    );
}

#[test]
fn a_write_leaves_nothing_else_behind() {
    let bench = Bench::new();
    for content in ["one", "two"] {
        bench.create("local:File", &json!({ "filename": "d/a", "content": content }));
    }
    fs::create_dir(bench.path("d/folder")).unwrap();
    let trap = json!({ "filename": "d/folder", "content": "" });
    assert!(bench.try_create("local:File", "y", &trap).is_err());
    let mut names: Vec<_> =
        fs::read_dir(bench.path("d")).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a", "folder"]);
}

#[test]
fn a_folder_lives_from_creation_to_deletion() {
    let bench = Bench::new();
    let program = json!({ "path": "a/b", "directoryPermission": "0700" });
    let thing = bench.create("local:Directory", &program);
    assert_eq!((thing.output("existed"), mode(&bench.path("a/b"))), (json!(false), 0o700));
    assert_eq!(bench.changes(&thing, &json!({ "path": "a/b" })), ["update directoryPermission"]);
    assert_eq!(
        bench.changes(&thing, &json!({ "path": "c", "directoryPermission": "0700" })),
        ["update-replace path"]
    );
    let updated = bench.update(&thing, &json!({ "path": "a/b" }));
    assert_eq!(mode(&bench.path("a/b")), 0o755);
    assert_eq!(bench.read(&updated).unwrap().inputs, updated.inputs);
    fs::write(bench.path("a/b/c"), "").unwrap();
    let bench = bench.again();
    assert!(bench.try_delete(&updated).unwrap_err().message.contains("is not empty"));
    let all = bench.update(&updated, &json!({ "path": "a/b", "deleteContents": true }));
    let bench = bench.again();
    bench.delete(&all);
    bench.delete(&all);
    assert!(bench.path("a").exists() && !bench.path("a/b").exists());
    assert!(bench.read(&all).is_none());
}

#[test]
fn a_folder_that_was_there_stays_there() {
    let bench = Bench::new();
    fs::create_dir(bench.path("theirs")).unwrap();
    let thing = bench.create(
        "local:Directory",
        &json!({ "path": "theirs", "directoryPermission": "0700", "deleteContents": true }),
    );
    assert_eq!((thing.output("existed"), mode(&bench.path("theirs"))), (json!(true), 0o755));
    assert_eq!(bench.read(&thing).unwrap().inputs, thing.inputs);
    let bench = bench.again();
    bench.delete(&thing);
    assert!(bench.path("theirs").exists());
}

#[test]
fn the_program_s_own_folder_is_never_deleted() {
    let bench = Bench::new();
    let root = bench.folder.path().to_owned();
    let imported = bench.import("local:Directory", root.to_str().unwrap());
    let all = bench.update(&imported, &json!({ "path": root, "deleteContents": true }));
    let bench = bench.again();
    assert!(bench.try_delete(&all).unwrap_err().message.contains("holds the program"));
}
