//! `import`: takes over what exists, without a program.

mod code;
mod converter;
mod file;
mod listing;

pub(super) use listing::{Heard, Listing};

use self::code::{Program, Schemas, Taken};
use self::converter::Converting;
use self::file::ImportFile;
use super::flags::{ApprovalFlags, CommonFlags, DisplayFlags, RunFlags, switch};
use super::flow;
use super::request::{Kind, Mode, Request};
use super::subject::Subject;
use crate::context::Context;
use crate::report::{Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_engine::{Import, Options};
use drystone_model::is_provider_type;
use drystone_stores::At;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Take over resources that exist.
///
/// Each resource is read from its provider and added to the state as it is; nothing real is changed. What the program
/// has to say for it is printed: add it, or the next update deletes what was taken over. Resources are protected from
/// deletion unless `--protect=false` says otherwise.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  drystone import aws:s3/bucket:Bucket logs my-logs-bucket
  drystone import aws:ec2/vpc:Vpc main vpc-0ad7 --parent net=URN --provider west=URN
  drystone import --file resources.json --out imported.ts
  drystone import --from terraform -- ./terraform.tfstate
  drystone preview --import-file resources.json        write such a file from the program, then fill in the ids")]
pub(crate) struct ImportArgs {
    /// The type, the name that it gets, and the id that it has; with `--from`, what the converter is told
    #[arg(value_names = ["TYPE", "NAME", "ID"], num_args = 0..)]
    resource: Vec<String>,
    /// A file that lists what is taken over, as JSON
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Its parent, by the name of the program's variable and its URN
    #[arg(long, value_name = "NAME=URN")]
    parent: Option<String>,
    /// Its provider, by the name of the program's variable and its URN
    #[arg(long, value_name = "NAME=URN")]
    provider: Option<String>,
    /// The properties to import with
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    properties: Vec<String>,
    /// Where the code goes; stdout otherwise
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Whether there is code to print
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    generate_code: Option<String>,
    /// Whether resources are protected from deletion
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    protect: Option<String>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Do not preview it first, and do not ask
    #[arg(long)]
    skip_preview: bool,
    /// Only say what would be taken over
    #[arg(long)]
    preview_only: bool,
    /// Let the plugin `pulumi-converter-CONVERTER` list what another tool has made; what follows `--` is for it
    #[arg(long, value_name = "CONVERTER")]
    from: Option<String>,
    /// Keep the list that the converter makes, secrets in clear; it is kept in a new file when the import fails
    #[arg(long, value_name = "FILE")]
    generate_resources: Option<PathBuf>,
    /// Use this settings file rather than the stack's own
    #[arg(long, value_name = "FILE")]
    config_file: Option<PathBuf>,
    #[command(flatten)]
    display: DisplayFlags,
    #[command(flatten)]
    run: RunFlags,
}

/// What is taken over, and what is said of it afterwards.
#[derive(Debug)]
pub(super) struct Importing {
    file: ImportFile,
    protect: bool,
    code: Option<Code>,
    /// When the import began: what is newer was made by it.
    began: Timestamp,
}

/// Where code goes.
#[derive(Debug)]
enum Code {
    Stdout,
    File(PathBuf),
}

/// Takes over what exists.
pub(super) async fn run(context: &Context, mut args: ImportArgs) -> Outcome {
    let Some(from) = args.converter()? else {
        let file = args.list(context)?;
        return flow::run(context, args.request(context, file)?).await;
    };
    let mut request = args.request(context, ImportFile::default())?;
    // A conversion may take long: there must be a stack for what it finds.
    context.current(&context.backend().await?, None).await?;
    let file = from.list(context).await?;
    if file.resources.is_empty() {
        terminal::note("The converter found nothing to import.");
        return from.keep(context, &file, false);
    }
    if let Some(importing) = &mut request.importing {
        importing.file = file.clone();
    }
    let ran = flow::run(context, request).await;
    let kept = from.keep(context, &file, ran.is_err());
    ran.and(kept)
}

impl ImportArgs {
    /// The converter that lists what is taken over, if one does.
    fn converter(&mut self) -> Outcome<Option<Converting>> {
        let Some(name) = self.from.take() else {
            if self.generate_resources.is_some() {
                terminal::warning(
                    "`--generate-resources` keeps the list of a converter, and no `--from` names one",
                );
            }
            return Ok(None);
        };
        if self.file.is_some() {
            return Err(Failure::configuration(
                "a converter may not be specified in conjunction with an import file",
            )
            .hint("leave out `--from` or `--file`"));
        }
        let args = std::mem::take(&mut self.resource);
        Ok(Some(Converting { name, args, kept: self.generate_resources.take() }))
    }

    /// What is asked for, or why it cannot be had.
    fn request(self, context: &Context, file: ImportFile) -> Outcome<Request> {
        let generates = switch(self.generate_code.as_deref(), "--generate-code", true)?;
        let code = match (generates, self.out) {
            (true, None) => Some(Code::Stdout),
            (true, Some(path)) => Some(Code::File(writable(context.environment.resolve(&path))?)),
            (false, out) => {
                if out.is_some() {
                    terminal::note("Output file will not be used as --generate-code is false.");
                }
                None
            }
        };
        let importing = Importing {
            file,
            protect: switch(self.protect.as_deref(), "--protect", true)?,
            code,
            began: Timestamp::now(),
        };
        let approval = ApprovalFlags { yes: self.yes, skip_preview: self.skip_preview };
        let common = CommonFlags::of(self.config_file, self.display, self.run);
        let options = common.options(context)?;
        Ok(Request {
            mode: Mode::of(context, approval, self.preview_only)?,
            importing: Some(importing),
            ..Request::new(Kind::Import, options, common)
        })
    }

    /// What is taken over, from the file or from the command line itself.
    fn list(&self, context: &Context) -> Outcome<ImportFile> {
        let inline = !self.resource.is_empty()
            || self.parent.is_some()
            || self.provider.is_some()
            || !self.properties.is_empty();
        if let Some(path) = &self.file {
            if inline {
                return Err(Failure::configuration(
                    "an inline resource may not be specified in conjunction with an import file",
                )
                .hint("add the resource to the file, or leave out `--file`"));
            }
            return ImportFile::read(&context.environment.resolve(path));
        }
        let missing = match &self.resource[..] {
            [type_token, name, id] => {
                return ImportFile::of_one(type_token, name, id)
                    .with_parent(self.parent.as_deref())?
                    .with_provider(self.provider.as_deref());
            }
            [] => "type, name, and id",
            [_] => "name and id",
            [_, _] => "id",
            _ => return Err(Failure::configuration("only expected at most three arguments")),
        };
        Err(Failure::configuration(format!(
            "an inline resource must be specified if no converter or import file is used, missing {missing}"
        ))
        .hint("name it as `drystone import TYPE NAME ID`, or list resources in a file: `--file FILE`"))
    }
}

impl Importing {
    /// What the engine takes over.
    pub(super) fn imports(&self, subject: &Subject) -> Outcome<Vec<Import>> {
        Ok(self.resolved(subject)?.imports)
    }

    fn resolved(&self, subject: &Subject) -> Outcome<file::Resolved> {
        self.file.resolve(subject.stack.name(), &subject.project.name, self.protect)
    }

    /// What the program has to say for what was taken over, and for the providers that were made for that.
    async fn program(
        &self,
        context: &Context,
        subject: &Subject,
        options: &Options,
        runtime: &str,
    ) -> Outcome<Program> {
        let resolved = self.resolved(subject)?;
        let recorded = subject.backend.store().snapshot(&subject.stack, At::Current).await?;
        let (mut said, mut elsewhere) = (resolved.said(), resolved.elsewhere());
        for resource in &recorded.snapshot.resources {
            let created = resource.created.as_deref().and_then(|moment| moment.parse::<Timestamp>().ok());
            let is_made = created.is_some_and(|created| created >= self.began);
            if is_provider_type(&resource.type_token) && is_made && elsewhere.remove(&resource.urn).is_some()
            {
                said.push((resource.urn.clone(), resolved.said_of_provider(&resource.urn)));
            }
        }
        let taken = Taken { snapshot: &recorded.snapshot, said: &said, elsewhere: &elsewhere };
        // Nobody is asked for what is not written.
        let packages = if code::is_written(runtime) { taken.packages() } else { BTreeSet::new() };
        let schemas = Schemas::ask(context, subject, packages).await?;
        let manager = options.show_secrets.then(|| context.snapshot_secrets(&subject.stack, &recorded));
        Program::of(taken, &schemas, manager.as_ref())
    }

    /// Writes the code that the program needs for what was taken over.
    pub(super) async fn write_code(
        &self,
        context: &Context,
        subject: &Subject,
        options: &Options,
    ) -> Outcome {
        let Some(place) = &self.code else { return Ok(()) };
        let runtime = subject.project.runtime.as_ref().map_or("", |runtime| runtime.name.as_str());
        let program = self.program(context, subject, options, runtime).await?;
        let text = if program.is_empty() { Some(String::new()) } else { program.write(runtime) };
        let Some(text) = text else {
            terminal::note(format!("There is no code to show for programs of the runtime `{runtime}`."));
            return write_to(place, "");
        };
        if text.is_empty() {
            return write_to(place, "");
        }
        if matches!(place, Code::Stdout) {
            terminal::note(
                "Please copy the following code into your Pulumi application. Not doing so\n\
                 will cause Pulumi to report that an update will happen on the next update command.\n",
            );
            if self.protect {
                terminal::note(
                    "Please note that the imported resources are marked as protected. To destroy them\n\
                     you will need to remove the `protect` option and run `drystone up` *before*\n\
                     the destroy will take effect.\n",
                );
            }
        }
        if program.hides_secrets() {
            terminal::warning("secrets are shown as [secret] in the code; `--show-secrets` shows them");
        }
        write_to(place, &text)
    }
}

/// A file that can be written, before anything is taken over.
fn writable(path: PathBuf) -> Outcome<PathBuf> {
    let opened = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    opened.map_err(|error| {
        Failure::configuration(format!("could not open output file: {}: {error}", path.display()))
            .hint("nothing was taken over; name another file with `--out`")
    })?;
    Ok(path)
}

fn write_to(place: &Code, text: &str) -> Outcome {
    match place {
        Code::Stdout => {
            terminal::data(text);
            Ok(())
        }
        Code::File(path) => std::fs::write(path, text).map_err(|error| {
            Failure::configuration(format!("could not open output file: {}: {error}", path.display()))
                .hint("the resources were taken over; `drystone stack export` shows them")
        }),
    }
}
