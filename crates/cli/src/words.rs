//! The words of the command line, in the form that its parser takes.
//!
//! The stock CLI lets every switch be given a value: `--yes=true`, `--diff=false`. The Node SDK puts words for the CLI
//! behind those for a converter: `import --from NAME -- ARGUMENTS --stack NAME --non-interactive`. Any option can be given
//! by a variable: `PULUMI_OPTION_REFRESH=true` is `--refresh=true` where that is not given. `help COMMAND` is
//! `COMMAND --help`.

use clap::{ArgAction, Command};
use std::ffi::OsString;

/// The words that this process was given.
pub(crate) fn of_process(command: &Command) -> Vec<OsString> {
    let words = std::env::args_os().collect();
    let from_sdk = std::env::var("PULUMI_AUTOMATION_API").is_ok_and(|value| truth(&value) == Some(true));
    let words = if from_sdk { ours_first(words) } else { words };
    helped(plain(command, with_variables(command, words, |name| std::env::var(name).ok())))
}

/// Whether we were called by the stock CLI's name.
pub(crate) fn called_as_stock() -> bool {
    let name = std::env::args_os().next().unwrap_or_default();
    std::path::Path::new(&name).file_stem().is_some_and(|stem| stem == "pulumi")
}

/// Turns `help COMMAND` round.
fn helped(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.push("--help".into());
    }
    words
}

/// The words with the options that variables name and that are not among them.
fn with_variables(
    command: &Command,
    mut words: Vec<OsString>,
    variable: impl Fn(&str) -> Option<String>,
) -> Vec<OsString> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let mut path = vec![command];
    for word in words[..end].iter().skip(1).filter_map(|word| word.to_str()) {
        path.extend(path.last().and_then(|outer| outer.find_subcommand(word)));
    }
    let mut added = Vec::new();
    for option in path.iter().flat_map(|command| command.get_arguments()) {
        let Some(long) = option.get_long() else { continue };
        let name = format!("PULUMI_OPTION_{}", long.replace('-', "_").to_uppercase());
        let Some(value) = variable(&name) else { continue };
        let is_given = words[..end].iter().filter_map(|word| word.to_str()).any(|word| {
            let named = word.strip_prefix("--").is_some_and(|word| word.split('=').next() == Some(long));
            let short = word.strip_prefix('-').filter(|word| !word.starts_with('-'));
            named || short.is_some_and(|word| word.chars().next() == option.get_short())
        });
        if is_given {
            continue;
        }
        match option.get_action() {
            ArgAction::Append => {
                added.extend(value.split(',').map(|part| OsString::from(format!("--{long}={part}"))));
            }
            _ => added.push(OsString::from(format!("--{long}={value}"))),
        }
    }
    words.splice(end..end, added);
    words
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
    fn options_are_taken_from_variables_unless_they_are_given() {
        let with = |text: &str| {
            let variable = |name: &str| match name {
                "PULUMI_OPTION_YES" => Some("true".to_owned()),
                "PULUMI_OPTION_TARGET" => Some("a,b".to_owned()),
                "PULUMI_OPTION_STACK" => Some("dev".to_owned()),
                _ => None,
            };
            let words = text.split(' ').map(OsString::from).collect();
            let words = with_variables(&App::command(), words, variable);
            words.into_iter().map(|word| word.into_string().expect("text")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(with("d up"), "d up --stack=dev --yes=true --target=a --target=b".to_owned());
        assert_eq!(with("d up -y -s x --target=c"), "d up -y -s x --target=c");
        assert_eq!(with("d config set k -- --yes"), "d config set k --stack=dev -- --yes");
        assert_eq!(with("d stack ls --stack x"), "d stack ls --stack x");
    }

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
    fn help_stands_before_a_command_or_behind_it() {
        let helped = |text: &str| {
            let words = helped(text.split(' ').map(OsString::from).collect());
            words.into_iter().map(|word| word.into_string().expect("text")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(helped("drystone help"), "drystone --help");
        assert_eq!(helped("drystone help stack ls"), "drystone stack ls --help");
        assert_eq!(helped("drystone up help"), "drystone up help");
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
