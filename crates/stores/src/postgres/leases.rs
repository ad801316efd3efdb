//! The lease: one row for each stack, changed in transactions only (S11).
//!
//! A holder renews it; one that has not been renewed for the time that it names has expired. Only the server's clock
//! counts, so that those of clients may be wrong by any amount. While the lease is held a lock row in Pulumi's form
//! stands in the stock CLI's table, and lock rows of other tools are honoured (S14): that tool lists the locks, writes
//! its own and lists them again, and so does this one, so that of the two at least one sees the other.

use super::PostgresStore;
use super::connections::{Statement, values};
use super::writes::{Change, begin};
use crate::diy::layout;
use crate::diy::locks;
use crate::{Claim, Error, ForeignLock, LeaseInfo, Result, StackId};
use futures::future::{join_all, try_join};
use jiff::Timestamp;
use std::collections::BTreeMap;
use tokio_postgres::{Client, Row};

/// The lease's row as it was read.
#[derive(Debug, Clone)]
pub(super) struct LeaseRow {
    pub(super) lease: LeaseInfo,
    pub(super) held: bool,
    pub(super) writes: i64,
    epoch: i64,
    expired: bool,
    now: Timestamp,
}

/// From whom a lease may be taken.
#[derive(Debug, Clone, Copy)]
pub(super) enum From<'a> {
    /// From nobody who is alive.
    Nobody,
    /// From the holder with this nonce, who is oneself.
    Self_(&'a str),
    /// From whoever has it, with the locks of other tools.
    Anybody,
}

/// A lease that was taken.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) lease: LeaseInfo,
    /// Who had it before, and the locks of other tools that were broken.
    pub(super) broken: Vec<LeaseInfo>,
}

/// What came of asking for the lease once.
enum Asked {
    Taken(Box<Taken>),
    Held(Box<LeaseInfo>),
    /// It is not one's own any more.
    Lost,
}

const COLUMNS: &str = "info, held, writes, epoch, nonce, renewed, clock_timestamp() AS now,
    clock_timestamp() > renewed + ttl * interval '1 millisecond' AS expired";

fn read_row(row: &Row) -> LeaseRow {
    let info: &str = row.get("info");
    // A damaged row says nothing but what stands in its columns; whoever takes the lease replaces it.
    let mut lease: LeaseInfo = serde_json::from_str(info).unwrap_or_default();
    lease.nonce = row.get("nonce");
    lease.epoch = row.get("epoch");
    lease.held = row.get("held");
    let renewed: Timestamp = row.get("renewed");
    lease.heartbeat = Some(format!("{renewed:.3}"));
    LeaseRow {
        held: lease.held,
        writes: row.get("writes"),
        epoch: lease.epoch,
        expired: row.get("expired"),
        now: row.get("now"),
        lease,
    }
}

fn select(store: &PostgresStore, stack: &StackId, locking: &str) -> Statement {
    let leases = &store.tables().leases;
    Statement {
        sql: format!("SELECT {COLUMNS} FROM {leases} WHERE stack = $1 {locking}"),
        values: values![store.key_of(stack)],
    }
}

/// The lease of a stack, read without locking.
pub(super) async fn lease_row(store: &PostgresStore, stack: &StackId) -> Result<Option<LeaseRow>> {
    let rows = store.ask("reading", &layout::lease(stack), &select(store, stack, "")).await?;
    Ok(rows.first().map(read_row))
}

/// The lease of a stack, read over a connection of the caller's.
pub(super) async fn lease_row_on(
    client: &Client,
    store: &PostgresStore,
    stack: &StackId,
) -> Result<Option<LeaseRow>, tokio_postgres::Error> {
    Ok(select(store, stack, "").rows(client).await?.first().map(read_row))
}

/// The locks of other tools in a folder, and those that stand for our own leases.
fn select_locks(store: &PostgresStore, folder: &str) -> Statement {
    let state = &store.tables().state;
    Statement {
        sql: format!("SELECT key, decode(data->>'data', 'base64') AS content FROM {state} WHERE key LIKE $1"),
        values: values![store.pattern(&format!("{folder}/"))],
    }
}

