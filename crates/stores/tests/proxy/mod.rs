//! A proxy between us and PostgreSQL that knows where statements end: it delays them, and cuts connections before a
//! statement reaches the server or after it did. With `DRYSTONE_CUT_MESSAGES` it does so at every single message, of
//! which a statement has five.

#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part of it")]

use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// A proxy in front of a server.
#[derive(Debug, Clone)]
pub(crate) struct Proxy {
    pub(crate) port: u16,
    state: Arc<Mutex<State>>,
    /// Held by every connection until the server has ended it.
    connections: Arc<()>,
}

#[derive(Debug, Default)]
struct State {
    /// How many statements have come since the last order.
    statements: u64,
    bytes: u64,
    order: Order,
    is_cut: bool,
    cuts: u64,
    /// Decides how long statements take, when it is not 0.
    seed: u64,
}

/// Where a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The server never sees the statement.
    Before,
    /// It carries it out, and nobody hears of it.
    After,
}

#[derive(Debug, Clone, Copy, Default)]
enum Order {
    #[default]
    Pass,
    /// The connection with this statement is cut; others follow it.
    Cut { at: u64, side: Side },
    /// So is this one, and nobody gets through any more.
    CutOff { at: u64, side: Side },
    /// One in so many, on either side in turn.
    CutEvery(u64),
}

/// What becomes of a statement.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Passes,
    IsCut(Side),
}

impl State {
    fn fate(&mut self, bytes: usize) -> Fate {
        if self.is_cut {
            return Fate::IsCut(Side::Before);
        }
        self.statements += 1;
        self.bytes += bytes as u64;
        let fate = match self.order {
            Order::Cut { at, side } | Order::CutOff { at, side } if self.statements == at => {
                Fate::IsCut(side)
            }
            Order::CutEvery(every) if self.statements.is_multiple_of(every) => {
                let is_even = (self.statements / every).is_multiple_of(2);
                Fate::IsCut(if is_even { Side::After } else { Side::Before })
            }
            _ => Fate::Passes,
        };
        if fate != Fate::Passes {
            self.cuts += 1;
            self.is_cut = matches!(self.order, Order::CutOff { .. });
        }
        fate
    }

    fn pause(&mut self) -> Duration {
        if self.seed == 0 {
            return Duration::ZERO;
        }
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        Duration::from_micros(self.seed % 1500)
    }
}

