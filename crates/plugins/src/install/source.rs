//! Where plugins come from.

use super::{InstallError, Release};
use crate::fetch::{self, Limits};
use std::fs::File;
use std::path::PathBuf;

/// Where a plugin comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The releases of Pulumi's own plugins.
    Released,
    /// A server: the address of a folder, in which `${VERSION}`, `${OS}`, `${ARCH}` and `${NAME}` may stand.
    Server(String),
    /// A program, a folder or an archive on this machine.
    Path(PathBuf),
}

impl Source {
    /// Fetches the archive, from the first address that has it.
    pub(super) fn download(&self, release: &Release) -> Result<File, InstallError> {
        let mut causes = Vec::new();
        for address in self.addresses(release)? {
            match fetch::fetch(&address, Limits::default()) {
                Ok(archive) => return Ok(archive),
                Err(error) => causes.push(error.to_string()),
            }
        }
        Err(InstallError::Download { release: release.clone(), causes })
    }

    fn addresses(&self, release: &Release) -> Result<Vec<String>, InstallError> {
        let Release { kind, name, version } = release;
        let (os, arch) = machine();
        let file = format!("pulumi-{kind}-{name}-v{version}-{os}-{arch}.tar.gz").replace('+', "%2B");
        match self {
            Self::Path(_) => Ok(Vec::new()),
            Self::Released => Ok(vec![
                format!("https://github.com/pulumi/pulumi-{name}/releases/download/v{version}/{file}"),
                format!("https://get.pulumi.com/releases/plugins/{file}"),
            ]),
            Self::Server(address) if address.starts_with("http://") || address.starts_with("https://") => {
                let folder = address
                    .replace("${VERSION}", &version.to_string())
                    .replace("${NAME}", name)
                    .replace("${OS}", os)
                    .replace("${ARCH}", arch);
                Ok(vec![format!("{}/{file}", folder.trim_end_matches('/'))])
            }
            Self::Server(address) => Err(InstallError::Address { address: fetch::shown(address) }),
        }
    }
}

/// The system and the processor, by the names that releases have.
fn machine() -> (&'static str, &'static str) {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    (os, arch)
}
