//! Reading over HTTP.

mod ask;
mod resource;

pub(crate) use resource::{GET_HTTP, Request, get_http};
