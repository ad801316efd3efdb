//! The words of the command line, in the form that its parser takes.
//!
//! The stock CLI lets every switch be given a value: `--yes=true`, `--diff=false`. The Node SDK puts words for the CLI
//! behind those for a converter: `import --from NAME -- ARGUMENTS --stack NAME --non-interactive`.

use clap::{ArgAction, Command};
use std::ffi::OsString;

/// The words that this process was given.
pub(crate) fn of_process(command: &Command) -> Vec<OsString> {
    let words = std::env::args_os().collect();
    let from_sdk = std::env::var("PULUMI_AUTOMATION_API").is_ok_and(|value| truth(&value) == Some(true));
    plain(command, if from_sdk { ours_first(words) } else { words })
}

/// Puts what an SDK adds for the CLI before the converter's arguments.
fn ours_first(mut words: Vec<OsString>) -> Vec<OsString> {
    let separator = words.iter().position(|word| word == "--");
    let added = words.len().saturating_sub(3);
    match (separator, &words[added..]) {
        (Some(separator), [option, _, switch])
            if separator < added
                && words.iter().any(|word| word == "import")
                && option == "--stack"
                && switch == "--non-interactive" =>
        {
            words[separator..].rotate_right(3);
        }
        _ => {}
    }
    words
}

/// Switches as they are meant: there, or left out.
fn plain(command: &Command, words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
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
    fn words_of_an_sdk_that_follow_a_converters_arguments_are_for_the_command() {
        let ordered = |text: &str| {
            let words = ours_first(text.split(' ').map(OsString::from).collect());
            words.into_iter().map(|word| word.into_string().expect("text")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            ordered("pulumi import --from tf -- a b --stack dev --non-interactive"),
            "pulumi import --from tf --stack dev --non-interactive -- a b"
        );
        for as_they_are in [
            "pulumi import --from tf -- a --stack dev",
            "pulumi import --from tf --stack dev --non-interactive",
            "pulumi config set k -- --stack dev --non-interactive",
            "pulumi import -- --non-interactive",
            "pulumi",
        ] {
            assert_eq!(ordered(as_they_are), as_they_are);
        }
    }

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
