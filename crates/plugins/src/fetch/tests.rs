//! Downloads from servers that fail.

use super::server::{Answer, Server};
use super::*;
use std::cell::RefCell;
use std::time::Instant;

const QUICK: Limits = Limits { bytes: 1 << 20, attempts: 3, pause: Duration::from_millis(1) };

fn content() -> Vec<u8> {
    (0..200_000u32).map(|number| (number % 251) as u8).collect()
}

fn read(mut file: File) -> Vec<u8> {
    let mut content = Vec::new();
    file.read_to_end(&mut content).unwrap();
    content
}

fn get(server: &Server, path: &str) -> Result<Vec<u8>, FetchError> {
    let partial = Partial::unnamed().unwrap();
    download(&Request::new(server.at(path)), QUICK, partial, &|_| ()).map(read)
}

#[test]
fn a_download_that_breaks_off_is_gone_on_with_from_there() {
    let server = Server::start(|asked, before| {
        let answer = Answer::part(asked, &content(), "\"1\"");
        if before < 6 { answer.cut(30_000) } else { answer }
    });
    let watched = RefCell::new(Vec::new());
    let partial = Partial::unnamed().unwrap();
    let request = Request::new(server.at("x"));
    let file = download(&request, QUICK, partial, &|progress| watched.borrow_mut().push(progress)).unwrap();
    assert_eq!(read(file), content());
    let ranges: Vec<String> =
        server.all().iter().map(|asked| asked.header("range").unwrap_or("all").to_owned()).collect();
    assert_eq!(ranges[..3], ["all", "bytes=30000-", "bytes=60000-"]);
    let watched = watched.into_inner();
    let again = watched.iter().filter(|progress| matches!(progress, Progress::Again { .. })).count();
    assert_eq!((server.asked("/x"), again), (7, 6));
    assert_eq!(watched.last(), Some(&Progress::Received { bytes: 200_000, total: Some(200_000) }));
}

#[test]
fn content_that_changed_meanwhile_is_fetched_anew() {
    let server = Server::start(|asked, before| match before {
        0 => Answer::part(asked, &content(), "\"old\"").cut(1000),
        _ => Answer::part(asked, b"new", "\"new\""),
    });
    assert_eq!(get(&server, "x").unwrap(), b"new");
}

#[test]
fn what_a_dead_process_left_is_gone_on_with() {
    let server = Server::start(|asked, _| Answer::part(asked, &content(), "\"1\""));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.download");
    let uri = server.at("x");
    for kept in [100_000, 200_000] {
        let mut partial = Partial::at(&path).unwrap();
        partial.begin(&uri, Some("\"1\"".to_owned())).unwrap();
        partial.add(&content()[..kept]).unwrap();
        drop(partial);
        let file = download(&Request::new(&uri), QUICK, Partial::at(&path).unwrap(), &|_| ()).unwrap();
        assert_eq!(read(file), content());
    }
    let ranges: Vec<String> =
        server.all().iter().map(|asked| asked.header("range").unwrap_or("all").to_owned()).collect();
    assert_eq!(ranges, ["bytes=100000-", "bytes=200000-"]);
}

#[test]
fn a_server_that_lies_about_parts_is_asked_for_the_whole() {
    // It sends another part than it was asked for, then says that there is none, then everything.
    let server = Server::start(|asked, before| match before {
        0 => Answer::part(asked, &content(), "\"1\"").cut(1000),
        1 => Answer::new("206 Partial Content", "zzz").with("content-range", "bytes 7-9/200000"),
        2 => Answer::part(asked, &content(), "\"1\"").cut(1000),
        3 => Answer::new("416 Range Not Satisfiable", "").with("content-range", "bytes */7"),
        _ => Answer::part(asked, &content(), "\"1\""),
    });
    assert_eq!(get(&server, "x").unwrap(), content());
    assert_eq!(server.asked("/x"), 5);
}

#[test]
fn content_without_a_mark_is_fetched_anew_when_it_breaks_off() {
    for weak in [false, true] {
        let server = Server::start(move |_, before| {
            let answer = Answer::ok(content());
            let answer = if weak { answer.with("etag", "W/\"1\"") } else { answer };
            if before == 0 { answer.cut(1000) } else { answer }
        });
        assert_eq!(get(&server, "x").unwrap(), content());
        assert!(server.all().iter().all(|asked| asked.header("range").is_none()));
    }
}

#[test]
fn a_server_that_always_breaks_off_is_given_up_on() {
    let server = Server::start(|_, _| Answer::ok(content()).cut(1000));
    let error = get(&server, "x").unwrap_err();
    assert!(matches!(error.cause, Cause::Line(_)), "{error:?}");
    assert_eq!(server.asked("/x"), 3);
    let server = Server::start(|asked, _| Answer::part(asked, &content(), "\"1\"").cut(1));
    let error = get(&server, "x").unwrap_err();
    assert!(matches!(error.cause, Cause::Line(_) | Cause::Part), "{error:?}");
    assert_eq!(server.asked("/x"), MOST_ATTEMPTS as usize);
}

#[test]
fn what_is_too_large_is_not_fetched() {
    let began = Instant::now();
    let declared = Server::start(|_, _| Answer::ok("x").with("content-length", 10_u64 << 30));
    let endless = Server::start(|_, _| {
        let chunk = [b"10000\r\n".as_slice(), &[b'x'; 0x10000], b"\r\n"].concat();
        Answer::ok(chunk.repeat(40)).with("transfer-encoding", "chunked")
    });
    for server in [declared, endless] {
        let error = get(&server, "x").unwrap_err();
        assert!(matches!(error.cause, Cause::Large(_)), "{error:?}");
        assert_eq!(server.asked("/x"), 1);
    }
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn answers_that_are_none_are_told() {
    let server = Server::start(|asked, _| match asked.path.as_str() {
        "/gone" => Answer::missing(),
        "/forbidden" => Answer::new("403 Forbidden", ""),
        "/part" => Answer::new("206 Partial Content", "x").with("content-range", "bytes 5-5/6"),
        "/around" => Answer::new("302 Found", "").with("location", "/around"),
        _ => Answer::new("HTTP nonsense", ""),
    });
    for (path, word) in [("gone", "404"), ("forbidden", "403"), ("part", "206"), ("around", "redirect")] {
        let error = get(&server, path).unwrap_err().to_string();
        assert!(error.to_lowercase().contains(word), "{path}: {error}");
    }
    let error = get(&server, "nonsense").unwrap_err();
    assert!(matches!(error.cause, Cause::Line(_)), "{error:?}");
}

#[test]
fn who_asks_is_told_to_nobody_else() {
    let other = Server::start(|_, _| Answer::ok("x"));
    // Another name of this machine is another host.
    let elsewhere = other.at("asset").replace("127.0.0.1", "localhost");
    let server = Server::start(move |asked, _| match asked.path.as_str() {
        "/away" => Answer::new("302 Found", "").with("location", &elsewhere),
        _ => Answer::ok("x"),
    });
    let request = |path: &str| Request {
        uri: server.at(path),
        accept: Some("application/json"),
        authorization: Some("token hush".to_owned()),
    };
    for path in ["away", "here"] {
        download(&request(path), QUICK, Partial::unnamed().unwrap(), &|_| ()).unwrap();
    }
    assert!(server.all().iter().all(|asked| asked.header("authorization") == Some("token hush")));
    assert!(server.all().iter().all(|asked| asked.header("accept") == Some("application/json")));
    let asked = other.all();
    assert_eq!((asked.len(), asked[0].header("authorization")), (1, None));
}
