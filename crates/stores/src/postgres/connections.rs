//! Connections to the server: a few that are kept and lent, and statements that are asked again when they break.
//!
//! Statements are data, texts with values, so that one can be sent again over another connection. Each is parsed,
//! bound and executed in one round trip and leaves nothing on the server, so that poolers between do no harm.

use super::target::Target;
use crate::{Error, Result};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How many idle connections are kept.
const KEPT: usize = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// A value of a statement.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Text(String),
    Texts(Vec<String>),
    Number(i64),
    MaybeNumber(Option<i64>),
    Bytes(Vec<u8>),
}

impl Value {
    fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Text(text) => (text, Type::TEXT),
            Self::Texts(texts) => (texts, Type::TEXT_ARRAY),
            Self::Number(number) => (number, Type::INT8),
            Self::MaybeNumber(number) => (number, Type::INT8),
            Self::Bytes(bytes) => (bytes, Type::BYTEA),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

/// The values of a statement, each as whatever it is.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($crate::postgres::connections::Value::from($value)),*] };
}
pub(super) use values;

/// A statement with its values.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
}

impl Statement {
    /// How large its values are that can be large.
    pub(super) fn bytes(&self) -> usize {
        let sizes = self.values.iter().map(|value| match value {
            Value::Bytes(bytes) => bytes.len(),
            _ => 0,
        });
        sizes.sum()
    }

    /// Sends the statement; gives how many rows it was about.
    pub(super) async fn execute(&self, client: &Client) -> Result<u64, tokio_postgres::Error> {
        let typed: Vec<_> = self.values.iter().map(Value::typed).collect();
        client.execute_typed(&self.sql, &typed).await
    }

    /// Sends the statement; gives the rows.
    pub(super) async fn rows(&self, client: &Client) -> Result<Vec<Row>, tokio_postgres::Error> {
        let typed: Vec<_> = self.values.iter().map(Value::typed).collect();
        client.query_typed(&self.sql, &typed).await
    }
}

/// The server and the connections to it that are idle.
#[derive(Clone)]
pub(super) struct Connections {
    shared: Arc<Shared>,
}

struct Shared {
    target: Target,
    connector: MakeRustlsConnect,
    idle: Mutex<Vec<Client>>,
    patience: Duration,
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connections").field("to", &self.shared.target.shown).finish_non_exhaustive()
    }
}

impl Connections {
    pub(super) fn new(target: Target, patience: Duration) -> Result<Self> {
        let connector = target.tls.connector()?;
        Ok(Self { shared: Arc::new(Shared { target, connector, idle: Mutex::default(), patience }) })
    }

    pub(super) fn target(&self) -> &Target {
        &self.shared.target
    }

    /// Where a key is, for messages.
    pub(super) fn location(&self, key: &str) -> PathBuf {
        PathBuf::from(format!("{}/{key}", self.shared.target.shown.trim_end_matches('/')))
    }

    /// A new connection that runs as a task of its own, and what the server says on it by itself.
    pub(super) async fn connect(
        &self,
        mut heard: impl FnMut(AsyncMessage) + Send + 'static,
    ) -> Result<Client, tokio_postgres::Error> {
        let Shared { target, connector, .. } = &*self.shared;
        let (client, mut connection) = target.config.connect(connector.clone()).await?;
        tokio::spawn(async move {
            // It ends when the client is dropped or the connection breaks; the next statement tells which.
            while let Some(Ok(message)) =
                std::future::poll_fn(|context| connection.poll_message(context)).await
            {
                heard(message);
            }
        });
        Ok(client)
    }

    /// An idle connection, or a new one. It is for one thing at a time: who has ended well gives it back.
    pub(super) async fn lend(&self) -> Result<Client, tokio_postgres::Error> {
        let idle = {
            let mut idle = self.idle();
            idle.retain(|client| !client.is_closed());
            idle.pop()
        };
        match idle {
            Some(client) => Ok(client),
            None => self.connect(drop).await,
        }
    }

