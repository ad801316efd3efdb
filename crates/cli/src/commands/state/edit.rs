//! `state edit`: the state in the user's editor.

use super::declined;
use crate::context::{Context, secrets_failure};
use crate::edit::{Title, edit_state, errors, tell_committed};
use crate::report::{ExitCode, Failure, Outcome};
use crate::snapshot_diff::{Secrets, SnapshotDiff};
use crate::{snapshot_secrets, terminal};
use clap::Args;
use drystone_model::Snapshot;
use drystone_secrets::Manager;
use drystone_stores::{At, StackId};
use std::path::Path;
use std::process::Command;

/// Opens the state in your editor as JSON, shows what you changed, asks, and makes one revision of it.
///
/// The editor is $VISUAL or $EDITOR. Secrets stay sealed; one that you write in clear is sealed before it is stored. A
/// state that breaks its rules is not taken.
#[derive(Debug, Args)]
pub(crate) struct EditArgs {}

pub(crate) async fn run(context: &Context, _args: EditArgs) -> Outcome {
    if !context.is_interactive() {
        return Err(Failure::configuration("`state edit` needs a terminal")
            .hint("change the output of `drystone stack export` and give it to `drystone stack import`"));
    }
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    let recorded = backend.store().snapshot(&stack, At::Current).await?;
    let manager = context.snapshot_secrets(&stack, &recorded);
    let editing = Editing {
        stack: &stack,
        before: &recorded.snapshot,
        manager: &manager,
        checked: !context.globals.disable_integrity_checking,
    };
    let Some((edited, file)) = editing.run(&Editor::of(context)?)? else {
        terminal::note("Nothing was changed");
        return Ok(());
    };
    let title = Title { purpose: "state edit".to_owned(), ..Title::default() };
    let apply = async |snapshot: &mut Snapshot| {
        if *snapshot != recorded.snapshot {
            return Err(Failure::new(
                ExitCode::Held,
                format!("{stack} was changed by somebody else while you edited it"),
            ));
        }
        *snapshot = edited;
        Ok(())
    };
    let applied = edit_state(context, &backend, &stack, title, true, apply).await;
    match applied {
        Ok(((), committed)) => {
            tell_committed(&committed);
            Ok(())
        }
        // What somebody has typed is not thrown away.
        Err(failure) => Err(match file.keep() {
            Ok((_, path)) => failure.hint(format!("your text is kept in {}", path.display())),
            Err(_) => failure,
        }),
    }
}

/// The state of a stack on its way through an editor.
struct Editing<'a> {
    stack: &'a StackId,
    before: &'a Snapshot,
    manager: &'a Manager,
    checked: bool,
}

const ACCEPT: &str = "accept";
const AGAIN: &str = "edit again";
const RESET: &str = "start over";
const CANCEL: &str = "cancel";

impl Editing<'_> {
    /// Lets the user edit until the result is accepted. None when nothing is changed in the end.
    fn run(&self, editor: &Editor) -> Outcome<Option<(Snapshot, tempfile::NamedTempFile)>> {
        let failed = |error: std::io::Error| {
            Failure::new(ExitCode::Unavailable, format!("the file for the editor: {error}"))
        };
        let original = text_of(self.before)?;
        let file =
            tempfile::Builder::new().prefix("drystone-state-").suffix(".json").tempfile().map_err(failed)?;
        std::fs::write(file.path(), &original).map_err(failed)?;
        loop {
            editor.open(file.path())?;
            let text = std::fs::read_to_string(file.path()).map_err(failed)?;
            let choice = match self.read_back(&text) {
                Ok(edited) => {
                    let diff = SnapshotDiff::new(self.before, &edited, Secrets::Masked);
                    if diff.is_empty() && edited.manifest == self.before.manifest {
                        return Ok(None);
                    }
                    terminal::data(&diff.render());
                    terminal::note(format!("{}: {}", self.stack, diff.summary()));
                    let choice = ask("Make this the state?", vec![ACCEPT, AGAIN, RESET, CANCEL])?;
                    if choice == ACCEPT {
                        return Ok(Some((edited, file)));
                    }
                    choice
                }
                Err(failure) => {
                    terminal::failure(&failure);
                    ask("What do you want to do?", vec![AGAIN, RESET, CANCEL])?
                }
            };
            match choice {
                AGAIN => {}
                RESET => std::fs::write(file.path(), &original).map_err(failed)?,
                _ => return Err(declined()),
            }
        }
    }

    /// The state that a text stands for, with every secret sealed, if it is sound.
    fn read_back(&self, text: &str) -> Outcome<Snapshot> {
        let mut edited: Snapshot = serde_json::from_str(text)
            .map_err(|error| Failure::new(ExitCode::Unsound, format!("the text is not a state: {error}")))?;
        if snapshot_secrets::holds_open(&edited) {
            self.manager.unlock().map_err(secrets_failure)?;
            snapshot_secrets::conceal(&mut edited, self.manager.crypter().as_ref())?;
        }
        let broken = if self.checked { errors(&edited) } else { Vec::new() };
        if broken.is_empty() {
            return Ok(edited);
        }
        let mut failure =
            Failure::new(ExitCode::Unsound, format!("the edited state breaks {} rule(s)", broken.len()));
        failure.details = broken.iter().map(ToString::to_string).collect();
        Err(failure)
    }
}

