//! The tables: the stock CLI's, which holds Pulumi's layout as rows, and ours beside it, named after it.
//!
//! Ours have numbered versions. A database without them, or with older ones, is brought up under an advisory lock when
//! it is opened; a role that may not do so can work once somebody who may has. A newer version is refused by name (S9).

use super::connections::{Connections, Statement, explained, is_unreachable, values};
use crate::{Error, Result};
use tokio_postgres::Client;

/// The version of our tables that this version of the program knows.
const VERSION: i64 = 1;

/// The names of the tables, quoted.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    /// The stock CLI's: `key`, `data` and `updated_at`.
    pub(super) state: String,
    /// Who holds each stack, or did.
    pub(super) leases: String,
    /// The journals of leases, a row for each group of entries.
    pub(super) journals: String,
    /// Journals that were kept for somebody to look at.
    pub(super) kept: String,
    /// Revisions.
    pub(super) revisions: String,
    /// What is known of each stack's current document.
    pub(super) current: String,
    /// What was removed, row by row.
    pub(super) trash: String,
    /// The version of all these.
    version: String,
    /// The name that they have in common.
    name: String,
}

impl Tables {
    pub(super) fn of(table: &str) -> Self {
        let own = |ending: &str| format!("\"{table}_drystone_{ending}\"");
        Self {
            state: format!("\"{table}\""),
            leases: own("leases"),
            journals: own("journals"),
            kept: own("kept"),
            revisions: own("revisions"),
            current: own("current"),
            trash: own("trash"),
            version: own("version"),
            name: table.to_owned(),
        }
    }

    /// The channel on which leases that were given back are told.
    pub(super) fn channel(&self) -> String {
        format!("{}_drystone", self.name)
    }

