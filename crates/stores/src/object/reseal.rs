//! Sealing, unsealing and sealing anew everything in a bucket.

use super::BucketStore;
use crate::Result;
use crate::diy::layout;
use crate::seal::{self, Documents, Resealed};
use async_trait::async_trait;

impl BucketStore {
    /// Brings everything into the form that the store's [sealing](crate::Sealing) gives new documents, one stack after
    /// the other, each under its lease. What was cut short is gone on with by doing it again.
    pub async fn reseal(&self, command: &str) -> Result<Resealed> {
        let Some(sealing) = &self.options().diy.sealing else { return Ok(Resealed::default()) };
        seal::refuse_legacy(self.has_projects(), self.bucket().location(""))?;
        seal::reseal(self, sealing, command).await
    }
}

#[async_trait]
impl Documents for BucketStore {
    async fn paths(&self) -> Result<Vec<String>> {
        Ok(self.bucket().list(layout::ROOT).await?.into_iter().map(|found| found.path).collect())
    }

    async fn reseal_one(&self, path: &str) -> Result<bool> {
        self.bucket().reseal(path).await
    }

    async fn write_meta(&self) -> Result<()> {
        self.bucket().overwrite(layout::META, self.meta_file()).await.map(drop)
    }
}
