//! The only place that prints: data to stdout, everything else to stderr.

use crate::report::Failure;
use anstyle::{AnsiColor, Style};
use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::sync::LazyLock;

const BAD: Style = AnsiColor::Red.on_default().bold();
const GOOD: Style = AnsiColor::Cyan.on_default().bold();
const WARN: Style = AnsiColor::Yellow.on_default().bold();

/// Decides once whether output is coloured.
pub(crate) fn set_color(choice: crate::app::Color) {
    use crate::app::Color;
    let choice = match choice {
        Color::Auto => return,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never | Color::Raw => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

/// Prints data, as it is. A reader that has gone away ends the process quietly, as pipes expect.
pub(crate) fn data(text: &str) {
    data_with(|out| out.write_all(text.as_bytes()));
}

/// Prints a line of data.
pub(crate) fn line(text: impl std::fmt::Display) {
    data(&format!("{text}\n"));
}

/// Lets something write data to stdout, buffered. Every byte arrives: control characters are data too.
pub(crate) fn data_with(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
    let mut out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    finish(write(&mut out).and_then(|()| out.flush()));
}

/// Ends the process when data could not be written: quietly when its reader has gone away.
fn finish(written: std::io::Result<()>) {
    if let Err(error) = written {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        error_line(&format!("error: writing to standard output: {error}"));
        std::process::exit(i32::from(crate::report::ExitCode::Unavailable as u8));
    }
}

/// Lets something write data that holds no colour to stdout, a megabyte at a time.
pub(crate) fn plain_data_with(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
    let mut out = std::io::BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    finish(write(&mut out).and_then(|()| out.flush()));
}

/// Prints a value as JSON with an indent of two, as the stock CLI does.
pub(crate) fn json<T: serde::Serialize>(value: &T) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => line(text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")),
        Err(error) => error_line(&format!("error: {error}")),
    }
}

/// Tells the user something that is not data.
pub(crate) fn note(text: impl std::fmt::Display) {
    error_line(&text.to_string());
}

/// Tells the user something that needs attention.
pub(crate) fn warning(text: impl std::fmt::Display) {
    error_line(&format!("{WARN}warning:{WARN:#} {text}"));
}

pub(crate) fn error_line(text: &str) {
    // Nothing can be done for a stderr that is gone.
    let _ = writeln!(anstream::stderr(), "{}", in_our_name(text));
}

/// A text whose commands have the name that we were called by.
fn in_our_name(text: &str) -> Cow<'_, str> {
    static STOCK: LazyLock<bool> = LazyLock::new(crate::words::called_as_stock);
    if *STOCK { Cow::Owned(text.replace("`drystone ", "`pulumi ")) } else { Cow::Borrowed(text) }
}

/// Prints a failure: `error:` with its details, then the hints.
pub(crate) fn failure(failure: &Failure) {
    error_line(&format!("{BAD}error:{BAD:#} {}", failure.message));
    for detail in failure.details.iter().flat_map(|detail| detail.lines()) {
        error_line(&format!("  {detail}"));
    }
    for hint in &failure.hints {
        error_line(&format!("{GOOD}hint:{GOOD:#} {hint}"));
    }
}

/// Something that takes a while; shown on a terminal until dropped.
#[derive(Debug)]
pub(crate) struct Working(indicatif::ProgressBar);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Shows what takes a while. Nothing may be asked meanwhile.
pub(crate) fn working(what: &'static str) -> Working {
    let bar = indicatif::ProgressBar::new_spinner().with_message(what);
    bar.enable_steady_tick(std::time::Duration::from_millis(120));
    Working(bar)
}

/// Whether somebody can answer.
pub(crate) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Columns of equal width, as wide as their widest cell.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}
