//! `state seal`, `state unseal` and `state rekey`: everything in the backend sealed at rest, no longer, or with another key.

use super::{counted, require_approval};
use crate::backend::{Backend, is_of_another_system, sealing_encrypter};
use crate::context::Context;
use crate::report::{Failure, Outcome};
use crate::{terminal, trees};
use clap::Args;
use drystone_stores::Sealing;

/// Seals everything in the backend at rest: checkpoints, history, journals, revisions, the trash.
///
/// The stock CLI cannot read a sealed backend, and says so. What was cut short is gone on with by the same command.
#[derive(Debug, Args)]
pub(crate) struct SealArgs {
    /// What seals: `env-key:VARIABLE`, `kms:KEY` or `gcp-kms:KEY`
    encrypter: String,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// Takes the seals off everything in the backend. What was cut short is gone on with by the same command.
#[derive(Debug, Args)]
pub(crate) struct UnsealArgs {
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// Seals everything in the backend with another key. What was cut short is gone on with by the same command.
#[derive(Debug, Args)]
pub(crate) struct RekeyArgs {
    /// What seals from now on: `env-key:VARIABLE`, `kms:KEY` or `gcp-kms:KEY`
    encrypter: String,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) async fn seal(context: &Context, args: SealArgs) -> Outcome {
    let (url, place, sealed_with) = backend(context)?;
    if let Some(with) = sealed_with.filter(|with| *with != args.encrypter) {
        return Err(Failure::configuration(format!("{url}: it is sealed with {with} already"))
            .hint("seal it with another key by `drystone state rekey`"));
    }
    let sealing = Sealing::beginning(sealing_encrypter(&args.encrypter)?);
    let question = format!(
        "This seals everything in {place}; whoever has no key, and the stock CLI, cannot read it afterwards. Go on?"
    );
    run(context, Way { place: &place, sealing, command: "state seal" }, args.yes, &question).await?;
    now_at(&place, Some(&args.encrypter));
    Ok(())
}

pub(crate) async fn unseal(context: &Context, args: UnsealArgs) -> Outcome {
    let (url, place, sealed_with) = backend(context)?;
    let with = sealed_with.ok_or_else(|| not_sealed(&url))?;
    let sealing = Sealing::ending(sealing_encrypter(&with)?);
    let question = format!("This leaves everything in {place} in clear. Go on?");
    run(context, Way { place: &place, sealing, command: "state unseal" }, args.yes, &question).await?;
    now_at(&place, None);
    Ok(())
}

pub(crate) async fn rekey(context: &Context, args: RekeyArgs) -> Outcome {
    let (url, place, sealed_with) = backend(context)?;
    let with = sealed_with.ok_or_else(|| not_sealed(&url))?;
    let sealing = Sealing::changing(sealing_encrypter(&with)?, sealing_encrypter(&args.encrypter)?);
    let question = format!("This seals everything in {place} with {} instead. Go on?", args.encrypter);
    run(context, Way { place: &place, sealing, command: "state rekey" }, args.yes, &question).await?;
    now_at(&place, Some(&args.encrypter));
    Ok(())
}

/// The current backend's URL, the same without its encrypter, and that.
fn backend(context: &Context) -> Outcome<(String, String, Option<String>)> {
    let url = context.backend_url()?;
    let (place, encrypter) = trees::without_encrypter(&url);
    if is_of_another_system(&place) {
        return Err(Failure::configuration(format!("{place}: another system seals its stacks by itself")));
    }
    Ok((url, place, encrypter))
}

fn not_sealed(url: &str) -> Failure {
    Failure::configuration(format!("{url}: its URL names no encrypter")).hint(
        "log in with `drystone login 'URL?encrypter=…'` if it is sealed; seal it with `drystone state seal`",
    )
}

/// What becomes of a backend.
struct Way<'a> {
    place: &'a str,
    sealing: Sealing,
    command: &'static str,
}

async fn run(context: &Context, way: Way<'_>, yes: bool, question: &str) -> Outcome {
    let Way { place, sealing, command } = way;
    let backend = Backend::open_sealed(&context.environment, place, Some(sealing)).await?;
    require_approval(context, yes, question)?;
    let working = terminal::working("Going through all documents");
    let done = backend.reseal(command).await?;
    drop(working);
    let stacks = usize::try_from(done.stacks).unwrap_or(usize::MAX);
    let documents = usize::try_from(done.documents).unwrap_or(usize::MAX);
    terminal::note(format!("Wrote {} of {} anew", counted(documents, "document"), counted(stacks, "stack")));
    Ok(())
}

/// Says by which URL the backend is found from now on.
fn now_at(place: &str, encrypter: Option<&str>) {
    let url = match encrypter {
        Some(encrypter) => {
            let between = if place.contains('?') { '&' } else { '?' };
            format!("{place}{between}{}={encrypter}", trees::ENCRYPTER)
        }
        None => place.to_owned(),
    };
    terminal::note(format!("Log in again with `drystone login '{url}'`, here and wherever it is used."));
}