    /// Takes back a connection on which nothing is under way. One that is dropped instead is closed.
    pub(super) fn give_back(&self, client: Client) {
        let mut idle = self.idle();
        if idle.len() < KEPT && !client.is_closed() {
            idle.push(client);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Client>> {
        self.shared.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows that a statement gives which changes nothing, so that it can be sent twice.
    pub(super) async fn ask(
        &self,
        action: &'static str,
        key: &str,
        statement: &Statement,
    ) -> Result<Vec<Row>> {
        let mut attempts = self.attempts();
        loop {
            match self.ask_once(statement).await {
                Ok(rows) => return Ok(rows),
                Err(error) => attempts.after(error).await.map_err(self.failed(action, key))?,
            }
        }
    }

    async fn ask_once(&self, statement: &Statement) -> Result<Vec<Row>, tokio_postgres::Error> {
        let client = self.lend().await?;
        let rows = statement.rows(&client).await?;
        self.give_back(client);
        Ok(rows)
    }

    pub(super) fn attempts(&self) -> Attempts {
        Attempts { began: Instant::now(), patience: self.shared.patience, pause: FIRST_PAUSE }
    }

    /// What a server's error is to the caller.
    pub(super) fn failed(
        &self,
        action: &'static str,
        key: &str,
    ) -> impl FnOnce(tokio_postgres::Error) -> Error + use<> {
        let path = self.location(key);
        move |error| {
            use std::io::ErrorKind;
            let kind = match error.code() {
                Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => ErrorKind::PermissionDenied,
                _ => ErrorKind::Other,
            };
            Error::Io { action, path, source: std::io::Error::new(kind, explained(&error)) }
        }
    }
}

/// How often, and how long, something has been tried.
pub(super) struct Attempts {
    began: Instant,
    patience: Duration,
    pause: Duration,
}

impl Attempts {
    /// Waits before the next attempt. Gives the error back when there should be none: it will not pass, or time is up.
    pub(super) async fn after(&mut self, error: tokio_postgres::Error) -> Result<(), tokio_postgres::Error> {
        if !is_passing(&error) || self.began.elapsed() + self.pause > self.patience {
            return Err(error);
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}

/// What a server or a connection says is wrong, in one line.
pub(super) fn explained(error: &tokio_postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        let hint = said.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        return format!("{}{hint} (SQLSTATE {})", said.message(), said.code().code());
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// Whether the same may fare better later: a connection that broke, a server that stops, starts, is full or has become
/// a standby, and statements that met others.
pub(super) fn is_passing(error: &tokio_postgres::Error) -> bool {
    let Some(code) = error.code() else { return is_broken_connection(error) };
    let passing = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::OUT_OF_MEMORY,
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
    ];
    // Class 08 is connections, 57P is what operators do.
    passing.contains(code) || code.code().starts_with("08") || code.code().starts_with("57P")
}

/// Whether nobody answers where the server should be.
pub(super) fn is_unreachable(error: &tokio_postgres::Error) -> bool {
    use std::io::ErrorKind;
    let kind = io_kind(error);
    matches!(kind, Some(ErrorKind::ConnectionRefused | ErrorKind::NotFound))
        || error.to_string().starts_with("timeout")
}

/// The kind of the trouble with the connection underneath, when there was any.
fn io_kind(error: &tokio_postgres::Error) -> Option<std::io::ErrorKind> {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(io) = cause.downcast_ref::<std::io::Error>() {
            return Some(io.kind());
        }
        source = cause.source();
    }
    None
}

/// Whether the trouble is with the connection. TLS that was refused and wrong settings do not pass.
fn is_broken_connection(error: &tokio_postgres::Error) -> bool {
    use std::io::ErrorKind;
    match io_kind(error) {
        // Certificates that are not taken, and names that are none.
        Some(kind) => !matches!(kind, ErrorKind::InvalidData | ErrorKind::InvalidInput),
        None => error.is_closed() || error.to_string().starts_with("timeout"),
    }
}
