//! Assets and archives at addresses, against a server on this machine.

use super::tests::{archive, asset, hash_in, of_assets, text, zip_file};
use crate::fetch::server::{Answer, Server};
use crate::fetch::{Limits, fetch, shown};
use drystone_model::{ArchiveSource, AssetSource, Value};
use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

fn server() -> Server {
    Server::start(|asked, before| match asked.path.split('?').next().unwrap_or_default() {
        "/hello" => Answer::ok("hello"),
        "/a.zip" => Answer::ok(zip_file()),
        "/moved" => Answer::new("302 Found", "").with("location", "/hello"),
        "/busy" if before < 2 => Answer::new("503 Busy", ""),
        "/later" if before < 1 => Answer::new("429 Later", "").with("retry-after", 1),
        "/busy" | "/later" => Answer::ok("hello"),
        "/broken" => Answer::new("500 Broken", ""),
        "/endless" => Answer::ok(vec![b'x'; 1 << 20]),
        _ => Answer::missing(),
    })
}

fn hash(value: Value) -> Result<String, String> {
    hash_in(Path::new("/"), value)
}

fn remote(uri: String) -> Value {
    asset(AssetSource::Uri(uri))
}

const QUICK: Limits = Limits { bytes: 1000, attempts: 3, pause: Duration::from_millis(1) };

#[test]
fn a_remote_asset_has_the_hash_of_what_is_there() {
    let server = server();
    let hello = hash(text("hello")).unwrap();
    for path in ["hello", "moved", "busy", "later"] {
        assert_eq!(hash(remote(server.at(path))).unwrap(), hello, "{path}");
    }
    assert_eq!((server.asked("/busy"), server.asked("/later")), (3, 2));
}

#[test]
fn a_remote_archive_has_the_hash_of_its_file_and_as_a_part_that_of_its_members() {
    let server = server();
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("a.zip"), zip_file()).unwrap();
    let here = || archive(ArchiveSource::Path("a.zip".into()));
    let there = |path: &str| archive(ArchiveSource::Uri(server.at(path)));
    assert_eq!(hash(there("a.zip")), hash_in(root.path(), here()));
    assert_eq!(hash(there("a.zip?signature=1#x")), hash_in(root.path(), here()));
    let (inside, expected) = (of_assets([("in", there("a.zip"))]), of_assets([("in", here())]));
    assert_eq!(hash(inside), hash_in(root.path(), expected));
    let no_archive = hash(there("hello?signature=sesame")).unwrap_err();
    assert!(no_archive.contains("/hello' is not a recognized archive format"), "{no_archive}");
}

#[test]
fn what_cannot_be_fetched_is_told_without_secrets() {
    let server = server();
    let error = hash(remote(format!("http://ana:sesame@{}/gone?token=hush", server.address))).unwrap_err();
    let expected = format!(
        "property `v`: failed to compute the asset hash: cannot fetch 'http://{}/gone': the server answered 404 Not Found",
        server.address
    );
    assert_eq!((error, server.asked("/gone?token=hush")), (expected, 1));
    let broken = fetch(&server.at("broken"), QUICK).unwrap_err().to_string();
    assert!(broken.ends_with("the server answered 500 Internal Server Error"), "{broken}");
    assert_eq!(server.asked("/broken"), 3);
    let large = fetch(&server.at("endless"), QUICK).unwrap_err().to_string();
    assert!(large.ends_with("it is larger than 1000 bytes"), "{large}");
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let began = Instant::now();
    let refused = fetch(&format!("http://{nobody}/x"), QUICK).unwrap_err().to_string();
    assert!(refused.starts_with(&format!("cannot fetch 'http://{nobody}/x': ")), "{refused}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn what_is_fetched_is_read_from_its_beginning() {
    let server = server();
    let mut content = String::new();
    fetch(&server.at("hello"), QUICK).unwrap().read_to_string(&mut content).unwrap();
    assert_eq!(content, "hello");
    assert_eq!(shown("https://ana:sesame@example.com:8/a/b?c#d"), "https://example.com:8/a/b");
    assert_eq!(shown("https://ana@example.com"), "https://example.com");
}
