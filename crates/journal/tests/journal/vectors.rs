//! Every vector replays to the deployment that the real replayer made.

use crate::corpus::vectors;
use drystone_journal::replay_line;
use serde_json::Value;

/// What does not count: when it was made, and the order of pending operations, which is random upstream.
fn comparable(mut result: Value) -> Value {
    result["deployment"]["manifest"]["time"] = Value::Null;
    if let Some(operations) = result["deployment"]["pending_operations"].as_array_mut() {
        operations.sort_by_key(Value::to_string);
    }
    result
}

#[test]
fn every_vector_replays_to_the_expected_deployment() {
    let vectors = vectors();
    let mut wrong = Vec::new();
    for vector in vectors {
        let result: Value = serde_json::from_str(&replay_line(&vector.line)).unwrap();
        if comparable(result.clone()) != comparable(vector.expected.clone()) {
            wrong.push(format!("{}\n  got      {result}\n  expected {}", vector.name, vector.expected));
        }
    }
    println!("{} vectors replayed, {} wrong", vectors.len(), wrong.len());
    assert_eq!(vectors.len(), 1216);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(5)].join("\n"));
}

#[test]
fn s09_every_entry_is_written_back_as_it_was_read() {
    let mut count = 0;
    for vector in vectors() {
        let line: Value = serde_json::from_str(&vector.line).unwrap();
        for (entry, read) in line["entries"].as_array().unwrap().iter().zip(&vector.entries) {
            assert_eq!(&serde_json::to_value(read).unwrap(), entry, "{}", vector.name);
            count += 1;
        }
    }
    println!("{count} entries written back");
    assert_eq!(count, 16_198);
}
