//! Whole lives through the engine: create, no change, update, replace, refresh with drift, import, delete.

use crate::harness::{Server, Stack, answer};
use drystone_engine::{CancelLevel, Ending};
use serde_json::{Value as Json, json};
use std::fs;
use std::time::{Duration, Instant};

fn one(kind: &str, inputs: &Json) -> Json {
    json!([{ "type": kind, "name": "a", "inputs": inputs }])
}

const NOTHING: [&str; 0] = [];

#[test]
fn a_file() {
    let mut stack = Stack::new();
    let first = one("local:File", &json!({ "filename": "a.txt", "content": "one" }));
    assert_eq!(stack.preview(&first).ok(), ["create a"]);
    assert!(!stack.path("a.txt").exists());
    assert_eq!(stack.up(&first).ok(), ["create a"]);
    assert_eq!(stack.up(&first).ok(), NOTHING);
    assert_eq!(stack.refresh().ok(), ["refresh a same"]);

    let second = one("local:File", &json!({ "filename": "a.txt", "content": "two" }));
    assert_eq!(stack.up(&second).ok(), ["update a"]);
    assert_eq!(fs::read_to_string(stack.path("a.txt")).unwrap(), "two");

    fs::write(stack.path("a.txt"), "drift").unwrap();
    assert_eq!(stack.refresh().ok(), ["refresh a update"]);
    assert!(stack.resource("a").inputs.text().contains("drift"));
    assert_eq!(stack.up(&second).ok(), ["update a"]);
    assert_eq!(fs::read_to_string(stack.path("a.txt")).unwrap(), "two");

    let moved = one("local:File", &json!({ "filename": "b.txt", "content": "two" }));
    assert_eq!(stack.up(&moved).ok(), ["create-replacement a", "replace a", "delete-replaced a"]);
    assert!(stack.path("b.txt").exists() && !stack.path("a.txt").exists());

    fs::remove_file(stack.path("b.txt")).unwrap();
    assert_eq!(stack.refresh().ok(), ["refresh a delete"]);
    assert_eq!(stack.up(&moved).ok(), ["create a"]);
    assert_eq!(stack.destroy().ok(), ["delete a"]);
    assert!(!stack.path("b.txt").exists() && stack.snapshot.resources.is_empty());
}

#[test]
fn a_file_that_is_replaced_in_its_place_or_taken_over_is_still_there() {
    let mut stack = Stack::new();
    let forced = |content: &str| {
        json!([{ "type": "local:File", "name": "a", "replaceOnChanges": ["content"],
                 "inputs": { "filename": "a.txt", "content": content } }])
    };
    stack.up(&forced("one")).ok();
    assert_eq!(stack.up(&forced("two")).ok(), ["create-replacement a", "replace a", "delete-replaced a"]);
    assert_eq!(fs::read_to_string(stack.path("a.txt")).unwrap(), "two");
    let renamed =
        json!([{ "type": "local:File", "name": "b", "inputs": { "filename": "a.txt", "content": "two" } }]);
    assert_eq!(stack.up(&renamed).ok(), ["create b", "delete a"]);
    assert_eq!(fs::read_to_string(stack.path("a.txt")).unwrap(), "two");
}

#[test]
fn a_file_is_imported_and_then_shows_no_change() {
    let mut stack = Stack::new();
    fs::write(stack.path("a.txt"), "there").unwrap();
    let import = json!([{ "type": "local:File", "name": "a", "import": "a.txt",
                          "inputs": { "filename": "a.txt", "content": "there" } }]);
    assert_eq!(stack.up(&import).ok(), ["import a"]);
    assert_eq!(
        stack.up(&one("local:File", &json!({ "filename": "a.txt", "content": "there" }))).ok(),
        NOTHING
    );
    let missing = json!([{ "type": "local:File", "name": "b", "import": "gone", "inputs": { "filename": "gone", "content": "" } }]);
    stack.up(&missing).failed("does not exist");
}

