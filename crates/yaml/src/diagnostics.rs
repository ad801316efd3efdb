//! What is wrong with a program, and where.

use crate::syntax::Span;
use std::fmt::Write as _;

/// How much a diagnostic matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// To be looked at.
    Warning,
    /// The program cannot run.
    Error,
}

/// Something that is wrong with a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// Where it is.
    pub span: Span,
    /// What is wrong, on one line.
    pub summary: String,
    /// More about it, or empty.
    pub detail: String,
}

impl Diagnostic {
    /// Something that stops the program.
    pub fn error(span: Span, summary: impl Into<String>) -> Self {
        Self { severity: Severity::Error, span, summary: summary.into(), detail: String::new() }
    }

    /// Something to be looked at.
    pub fn warning(span: Span, summary: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(span, summary) }
    }

    /// The same with more about it.
    #[must_use]
    pub fn detail(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }
}

/// Everything that was found wrong, in the order in which it was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds an error.
    pub fn error(&mut self, span: Span, summary: impl Into<String>) {
        self.push(Diagnostic::error(span, summary));
    }

    /// Whether anything stops the program.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, iter: T) {
        self.0.extend(iter);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<T: IntoIterator<Item = Diagnostic>>(iter: T) -> Self {
        Self(iter.into_iter().collect())
    }
}

/// The text that a program was read from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Source {
    /// The name of the file, as the user knows it.
    pub name: String,
    /// What it holds.
    pub text: String,
    /// Whether it is a file in the program's folder, rather than what a command printed.
    pub is_file: bool,
}

/// How many characters of a line are shown.
const SHOWN: usize = 160;

impl Source {
    /// A diagnostic as people read it: file, line and column, the line itself, and what is wrong there.
    #[must_use]
    pub fn render(&self, diagnostic: &Diagnostic) -> String {
        let Diagnostic { span, summary, detail, .. } = diagnostic;
        let mut text = String::new();
        if span.is_known() {
            let _ = write!(text, "{}:{}:{}: {summary}", self.name, span.line, span.column);
            self.show_line(*span, &mut text);
        } else {
            let _ = write!(text, "{}: {summary}", self.name);
        }
        for line in detail.lines() {
            let _ = write!(text, "\n  {line}");
        }
        text
    }

    fn show_line(&self, span: Span, text: &mut String) {
        let at = usize::try_from(span.line - 1).unwrap_or(usize::MAX);
        let Some(line) = self.text.lines().nth(at) else { return };
        // Control characters could do anything to a terminal.
        let clean: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let column = usize::try_from(span.column).unwrap_or(usize::MAX).saturating_sub(1);
        let skipped = column.saturating_sub(SHOWN / 2);
        let shown: String = clean.chars().skip(skipped).take(SHOWN).collect();
        let rest = shown.chars().count().saturating_sub(column - skipped);
        let length = usize::try_from(span.length).unwrap_or(usize::MAX).clamp(1, rest.max(1));
        let number = span.line.to_string();
        let margin = " ".repeat(number.len());
        let _ = write!(text, "\n  {number} | {}", shown.trim_end());
        let _ = write!(text, "\n  {margin} | {}{}", " ".repeat(column - skipped), "^".repeat(length));
    }
}
