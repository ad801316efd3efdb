//! States of cdkd's stacks: whatever happens while they are saved, the record is true.

#![allow(clippy::unwrap_used)]

mod bucket;
mod machine;

use bucket::TestBucket;
use drystone_dialects::cdkd::{
    Event, EventType, ExportIndex, Import, Reason, Resource, RunId, RunResult, RunSummary, Segment, StackKey,
    StackState,
};
use drystone_model::Json;
use drystone_stores::cdkd::{
    CdkdOptions, CdkdStore, Contents, Error, HeldStack, Indexed, LockFile, LockPatience, Summary,
};
use machine::TestMachine;
use object_store::ObjectStore;
use std::sync::Arc;
use std::time::Duration;

const STATE: &str = "cdkd/Shop/us-east-1/state.json";
const LEGACY: &str = "cdkd/Shop/state.json";
const EXPORTS: &str = "cdkd/_index/us-east-1/exports.json";
const IDS: [&str; 3] = ["A", "B", "C"];

fn key() -> StackKey {
    named("Shop")
}

fn named(stack: &str) -> StackKey {
    StackKey::parse(stack, "us-east-1").unwrap()
}

struct Bench {
    bucket: Arc<TestBucket>,
    machine: Arc<TestMachine>,
}

impl Bench {
    fn new() -> Self {
        Self { bucket: TestBucket::new(), machine: TestMachine::new() }
    }

    fn client(&self) -> CdkdStore {
        let bucket: Arc<dyn ObjectStore> = Arc::<TestBucket>::clone(&self.bucket);
        let machine = Arc::<TestMachine>::clone(&self.machine);
        CdkdStore::with(bucket, "s3://state", machine, CdkdOptions::default())
    }

    async fn held(&self) -> HeldStack {
        acquire(&self.client()).await.unwrap()
    }

    /// What a run left that died: its lock expires, and the next one's connection is good.
    fn recover(&self) {
        self.bucket.mend();
        self.machine.advance(Duration::from_secs(31 * 60));
    }
}

async fn acquire(store: &CdkdStore) -> Result<HeldStack, Error> {
    store.acquire(&key(), "deploy", LockPatience::ONCE).await
}

fn resource(id: &str) -> Resource {
    Resource {
        physical_id: format!("physical-{id}"),
        resource_type: "AWS::SQS::Queue".to_owned(),
        properties: Some(Json::parse("{}").unwrap()),
        ..Resource::default()
    }
}

fn ids(state: &StackState) -> Vec<&str> {
    state.resources.iter().map(|(id, _)| id).collect()
}

fn url() -> Json {
    Json::parse("\"https://shop\"").unwrap()
}

/// A deployment, until the first request that fails; what it was told is recorded is noted.
async fn deploy(store: &CdkdStore, recorded: &mut Vec<&'static str>) -> Result<Indexed, Error> {
    let held = acquire(store).await?;
    held.begin().await?;
    for id in IDS {
        held.save_resource(id, resource(id)).await?;
        recorded.push(id);
    }
    held.record(|state| {
        state.outputs.insert("Url", url());
        state.imports = Some(vec![Import { source_stack: "Net".into(), ..Import::default() }]);
    })
    .await?;
    let indexed = held.update_exports().await;
    held.release().await?;
    Ok(indexed)
}

#[tokio::test]
async fn s02_every_write_of_a_first_deployment_cut_in_turn_leaves_a_true_record() {
    let mut cuts = 0;
    for carried_out in [false, true] {
        for after in 0.. {
            let bench = Bench::new();
            bench.bucket.cut_after(after, carried_out);
            let mut recorded = Vec::new();
            let _ = deploy(&bench.client(), &mut recorded).await;
            if !bench.bucket.is_cut() {
                break;
            }
            cuts += 1;
            bench.bucket.mend();
            let there = bench.client().state(&key()).await.unwrap();
            let there = there.as_ref().map(ids).unwrap_or_default();
            // All that was said to be recorded is; what was under way may be.
            assert!(there.len() == recorded.len() || there.len() == recorded.len() + 1, "{after}: {there:?}");
            assert_eq!(there, IDS[..there.len()], "cut after {after}");
            bench.recover();
            deploy(&bench.client(), &mut Vec::new()).await.unwrap();
            let state = bench.client().state(&key()).await.unwrap().unwrap();
            assert_eq!((ids(&state), state.outputs.len()), (IDS.to_vec(), 1));
            let exports = bench.client().exports(&key().region).await.unwrap();
            assert!(exports.exports.contains("Url"));
            assert_eq!(bench.bucket.paths().await, [STATE, EXPORTS]);
        }
    }
    // The lock, the first state, three resources, the outputs, the index, the proof that the lock is ours, its end.
    assert_eq!(cuts, 2 * 9);
}

