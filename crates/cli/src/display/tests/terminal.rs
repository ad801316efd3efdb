//! A terminal that understands as much as the live tree needs.

/// A screen with a cursor. What scrolls off the top is kept.
pub(super) struct Terminal {
    columns: usize,
    rows: usize,
    lines: Vec<String>,
    /// The line of the cursor; it is always at a line's start when it moves up or down.
    cursor: usize,
    column: usize,
}

impl Terminal {
    pub(super) fn new(columns: usize, rows: usize) -> Self {
        Self { columns, rows, lines: vec![String::new()], cursor: 0, column: 0 }
    }

    /// Does what a program wrote. Panics at what it does not know, and when the cursor moves over lines that do not
    /// fit.
    pub(super) fn write(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("\x1b[") {
                let end = after.find(|character: char| character.is_ascii_alphabetic()).unwrap();
                let (argument, command) = (&after[..end], &after[end..=end]);
                self.sequence(argument, command);
                rest = &after[end + 1..];
                continue;
            }
            let character = rest.chars().next().unwrap();
            self.character(character);
            rest = &rest[character.len_utf8()..];
        }
    }

    fn sequence(&mut self, argument: &str, command: &str) {
        match (argument, command) {
            ("?2026", "h" | "l") => {}
            ("", "K" | "J") => {
                let byte = self.byte();
                self.lines[self.cursor].truncate(byte);
                if command == "J" {
                    self.lines.truncate(self.cursor + 1);
                }
            }
            (count, "A") => {
                let count: usize = count.parse().unwrap();
                let top = self.lines.len().saturating_sub(self.rows);
                assert!(self.cursor >= top + count, "the cursor left the screen by its top");
                for line in &self.lines[self.cursor - count..self.cursor] {
                    let width = crate::display::text::width(line);
                    assert!(width < self.columns.max(2), "a line of {width} columns was broken: {line}");
                }
                self.cursor -= count;
            }
            (_, "m") => {}
            other => panic!("the terminal does not know {other:?}"),
        }
    }

    fn byte(&self) -> usize {
        let line = &self.lines[self.cursor];
        line.char_indices().nth(self.column).map_or(line.len(), |(at, _)| at)
    }

    fn character(&mut self, character: char) {
        match character {
            '\r' => self.column = 0,
            '\n' => {
                self.cursor += 1;
                self.column = 0;
                if self.cursor == self.lines.len() {
                    self.lines.push(String::new());
                }
            }
            _ => {
                let byte = self.byte();
                let line = &mut self.lines[self.cursor];
                if byte < line.len() {
                    line.remove(byte);
                }
                line.insert(byte, character);
                self.column += 1;
            }
        }
    }

    /// What stands there.
    pub(super) fn text(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|line| line.trim_end()).collect();
        lines.join("\n")
    }
}
