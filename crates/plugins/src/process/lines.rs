//! What processes print, line by line.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// Where a line was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A line that a process printed, without its end. Bytes that are not UTF-8 are replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Where.
    pub stream: Stream,
    /// What.
    pub text: String,
}

/// Takes lines as they come. It is called from several tasks and must not block.
pub type LineSink = Arc<dyn Fn(Line) + Send + Sync>;

/// A line longer than this is delivered in pieces, so that a process that never ends one does not fill the memory.
const LONGEST: u64 = 1 << 20;

/// Delivers lines until the stream ends. A last line without an end counts too.
pub(crate) async fn forward(mut reader: impl AsyncBufRead + Unpin, stream: Stream, sink: LineSink) {
    let mut bytes = Vec::new();
    while let Ok(1..) = (&mut reader).take(LONGEST).read_until(b'\n', &mut bytes).await {
        sink(Line { stream, text: text_of(&bytes).into_owned() });
        bytes.clear();
    }
}

fn text_of(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line))
}

/// The last lines that a process printed, for the error that says why it failed: those from the start of a Go panic,
/// which has the reason above a long trace, or else the very last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    const KEPT: usize = 500;
    const SHOWN: usize = 30;
    const SHOWN_OF_PANIC: usize = 15;

    /// A sink that remembers lines and passes them on.
    pub(crate) fn before(&self, sink: LineSink) -> LineSink {
        let tail = self.clone();
        Arc::new(move |line: Line| {
            tail.push(&line.text);
            sink(line);
        })
    }

    fn push(&self, text: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == Self::KEPT {
            lines.pop_front();
        }
        lines.push_back(text.to_owned());
    }

    /// The lines, joined.
    pub(crate) fn text(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_panic = |line: &String| line.starts_with("panic: ") || line.starts_with("fatal error: ");
        let (start, count) = match lines.iter().position(is_panic) {
            Some(start) => (start, Self::SHOWN_OF_PANIC),
            None => (lines.len().saturating_sub(Self::SHOWN), Self::SHOWN),
        };
        lines.iter().skip(start).take(count).map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines_of(bytes: &[u8]) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let seen = lines.clone();
        forward(bytes, Stream::Stdout, Arc::new(move |line: Line| seen.lock().unwrap().push(line.text)))
            .await;
        lines.lock().unwrap().clone()
    }

    #[tokio::test]
    async fn lines_lose_their_ends_and_the_last_one_needs_none() {
        assert_eq!(lines_of(b"a\n\r\nb\r\nc").await, ["a", "", "b", "c"]);
    }

    #[tokio::test]
    async fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(lines_of(b"a\xff\n").await, ["a\u{fffd}"]);
    }

    #[tokio::test]
    async fn an_endless_line_comes_in_pieces() {
        let lengths: Vec<usize> =
            lines_of(&vec![b'x'; LONGEST as usize + 3]).await.iter().map(String::len).collect();
        assert_eq!(lengths, [LONGEST as usize, 3]);
    }

    #[test]
    fn the_tail_keeps_the_last_lines() {
        let tail = Tail::default();
        let sink = tail.before(Arc::new(|_| {}));
        for number in 0..100 {
            sink(Line { stream: Stream::Stderr, text: number.to_string() });
        }
        assert!(tail.text().starts_with("70\n"), "{}", tail.text());
        assert!(tail.text().ends_with("\n99"), "{}", tail.text());
        sink(Line { stream: Stream::Stderr, text: "panic: at last".to_owned() });
        for number in 0..100 {
            sink(Line { stream: Stream::Stderr, text: format!("frame {number}") });
        }
        assert!(tail.text().starts_with("panic: at last\nframe 0\n"), "{}", tail.text());
        assert!(tail.text().ends_with("frame 13"), "{}", tail.text());
    }
}
