//! Running a command to its end, within limits.

use crate::fields::Fields;
use crate::kind::Answer;
use crate::world::World;
use drystone_engine::{ProviderError, Severity};
use drystone_model::{SECRET_MASK, Urn};
use drystone_plugins::process::{Exit, Group, STOP_GRACE, Stream};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};

/// The most that a command may print on each of its outputs.
const MOST_OUTPUT: usize = 16 << 20;

/// The longest line that is shown in one piece.
const LONGEST_LINE: usize = 16 << 10;

/// The longest text that goes into a variable; systems take little more.
const LONGEST_VARIABLE: usize = 120 << 10;

/// How long what a command left behind may hold its outputs open.
const DRAINING: Duration = Duration::from_secs(2);

/// The most of a failed command's output that its error repeats.
const SHOWN_OUTPUT: usize = 4 << 10;

/// Inputs from which a secret may come out again.
const REVEALING: [&str; 7] = ["create", "update", "delete", "command", "environment", "interpreter", "stdin"];

/// A command and everything around it.
#[derive(Debug)]
pub(super) struct Order {
    /// Whom it runs for.
    pub(super) urn: Urn,
    command: String,
    interpreter: Vec<String>,
    dir: Option<String>,
    environment: BTreeMap<String, String>,
    stdin: Option<String>,
    shown: Vec<Stream>,
    /// Whether what it prints may hold secrets.
    pub(super) hidden: bool,
    pub(super) limit: Option<Duration>,
}

