//! Runs a case with both CLIs and compares all that can be seen from outside.

use crate::case::{Case, Step};
use crate::differences;
use crate::normal::{self, Calls};
use crate::side::{Observed, Side, peer};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex};

/// Something that is not the same with both.
#[derive(Debug, Clone)]
pub(crate) struct Difference {
    pub(crate) case: &'static str,
    /// What differs: `state`, `calls`, … and the keys down to it.
    pub(crate) path: Vec<String>,
    pub(crate) stock: Value,
    pub(crate) ours: Value,
}

impl Difference {
    /// Whether it is at this very place.
    pub(crate) fn is_at(&self, path: &[&str]) -> bool {
        self.path == path
    }
}

/// No more cases than this run at a time, however many threads the test runner has.
const AT_A_TIME: usize = 3;
static RUNNING: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();
/// Why differences were permitted so far.
static SAID: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

/// Counts a case while it runs.
struct Turn;

impl Turn {
    fn wait() -> Self {
        let running = RUNNING.lock().unwrap();
        *ENDED.wait_while(running, |running| *running >= AT_A_TIME).unwrap() += 1;
        Self
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Ok(mut running) = RUNNING.lock() {
            *running -= 1;
        }
        ENDED.notify_one();
    }
}

/// Runs a case with the stock CLI and with ours. Differences that are not in the list fail the test.
pub(crate) fn alike(name: &'static str, case: &Case) {
    let _turn = Turn::wait();
    let folder = Folder::new(name);
    let ours = std::env::var_os("DRYSTONE_DIFFERENTIAL_OURS")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_drystone")), PathBuf::from);
    let stock_seen = observe(&folder.path.join("stock"), &peer("DRYSTONE_PEER_PULUMI"), case);
    let our_seen = observe(&folder.path.join("drystn"), &ours, case);
    let mut report = String::new();
    for (stock, ours) in stock_seen.iter().zip(&our_seen) {
        let mut found = compare(name, stock, ours);
        found.retain(|difference| match differences::permitted(difference) {
            Some(permitted) => {
                // Said once in a run: most cases have the same ones.
                if SAID.lock().unwrap().insert(permitted.reason) {
                    let path = difference.path.join(" / ");
                    println!("permitted: {} ({name}: after `{}`: {path})", permitted.reason, stock.command);
                }
                false
            }
            None => true,
        });
        if found.is_empty() {
            continue;
        }
        writeln!(report, "after `{}`:", stock.command).unwrap();
        for difference in found.iter().take(30) {
            writeln!(report, "  {}", difference.path.join(" / ")).unwrap();
            writeln!(report, "    stock: {}", shortened(&difference.stock)).unwrap();
            writeln!(report, "    ours:  {}", shortened(&difference.ours)).unwrap();
        }
        if found.len() > 30 {
            writeln!(report, "  … and {} more", found.len() - 30).unwrap();
        }
        // What follows a difference of the state mostly follows from it.
        if found.iter().any(|difference| difference.path[0] != "exit code" && difference.path[0] != "preview")
        {
            writeln!(report, "stock printed:\n{}\nours printed:\n{}", stock.printed, ours.printed).unwrap();
            break;
        }
    }
    assert!(report.is_empty(), "{name}: the two differ; {}\n{report}", folder.hint());
}

fn observe(folder: &std::path::Path, binary: &std::path::Path, case: &Case) -> Vec<Observed> {
    let mut side = Side::new(folder, binary, case);
    case.steps.iter().filter_map(|step: &Step| side.carry_out(step)).collect()
}

/// The folder of a case. `DRYSTONE_DIFFERENTIAL_KEEP` names a folder in which it is kept.
struct Folder {
    path: PathBuf,
    kept: Option<tempfile::TempDir>,
}

