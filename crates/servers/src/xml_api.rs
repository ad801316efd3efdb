//! Google Cloud Storage's XML API in front of fake-gcs-server.
//!
//! The server speaks Google's JSON API for writing, and little of the XML API that clients of object stores use. What it
//! lacks is translated here, request by request. Whether a condition is met is decided by the server alone.

use crate::gateway::{Gate, Reply, Upstream, stand_before};
use crate::http::Message;
use serde_json::Value;
use std::io;
use std::sync::Arc;

/// Listens in front of a fake-gcs-server that calls itself by this host; gives the port.
pub(crate) fn before(port: u16, host: String) -> u16 {
    stand_before(port, Arc::new(Translator { host }))
}

struct Translator {
    host: String,
}

impl Gate for Translator {
    fn pass(&self, request: Message, server: &mut Upstream) -> io::Result<Reply> {
        let target = request.word(1).to_owned();
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let mut parts = path.trim_start_matches('/').splitn(2, '/');
        let (bucket, key) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let answer = match (request.word(0), key) {
            ("PUT", _) => self.put(&request, bucket, key, server)?,
            ("GET", "") => server.ask(&request_to(
                &format!("{bucket}.{}", self.host),
                "GET",
                &format!("/?{query}"),
                Vec::new(),
            ))?,
            (method, _) => server.ask(&request_to(&self.host, method, &target, Vec::new()))?,
        };
        Ok(Reply::Whole(answer))
    }
}

impl Translator {
    fn put(&self, request: &Message, bucket: &str, key: &str, server: &mut Upstream) -> io::Result<Message> {
        let target = match request.header("x-goog-copy-source") {
            Some(source) => {
                let (from, source) = source.split_once('/').unwrap_or(("", source));
                format!("/storage/v1/b/{from}/o/{source}/copyTo/b/{bucket}/o/{key}")
            }
            None => {
                let condition = request.header("x-goog-if-generation-match");
                let condition = condition.map(|it| format!("&ifGenerationMatch={it}")).unwrap_or_default();
                format!("/upload/storage/v1/b/{bucket}/o?uploadType=media&name={key}{condition}")
            }
        };
        let answer = server.ask(&request_to(&self.host, "POST", &target, request.body.clone()))?;
        if answer.word(1) != "200" {
            return Ok(answer);
        }
        let said: Value = serde_json::from_slice(&unchunked(&answer)).map_err(io::Error::other)?;
        let text = |name: &str| said.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (e_tag, generation) = (text("etag"), text("generation"));
        let head = format!(
            "HTTP/1.1 200 OK\r\nETag: \"{}\"\r\nx-goog-generation: {generation}\r\nContent-Length: 0\r\n\r\n",
            e_tag.trim_matches('"')
        );
        Ok(Message { head, body: Vec::new() })
    }
}

fn request_to(host: &str, method: &str, target: &str, body: Vec<u8>) -> Message {
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/octet-stream\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    Message { head, body }
}

/// The body of an answer without the lengths of its chunks.
fn unchunked(answer: &Message) -> Vec<u8> {
    if answer.header("transfer-encoding").is_none() {
        return answer.body.clone();
    }
    let (mut body, mut rest) = (Vec::new(), answer.body.as_slice());
    while let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") {
        let digits = String::from_utf8_lossy(&rest[..end]).into_owned();
        let length = usize::from_str_radix(digits.trim(), 16).unwrap_or(0);
        let from = end + 2;
        if length == 0 || rest.len() < from + length + 2 {
            break;
        }
        body.extend_from_slice(&rest[from..from + length]);
        rest = &rest[from + length + 2..];
    }
    body
}
