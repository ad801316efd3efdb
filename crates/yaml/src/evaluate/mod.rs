//! Running a program.
//!
//! Every part is evaluated once, in order, without waiting: what a resource or a provider's function will give is a
//! [`Promise`], and what is made of promises is one too. Registrations wait for the promises that they need, so that
//! resources which do not need each other are registered side by side.

mod access;
mod assets;
mod config;
mod expression;
mod format;
mod functions;
mod invoke;
mod marshal;
mod options;
mod promise;
mod register;
mod resource;
mod run;
mod tasks;
mod value;

pub(crate) use config::Given;
pub(crate) use register::component_inputs;
pub(crate) use resource::{Handle, State};
pub(crate) use run::{Ending, Evaluator, Parts, Scope, Surroundings, tell};
pub(crate) use value::Val;