impl Folder {
    fn new(name: &str) -> Self {
        match std::env::var_os("DRYSTONE_DIFFERENTIAL_KEEP") {
            Some(root) => {
                let path = PathBuf::from(root).join(name);
                let _ = std::fs::remove_dir_all(&path);
                Self { path, kept: None }
            }
            None => {
                let folder = tempfile::tempdir().unwrap();
                Self { path: folder.path().to_owned(), kept: Some(folder) }
            }
        }
    }

    fn hint(&self) -> String {
        match self.kept {
            Some(_) => "set DRYSTONE_DIFFERENTIAL_KEEP to a folder to look at what they left".to_owned(),
            None => format!("look into {}", self.path.display()),
        }
    }
}

fn shortened(value: &Value) -> String {
    let text = value.to_string();
    if text.len() <= 600 { text } else { format!("{}…", text.chars().take(600).collect::<String>()) }
}

fn compare(case: &'static str, stock: &Observed, ours: &Observed) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut report = |path: &[String], theirs: &Value, ours: &Value| {
        found.push(Difference { case, path: path.to_vec(), stock: theirs.clone(), ours: ours.clone() });
    };
    let relations = Relations::of([&stock.state, &ours.state]);
    let calls = |seen: &Observed| normal::calls(&seen.calls, |a, b| relations.related(a, b));
    let (Calls { by_resource: stock_calls, order: stock_order }, our_calls) = (calls(stock), calls(ours));
    for (what, theirs, ours) in [
        ("exit code", &json!(stock.code), &json!(ours.code)),
        ("state", &stock.state, &ours.state),
        ("preview", &stock.preview, &ours.preview),
        ("order of changes", &stock_order, &our_calls.order),
        ("world", &stock.world, &ours.world),
        ("list", &stock.list, &ours.list),
        ("policies", &stock.policies, &ours.policies),
    ] {
        descend(&mut vec![what.to_owned()], theirs, ours, &mut report);
    }
    compare_calls(&stock_calls, &our_calls.by_resource, &mut report);
    found
}

/// Where other calls were made, they are reported together; where the same were made, what differs in them.
fn compare_calls(stock: &Value, ours: &Value, report: &mut impl FnMut(&[String], &Value, &Value)) {
    let groups =
        |calls: &Value| calls.as_object().into_iter().flatten().map(|(group, _)| group.clone()).collect();
    let (mut all, more): (BTreeSet<String>, BTreeSet<String>) = (groups(stock), groups(ours));
    all.extend(more);
    for group in all {
        let (theirs, mine) = (&stock[&group], &ours[&group]);
        let mut path = vec!["calls".to_owned(), group];
        if normal::methods(theirs) == normal::methods(mine) {
            descend(&mut path, theirs, mine, report);
        } else {
            report(&path, theirs, mine);
        }
    }
}

/// Walks two values together and reports the innermost places where they differ.
fn descend(
    path: &mut Vec<String>,
    stock: &Value,
    ours: &Value,
    report: &mut impl FnMut(&[String], &Value, &Value),
) {
    match (stock, ours) {
        (Value::Object(theirs), Value::Object(mine)) => {
            let keys: BTreeSet<&String> = theirs.keys().chain(mine.keys()).collect();
            for key in keys {
                path.push(key.clone());
                let absent = Value::Null;
                descend(path, theirs.get(key).unwrap_or(&absent), mine.get(key).unwrap_or(&absent), report);
                path.pop();
            }
        }
        (Value::Array(theirs), Value::Array(mine)) if theirs.len() == mine.len() => {
            for (at, (theirs, mine)) in theirs.iter().zip(mine).enumerate() {
                path.push(at.to_string());
                descend(path, theirs, mine, report);
                path.pop();
            }
        }
        _ if stock == ours => {}
        _ => report(path, stock, ours),
    }
}

/// Which resources depend on which, over several steps too.
struct Relations {
    edges: BTreeMap<String, BTreeSet<String>>,
}

