//! Lines with the time before each.

use jiff::Zoned;
use std::io::{self, Write};

/// The time of day where we are, to the millisecond.
pub(crate) fn time_of_day() -> String {
    Zoned::now().strftime("%H:%M:%S%.3f").to_string()
}

/// Writes on, with the time before each line that is not empty.
pub(super) struct Stamped<W> {
    to: W,
    clock: fn() -> String,
    at_start: bool,
}

impl<W: Write> Stamped<W> {
    pub(super) fn new(to: W) -> Self {
        Self { to, clock: time_of_day, at_start: true }
    }
}

impl<W: Write> Write for Stamped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if std::mem::replace(&mut self.at_start, line.ends_with(b"\n")) && line != b"\n" {
                write!(self.to, "{}  ", (self.clock)())?;
            }
            self.to.write_all(line)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_the_time_once() {
        let mut stamped = Stamped { to: Vec::new(), clock: || "12:00".to_owned(), at_start: true };
        for part in ["one\ntw", "o\n\nthr", "ee\n"] {
            stamped.write_all(part.as_bytes()).unwrap();
        }
        assert_eq!(String::from_utf8(stamped.to).unwrap(), "12:00  one\n12:00  two\n\n12:00  three\n");
    }

    #[test]
    fn the_time_of_day_has_milliseconds() {
        let time = time_of_day();
        assert!(time.len() == 12 && time.as_bytes()[8] == b'.', "{time}");
    }
}
