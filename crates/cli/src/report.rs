//! How failures reach people: `error:` what and where, the cause indented, `hint:` the next command, an exit code.

use drystone_stores::Error as StoreError;
use std::fmt::Display;

/// The exit code, stable and documented in `docs/reference/exit-codes.md`. Up to 9 they are the stock CLI's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCode {
    /// Something that has no code of its own.
    General = 1,
    /// The command line or a settings file is not right.
    Configuration = 2,
    /// Not logged in, or the passphrase is wrong.
    Authentication = 3,
    /// The program, or an operation on a resource, failed.
    Resource = 4,
    /// A mandatory policy is broken.
    Policy = 5,
    /// There is no such stack.
    StackNotFound = 6,
    /// Something changed, or would, although nothing was to.
    Changes = 7,
    /// The user said no, or interrupted.
    Cancelled = 8,
    /// Waiting took too long.
    Timeout = 9,
    /// Somebody else holds the stack's lease.
    Held = 10,
    /// The state breaks its rules, or a file of it cannot be read.
    Unsound = 11,
    /// The disk or the network failed.
    Unavailable = 12,
    /// A bug.
    Internal = 255,
}

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code.
    pub(crate) code: ExitCode,
    /// What and where, one line.
    pub(crate) message: String,
    /// What adds to it, a line each.
    pub(crate) details: Vec<String>,
    /// What to do next.
    pub(crate) hints: Vec<String>,
}

/// A failure of the command line or a settings file: an error with its causes in one line.
pub(crate) fn chain(error: impl std::error::Error) -> Failure {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    Failure::configuration(message)
}

/// The result of a command.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// A failure with nothing but a message.
    pub(crate) fn new(code: ExitCode, message: impl Display) -> Self {
        Self { code, message: message.to_string(), details: Vec::new(), hints: Vec::new() }
    }

    /// A failure that has no code of its own.
    pub(crate) fn general(message: impl Display) -> Self {
        Self::new(ExitCode::General, message)
    }

    /// A command line or a settings file that is not right.
    pub(crate) fn configuration(message: impl Display) -> Self {
        Self::new(ExitCode::Configuration, message)
    }

    /// The same, with what the error says of its causes below.
    pub(crate) fn configuration_error(error: &dyn std::error::Error) -> Self {
        let mut failure = Self::configuration(error);
        let mut cause = error.source();
        while let Some(error) = cause {
            failure = failure.detail(error);
            cause = error.source();
        }
        failure
    }

    /// Adds a line below the message.
    #[must_use]
    pub(crate) fn detail(mut self, detail: impl Display) -> Self {
        self.details.push(detail.to_string());
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        self.hints.push(hint.to_string());
        self
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::Unsupported { path, .. } if is_remote(&path) => {
                Self::configuration(message).hint("look at the backend's URL and its parameters")
            }
            StoreError::Io { path, source, .. } if is_remote(&path) => Self::remote(message, source.kind()),
            StoreError::NotFound { .. } => Self::new(ExitCode::StackNotFound, message).hint(
                "list what is there with `drystone stack ls --all`, or make it with `drystone stack init`",
            ),
            StoreError::AlreadyExists { .. } => {
                Self::general(message).hint("choose another name, or select it with `drystone stack select`")
            }
            StoreError::Name(_) => Self::configuration(message)
                .hint("a stack is named `stack`, or in full `organization/project/stack`"),
            StoreError::NoRevision { .. } => {
                Self::general(message).hint("list the revisions with `drystone stack revisions`")
            }
            StoreError::Held { lease, .. } => Self::held(message, &lease),
            StoreError::Fenced { .. } => Self::new(ExitCode::Held, message)
                .hint("look at the state with `drystone stack`, then run the command again"),
            StoreError::Conflict { .. } => Self::new(ExitCode::Held, message).hint("run the command again"),
            StoreError::Corrupt { .. } => Self::new(ExitCode::Unsound, message).hint(
                "`drystone stack revisions` lists what can be gone back to with `drystone stack rollback`",
            ),
            StoreError::Unsupported { .. } => {
                Self::new(ExitCode::Configuration, message).hint("use the newer version that wrote it")
            }
            StoreError::Sealed { with, .. } => Self::configuration(message).hint(format!(
                "say so in the backend's URL, as in `drystone login 'URL?encrypter={}'`",
                encrypter_word(&with)
            )),
            StoreError::NotSealed { .. } => Self::configuration(message)
                .hint("seal it with `drystone state seal`, or leave `encrypter` out of the backend's URL"),
            StoreError::Refused(_) | StoreError::Poisoned { .. } => Self::new(ExitCode::Internal, message)
                .hint("what was acknowledged is in the journal; the next command brings it in"),
            StoreError::Io { source, .. } => Self::io(message, source.kind()),
        }
    }
}

/// An encrypter as it is named in a URL: `env-key env-var KEY` is `env-key:KEY`.
fn encrypter_word(described: &str) -> String {
    let words: Vec<&str> = described.split(' ').collect();
    match words[..] {
        [name, _, value] => format!("{name}:{value}"),
        _ => words.first().map_or_else(String::new, |name| format!("{name}:…")),
    }
}

/// Whether something stands on a server rather than on a disk.
fn is_remote(path: &std::path::Path) -> bool {
    path.to_string_lossy().contains("://")
}

impl Failure {
    fn held(message: String, lease: &drystone_stores::LeaseInfo) -> Self {
        // The SDKs look for these words of the stock CLI.
        let failure = Self::new(ExitCode::Held, message).detail("the stack is currently locked by 1 lock(s)");
        match (lease.foreign, lease.dead) {
            (_, true) => failure.hint("the holder is gone: free the stack with `drystone cancel`"),
            (true, false) => failure.hint("wait for it with `--wait`, or end it with `drystone cancel`"),
            (false, false) => failure.hint(
                "wait for it with `--wait`, follow it with `drystone stack watch`, or end it with `drystone cancel`",
            ),
        }
    }

    /// A server did not do what it was asked.
    fn remote(message: String, kind: std::io::ErrorKind) -> Self {
        use std::io::ErrorKind;
        let failure = Self::new(ExitCode::Unavailable, message);
        match kind {
            ErrorKind::PermissionDenied => {
                failure.hint("the server does not let you: check the credentials, and what they allow")
            }
            ErrorKind::NotFound => failure.hint("there is no such place: look at the backend's URL"),
            _ => failure.hint("see that the server can be reached, and run the command again"),
        }
    }

    fn io(message: String, kind: std::io::ErrorKind) -> Self {
        use std::io::ErrorKind;
        let failure = Self::new(ExitCode::Unavailable, message);
        match kind {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                failure.hint("the disk is full: nothing was changed; make room and run the command again")
            }
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => failure
                .hint("the directory is not writable for you: nothing was changed; check its owner and mode"),
            _ => failure.hint("nothing was changed; check the disk and run the command again"),
        }
    }
}
