//! The digests of content.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};
use std::io::{self, Read};

/// Every digest of a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Digests {
    pub(crate) md5: String,
    pub(crate) sha1: String,
    pub(crate) sha256: String,
    pub(crate) sha512: String,
    pub(crate) base64_sha256: String,
    pub(crate) base64_sha512: String,
    pub(crate) size: u64,
}

impl Digests {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut running = Running::default();
        running.take(bytes);
        running.finish()
    }

    /// Those of everything that is left to read.
    pub(crate) fn of_reader(mut reader: impl Read) -> io::Result<Self> {
        let mut running = Running::default();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok(running.finish()),
                read => running.take(&buffer[..read]),
            }
        }
    }
}

#[derive(Default)]
struct Running {
    md5: Md5,
    sha1: Sha1,
    sha256: Sha256,
    sha512: Sha512,
    size: u64,
}

impl Running {
    fn take(&mut self, bytes: &[u8]) {
        self.md5.update(bytes);
        self.sha1.update(bytes);
        self.sha256.update(bytes);
        self.sha512.update(bytes);
        self.size += bytes.len() as u64;
    }

    fn finish(self) -> Digests {
        let (sha256, sha512) = (self.sha256.finalize(), self.sha512.finalize());
        Digests {
            md5: hex(&self.md5.finalize()),
            sha1: hex(&self.sha1.finalize()),
            base64_sha256: STANDARD.encode(sha256),
            base64_sha512: STANDARD.encode(sha512),
            sha256: hex(&sha256),
            sha512: hex(&sha512),
            size: self.size,
        }
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
