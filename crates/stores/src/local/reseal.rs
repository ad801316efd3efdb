//! Sealing, unsealing and sealing anew everything in a directory.

use super::LocalStore;
use crate::disk::{self, TEMPORARY};
use crate::diy::layout;
use crate::seal::{self, Documents, Resealed};
use crate::{Error, Result};
use async_trait::async_trait;

impl LocalStore {
    /// Brings everything into the form that the store's [sealing](crate::Sealing) gives new documents, one stack after
    /// the other, each under its lease. What was cut short is gone on with by doing it again.
    pub async fn reseal(&self, command: &str) -> Result<Resealed> {
        let Some(sealing) = &self.options().sealing else { return Ok(Resealed::default()) };
        seal::refuse_legacy(self.has_projects(), self.disk().location(""))?;
        seal::reseal(self, sealing, command).await
    }

    fn files_below(&self, folder: &str, found: &mut Vec<String>) -> Result<()> {
        for name in disk::list(self.disk(), folder)? {
            let path = format!("{folder}/{}", name.text);
            if name.is_folder {
                self.files_below(&path, found)?;
            } else if !name.text.ends_with(TEMPORARY) {
                found.push(path);
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Documents for LocalStore {
    async fn paths(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        self.files_below(layout::ROOT, &mut found)?;
        Ok(found)
    }

    async fn reseal_one(&self, path: &str) -> Result<bool> {
        match &self.inner.sealed {
            Some(sealed) => sealed.reseal(path).map_err(Error::io("sealing", self.disk().location(path))),
            None => Ok(false),
        }
    }

    async fn write_meta(&self) -> Result<()> {
        disk::publish(self.disk(), layout::META, self.meta_file().as_bytes())
    }
}
