//! A server that answers what it is told to.

use crate::gateway::{Gate, Reply, Upstream, stand_before};
use crate::http::Message;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// A server that gives answers in turn, the last of them for good.
#[derive(Debug)]
pub struct Scripted {
    port: u16,
    script: Arc<Script>,
}

#[derive(Debug)]
struct Script {
    answers: Mutex<VecDeque<String>>,
    asked: Mutex<Vec<String>>,
}

impl Scripted {
    /// Answers are a status line and headers, an empty line, and a body. The length is told by itself.
    #[must_use]
    pub fn answering(answers: &[&str]) -> Self {
        let script = Arc::new(Script {
            answers: Mutex::new(answers.iter().map(|answer| (*answer).to_owned()).collect()),
            asked: Mutex::default(),
        });
        Self { port: stand_before(0, Arc::clone(&script)), script }
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The heads of the requests so far.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.script.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Gate for Script {
    fn pass(&self, request: Message, _: &mut Upstream) -> io::Result<Reply> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(request.head.clone());
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let next = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        let text = next.unwrap_or_default();
        let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
        let lines: String = head.lines().map(|line| format!("{line}\r\n")).collect();
        let head = format!("HTTP/1.1 {lines}Content-Length: {}\r\n\r\n", body.len());
        let body = if request.word(0) == "HEAD" { Vec::new() } else { body.as_bytes().to_vec() };
        Ok(Reply::Whole(Message { head, body }))
    }
}
