//! Renewing a lease for as long as it is held.
//!
//! On a thread and a connection of its own: a program that keeps the others busy, or a commit that takes long, must
//! not look like a holder that died.

use super::PostgresStore;
use super::connections::{Statement, values};
use super::leases;
use crate::{Error, LeaseInfo, Result, StackId};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio_postgres::Client;

/// A holder renews this many times before its lease would expire.
const RENEWALS: u32 = 4;

/// A lease that is being renewed. Dropped, it is not renewed any more: to others that looks like dying.
#[derive(Debug)]
pub(super) struct Heartbeat {
    lost: Arc<OnceLock<String>>,
    _stop: oneshot::Sender<()>,
}

impl Heartbeat {
    pub(super) fn start(store: &PostgresStore, stack: &StackId, lease: &LeaseInfo) -> Result<Self> {
        let lost = Arc::new(OnceLock::new());
        let (stop, stopped) = oneshot::channel();
        let mut beating = Beating {
            store: store.clone(),
            stack: stack.clone(),
            lease: lease.clone(),
            lost: Arc::clone(&lost),
            client: None,
        };
        let location = store.connections().location(&crate::diy::layout::lease(stack));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Error::io("renewing", &location))?;
        let thread = std::thread::Builder::new().name("lease".to_owned());
        thread
            .spawn(move || runtime.block_on(beating.beat_until(stopped)))
            .map_err(Error::io("renewing", &location))?;
        Ok(Self { lost, _stop: stop })
    }

    /// Who took the lease away, when that is known already.
    pub(super) fn lost_to(&self) -> Option<&str> {
        self.lost.get().map(String::as_str)
    }
}

struct Beating {
    store: PostgresStore,
    stack: StackId,
    lease: LeaseInfo,
    lost: Arc<OnceLock<String>>,
    client: Option<Client>,
}

impl Beating {
    async fn beat_until(&mut self, mut stopped: oneshot::Receiver<()>) {
        let pause = self.store.options().lease_ttl / RENEWALS;
        let mut next = pause;
        while tokio::time::timeout(next, &mut stopped).await.is_err() {
            // One that fails is soon followed by the next, over another connection.
            let beaten = tokio::select! {
                beaten = tokio::time::timeout(pause, self.beat()) => beaten,
                _ = &mut stopped => return,
            };
            next = match beaten {
                Ok(Ok(true)) => pause,
                Ok(Ok(false)) => return,
                Ok(Err(_)) | Err(_) => {
                    self.client = None;
                    (pause / 8).max(Duration::from_millis(50))
                }
            };
        }
    }

    /// Renews the lease; says no when it is another's.
    async fn beat(&mut self) -> Result<bool, tokio_postgres::Error> {
        let client = match self.client.take() {
            Some(client) if !client.is_closed() => client,
            _ => self.store.connections().connect(drop).await?,
        };
        let renew = Statement {
            sql: format!(
                "UPDATE {} SET renewed = clock_timestamp()
                 WHERE stack = $1 AND epoch = $2 AND nonce = $3 AND held",
                self.store.tables().leases
            ),
            values: values![self.store.key_of(&self.stack), self.lease.epoch, &self.lease.nonce],
        };
        let renewed = renew.execute(&client).await? == 1;
        if !renewed {
            let row = leases::lease_row_on(&client, &self.store, &self.stack).await?;
            let _ = self.lost.set(row.map_or_else(|| "somebody".to_owned(), |row| row.lease.holder()));
        }
        self.client = Some(client);
        Ok(renewed)
    }
}
