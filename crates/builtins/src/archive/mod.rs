//! Archives of files. The same files make the same bytes.

mod excludes;
mod gather;
mod pack;
mod resource;
mod unpack;

pub(crate) use resource::{File, GET_FILE, get_file};
