//! Moments and pauses, by a clock that the test turns.

use crate::harness::Bench;
use drystone_engine::Provider;
use drystone_model::Value;
use serde_json::json;
use std::time::{Duration, Instant};

const NOW: &str = "2023-11-14T22:13:20Z";
const DAY: i64 = 86400;

#[test]
fn a_static_moment_stays() {
    let bench = Bench::new();
    let thing = bench.create("time:Static", &json!({}));
    assert_eq!((thing.id.as_str(), thing.text("rfc3339").as_str()), (NOW, NOW));
    let parts = ["year", "month", "day", "hour", "minute", "second", "unix"].map(|part| thing.output(part));
    assert_eq!(json!(parts), json!([2023, 11, 14, 22, 13, 20, 1_700_000_000]));
    bench.clock.pass(DAY);
    assert_eq!(bench.changes(&thing, &json!({})), [""; 0]);
    assert_eq!(bench.changes(&thing, &json!({ "triggers": { "a": "b" } })), ["add-replace triggers"]);
    let given = bench.create("time:Static", &json!({ "rfc3339": "2020-02-12T08:36:13+02:00" }));
    assert_eq!((given.output("hour"), given.id.as_str()), (json!(6), "2020-02-12T08:36:13+02:00"));
    assert_eq!(bench.import("time:Static", NOW).output("unix"), json!(1_700_000_000));
    assert!(bench.preview("time:Static", &json!({}))["rfc3339"].contains_unknowns());
}

#[test]
fn a_rotating_moment_is_replaced_when_its_time_is_over() {
    let bench = Bench::new();
    let program = json!({ "rotationDays": 30 });
    let thing = bench.create("time:Rotating", &program);
    assert_eq!(thing.text("rotationRfc3339"), "2023-12-14T22:13:20Z");
    bench.clock.pass(30 * DAY - 1);
    assert_eq!(bench.changes(&thing, &program), [""; 0]);
    bench.clock.pass(1);
    assert_eq!(bench.changes(&thing, &program), ["update-replace rotationRfc3339"]);
    assert!(bench.diff(&thing, &program).is_replace());
    // More time, given in time, keeps it; the beginning stays.
    let longer = json!({ "rotationDays": 31, "rotationHours": 1 });
    assert_eq!(bench.changes(&thing, &longer), ["update rotationDays", "add rotationHours"]);
    let updated = bench.update(&thing, &longer);
    assert_eq!(
        (updated.id.as_str(), updated.text("rotationRfc3339").as_str()),
        (NOW, "2023-12-15T23:13:20Z")
    );
    assert_eq!(updated.text("rfc3339"), NOW);
}

#[test]
fn a_given_end_rotates_once_and_a_given_beginning_never() {
    let bench = Bench::new();
    let program = json!({ "rotationRfc3339": "2023-11-15T00:00:00Z" });
    let thing = bench.create("time:Rotating", &program);
    bench.clock.pass(DAY);
    assert_eq!(bench.changes(&thing, &program), ["update-replace rotationRfc3339"]);
    let rotated = bench.create("time:Rotating", &program);
    assert_eq!(bench.changes(&rotated, &program), [""; 0]);
    let fixed = json!({ "rfc3339": NOW, "rotationHours": 1 });
    assert_eq!(bench.changes(&bench.create("time:Rotating", &fixed), &fixed), [""; 0]);
}

#[test]
fn a_month_after_its_last_day_is_the_next_one_s_last_day() {
    let bench = Bench::new();
    let program = json!({ "rfc3339": "2024-01-31T00:00:00Z", "rotationMonths": 1 });
    assert_eq!(bench.create("time:Rotating", &program).text("rotationRfc3339"), "2024-02-29T00:00:00Z");
}

#[test]
fn an_offset_counts_in_both_directions() {
    let bench = Bench::new();
    let program = json!({ "offsetYears": 1, "offsetDays": -14, "offsetSeconds": 5 });
    let thing = bench.create("time:Offset", &program);
    assert_eq!(thing.text("rfc3339"), "2024-10-31T22:13:25Z");
    assert_eq!((thing.id.as_str(), thing.output("month")), (NOW, json!(10)));
    bench.clock.pass(DAY);
    assert_eq!(bench.changes(&thing, &program), [""; 0]);
    let updated = bench.update(&thing, &json!({ "offsetMinutes": 1 }));
    assert_eq!(
        (updated.text("rfc3339").as_str(), updated.text("baseRfc3339").as_str()),
        ("2023-11-14T22:14:20Z", NOW)
    );
    let imported = bench.import("time:Offset", "2023-11-14T22:13:20Z,0,0,7,0,0,0");
    assert_eq!((imported.output("offsetDays"), imported.output("day")), (json!(7), json!(21)));
    for too_far in [json!({ "offsetYears": 99_999 }), json!({ "offsetSeconds": i64::MAX })] {
        assert_eq!(bench.failures("time:Offset", &too_far).len(), 1, "{too_far}");
    }
}

#[test]
fn rotating_moments_are_imported_by_duration_or_end() {
    let bench = Bench::new();
    let by_duration = bench.import("time:Rotating", "2023-11-14T22:13:20Z,0,0,30,0,0");
    assert_eq!(by_duration.output("rotationDays"), json!(30));
    // A program that leaves the beginning to the resource shows no change either.
    assert_eq!(bench.changes(&by_duration, &json!({ "rotationDays": 30 })), [""; 0]);
    let by_end = bench.import("time:Rotating", "2023-11-14T22:13:20Z,2023-11-15T22:13:20Z");
    assert_eq!(by_end.text("rotationRfc3339"), "2023-11-15T22:13:20Z");
    for wrong in ["now,0,0,1,0,0", "2023-11-14T22:13:20Z", "2023-11-14T22:13:20Z,1,2"] {
        assert!(bench.try_import("time:Rotating", wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_pause_takes_its_time_and_ends_when_it_is_cancelled() {
    let bench = Bench::new();
    let start = Instant::now();
    let thing = bench.create("time:Sleep", &json!({ "createDuration": "150ms", "destroyDuration": "1h30m" }));
    assert!(start.elapsed() >= Duration::from_millis(150));
    assert_eq!(
        bench.changes(&thing, &json!({ "createDuration": "1s" })),
        ["update createDuration", "delete destroyDuration"]
    );
    assert_eq!(bench.update(&thing, &json!({ "createDuration": "1h" })).id, thing.id);
    assert_eq!(bench.import("time:Sleep", "30s,1m").outputs["createDuration"], Value::from("30s"));
    bench.run(async {
        let soon = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            bench.provider.cancel().await
        };
        let deleting = bench.provider.delete(drystone_engine::DeleteArguments {
            urn: thing.urn.clone(),
            inputs: thing.inputs.clone(),
            ..Default::default()
        });
        let (deleted, _) = tokio::join!(deleting, soon);
        assert_eq!(deleted.unwrap_err().message, "the pause was cancelled");
    });
    assert!(start.elapsed() < Duration::from_secs(20));
}
