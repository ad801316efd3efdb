//! Texts of several lines, and what changes in them.

use super::text::printable;
use similar::{ChangeTag, TextDiff};

/// How many lines that stay are shown around those that change.
const AROUND: usize = 3;
/// How far a tab reaches.
const TAB: &str = "    ";
/// What stands below a line that no line break ends, where the other text has one.
const UNENDED: &str = "\\ no line break at the end";

/// Which text a line is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Old,
    New,
    Both,
}

/// What changes in a text, in the unified form: stretches with their places, each line with its side.
#[derive(Debug)]
pub(super) struct Compared {
    pub(super) lines: Vec<(Side, String)>,
}

impl Compared {
    pub(super) fn new(before: &str, after: &str) -> Self {
        let diff = TextDiff::from_lines(before, after);
        let ended = (before.ends_with('\n'), after.ends_with('\n'));
        // Line ends that both texts have in common say nothing.
        let returns = before.contains("\r\n") && after.contains("\r\n");
        let mut lines = Vec::new();
        for hunk in diff.unified_diff().context_radius(AROUND).iter_hunks() {
            lines.push((Side::Both, hunk.header().to_string()));
            let changes: Vec<(Side, &str)> = hunk
                .iter_changes()
                .map(|change| {
                    let side = match change.tag() {
                        ChangeTag::Delete => Side::Old,
                        ChangeTag::Insert => Side::New,
                        ChangeTag::Equal => Side::Both,
                    };
                    (side, change.value())
                })
                .collect();
            let shown = |text: &str| plain(text, returns).trim_end_matches(' ').to_owned();
            let looks =
                |side: Side| changes.iter().filter(move |(of, _)| *of == side).map(|(_, text)| shown(text));
            let old: Vec<String> = looks(Side::Old).collect();
            let hidden: Vec<String> = looks(Side::New).filter(|line| old.contains(line)).collect();
            for (side, text) in changes {
                let line = shown(text);
                // What looks the same and is not shows what cannot be seen.
                let unseen = side != Side::Both && hidden.contains(&line);
                lines.push((side, if unseen { visible(text) } else { line }));
                if !text.ends_with('\n') && ended.0 != ended.1 {
                    lines.push((side, UNENDED.to_owned()));
                }
            }
        }
        Self { lines }
    }
}

/// The lines of a text: tabs as spaces, control characters as escapes.
pub(super) fn text_lines(text: &str) -> Vec<String> {
    let returns = text.contains("\r\n");
    text.trim_end_matches('\n').split('\n').map(|line| plain(line, returns)).collect()
}

fn plain(line: &str, returns: bool) -> String {
    let line = line.trim_end_matches('\n');
    let line = if returns { line.trim_end_matches('\r') } else { line };
    printable(&line.replace('\t', TAB)).into_owned()
}

/// A line with its tabs, returns and last spaces to be seen.
fn visible(line: &str) -> String {
    let line = line.trim_end_matches('\n');
    let text = line.trim_end_matches(' ');
    format!("{}{}", printable(text), "·".repeat(line.len() - text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(before: &str, after: &str) -> String {
        let lines = Compared::new(before, after).lines;
        let line = |(side, text): (Side, String)| match side {
            Side::Old => format!("-{text}"),
            Side::New => format!("+{text}"),
            Side::Both => format!(" {text}"),
        };
        lines.into_iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_cannot_be_seen_is_shown_where_it_is_all_that_changes() {
        assert_eq!(told("a\n\tb\n", "a\n    b\n"), " @@ -1,2 +1,2 @@\n a\n-\\tb\n+    b");
        assert_eq!(told("a\nb  \n", "a\nb\n"), " @@ -1,2 +1,2 @@\n a\n-b··\n+b");
        assert_eq!(told("a\r\nb\n", "a\nb\n"), " @@ -1,2 +1,2 @@\n-a\\r\n+a\n b");
        assert_eq!(told("a\r\nb\r\n", "a\r\nc\r\n"), " @@ -1,2 +1,2 @@\n a\n-b\n+c");
    }

    #[test]
    fn a_line_break_at_the_end_that_comes_or_goes_is_told() {
        assert_eq!(told("a\nb\n", "a\nb"), " @@ -1,2 +1,2 @@\n a\n-b\n+b\n+\\ no line break at the end");
        assert_eq!(told("a\nb", "c\nb"), " @@ -1,2 +1,2 @@\n-a\n+c\n b");
    }

    #[test]
    fn control_characters_of_a_text_are_escaped() {
        assert_eq!(text_lines("a\u{1b}[31mb\n\tc\u{202e}\n"), ["a\\u{1b}[31mb", "    c\\u{202e}"]);
        assert_eq!(told("x\ny\u{7}\n", "x\nz\n"), " @@ -1,2 +1,2 @@\n x\n-y\\u{7}\n+z");
    }
}
