//! Languages: what runs programs, and plugins that are source code.
//!
//! Node.js, Bun and Python are started here directly. Every other language has a plugin `pulumi-language-<name>` that
//! runs programs on our behalf ([`LanguageHost`]); so have inline programs of the Automation API.

mod acquire;
mod debugger;
mod error;
mod execute;
mod host;
mod launch;
mod linking;
mod node;
mod options;
mod packages;
mod plugins;
mod policy_packs;
mod program;
mod python;
mod request;

pub use acquire::{InstallSink, Installing, Offer};
pub use debugger::DebuggedPlugins;
pub use error::LanguageError;
pub use host::{LanguageHost, RequiredPackages};
pub use launch::{About, Language};
pub use linking::Sdk;
pub use plugins::{PluginError, PluginHost, PluginSink, StartedPlugin};
pub use policy_packs::{PolicyRun, StartedPolicyPack};
pub use program::Program;
pub use request::{DebuggerSink, Outcome, RunRequest};
