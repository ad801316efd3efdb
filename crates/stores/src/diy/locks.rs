//! Leases as they are made, and lock files as the stock CLI writes them (S14).

use crate::{Claim, Host, LeaseInfo};
use drystone_model::record;
use jiff::Timestamp;

record! {
    /// A lock file as the stock CLI writes it.
    pub struct PulumiLock {
        /// The process.
        always "pid" => pid: i64,
        /// The user.
        always "username" => username: String,
        /// The machine.
        always "hostname" => hostname: String,
        /// Since when, RFC 3339.
        always "timestamp" => timestamp: String,
    }
}

/// A lease for whoever asks, with a nonce and a lock file of its own.
pub(crate) fn new_lease(host: &dyn Host, claim: &Claim, epoch: i64) -> LeaseInfo {
    LeaseInfo {
        user: host.user(),
        host: host.hostname(),
        pid: i64::from(host.pid()),
        purpose: claim.purpose.clone(),
        since: format!("{:.3}", host.now()),
        nonce: host.new_id(),
        epoch,
        lock_file: Some(format!("{}.json", host.new_id())),
        held: true,
        ..LeaseInfo::default()
    }
}

/// The lock file that other tools see while a lease is held.
pub(crate) fn lock_file(lease: &LeaseInfo) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&PulumiLock {
        pid: lease.pid,
        username: lease.user.clone(),
        hostname: lease.host.clone(),
        timestamp: lease.since.clone(),
        ..PulumiLock::default()
    })
}

/// What the lock file of another tool says. A damaged one still locks.
pub(crate) fn lease_of(content: &[u8], file: &str) -> LeaseInfo {
    let lock: PulumiLock = serde_json::from_slice(content).unwrap_or_default();
    LeaseInfo {
        user: lock.username,
        host: lock.hostname,
        pid: lock.pid,
        since: lock.timestamp,
        held: true,
        foreign: true,
        lock_file: Some(file.to_owned()),
        ..LeaseInfo::default()
    }
}

/// The moment in a lease's or lock file's words.
pub(crate) fn moment(text: &str) -> Timestamp {
    text.parse().unwrap_or(Timestamp::UNIX_EPOCH)
}
