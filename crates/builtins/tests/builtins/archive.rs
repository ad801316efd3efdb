//! Archives: what is in them, that they are the same again, and what is refused.

use crate::harness::{Bench, Thing};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;

const KIND: &str = "archive:File";

fn unzipped(bench: &Bench, name: &str) -> BTreeMap<String, (u32, String)> {
    let mut archive = zip::ZipArchive::new(fs::File::open(bench.path(name)).unwrap()).unwrap();
    let mut found = BTreeMap::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let mut content = String::new();
        file.read_to_string(&mut content).unwrap();
        found.insert(file.name().unwrap().into_owned(), (file.unix_mode().unwrap() & 0o777, content));
    }
    found
}

fn untarred(bench: &Bench, name: &str) -> BTreeMap<String, (u32, String)> {
    let mut archive =
        tar::Archive::new(flate2::read::GzDecoder::new(fs::File::open(bench.path(name)).unwrap()));
    let mut found = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut content = String::new();
        entry.read_to_string(&mut content).unwrap();
        let name = entry.path().unwrap().to_str().unwrap().to_owned();
        assert_eq!((entry.header().mtime().unwrap(), entry.header().uid().unwrap()), (0, 0));
        found.insert(name, (entry.header().mode().unwrap(), content));
    }
    found
}

/// A folder with files in it.
fn folder(bench: &Bench) {
    use std::os::unix::fs::PermissionsExt;
    fs::create_dir_all(bench.path("src/deep/er")).unwrap();
    fs::write(bench.path("src/b.txt"), "b").unwrap();
    fs::write(bench.path("src/a.log"), "log").unwrap();
    fs::write(bench.path("src/deep/er/c.sh"), "c").unwrap();
    fs::set_permissions(bench.path("src/deep/er/c.sh"), fs::Permissions::from_mode(0o755)).unwrap();
}

fn program(kind: &str, path: &str) -> Json {
    json!({ "type": kind, "outputPath": path, "sourceDir": "src", "excludes": ["**/*.log"] })
}

#[test]
fn a_folder_is_packed_in_both_formats() {
    let bench = Bench::new();
    folder(&bench);
    let zip = bench.create(KIND, &program("zip", "out/a.zip"));
    let expected = BTreeMap::from([
        ("b.txt".to_owned(), (0o644, "b".to_owned())),
        ("deep/er/c.sh".to_owned(), (0o755, "c".to_owned())),
    ]);
    assert_eq!(unzipped(&bench, "out/a.zip"), expected);
    assert_eq!(zip.output("outputSize"), json!(fs::metadata(bench.path("out/a.zip")).unwrap().len()));
    assert_eq!(
        (zip.text("outputSha256").len(), zip.text("outputMd5").len(), zip.id.as_str()),
        (64, 32, "out/a.zip")
    );
    bench.try_create(KIND, "tar", &program("tar.gz", "out/a.tar.gz")).unwrap();
    assert_eq!(untarred(&bench, "out/a.tar.gz"), expected);
}

#[test]
fn the_same_files_make_the_same_bytes() {
    for kind in ["zip", "tar.gz"] {
        let bytes = || {
            let bench = Bench::new();
            folder(&bench);
            let thing = bench.create(KIND, &program(kind, "a"));
            (fs::read(bench.path("a")).unwrap(), thing.text("sourceSha256"))
        };
        let first = bytes();
        std::thread::sleep(std::time::Duration::from_millis(1100));
        assert_eq!(first, bytes(), "{kind}");
    }
}

#[test]
fn an_archive_lives_from_creation_to_deletion() {
    let bench = Bench::new();
    folder(&bench);
    let wanted = program("zip", "a.zip");
    let thing = bench.create(KIND, &wanted);
    assert_eq!(bench.changes(&thing, &wanted), [""; 0]);
    fs::write(bench.path("src/a.log"), "what is left out does not count").unwrap();
    assert_eq!(bench.changes(&thing, &wanted), [""; 0]);
    fs::write(bench.path("src/new"), "").unwrap();
    assert_eq!(bench.changes(&thing, &wanted), ["update sourceDir"]);
    let updated = bench.update(&thing, &wanted);
    assert!(unzipped(&bench, "a.zip").contains_key("new"));
    assert_eq!(bench.changes(&updated, &wanted), [""; 0]);
    assert_eq!(bench.changes(&updated, &program("tar.gz", "a.zip")), ["update-replace type"]);
    assert_eq!(bench.read(&updated).unwrap().outputs, updated.outputs);
    fs::write(bench.path("a.zip"), "no archive").unwrap();
    let seen = bench.read(&updated).unwrap();
    assert_eq!(bench.changes(&seen, &wanted), ["update sourceDir"]);
    assert_eq!(bench.update(&seen, &wanted).outputs, updated.outputs);
    let bench = bench.again();
    bench.delete(&updated);
    bench.delete(&updated);
    assert!(!bench.path("a.zip").exists() && bench.read(&updated).is_none());
}

