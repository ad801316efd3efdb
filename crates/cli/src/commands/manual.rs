//! What the command line says of itself, for readers elsewhere: man pages, and the reference in `docs/`.

use crate::app::App;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::{Arg, Args, Command, CommandFactory};
use std::fmt::Write;
use std::path::PathBuf;

/// Write a man page for every command.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  drystone man ~/.local/share/man/man1 && man drystone-stack-graph")]
pub(crate) struct ManArgs {
    /// The folder that they go to; it is made if it is not there
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Writes the man pages.
pub(crate) fn man(context: &Context, args: &ManArgs) -> Outcome {
    let folder = context.environment.resolve(&args.folder);
    let fail = |error: std::io::Error| {
        Failure::new(ExitCode::Unavailable, format!("writing man pages to {}: {error}", folder.display()))
    };
    std::fs::create_dir_all(&folder).map_err(fail)?;
    clap_mangen::generate_to(App::command(), &folder).map_err(fail)?;
    terminal::note(format!("Wrote the man pages to `{}`", folder.display()));
    Ok(())
}

/// The reference of all commands, as Markdown.
pub(crate) fn reference() -> String {
    let mut app = App::command();
    app.build();
    let mut text = "# Commands\n\n\
                    Generated from the command line itself: `drystone debug reference > docs/reference/commands.md`.\n\n\
                    Every command takes the [global options](#global-options).\n"
        .to_owned();
    for command in shown(&app) {
        describe(command, &mut text);
    }
    text.push_str("\n## Global options\n\n");
    let globals = app.get_arguments().filter(|argument| argument.is_global_set() && !argument.is_hide_set());
    table(globals, &mut text);
    text
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
}

fn describe(command: &Command, text: &mut String) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let _ = writeln!(text, "\n## {name}\n");
    if let Some(about) = command.get_long_about().or_else(|| command.get_about()) {
        let about = about.to_string();
        let _ = writeln!(text, "{}\n", about.trim_end());
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    for line in usage.lines() {
        let _ = writeln!(text, "    {}", line.trim());
    }
    let aliases: Vec<String> = command.get_visible_aliases().map(|alias| format!("`{alias}`")).collect();
    if !aliases.is_empty() {
        let _ = writeln!(text, "\nAlso called {}.", aliases.join(", "));
    }
    let own = command.get_arguments().filter(|argument| {
        let id = argument.get_id().as_str();
        !argument.is_global_set() && !argument.is_hide_set() && id != "help" && id != "version"
    });
    let mut options = own.peekable();
    if options.peek().is_some() {
        text.push('\n');
        table(options, text);
    }
    if let Some(examples) = command.get_after_help() {
        let examples = examples.to_string();
        text.push('\n');
        for line in examples.lines() {
            match line.strip_prefix("  ") {
                Some(example) => _ = writeln!(text, "    {example}"),
                None => _ = writeln!(text, "{line}\n"),
            }
        }
    }
    for inner in shown(command) {
        describe(inner, text);
    }
}

fn table<'a>(arguments: impl Iterator<Item = &'a Arg>, text: &mut String) {
    text.push_str("| option | |\n| --- | --- |\n");
    for argument in arguments {
        let help = argument.get_long_help().or_else(|| argument.get_help());
        let help = help.map(ToString::to_string).unwrap_or_default();
        let values: Vec<String> = argument
            .get_possible_values()
            .iter()
            .filter(|value| !value.is_hide_set() && argument.get_action().takes_values())
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        let values = if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
        let _ = writeln!(text, "| `{}` | {}{values} |", cell(&option(argument)), cell(&help));
    }
}

/// An argument as it is typed: `-f, --file <FILE>`.
fn option(argument: &Arg) -> String {
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    let values: Vec<String> = argument
        .get_value_names()
        .unwrap_or_default()
        .iter()
        .map(|name| format!("<{name}>"))
        .filter(|_| argument.get_action().takes_values())
        .collect();
    let values = values.join(" ");
    match (names.is_empty(), values.is_empty()) {
        (true, _) => values,
        (false, true) => names.join(", "),
        (false, false) => format!("{} {values}", names.join(", ")),
    }
}

/// Text that stays in its cell.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of the reference that is not true any more fails here.
    #[test]
    fn the_reference_in_docs_is_the_command_line() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/commands.md");
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == reference(),
            "docs/reference/commands.md is stale: `drystone debug reference > docs/reference/commands.md`"
        );
    }

    #[test]
    fn every_command_has_a_man_page() {
        fn count(command: &Command) -> usize {
            1 + shown(command).map(count).sum::<usize>()
        }
        let folder = tempfile::tempdir().expect("a folder");
        clap_mangen::generate_to(App::command(), folder.path()).expect("man pages");
        let pages: Vec<String> = std::fs::read_dir(folder.path())
            .expect("the folder")
            .map(|page| page.expect("a page").file_name().to_string_lossy().into_owned())
            .collect();
        assert!(pages.contains(&"drystone-stack-graph.1".to_owned()), "{pages:?}");
        assert!(pages.len() >= count(&App::command()), "{pages:?}");
    }
}