    /// Makes sure that the tables are there.
    pub(super) async fn ensure(&self, connections: &Connections) -> Result<()> {
        let mut attempts = connections.attempts();
        loop {
            let tried = async {
                let client = connections.lend().await?;
                let ensured = self.ensure_on(&client).await?;
                connections.give_back(client);
                Ok(ensured)
            };
            match tried.await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(reason)) => {
                    return Err(Error::Unsupported { path: connections.location(&self.name), reason });
                }
                // Who opens a database wants to know at once that nobody is there.
                Err(error) if is_unreachable(&error) => {
                    return Err(connections.failed("opening", &self.name)(error));
                }
                Err(error) => {
                    attempts.after(error).await.map_err(connections.failed("opening", &self.name))?;
                }
            }
        }
    }

    async fn ensure_on(&self, client: &Client) -> Result<Result<(), String>, tokio_postgres::Error> {
        match self.found(client).await? {
            Some(VERSION) => return Ok(Ok(())),
            Some(newer) if newer > VERSION => return Ok(Err(self.too_new(newer))),
            _ => {}
        }
        client.batch_execute("BEGIN").await?;
        match self.migrate(client).await {
            Ok(outcome) => Ok(outcome),
            Err(error) if error.code().is_some_and(|code| code.code() == "42501") => {
                client.batch_execute("ROLLBACK").await?;
                Ok(Err(format!(
                    "its tables are not all there, and this role may not make them: {}",
                    explained(&error)
                )))
            }
            Err(error) => Err(error),
        }
    }

    /// The version of our tables; `None` when they or the stock CLI's are not there.
    async fn found(&self, client: &Client) -> Result<Option<i64>, tokio_postgres::Error> {
        let Self { state, version, .. } = self;
        let look = Statement {
            sql: "SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL".to_owned(),
            values: values![state, version],
        };
        let are_there = look.rows(client).await?.first().is_some_and(|row| row.get(0));
        if !are_there {
            return Ok(None);
        }
        let read = Statement { sql: format!("SELECT max(version) FROM {version}"), values: Vec::new() };
        Ok(read.rows(client).await?.first().and_then(|row| row.get(0)))
    }

    fn too_new(&self, version: i64) -> String {
        format!("its tables have version {version}; this version of drystone knows {VERSION}")
    }

    /// Makes what is missing, in the transaction that has begun.
    async fn migrate(&self, client: &Client) -> Result<Result<(), String>, tokio_postgres::Error> {
        let lock = Statement {
            sql: "SELECT pg_advisory_xact_lock(hashtext('drystone'), hashtext($1))".to_owned(),
            values: values![self.name.as_str()],
        };
        lock.rows(client).await?;
        let stock = format!(
            "CREATE TABLE IF NOT EXISTS {state} (
                key TEXT PRIMARY KEY,
                data JSON NOT NULL,
                updated_at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now()
            );
            CREATE INDEX IF NOT EXISTS \"{name}_key_prefix_idx\" ON {state} (key text_pattern_ops);
            CREATE TABLE IF NOT EXISTS {version} (
                version BIGINT PRIMARY KEY,
                since TIMESTAMPTZ NOT NULL DEFAULT now()
            );",
            state = self.state,
            name = self.name,
            version = self.version,
        );
        client.batch_execute(&stock).await?;
        // Somebody else may have been quicker.
        let found = self.found(client).await?.unwrap_or(0);
        if found > VERSION {
            client.batch_execute("ROLLBACK").await?;
            return Ok(Err(self.too_new(found)));
        }
        for (number, migration) in (1..).zip(self.migrations()) {
            if number > found {
                client.batch_execute(&migration).await?;
                let note = format!("INSERT INTO {} (version) VALUES ({number})", self.version);
                client.batch_execute(&note).await?;
            }
        }
        client.batch_execute("COMMIT").await?;
        Ok(Ok(()))
    }

    /// What brings our tables from each version to the next.
    fn migrations(&self) -> [String; 1] {
        let Self { leases, journals, kept, revisions, current, trash, .. } = self;
        [format!(
            "CREATE TABLE {leases} (
                stack TEXT PRIMARY KEY,
                epoch BIGINT NOT NULL,
                nonce TEXT NOT NULL,
                held BOOLEAN NOT NULL,
                info TEXT NOT NULL,
                ttl BIGINT NOT NULL,
                renewed TIMESTAMPTZ NOT NULL,
                writes BIGINT NOT NULL
            );
            CREATE TABLE {journals} (
                stack TEXT NOT NULL,
                journal TEXT NOT NULL,
                position BIGINT NOT NULL,
                content BYTEA NOT NULL,
                written TIMESTAMPTZ NOT NULL,
                PRIMARY KEY (stack, journal, position)
            );
            CREATE TABLE {kept} (
                stack TEXT NOT NULL,
                journal TEXT NOT NULL,
                settled BOOLEAN NOT NULL,
                base BIGINT,
                content BYTEA NOT NULL,
                PRIMARY KEY (stack, journal)
            );
            CREATE TABLE {revisions} (
                stack TEXT NOT NULL,
                number BIGINT NOT NULL,
                hash TEXT NOT NULL,
                info TEXT NOT NULL,
                content BYTEA NOT NULL,
                PRIMARY KEY (stack, number)
            );
            ALTER TABLE {revisions} ALTER content SET STORAGE EXTERNAL;
            CREATE TABLE {current} (
                stack TEXT PRIMARY KEY,
                key TEXT NOT NULL,
                version TEXT NOT NULL,
                hash TEXT NOT NULL,
                revision BIGINT,
                time TEXT NOT NULL,
                resources BIGINT NOT NULL,
                outline TEXT NOT NULL
            );
            CREATE TABLE {trash} (
                stack TEXT NOT NULL,
                id TEXT NOT NULL,
                key TEXT NOT NULL,
                data JSON NOT NULL,
                updated_at TIMESTAMPTZ NOT NULL,
                PRIMARY KEY (stack, id, key)
            );"
        )]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_step_to_each_version() {
        assert_eq!(Tables::of("t").migrations().len(), usize::try_from(VERSION).unwrap());
    }
}
