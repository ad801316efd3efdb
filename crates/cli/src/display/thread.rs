//! The thread that shows an operation, and the ways to it.

use super::opening::{Mode, Opening, Options, paint};
use super::renderer::{Output, Renderer, Shown};
use super::screen::Size;
use super::stamped::Stamped;
use super::summary::Closing;
use crate::report::{Failure, Outcome};
use drystone_engine::{CancelLevel, Event, EventSink};
use jiff::Timestamp;
use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The least time between two frames.
const FRAME: Duration = Duration::from_millis(100);
/// How often the elapsed times are brought up to date.
const TICK: Duration = Duration::from_millis(500);
/// For how long more is let come before somebody is waited for again. Nobody sees the difference, and thousands of
/// events wake this thread a few times rather than thousands.
const REST: Duration = Duration::from_millis(2);

enum Message {
    Event(Event, i64),
    Say(String),
    Cancelling(CancelLevel),
    Close(Closing),
}

/// An operation that is shown.
#[derive(Debug)]
pub(crate) struct Display {
    sender: Sender<Message>,
    thread: Option<JoinHandle<Shown>>,
}

/// Puts events into the display's channel and returns at once.
struct Sink(Sender<Message>);

impl EventSink for Sink {
    fn send(&self, event: Event) {
        // A display that has ended has nothing more to show.
        let _ = self.0.send(Message::Event(event, Timestamp::now().as_second()));
    }
}

impl Display {
    /// Says on stdout what is about to be done, and goes on showing it.
    pub(crate) fn open(opening: Opening, options: Options) -> Outcome<Self> {
        let mode = Mode::of(&opening, &options);
        let to: Box<dyn Write + Send> = match (mode, options.stamped) {
            (Mode::Plain, true) => Box::new(Stamped::new(std::io::stdout())),
            _ => Box::new(std::io::stdout()),
        };
        let out = Output { to, paint: paint(), size: Box::new(terminal_size) };
        Self::start(Renderer::new(opening, options, mode, out))
    }

    /// Shows it by a renderer.
    pub(super) fn start(renderer: Renderer) -> Outcome<Self> {
        let (sender, receiver) = channel();
        let thread = std::thread::Builder::new()
            .name("display".to_owned())
            .spawn(move || run(renderer, &receiver))
            .map_err(|error| Failure::general(format!("starting the display: {error}")))?;
        Ok(Self { sender, thread: Some(thread) })
    }

    /// Where the engine sends what happens.
    pub(crate) fn events(&self) -> Arc<dyn EventSink> {
        Arc::new(Sink(self.sender.clone()))
    }

    /// Prints something of the command itself without disturbing what is drawn.
    pub(crate) fn say(&self, text: impl Into<String>) {
        let _ = self.sender.send(Message::Say(text.into()));
    }

    /// Tells that the operation was asked to stop.
    pub(crate) fn cancelling(&self, level: CancelLevel) {
        let _ = self.sender.send(Message::Cancelling(level));
    }

    /// Shows how it ended, when everything before is shown. An event log that is a stream must not need the thread
    /// that waits here.
    pub(crate) fn close(mut self, closing: Closing) -> Outcome<Shown> {
        let thread = self.end(closing).ok_or_else(stopped)?;
        thread.join().map_err(|_| stopped())
    }

    /// Tells the thread to end.
    fn end(&mut self, closing: Closing) -> Option<JoinHandle<Shown>> {
        let _ = self.sender.send(Message::Close(closing));
        self.thread.take()
    }
}

fn stopped() -> Failure {
    Failure::general("the display stopped before the operation did")
}

impl Drop for Display {
    /// A display that nobody closed shows what it knows.
    fn drop(&mut self) {
        if self.thread.is_some() {
            let closing = Closing { ending: drystone_engine::Ending::Failed, ..Closing::default() };
            let _ = self.end(closing).map(JoinHandle::join);
        }
    }
}

fn run(mut renderer: Renderer, receiver: &Receiver<Message>) -> Shown {
    let began = Instant::now();
    renderer.open(Timestamp::now().as_second());
    let mut drawn = Instant::now();
    let mut changed = false;
    loop {
        let patience = match (renderer.is_live(), changed) {
            (true, true) => FRAME.saturating_sub(drawn.elapsed()),
            _ => TICK,
        };
        let next = receiver.try_recv().or_else(|_| {
            std::thread::sleep(REST);
            receiver.recv_timeout(patience)
        });
        let closing = match next {
            Ok(Message::Close(closing)) => closing,
            Err(RecvTimeoutError::Disconnected) => Closing::default(),
            Ok(message) => {
                take(&mut renderer, message, began.elapsed());
                changed = true;
                if renderer.is_live() && drawn.elapsed() < FRAME {
                    continue;
                }
                if !renderer.is_live() && drawn.elapsed() < TICK {
                    continue;
                }
                renderer.tick(began.elapsed());
                (drawn, changed) = (Instant::now(), false);
                continue;
            }
            Err(RecvTimeoutError::Timeout) => {
                renderer.tick(began.elapsed());
                (drawn, changed) = (Instant::now(), false);
                continue;
            }
        };
        return renderer.close(&closing, Timestamp::now().as_second(), began.elapsed());
    }
}

fn take(renderer: &mut Renderer, message: Message, now: Duration) {
    match message {
        Message::Event(event, timestamp) => renderer.event(event, timestamp, now),
        Message::Say(text) => renderer.say(&text, now),
        Message::Cancelling(level) => renderer.cancelling(level),
        Message::Close(_) => {}
    }
}

fn terminal_size() -> Size {
    let size = terminal_size::terminal_size();
    size.map_or(Size { columns: 80, rows: 24 }, |(width, height)| Size {
        columns: usize::from(width.0),
        rows: usize::from(height.0),
    })
}
