//! How an update that was followed ended.

use super::{Followed, Pace, Reading, Standing, Watch, operation, who};
use crate::display::{Closing, Display, counted};
use crate::moments::ago;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use drystone_dialects::pulumi::history::UpdateRecord;
use drystone_engine::{Ending, Event, Op, Summary};
use drystone_model::Json;
use drystone_stores::{At, Error as StoreError, LeaseInfo, Result as StoreResult, RevisionInfo};
use jiff::Timestamp;
use serde_json::json;
use std::time::{Duration, Instant};

/// How long somebody who puts a stack in order is waited for.
const ORDERING: Duration = Duration::from_secs(5);

/// What a holder that is gone left.
pub(super) enum Left {
    /// The record of its update.
    Record(UpdateRecord),
    /// It died or was cancelled, and somebody made that revision of what it had done.
    Recovered(u64),
    /// Nothing.
    Nothing,
    /// There is no such stack any more.
    NoStack,
}

impl Watch<'_> {
    /// The record of the last update that ended; one that cannot be read is none.
    pub(super) async fn latest(&self) -> StoreResult<Option<UpdateRecord>> {
        let records = self.store.updates(self.stack).await?;
        Ok(records.first().and_then(|record| UpdateRecord::read(record.text().as_bytes()).ok()))
    }

    /// Finds what a holder left. Whoever recovers an update makes a revision of what it began with, so that the record
    /// of a later one is not taken for its own.
    pub(super) async fn left_by(&self, lease: &LeaseInfo, reading: &Reading) -> StoreResult<Left> {
        let number = |revision: &RevisionInfo| u64::try_from(revision.number).unwrap_or(0);
        if reading.steps.is_some() {
            let revisions = self.store.revisions(self.stack).await?;
            let later = revisions.iter().filter(|revision| Some(number(revision)) > reading.base);
            let recovered = format!("recovered `{}`", lease.purpose);
            if let Some(revision) = later.into_iter().find(|revision| revision.title.starts_with(&recovered))
            {
                return Ok(Left::Recovered(number(revision)));
            }
        }
        let records = self.store.updates(self.stack).await?;
        if let Some(record) = own_record(&records, lease, reading.updates) {
            return Ok(Left::Record(record));
        }
        match self.store.snapshot(self.stack, At::Current).await {
            Ok(_) => Ok(Left::Nothing),
            Err(StoreError::NotFound { .. }) => Ok(Left::NoStack),
            Err(error) => Err(error),
        }
    }

    /// Says how the update of a holder that is gone ended.
    pub(super) async fn conclude(
        &self,
        lease: &LeaseInfo,
        reading: Reading,
        display: Display,
        began: Instant,
    ) -> Outcome<Followed> {
        let failed = Closing { ending: Ending::Failed, ..Closing::default() };
        match self.left_by(lease, &reading).await? {
            Left::Record(record) => self.ended(lease, reading, display, began, &record).await,
            Left::NoStack => {
                let destroyed = lease.purpose == "destroy";
                display.close(if destroyed { Closing::default() } else { failed })?;
                if destroyed {
                    terminal::note(format!("{} is destroyed and removed", self.stack));
                }
                Ok(Followed::Ended(if destroyed { Ok(()) } else { Err(self.removed()) }))
            }
            Left::Recovered(_) | Left::Nothing => {
                display.close(Closing { ending: Ending::Cancelled, ..Closing::default() })?;
                if let Some(next) = self.successor().await? {
                    terminal::note(format!("The lease was taken over by {}", next.describe()));
                    return Ok(Followed::TakenOver(next));
                }
                // Whoever took the lease may have needed a moment to record what was done.
                let left = self.left_by(lease, &reading).await?;
                let what = format!("the update of {} by {} ended without a result", self.stack, who(lease));
                let failure = match left {
                    Left::Recovered(revision) => Failure::general(what).hint(format!(
                        "it died or was cancelled; what it had done is recorded as revision {revision}"
                    )),
                    _ => Failure::general(what)
                        .hint("it died, was cancelled or could not begin; nothing of it was recorded"),
                };
                Ok(Followed::Ended(Err(failure)))
            }
        }
    }

    /// The update that goes on with the stack. Whoever only puts the stack in order, as `cancel` does, is waited for.
    async fn successor(&self) -> StoreResult<Option<LeaseInfo>> {
        let (began, mut pace) = (Instant::now(), Pace::default());
        loop {
            match self.standing().await? {
                Standing::Held(next) if operation(&next).is_some() => return Ok(Some(next)),
                Standing::Held(next) if !next.foreign && began.elapsed() < ORDERING => {
                    tokio::time::sleep(pace.next(false)).await;
                }
                _ => return Ok(None),
            }
        }
    }

    /// Shows the end of an update whose record is there.
    async fn ended(
        &self,
        lease: &LeaseInfo,
        mut reading: Reading,
        display: Display,
        began: Instant,
        record: &UpdateRecord,
    ) -> Outcome<Followed> {
        let events = display.events();
        let succeeded = record.result == "succeeded";
        let own = self.revision_of(lease).await?;
        let revision = own.as_ref().and_then(numbers);
        if let (Some(steps), Some((_, revision))) = (&mut reading.steps, revision) {
            // A revision that was pruned meanwhile tells nothing more.
            if let Ok(end) = self.store.snapshot(self.stack, At::Revision(revision)).await {
                let missed = steps.finish(&end.snapshot, succeeded, began.elapsed());
                missed.into_iter().for_each(|event| events.send(event));
            }
        }
        // Records count in whole seconds.
        let exactly = own.as_ref().and_then(|revision| time_between(&lease.since, &revision.time));
        events.send(Event::Summary(Summary {
            duration: exactly.unwrap_or_else(|| took(record)),
            ..summary(record)
        }));
        drop(events);
        let ending = if succeeded { Ending::Succeeded } else { Ending::Failed };
        display.close(Closing { ending, revision, ..Closing::default() })?;
        Ok(Followed::Ended(self.result(record)))
    }

    /// The revision that a holder made last.
    async fn revision_of(&self, lease: &LeaseInfo) -> StoreResult<Option<RevisionInfo>> {
        let revisions = self.store.revisions(self.stack).await?;
        Ok(revisions.into_iter().rev().find(|revision| {
            revision.title == lease.purpose
                && revision.by == who(lease)
                && time_between(&lease.since, &revision.time).is_some()
        }))
    }

    fn result(&self, record: &UpdateRecord) -> Outcome {
        if record.result == "succeeded" {
            return Ok(());
        }
        let failure =
            Failure::new(ExitCode::Resource, format!("the {} of {} failed", record.kind, self.stack));
        Err(failure.hint("whoever ran it was told why; `drystone stack history` has its record"))
    }

    pub(super) fn removed(&self) -> Failure {
        Failure::new(ExitCode::StackNotFound, format!("{} was removed or renamed while it was followed", self.stack))
            .hint("`drystone stack ls --all` lists what there is, `drystone stack restore` brings back what was removed")
    }

    /// Says that nothing runs, and how the last update went.
    pub(super) fn tell_last(&self, latest: Option<&UpdateRecord>) -> Outcome {
        if self.args.json {
            terminal::line(json!({ "running": false, "lastUpdate": latest.map(facts) }));
            return Ok(());
        }
        terminal::line(match latest {
            None => format!("No update of {} is running, and there was none yet", self.stack),
            Some(record) => format!("No update of {} is running. The last: {}", self.stack, words(record)),
        });
        Ok(())
    }

    /// Says how an update went whose steps could not be followed.
    pub(super) fn tell_over(&self, record: &UpdateRecord) -> Outcome {
        if self.args.json {
            terminal::line(json!({ "running": false, "lastUpdate": facts(record) }));
        } else {
            terminal::line(format!("The update of {} is over: {}", self.stack, words(record)));
        }
        self.result(record)
    }
}

