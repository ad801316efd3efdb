//! A server on this machine that answers as a test says: rightly, or wrong in every way a server can be.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What was asked for.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    headers: HashMap<String, String>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// From which byte on it is asked for.
    fn begin(&self) -> Option<usize> {
        self.header("range")?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: &'static str,
    headers: String,
    body: Vec<u8>,
    /// How much of the body is sent before the line is cut.
    sent: usize,
}

impl Answer {
    pub(crate) fn new(status: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: String::new(), body: body.into(), sent: usize::MAX }
    }

    pub(crate) fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::new("200 OK", body)
    }

    pub(crate) fn missing() -> Self {
        Self::new("404 Not Found", "no such thing")
    }

    pub(crate) fn with(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        self.headers.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    /// Cut after some bytes.
    pub(crate) fn cut(mut self, sent: usize) -> Self {
        self.sent = sent;
        self
    }

    /// Content as a server gives it that knows parts: what is asked for if the mark is still the same, else all of it.
    pub(crate) fn part(asked: &Asked, content: &[u8], mark: &str) -> Self {
        match asked.begin() {
            Some(begin) if asked.header("if-range") == Some(mark) && begin < content.len() => {
                let range = format!("bytes {begin}-{}/{}", content.len() - 1, content.len());
                Self::new("206 Partial Content", &content[begin..]).with("content-range", range)
            }
            Some(_) if asked.header("if-range") == Some(mark) => {
                let range = format!("bytes */{}", content.len());
                Self::new("416 Range Not Satisfiable", "").with("content-range", range)
            }
            _ => Self::ok(content),
        }
        .with("etag", mark)
    }
}

/// The server.
pub(crate) struct Server {
    pub(crate) address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Answers by what is asked for, and how often it was before.
    pub(crate) fn start(answer: impl Fn(&Asked, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&asked), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                std::thread::spawn(move || respond(stream.expect("a connection"), &seen, &*answer));
            }
        });
        Self { address, asked }
    }

    pub(crate) fn at(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// How often something was asked for.
    pub(crate) fn asked(&self, path: &str) -> usize {
        self.all().iter().filter(|asked| asked.path == path).count()
    }

    /// Everything that was asked for, in order.
    pub(crate) fn all(&self) -> Vec<Asked> {
        self.asked.lock().expect("nobody panics").clone()
    }
}

fn respond(mut stream: TcpStream, seen: &Mutex<Vec<Asked>>, answer: &dyn Fn(&Asked, usize) -> Answer) {
    let mut lines = BufReader::new(stream.try_clone().expect("a connection")).lines();
    let Some(Ok(line)) = lines.next() else { return };
    let mut asked =
        Asked { path: line.split(' ').nth(1).unwrap_or_default().to_owned(), headers: HashMap::new() };
    for line in lines.map_while(Result::ok).take_while(|line| !line.is_empty()) {
        if let Some((name, value)) = line.split_once(':') {
            asked.headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    let before = {
        let mut seen = seen.lock().expect("nobody panics");
        seen.push(asked.clone());
        seen.iter().filter(|other| other.path == asked.path).count() - 1
    };
    let Answer { status, headers, body, sent } = answer(&asked, before);
    let length = if headers.contains("content-length") || headers.contains("transfer-encoding") {
        String::new()
    } else {
        format!("content-length: {}\r\n", body.len())
    };
    let head = format!("HTTP/1.1 {status}\r\n{headers}{length}connection: close\r\n\r\n");
    // A client that has had enough goes away.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body[..sent.min(body.len())]));
}
