//! State documents in files, for `--file`.

use crate::report::{ExitCode, Failure, Outcome};
use drystone_dialects::pulumi::properties::SecretForm;
use drystone_dialects::pulumi::{Document, ReadError, WriteError};
use drystone_model::Snapshot;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A checkpoint or an export in a file.
#[derive(Debug)]
pub(in crate::commands) struct StateFile {
    path: PathBuf,
    document: Document,
    is_compact: bool,
}

impl StateFile {
    /// Reads a file of either form.
    pub(in crate::commands) fn read(path: &Path) -> Outcome<Self> {
        let shown = path.display();
        let bytes = std::fs::read(path).map_err(|error| {
            Failure::new(ExitCode::Unavailable, format!("reading {shown}: {error}"))
                .hint("`--file` takes a checkpoint of a backend, or what `drystone stack export` prints")
        })?;
        let document = Document::read(&bytes).map_err(|error| unreadable(path, &error))?;
        Ok(Self { path: path.to_owned(), document, is_compact: drystone_model::text::is_compact(&bytes) })
    }

    /// The state in it; none when it is of a stack that was never updated.
    pub(super) fn snapshot(&self) -> Option<&Snapshot> {
        self.document.snapshot()
    }

    /// The state in it, an empty one for none, without the rest.
    pub(in crate::commands) fn into_snapshot(self) -> Snapshot {
        let snapshot = match self.document {
            Document::Checkpoint(checkpoint) => checkpoint.snapshot,
            Document::Export(export) => export.snapshot,
        };
        snapshot.unwrap_or_default()
    }

    /// Takes another state in.
    pub(super) fn replace(&mut self, snapshot: Snapshot) {
        match &mut self.document {
            Document::Checkpoint(checkpoint) => checkpoint.snapshot = Some(snapshot),
            Document::Export(export) => export.snapshot = Some(snapshot),
        }
    }

    /// Writes the document in the form in which it was read.
    pub(super) fn write(&self, out: &mut dyn Write) -> Outcome {
        let written = match &self.document {
            Document::Checkpoint(checkpoint) => checkpoint.write(out),
            // Secrets stay as they stand: whoever exported them in clear has them in clear.
            Document::Export(export) if self.is_compact => export.write_compact(out, SecretForm::Plaintext),
            Document::Export(export) => export.write(out, SecretForm::Plaintext),
        };
        written.map_err(|error| self.unwritable(&error))
    }

    /// Replaces the file in one step: a crash leaves the old document or the new one.
    pub(super) fn write_back(&self) -> Outcome {
        let failed = |error: io::Error| self.unwritable(&WriteError::Io(error));
        // A link is followed, so that it still is one afterwards.
        let path = std::fs::canonicalize(&self.path).map_err(failed)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let permissions = std::fs::metadata(&path).map_err(failed)?.permissions();
        let file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        let mut out = BufWriter::with_capacity(1 << 16, file.as_file());
        self.write(&mut out)?;
        out.flush().map_err(failed)?;
        drop(out);
        file.as_file().set_permissions(permissions).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    fn unwritable(&self, error: &WriteError) -> Failure {
        Failure::new(ExitCode::Unavailable, format!("writing {}: {error}", self.path.display()))
            .hint("the file is as it was")
    }
}

fn unreadable(path: &Path, error: &ReadError) -> Failure {
    let message = format!("{}: {error}", path.display());
    match error {
        ReadError::TooNew { .. } | ReadError::UnsupportedFeatures { .. } => {
            Failure::new(ExitCode::Configuration, message).hint("use the newer version that wrote it")
        }
        _ => Failure::new(ExitCode::Unsound, message)
            .hint("`--file` takes a checkpoint of a backend, or what `drystone stack export` prints"),
    }
}
