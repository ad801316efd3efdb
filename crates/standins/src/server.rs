//! A server on this machine that speaks HTTP/1.1 and gets into trouble when a test says so.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What a client asked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// `GET`, `POST`, …
    pub method: String,
    /// The path without its query.
    pub path: String,
    /// The query.
    pub query: String,
    /// The headers, by their names in lower case.
    pub headers: HashMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
}

impl Asked {
    /// A header.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The host that was asked, without its port.
    #[must_use]
    pub fn host(&self) -> &str {
        self.header("host").split(':').next().unwrap_or_default()
    }

    /// The body as JSON.
    #[must_use]
    pub fn json(&self) -> Option<serde_json::Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// A field of a form.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<String> {
        let body = std::str::from_utf8(&self.body).ok()?;
        let mut pairs = body.split('&').filter_map(|pair| pair.split_once('='));
        let value = pairs.find(|(known, _)| *known == name)?.1.replace('+', " ");
        Some(percent_encoding::percent_decode_str(&value).decode_utf8_lossy().into_owned())
    }
}

/// What a client is answered.
#[derive(Debug, Clone)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Answer {
    /// An answer of JSON.
    #[must_use]
    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        Self::text(status, "application/json", body.to_string())
    }

    /// An answer of any kind.
    #[must_use]
    pub fn text(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: vec![("content-type".to_owned(), kind.to_owned())], body: body.into() }
    }

    /// With a header more.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// What a server suffers from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Trouble {
    /// It is well.
    #[default]
    None,
    /// It answers late.
    Slow(Duration),
    /// It answers with a status and a text, and does nothing.
    Refuses(u16, String),
    /// The same for the next few questions; then it is well.
    RefusesOnce(u16, usize),
    /// It answers with what nobody understands.
    Babbles,
    /// It gives back what it was sent, as an error.
    Echoes,
    /// It hangs up in the middle of its answer.
    HangsUp,
}

type Handler = dyn Fn(&Asked) -> Answer + Send + Sync;

/// The server. It lives until the process ends.
pub struct Server {
    port: u16,
    shared: Arc<Shared>,
}

/// What all connections share.
pub(crate) struct Shared {
    handler: Box<Handler>,
    trouble: Mutex<Trouble>,
    asked: Mutex<Vec<Asked>>,
}

impl Server {
    /// Starts a server on a port of its own.
    pub fn start(handler: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let (listener, server) = Self::bind(handler);
        let shared = Arc::clone(&server.shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || converse(&stream, &stream, &shared));
            }
        });
        server
    }

    pub(crate) fn bind(handler: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> (TcpListener, Self) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let shared =
            Shared { handler: Box::new(handler), trouble: Mutex::default(), asked: Mutex::default() };
        (listener, Self { port, shared: Arc::new(shared) })
    }

    pub(crate) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// Where it is.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What it suffers from, from now on.
    pub fn suffer(&self, trouble: Trouble) {
        *self.shared.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// What it was asked so far.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often it was asked for a path that ends so.
    #[must_use]
    pub fn count(&self, end: &str) -> usize {
        self.asked().iter().filter(|asked| asked.path.ends_with(end)).count()
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("port", &self.port).finish_non_exhaustive()
    }
}

/// Answers what comes over a line until the client is done.
pub(crate) fn converse(input: impl Read, output: impl Write, shared: &Shared) {
    let mut lines = Lines { input: BufReader::new(input), output };
    while let Ok(Some(asked)) = read(&mut lines.input) {
        if lines.answer(&asked, shared).is_err() {
            return;
        }
    }
}

struct Lines<R, W> {
    input: BufReader<R>,
    output: W,
}

impl<R, W: Write> Lines<R, W> {
    fn answer(&mut self, asked: &Asked, shared: &Shared) -> io::Result<()> {
        shared.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked.clone());
        let trouble = {
            let mut trouble = shared.trouble.lock().unwrap_or_else(PoisonError::into_inner);
            let now = trouble.clone();
            if let Trouble::RefusesOnce(_, left) = &mut *trouble {
                *left -= 1;
                if *left == 0 {
                    *trouble = Trouble::None;
                }
            }
            now
        };
        let answer = match trouble {
            Trouble::None => (shared.handler)(asked),
            Trouble::Slow(pause) => {
                std::thread::sleep(pause);
                (shared.handler)(asked)
            }
            Trouble::Refuses(status, body) => Answer::text(status, "text/plain", body),
            Trouble::RefusesOnce(status, _) => Answer::text(status, "text/plain", "try again"),
            Trouble::Babbles => {
                Answer::text(200, "text/html", "<html>Please log in to the hotel's network</html>")
            }
            Trouble::Echoes => Answer::text(400, "text/plain", asked.body.clone()),
            Trouble::HangsUp => {
                self.output.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"half\":")?;
                self.output.flush()?;
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
        };
        let mut head =
            format!("HTTP/1.1 {} Told\r\ncontent-length: {}\r\n", answer.status, answer.body.len());
        for (name, value) in &answer.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        self.output.write_all(format!("{head}\r\n").as_bytes())?;
        self.output.write_all(&answer.body)?;
        self.output.flush()
    }
}

/// Reads one request; nothing at the end of the line.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Asked>> {
    let mut first = String::new();
    if input.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut words = first.split_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (path, query) = (path.to_owned(), query.to_owned());
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        input.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some(Asked { method, path, query, headers, body }))
}

/// Reads one request from a line that is gone on with in another way.
pub(crate) fn read_head(stream: &TcpStream) -> io::Result<Option<Asked>> {
    // Byte by byte: what comes after the head is not ours.
    read(&mut BufReader::with_capacity(1, stream))
}
