//! The table of results, and what it says against the goals.

use super::measure::Run;
use std::fmt::Write;
use std::time::Duration;

/// How many times faster than the stock CLI we must be.
const FASTER: f64 = 3.0;
/// How many times the checkpoint's size our memory may be.
const MEMORY: f64 = 5.0;

/// One case's results.
pub(super) struct Row {
    pub(super) title: &'static str,
    pub(super) stock: Option<Run>,
    pub(super) ours: Option<Run>,
    /// Set when a side failed, or the sides did not do the same.
    pub(super) trouble: Option<String>,
}

impl Row {
    /// The goals that this row misses.
    fn misses(&self, size: u64) -> Vec<String> {
        let mut misses = Vec::new();
        if let Some(faster) = self.faster()
            && faster < FASTER
        {
            misses.push(format!("under {FASTER} times faster"));
        }
        if let Some(ours) = self.ours
            && times(ours.peak, size) > MEMORY
        {
            misses.push(format!("over {MEMORY} times the file in memory"));
        }
        misses.extend(self.trouble.clone());
        misses
    }

    fn faster(&self) -> Option<f64> {
        let (stock, ours) = (self.stock?, self.ours?);
        Some(stock.wall.as_secs_f64() / ours.wall.as_secs_f64())
    }
}

/// Every row as text, with memory as a multiple of the checkpoint's size.
pub(super) fn render(rows: &[Row], size: u64) -> String {
    let titles = ["command", "stock", "ours", "faster", "stock CPU", "ours", "stock peak", "ours", "goals"];
    let mut lines = vec![titles.map(str::to_owned).to_vec()];
    for row in rows {
        let misses = row.misses(size);
        let goals = match row.ours {
            _ if !misses.is_empty() => format!("MISSED: {}", misses.join(", ")),
            Some(_) => "met".to_owned(),
            None => String::new(),
        };
        lines.push(vec![
            row.title.to_owned(),
            cell(row.stock, |run| seconds(run.wall)),
            cell(row.ours, |run| seconds(run.wall)),
            row.faster().map_or_else(|| "-".to_owned(), |faster| format!("{faster:.1}x")),
            cell(row.stock, |run| seconds(run.processor)),
            cell(row.ours, |run| seconds(run.processor)),
            cell(row.stock, |run| memory(run.peak, size)),
            cell(row.ours, |run| memory(run.peak, size)),
            goals,
        ]);
    }
    align(&lines)
}

fn cell(run: Option<Run>, text: impl FnOnce(Run) -> String) -> String {
    run.map_or_else(|| "-".to_owned(), text)
}

fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}

fn memory(peak: u64, size: u64) -> String {
    format!("{:.0} MB {:.1}x", peak as f64 / 1e6, times(peak, size))
}

fn times(peak: u64, size: u64) -> f64 {
    peak as f64 / size as f64
}

/// Lines of cells in columns: the first and the last to the left, the others to the right.
fn align(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| lines.iter().filter_map(|line| line.get(column)).map(String::len).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for line in lines {
        let mut shown = String::new();
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let _ = match column {
                0 => write!(shown, "{cell:<width$}"),
                _ if column + 1 == columns => write!(shown, "  {cell}"),
                _ => write!(shown, "  {cell:>width$}"),
            };
        }
        text.push_str(shown.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(wall: u64, peak: u64) -> Run {
        Run {
            wall: Duration::from_millis(wall),
            processor: Duration::from_millis(wall),
            peak: peak * 1_000_000,
        }
    }

    #[test]
    fn rows_are_held_to_the_goals() {
        let row = |stock, ours| Row { title: "stack ls", stock, ours, trouble: None };
        let rows = [
            row(Some(run(3_000, 900)), Some(run(500, 100))),
            row(Some(run(1_000, 900)), Some(run(500, 600))),
            row(Some(run(1_000, 900)), None),
        ];
        assert_eq!(
            render(&rows, 100_000_000),
            "command     stock     ours  faster  stock CPU     ours   stock peak         ours  goals\n\
             stack ls  3.000 s  0.500 s    6.0x    3.000 s  0.500 s  900 MB 9.0x  100 MB 1.0x  met\n\
             stack ls  1.000 s  0.500 s    2.0x    1.000 s  0.500 s  900 MB 9.0x  600 MB 6.0x  \
             MISSED: under 3 times faster, over 5 times the file in memory\n\
             stack ls  1.000 s        -       -    1.000 s        -  900 MB 9.0x            -\n"
        );
    }

    #[test]
    fn trouble_is_a_miss() {
        let row = |ours, trouble: &str| {
            let (stock, trouble) = (Some(run(9, 1)), Some(trouble.to_owned()));
            Row { title: "stack ls", stock, ours, trouble }
        };
        let rows = [row(Some(run(1, 1)), "the outputs differ"), row(None, "ours failed")];
        let text = render(&rows, 1_000_000);
        assert!(
            text.contains("MISSED: the outputs differ") && text.contains("MISSED: ours failed"),
            "{text}"
        );
    }
}