impl Proxy {
    /// A proxy that lives as long as its process, on a thread of its own.
    pub(crate) fn start(server: u16) -> Self {
        let state = Arc::<Mutex<State>>::default();
        let (ready, port) = std::sync::mpsc::channel();
        let connections = Arc::new(());
        let (shared, held) = (Arc::clone(&state), Arc::clone(&connections));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                ready.send(listener.local_addr().unwrap().port()).unwrap();
                loop {
                    let (client, _) = listener.accept().await.unwrap();
                    let (shared, held) = (Arc::clone(&shared), Arc::clone(&held));
                    tokio::spawn(async move {
                        let _held = held;
                        let _ = pass(client, server, shared).await;
                    });
                }
            });
        });
        Self { port: port.recv().unwrap(), state, connections }
    }

    /// A server's URL, by way of this proxy.
    pub(crate) fn url(&self, url: &str) -> String {
        let (before, rest) = url.split_once("127.0.0.1:").unwrap();
        let (_, after) = rest.split_once('/').unwrap();
        format!("{before}127.0.0.1:{}/{after}", self.port)
    }

    fn order(&self, order: Order) {
        let mut state = self.state.lock().unwrap();
        let seed = state.seed;
        *state = State { order, seed, ..State::default() };
    }

    /// Cuts the connection that a statement comes on, counted from now.
    pub(crate) fn cut(&self, at: u64, side: Side) {
        self.order(Order::Cut { at, side });
    }

    /// Cuts it, and lets nobody through any more.
    pub(crate) fn cut_off(&self, at: u64, side: Side) {
        self.order(Order::CutOff { at, side });
    }

    /// Cuts one statement in so many.
    pub(crate) fn cut_every(&self, statements: u64) {
        self.order(Order::CutEvery(statements));
    }

    /// Lets everybody through again.
    pub(crate) fn mend(&self) {
        self.order(Order::Pass);
    }

    /// Lets everybody through again, once the server has carried out what it was sent on connections that are gone:
    /// nothing of a dead client comes after this. Whoever used the proxy must be dropped.
    pub(crate) async fn mend_after_the_dead(&self) {
        // The proxy itself and the thread that listens hold it, too.
        for _ in 0..20_000 {
            if Arc::strong_count(&self.connections) <= 2 {
                return self.mend();
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        panic!("connections of a dead client are still open");
    }

    /// Makes statements take longer or shorter.
    pub(crate) fn delay(&self, seed: u64) {
        self.state.lock().unwrap().seed = seed;
    }

    /// How many connections were cut since the last order.
    pub(crate) fn cuts(&self) -> u64 {
        self.state.lock().unwrap().cuts
    }

    /// How many statements came since then, and how many bytes they had.
    pub(crate) fn seen(&self) -> (u64, u64) {
        let state = self.state.lock().unwrap();
        (state.statements, state.bytes)
    }
}

async fn pass(client: TcpStream, server: u16, state: Arc<Mutex<State>>) -> std::io::Result<()> {
    if state.lock().unwrap().is_cut {
        return Ok(());
    }
    let server = TcpStream::connect(("127.0.0.1", server)).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (from_client, mut to_client) = client.into_split();
    let (mut from_server, to_server) = server.into_split();
    let forward = statements(from_client, to_server, state);
    tokio::pin!(forward);
    let mut buffer = vec![0; 1 << 16];
    loop {
        tokio::select! {
            () = &mut forward => {
                // The client is gone, or is to believe that the server is. What the server was sent it carries out.
                drop(to_client);
                while from_server.read(&mut buffer).await? > 0 {}
                return Ok(());
            }
            read = from_server.read(&mut buffer) => {
                let length = read?;
                if length == 0 {
                    return Ok(());
                }
                to_client.write_all(&buffer[..length]).await?;
            }
        }
    }
}

/// Passes on statements until the client or the connection ends.
async fn statements(mut client: OwnedReadHalf, mut server: OwnedWriteHalf, state: Arc<Mutex<State>>) {
    let mut is_first = true;
    let mut buffer: Vec<u8> = Vec::new();
    let mut read = vec![0; 1 << 16];
    loop {
        while let Some(length) = statement(&buffer, is_first) {
            is_first = false;
            let rest = buffer.split_off(length);
            let message = std::mem::replace(&mut buffer, rest);
            let (fate, pause) = {
                let mut state = state.lock().unwrap();
                (state.fate(message.len()), state.pause())
            };
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            if fate == Fate::IsCut(Side::Before) || server.write_all(&message).await.is_err() {
                return;
            }
            if fate == Fate::IsCut(Side::After) {
                let _ = server.shutdown().await;
                return;
            }
        }
        match client.read(&mut read).await {
            Ok(length) if length > 0 => buffer.extend_from_slice(&read[..length]),
            _ => return,
        }
    }
}

fn every_message() -> bool {
    static EVERY: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *EVERY.get_or_init(|| std::env::var_os("DRYSTONE_CUT_MESSAGES").is_some())
}

/// The length of the first whole statement: up to the message after which the server answers.
fn statement(buffer: &[u8], is_first: bool) -> Option<usize> {
    let length = |at: usize| -> Option<usize> {
        let bytes = buffer.get(at..at + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?) as usize)
    };
    if is_first {
        return length(0).filter(|&length| buffer.len() >= length);
    }
    let mut at = 0;
    loop {
        let kind = *buffer.get(at)?;
        let end = at + 1 + length(at + 1)?;
        if buffer.len() < end {
            return None;
        }
        if matches!(kind, b'S' | b'Q' | b'X' | b'p') || every_message() {
            return Some(end);
        }
        at = end;
    }
}