fn read_lock(row: &Row) -> ForeignLock {
    let (key, content): (&str, Option<&[u8]>) = (row.get(0), row.get(1));
    let file = key.rsplit('/').next().unwrap_or_default().to_owned();
    let lease = locks::lease_of(content.unwrap_or_default(), &file);
    ForeignLock { file, lease }
}

fn read_locks(rows: &[Row]) -> Vec<ForeignLock> {
    rows.iter().map(read_lock).collect()
}

/// Everybody who holds a stack, by its lease and the locks that stand.
fn holders(row: Option<LeaseRow>, locks: Vec<ForeignLock>) -> Vec<LeaseInfo> {
    let own = row.filter(|row| row.held);
    let lock_file = own.as_ref().and_then(|row| row.lease.lock_file.clone());
    let others = locks.into_iter().filter(|lock| Some(&lock.file) != lock_file.as_ref());
    let own = own.map(|row| LeaseInfo { dead: row.expired, ..row.lease });
    own.into_iter().chain(others.map(|lock| lock.lease)).collect()
}

/// Who holds which stacks, by one statement for the leases and one for the locks.
pub(super) async fn all_holders(
    store: &PostgresStore,
    project: Option<&str>,
) -> Result<BTreeMap<StackId, Vec<LeaseInfo>>> {
    let folder = layout::all_locks(project.filter(|_| store.has_projects()));
    let leases = Statement {
        sql: format!("SELECT stack, {COLUMNS} FROM {} WHERE held AND stack LIKE $1", store.tables().leases),
        values: values![store.pattern("")],
    };
    let locks = select_locks(store, &folder);
    let (leases, locks) =
        try_join(store.ask("reading", &folder, &leases), store.ask("reading", &folder, &locks)).await?;
    let mut found: BTreeMap<StackId, (Option<LeaseRow>, Vec<ForeignLock>)> = BTreeMap::new();
    for row in &leases {
        let Ok(stack) = store.stack_id(store.path_of(row.get("stack")), None) else { continue };
        let is_elsewhere = project.is_some_and(|_| store.has_projects() && stack.project() != project);
        if !is_elsewhere {
            found.entry(stack).or_default().0 = Some(read_row(row));
        }
    }
    for row in &locks {
        let path = store.path_of(row.get(0));
        let Some(stack) = layout::locked_stack(path, store.has_projects()) else { continue };
        found.entry(stack).or_default().1.push(read_lock(row));
    }
    let held = found.into_iter().map(|(stack, (row, locks))| (stack, holders(row, locks)));
    Ok(held.filter(|(_, holders)| !holders.is_empty()).collect())
}

/// The lease of one stack.
pub(super) struct Leases<'a> {
    store: &'a PostgresStore,
    stack: &'a StackId,
}

impl<'a> Leases<'a> {
    pub(super) fn new(store: &'a PostgresStore, stack: &'a StackId) -> Self {
        Self { store, stack }
    }

    /// Takes the lease, or says who has it. An answer that got lost is settled by the nonce: who asks again finds the
    /// lease to be their own.
    pub(super) async fn take(&self, claim: &Claim, from: From<'_>) -> Result<Taken> {
        let wanted = locks::new_lease(self.store.host(), claim, 0);
        let connections = self.store.connections();
        let mut attempts = connections.attempts();
        loop {
            let asked = async {
                let client = connections.lend().await?;
                let asked = self.ask_for(&client, &wanted, from).await?;
                connections.give_back(client);
                Ok(asked)
            };
            match asked.await {
                Ok(Asked::Taken(taken)) => return self.stand(*taken, from).await,
                Ok(Asked::Held(lease)) => return Err(self.held(*lease)),
                Ok(Asked::Lost) => {
                    return Err(Error::Fenced { stack: self.stack.clone(), by: "somebody".to_owned() });
                }
                Err(error) => {
                    attempts
                        .after(error)
                        .await
                        .map_err(connections.failed("leasing", &layout::lease(self.stack)))?;
                }
            }
        }
    }

