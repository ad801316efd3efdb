//! The settings of a stack: `Pulumi.<stack>.yaml`, read and edited in place.

mod file;
mod json;
mod settings;

pub use file::{StackFile, StackFileError};
pub use settings::StackSettings;
