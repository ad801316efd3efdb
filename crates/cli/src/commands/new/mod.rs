//! `new`: makes a project from a template, with a first stack.

mod templates;

use self::templates::{BUILT_IN, Template};
use super::config::Place;
use super::config::settings::{Opened, chain};
use super::install::install_dependencies;
use super::stack::init::{NewStack, create, exists};
use super::stack::selection;
use crate::app::Globals;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_plugins::languages::Program;
use drystone_secrets::ProviderChoice;
use drystone_workspace::Value;
use drystone_workspace::config::{Locator, NewValue, parse_assignment};
use drystone_workspace::project::{Project, check_new_project_name};
use std::path::{Path, PathBuf};

/// Make a project from a template.
///
/// Templates are part of this program: nothing is downloaded but what the new project depends on.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  drystone new python                              asks for the rest
  drystone new typescript --yes --dir shop         in a folder of its own, with every default
  drystone new ./our-template --name shop          from a folder
  drystone new --list-templates")]
pub(crate) struct NewArgs {
    /// A template of this program, or a folder
    #[arg(value_name = "TEMPLATE")]
    template: Option<String>,
    /// The folder to make it in, rather than this one
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// The project's name; the folder's by default
    #[arg(short, long)]
    name: Option<String>,
    /// What the project is
    #[arg(short, long, value_name = "TEXT")]
    description: Option<String>,
    /// Set a configuration value of the first stack
    #[arg(short, long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    config: Vec<String>,
    /// Read the keys of `--config` as paths into lists or into named values
    #[arg(long)]
    config_path: bool,
    /// Write over files that are there
    #[arg(short, long)]
    force: bool,
    /// Only write the files: no stack, no configuration, no dependencies
    #[arg(short, long)]
    generate_only: bool,
    /// Add options of the language's runtime
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',')]
    runtime_options: Vec<String>,
    /// What seals the secrets of the first stack: `default`, `passphrase`, or the URL of a key
    #[arg(long, value_name = "PROVIDER", default_value = "default")]
    secrets_provider: String,
    /// List the templates
    #[arg(short, long)]
    list_templates: bool,
    /// Do not ask; take the defaults
    #[arg(short, long)]
    yes: bool,
    /// Accepted for the stock CLI's sake: templates are always here
    #[arg(short, long, hide = true)]
    offline: bool,
    /// Accepted for the stock CLI's sake
    #[arg(short, long, hide = true)]
    template_mode: bool,
    /// Not available: configuration is kept beside the project
    #[arg(long, hide = true)]
    remote_stack_config: bool,
    /// Not available: it needs Pulumi Cloud
    #[arg(long, hide = true, value_name = "TEXT")]
    ai: Option<String>,
    /// Not available: it needs Pulumi Cloud
    #[arg(long, hide = true, value_name = "LANGUAGE")]
    language: Option<String>,
}

pub(crate) async fn run(context: &Context, args: NewArgs) -> Outcome {
    if args.list_templates {
        let rows: Vec<Vec<String>> =
            BUILT_IN.iter().map(|one| vec![one.name.to_owned(), one.about.to_owned()]).collect();
        terminal::data(&terminal::table(&rows));
        return Ok(());
    }
    args.refuse()?;
    let options = runtime_options(&args.runtime_options)?;
    let asks = context.is_interactive() && !args.yes;
    if !asks && !args.yes {
        return Err(Failure::configuration(
            "--yes must be passed in to proceed when running in non-interactive mode",
        )
        .hint("`drystone new TEMPLATE --yes` takes the defaults"));
    }
    let folder = match &args.dir {
        Some(folder) => context.environment.resolve(folder),
        None => context.environment.working_directory().to_path_buf(),
    };
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure::configuration(format!("the folder {}: {error}", folder.display())))?;
    let template = args.find_template(context, asks)?;
    args.refuse_collisions(&template, &folder)?;
    let name = args.project_name(&folder, asks)?;
    let described = match &args.description {
        Some(text) => text.clone(),
        None => ask("What the project is:", format!("The project {name}"), asks)?,
    };
    args.config_values(&name)?;
    template.write(&folder, &name, &described)?;
    set_runtime_options(&folder, &options)?;
    terminal::note(format!("Created project '{name}'"));
    if args.generate_only {
        return Ok(());
    }
    let globals = Globals { cwd: Some(folder), ..context.globals.clone() };
    let inside = Context::of_process(globals)?;
    args.make_stack(&inside, asks).await?;
    let project = inside.require_project()?;
    let runtime = project.runtime.as_ref().map(|runtime| runtime.name.as_str()).unwrap_or_default();
    if ["nodejs", "python"].contains(&runtime) {
        terminal::note("Installing dependencies...");
        let program = Program::of(&project).map_err(Failure::configuration)?;
        install_dependencies(&inside, &program).await.map_err(|failure| {
            failure
                .detail("the project was made; only what it depends on is missing")
                .hint("mend it and run `drystone install` in the project's folder")
        })?;
        terminal::note("Finished installing dependencies");
    }
    let go = args.dir.as_ref().map(|folder| format!("`cd {}`, then ", folder.display())).unwrap_or_default();
    terminal::note(format!("Your new project is ready to go! {go}`drystone up` deploys it."));
    Ok(())
}

impl NewArgs {
    /// Refuses what is not here, and names that could never be.
    fn refuse(&self) -> Outcome {
        if self.ai.is_some() || self.language.is_some() {
            return Err(Failure::configuration("`--ai` and `--language` need Pulumi Cloud")
                .hint("name a template: `drystone new --list-templates` lists them"));
        }
        if self.remote_stack_config {
            return Err(Failure::configuration("`--remote-stack-config` needs Pulumi Cloud")
                .hint("leave it out: the configuration is kept in Pulumi.STACK.yaml"));
        }
        self.secrets_provider.parse::<ProviderChoice>().map_err(Failure::configuration)?;
        let Some(name) = &self.name else { return Ok(()) };
        check_new_project_name(name)
            .map_err(|problem| Failure::general(format!("'{name}' is not a valid project name: {problem}")))
    }

