//! The files that stand beside a checkpoint.
#![allow(clippy::unwrap_used)]

mod fixtures;

use drystone_dialects::pulumi::history::{StackTags, UpdateRecord};
use fixtures::text;

#[test]
fn s14_history_records_are_written_back_byte_for_byte() {
    for name in ["refresh", "destroy"] {
        let file = text(&format!("{name}.history.json"));
        let record = UpdateRecord::read(file.as_bytes()).unwrap();
        assert_eq!((record.kind.as_str(), record.result.as_str()), (name, "succeeded"));
        assert_eq!(String::from_utf8(record.to_vec().unwrap()).unwrap(), file);
    }
    let record = UpdateRecord::read(text("refresh.history.json").as_bytes()).unwrap();
    assert_eq!(record.message, "first <msg>");
    assert_eq!(record.resource_changes, [("same".to_owned(), 2)].into());
    assert_eq!(record.environment.unwrap()["exec.kind"], "cli");
}

#[test]
fn s9_records_keep_what_they_do_not_know() {
    let file = r#"{"kind":"update","startTime":1,"message":"","environment":null,"config":null,"version":7,"result":"failed","endTime":2,"who":{"n":1.10}}"#;
    let record = UpdateRecord::read(file.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(record.to_vec().unwrap()).unwrap(), file);
    let wide = file.replace(',', ",\n    ").replace("1.10}", "1.10 }");
    assert_eq!(UpdateRecord::read(wide.as_bytes()).unwrap().to_vec().unwrap(), file.as_bytes());
}

#[test]
fn s14_tags_are_written_back_byte_for_byte() {
    let file = text("stack.pulumi-tags");
    let tags = StackTags::read(file.as_bytes()).unwrap();
    assert_eq!(tags.tags["team"], "a<b");
    assert_eq!(String::from_utf8(tags.to_vec().unwrap()).unwrap(), file);
    assert_eq!(StackTags::new(tags.tags.clone()), tags);
    assert_eq!(StackTags::read(b"{\"version\":1,\"tags\":null}").unwrap().tags.len(), 0);
}
