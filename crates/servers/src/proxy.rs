//! A proxy that does to requests what networks and servers do to them on bad days, and counts them.

use crate::gateway::{Gate, Reply, Upstream, stand_before};
use crate::http::Message;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What is done to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing.
    None,
    /// It arrives late.
    Delay(Duration),
    /// It never arrives, and the connection ends.
    LoseRequest,
    /// It is carried out, and the connection ends without an answer.
    LoseAnswer,
    /// It is carried out twice; the second answer is given.
    Duplicate,
    /// It is carried out, and half of the answer arrives.
    Truncate,
    /// It is carried out, and the answer is that the server is broken.
    BreakAfter,
    /// It is not carried out, and the answer is that the server is busy.
    Busy,
    /// It is carried out, and no answer ever comes.
    Hang,
    /// From now on nothing arrives at all.
    Cut,
    /// It is carried out, without an answer, and from now on nothing arrives at all.
    CutAfter,
}

impl Trouble {
    /// Troubles that pass, which a client must come through without anybody noticing.
    pub const PASSING: [Self; 8] = [
        Self::Delay(Duration::from_millis(30)),
        Self::LoseRequest,
        Self::LoseAnswer,
        Self::Duplicate,
        Self::Truncate,
        Self::BreakAfter,
        Self::Busy,
        Self::Hang,
    ];
    /// Troubles that end an update, which the next one must make good.
    pub const ENDING: [Self; 2] = [Self::Cut, Self::CutAfter];
}

/// What has gone through a proxy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Requests.
    pub requests: u64,
    /// Bytes to the server, heads included.
    pub sent: u64,
    /// Bytes from the server, heads included.
    pub received: u64,
}

/// A proxy in front of a server.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    plan: Mutex<Plan>,
}

#[derive(Debug, Default)]
struct Plan {
    traffic: Traffic,
    /// What the requests that came began with.
    heads: Vec<String>,
    /// The request that gets into trouble, counted from the last plan, and what into.
    trouble: Option<(u64, Trouble)>,
    since: u64,
    /// Whether only requests that change something are counted for the trouble.
    of_changes: bool,
    is_cut: bool,
    /// For how long a request is kept that no answer ever comes to.
    hang: Duration,
    /// How long every request takes more.
    slow: Duration,
}

impl Proxy {
    /// A proxy in front of a server of this machine.
    #[must_use]
    pub fn before(port: u16) -> Self {
        let state = Arc::<State>::default();
        Self { port: stand_before(port, Arc::clone(&state)), state }
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Gets the request after so many from now into trouble. A request that hangs does so for the time given.
    pub fn trouble(&self, after: u64, trouble: Trouble, hang: Duration) {
        self.plan_trouble(false, after, trouble, hang);
    }

    /// The same for requests that change something; others pass and are not counted.
    pub fn trouble_changes(&self, after: u64, trouble: Trouble, hang: Duration) {
        self.plan_trouble(true, after, trouble, hang);
    }

    fn plan_trouble(&self, of_changes: bool, after: u64, trouble: Trouble, hang: Duration) {
        let mut plan = self.state.plan();
        plan.of_changes = of_changes;
        plan.trouble = Some((after, trouble));
        plan.since = 0;
        plan.hang = hang;
        plan.is_cut = false;
    }

    /// Whether the trouble has come about by now.
    #[must_use]
    pub fn has_come_about(&self) -> bool {
        let plan = self.state.plan();
        plan.trouble.is_none_or(|(after, _)| plan.since > after)
    }

    /// Lets everything through from now on. Says whether the trouble had come about.
    pub fn mend(&self) -> bool {
        let mut plan = self.state.plan();
        plan.is_cut = false;
        plan.trouble.take().is_none_or(|(after, _)| plan.since > after)
    }

    /// The heads of all requests that came, in their order.
    #[must_use]
    pub fn heads(&self) -> Vec<String> {
        self.state.plan().heads.clone()
    }

    /// Makes every request take longer.
    pub fn slow_down(&self, by: Duration) {
        self.state.plan().slow = by;
    }

    /// What has gone through so far.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        self.state.plan().traffic
    }
}

impl State {
    fn plan(&self) -> std::sync::MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is done to the next request, and how long it takes.
    fn decide(&self, request: &Message) -> (Trouble, Duration, Duration) {
        let mut plan = self.plan();
        plan.heads.push(request.head.clone());
        let number = plan.since;
        let counts = !plan.of_changes || !matches!(request.word(0), "GET" | "HEAD");
        plan.since += u64::from(counts);
        let trouble = match plan.trouble {
            _ if plan.is_cut => Trouble::LoseRequest,
            Some((after, trouble)) if counts && after == number => trouble,
            _ => Trouble::None,
        };
        plan.is_cut |= Trouble::ENDING.contains(&trouble);
        if !matches!(trouble, Trouble::LoseRequest | Trouble::Cut | Trouble::Busy) {
            plan.traffic.requests += 1;
            plan.traffic.sent += request.len() as u64;
        }
        (trouble, plan.slow, plan.hang)
    }
}

impl Gate for State {
    fn pass(&self, request: Message, server: &mut Upstream) -> io::Result<Reply> {
        let (trouble, slow, hang) = self.decide(&request);
        std::thread::sleep(slow);
        let mut ask = |request: &Message| -> io::Result<Message> {
            let answer = server.ask(request)?;
            self.plan().traffic.received += answer.len() as u64;
            Ok(answer)
        };
        Ok(match trouble {
            Trouble::None => Reply::Whole(ask(&request)?),
            Trouble::Delay(by) => {
                std::thread::sleep(by);
                Reply::Whole(ask(&request)?)
            }
            Trouble::LoseRequest | Trouble::Cut => Reply::Nothing,
            Trouble::LoseAnswer | Trouble::CutAfter => {
                ask(&request)?;
                Reply::Nothing
            }
            Trouble::Duplicate => {
                ask(&request)?;
                Reply::Whole(ask(&request)?)
            }
            Trouble::Truncate => {
                let answer = ask(&request)?;
                let length = answer.len() / 2;
                Reply::Part(answer, length)
            }
            Trouble::BreakAfter => {
                ask(&request)?;
                Reply::Whole(broken("500 Internal Server Error", "InternalError"))
            }
            Trouble::Busy => Reply::Whole(broken("503 Slow Down", "SlowDown")),
            Trouble::Hang => {
                ask(&request)?;
                std::thread::sleep(hang);
                Reply::Nothing
            }
        })
    }
}

fn broken(status: &str, code: &str) -> Message {
    let body = format!("<Error><Code>{code}</Code><Message>The proxy says so.</Message></Error>");
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/xml\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    Message { head, body: body.into_bytes() }
}