    /// Asks for the lease in one transaction.
    async fn ask_for(
        &self,
        client: &Client,
        wanted: &LeaseInfo,
        from: From<'_>,
    ) -> Result<Asked, tokio_postgres::Error> {
        let begin = begin(self.store.silence());
        let begun = client.batch_execute(&begin);
        let make = Statement {
            sql: format!(
                "INSERT INTO {} (stack, epoch, nonce, held, info, ttl, renewed, writes)
                 VALUES ($1, 0, '', false, '', 0, clock_timestamp(), 0) ON CONFLICT DO NOTHING",
                self.store.tables().leases
            ),
            values: values![self.store.key_of(self.stack)],
        };
        let (select, locks) = (select(self.store, self.stack, "FOR UPDATE"), self.select_locks());
        let (begun, made, row, locks) =
            futures::future::join4(begun, make.execute(client), select.rows(client), locks.rows(client))
                .await;
        begun?;
        made?;
        let (row, locks) = (row?, locks?);
        let Some(row) = row.first().map(read_row) else { return Ok(Asked::Lost) };
        let asked = self.decide(&row, read_locks(&locks), wanted, from);
        let changes = match &asked {
            Asked::Taken(taken) => self.changes(&row, taken, from),
            _ => Vec::new(),
        };
        for done in join_all(changes.iter().map(|change| change.execute(client))).await {
            done?;
        }
        let end = if changes.is_empty() { "ROLLBACK" } else { "COMMIT" };
        client.batch_execute(end).await?;
        Ok(asked)
    }

    fn decide(&self, row: &LeaseRow, locks: Vec<ForeignLock>, wanted: &LeaseInfo, from: From<'_>) -> Asked {
        if row.lease.nonce == wanted.nonce {
            // An earlier attempt had been heard after all.
            return Asked::Taken(Box::new(Taken {
                lease: LeaseInfo { heartbeat: None, ..row.lease.clone() },
                broken: Vec::new(),
            }));
        }
        let own = row.lease.lock_file.as_ref();
        let mut foreign = locks.into_iter().filter(|lock| Some(&lock.file) != own).map(|lock| lock.lease);
        let mut broken = Vec::new();
        match from {
            From::Nobody if row.held && !row.expired => return Asked::Held(Box::new(row.lease.clone())),
            From::Self_(nonce) if row.lease.nonce != nonce => return Asked::Lost,
            From::Nobody | From::Self_(_) => {
                if let Some(lock) = foreign.next() {
                    return Asked::Held(Box::new(lock));
                }
            }
            From::Anybody => {
                broken.extend(row.held.then(|| row.lease.clone()));
                broken.extend(foreign);
            }
        }
        let mut lease =
            LeaseInfo { epoch: row.epoch + 1, since: format!("{:.3}", row.now), ..wanted.clone() };
        if matches!(from, From::Anybody) {
            // It is for moments, and every lock goes.
            lease.lock_file = None;
        }
        Asked::Taken(Box::new(Taken { lease, broken }))
    }

    /// What taking the lease writes: the row, the lock that other tools see, and no lock of the holder before.
    fn changes(&self, before: &LeaseRow, taken: &Taken, from: From<'_>) -> Vec<Statement> {
        let Taken { lease, .. } = taken;
        let tables = self.store.tables();
        let ttl = i64::try_from(self.store.options().lease_ttl.as_millis()).unwrap_or(i64::MAX);
        let info = serde_json::to_string(lease).unwrap_or_default();
        let mut changes = vec![Statement {
            sql: format!(
                "UPDATE {} SET epoch = $2, nonce = $3, held = true, info = $4, ttl = $5,
                     renewed = clock_timestamp(), writes = 0 WHERE stack = $1",
                tables.leases
            ),
            values: values![self.store.key_of(self.stack), lease.epoch, &lease.nonce, info, ttl],
        }];
        if matches!(from, From::Anybody) {
            changes.push(self.remove_locks());
        } else if let Some(file) = &before.lease.lock_file {
            changes.push(self.remove_lock(file));
        }
        if let (Some(file), Ok(content)) = (&lease.lock_file, locks::lock_file(lease)) {
            changes.push(self.store.put(&self.lock_path(file), content));
        }
        changes.extend(self.store.put_meta());
        changes
    }

