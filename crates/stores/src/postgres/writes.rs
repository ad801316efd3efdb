//! What a holder writes: each write is one transaction, under the lease, and counted.
//!
//! The lease's row counts the writes made under it. A write sets the count from its own number less one to its number,
//! in the same transaction as everything else that it does, and on condition that the row still has the holder's epoch
//! and nonce. So a writer that lost its lease writes nothing (S4), and an answer that got lost is settled: the write is
//! sent again, and either it counts now, or the row says that it counted before (S11).
//!
//! A group of entries is one statement, which the server ends by itself. Longer transactions ask for the lease last, so
//! that whoever wants to take it over waits as briefly as can be, and the server ends those of clients that have gone
//! silent.

use super::connections::{Statement, Value, explained, values};
use super::sealing::part_path;
use super::{PostgresStore, leases};
use crate::diy::gathering::{Batches, Durable, Gathering, outcome};
use crate::diy::layout;
use crate::diy::recording::Failure;
use crate::{Error, LeaseInfo, Result, StackId};
use async_trait::async_trait;
use futures::future::join_all;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio_postgres::Client;

/// The slowest connection that a large commit gets through, in bytes a second.
const SLOWEST: usize = 128 * 1024;

/// One statement of a transaction.
#[derive(Debug, Clone)]
pub(super) struct Change {
    statement: Statement,
    /// Whether it must be about one row, or else nothing of the transaction counts.
    must: bool,
}

impl From<Statement> for Change {
    fn from(statement: Statement) -> Self {
        Self { statement, must: false }
    }
}

impl Change {
    /// A statement that may find something or not.
    pub(super) fn new(sql: impl Into<String>, values: Vec<Value>) -> Self {
        Self { statement: Statement { sql: sql.into(), values }, must: false }
    }

    /// A statement that must find one row.
    pub(super) fn must(sql: impl Into<String>, values: Vec<Value>) -> Self {
        Self { must: true, ..Self::new(sql, values) }
    }
}

/// The writer of a lease.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    groups: Gathering<Writes>,
}

#[derive(Debug)]
pub(super) struct Writes {
    store: PostgresStore,
    stack: StackId,
    lease: LeaseInfo,
    journal: String,
    /// The number of the last write; held while one is under way.
    last: Mutex<i64>,
}

/// What came of one attempt.
enum Attempt {
    Done,
    /// A row was not as it had to be, the lease's or another.
    Refused,
}

/// What the lease's row says.
enum Standing {
    /// The write counted already.
    Counted,
    /// It did not.
    Open,
    /// The lease is another's.
    Lost(String),
}

impl Writer {
    pub(super) fn new(store: &PostgresStore, stack: &StackId, lease: &LeaseInfo) -> Self {
        let writes = Writes {
            store: store.clone(),
            stack: stack.clone(),
            lease: lease.clone(),
            journal: layout::journal_name(lease),
            last: Mutex::new(0),
        };
        Self { groups: Gathering::new(writes) }
    }

    pub(super) fn lease(&self) -> &LeaseInfo {
        &self.groups.batches().lease
    }

    /// The name of the lease's journal.
    pub(super) fn journal(&self) -> &str {
        &self.groups.batches().journal
    }

    /// Why nothing more is written, once something failed.
    pub(super) fn failure(&self) -> Option<Failure> {
        self.groups.failure()
    }

    /// Queues journal frames for the next group. Order of calls is order in the journal.
    pub(super) fn append(&self, bytes: &[u8]) -> Durable {
        self.groups.append(bytes)
    }

    /// Waits until everything that was queued is durable.
    pub(super) async fn settle(&self) -> Result<()> {
        outcome(&self.groups.batches().stack, self.append(&[]).await).map(drop)
    }

    /// Carries out changes, all of them or none. Fails with a conflict when a row was not as it had to be; after any
    /// other failure it is not known whether they count, and nothing more is written.
    pub(super) async fn run(&self, changes: &[Change]) -> Result<()> {
        if let Some(failure) = self.failure() {
            return Err(failure.into_error(&self.groups.batches().stack));
        }
        let done = self.groups.batches().run(changes).await;
        done.inspect_err(|error| {
            if !matches!(error, Error::Conflict { .. }) {
                self.groups.give_up(error);
            }
        })
    }

    /// Carries out changes that are no loss when they are not made, without counting them: a checkpoint on the way.
    pub(super) async fn run_uncounted(&self, changes: &[Change]) -> Result<()> {
        let writes = self.groups.batches();
        let connections = writes.store.connections();
        let failed = || connections.failed("writing", &writes.journal);
        let client = connections.lend().await.map_err(failed())?;
        match attempt(&client, changes, &writes.check(), writes.store.silence()).await.map_err(failed())? {
            Attempt::Done => {
                connections.give_back(client);
                Ok(())
            }
            Attempt::Refused => Err(Error::Conflict { stack: writes.stack.clone() }),
        }
    }
}