    fn find_template(&self, context: &Context, asks: bool) -> Outcome<Template> {
        let named = match &self.template {
            Some(named) => named.clone(),
            None if asks => choose_template()?,
            None => return Ok(Template::minimal()),
        };
        Template::find(&named, &context.environment.resolve(named.as_ref()))
    }

    /// Nothing that is there is lost.
    fn refuse_collisions(&self, template: &Template, folder: &Path) -> Outcome {
        if self.force {
            return Ok(());
        }
        let is_visible = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.is_ok_and(|entry| ![".git", ".hg", ".svn"].iter().any(|name| entry.file_name() == *name))
        };
        let taken = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.any(is_visible));
        if !taken {
            return Ok(());
        }
        let shown = folder.display();
        let lost = template.collisions(folder);
        let failure = Failure::general(format!(
            "{shown} is not empty; rerun in an empty directory, pass the path to an empty directory to --dir, or use --force"
        ));
        Err(lost
            .iter()
            .fold(failure, |failure, name| failure.detail(format!("it would be written over: {name}"))))
    }

    fn project_name(&self, folder: &Path, asks: bool) -> Outcome<String> {
        if let Some(name) = &self.name {
            return Ok(name.clone());
        }
        let named = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let named: String = named.chars().map(plain).collect();
        let default = if check_new_project_name(&named).is_ok() { named } else { "project".to_owned() };
        let name = ask("Name of the project:", default, asks)?;
        check_new_project_name(&name).map_err(|problem| {
            Failure::general(format!("'{name}' is not a valid project name: {problem}"))
        })?;
        Ok(name)
    }

    /// The configuration of the first stack.
    fn config_values(&self, project: &str) -> Outcome<Vec<(Locator, String)>> {
        let read = |text: &String| {
            parse_assignment(Some(project), text, self.config_path)
                .map_err(|error| chain(error).hint("a value is set with `--config KEY=VALUE`"))
        };
        self.config.iter().map(read).collect()
    }

    /// Makes the first stack, selects it, and sets its configuration.
    async fn make_stack(&self, context: &Context, asks: bool) -> Outcome {
        let backend = context.backend().await?;
        let project = context.require_project()?;
        let name = match &context.globals.stack {
            Some(name) => name.clone(),
            None => ask("Name of the stack:", "dev".to_owned(), asks)?,
        };
        let stack = backend.stack_id(&name, Some(&project.name))?;
        if !exists(&backend, &stack).await? {
            let new = NewStack { secrets_provider: &self.secrets_provider, copy_config_from: None };
            create(context, &backend, &project, &stack, new).await?;
        }
        selection::select(context, &backend, &project, &stack)?;
        if self.config.is_empty() {
            return Ok(());
        }
        let name = project.name.clone();
        let mut opened = Opened::of(context, &Place { config_file: None }, project, backend, stack, None)?;
        for (locator, value) in self.config_values(&name)? {
            opened.file.settings.config.set(&locator, NewValue::Text(value)).map_err(chain)?;
        }
        opened.save().map(|_| ())
    }
}

fn choose_template() -> Outcome<String> {
    let rows: Vec<String> = BUILT_IN.iter().map(|one| format!("{:<12} {}", one.name, one.about)).collect();
    let chosen = inquire::Select::new("Please choose a template:", rows).raw_prompt();
    let chosen =
        chosen.map_err(|_| Failure::new(ExitCode::Cancelled, "cancelled: no template was chosen"))?;
    Ok(BUILT_IN[chosen.index].name.to_owned())
}

fn ask(question: &str, default: String, asks: bool) -> Outcome<String> {
    if !asks {
        return Ok(default);
    }
    let answer = inquire::Text::new(question).with_default(&default).prompt();
    answer.map_err(|_| Failure::new(ExitCode::Cancelled, "cancelled: no project was made"))
}

/// Options of the language's runtime, as the command line has them.
fn runtime_options(given: &[String]) -> Outcome<Vec<(String, String)>> {
    let read = |option: &String| {
        let pair = option.trim().split_once('=');
        pair.map(|(key, value)| (key.to_owned(), value.to_owned())).ok_or_else(|| {
            Failure::configuration(format!("invalid runtime option: {option}")).hint("an option is KEY=VALUE")
        })
    };
    given.iter().map(read).collect()
}

/// Adds options to the runtime that the project file names.
fn set_runtime_options(folder: &Path, options: &[(String, String)]) -> Outcome {
    if options.is_empty() {
        return Ok(());
    }
    let path = folder.join("Pulumi.yaml");
    let project = Project::load(&path).map_err(Failure::configuration)?;
    let mut runtime = project.runtime.unwrap_or_default();
    for (key, value) in options {
        runtime.options.insert(key.clone(), Value::String(value.clone()));
    }
    let fail = |error: &dyn std::fmt::Display| Failure::configuration(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| fail(&error))?;
    let mut inside = false;
    let others = text.split_inclusive('\n').filter(|line| {
        if line.starts_with(|c: char| !c.is_whitespace()) {
            inside = line.starts_with("runtime:");
        }
        !inside
    });
    let mut text: String = others.collect();
    let options = Value::Object(runtime.options).to_json();
    text.push_str(&format!("runtime:\n  name: {}\n  options: {options}\n", runtime.name));
    std::fs::write(&path, text).map_err(|error| fail(&error))
}