/// The record that the holder of a lease wrote, among records that are newest first and of which `known` were there when
/// it was first looked at. One that was written just before that moment is the newest of those.
fn own_record(records: &[Json], lease: &LeaseInfo, known: usize) -> Option<UpdateRecord> {
    // Records have the same clock as the lease, in whole seconds.
    let taken = lease.since.parse::<Timestamp>().map_or(0, Timestamp::as_second);
    let (new, old) = records.split_at(records.len().saturating_sub(known));
    let read = |record: &Json| UpdateRecord::read(record.text().as_bytes()).ok();
    let since = |record: &UpdateRecord| record.start_time >= taken;
    new.iter().rev().filter_map(read).find(since).or_else(|| old.first().and_then(read).filter(since))
}

/// A revision's number, with that of the one before it.
fn numbers(revision: &RevisionInfo) -> Option<(Option<u64>, u64)> {
    let number = |number: i64| u64::try_from(number).ok();
    Some((revision.parent.and_then(number), number(revision.number)?))
}

/// The time from one moment to a later one.
fn time_between(from: &str, to: &str) -> Option<Duration> {
    let moment = |text: &str| text.parse::<Timestamp>().ok();
    Duration::try_from(moment(to)?.duration_since(moment(from)?)).ok()
}

fn took(record: &UpdateRecord) -> Duration {
    Duration::from_secs(u64::try_from(record.end_time.saturating_sub(record.start_time)).unwrap_or(0))
}

