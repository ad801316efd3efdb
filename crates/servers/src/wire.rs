//! A proxy in front of PostgreSQL that counts statements and bytes, and takes its time.
//!
//! A request is what a client waits for: a simple query, or everything up to a `Sync`. Several of them that are sent at
//! once wait together, as on a real network: what is slow is the way, not the server.

use crate::proxy::{Asked, Traffic};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The code in the first message of a client that asks for TLS, and will begin anew.
const TLS_REQUEST: u32 = 80_877_103;
/// The longest text of a statement that is kept.
const LONGEST: usize = 200;

/// A proxy in front of a PostgreSQL server.
#[derive(Debug)]
pub struct Wire {
    port: u16,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Debug, Default)]
struct Seen {
    traffic: Traffic,
    asked: Vec<Asked>,
    /// How long everything takes more on its way to the server.
    slow: Duration,
}

impl Wire {
    /// A proxy in front of a server of this machine, for as long as the process lives.
    #[must_use]
    pub fn before(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let seen = Arc::<Mutex<Seen>>::default();
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let seen = Arc::clone(&shared);
                // Whoever is cut off notices by itself.
                std::thread::spawn(move || pass(&client, server, &seen));
            }
        });
        Self { port, seen }
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Makes every round trip take longer.
    pub fn slow_down(&self, by: Duration) {
        seen(&self.seen).slow = by;
    }

    /// What has gone through so far.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        seen(&self.seen).traffic
    }

    /// The requests that have gone through so far, in their order.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        seen(&self.seen).asked.clone()
    }
}

fn seen(shared: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pass(client: &TcpStream, server: u16, shared: &Arc<Mutex<Seen>>) -> io::Result<()> {
    let server = TcpStream::connect(("127.0.0.1", server))?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (sender, late) = channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // The server hears nothing more once the client has gone.
            let _ = deliver(&server, late);
            let _ = server.shutdown(Shutdown::Write);
        });
        scope.spawn(|| {
            let _ = answer(&server, client, shared);
            let _ = client.shutdown(Shutdown::Both);
        });
        let mut messages = Messages::default();
        let mut buffer = vec![0; 1 << 16];
        let mut from = client;
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            let due = {
                let mut seen = seen(shared);
                seen.traffic.sent += length as u64;
                let asked = messages.take(&buffer[..length]);
                seen.traffic.requests += asked.len() as u64;
                seen.asked.extend(asked);
                Instant::now() + seen.slow
            };
            if sender.send((due, buffer[..length].to_vec())).is_err() {
                break;
            }
        }
        drop(sender);
    });
    Ok(())
}

/// Hands the server each part when it is due.
fn deliver(mut server: &TcpStream, late: Receiver<(Instant, Vec<u8>)>) -> io::Result<()> {
    for (due, bytes) in late {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        server.write_all(&bytes)?;
    }
    Ok(())
}

fn answer(mut server: &TcpStream, mut client: &TcpStream, shared: &Mutex<Seen>) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = server.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        seen(shared).traffic.received += length as u64;
        client.write_all(&buffer[..length])?;
    }
}

/// What a client says, message by message.
#[derive(Debug, Default)]
struct Messages {
    buffer: Vec<u8>,
    /// Whether the client has said who it is, after which messages carry their kind.
    is_greeted: bool,
    /// The statement that was named last, and the bytes since the last request.
    what: String,
    sent: u64,
}

impl Messages {
    /// Takes what came; gives the requests that are whole now.
    fn take(&mut self, bytes: &[u8]) -> Vec<Asked> {
        self.buffer.extend_from_slice(bytes);
        let mut asked = Vec::new();
        while let Some(message) = self.next() {
            self.sent += message.len() as u64;
            if !self.is_greeted {
                self.is_greeted = number(&message, 4) != Some(TLS_REQUEST);
                asked.push(self.request("connect".to_owned()));
                continue;
            }
            match message[0] {
                b'P' => self.what = statement(message[5..].splitn(3, |&byte| byte == 0).nth(1)),
                b'Q' => {
                    let what = statement(message[5..].split(|&byte| byte == 0).next());
                    asked.push(self.request(what));
                }
                b'S' => {
                    let what = self.what.clone();
                    asked.push(self.request(what));
                }
                b'p' => asked.push(self.request("authenticate".to_owned())),
                _ => {}
            }
        }
        asked
    }

    fn request(&mut self, what: String) -> Asked {
        Asked { what, sent: std::mem::take(&mut self.sent) }
    }

    /// Cuts off the first whole message.
    fn next(&mut self) -> Option<Vec<u8>> {
        let kind = usize::from(self.is_greeted);
        let length = kind + usize::try_from(number(&self.buffer, kind)?).ok()?;
        if self.buffer.len() < length {
            return None;
        }
        let rest = self.buffer.split_off(length);
        Some(std::mem::replace(&mut self.buffer, rest))
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// The text of a statement on one line.
fn statement(text: Option<&[u8]>) -> String {
    let text = String::from_utf8_lossy(text.unwrap_or_default());
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: &[u8], body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [kind, &length.to_be_bytes(), body].concat()
    }

    #[test]
    fn a_request_is_what_a_client_waits_for() {
        let mut messages = Messages::default();
        let greeting = message(b"", b"\0\x03\0\0user\0drystone\0\0");
        let parts = [
            message(b"P", b"\0SELECT\n  1\0\0\0"),
            message(b"B", b"\0\0"),
            message(b"E", b"\0"),
            message(b"S", b""),
            message(b"Q", b"BEGIN\0"),
        ];
        let said = [greeting.clone(), parts.concat()].concat();
        // Whatever the parts that it comes in.
        let asked: Vec<Asked> = said.chunks(3).flat_map(|bytes| messages.take(bytes)).collect();
        let whats: Vec<&str> = asked.iter().map(|asked| asked.what.as_str()).collect();
        assert_eq!(whats, ["connect", "SELECT 1", "BEGIN"]);
        assert_eq!(asked[0].sent, greeting.len() as u64);
        assert_eq!(asked.iter().map(|asked| asked.sent).sum::<u64>(), said.len() as u64);
    }

    #[test]
    fn a_client_that_asks_for_tls_begins_anew() {
        let mut messages = Messages::default();
        messages.take(&message(b"", &TLS_REQUEST.to_be_bytes()));
        let asked = messages.take(&message(b"", b"\0\x03\0\0\0"));
        assert_eq!(asked.len(), 1);
        assert_eq!(messages.take(&message(b"Q", b"SELECT 1\0"))[0].what, "SELECT 1");
    }
}
