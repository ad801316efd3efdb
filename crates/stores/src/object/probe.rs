//! Whether a server keeps its word. Everything here rests on conditional writes, and some servers that know the words
//! let several writers through, or all.

use super::requests::{Version, Written};
use super::{BucketStore, layout as keys};
use crate::{Error, Result};

/// How many race.
const RACERS: usize = 8;

impl BucketStore {
    /// Tries on an object of its own whether the server's conditional writes are honest: of several that create it one
    /// may win, of several that replace it one, and none that saw an older one. Fails with an explanation otherwise.
    pub async fn probe(&self) -> Result<()> {
        let path = keys::probe(&self.host().new_id());
        let tried = self.try_conditions(&path).await;
        self.bucket().remove(&[path]).await?;
        tried
    }

    async fn try_conditions(&self, path: &str) -> Result<()> {
        let first = self.race(path, "create the same object", None).await?;
        let second = self.race(path, "replace the same object", Some(&first)).await?;
        match self.bucket().replace(path, "stale", &first).await? {
            Written::Refused(_) => {}
            Written::Done(_) => return Err(self.dishonest("let a writer replace what it had not seen")),
        }
        match self.bucket().look(path).await? {
            Some(found) if found.version.is_same(&second) => Ok(()),
            _ => Err(self.dishonest("did not keep what it had accepted")),
        }
    }

    /// Lets several writers race; gives what the winner wrote.
    async fn race(&self, path: &str, what: &str, seen: Option<&Version>) -> Result<Version> {
        let writes: Vec<_> = (0..RACERS)
            .map(|_| async move {
                let content = self.host().new_id();
                match seen {
                    Some(seen) => self.bucket().replace(path, content, seen).await,
                    None => self.bucket().create(path, content).await,
                }
            })
            .collect();
        let mut winners = Vec::new();
        for written in futures::future::try_join_all(writes).await? {
            if let Written::Done(version) = written {
                winners.push(version);
            }
        }
        match (winners.pop(), winners.len()) {
            (Some(winner), 0) => Ok(winner),
            (None, _) => Err(self.dishonest(&format!("let nobody {what}"))),
            (Some(_), others) => {
                let reason = format!("let {} of {RACERS} writers {what}", others + 1);
                Err(self.dishonest(&reason))
            }
        }
    }

    fn dishonest(&self, what: &str) -> Error {
        let reason = format!("the server {what}: stacks would not be safe from two writers at once");
        Error::Unsupported { path: self.bucket().location(""), reason }
    }
}
