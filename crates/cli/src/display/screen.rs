//! The part of a terminal that is drawn again and again.

use super::text::{Line, Paint};
use std::io::{self, Write};

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// Draws frames over each other at the cursor. What is printed in between stays above.
#[derive(Debug)]
pub(super) struct Screen {
    paint: Paint,
    /// The widths of the lines that the last frame left on the terminal.
    drawn: Vec<usize>,
    /// The last frame, so that an equal one is not drawn.
    last: Vec<Line>,
}

impl Screen {
    pub(super) fn new(paint: Paint) -> Self {
        Self { paint, drawn: Vec::new(), last: Vec::new() }
    }

    /// Draws a frame over the last one.
    pub(super) fn draw(&mut self, frame: Vec<Line>, size: Size, out: &mut dyn Write) -> io::Result<()> {
        if frame == self.last {
            return Ok(());
        }
        let mut text = String::from(BEGIN);
        text.push_str(&self.back(size));
        for line in &frame {
            text.push_str(&line.render(self.paint));
            text.push_str("\x1b[K\n");
        }
        text.push_str(CLEAR_BELOW);
        text.push_str(END);
        self.drawn = frame.iter().map(Line::width).collect();
        self.last = frame;
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Takes the last frame away, so that lines can be printed in its place.
    pub(super) fn clear(&mut self, size: Size, out: &mut dyn Write) -> io::Result<()> {
        if self.drawn.is_empty() {
            return Ok(());
        }
        let text = format!("{}{CLEAR_BELOW}", self.back(size));
        self.drawn.clear();
        self.last.clear();
        out.write_all(text.as_bytes())
    }

    /// Moves the cursor to where the last frame begins. A terminal that became narrower has broken its lines.
    fn back(&self, size: Size) -> String {
        let columns = size.columns.max(1);
        let lines: usize = self.drawn.iter().map(|width| width.div_ceil(columns).max(1)).sum();
        match lines.min(size.rows.saturating_sub(1)) {
            0 => "\r".to_owned(),
            lines => format!("\r\x1b[{lines}A"),
        }
    }
}

/// Terminals that know these show a frame at once; the others ignore them.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";
const CLEAR_BELOW: &str = "\x1b[J";