/// A destruction, until the first request that fails; what it was told is recorded is noted.
async fn destroy(store: &CdkdStore, gone: &mut Vec<&'static str>) -> Result<(), Error> {
    let held = store.acquire(&key(), "destroy", LockPatience::ONCE).await?;
    let state = held.state();
    for id in IDS.iter().rev().filter(|id| state.resources.contains(id)) {
        held.destroyed_resource(id).await?;
        gone.push(*id);
    }
    held.remove_state().await?;
    held.update_exports().await;
    held.release().await?;
    Ok(())
}

#[tokio::test]
async fn s02_every_write_of_a_destruction_cut_in_turn_leaves_a_record_of_what_is_left() {
    let mut cuts = 0;
    for carried_out in [false, true] {
        for after in 0.. {
            let bench = Bench::new();
            deploy(&bench.client(), &mut Vec::new()).await.unwrap();
            bench.bucket.cut_after(after, carried_out);
            let mut gone = Vec::new();
            let _ = destroy(&bench.client(), &mut gone).await;
            if !bench.bucket.is_cut() {
                break;
            }
            cuts += 1;
            bench.bucket.mend();
            if let Some(state) = bench.client().state(&key()).await.unwrap() {
                let left = ids(&state);
                assert!(gone.iter().all(|id| !left.contains(id)), "{after}: {left:?}");
                assert!(left.len() + gone.len() + 1 >= IDS.len(), "{after}: {left:?}");
                let intact = left.len() == IDS.len();
                assert_eq!((state.outputs.is_empty(), state.imports.is_none()), (!intact, !intact));
            } else {
                assert_eq!(gone.len(), IDS.len(), "{after}: nothing is forgotten");
            }
            bench.recover();
            destroy(&bench.client(), &mut Vec::new()).await.unwrap();
            assert_eq!(bench.bucket.paths().await, [EXPORTS]);
            assert!(bench.client().exports(&key().region).await.unwrap().exports.is_empty());
        }
    }
    assert!(cuts >= 2 * 8, "{cuts}");
}

#[tokio::test]
async fn s11_lost_answers_change_nothing() {
    for every in 2..9 {
        let bench = Bench::new();
        bench.bucket.lose_answers(every);
        assert_eq!(deploy(&bench.client(), &mut Vec::new()).await.unwrap(), Indexed::Written, "{every}");
        let state = bench.client().state(&key()).await.unwrap().unwrap();
        assert_eq!(ids(&state), IDS);
        destroy(&bench.client(), &mut Vec::new()).await.unwrap();
        assert_eq!(bench.bucket.paths().await, [EXPORTS]);
    }
}

#[tokio::test]
async fn s04_what_another_process_wrote_is_not_overwritten() {
    let theirs = r#"{"version":8,"stackName":"Shop","region":"us-east-1","resources":{},"outputs":{}}"#;
    // The first save, a later one, and the deletion.
    let bench = Bench::new();
    let held = bench.held().await;
    bench.bucket.write(STATE, theirs).await;
    assert!(matches!(held.begin().await, Err(Error::Conflict { .. })));
    assert!(matches!(held.remove_state().await, Err(Error::Conflict { .. })));
    held.release().await.unwrap();
    let held = bench.held().await;
    held.save_resource("A", resource("A")).await.unwrap();
    bench.bucket.write(STATE, theirs).await;
    assert!(matches!(held.save_resource("B", resource("B")).await, Err(Error::Conflict { .. })));
    assert!(matches!(held.remove_state().await, Err(Error::Conflict { .. })));
    assert_eq!(bench.bucket.text(STATE).await.unwrap(), theirs);
}

#[tokio::test]
async fn s02_saves_at_the_same_time_share_writes_and_all_are_recorded() {
    let bench = Bench::new();
    let held = bench.held().await;
    held.begin().await.unwrap();
    bench.bucket.mend();
    bench.bucket.mix_requests(7);
    let names: Vec<String> = (0..50).map(|number| format!("R{number}")).collect();
    let saves = names.iter().map(|id| held.save_resource(id, resource(id)));
    futures::future::try_join_all(saves).await.unwrap();
    assert!(bench.bucket.writes() < 10, "{} writes", bench.bucket.writes());
    bench.bucket.mend();
    let state = bench.client().state(&key()).await.unwrap().unwrap();
    assert_eq!(ids(&state), names);
    held.forget_resource("R7").await.unwrap();
    assert!(!bench.client().state(&key()).await.unwrap().unwrap().resources.contains("R7"));
    held.release().await.unwrap();
}