    /// Looks for the locks of other tools once more, now that they can see ours. Where there is one the lease is given
    /// back: that tool has the stack.
    async fn stand(&self, taken: Taken, from: From<'_>) -> Result<Taken> {
        self.store.has_put_meta();
        if matches!(from, From::Anybody) {
            return Ok(taken);
        }
        let looked = self.locks().await;
        let own = taken.lease.lock_file.as_ref();
        let refusal = match looked {
            Ok(locks) => match locks.into_iter().find(|lock| Some(&lock.file) != own) {
                Some(lock) => self.held(lock.lease),
                None => return Ok(taken),
            },
            Err(error) => error,
        };
        self.release(&taken.lease).await?;
        Err(refusal)
    }

    /// Gives the lease back and tells those who wait. Only one's own: a lease that changed hands is left alone (S13).
    pub(super) async fn release(&self, lease: &LeaseInfo) -> Result<()> {
        let tables = self.store.tables();
        let mut sql = format!(
            "WITH released AS (
                 UPDATE {} SET held = false WHERE stack = $1 AND epoch = $2 AND nonce = $3 AND held RETURNING stack
             )",
            tables.leases
        );
        let mut values = values![self.store.key_of(self.stack), lease.epoch, &lease.nonce, tables.channel()];
        if let Some(file) = &lease.lock_file {
            sql += &format!(", unlocked AS (DELETE FROM {} WHERE key = $5)", tables.state);
            values.push(self.store.row_key(&self.lock_path(file)).into());
        }
        sql += " SELECT pg_notify($4, stack) FROM released";
        // Sent twice it does no more than once.
        self.store.ask("releasing", &layout::lease(self.stack), &Statement { sql, values }).await.map(drop)
    }

    /// Everybody who holds the stack.
    pub(super) async fn holders(&self) -> Result<Vec<LeaseInfo>> {
        let (row, locks) = try_join(lease_row(self.store, self.stack), self.locks()).await?;
        Ok(holders(row, locks))
    }

    /// Whether the lease could be had now, as far as can be told without asking for it.
    pub(super) async fn is_free(&self) -> Result<bool> {
        Ok(self.holders().await?.iter().all(|holder| holder.dead))
    }

    /// The locks that stand, our own too.
    async fn locks(&self) -> Result<Vec<ForeignLock>> {
        let rows = self.store.ask("reading", &layout::locks(self.stack), &self.select_locks()).await?;
        Ok(read_locks(&rows))
    }

    fn select_locks(&self) -> Statement {
        select_locks(self.store, &layout::locks(self.stack))
    }

    fn remove_locks(&self) -> Statement {
        Statement {
            sql: format!("DELETE FROM {} WHERE key LIKE $1", self.store.tables().state),
            values: values![self.locks_pattern()],
        }
    }

    fn remove_lock(&self, file: &str) -> Statement {
        Statement {
            sql: format!("DELETE FROM {} WHERE key = $1", self.store.tables().state),
            values: values![self.store.row_key(&self.lock_path(file))],
        }
    }

    fn locks_pattern(&self) -> String {
        self.store.pattern(&format!("{}/", layout::locks(self.stack)))
    }

    /// A change that only counts while a lease is held, so that another transaction can rest on it.
    pub(super) fn hold(&self, lease: &LeaseInfo) -> Change {
        let leases = &self.store.tables().leases;
        Change::must(
            format!(
                "SELECT 1 FROM {leases} WHERE stack = $1 AND epoch = $2 AND nonce = $3 AND held FOR UPDATE"
            ),
            values![self.store.key_of(self.stack), lease.epoch, &lease.nonce],
        )
    }

    fn held(&self, lease: LeaseInfo) -> Error {
        Error::Held { stack: self.stack.clone(), lease: Box::new(lease) }
    }

    fn lock_path(&self, file: &str) -> String {
        format!("{}/{file}", layout::locks(self.stack))
    }
}
