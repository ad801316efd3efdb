//! Assets and archives at addresses, against a server on this machine.

use super::tests::{archive, asset, hash_in, of_assets, text, zip_file};
use crate::fetch::{Limits, fetch, shown};
use drystone_model::{ArchiveSource, AssetSource, Value};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A server that answers by what is asked for, and what it was asked for.
struct Server {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || answer(stream.unwrap(), &seen));
            }
        });
        Self { address, asked }
    }

    fn at(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    fn asked(&self, path: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|asked| *asked == path).count()
    }
}

fn answer(mut stream: TcpStream, seen: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut header = String::new();
    while reader.read_line(&mut header).unwrap() > 2 {
        header.clear();
    }
    let times = {
        let mut seen = seen.lock().unwrap();
        seen.push(path.clone());
        seen.iter().filter(|other| **other == path).count()
    };
    let (status, headers, body): (&str, String, Vec<u8>) = match path.split('?').next().unwrap_or_default() {
        "/hello" => ("200 OK", String::new(), b"hello".to_vec()),
        "/a.zip" => ("200 OK", String::new(), zip_file()),
        "/moved" => ("302 Found", "location: /hello\r\n".to_owned(), Vec::new()),
        "/busy" if times < 3 => ("503 Busy", String::new(), Vec::new()),
        "/later" if times < 2 => ("429 Later", "retry-after: 1\r\n".to_owned(), Vec::new()),
        "/busy" | "/later" => ("200 OK", String::new(), b"hello".to_vec()),
        "/broken" => ("500 Broken", String::new(), Vec::new()),
        "/endless" => ("200 OK", String::new(), vec![b'x'; 1 << 20]),
        _ => ("404 Not Found", String::new(), b"no such thing".to_vec()),
    };
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n");
    // A client that has had enough goes away.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
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
    let server = Server::start();
    let hello = hash(text("hello")).unwrap();
    for path in ["hello", "moved", "busy", "later"] {
        assert_eq!(hash(remote(server.at(path))).unwrap(), hello, "{path}");
    }
    assert_eq!((server.asked("/busy"), server.asked("/later")), (3, 2));
}

#[test]
fn a_remote_archive_has_the_hash_of_its_file_and_as_a_part_that_of_its_members() {
    let server = Server::start();
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
    let server = Server::start();
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
    let server = Server::start();
    let mut content = String::new();
    fetch(&server.at("hello"), QUICK).unwrap().read_to_string(&mut content).unwrap();
    assert_eq!(content, "hello");
    assert_eq!(shown("https://ana:sesame@example.com:8/a/b?c#d"), "https://example.com:8/a/b");
    assert_eq!(shown("https://ana@example.com"), "https://example.com");
}
