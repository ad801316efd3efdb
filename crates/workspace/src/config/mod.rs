//! Configuration: keys, values, and what the `config` commands do with them. Pure.
//!
//! Encryption is the caller's. Secrets are ciphertexts here; [`Config::ciphertexts`] lists them for one batch, and
//! [`Config::with_ciphertexts`] and [`Config::shown`] take the batch's answer.

mod assign;
mod defaults;
mod key;
mod map;
mod shown;

pub use assign::{
    AssignmentError, JsonAssignment, NewValue, Type, TypeError, parse_assignment, parse_json_assignments,
};
pub use defaults::{ConfigProblem, DeclarationError, apply_project, check};
pub use key::{Key, KeyError, Locator};
pub use map::{BatchError, Config, ConfigError};
pub use shown::{Secrets, Shown};
