//! `stack output`: shows the outputs of a stack.

use super::format::print_json;
use super::outputs::{as_json, as_text, outputs_of, rows, value_as_json};
use crate::context::Context;
use crate::report::{Failure, Outcome};
use crate::terminal;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  drystone stack output url\n  \
                  eval \"$(drystone stack output --shell)\"\n  \
                  drystone stack output --json --show-secrets | jq .password")]
pub(crate) struct OutputArgs {
    /// The output; all by default
    name: Option<String>,
    /// Print JSON
    #[arg(short, long, conflicts_with = "shell")]
    json: bool,
    /// Print assignments for a shell
    #[arg(long)]
    shell: bool,
    /// Show secrets in clear
    #[arg(long)]
    show_secrets: bool,
}

pub(crate) async fn run(context: &Context, args: OutputArgs) -> Outcome {
    let backend = context.backend().await?;
    let (stack, recorded) = context.current(&backend, None).await?;
    context.warn_of_unrecovered(&backend, &stack).await?;
    let outputs = outputs_of(context, &stack, &recorded, args.show_secrets)?;
    let Some(name) = &args.name else {
        if args.json {
            return print_json(&as_json(&outputs)?);
        }
        if args.shell {
            for (name, value) in &outputs {
                terminal::data(&assignment(name, &as_text(value)?));
            }
            return Ok(());
        }
        terminal::data(&terminal::table(&rows(&outputs)?));
        if outputs.is_empty() {
            terminal::note(format!("{stack} has no outputs"));
        }
        return Ok(());
    };
    let Some(value) = outputs.get(name) else {
        let known: Vec<&str> = outputs.keys().map(String::as_str).collect();
        let failure = Failure::general(format!("current stack does not have output property '{name}'"));
        return Err(match known.as_slice() {
            [] => failure.hint("the stack has no outputs"),
            known => failure.hint(format!("it has {}", known.join(", "))),
        });
    };
    if args.json {
        print_json(&value_as_json(value)?)
    } else if args.shell {
        terminal::data(&assignment(name, &as_text(value)?));
        Ok(())
    } else {
        terminal::line(as_text(value)?);
        Ok(())
    }
}

/// An assignment that the system's shell reads back to the same text.
fn assignment(name: &str, text: &str) -> String {
    if cfg!(windows) {
        format!("${name} = '{}'\n", text.replace('\'', "''"))
    } else {
        format!("{name}={}\n", quoted(text))
    }
}

/// A word for POSIX shells, in the stock CLI's choice of quotes: backslashes, or quotes around what has white space.
fn quoted(word: &str) -> String {
    if word.is_empty() {
        return "''".to_owned();
    }
    if word.contains([' ', '\t', '\n']) {
        let parts = word.split('\'').map(|part| match part {
            "" => String::new(),
            part => format!("'{part}'"),
        });
        return parts.collect::<Vec<_>>().join("\\'");
    }
    let mut quoted = String::with_capacity(word.len());
    for (at, character) in word.char_indices() {
        if "\\'\"`${[|&;<>()*?!".contains(character) || (at == 0 && character == '~') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_read_back_what_was_quoted() {
        let words =
            ["", "plain", "it's $HOME \"q\"", "a\nb", "~x", "{\"a\":[1]}", "'", "a'b", " ' ", "#c", "a=b"];
        for word in words {
            let script = format!("{}printf %s \"$v\"", assignment("v", word));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word, "{script}");
        }
        assert_eq!(quoted("it's $HOME \"q\""), "'it'\\''s $HOME \"q\"'");
        assert_eq!(quoted("[secret]"), "\\[secret]");
    }
}
