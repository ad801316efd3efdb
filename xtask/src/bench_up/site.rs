//! A project of the bench language with a backend of its own, for one engine.

use super::measure::{Cost, Ended, measure, measure_within};
use crate::cache::{make_folder, remove_folder};
use crate::failure::Failure;
use crate::setup;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Who carries the update out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Engine {
    Ours,
    /// The stock CLI with its checkpoints skipped.
    StockUnsafe,
    Stock,
    /// An engine that decides nothing.
    Floor,
}

impl Engine {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Ours, "ours"),
        (Self::StockUnsafe, "skipping"),
        (Self::Stock, "stock"),
        (Self::Floor, "floor"),
    ];

    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(engine, _)| *engine == self).map_or("", |(_, name)| name)
    }

    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| *name == word).map(|(engine, _)| *engine)
    }
}

/// How resources hang together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    Flat,
    Chain,
    /// Flat, with 2 KB of properties each.
    Big,
    /// Values that the engine itself keeps, in YAML: no provider, and for ours no language plugin.
    Stash,
}

impl Shape {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::Chain => "chain",
            Self::Big => "big",
            Self::Stash => "stash",
        }
    }

    /// Every shape.
    pub(super) const ALL: [Self; 4] = [Self::Flat, Self::Chain, Self::Big, Self::Stash];

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| shape.name() == word)
    }

    /// The shape and the bytes of each resource, as the bench language takes them.
    fn options(self) -> (&'static str, usize) {
        match self {
            Self::Flat | Self::Stash => ("flat", 32),
            Self::Chain => ("chain", 32),
            Self::Big => ("flat", 2048),
        }
    }

    /// The project file of so many resources.
    pub(crate) fn project(self, size: usize) -> String {
        if self == Self::Stash {
            return self.yaml(size, None);
        }
        let (shape, bytes) = self.options();
        format!(
            "name: bench\nruntime:\n  name: bench\n  options: {{resources: {size}, shape: {shape}, bytes: {bytes}}}\n"
        )
    }
}

impl Shape {
    /// A project file in YAML of so many values that the engine itself keeps, one of them changed.
    pub(crate) fn yaml(self, size: usize, changed: Option<usize>) -> String {
        let input = |number: usize| match self {
            _ if changed == Some(number) => format!("another value {number}"),
            Self::Chain if number > 0 => format!("${{r{}.output}}", number - 1),
            Self::Big => format!("{number:02048}"),
            _ => format!("value {number}"),
        };
        let resource = |number| {
            let input = input(number);
            format!("  r{number}: {{type: 'pulumi:index:Stash', properties: {{input: '{input}'}}}}\n")
        };
        let resources: String = (0..size).map(resource).collect();
        format!("name: bench\nruntime: yaml\nresources:\n{resources}")
    }
}

/// What is done with the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Up,
    Unchanged,
    Preview,
    Destroy,
}

impl Step {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Unchanged => "up, no change",
            Self::Preview => "preview",
            Self::Destroy => "destroy",
        }
    }

    pub(crate) fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Up | Self::Unchanged => &["up", "--yes", "--skip-preview", "--non-interactive"],
            Self::Preview => &["preview", "--non-interactive"],
            Self::Destroy => &["destroy", "--yes", "--skip-preview", "--non-interactive"],
        }
    }
}

/// Where stacks are kept, when not in the site's own folder.
#[derive(Clone, Debug)]
pub(crate) struct Backend {
    pub(crate) url: String,
    pub(crate) variables: Vec<(&'static str, String)>,
}

/// A project, a backend and the engine that works on them.
pub(crate) struct Site {
    engine: Engine,
    shape: Shape,
    size: usize,
    folder: PathBuf,
    binaries: PathBuf,
    stock: PathBuf,
    /// The folder of the plugin that runs YAML for the stock CLI.
    yaml: PathBuf,
    backend: Option<Backend>,
    /// Variables of the project's own.
    variables: Vec<(&'static str, String)>,
}

impl Site {
    pub(crate) fn new(
        folder: &Path,
        engine: Engine,
        shape: Shape,
        size: usize,
        binaries: &Path,
    ) -> Result<Self, Failure> {
        let peers = setup::ensure(&[&setup::PULUMI, &setup::YAML])?;
        let stock = peers.place(&setup::PULUMI)?.to_path_buf();
        let yaml = peers.place(&setup::YAML)?.parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(Self {
            engine,
            shape,
            size,
            folder: folder.to_path_buf(),
            binaries: binaries.to_path_buf(),
            stock,
            yaml,
            backend: None,
            variables: Vec::new(),
        })
    }

