//! HTTP reads, of servers that answer well, badly or never.

use crate::harness::{Bench, Server, answer};
use drystone_engine::{CreateArguments, Provider};
use serde_json::{Value as Json, json};
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

const KIND: &str = "http:Request";
const GET: &str = "drystone:http:getHttp";

fn echo(count: usize, stream: &mut TcpStream) {
    answer(
        stream,
        "200 OK",
        "X-Count: 1\r\nX-Many: a\r\nX-Many: b\r\n",
        format!("answer {count}").as_bytes(),
    );
}

#[test]
fn an_answer_is_kept_until_it_is_asked_for_again() {
    let bench = Bench::new();
    let server = Server::start(echo);
    let program = json!({ "url": server.url("/a?b=c"), "requestHeaders": { "X-Own": "mine" } });
    let thing = bench.create(KIND, &program);
    assert_eq!((thing.id.clone(), thing.text("responseBody")), (server.url("/a?b=c"), "answer 0".to_owned()));
    assert_eq!(
        (thing.output("statusCode"), thing.text("responseBodyBase64").as_str()),
        (json!(200), "YW5zd2VyIDA=")
    );
    assert_eq!(thing.output("responseHeaders")["x-many"], "a, b");
    let request = &server.requests()[0];
    assert!(request.starts_with("GET /a?b=c HTTP/1.1\r\n") && request.contains("mine"), "{request}");
    assert_eq!(bench.changes(&thing, &program), [""; 0]);
    let seen = bench.read(&thing).unwrap();
    assert_eq!(seen.text("responseBody"), "answer 1");
    assert_eq!(bench.changes(&seen, &program), [""; 0]);
    let post = json!({ "url": server.url("/a?b=c"), "method": "POST", "requestBody": "hello" });
    assert_eq!(bench.changes(&thing, &post), ["update method", "add requestBody", "delete requestHeaders"]);
    assert_eq!(bench.update(&thing, &post).text("responseBody"), "answer 2");
    assert!(server.requests()[2].starts_with("POST ") && server.requests()[2].ends_with("hello"));
    assert_eq!(bench.changes(&thing, &json!({ "url": server.url("/b") }))[1], "update-replace url");
    assert_eq!(bench.import(KIND, &server.url("/")).output("statusCode"), json!(200));
    bench.delete(&thing);
    let head = bench.create(KIND, &json!({ "url": server.url("/"), "method": "HEAD" }));
    assert_eq!(head.text("responseBody"), "");
}

#[test]
fn a_status_is_an_answer_and_bytes_are_kept() {
    let bench = Bench::new();
    let server = Server::start(|_, stream| answer(stream, "404 Not Found", "", &[0xff, b'a']));
    let invoked = bench.invoke(GET, &json!({ "url": server.url("/") })).unwrap();
    assert_eq!(invoked.properties["statusCode"], 404.into());
    assert_eq!(invoked.properties["responseBody"], "\u{fffd}a".into());
    assert_eq!(invoked.properties["responseBodyBase64"], "/2E=".into());
}

#[test]
fn s17_answers_to_secrets_are_secret_and_errors_show_none() {
    let bench = Bench::new();
    let server = Server::start(echo);
    let program =
        json!({ "url": server.url("/"), "requestHeaders": { "Authorization": { "secret": "hush" } } });
    let thing = bench.create(KIND, &program);
    assert!(["responseBody", "responseBodyBase64", "responseHeaders"].iter().all(|key| thing.is_secret(key)));
    assert!(!thing.is_secret("statusCode"));
    let hidden = bench.create(KIND, &json!({ "url": { "secret": server.url("/?key=hush") } }));
    assert!(!hidden.id.contains("hush"));
    for url in
        [json!("http://me:hush@127.0.0.1:1/a?key=hush#hush"), json!({ "secret": "http://127.0.0.1:1/hush" })]
    {
        let error = bench.invoke(GET, &json!({ "url": url })).unwrap_err();
        assert!(!error.message.contains("hush"), "{error}");
    }
    let wrong = json!({ "url": server.url("/"), "requestHeaders": { "a b": { "secret": "hush" } } });
    let error = bench.invoke(GET, &wrong).unwrap_err();
    assert!(error.message.contains("header") && !error.message.contains("hush"), "{error}");
}