#[async_trait]
impl Batches for Writes {
    /// Writes a group of entries, which is one statement. Its number is its position in the journal.
    async fn write(&self, bytes: Vec<u8>) -> Result<u64, Failure> {
        let mut last = self.last.lock().await;
        if bytes.is_empty() {
            return Ok(u64::try_from(*last).unwrap_or(0));
        }
        let number = *last + 1;
        let bytes = self.store.sealed(&part_path(&self.stack, &self.journal, number), bytes);
        let bytes = bytes.map_err(|error| unknown(&error))?;
        let tables = self.store.tables();
        let mut statement = self.count(number);
        statement.sql = format!(
            "WITH fence AS ({} RETURNING stack)
             INSERT INTO {} (stack, journal, position, content, written)
             SELECT stack, $5, $4, $6, clock_timestamp() FROM fence",
            statement.sql, tables.journals
        );
        statement.values.extend(values![self.journal.as_str(), bytes]);
        let connections = self.store.connections();
        let mut attempts = connections.attempts();
        loop {
            let sent = async {
                let client = connections.lend().await?;
                let written = statement.execute(&client).await?;
                connections.give_back(client);
                Ok(written)
            };
            let failed = match sent.await {
                Ok(1) => break,
                Ok(_) => match self.standing(number).await.map_err(|error| unknown(&error))? {
                    Standing::Counted => break,
                    Standing::Lost(by) => return Err(Failure::Fenced { by }),
                    // Not to be expected: the row said no, and says now that it should have said yes.
                    Standing::Open => None,
                },
                Err(error) => Some(error),
            };
            if let Some(error) = failed {
                let reason = |error: tokio_postgres::Error| Failure::Write { reason: explained(&error) };
                attempts.after(error).await.map_err(reason)?;
            }
        }
        *last = number;
        Ok(u64::try_from(number).unwrap_or(0))
    }
}

impl Writes {
    async fn run(&self, changes: &[Change]) -> Result<()> {
        let mut last = self.last.lock().await;
        let number = *last + 1;
        let connections = self.store.connections();
        let mut attempts = connections.attempts();
        let mut refusals = 0;
        let count = self.count(number);
        loop {
            let sent = async {
                let client = connections.lend().await?;
                let done = attempt(&client, changes, &count, self.store.silence()).await?;
                connections.give_back(client);
                Ok(done)
            };
            match sent.await {
                Ok(Attempt::Done) => break,
                Ok(Attempt::Refused) => match self.standing(number).await? {
                    Standing::Counted => break,
                    Standing::Lost(by) => return Err(Error::Fenced { stack: self.stack.clone(), by }),
                    // Once more: what stood in the way may have been an earlier attempt that the server gave up.
                    Standing::Open if refusals == 0 => refusals += 1,
                    Standing::Open => return Err(Error::Conflict { stack: self.stack.clone() }),
                },
                Err(error) => {
                    attempts
                        .after(error)
                        .await
                        .map_err(connections.failed("writing", &self.stack.qualified()))?;
                }
            }
        }
        *last = number;
        Ok(())
    }

    /// Counts a write, on condition that the lease is held and the write is the next.
    fn count(&self, number: i64) -> Statement {
        Statement {
            sql: format!(
                "UPDATE {} SET writes = $4, renewed = clock_timestamp()
                 WHERE stack = $1 AND epoch = $2 AND nonce = $3 AND held AND writes = $4 - 1",
                self.store.tables().leases
            ),
            values: values![self.store.key_of(&self.stack), self.lease.epoch, &self.lease.nonce, number],
        }
    }

    /// Keeps the lease from changing hands until the transaction ends, on condition that it is held.
    fn check(&self) -> Statement {
        Statement {
            sql: format!(
                "SELECT 1 FROM {} WHERE stack = $1 AND epoch = $2 AND nonce = $3 AND held FOR UPDATE",
                self.store.tables().leases
            ),
            values: values![self.store.key_of(&self.stack), self.lease.epoch, &self.lease.nonce],
        }
    }

    async fn standing(&self, number: i64) -> Result<Standing> {
        let Some(row) = leases::lease_row(&self.store, &self.stack).await? else {
            return Ok(Standing::Lost("somebody who deleted it".to_owned()));
        };
        Ok(match row {
            row if row.lease.nonce != self.lease.nonce || !row.held => Standing::Lost(row.lease.holder()),
            row if row.writes >= number => Standing::Counted,
            _ => Standing::Open,
        })
    }
}

fn unknown(error: &Error) -> Failure {
    Failure::Write { reason: error.to_string() }
}

/// Carries out changes and then the statement that asks for the lease, all sent at once, and commits when every row was
/// as it had to be. Dying in here leaves everything or nothing.
async fn attempt(
    client: &Client,
    changes: &[Change],
    lease: &Statement,
    silence: Duration,
) -> Result<Attempt, tokio_postgres::Error> {
    let lease = Change { statement: lease.clone(), must: true };
    let all: Vec<&Change> = changes.iter().chain([&lease]).collect();
    // While a large value is on its way the server hears nothing else.
    let bytes: usize = all.iter().map(|change| change.statement.bytes()).sum();
    let begin = begin(silence + Duration::from_secs((bytes / SLOWEST) as u64));
    let begin = client.batch_execute(&begin);
    let statements = join_all(all.iter().map(|change| change.statement.execute(client)));
    let (begun, done) = futures::future::join(begin, statements).await;
    begun?;
    let mut is_sound = true;
    for (change, rows) in all.iter().zip(done) {
        is_sound &= rows? == 1 || !change.must;
    }
    client.batch_execute(if is_sound { "COMMIT" } else { "ROLLBACK" }).await?;
    Ok(if is_sound { Attempt::Done } else { Attempt::Refused })
}

/// Begins a transaction that the server gives up when its client has been silent for so long.
pub(super) fn begin(silence: Duration) -> String {
    format!("BEGIN; SET LOCAL idle_in_transaction_session_timeout = {}", silence.as_millis())
}
