//! Lines of text with a tone each part, measured in columns.

use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What a part of a line says by its colour. Colour only helps: nothing is told by it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Tone {
    /// Nothing.
    #[default]
    Plain,
    /// It appears.
    Added,
    /// It goes, or it failed.
    Removed,
    /// It changes.
    Changed,
    /// It is replaced.
    Replaced,
    /// It is looked at or taken over.
    Read,
    /// It matters less.
    Faint,
    /// It matters.
    Strong,
    /// It needs attention.
    Warning,
    /// It needs attention now.
    Error,
}

impl Tone {
    fn style(self) -> anstyle::Style {
        use anstyle::AnsiColor;
        let plain = anstyle::Style::new();
        match self {
            Self::Plain => plain,
            Self::Added => AnsiColor::Green.on_default(),
            Self::Removed => AnsiColor::Red.on_default(),
            Self::Changed | Self::Warning => AnsiColor::Yellow.on_default(),
            Self::Replaced => AnsiColor::Magenta.on_default(),
            Self::Read => AnsiColor::Cyan.on_default(),
            Self::Faint => plain.dimmed(),
            Self::Strong => plain.bold(),
            Self::Error => AnsiColor::Red.on_default().bold(),
        }
    }
}

/// Whether colours are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// They are.
    Colors,
    /// They are not.
    None,
}

/// A line in parts. Holds no line breaks and no control characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line(Vec<(Tone, String)>);

impl Line {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self::toned(Tone::Plain, text)
    }

    pub(super) fn toned(tone: Tone, text: impl Into<String>) -> Self {
        Self(vec![(tone, text.into())])
    }

    /// Adds a part.
    pub(super) fn push(&mut self, tone: Tone, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.0.push((tone, text));
        }
    }

    /// The same line with another part at its end.
    pub(super) fn with(mut self, tone: Tone, text: impl Into<String>) -> Self {
        self.push(tone, text);
        self
    }

    /// Both lines as one.
    pub(super) fn joined(mut self, mut after: Self) -> Self {
        self.0.append(&mut after.0);
        self
    }

    /// The same line, further to the right.
    pub(super) fn indented(mut self, prefix: &str) -> Self {
        self.0.insert(0, (Tone::Plain, prefix.to_owned()));
        self
    }

    /// Fills it with spaces up to a column.
    pub(super) fn pad(&mut self, column: usize) {
        let width = self.width();
        if width < column {
            self.push(Tone::Plain, " ".repeat(column - width));
        }
    }

    /// How many columns it takes.
    pub(super) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| width(text)).sum()
    }

    /// Leaves what fits into a number of columns; what was cut ends with an ellipsis.
    pub(super) fn cut(&mut self, columns: usize) {
        if self.width() <= columns {
            return;
        }
        let mut room = columns.saturating_sub(1);
        let mut kept = Vec::new();
        for (tone, mut text) in std::mem::take(&mut self.0) {
            let end = fitting(&text, room);
            let whole = end == text.len();
            text.truncate(end);
            room -= width(&text);
            if !whole && columns > 0 {
                text.push('…');
            }
            kept.push((tone, text));
            if !whole {
                break;
            }
        }
        self.0 = kept;
    }

    /// The text, with colours where they are wanted and no spaces at the end.
    pub(super) fn render(&self, paint: Paint) -> String {
        let mut text = String::new();
        for (tone, part) in &self.0 {
            let style = tone.style();
            if paint == Paint::None || style == anstyle::Style::new() {
                text.push_str(part);
            } else {
                text.push_str(&format!("{style}{part}{style:#}"));
            }
        }
        let end = text.trim_end_matches(' ').len();
        text.truncate(end);
        text
    }
}

/// How many columns a text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// The text, or as much of it as fits with an ellipsis at its end.
pub(super) fn fit(text: &str, columns: usize) -> String {
    let mut line = Line::new(text);
    line.cut(columns);
    line.render(Paint::None)
}

/// How many bytes of a text fit into a number of columns.
fn fitting(text: &str, columns: usize) -> usize {
    let mut taken = 0;
    let beyond = text.char_indices().find(|(_, character)| {
        taken += character.width().unwrap_or(0);
        taken > columns
    });
    beyond.map_or(text.len(), |(at, _)| at)
}

/// A text that moves no cursor and turns no text around: control characters are written as escapes.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_unsafe(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

fn is_unsafe(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The lines of a message as they are shown: without colours and other control sequences, tabs as spaces.
pub(super) fn message_lines(message: &str) -> Vec<String> {
    let plain = strip_sequences(message);
    let lines = plain.trim_end_matches(['\n', '\r']).split('\n');
    lines.map(|line| printable(&line.trim_end_matches('\r').replace('\t', "    ")).into_owned()).collect()
}

/// A message without the control sequences of terminals.
pub(super) fn strip_sequences(message: &str) -> Cow<'_, str> {
    if message.contains('\u{1b}') {
        Cow::Owned(anstream::adapter::strip_str(message).to_string())
    } else {
        Cow::Borrowed(message)
    }
}

/// How long something took: `0.1s`, `3s`, `4m12s`, `1h02m`.
pub(super) fn duration(time: std::time::Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 => format!("0.{}s", time.subsec_millis() / 100),
        1..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// How long something took that is over; nothing where that is not known.
pub(super) fn spent(time: std::time::Duration) -> String {
    if time.is_zero() { String::new() } else { duration(time) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_line_is_cut_by_columns_not_by_letters() {
        let mut line = Line::new("漢字").with(Tone::Added, "abc").with(Tone::Plain, "def");
        assert_eq!(line.width(), 10);
        line.cut(10);
        assert_eq!(line.render(Paint::None), "漢字abcdef");
        for (columns, text) in [(9, "漢字abcd…"), (8, "漢字abc…"), (7, "漢字ab…"), (4, "漢…"), (1, "…")]
        {
            let mut cut = line.clone();
            cut.cut(columns);
            assert_eq!(cut.render(Paint::None), text, "{columns}");
            assert!(cut.width() <= columns);
        }
    }

    #[test]
    fn control_characters_reach_no_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\u{202e}c"), "a\\u{1b}[2Jb\\u{202e}c");
        assert_eq!(message_lines("\u{1b}[31mred\u{1b}[0m\n\tnext\r\n\n"), ["red", "    next"]);
    }

    #[test]
    fn durations_are_told_in_two_units() {
        for (millis, text) in [
            (0, "0.0s"),
            (120, "0.1s"),
            (3_900, "3s"),
            (252_000, "4m12s"),
            (61_000, "1m01s"),
            (3_720_000, "1h02m"),
        ] {
            assert_eq!(duration(Duration::from_millis(millis)), text);
        }
    }
}
