//! Waiting for a lease: the server tells when it is given back.

use super::PostgresStore;
use super::leases::Leases;
use crate::diy::layout;
use crate::{Result, StackId};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_postgres::AsyncMessage;

/// What nobody tells is looked for this often: a holder that died, a lock of another tool that went away, a connection
/// on which the server can no longer tell anything.
const LOOK: Duration = Duration::from_secs(1);

impl PostgresStore {
    /// Waits until a lease may be free, or for so long.
    pub(super) async fn wait(&self, stack: &StackId, at_most: Duration) -> Result<()> {
        let until = Instant::now() + at_most;
        let (told, mut tidings) = mpsc::unbounded_channel();
        let heard = move |message| {
            if let AsyncMessage::Notification(notification) = message {
                let _ = told.send(notification.payload().to_owned());
            }
        };
        let failed = || self.connections().failed("waiting for", &layout::lease(stack));
        let client = self.connections().connect(heard).await.map_err(failed())?;
        let listen = format!("LISTEN \"{}\"", self.tables().channel());
        client.batch_execute(&listen).await.map_err(failed())?;
        // What was given back before the server was listened to is not told.
        while Instant::now() < until && !Leases::new(self, stack).is_free().await? {
            let look = until.min(Instant::now() + LOOK);
            while let Ok(tiding) = tokio::time::timeout_at(look, tidings.recv()).await {
                match tiding {
                    Some(released) if released == self.key_of(stack) => return Ok(()),
                    Some(_) => {}
                    None => {
                        // The connection broke; whoever waits looks by themselves from now on.
                        tokio::time::sleep_until(look).await;
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}
