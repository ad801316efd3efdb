//! Values, moments and locks as they are shown, and JSON as the tool prints it.

use crate::terminal;
use drystone_dialects::cdkd::{Lock, Members, pretty};
use drystone_model::{Json, text};
use drystone_stores::cdkd::LockFile;
use jiff::Timestamp;
use serde::Serialize;
use std::cmp::Ordering;

/// Prints a value as `JSON.stringify(…, null, 2)` does.
pub(super) fn print_json(value: &impl Serialize) {
    terminal::line(String::from_utf8_lossy(&pretty(value)));
}

/// Prints lines of data.
pub(super) fn print_lines(lines: &[String]) {
    terminal::data(&lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>());
}

/// A moment as an ISO 8601 time with milliseconds; `None` for one that is not known.
pub(super) fn moment(milliseconds: i64) -> Option<String> {
    let moment = Timestamp::from_millisecond(milliseconds).ok().filter(|_| milliseconds > 0)?;
    Some(moment.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}

/// The members of an object; none for anything else.
pub(super) fn members(value: Option<&Json>) -> Members<Json> {
    value.and_then(|value| value.decode().ok()).unwrap_or_default()
}

/// A value on one line: texts and numbers as they are, the rest as JSON.
pub(super) fn inline(value: &Json) -> String {
    match value.decode::<String>() {
        Ok(text) => plain(&text),
        Err(_) => plain(&String::from_utf8_lossy(&text::compact(value.text().as_bytes()))),
    }
}

/// A text that does nothing to the terminal: no escapes, no line of its own, no change of direction.
pub(super) fn plain(text: &str) -> String {
    let is_harmless = |c: &char| {
        !c.is_control()
            && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    text.chars().filter(is_harmless).collect()
}

/// Names in the order of a dictionary, small letters before large ones that are otherwise the same.
pub(super) fn by_dictionary(one: &str, other: &str) -> Ordering {
    let folded = |text: &str| text.to_lowercase();
    folded(one).cmp(&folded(other)).then_with(|| other.cmp(one))
}

/// `45s`, `29m35s`.
fn span(milliseconds: i64) -> String {
    match milliseconds / 1000 {
        seconds if seconds < 60 => format!("{seconds}s"),
        seconds => format!("{}m{}s", seconds / 60, seconds % 60),
    }
}

/// Who holds a stack, for what, and for how long that is to be believed.
pub(super) fn lock_line(lock: &LockFile, now: i64) -> String {
    match lock {
        LockFile::Absent => "unlocked".to_owned(),
        LockFile::Unreadable(reason) => format!("unreadable: {reason}"),
        LockFile::Held(lock) => format!("locked by {}", holder(lock, now)),
    }
}

/// The same of a lock that was read.
pub(super) fn holder(lock: &Lock, now: i64) -> String {
    let operation = lock.operation.as_deref().map(|operation| format!(" (operation: {})", plain(operation)));
    let end = match lock.expires_at.map(|expires| expires.saturating_sub(now)) {
        None => "never expires".to_owned(),
        Some(left) if left > 0 => format!("expires in {}", span(left)),
        Some(left) => format!("expired {} ago", span(left.saturating_neg())),
    };
    format!("{}{}, {end}", plain(&lock.owner), operation.unwrap_or_default())
}

/// The time now, in milliseconds since 1970.
pub(super) fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_rewrite_the_terminal() {
        let value = Json::parse(r#""a\u001b[2Jb\n\u202ec""#).unwrap();
        assert_eq!(inline(&value), "a[2Jbc");
        assert_eq!(inline(&Json::parse(r#"{ "a": [1, "x\u0007"] }"#).unwrap()), r#"{"a":[1,"x\u0007"]}"#);
        assert_eq!(inline(&Json::parse("12345678901234567890").unwrap()), "12345678901234567890");
    }

    #[test]
    fn names_stand_as_in_a_dictionary() {
        let mut names = ["Zone", "apple", "Apple", "b10", "B9", "1st"];
        names.sort_by(|one, other| by_dictionary(one, other));
        assert_eq!(names, ["1st", "apple", "Apple", "b10", "B9", "Zone"]);
    }

    #[test]
    fn a_lock_says_whose_it_is_and_for_how_long() {
        let lock = |expires_at| Lock {
            owner: "ana@laptop:1".to_owned(),
            operation: Some("deploy".to_owned()),
            expires_at,
            ..Lock::default()
        };
        assert_eq!(holder(&lock(Some(1_775_000)), 0), "ana@laptop:1 (operation: deploy), expires in 29m35s");
        assert_eq!(holder(&lock(Some(0)), 45_999), "ana@laptop:1 (operation: deploy), expired 45s ago");
        assert_eq!(holder(&lock(None), 0), "ana@laptop:1 (operation: deploy), never expires");
        assert_eq!(moment(1_794_767_498_943).as_deref(), Some("2026-11-15T18:31:38.943Z"));
    }
}