fn ask(question: &str, options: Vec<&'static str>) -> Outcome<&'static str> {
    inquire::Select::new(question, options).prompt().map_err(|_| declined())
}

/// A state as people edit it: JSON, a line a member.
fn text_of(snapshot: &Snapshot) -> Outcome<String> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(ExitCode::Internal, format!("writing the state: {error}"))
    };
    let compact = serde_json::to_vec(snapshot).map_err(|error| failed(&error))?;
    let mut text = Vec::with_capacity(compact.len() * 2);
    drystone_model::text::indent(&compact, "    ", &mut text).map_err(|error| failed(&error))?;
    text.push(b'\n');
    String::from_utf8(text).map_err(|error| failed(&error))
}

/// The user's editor: a command that takes a file.
struct Editor(String);

impl Editor {
    fn of(context: &Context) -> Outcome<Self> {
        let named = ["VISUAL", "EDITOR"].iter().find_map(|name| context.environment.filled_variable(name));
        named.map(Self).ok_or_else(|| {
            Failure::configuration("no editor is set")
                .hint("set EDITOR to the command that starts yours, as in `EDITOR=vi`")
        })
    }

    /// Opens a file and waits until the editor is closed. The shell splits the command into its words.
    fn open(&self, path: &Path) -> Outcome {
        let Self(editor) = self;
        let mut command = if cfg!(windows) {
            let mut command = Command::new("cmd");
            command.arg("/C").arg(editor);
            command
        } else {
            let mut command = Command::new("sh");
            command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh");
            command
        };
        let failed = |reason: &dyn std::fmt::Display| {
            Failure::general(format!("the editor `{editor}` failed: {reason}"))
                .hint("set EDITOR to another one")
        };
        let status = command.arg(path).status().map_err(|error| failed(&error))?;
        if status.success() { Ok(()) } else { Err(failed(&status)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone_model::{Manifest, Resource, SecretsProvider, Urn};
    use drystone_secrets::Base64;
    use std::sync::Arc;

    fn edited(change: impl FnOnce(String) -> String) -> Outcome<Snapshot> {
        let resource = Resource {
            urn: Urn::build("dev", "shop", "", "a:b:C", "c"),
            type_token: "a:b:C".to_owned(),
            inputs: serde_json::from_str(r#"{"size": 9007199254740993, "other": 1}"#).unwrap(),
            ..Resource::default()
        };
        let before = Snapshot {
            manifest: Manifest::new("now", "1"),
            resources: vec![resource],
            ..Snapshot::default()
        };
        let text = change(text_of(&before).unwrap());
        let manager = Manager::new(SecretsProvider::default(), Arc::new(Base64));
        let stack = StackId::new("shop", "dev").unwrap();
        Editing { stack: &stack, before: &before, manager: &manager, checked: true }.read_back(&text)
    }

    #[test]
    fn s10_big_integers_survive_the_editor() {
        let snapshot = edited(|text| text.replace("\"other\": 1", "\"other\": 2")).unwrap();
        assert!(snapshot.resources[0].inputs.text().contains("9007199254740993"));
        assert!(snapshot.resources[0].inputs.text().contains("\"other\": 2"));
    }

    #[test]
    fn s17_a_secret_written_in_clear_is_sealed() {
        let secret = r#"{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": "\"hush\""}"#;
        let snapshot = edited(|text| text.replace("\"other\": 1", &format!("\"other\": {secret}"))).unwrap();
        let inputs = snapshot.resources[0].inputs.text();
        assert!(inputs.contains("ciphertext") && !inputs.contains("hush"), "{inputs}");
    }

    #[test]
    fn an_unsound_or_unreadable_text_is_refused() {
        let failure = edited(|text| {
            text.replace(
                "\"custom\": false",
                "\"custom\": false, \"parent\": \"urn:pulumi:dev::shop::x:y:Z::z\"",
            )
        })
        .unwrap_err();
        assert_eq!(failure.code, ExitCode::Unsound);
        assert!(failure.details[0].contains("missing parent"), "{failure:?}");
        let failure = edited(|text| text[..text.len() / 2].to_owned()).unwrap_err();
        assert!(failure.message.contains("line"), "{failure:?}");
    }
}
