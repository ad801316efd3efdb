//! `demo`: what the state commands do, on a stack of its own in a folder that goes away again.

use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use std::path::Path;
use std::process::{Command, Stdio};

/// The stack that the demo works on.
const STATE: &str = include_str!("../../../../examples/first-stack/state.json");
const PROJECT: &str = "name: shop\nruntime: yaml\n";
const PET: &str = "urn:pulumi:dev::shop::shop:web:Site$random:index/randomPet:RandomPet::name";
const PASSWORD: &str =
    "urn:pulumi:dev::shop::shop:web:Site$random:index/randomPassword:RandomPassword::admin";

/// The commands, with what each shows and the exit code that it should have.
const STEPS: [(&str, &[&str], u8); 9] = [
    ("A stack is made; its secrets are sealed with a passphrase.", &["stack", "init", "dev"], 0),
    (
        "A state is brought in; the password in it is sealed on the way.",
        &["stack", "import", "--file", "state.json"],
        0,
    ),
    ("This is what it holds.", &["stack"], 0),
    ("Every rule of the state is checked.", &["state", "verify"], 0),
    (
        "A resource that another one depends on is not deleted by accident.",
        &["state", "delete", PET, "--yes"],
        1,
    ),
    ("One that nothing depends on is, as one revision.", &["state", "delete", PASSWORD, "--yes"], 0),
    ("Every change is a revision.", &["stack", "revisions"], 0),
    ("Revisions can be compared.", &["stack", "diff", "@-"], 0),
    ("And undone.", &["stack", "undo", "--yes"], 0),
];

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Keep the folder, to go on playing in it
    #[arg(long)]
    keep: bool,
}

/// Runs each command as a user would, printing it before what it prints.
pub(crate) fn run(args: &DemoArgs) -> Outcome {
    let folder =
        tempfile::tempdir().map_err(|error| Failure::general(format!("making a folder: {error}")))?;
    prepare(folder.path())
        .map_err(|error| Failure::general(format!("{}: {error}", folder.path().display())))?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(ExitCode::Internal, format!("finding myself: {error}")))?;
    for (why, arguments, expected) in STEPS {
        terminal::note(format!("\n# {why}\n$ drystone {}", shown(arguments)));
        let status = Command::new(&program)
            .args(arguments)
            .current_dir(folder.path().join("project"))
            .env("PULUMI_BACKEND_URL", format!("file://{}", folder.path().join("state").display()))
            .env("PULUMI_HOME", folder.path().join("home"))
            .env("PULUMI_CONFIG_PASSPHRASE", "demo")
            .env_remove("PULUMI_STACK")
            .stdin(Stdio::null())
            .status()
            .map_err(|error| {
                Failure::new(ExitCode::Internal, format!("running {}: {error}", program.display()))
            })?;
        let code = status.code().unwrap_or(-1);
        if (code == 0) != (expected == 0) {
            return Err(Failure::new(
                ExitCode::Internal,
                format!("`{}` ended with {code}", arguments.join(" ")),
            ));
        }
    }
    if args.keep {
        let kept = folder.keep();
        terminal::note(format!("\nGo on in {}", kept.join("project").display()));
        terminal::note(format!(
            "with PULUMI_BACKEND_URL=file://{} and PULUMI_CONFIG_PASSPHRASE=demo.",
            kept.join("state").display()
        ));
    } else {
        terminal::note(
            "\nThe demo's folder is gone again; `--keep` keeps it. Your own state was not touched.",
        );
    }
    Ok(())
}

fn prepare(folder: &Path) -> std::io::Result<()> {
    for name in ["project", "state", "home"] {
        std::fs::create_dir(folder.join(name))?;
    }
    std::fs::write(folder.join("project/Pulumi.yaml"), PROJECT)?;
    std::fs::write(folder.join("project/state.json"), STATE)
}

/// Arguments as a shell would want them.
fn shown(arguments: &[&str]) -> String {
    let quoted = arguments.iter().map(|argument| {
        if argument.contains(['$', ' ']) { format!("'{argument}'") } else { (*argument).to_owned() }
    });
    quoted.collect::<Vec<_>>().join(" ")
}
