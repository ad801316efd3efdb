//! How the bench provider misbehaves, as the environment says.
//!
//! `BENCH_FAULT` is `<call> <name> <kind>`: the call at which it happens (`handshake`, `schema`, `configure`, `check`,
//! `diff`, `create`, `read`, `update`, `delete`, `cancel`), the resource (`*` for every one), and what happens.
//! `BENCH_START` spoils the start of the plugin. `BENCH_MARK` names a file that is made when a call is about to go wrong,
//! so that a test knows when to interfere.

use drystone_plugins::wire::Struct;
use prost::Message;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tonic::Status;

/// What goes wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The process ends before anything is done.
    Die,
    /// The process ends when the world is changed and nothing is answered yet.
    DieAfter,
    /// Nothing is done and nothing answered.
    Hang,
    /// The world is changed, and nothing answered.
    HangAfter,
    /// The answer comes late, whatever time limit the engine gave.
    Late(Duration),
    /// A clear refusal.
    Refuse,
    /// Properties that are no protobuf struct.
    Garbage,
    /// A property whose text is not UTF-8.
    NotText,
    /// A property of a signature that nobody knows.
    Signature,
    /// A property that is not known, outside of a preview.
    Unknown,
    /// Properties that nobody asked for, numbers at the edges and bytes among them.
    Extra,
    /// No id.
    NoId,
}

/// Where something goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    call: String,
    name: String,
    kind: Kind,
}

impl Fault {
    /// The fault that `BENCH_FAULT` names; a text that names none is a mistake of the test.
    pub fn of_environment() -> Result<Option<Self>, String> {
        std::env::var("BENCH_FAULT").ok().map(|text| Self::parse(&text)).transpose()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("BENCH_FAULT: `{text}` is no fault");
        let [call, name, kind] = text.split(' ').collect::<Vec<_>>()[..] else { return Err(wrong()) };
        let kind = match kind {
            "die" => Kind::Die,
            "die-after" => Kind::DieAfter,
            "hang" => Kind::Hang,
            "hang-after" => Kind::HangAfter,
            "refuse" => Kind::Refuse,
            "garbage" => Kind::Garbage,
            "not-text" => Kind::NotText,
            "signature" => Kind::Signature,
            "unknown" => Kind::Unknown,
            "extra" => Kind::Extra,
            "no-id" => Kind::NoId,
            other => {
                let milliseconds = other.strip_prefix("late:").and_then(|text| text.parse().ok());
                Kind::Late(Duration::from_millis(milliseconds.ok_or_else(wrong)?))
            }
        };
        Ok(Self { call: call.to_owned(), name: name.to_owned(), kind })
    }

    /// What goes wrong with one call.
    #[must_use]
    pub fn at(fault: Option<&Self>, call: &str, name: &str) -> Trouble {
        let here = |fault: &&Self| fault.call == call && (fault.name == "*" || fault.name == name);
        Trouble(fault.filter(here).map(|fault| fault.kind))
    }
}

/// What goes wrong with one call, mostly nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trouble(Option<Kind>);

impl Trouble {
    /// Before the world is changed.
    pub async fn before(self) -> Result<(), Status> {
        if self.0.is_some()
            && let Some(mark) = std::env::var_os("BENCH_MARK")
        {
            std::fs::write(mark, "").map_err(|error| Status::internal(error.to_string()))?;
        }
        match self.0 {
            Some(Kind::Die) => die(),
            Some(Kind::Hang) => std::future::pending().await,
            Some(Kind::Refuse) => Err(Status::unknown("the quota is used up")),
            _ => Ok(()),
        }
    }

    /// After the world is changed.
    pub async fn after(self) {
        match self.0 {
            Some(Kind::DieAfter) => die(),
            Some(Kind::HangAfter) => std::future::pending().await,
            Some(Kind::Late(by)) => tokio::time::sleep(by).await,
            _ => {}
        }
    }

