//! The vectors, as files beside the tests.

use drystone_journal::Entry;
use drystone_model::Snapshot;
use flate2::read::GzDecoder;
use serde_json::Value;
use std::{fs::File, io::Read, path::Path, sync::LazyLock};

/// A journal over a base, with the deployment that the real replayer made of it.
pub(crate) struct Vector {
    /// The file and line that it stands on.
    pub(crate) name: String,
    /// The whole line.
    pub(crate) line: String,
    pub(crate) base: Snapshot,
    pub(crate) entries: Vec<Entry>,
    /// `{"version","features"?,"deployment"}`.
    pub(crate) expected: Value,
}

/// All vectors, in the order of the files.
pub(crate) fn vectors() -> &'static [Vector] {
    static VECTORS: LazyLock<Vec<Vector>> = LazyLock::new(|| {
        ["vectors-cli.jsonl.gz", "vectors-lifecycle.jsonl.gz"].into_iter().flat_map(read).collect()
    });
    &VECTORS
}

fn read(file: &str) -> Vec<Vector> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(file);
    let mut text = String::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let vector = |(number, line): (usize, &str)| {
        let value: Value = serde_json::from_str(line).unwrap();
        let base: Option<Snapshot> = serde_json::from_value(value["base"].clone()).unwrap();
        let entries = value["entries"].as_array().unwrap();
        Vector {
            name: format!("{file}:{}", number + 1),
            line: line.to_owned(),
            base: base.unwrap_or_default(),
            entries: entries
                .iter()
                .map(|entry| Entry::from_json(entry.to_string().as_bytes()).unwrap())
                .collect(),
            expected: value["expected"]["result"].clone(),
        }
    };
    text.lines().enumerate().map(vector).collect()
}
