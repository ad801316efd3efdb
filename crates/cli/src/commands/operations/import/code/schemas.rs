//! The schemas of the packages that were imported from.

use crate::commands::operations::hosting::Hosting;
use crate::commands::operations::subject::Subject;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use drystone_engine::{Event, EventSink, PackageDescriptor, ProviderErrorKind};
use drystone_plugins::loader::USUAL_ECOSYSTEM;
use drystone_plugins::schema::Package;
use futures::future::join_all;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// How long a provider may take to start and to give its schema.
const LIMIT: Duration = Duration::from_secs(120);

const NONE: &str = "its provider has no schema";

/// What packages say of their resources, or why that is not known.
#[derive(Debug, Default)]
pub(in crate::commands::operations::import) struct Schemas {
    known: HashMap<PackageDescriptor, Result<Arc<Package>, String>>,
}

impl Schemas {
    /// Asks the providers of packages. One that does not answer, or makes no sense, is as if it had no schema.
    pub(in crate::commands::operations::import) async fn ask(
        context: &Context,
        subject: &Subject,
        packages: BTreeSet<PackageDescriptor>,
    ) -> Outcome<Self> {
        if packages.is_empty() {
            return Ok(Self::default());
        }
        let project = Some(&subject.project);
        let hosting = Hosting::heard_by(context, project, USUAL_ECOSYSTEM, Arc::new(Silence)).await?;
        let _working = terminal::working("reading schemas");
        let asked_of = &hosting;
        let asked = packages.into_iter().map(|package| async move {
            let answer = tokio::time::timeout(LIMIT, ask(asked_of, &package)).await;
            let answer = answer.unwrap_or_else(|_| Err("its provider did not answer".to_owned()));
            (package, answer)
        });
        let known = tokio::select! {
            known = join_all(asked) => Ok(Self { known: known.into_iter().collect() }),
            _ = tokio::signal::ctrl_c() => Err(Failure::new(ExitCode::Cancelled, "no code was written")
                .hint("the resources were taken over; `drystone stack export` shows them")),
        };
        hosting.close().await;
        known
    }

    /// What a package says.
    pub(super) fn of(&self, package: &PackageDescriptor) -> Result<&Arc<Package>, &str> {
        match self.known.get(package) {
            Some(known) => known.as_ref().map_err(String::as_str),
            None => Err(NONE),
        }
    }

    /// Schemas that are known.
    #[cfg(test)]
    pub(super) fn known(
        known: impl IntoIterator<Item = (PackageDescriptor, Result<Arc<Package>, String>)>,
    ) -> Self {
        Self { known: known.into_iter().collect() }
    }
}

async fn ask(hosting: &Hosting, package: &PackageDescriptor) -> Result<Arc<Package>, String> {
    let text = hosting.schema(package).await.map_err(|error| match error.kind {
        ProviderErrorKind::Unimplemented => NONE.to_owned(),
        _ => error.message.lines().next().unwrap_or_default().to_owned(),
    })?;
    if text.trim().is_empty() {
        return Err(NONE.to_owned());
    }
    Package::read(&text).map_err(|error| error.to_string())
}

/// What providers say was said before, when the resources were read.
struct Silence;

impl EventSink for Silence {
    fn send(&self, _: Event) {}
}