#[tokio::test]
async fn a_save_that_failed_and_landed_does_not_stand_in_the_way_of_the_next() {
    let bench = Bench::new();
    let held = bench.held().await;
    held.begin().await.unwrap();
    // Carried out, but the connection is gone before anybody can tell.
    bench.bucket.cut_after(0, true);
    assert!(held.save_resource("A", resource("A")).await.is_err());
    bench.bucket.mend();
    held.save_resource("B", resource("B")).await.unwrap();
    assert_eq!(ids(&bench.client().state(&key()).await.unwrap().unwrap()), ["A", "B"]);
    held.release().await.unwrap();
}

fn legacy(region: Option<&str>) -> String {
    let region = region.map(|region| format!("\"region\":\"{region}\",")).unwrap_or_default();
    format!(
        r#"{{"version":1,"stackName":"Shop",{region}"resources":{{"A":{{"physicalId":"a","resourceType":"T","properties":{{}}}}}},"outputs":{{}},"lastModified":1}}"#
    )
}

#[tokio::test]
async fn s15_a_legacy_state_is_read_where_its_region_fits_and_moved_by_the_next_save() {
    for (region, fits, is_ours) in
        [(Some("us-east-1"), true, true), (None, true, false), (Some("eu-west-1"), false, false)]
    {
        let bench = Bench::new();
        bench.bucket.write(LEGACY, legacy(region)).await;
        assert_eq!(bench.client().state(&key()).await.unwrap().is_some(), fits, "{region:?}");
        // Deleted for the region that it names, and for no other.
        let held = bench.held().await;
        held.remove_state().await.unwrap();
        assert_eq!(bench.bucket.text(LEGACY).await.is_none(), is_ours, "{region:?}");
        held.release().await.unwrap();
        bench.bucket.write(LEGACY, legacy(region)).await;
        let held = bench.held().await;
        assert_eq!(held.is_recorded().await, fits);
        held.save_resource("B", resource("B")).await.unwrap();
        let state = bench.client().state(&key()).await.unwrap().unwrap();
        assert_eq!((state.version, state.region.as_str()), (8, "us-east-1"));
        assert_eq!(ids(&state), if fits { vec!["A", "B"] } else { vec!["B"] });
        assert_eq!(bench.bucket.text(LEGACY).await.is_none(), fits, "{region:?}");
    }
}

#[tokio::test]
async fn s15_every_write_of_a_migration_cut_in_turn_keeps_the_state() {
    for carried_out in [false, true] {
        for after in 0.. {
            let bench = Bench::new();
            bench.bucket.write(LEGACY, legacy(Some("us-east-1"))).await;
            let held = bench.held().await;
            bench.bucket.cut_after(after, carried_out);
            let saved = held.save_resource("B", resource("B")).await;
            let was_cut = bench.bucket.is_cut();
            bench.bucket.mend();
            let state = bench.client().state(&key()).await.unwrap().unwrap();
            assert!(saved.is_err() || ids(&state) == ["A", "B"], "{:?}", ids(&state));
            assert!(ids(&state) == ["A"] || ids(&state) == ["A", "B"], "{:?}", ids(&state));
            if !was_cut {
                break;
            }
            drop(held);
            bench.recover();
            let held = bench.held().await;
            held.save_resource("B", resource("B")).await.unwrap();
            held.remove_state().await.unwrap();
            assert_eq!(bench.client().state(&key()).await.unwrap(), None, "no old state comes back");
            held.release().await.unwrap();
        }
    }
}

