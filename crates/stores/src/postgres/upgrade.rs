//! The layout without projects: told apart, and marked as the one with.

use super::connections::{Statement, Value};
use super::{Inner, PostgresStore};
use crate::diy::layout::{self, stack_of};
use crate::{Result, StackId, Upgrade};
use async_trait::async_trait;

impl Inner {
    /// The stacks that stand where CLIs older than projects put them.
    pub(super) async fn legacy_stacks(&self) -> Result<Vec<StackId>> {
        let folder = format!("{}/", layout::STACKS);
        let statement = Statement {
            sql: format!("SELECT key FROM {} WHERE key LIKE $1 AND key NOT LIKE $2", self.tables.state),
            values: vec![
                Value::Text(self.pattern(&folder)),
                Value::Text(format!("{}/%", self.pattern(&folder))),
            ],
        };
        let rows = self.connections.ask("listing", layout::STACKS, &statement).await?;
        let keys = rows.iter().map(|row| row.get::<_, &str>(0));
        let names = keys.filter_map(|key| stack_of(key.rsplit('/').next()?));
        Ok(names.filter_map(|name| StackId::legacy(name).ok()).collect())
    }
}

#[async_trait]
impl Upgrade for PostgresStore {
    async fn stacks_without_projects(&self) -> Result<Vec<StackId>> {
        self.inner.legacy_stacks().await
    }

    async fn mark_with_projects(&self) -> Result<()> {
        let mark = self.put(layout::META, layout::MARK);
        self.ask("writing", layout::META, &mark).await?;
        self.has_put_meta();
        Ok(())
    }
}
