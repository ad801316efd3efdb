//! Files and folders of this machine.

mod directory;
mod file;
mod permission;
mod place;
mod write;

pub(crate) use directory::Directory;
pub(crate) use file::{File, off_thread};
pub(crate) use permission::Permission;
pub(crate) use place::{existing, failed, resolve};
pub(crate) use write::{Permissions, write};