#[tokio::test]
async fn s09_one_bad_stack_does_not_spoil_the_listing_of_the_others() {
    let bench = Bench::new();
    deploy(&bench.client(), &mut Vec::new()).await.unwrap();
    let write = async |path: &str, text: &str| bench.bucket.write(path, text).await;
    write("cdkd/Newer/us-east-1/state.json", r#"{"version":9,"resources":{}}"#).await;
    write("cdkd/Half/us-east-1/state.json", r#"{"version":8,"resou"#).await;
    write("cdkd/Half/us-east-1/lock.json", "{").await;
    write("cdkd/Shop/eu-west-1/state.json", r#"{"version":2,"resources":{}}"#).await;
    write("cdkd/Shop/eu-west-1/lock.json", r#"{"owner":"o","timestamp":1}"#).await;
    write("cdkd/Parent~Child/us-east-1/state.json", r#"{"version":6,"resources":{},"parentStack":"Parent"}"#)
        .await;
    write("cdkd/Old/state.json", r#"{"version":1,"resources":{}}"#).await;
    write(LEGACY, &legacy(Some("us-east-1"))).await;
    for foreign in
        ["cdkd/notes.txt", "cdkd/Shop/us-east-1/x/state.json", "cdkd/Shop/US/state.json", "cdkdx/a"]
    {
        write(foreign, "?").await;
    }
    let summaries = bench.client().summaries(Contents::StatesAndLocks).await.unwrap();
    let told: Vec<String> = summaries.iter().map(tell).collect();
    let expected = [
        "Half us-east-1 s3://state/cdkd/Half/us-east-1/state.json: it is cut off after 19 bytes, in `resou` locked?",
        "Newer us-east-1 s3://state/cdkd/Newer/us-east-1/state.json: its schema version 9 is newer than the newest one known, 8",
        "Old - 0",
        "Parent~Child us-east-1 0",
        "Shop eu-west-1 0 locked",
        "Shop us-east-1 3",
    ];
    assert_eq!(told, expected);
    assert_eq!(bench.client().stacks().await.unwrap().len(), 6);
    let error = bench.client().state(&named("Half")).await.unwrap_err();
    assert!(error.to_string().starts_with("s3://state/cdkd/Half/us-east-1/state.json: "), "{error}");
}

fn tell(summary: &Summary) -> String {
    let region = summary.listed.region.as_ref().map_or("-", |region| region.as_str());
    let state = match &summary.state {
        Ok(state) => state.resources.len().to_string(),
        Err(error) => error.to_string(),
    };
    let lock = match &summary.lock {
        LockFile::Absent => "",
        LockFile::Held(_) => " locked",
        LockFile::Unreadable(_) => " locked?",
    };
    format!("{} {region} {state}{lock}", summary.listed.stack)
}

#[tokio::test]
async fn the_exports_index_is_made_again_when_missing_or_damaged_and_never_fails_anything() {
    let bench = Bench::new();
    assert_eq!(deploy(&bench.client(), &mut Vec::new()).await.unwrap(), Indexed::Written);
    assert_eq!(deploy(&bench.client(), &mut Vec::new()).await.unwrap(), Indexed::Unchanged);
    let whole = bench.bucket.text(EXPORTS).await.unwrap();
    let index = ExportIndex::read(whole.as_bytes()).unwrap();
    assert_eq!(index.exports.get("Url").unwrap().producer_stack, "Shop");
    let store = bench.client();
    let other = named("Other");
    let mut state = StackState::new(&other);
    state.outputs.insert("Mine", url());
    for damaged in [Some("{"), Some("[]"), Some("{}"), None] {
        match damaged {
            Some(text) => bench.bucket.write(EXPORTS, text).await,
            None => bench.bucket.delete_as_others(EXPORTS).await,
        }
        assert!(store.exports(&key().region).await.unwrap().exports.contains("Url"));
        assert_eq!(store.update_exports(&other, Some(&state)).await, Indexed::Written, "{damaged:?}");
        let index = ExportIndex::read(bench.bucket.text(EXPORTS).await.unwrap().as_bytes()).unwrap();
        assert_eq!(index.exports.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["Url", "Mine"]);
    }
    assert_eq!(store.update_exports(&other, None).await, Indexed::Written);
    assert_eq!(store.update_exports(&other, None).await, Indexed::Unchanged);
    let newer = r#"{"indexVersion":2,"exports":"another shape"}"#;
    bench.bucket.write(EXPORTS, newer).await;
    assert!(matches!(store.update_exports(&other, Some(&state)).await, Indexed::GivenUp(_)));
    assert!(matches!(store.exports(&key().region).await, Err(Error::Read { .. })));
    assert_eq!(bench.bucket.text(EXPORTS).await.unwrap(), newer);
}

#[tokio::test]
async fn two_who_change_the_exports_at_once_both_do() {
    let bench = Bench::new();
    bench.bucket.mix_requests(11);
    let stacks: Vec<(StackKey, StackState)> = (0..4)
        .map(|number| {
            let key = named(&format!("S{number}"));
            let mut state = StackState::new(&key);
            state.outputs.insert(format!("O{number}"), url());
            (key, state)
        })
        .collect();
    let store = bench.client();
    let all =
        futures::future::join_all(stacks.iter().map(|(key, state)| store.update_exports(key, Some(state))))
            .await;
    assert!(all.iter().all(|indexed| *indexed == Indexed::Written), "{all:?}");
    assert_eq!(store.exports(&key().region).await.unwrap().exports.len(), 4);
}

#[tokio::test]
async fn journals_grow_and_shrink_and_go_with_the_state() {
    let bench = Bench::new();
    let held = bench.held().await;
    let path = "cdkd/Shop/us-east-1/rollback-journal.json";
    let segment = |timestamp| Segment { timestamp, reason: Reason::Interrupted, ..Segment::default() };
    held.append_to_journal(segment(1)).await.unwrap();
    held.append_to_journal(segment(2)).await.unwrap();
    let journal = bench.client().rollback_journal(&key()).await.unwrap().unwrap();
    assert_eq!(journal.segments.iter().map(|segment| segment.timestamp).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(held.pop_from_journal().await.unwrap(), 1);
    assert_eq!(held.pop_from_journal().await.unwrap(), 0);
    assert_eq!(bench.bucket.text(path).await, None);
    held.append_to_journal(segment(3)).await.unwrap();
    held.begin().await.unwrap();
    held.remove_state().await.unwrap();
    assert_eq!(bench.bucket.text(path).await, None);
    held.append_to_journal(segment(4)).await.unwrap();
    held.drop_journal().await.unwrap();
    assert_eq!(held.pop_from_journal().await.unwrap(), 0);
    held.release().await.unwrap();
}

#[tokio::test]
async fn runs_are_told_of_without_their_index_too() {
    let bench = Bench::new();
    let folder = "cdkd/Shop/us-east-1/deployments";
    let started = r#"{"timestamp":"t","eventType":"RUN_STARTED","stackName":"Shop","command":"destroy"}"#;
    let finished = r#"{"timestamp":"u","eventType":"RUN_FINISHED","stackName":"Shop","result":"SUCCEEDED"}"#;
    bench.bucket.write(&format!("{folder}/1-a.jsonl"), format!("{started}\n{finished}\n")).await;
    bench.bucket.write(&format!("{folder}/2-b.jsonl"), format!("{started}\n")).await;
    bench.bucket.write(&format!("{folder}/3-c.jsonl"), "{\"timestamp\":").await;
    bench.bucket.write(&format!("{folder}/index.json"), "{}").await;
    let runs = bench.client().runs(&key()).await.unwrap();
    let told: Vec<(&str, &RunResult)> = runs.iter().map(|run| (run.run_id.as_str(), &run.result)).collect();
    let unknown = &RunResult::Unknown;
    assert_eq!(told, [("3-c", unknown), ("2-b", unknown), ("1-a", &RunResult::Succeeded)]);
    let index = r#"{"indexVersion":1,"runs":[{"runId":"9-z","result":"FAILED"}]}"#;
    bench.bucket.write(&format!("{folder}/index.json"), index).await;
    assert_eq!(bench.client().runs(&key()).await.unwrap()[0].result, RunResult::Failed);
    let missing = RunId::parse("4-d").unwrap();
    assert_eq!(bench.client().events(&key(), &missing).await.unwrap(), None);
}

#[tokio::test]
async fn the_last_twenty_runs_are_kept_with_their_events() {
    let bench = Bench::new();
    let store = bench.client();
    for number in 0..23 {
        let run = RunId::new(&format!("2026-11-15T18:31:38.{number:03}Z"), "704fe09b");
        let mut events = vec![Event { event_type: EventType::RunStarted, ..Event::default() }];
        store.write_events(&key(), &run, &events).await.unwrap();
        let result = Some(RunResult::Succeeded);
        events.push(Event { event_type: EventType::RunFinished, result, ..Event::default() });
        store.finish_run(&key(), RunSummary::of(run, &events), &events).await.unwrap();
    }
    let runs = store.runs(&key()).await.unwrap();
    assert_eq!((runs.len(), runs[0].run_id.as_str()), (20, "20261115T183138022Z-704fe09b"));
    assert_eq!(store.events(&key(), &runs[19].run_id).await.unwrap().unwrap().len(), 2);
    assert_eq!(bench.bucket.paths().await.len(), 21);
    bench.bucket.delete_as_others("cdkd/Shop/us-east-1/deployments/index.json").await;
    assert_eq!(store.runs(&key()).await.unwrap(), runs);
}