    /// The same with its stacks elsewhere.
    pub(crate) fn on(self, backend: Backend) -> Self {
        Self { backend: Some(backend), ..self }
    }

    /// The same with a variable for every command.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// Makes the stack, keeps it, looks at it and destroys it.
    pub(super) fn live(&self) -> Result<Vec<(Step, Cost)>, Failure> {
        if self.engine == Engine::Floor {
            self.make_folders()?;
            let (shape, bytes) = self.shape.options();
            let mut command = self.command(&self.binaries.join("null-engine"));
            command.args([&self.size.to_string(), shape, &bytes.to_string()]);
            return Ok(vec![(Step::Up, measure(&mut command)?)]);
        }
        self.begin(&self.shape.project(self.size))?;
        let mut costs = Vec::new();
        for step in [Step::Up, Step::Unchanged, Step::Preview, Step::Destroy] {
            costs.push((step, self.run(step.arguments())?));
        }
        Ok(costs)
    }

    /// Makes everything anew, with an empty stack.
    pub(crate) fn begin(&self, project: &str) -> Result<(), Failure> {
        self.make_folders()?;
        self.write_project(project)?;
        self.run(&["stack", "init", "dev"]).map(drop)
    }

    fn make_folders(&self) -> Result<(), Failure> {
        remove_folder(&self.folder)?;
        for part in ["project", "backend", "home"] {
            make_folder(&self.folder.join(part))?;
        }
        Ok(())
    }

    /// Writes the project file.
    pub(crate) fn write_project(&self, project: &str) -> Result<(), Failure> {
        let file = self.folder.join("project").join("Pulumi.yaml");
        std::fs::write(&file, project).map_err(|error| Failure::at(&file, "write", &error))
    }

    /// The same project and stack in the hands of another engine.
    pub(crate) fn handed_to(self, engine: Engine) -> Self {
        Self { engine, ..self }
    }

    /// What a command costs on the stack, that is none of the steps of its life.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Cost, Failure> {
        measure(self.engine_command().args(arguments))
    }

    /// The same for a command that may take so long and no longer.
    pub(crate) fn run_within(&self, limit: Duration, arguments: &[&str]) -> Result<Ended, Failure> {
        measure_within(self.engine_command().args(arguments), limit)
    }

    fn engine_command(&self) -> Command {
        match self.engine {
            Engine::Ours => self.command(&self.binaries.join("drystone")),
            _ => self.command(&self.stock),
        }
    }

    fn command(&self, binary: &Path) -> Command {
        let mut command = Command::new(binary);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PULUMI_") {
                command.env_remove(name);
            }
        }
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{}:{path}", self.binaries.display(), self.yaml.display());
        let own = || format!("file://{}", self.folder.join("backend").display());
        let url = self.backend.as_ref().map_or_else(own, |backend| backend.url.clone());
        let variables = self.backend.iter().flat_map(|backend| &backend.variables);
        command
            .current_dir(self.folder.join("project"))
            .env("PATH", path)
            .env("PULUMI_HOME", self.folder.join("home"))
            .env("PULUMI_BACKEND_URL", url)
            .envs(variables.chain(&self.variables).map(|(name, value)| (name, value)))
            .env("PULUMI_CONFIG_PASSPHRASE", "bench")
            .env("PULUMI_SKIP_UPDATE_CHECK", "true");
        if self.engine == Engine::StockUnsafe {
            command.env("PULUMI_SKIP_CHECKPOINTS", "true");
        }
        command
    }
}
