//! Stand-ins of key services, for which no registry has a server that a test could start.
//!
//! They are no mocks of our client: each is a server of its own that does what the service's documents say, with real
//! cryptography inside, and checks what the service checks: tokens, algorithms, checksums, key versions. Yet they are
//! written by the same people as the client, and none of them is the service. What the stock Pulumi CLI can be pointed
//! at (Azure, Vault) is held against it in tests, so that both clients have to agree on what they say.
//!
//! [`Cloud`] is a proxy that every host of a cloud is behind, with certificates of its own authority: clients are told
//! of both by `HTTPS_PROXY` and `SSL_CERT_FILE` and otherwise run as they do against the real hosts.

pub mod azure;
pub mod cloud;
pub mod google;
pub mod server;
pub mod vault;

pub use cloud::Cloud;
pub use server::{Answer, Asked, Server, Trouble};

use aes_gcm::aead::{Aead, Payload};
use aes_gcm::{Aes256Gcm, KeyInit, Nonce};

/// Random bytes.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has random bytes");
    bytes
}

/// A number that nobody guesses.
pub(crate) fn random_number() -> u64 {
    u64::from_le_bytes(random())
}

/// A key that seals bytes under a number of its own, as the services do inside.
#[derive(Clone)]
pub struct SealingKey(Aes256Gcm);

impl SealingKey {
    /// A fresh key.
    #[must_use]
    pub fn fresh() -> Self {
        Self(Aes256Gcm::new(&random::<32>().into()))
    }

    /// A nonce, and what is sealed with it.
    #[must_use]
    pub fn seal(&self, plaintext: &[u8], associated: &[u8]) -> Vec<u8> {
        let nonce = random::<12>();
        let sealed = self.0.encrypt(&Nonce::from(nonce), Payload { msg: plaintext, aad: associated });
        [nonce.to_vec(), sealed.expect("a short text is sealed")].concat()
    }

    /// What was sealed, if it was with this key.
    #[must_use]
    pub fn open(&self, sealed: &[u8], associated: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<12>()?;
        self.0.decrypt(&Nonce::from(*nonce), Payload { msg: sealed, aad: associated }).ok()
    }
}

impl std::fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealingKey")
    }
}