/// What a command printed.
#[derive(Debug)]
pub(super) struct Printed {
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Order {
    pub(super) fn new(urn: Urn, command: &str, inputs: &Fields, limit: Option<Duration>) -> Self {
        let hidden = inputs.any_secret(&REVEALING);
        let shown = match inputs.text("logging") {
            _ if hidden => vec![],
            Some("none") => vec![],
            Some("stdout") => vec![Stream::Stdout],
            Some("stderr") => vec![Stream::Stderr],
            _ => vec![Stream::Stdout, Stream::Stderr],
        };
        let shell = if cfg!(windows) { ["cmd", "/C"] } else { ["/bin/sh", "-c"] };
        let interpreter = inputs.texts("interpreter");
        Self {
            urn,
            command: command.to_owned(),
            interpreter: if interpreter.is_empty() { shell.map(str::to_owned).to_vec() } else { interpreter },
            dir: inputs.text("dir").map(str::to_owned),
            environment: inputs.map("environment"),
            stdin: inputs.text("stdin").map(str::to_owned),
            shown,
            hidden,
            limit,
        }
    }

    /// Neither shows what it prints nor repeats it in errors, unless the program asks for it: arguments of functions do
    /// not tell whether they are secret.
    pub(super) fn quiet(mut self) -> Self {
        self.hidden |= self.shown.is_empty();
        self
    }

    /// Lets it know what the command before it printed, as far as a variable holds that.
    pub(super) fn with_previous(mut self, outputs: &Fields) -> Self {
        for (variable, key) in [("PULUMI_COMMAND_STDOUT", "stdout"), ("PULUMI_COMMAND_STDERR", "stderr")] {
            let text = outputs.text(key).unwrap_or_default();
            if text.len() <= LONGEST_VARIABLE && !text.contains('\0') {
                self.environment.insert(variable.to_owned(), text.to_owned());
            }
        }
        if outputs.any_secret(&["stdout", "stderr"]) {
            self.hidden = true;
            self.shown.clear();
        }
        self
    }

    fn process(&self, world: &World) -> Answer<Command> {
        let folder =
            self.dir.as_ref().map_or(world.directory().to_owned(), |dir| world.directory().join(dir));
        if !folder.is_dir() {
            let dir = self.dir.as_deref().unwrap_or(".");
            return Err(ProviderError::new(format!("the command's folder `{dir}` is not there")));
        }
        let mut interpreter = self.interpreter.iter();
        let program = interpreter.next().ok_or_else(|| ProviderError::new("there is no interpreter"))?;
        let mut process = Command::new(program);
        process.args(interpreter).arg(&self.command).current_dir(folder).envs(&self.environment);
        process.stdin(Stdio::null());
        Ok(process)
    }

    /// Runs it to its end. A cancellation, the time limit, and more output than anybody can want end it, with all
    /// that it started.
    pub(super) async fn run(self, world: &World) -> Answer<Printed> {
        let process = self.process(world)?;
        let started = match &self.stdin {
            Some(text) => Group::spawn_fed(process, text.as_bytes().to_vec()),
            None => Group::spawn(process),
        };
        let (group, stdout, stderr) = started.map_err(|error| {
            let interpreter = if self.hidden { SECRET_MASK } else { &self.interpreter[0] };
            ProviderError::new(format!("the command's interpreter `{interpreter}` does not start: {error}"))
        })?;
        let (out, err) = (Collected::default(), Collected::default());
        let exit = {
            let reading = async {
                let stdout = self.collect(world, stdout, Stream::Stdout, &out);
                let stderr = self.collect(world, stderr, Stream::Stderr, &err);
                tokio::try_join!(stdout, stderr).map(|_| ())
            };
            let over = over(self.limit);
            tokio::pin!(reading, over);
            let mut all_read = false;
            let exit = loop {
                tokio::select! {
                    biased;
                    read = &mut reading, if !all_read => match read {
                        Ok(()) => all_read = true,
                        Err(TooMuch) => return Err(ended(&group, TOO_MUCH).await),
                    },
                    exit = group.exited() => break exit,
                    () = world.cancelled() => return Err(ended(&group, "the command was cancelled").await),
                    () = &mut over => return Err(ended(&group, "the command's time limit is over").await),
                }
            };
            // What it started and left behind may keep the pipes open for ever.
            if !all_read && let Ok(Err(TooMuch)) = tokio::time::timeout(DRAINING, &mut reading).await {
                return Err(ProviderError::unknown(TOO_MUCH));
            }
            exit
        };
        let printed = Printed { stdout: out.text(), stderr: err.text() };
        match exit {
            Exit::Code(0) => Ok(printed),
            exit => Err(self.failure(exit, &printed)),
        }
    }

    fn failure(&self, exit: Exit, printed: &Printed) -> ProviderError {
        let told = if printed.stderr.is_empty() { &printed.stdout } else { &printed.stderr };
        let told = match () {
            () if self.hidden => {
                "\nwhat it printed is not shown, because its inputs may be secret".to_owned()
            }
            () if told.is_empty() => String::new(),
            () => format!(":\n{}", tail(told)),
        };
        ProviderError::new(format!("the command ended with {exit}{told}"))
    }

    async fn collect(
        &self,
        world: &World,
        mut from: impl AsyncRead + Unpin,
        stream: Stream,
        into: &Collected,
    ) -> Result<(), TooMuch> {
        let shown = self.shown.contains(&stream);
        let mut buffer = vec![0; 1 << 14];
        let mut line = Vec::new();
        loop {
            // A pipe that breaks is one that ends.
            let read = from.read(&mut buffer).await.unwrap_or(0);
            if read == 0 {
                break;
            }
            into.take(&buffer[..read])?;
            if shown {
                for byte in &buffer[..read] {
                    if *byte == b'\n' || line.len() >= LONGEST_LINE {
                        self.show(world, &std::mem::take(&mut line));
                    }
                    if *byte != b'\n' {
                        line.push(*byte);
                    }
                }
            }
        }
        if !line.is_empty() {
            self.show(world, &line);
        }
        Ok(())
    }

    fn show(&self, world: &World, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        world.log(&self.urn, Severity::Info, format!("{}\n", line.trim_end_matches('\r')));
    }
}

const TOO_MUCH: &str = "the command printed more than 16 MiB";

#[derive(Debug)]
struct TooMuch;

/// What was read of an output so far.
#[derive(Debug, Default)]
struct Collected(Mutex<Vec<u8>>);

impl Collected {
    fn take(&self, bytes: &[u8]) -> Result<(), TooMuch> {
        let mut collected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if collected.len() + bytes.len() > MOST_OUTPUT {
            return Err(TooMuch);
        }
        collected.extend_from_slice(bytes);
        Ok(())
    }

    fn text(&self) -> String {
        let collected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&collected).trim_end_matches(['\n', '\r']).to_owned()
    }
}

/// Ends a command and says why. Nobody knows how far it came.
async fn ended(group: &Group, why: &str) -> ProviderError {
    group.end(STOP_GRACE).await;
    ProviderError::unknown(why)
}

async fn over(limit: Option<Duration>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit).await,
        None => std::future::pending().await,
    }
}

/// The end of a text.
fn tail(text: &str) -> &str {
    let start = text.len().saturating_sub(SHOWN_OUTPUT);
    let start = (start..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(start);
    &text[start..]
}
