//! The line in which a plugin says where it listens.

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// What stands on a plugin's first line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PortLine {
    /// A port.
    Port(u16),
    /// Something else.
    Other(String),
    /// Nothing, or no whole line: the output ended before that.
    Ended(String),
}

/// No port is this long; what goes on without an end is not one.
const LONGEST: u64 = 4096;

/// Reads the first line. What follows stays in the reader.
pub(super) async fn read(reader: &mut (impl AsyncBufRead + Unpin)) -> PortLine {
    let mut bytes = Vec::new();
    let read = reader.take(LONGEST).read_until(b'\n', &mut bytes).await;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    let is_whole = bytes.ends_with(b"\n") || bytes.len() as u64 == LONGEST;
    match parse(&text) {
        _ if read.is_err() || !is_whole => PortLine::Ended(text),
        Some(port) => PortLine::Port(port),
        None => PortLine::Other(text),
    }
}

fn parse(line: &str) -> Option<u16> {
    let line = without_progress(line);
    line.trim().parse().ok().filter(|port| *port != 0)
}

/// The line without the escapes by which `dotnet run` draws progress in a terminal's title, even into a pipe.
fn without_progress(line: &str) -> String {
    const START: &str = "\u{1b}]9;4;";
    const END: &str = "\u{1b}\\";
    let mut rest = line;
    let mut text = String::new();
    while let Some((before, after)) = rest.split_once(START) {
        text.push_str(before);
        rest = after.split_once(END).map_or("", |(_, rest)| rest);
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn first_line(bytes: &[u8]) -> PortLine {
        read(&mut { bytes }).await
    }

    #[tokio::test]
    async fn a_port_may_stand_in_blanks_and_escapes() {
        let written = ["4711\n", "4711\r\n", "  4711 \nmore\n", "\x1b]9;4;3;\x1b\\4711\x1b]9;4;0;\x1b\\\n"];
        for line in written {
            assert_eq!(first_line(line.as_bytes()).await, PortLine::Port(4711), "{line:?}");
        }
        assert_eq!(first_line(b"65535\n").await, PortLine::Port(65535));
    }

    #[tokio::test]
    async fn what_is_no_port_is_told() {
        for line in ["", "hello", "0", "65536", "-1", "47 11", "4711x"] {
            let printed = format!("{line}\n");
            assert_eq!(first_line(printed.as_bytes()).await, PortLine::Other(line.to_owned()), "{line:?}");
        }
    }

    #[tokio::test]
    async fn an_output_that_ends_within_the_line_has_no_port() {
        assert_eq!(first_line(b"").await, PortLine::Ended(String::new()));
        assert_eq!(first_line(b"4711").await, PortLine::Ended("4711".to_owned()));
    }

    #[tokio::test]
    async fn a_line_without_an_end_is_not_awaited_forever() {
        assert!(matches!(first_line(&[b'7'; 10_000]).await, PortLine::Other(_)));
    }
}
