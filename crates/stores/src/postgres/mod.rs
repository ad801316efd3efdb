//! Stacks in a PostgreSQL database, in the stock CLI's table and side by side with it (S14).
//!
//! Pulumi's checkpoint is the current document: a row of that CLI's table. Our leases, journals and revisions are in
//! tables beside it (`tables`). A database has what a directory and a bucket lack, transactions, so that a commit or a
//! move is one (`commit`, `relocate`), and a holder that dies leaves it whole or leaves nothing of it. What is left of a
//! dead holder is its journal, which whoever takes the lease next brings in (`recovery`). Every write is made under the
//! lease (`writes`), and a database that goes away meanwhile is waited for (`connections`).

mod commit;
mod connections;
mod documents;
mod heartbeat;
mod held;
mod leases;
mod reads;
mod recovery;
mod relocate;
mod sealing;
mod tables;
mod target;
mod tls;
mod upgrade;
mod waiting;
mod writes;

pub use crate::diy::DiyOptions;
pub use crate::diy::layout::Compression;

use crate::diy::{document, layout};
use crate::{Claim, HeldLease, Host, LeaseInfo, Leases, Recovery, Result, StackId, SystemHost};
use async_trait::async_trait;
use connections::{Connections, Statement, values};
use heartbeat::Heartbeat;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tables::Tables;
use target::{Environment, Target};
use tokio_postgres::Row;
use writes::Writer;

/// The server gives up transactions of clients that have been silent for this part of the time after which a lease
/// expires, or for the longest.
const SILENCES: u32 = 4;
const LONGEST_SILENCE: Duration = Duration::from_secs(10);

/// How a store in a database behaves.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    /// What is the same in a directory.
    pub diy: DiyOptions,
    /// For how long after its last sign of life a holder counts as alive.
    pub lease_ttl: Duration,
    /// For how long a database that went away is waited for.
    pub patience: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            diy: DiyOptions::default(),
            lease_ttl: Duration::from_secs(60),
            patience: Duration::from_secs(60),
        }
    }
}

/// A store in a database.
#[derive(Debug, Clone)]
pub struct PostgresStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    connections: Connections,
    tables: Tables,
    host: Arc<dyn Host>,
    options: PostgresOptions,
    has_projects: bool,
    /// Whether the table is known to say which layout it has.
    has_meta: AtomicBool,
    /// The checkpoint that was read last: one command looks at it several times.
    last_read: Mutex<Option<documents::Text>>,
}

impl PostgresStore {
    /// Opens the database that a URL names, in libpq's form, with its `PG...` variables. Makes the tables where they are
    /// missing.
    pub async fn open(url: &str, options: PostgresOptions) -> Result<Self> {
        Self::with(url, Arc::new(SystemHost), options).await
    }