#[test]
fn files_and_texts_are_packed_too() {
    let bench = Bench::new();
    fs::write(bench.path("one.txt"), "one").unwrap();
    let inputs = json!({
        "type": "zip", "outputPath": "a.zip", "sourceFile": "one.txt", "outputFileMode": "0600",
        "sourceContent": "two", "sourceContentFilename": "deep/two.txt",
        "sources": [{ "filename": "three", "content": "3" }],
    });
    bench.create(KIND, &inputs);
    let found = unzipped(&bench, "a.zip");
    assert_eq!(found.keys().collect::<Vec<_>>(), ["deep/two.txt", "one.txt", "three"]);
    assert!(found.values().all(|(mode, _)| *mode == 0o600));
    let twice = json!({ "type": "zip", "outputPath": "b.zip", "sources": [
        { "filename": "a", "content": "1" }, { "filename": "a", "content": "2" }] });
    assert!(bench.try_create(KIND, "y", &twice).unwrap_err().message.contains("twice"));
    assert!(!bench.path("b.zip").exists());
}

#[test]
fn the_archive_does_not_pack_itself() {
    let bench = Bench::new();
    folder(&bench);
    let wanted = json!({ "type": "zip", "outputPath": "src/self.zip", "sourceDir": "src" });
    let thing = bench.create(KIND, &wanted);
    assert_eq!(bench.changes(&thing, &wanted), [""; 0]);
    let again: Thing = bench.update(&thing, &wanted);
    assert_eq!(again.outputs, thing.outputs);
}

#[test]
fn links_stay_within_the_folder() {
    use std::os::unix::fs::symlink;
    let bench = Bench::new();
    folder(&bench);
    fs::write(bench.path("outside"), "hush").unwrap();
    symlink("b.txt", bench.path("src/link.txt")).unwrap();
    symlink("deep/er", bench.path("src/linked")).unwrap();
    bench.create(KIND, &program("zip", "a.zip"));
    let found = unzipped(&bench, "a.zip");
    assert_eq!((found["link.txt"].1.as_str(), found["linked/c.sh"].1.as_str()), ("b", "c"));
    let mut without = program("zip", "b.zip");
    without["excludeSymlinkDirectories"] = json!(true);
    bench.try_create(KIND, "b", &without).unwrap();
    assert!(!unzipped(&bench, "b.zip").contains_key("linked/c.sh"));
    symlink("..", bench.path("src/deep/round")).unwrap();
    let error = bench.try_create(KIND, "c", &program("zip", "c.zip")).unwrap_err();
    assert_eq!(error.message, "the symbolic link `deep/round` leads to a folder that it is in");
    fs::remove_file(bench.path("src/deep/round")).unwrap();
    symlink("../outside", bench.path("src/escape")).unwrap();
    let error = bench.try_create(KIND, "d", &program("zip", "d.zip")).unwrap_err();
    assert!(error.message.starts_with("the symbolic link `escape` leads out of the folder"), "{error}");
    assert!(!bench.path("d.zip").exists());
    let mut excluded = program("zip", "e.zip");
    excluded["excludes"] = json!(["escape"]);
    bench.try_create(KIND, "e", &excluded).unwrap();
}

#[test]
fn what_is_no_file_or_has_no_name_is_refused() {
    use std::os::unix::ffi::OsStringExt;
    let bench = Bench::new();
    folder(&bench);
    std::process::Command::new("mkfifo").arg(bench.path("src/fifo")).status().unwrap();
    let error = bench.try_create(KIND, "x", &program("zip", "a.zip")).unwrap_err();
    assert_eq!(error.message, "`fifo` is no ordinary file and cannot be packed");
    fs::remove_file(bench.path("src/fifo")).unwrap();
    fs::write(bench.path("src").join(std::ffi::OsString::from_vec(vec![0xff])), "").unwrap();
    let error = bench.try_create(KIND, "x", &program("zip", "a.zip")).unwrap_err();
    assert!(error.message.contains("is not UTF-8"), "{error}");
    let gone = json!({ "type": "zip", "outputPath": "a.zip", "sourceDir": "gone" });
    assert!(bench.try_create(KIND, "x", &gone).unwrap_err().message.starts_with("`gone` cannot be read: "));
    let file = json!({ "type": "zip", "outputPath": "a.zip", "sourceDir": "src/b.txt" });
    assert_eq!(bench.try_create(KIND, "x", &file).unwrap_err().message, "`src/b.txt` is no folder");
}

