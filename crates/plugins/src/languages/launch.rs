//! Opening a language and running a program in it.

use super::node::Node;
use super::python::Python;
use super::{LanguageError, LanguageHost, Outcome, Program, RequiredPackages, RunRequest, Sdk};
use crate::process::LineSink;
use crate::search::{BuiltIn, Found, Place, Search, Wanted};
use drystone_workspace::Environment;
use std::sync::Arc;

/// What runs the programs of a language.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// The program.
    pub executable: String,
    /// Its version.
    pub version: String,
}

/// A language that can run programs.
#[derive(Debug)]
pub struct Language {
    runner: Runner,
    warning: Option<String>,
}

#[derive(Debug)]
enum Runner {
    Node(Node),
    Python(Python),
    Host(Arc<LanguageHost>),
}

impl Language {
    /// The language of a program. A language with a plugin starts it; its lines, which are those of the programs that
    /// it runs, go to the sink. A `client`, `host:port`, runs the program itself, whatever the language of the project.
    pub async fn open(
        program: &Program,
        client: Option<&str>,
        search: &Search,
        environment: &Arc<Environment>,
        engine_address: &str,
        sink: LineSink,
    ) -> Result<Self, LanguageError> {
        if let Some(address) = client {
            let host = LanguageHost::connect(address).await?;
            return Ok(Self { runner: Runner::Host(Arc::new(host)), warning: None });
        }
        let name = &program.runtime.name;
        let Found { place, warning } = search.find(&Wanted::language(name))?;
        let runner = match place {
            Place::BuiltIn(BuiltIn::Python | BuiltIn::PythonDynamic) => {
                Runner::Python(Python::new(environment.clone(), sink))
            }
            Place::BuiltIn(BuiltIn::Bun) => Runner::Node(Node::bun(environment.clone(), sink)),
            Place::BuiltIn(BuiltIn::Node | BuiltIn::NodeDynamic) => {
                Runner::Node(Node::new(environment.clone(), sink))
            }
            place => Runner::Host(Arc::new(
                LanguageHost::start(name, &place, engine_address, &program.directory, sink).await?,
            )),
        };
        Ok(Self { runner, warning })
    }

    /// Something that may surprise the user: which plugin is taken.
    #[must_use]
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// The packages that a program needs, as far as it can be seen before it runs: for Node.js and Python, those that
    /// are installed for it.
    pub async fn required_packages(&self, program: &Program) -> Result<RequiredPackages, LanguageError> {
        match &self.runner {
            Runner::Host(host) => host.required_packages(program).await,
            Runner::Node(node) => Ok(RequiredPackages::installed(node.required(program).await)),
            Runner::Python(python) => Ok(RequiredPackages::installed(python.required(program).await?)),
        }
    }

    /// What would run a program: the interpreter and its version, as far as they can be told.
    pub async fn about(&self, program: &Program) -> Result<About, LanguageError> {
        match &self.runner {
            Runner::Host(host) => host.about(program).await,
            Runner::Node(node) => node.about().await,
            Runner::Python(python) => python.about(program).await,
        }
    }

    /// Runs a program to its end, or until the caller cancels it: then it is interrupted, and killed if it does not
    /// end. Dropping the future kills it at once.
    pub async fn run(
        &self,
        request: &RunRequest,
        cancelled: impl Future<Output = ()>,
    ) -> Result<Outcome, LanguageError> {
        match &self.runner {
            Runner::Node(node) => node.run(request, cancelled).await,
            Runner::Python(python) => python.run(request, cancelled).await,
            Runner::Host(host) => host.run(request, cancelled).await,
        }
    }

    /// Installs what a program depends on.
    pub async fn install_dependencies(&self, program: &Program, sink: LineSink) -> Result<(), LanguageError> {
        match &self.runner {
            Runner::Node(node) => node.install(program, &sink).await,
            Runner::Python(python) => python.install(program, &sink).await,
            Runner::Host(host) => host.install_dependencies(program, &sink).await,
        }
    }

    /// Adds an SDK to what a program depends on, and installs it. The answer says how programs import it, or nothing.
    pub async fn add_sdk(
        &self,
        program: &Program,
        sdk: &Sdk,
        sink: LineSink,
    ) -> Result<String, LanguageError> {
        match &self.runner {
            Runner::Node(node) => node.add(program, &sdk.folder, &sink).await.map(|()| String::new()),
            Runner::Python(python) => python.add(program, &sdk.folder, &sink).await.map(|()| String::new()),
            Runner::Host(host) => host.link(program, sdk).await,
        }
    }

    /// The plugin of the language, if it has one.
    #[must_use]
    pub fn host(&self) -> Option<&LanguageHost> {
        match &self.runner {
            Runner::Host(host) => Some(host),
            Runner::Node(_) | Runner::Python(_) => None,
        }
    }

    /// Ends the plugin, if there is one, and delivers what it still prints.
    pub async fn close(&self) {
        if let Runner::Host(host) = &self.runner {
            host.close().await;
        }
    }
}