    /// The properties of the answer.
    #[must_use]
    pub fn properties(self, properties: Option<Struct>) -> Option<Struct> {
        const SIGNATURE: &str = "4dabf18193072939515e22adb298388d";
        match self.0 {
            // A member whose key says that it is longer than the member.
            Some(Kind::Garbage) => Struct::decode(&b"\x0a\x03\x0a\x7fa"[..]).ok(),
            // The member `text`, a text of one byte that is none.
            Some(Kind::NotText) => Struct::decode(&b"\x0a\x0b\x0a\x04text\x12\x03\x1a\x01\xff"[..]).ok(),
            Some(Kind::Signature) => {
                with(properties, json!({"odd": {SIGNATURE: "0123456789abcdef", "value": 1}}))
            }
            Some(Kind::Unknown) => with(properties, json!({"odd": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"})),
            Some(Kind::Extra) => with(
                properties,
                json!({
                    "neverAskedFor": {"deep": [1, null, {"": "an empty key"}]},
                    "edge": 9_007_199_254_740_991_i64,
                    "dotted.key[0]": "ключ \u{0}\u{1f9f1}",
                    "__internal": true,
                }),
            ),
            _ => properties,
        }
    }

    /// The id of the answer.
    #[must_use]
    pub fn id(self, id: String) -> String {
        if self.0 == Some(Kind::NoId) { String::new() } else { id }
    }
}

/// The same properties and some more.
fn with(properties: Option<Struct>, more: Value) -> Option<Struct> {
    let mut members = properties.and_then(|properties| properties.to_json().ok()).unwrap_or_default();
    if let Value::Object(more) = more {
        members.extend(more);
    }
    Some(Struct::from_json(&members))
}

/// Ends the process as a crash does: with words on stderr, and at once.
fn die() -> ! {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "panic: the bench provider fell over");
    std::process::exit(3)
}

/// How the start of the plugin goes wrong. Returns only when it does not.
pub async fn spoil_start() -> std::io::Result<()> {
    use std::io::Write;
    let start = std::env::var("BENCH_START").unwrap_or_default();
    let say = |line: &str| writeln!(std::io::stdout(), "{line}").and_then(|()| std::io::stdout().flush());
    match start.as_str() {
        "" => Ok(()),
        // Ends before it says anything of use.
        "exit" => {
            writeln!(std::io::stderr(), "no such region: mars-1")?;
            std::process::exit(4)
        }
        "text" => {
            say("Welcome to the bench provider!")?;
            std::future::pending().await
        }
        "silent" => std::future::pending().await,
        // A port that nobody listens at.
        "closed" => {
            // It is kept, so that no other process listens there meanwhile.
            let socket = tokio::net::TcpSocket::new_v4()?;
            socket.bind(([127, 0, 0, 1], 0).into())?;
            say(&socket.local_addr()?.port().to_string())?;
            std::future::pending().await
        }
        // Something listens, but it speaks no gRPC, or does not speak at all.
        "bytes" | "mute" => {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            say(&listener.local_addr()?.port().to_string())?;
            let mut open = Vec::new();
            loop {
                let (mut stream, _) = listener.accept().await?;
                if start == "bytes" {
                    stream.write_all(b"\xff\xfe\x00garbage, not HTTP/2\r\n\r\n").await?;
                }
                open.push(stream);
            }
        }
        other => Err(std::io::Error::other(format!("BENCH_START: `{other}` is no way to start"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_at_one_call_of_one_resource() {
        let fault = Fault::parse("create a die-after").expect("a fault");
        assert_eq!(Fault::at(Some(&fault), "create", "a"), Trouble(Some(Kind::DieAfter)));
        assert_eq!(Fault::at(Some(&fault), "create", "b"), Trouble(None));
        assert_eq!(Fault::at(Some(&fault), "delete", "a"), Trouble(None));
        let late = Fault::parse("delete * late:5").expect("a fault");
        assert_eq!(
            Fault::at(Some(&late), "delete", "b"),
            Trouble(Some(Kind::Late(Duration::from_millis(5))))
        );
        assert!(Fault::parse("create a sulk").is_err());
    }
}