fn changes(record: &UpdateRecord) -> impl Iterator<Item = (Op, usize)> {
    let counts = record.resource_changes.iter();
    counts.filter_map(|(word, count)| Some((Op::parse(word)?, usize::try_from(*count).ok()?)))
}

/// An update's end as a display takes it.
fn summary(record: &UpdateRecord) -> Summary {
    Summary {
        changes: changes(record).collect(),
        duration: took(record),
        succeeded: record.result == "succeeded",
        ..Summary::default()
    }
}

/// An update in a phrase: `update 3 minutes ago, succeeded in 12s (+ 2 created, 5 unchanged)`.
fn words(record: &UpdateRecord) -> String {
    let began = Timestamp::from_second(record.start_time).unwrap_or_default();
    let mut parts: Vec<String> = changes(record)
        .filter(|(op, count)| *op != Op::Same && *count > 0)
        .map(|(op, count)| counted(op, count))
        .collect();
    parts.extend(
        changes(record).find(|(op, _)| *op == Op::Same).map(|(_, count)| format!("{count} unchanged")),
    );
    let counts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
    let (kind, result, took) = (&record.kind, &record.result, took(record).as_secs());
    let when = match ago(began, Timestamp::now()) {
        now if now == "now" => "just now".to_owned(),
        ago => ago,
    };
    format!("{kind} {when}, {result} in {took}s{counts}")
}

/// An update as scripts read it.
fn facts(record: &UpdateRecord) -> serde_json::Value {
    json!({
        "kind": record.kind,
        "result": record.result,
        "message": record.message,
        "startTime": record.start_time,
        "endTime": record.end_time,
        "resourceChanges": record.resource_changes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_the_holders_when_it_began_under_its_lease() {
        let record = |start: i64| Json::parse(format!(r#"{{"kind":"update","startTime":{start}}}"#)).unwrap();
        let lease = LeaseInfo { since: "1970-01-01T00:16:40.900Z".to_owned(), ..LeaseInfo::default() };
        let found = |starts: &[i64], known| {
            let records: Vec<Json> = starts.iter().map(|start| record(*start)).collect();
            own_record(&records, &lease, known).map(|record| record.start_time)
        };
        assert_eq!(found(&[1000], 0), Some(1000), "it began in the same second");
        assert_eq!(found(&[1005, 1001, 900], 1), Some(1001), "the first new one is its own");
        assert_eq!(found(&[1001, 1000], 1), Some(1001), "one before it began in the same second");
        assert_eq!(found(&[1000, 900], 2), Some(1000), "it was written just before the first look");
        assert_eq!(found(&[900], 1), None);
        assert_eq!(found(&[], 0), None);
    }

    #[test]
    fn an_update_is_told_in_a_phrase() {
        let start_time = Timestamp::now().as_second() - 180;
        let record = UpdateRecord {
            kind: "update".to_owned(),
            result: "succeeded".to_owned(),
            start_time,
            end_time: start_time + 12,
            resource_changes: [("create", 2), ("same", 5), ("update", 1), ("odd", 9)]
                .map(|(word, count)| (word.to_owned(), count))
                .into(),
            ..UpdateRecord::default()
        };
        assert_eq!(
            words(&record),
            "update 3 minutes ago, succeeded in 12s (+ 2 created, ~ 1 updated, 5 unchanged)"
        );
        let nothing = UpdateRecord { resource_changes: [].into(), ..record };
        assert_eq!(words(&nothing), "update 3 minutes ago, succeeded in 12s");
    }
}