#[test]
fn a_folder_with_a_file_in_it() {
    let mut stack = Stack::new();
    let program = json!([
        { "type": "local:Directory", "name": "d", "inputs": { "path": "d" } },
        { "type": "local:File", "name": "f", "inputs": { "filename": "d/f", "content": "" } },
    ]);
    assert_eq!(stack.up(&program).ok(), ["create d", "create f"]);
    assert_eq!(stack.up(&program).ok(), NOTHING);
    fs::remove_dir_all(stack.path("d")).unwrap();
    assert_eq!(stack.refresh().ok().len(), 2);
    assert_eq!(stack.up(&program).ok(), ["create d", "create f"]);
}

#[test]
fn random_values() {
    let mut stack = Stack::new();
    let program = |version: &str| {
        json!([
            { "type": "random:Pet", "name": "pet", "inputs": { "keepers": { "v": version } } },
            { "type": "random:RandomPassword", "name": "password", "inputs": { "length": 24 } },
        ])
    };
    assert_eq!(stack.up(&program("1")).ok(), ["create pet", "create password"]);
    let pet = stack.resource("pet").id.clone();
    let state = stack.resource("password").outputs.text().to_owned();
    assert!(state.contains("ciphertext"), "{state}");
    assert_eq!(stack.up(&program("1")).ok(), NOTHING);
    assert_eq!(stack.refresh().ok(), ["refresh pet same", "refresh password same"]);
    assert_eq!(
        stack.up(&program("2")).ok(),
        ["create-replacement pet", "replace pet", "delete-replaced pet"]
    );
    assert_ne!(stack.resource("pet").id, pet);
    assert_eq!(stack.destroy().ok().len(), 2);
    let import = json!([{ "type": "random:RandomPassword", "name": "p", "import": "Hush1~hush", "inputs":
        { "length": 10 } }]);
    assert_eq!(stack.up(&import).ok(), ["import p"]);
    assert!(!stack.resource("p").outputs.text().contains("Hush1~hush"));
}

#[test]
fn a_command() {
    let mut stack = Stack::new();
    let program = |to: &str, trigger: i64| {
        one(
            "command:Command",
            &json!({
            "create": "echo create >> log", "update": "echo update $TO >> log", "delete": "echo delete >> log",
            "environment": { "TO": to }, "triggers": [trigger] }),
        )
    };
    assert_eq!(stack.preview(&program("x", 1)).ok(), ["create a"]);
    stack.up(&program("x", 1)).ok();
    assert_eq!(stack.up(&program("x", 1)).ok(), NOTHING);
    assert_eq!(stack.refresh().ok(), ["refresh a same"]);
    assert_eq!(stack.up(&program("y", 1)).ok(), ["update a"]);
    assert_eq!(stack.up(&program("y", 2)).ok(), ["create-replacement a", "replace a", "delete-replaced a"]);
    stack.destroy().ok();
    let log = fs::read_to_string(stack.path("log")).unwrap();
    assert_eq!(log, "create\nupdate y\ncreate\ndelete\ndelete\n");
}

#[test]
fn a_command_that_fails_leaves_what_was_before() {
    let mut stack = Stack::new();
    let program = |command: &str| one("command:Command", &json!({ "create": command }));
    stack.up(&program("echo half; exit 7")).failed("the command ended with exit code 7:\nhalf");
    assert!(!stack.snapshot.resources.iter().any(|resource| resource.urn.name() == "a"));
    stack.up(&program("echo whole")).ok();
    stack.up(&program("exit 8")).failed("exit code 8");
    assert!(stack.resource("a").outputs.text().contains("whole"));
    stack.up(&program("echo whole")).ok();
}

#[test]
fn s7_a_command_that_is_cancelled_stays_pending() {
    let mut stack = Stack::new();
    let cancellation = stack.cancellation.clone();
    let started = stack.path("started");
    std::thread::spawn(move || {
        while !started.exists() {
            std::thread::sleep(Duration::from_millis(10));
        }
        cancellation.request(CancelLevel::Graceful);
    });
    let start = Instant::now();
    let outcome = stack.up(&one("command:Command", &json!({ "create": "touch started; sleep 600" })));
    assert!(start.elapsed() < Duration::from_secs(30));
    assert_ne!(outcome.ending, Ending::Succeeded);
    assert!(
        outcome.errors.iter().any(|error| error.contains("the command was cancelled")),
        "{:#?}",
        outcome.errors
    );
    assert_eq!(stack.snapshot.pending_operations.len(), 1);
}