#[test]
fn what_passes_is_tried_again_and_what_does_not_is_not() {
    let bench = Bench::new();
    let server = Server::start(|count, stream| match count {
        0 => answer(stream, "503 Service Unavailable", "", b""),
        1 => drop(stream.shutdown(std::net::Shutdown::Both)),
        2 => answer(stream, "429 Too Many Requests", "", b""),
        _ => answer(stream, "200 OK", "", b"at last"),
    });
    let retry = json!({ "attempts": 3, "minDelayMs": 1, "maxDelayMs": 5 });
    let invoked = bench.invoke(GET, &json!({ "url": server.url("/"), "retry": retry })).unwrap();
    assert_eq!((invoked.properties["responseBody"].clone(), server.requests().len()), ("at last".into(), 4));
    let never = Server::start(|_, stream| answer(stream, "503 Service Unavailable", "", b""));
    let invoked = bench.invoke(GET, &json!({ "url": never.url("/"), "retry": retry })).unwrap();
    assert_eq!((invoked.properties["statusCode"].clone(), never.requests().len()), (503.into(), 4));
    let missing = Server::start(|_, stream| answer(stream, "501 Not Implemented", "", b""));
    bench.invoke(GET, &json!({ "url": missing.url("/"), "retry": retry })).unwrap();
    assert_eq!(missing.requests().len(), 1);
}

/// The error of a request, and how long it took.
fn failing(inputs: &Json) -> (String, Duration) {
    let start = Instant::now();
    let error = Bench::new().invoke(GET, inputs).unwrap_err();
    (error.message, start.elapsed())
}

#[test]
fn a_server_that_cuts_its_answer_is_one_error() {
    let server = Server::start(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf");
    });
    let (error, _) = failing(&json!({ "url": server.url("/") }));
    assert!(error.contains("the answer was cut"), "{error}");
    let garbage = Server::start(|_, stream| drop(stream.write_all(b"what is HTTP?\r\n\r\n")));
    let (error, _) = failing(&json!({ "url": garbage.url("/") }));
    assert!(error.contains("cannot be read"), "{error}");
}

#[test]
fn a_server_that_sends_without_end_is_cut_off() {
    for head in [
        "HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
    ] {
        let server = Server::start(move |_, stream| {
            let _ = stream.write_all(head.as_bytes());
            while stream.write_all(&[b'x'; 1 << 16]).is_ok() {}
        });
        let (error, took) = failing(&json!({ "url": server.url("/") }));
        assert!(error.contains("larger than 16 MiB"), "{error}");
        assert!(took < Duration::from_secs(25), "{took:?}");
    }
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let silent = Server::start(|_, _| std::thread::sleep(Duration::from_secs(60)));
    let drip = Server::start(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
        while stream.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    for server in [silent, drip] {
        let (error, took) = failing(&json!({ "url": server.url("/"), "requestTimeoutMs": 300 }));
        assert!(error.contains("timeout") || error.contains("cut"), "{error}");
        assert!(took < Duration::from_secs(10), "{took:?}");
    }
}

#[test]
fn a_cancellation_does_not_wait_for_the_server() {
    let bench = Bench::new();
    let server = Server::start(|_, _| std::thread::sleep(Duration::from_secs(60)));
    let inputs = bench.check(KIND, &json!({ "url": server.url("/") })).properties;
    let urn = crate::harness::urn(KIND, "x");
    let start = Instant::now();
    bench.run(async {
        let soon = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            bench.provider.cancel().await
        };
        let arguments = CreateArguments { urn, inputs, ..CreateArguments::default() };
        let (created, _) = tokio::join!(bench.provider.create(arguments), soon);
        assert!(created.unwrap_err().message.ends_with("it was cancelled"));
    });
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn redirects_are_followed_but_not_out_of_http_nor_for_ever() {
    let bench = Bench::new();
    let end = Server::start(echo);
    let to = |location: String| {
        Server::start(move |_, stream| answer(stream, "302 Found", &format!("Location: {location}\r\n"), b""))
    };
    let good = to(end.url("/end"));
    assert_eq!(
        bench.invoke(GET, &json!({ "url": good.url("/") })).unwrap().properties["statusCode"],
        200.into()
    );
    let out = to("file:///etc/passwd".to_owned());
    let (error, _) = failing(&json!({ "url": out.url("/") }));
    assert!(error.contains("cannot be read"), "{error}");
    let round = to("/round".to_owned());
    let (error, _) = failing(&json!({ "url": round.url("/") }));
    assert!(error.contains("cannot be read"), "{error}");
    // What is meant for one host is not told to another.
    let hush = json!({ "url": good.url("/"), "requestHeaders": { "Authorization": "hush" } });
    bench.invoke(GET, &hush).unwrap();
    assert!(!end.requests().last().unwrap().contains("hush"), "{:?}", end.requests());
}