impl Relations {
    fn of(states: [&Value; 2]) -> Self {
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let all = states.iter().flat_map(|state| state["resources"].as_object().into_iter().flatten());
        for (urn, resources) in all {
            for resource in resources.as_array().into_iter().flatten() {
                let single = [&resource["parent"], &resource["deletedWith"]];
                let listed = resource["dependencies"].as_array().into_iter().flatten();
                let referred = single.into_iter().chain(listed).filter_map(Value::as_str);
                edges.entry(urn.clone()).or_default().extend(referred.map(str::to_owned));
            }
        }
        Self { edges }
    }

    fn related(&self, first: &str, second: &str) -> bool {
        self.reaches(first, second) || self.reaches(second, first)
    }

    fn reaches(&self, from: &str, to: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(urn) = open.pop() {
            if urn == to {
                return true;
            }
            if seen.insert(urn) {
                open.extend(self.edges.get(urn).into_iter().flatten().map(String::as_str));
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A resource `b` that depends on `a`, after the calls given.
    fn observed(provider_id: &str, time: &str, size: u32, calls: &[(&str, &str)]) -> Observed {
        let provider = "urn:pulumi:dev::shop::pulumi:providers:ledger::default";
        let (a, b) =
            ("urn:pulumi:dev::shop::ledger:index:Item::a", "urn:pulumi:dev::shop::ledger:index:Item::b");
        let reference = format!("{provider}::{provider_id}");
        let export = json!({ "version": 3, "deployment": {
            "manifest": { "time": time },
            "resources": [
                { "urn": provider, "id": provider_id, "created": time, "modified": time },
                { "urn": a, "id": "a", "provider": reference, "inputs": { "size": size } },
                { "urn": b, "id": "b", "provider": reference, "dependencies": [a] },
            ],
        }});
        let (state, preview) = normal::state_and_preview(&export, Value::Null);
        let calls = calls
            .iter()
            .map(|(method, name)| {
                json!({ "method": method, "urn": format!("urn:pulumi:dev::shop::ledger:index:Item::{name}") })
            })
            .collect();
        let (command, printed) = ("up".to_owned(), String::new());
        let (list, policies) = (Value::Null, json!({}));
        Observed { command, code: 0, printed, state, preview, calls, world: json!({}), list, policies }
    }

    const FIRST: &str = "0a1b2c3d-0000-4000-8000-000000000001";
    const SECOND: &str = "0a1b2c3d-0000-4000-8000-000000000002";
    const CALLS: &[(&str, &str)] = &[("create", "a"), ("create", "b")];

    fn paths(stock: &Observed, ours: &Observed) -> Vec<String> {
        compare("test", stock, ours).into_iter().map(|difference| difference.path.join("/")).collect()
    }

    #[test]
    fn random_ids_and_times_do_not_differ() {
        let stock = observed(FIRST, "2026-01-02T03:04:05Z", 1, CALLS);
        assert_eq!(paths(&stock, &observed(SECOND, "2027-01-02T03:04:05Z", 1, CALLS)), [""; 0]);
    }

    #[test]
    fn a_property_that_differs_is_named() {
        let stock = observed(FIRST, "2026-01-02T03:04:05Z", 1, CALLS);
        let ours = observed(FIRST, "2026-01-02T03:04:05Z", 2, CALLS);
        let expected = "state/resources/urn:pulumi:dev::shop::ledger:index:Item::a/0/inputs/size";
        assert_eq!(paths(&stock, &ours), [expected]);
    }

    #[test]
    fn a_missing_call_and_another_order_are_seen() {
        let stock = observed(FIRST, "2026-01-02T03:04:05Z", 1, CALLS);
        let fewer = observed(FIRST, "2026-01-02T03:04:05Z", 1, &CALLS[..1]);
        assert!(
            paths(&stock, &fewer).contains(&"calls/urn:pulumi:dev::shop::ledger:index:Item::b".to_owned())
        );
        let swapped = observed(FIRST, "2026-01-02T03:04:05Z", 1, &[CALLS[1], CALLS[0]]);
        assert_eq!(paths(&stock, &swapped), ["order of changes/a and b/0", "order of changes/a and b/1"]);
    }
}
