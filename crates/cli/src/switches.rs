//! Switches that are given a value, as the stock CLI takes every one of them: `--yes=true`, `--diff=false`.

use clap::{ArgAction, Command};
use std::ffi::OsString;

/// The words of a command line with such switches as they are meant: there, or left out.
pub(crate) fn plain(command: &Command, words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut path = vec![command];
    let mut plain = Vec::new();
    let mut rest = words.into_iter();
    // The first is the name that we were called by.
    plain.extend(rest.next());
    for word in rest.by_ref() {
        let text = word.to_string_lossy();
        if text == "--" {
            plain.push(word);
            break;
        }
        if let Some(inner) = path.last().and_then(|outer| outer.find_subcommand(text.as_ref())) {
            path.push(inner);
        } else if let Some((name, value)) = text.strip_prefix("--").and_then(|option| option.split_once('='))
            && let Some(value) = truth(value)
            && path.iter().any(|command| has_switch(command, name))
        {
            plain.extend(value.then(|| OsString::from(format!("--{name}"))));
            continue;
        }
        plain.push(word);
    }
    plain.extend(rest);
    plain
}

fn has_switch(command: &Command, name: &str) -> bool {
    let mut switches =
        command.get_arguments().filter(|option| matches!(option.get_action(), ArgAction::SetTrue));
    switches.any(|option| {
        option.get_long() == Some(name)
            || option.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
    })
}

/// What the stock CLI takes for true and false.
fn truth(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::App;
    use clap::CommandFactory;

    #[test]
    fn no_two_options_of_a_command_get_in_each_others_way() {
        App::command().debug_assert();
    }

    #[test]
    fn switches_with_a_value_are_there_or_left_out() {
        let plain = |line: &str| {
            let words = plain(&App::command(), line.split(' ').map(OsString::from));
            words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
        };
        for (given, meant) in [
            ("d up --yes=true --diff=false --stack dev", "d up --yes --stack dev"),
            ("d --non-interactive=1 up --show-sames=F", "d --non-interactive up"),
            ("d stack rm --force=true", "d stack rm --force"),
            // What has a value of its own keeps it.
            ("d up --refresh=true --message=true", "d up --refresh=true --message=true"),
            ("d up --yes=maybe --none=true", "d up --yes=maybe --none=true"),
            ("d config set -- --yes=true", "d config set -- --yes=true"),
        ] {
            assert_eq!(plain(given), meant);
        }
    }
}
