//! Hashing what is written.

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::io::{self, Write};

/// A SHA-256 that can be written to.
#[derive(Debug, Default)]
pub(crate) struct Digest(Sha256);

impl Digest {
    pub(crate) fn into_hex(self) -> String {
        hex(&self.0.finalize())
    }
}

/// Bytes as two digits each.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

impl Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
