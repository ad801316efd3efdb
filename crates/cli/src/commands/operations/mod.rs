//! The operations: `preview`, `up`, `refresh`, `destroy` and `import`, a file each for what the command line says, and
//! `watch`, which runs one of them again and again.
//!
//! Each makes a [`request::Request`]. `subject` finds what it is about: project, stack, configuration, secrets. `flow`
//! previews, asks, takes the lease, runs the engine and commits once. `hosting` starts plugins,
//! `session` the program. `journal`, `stacks` and `signals` are the engine's ways to the store and to the user.

mod confirm;
mod destroy;
mod event_stream;
mod flags;
pub(super) mod flow;
mod git;
pub(super) mod hosting;
mod import;
mod installing;
mod journal;
mod pending;
mod plan;
pub(super) mod policies;
mod preview;
mod protection;
mod record;
mod refresh;
mod request;
mod session;
mod signals;
mod stacks;
mod subject;
mod up;
mod view;
mod watch;
mod yaml;

pub(super) use destroy::DestroyArgs;
pub(super) use import::ImportArgs;
pub(super) use pending::{Resolution, Resolutions, resolve};
pub(super) use preview::PreviewArgs;
pub(super) use refresh::RefreshArgs;
pub(super) use up::UpArgs;
pub(super) use watch::WatchArgs;

use crate::context::Context;
use crate::report::Outcome;

/// Makes the stack what its program says.
pub(super) async fn up(context: &Context, args: UpArgs) -> Outcome {
    flow::run(context, args.request(context)?).await
}

/// Says what `up` would do.
pub(super) async fn preview(context: &Context, args: PreviewArgs) -> Outcome {
    flow::run(context, args.request(context)?).await
}

/// Brings the state up to what there is.
pub(super) async fn refresh(context: &Context, args: RefreshArgs) -> Outcome {
    flow::run(context, args.request(context)?).await
}

/// Takes over what exists.
pub(super) async fn import(context: &Context, args: ImportArgs) -> Outcome {
    import::run(context, args).await
}

/// Updates whenever the program changes.
pub(super) async fn watch(context: &Context, args: WatchArgs) -> Outcome {
    watch::run(context, args).await
}

/// Deletes everything.
pub(super) async fn destroy(context: &Context, args: DestroyArgs) -> Outcome {
    flow::run(context, args.request(context)?).await
}
