//! Just enough HTTP/1.1 to see whether a server answers, to make a bucket, and to pass messages on.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A request or an answer, as it went over the wire.
#[derive(Debug, Clone, Default)]
pub(crate) struct Message {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Message {
    /// The words of the first line.
    pub(crate) fn word(&self, index: usize) -> &str {
        self.head.lines().next().and_then(|line| line.split(' ').nth(index)).unwrap_or_default()
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
    }

    pub(crate) fn len(&self) -> usize {
        self.head.len() + self.body.len()
    }

    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(self.head.as_bytes())?;
        out.write_all(&self.body)?;
        out.flush()
    }

    /// Reads a request; `None` when the other side has nothing more to ask.
    pub(crate) fn request(from: &mut impl BufRead) -> io::Result<Option<Self>> {
        let Some(head) = head(from)? else { return Ok(None) };
        let mut request = Self { head, body: Vec::new() };
        request.read_body(from, false)?;
        Ok(Some(request))
    }

    /// Reads the answer to a request with a method.
    pub(crate) fn answer(from: &mut impl BufRead, method: &str) -> io::Result<Self> {
        let head = head(from)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut answer = Self { head, body: Vec::new() };
        let has_none = method == "HEAD" || matches!(answer.word(1), "204" | "304");
        if !has_none {
            answer.read_body(from, true)?;
        }
        Ok(answer)
    }

    fn read_body(&mut self, from: &mut impl BufRead, until_end: bool) -> io::Result<()> {
        if self.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
            return self.read_chunks(from);
        }
        match self.header("content-length").and_then(|value| value.parse().ok()) {
            Some(length) => {
                self.body = vec![0; length];
                from.read_exact(&mut self.body)
            }
            None if until_end => from.read_to_end(&mut self.body).map(drop),
            None => Ok(()),
        }
    }

    /// Reads chunks as they are, with their lengths.
    fn read_chunks(&mut self, from: &mut impl BufRead) -> io::Result<()> {
        loop {
            let mut line = String::new();
            from.read_line(&mut line)?;
            let digits = line.trim().split(';').next().unwrap_or_default();
            let length = usize::from_str_radix(digits, 16).map_err(io::Error::other)?;
            self.body.extend_from_slice(line.as_bytes());
            let begin = self.body.len();
            self.body.resize(begin + length + 2, 0);
            from.read_exact(&mut self.body[begin..])?;
            if length == 0 {
                return Ok(());
            }
        }
    }
}

fn head(from: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut head = String::new();
    loop {
        let before = head.len();
        if from.read_line(&mut head)? == 0 {
            return if head.is_empty() { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        if matches!(&head[before..], "\r\n" | "\n") {
            return Ok(Some(head));
        }
    }
}

/// Sends a request to a server of this machine, and gives its answer.
pub(crate) fn ask(port: u16, method: &str, target: &str, headers: &str, body: &str) -> io::Result<Message> {
    let stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    );
    Message { head, body: body.as_bytes().to_vec() }.write(&mut &stream)?;
    Message::answer(&mut BufReader::new(stream), method)
}

/// The same, of which only the status matters.
pub(crate) fn status(port: u16, method: &str, target: &str, headers: &str, body: &str) -> io::Result<u16> {
    ask(port, method, target, headers, body)?.word(1).parse().map_err(io::Error::other)
}

/// Whether a server of this machine answers anything at all.
pub(crate) fn answers(port: u16) -> bool {
    status(port, "GET", "/", "", "").is_ok_and(|status| status < 500)
}