    /// Opens a database from a machine, real or simulated.
    pub async fn with(url: &str, host: Arc<dyn Host>, options: PostgresOptions) -> Result<Self> {
        let target = Target::parse(url, &Variables { host: &*host })?;
        let tables = Tables::of(&target.table);
        let connections = Connections::new(target, options.patience)?;
        tables.ensure(&connections).await?;
        let mut inner = Inner {
            connections,
            tables,
            host,
            options,
            has_projects: true,
            has_meta: AtomicBool::new(false),
            last_read: Mutex::default(),
        };
        let meta = inner.row(layout::META).await?;
        inner.has_meta = AtomicBool::new(meta.is_some());
        inner.has_projects = match meta {
            Some(meta) => {
                let location = inner.connections.location(layout::META);
                document::layout_version(location, &meta, inner.options.diy.sealing.as_ref())? == 1
            }
            None => !inner.options.diy.legacy_layout && inner.legacy_stacks().await?.is_empty(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Whether stacks belong to projects here; they do except in tables of very old CLIs.
    #[must_use]
    pub fn has_projects(&self) -> bool {
        self.inner.has_projects
    }

    /// Names a stack of this store: the three forms of [`StackId::parse`], or a bare name in the legacy layout.
    pub fn stack_id(&self, text: &str, current_project: Option<&str>) -> Result<StackId> {
        Ok(if self.has_projects() { StackId::parse(text, current_project)? } else { StackId::legacy(text)? })
    }

    fn connections(&self) -> &Connections {
        &self.inner.connections
    }

    fn last_read(&self) -> MutexGuard<'_, Option<documents::Text>> {
        self.inner.last_read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tables(&self) -> &Tables {
        &self.inner.tables
    }

    fn host(&self) -> &dyn Host {
        &*self.inner.host
    }

    fn options(&self) -> &PostgresOptions {
        &self.inner.options
    }

    /// How long a client may be silent within a transaction.
    fn silence(&self) -> Duration {
        (self.options().lease_ttl / SILENCES).min(LONGEST_SILENCE)
    }

    fn location(&self, path: &str) -> PathBuf {
        self.connections().location(path)
    }

    /// The key of a path's row in the stock CLI's table.
    fn row_key(&self, path: &str) -> String {
        self.inner.row_key(path)
    }

    /// The path that a row's key stands for.
    fn path_of<'a>(&self, key: &'a str) -> &'a str {
        key.strip_prefix(self.connections().target().prefix.as_str()).unwrap_or(key)
    }

    /// A pattern that fits all keys which begin with a path.
    fn pattern(&self, path: &str) -> String {
        self.inner.pattern(path)
    }

    /// What stands for a stack in our tables.
    fn key_of(&self, stack: &StackId) -> String {
        self.row_key(&stack.qualified())
    }

    async fn ask(&self, action: &'static str, path: &str, statement: &Statement) -> Result<Vec<Row>> {
        self.connections().ask(action, path, statement).await
    }

    /// What a row of the stock CLI's table holds; `None` when there is none.
    async fn row(&self, path: &str) -> Result<Option<Vec<u8>>> {
        match self.inner.row(path).await? {
            Some(content) => self.opened(path, content).map(Some),
            None => Ok(None),
        }
    }

    /// Marks the table as one with projects, as the stock CLI does before it writes the first stack.
    fn put_meta(&self) -> Option<Statement> {
        (self.has_projects() && !self.inner.has_meta.load(Ordering::Relaxed)).then(|| Statement {
            sql: format!(
                "INSERT INTO {} (key, data) VALUES ($1, $2::json) ON CONFLICT DO NOTHING",
                self.tables().state
            ),
            values: values![self.row_key(layout::META), self.meta_row()],
        })
    }

    /// The row that says so, as the stock CLI has it.
    fn meta_row(&self) -> String {
        use base64::Engine;
        let meta = document::meta_file(self.options().diy.sealing.as_ref());
        format!(r#"{{"data":"{}"}}"#, base64::engine::general_purpose::STANDARD.encode(meta))
    }

    fn has_put_meta(&self) {
        self.inner.has_meta.store(true, Ordering::Relaxed);
    }
}

impl Inner {
    fn row_key(&self, path: &str) -> String {
        format!("{}{path}", self.connections.target().prefix)
    }

    fn pattern(&self, path: &str) -> String {
        let key = self.row_key(path);
        format!("{}%", key.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_"))
    }

    async fn row(&self, path: &str) -> Result<Option<Vec<u8>>> {
        let statement = Statement {
            sql: format!("SELECT decode(data->>'data', 'base64') FROM {} WHERE key = $1", self.tables.state),
            values: values![self.row_key(path)],
        };
        let rows = self.connections.ask("reading", path, &statement).await?;
        Ok(rows.first().map(|row| row.get::<_, Option<Vec<u8>>>(0).unwrap_or_default()))
    }
}

/// The process's own variables.
struct Variables<'a> {
    host: &'a dyn Host,
}

impl Environment for Variables<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn user(&self) -> String {
        self.host.user()
    }
}

#[async_trait]
impl Leases for PostgresStore {
    async fn acquire(&self, stack: &StackId, claim: Claim) -> Result<Box<dyn HeldLease>> {
        let leases = leases::Leases::new(self, stack);
        let taken = leases.take(&claim, leases::From::Nobody).await?;
        let writer = Writer::new(self, stack, &taken.lease);
        let started = Heartbeat::start(self, stack, &taken.lease);
        let settled = match started {
            Ok(heartbeat) => self.bring_in_all(stack, &writer).await.map(|recovery| (heartbeat, recovery)),
            Err(error) => Err(error),
        };
        match settled {
            Ok((heartbeat, recovery)) => Ok(Box::new(held::PostgresLease::new(
                self.clone(),
                stack.clone(),
                heartbeat,
                writer,
                recovery,
            ))),
            Err(error) => {
                // The next one may be luckier, and finds the journals as they are.
                leases.release(&taken.lease).await?;
                Err(error)
            }
        }
    }

    async fn break_lease(&self, stack: &StackId, claim: Claim) -> Result<(Vec<LeaseInfo>, Recovery)> {
        let taken = leases::Leases::new(self, stack).take(&claim, leases::From::Anybody).await?;
        let recovery = self.settle_and_release(stack, &taken.lease).await?;
        Ok((taken.broken, recovery))
    }

    async fn wait_for_release(&self, stack: &StackId, at_most: Duration) -> Result<()> {
        self.wait(stack, at_most).await
    }
}
