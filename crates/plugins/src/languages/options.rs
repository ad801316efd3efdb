//! The options that a project gives its runtime.

use super::LanguageError;
use drystone_workspace::Value;
use drystone_workspace::project::Runtime;

/// A text option.
pub(super) fn text<'a>(runtime: &'a Runtime, option: &'static str) -> Result<Option<&'a str>, LanguageError> {
    match runtime.options.get(option) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(LanguageError::Option { option, expected: "a text" }),
    }
}

/// An option that is on or off.
pub(super) fn switch(runtime: &Runtime, option: &'static str) -> Result<Option<bool>, LanguageError> {
    match runtime.options.get(option) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(*value)),
        Some(_) => Err(LanguageError::Option { option, expected: "true or false" }),
    }
}