#[test]
fn archives_of_texts_are_imported() {
    let bench = Bench::new();
    folder(&bench);
    for (kind, name) in [("zip", "a.zip"), ("tar.gz", "a.tar.gz"), ("tar.gz", "b.tgz")] {
        let inputs = json!({ "type": kind, "outputPath": name, "outputFileMode": "0600", "sources": [
            { "filename": "a/b", "content": "é" }, { "filename": "c", "content": "" }] });
        let made = bench.try_create(KIND, name, &inputs).unwrap();
        let imported = bench.import(KIND, name);
        assert_eq!(imported.outputs, made.outputs, "{name}");
        let read = Thing { inputs: drystone_engine::PropertyMap::new(), ..imported };
        assert_eq!(bench.read(&read).unwrap().outputs, made.outputs, "{name}");
    }
    // One that another tool packed is not packed anew.
    let mut foreign = std::process::Command::new("tar");
    foreign.arg("-czf").arg(bench.path("f.tar.gz")).arg("-C");
    assert!(foreign.arg(bench.path("src")).args(["b.txt", "./a.log"]).status().unwrap().success());
    assert_eq!(
        bench.import(KIND, "f.tar.gz").output("sources"),
        json!([
        { "filename": "a.log", "content": "log" }, { "filename": "b.txt", "content": "b" }])
    );
}

#[test]
fn broken_and_hostile_archives_are_not_imported() {
    let bench = Bench::new();
    for (name, bytes) in
        [("a.zip", &b"PK\x03\x04 no archive"[..]), ("a.tar.gz", b"no archive"), ("a.rar", b"")]
    {
        fs::write(bench.path(name), bytes).unwrap();
        assert!(bench.try_import(KIND, name).is_err(), "{name}");
    }
    let bomb = flate2::write::GzEncoder::new(
        fs::File::create(bench.path("bomb.tgz")).unwrap(),
        flate2::Compression::best(),
    );
    let mut bomb = tar::Builder::new(bomb);
    let mut header = tar::Header::new_gnu();
    header.set_size(1 << 30);
    header.set_mode(0o644);
    bomb.append_data(&mut header, "zeros", std::io::repeat(0).take(1 << 30)).unwrap();
    bomb.into_inner().unwrap().finish().unwrap();
    let error = bench.try_import(KIND, "bomb.tgz").unwrap_err();
    assert!(error.message.contains("more than 16 MiB"), "{error}");
    let mut writer = zip::ZipWriter::new(fs::File::create(bench.path("slip.zip")).unwrap());
    writer.start_file("../../etc/passwd", zip::write::SimpleFileOptions::default()).unwrap();
    writer.finish().unwrap();
    let error = bench.try_import(KIND, "slip.zip").unwrap_err();
    assert!(error.message.contains("leads out of it"), "{error}");
}

#[test]
fn the_function_makes_an_archive() {
    let bench = Bench::new();
    folder(&bench);
    let invoked = bench.invoke("drystone:archive:getFile", &program("zip", "a.zip")).unwrap();
    let made = bench.create(KIND, &program("zip", "b.zip"));
    assert_eq!(invoked.properties["outputSha256"], made.outputs["outputSha256"]);
    assert!(!invoked.properties.contains_key("sourceDir"));
}

#[test]
fn s17_the_digests_of_secrets_are_secret() {
    let bench = Bench::new();
    let inputs = json!({ "type": "zip", "outputPath": "a.zip", "sources": [
        { "filename": "a", "content": { "secret": "hush" } }] });
    let thing = bench.create(KIND, &inputs);
    for seen in [bench.read(&thing).unwrap(), thing] {
        assert!(
            seen.is_secret("outputSha256") && seen.is_secret("sourceSha256") && seen.is_secret("outputSize")
        );
    }
}