#[test]
fn moments() {
    let mut stack = Stack::new();
    let program = json!([
        { "type": "time:Static", "name": "static" },
        { "type": "time:Rotating", "name": "rotating", "inputs": { "rotationDays": 1 } },
        { "type": "time:Offset", "name": "offset", "inputs": { "offsetDays": 1 } },
    ]);
    assert_eq!(stack.up(&program).ok().len(), 3);
    stack.clock.pass(86400 - 1);
    assert_eq!(stack.up(&program).ok(), NOTHING);
    stack.clock.pass(1);
    let replaced = ["create-replacement rotating", "replace rotating", "delete-replaced rotating"];
    assert_eq!(stack.preview(&program).ok(), replaced);
    assert_eq!(stack.up(&program).ok(), replaced);
    assert_eq!(stack.up(&program).ok(), NOTHING);
    assert!(stack.resource("rotating").id.starts_with("2023-11-15"));
    assert!(stack.resource("static").id.starts_with("2023-11-14"));
    assert_eq!(stack.destroy().ok().len(), 3);
}

#[test]
fn an_http_read() {
    let mut stack = Stack::new();
    let server =
        Server::start(|count, stream| answer(stream, "200 OK", "", format!("answer {count}").as_bytes()));
    let program = one("http:Request", &json!({ "url": server.url("/") }));
    stack.up(&program).ok();
    assert_eq!(stack.up(&program).ok(), NOTHING);
    assert_eq!(server.requests().len(), 1);
    stack.refresh().ok();
    assert!(stack.resource("a").outputs.text().contains("answer 1"));
    assert_eq!(stack.up(&program).ok(), NOTHING);
    let moved = one("http:Request", &json!({ "url": server.url("/b") }));
    assert_eq!(stack.up(&moved).ok(), ["create-replacement a", "replace a", "delete-replaced a"]);
    stack.destroy().ok();
}

#[test]
fn an_archive() {
    let mut stack = Stack::new();
    fs::create_dir(stack.path("src")).unwrap();
    fs::write(stack.path("src/a"), "one").unwrap();
    let program =
        one("archive:File", &json!({ "type": "tar.gz", "outputPath": "a.tgz", "sourceDir": "src" }));
    stack.up(&program).ok();
    assert_eq!(stack.up(&program).ok(), NOTHING);
    fs::write(stack.path("src/a"), "two").unwrap();
    assert_eq!(stack.up(&program).ok(), ["update a"]);
    fs::write(stack.path("a.tgz"), "drift").unwrap();
    assert_eq!(stack.refresh().ok(), ["refresh a update"]);
    assert_eq!(stack.up(&program).ok(), ["update a"]);
    stack.destroy().ok();
    assert!(!stack.path("a.tgz").exists());
    stack.up(&program).ok();
    fs::remove_file(stack.path("a.tgz")).unwrap();
    assert_eq!(stack.refresh().ok(), ["refresh a delete"]);
}

#[test]
fn wrong_inputs_stop_a_program_before_anything_is_made() {
    let mut stack = Stack::new();
    let program = one("local:File", &json!({ "filename": "a", "contnet": "x" }));
    stack.up(&program).failed("did you mean `content`?");
    assert!(!stack.path("a").exists());
}

#[test]
fn changes_that_are_ignored_stay_so_even_where_the_inputs_do_not_show_them() {
    let mut stack = Stack::new();
    let program = |ignored: Json| {
        json!([
            { "type": "local:File", "name": "copy", "ignoreChanges": ignored, "inputs": { "filename": "copy", "source": "source" } },
            { "type": "archive:File", "name": "zip", "ignoreChanges": ignored,
              "inputs": { "type": "zip", "outputPath": "a.zip", "sourceFile": "source" } },
        ])
    };
    fs::write(stack.path("source"), "one").unwrap();
    assert_eq!(stack.up(&program(json!([]))).ok(), ["create copy", "create zip"]);
    fs::write(stack.path("source"), "two").unwrap();
    assert_eq!(stack.up(&program(json!(["source", "sourceFile"]))).ok(), NOTHING);
    assert_eq!(stack.up(&program(json!(["*"]))).ok(), NOTHING);
    assert_eq!(fs::read_to_string(stack.path("copy")).unwrap(), "one");
    assert_eq!(stack.up(&program(json!([]))).ok(), ["update copy", "update zip"]);
}
