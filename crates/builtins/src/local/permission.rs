//! Permissions in octal digits.

use crate::fields::Fields;
use crate::schema::Failures;
use std::fmt;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Who may do what with a file. Where the system has no such permissions they count for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Permission(pub(crate) u32);

impl Permission {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits =
            (3..=4).contains(&text.len()) && text.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
        digits.then(|| u32::from_str_radix(text, 8).ok().map(Self)).flatten()
    }

    /// The permission that an input gives.
    pub(crate) fn given(inputs: &Fields, key: &str) -> Option<Self> {
        inputs.text(key).and_then(Self::parse)
    }

    pub(crate) fn check(inputs: &Fields, key: &str, failures: &mut Failures) {
        if inputs.text(key).is_some_and(|text| Self::parse(text).is_none()) {
            failures
                .add(key, format!("`{key}` must be three or four octal digits in quotes, as in \"0644\""));
        }
    }

    /// The permission of something that is there; `None` where there are none.
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::PermissionsExt;
        Some(Self(metadata.permissions().mode() & 0o7777))
    }

    #[cfg(not(unix))]
    pub(crate) fn of(_: &Metadata) -> Option<Self> {
        None
    }

    #[cfg(unix)]
    pub(crate) fn put_on_file(self, file: &File) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(self.0))
    }

    #[cfg(not(unix))]
    pub(crate) fn put_on_file(self, _: &File) -> io::Result<()> {
        Ok(())
    }

    /// Makes a folder and those above it, as far as they are missing.
    #[cfg(unix)]
    pub(crate) fn make_folders(self, path: &Path) -> io::Result<()> {
        use std::os::unix::fs::DirBuilderExt;
        std::fs::DirBuilder::new().recursive(true).mode(self.0).create(path)
    }

    #[cfg(not(unix))]
    pub(crate) fn make_folders(self, path: &Path) -> io::Result<()> {
        std::fs::create_dir_all(path)
    }
}

/// `0644`.
impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04o}", self.0)
    }
}
