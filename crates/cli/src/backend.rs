//! Which store a backend's URL stands for.

use crate::app::parse_duration;
use crate::report::{ExitCode, Failure, Outcome};
use crate::{cdkd_buckets, trees};
use drystone_dialects::projection;
use drystone_secrets::envelope::Encrypter;
use drystone_stores::cdkd::CdkdStacks;
use drystone_stores::local::{Compression, LocalOptions, LocalStore};
use drystone_stores::object::{self, BucketOptions, BucketStore};
use drystone_stores::postgres::{PostgresOptions, PostgresStore};
use drystone_stores::unobin::UnobinStore;
use drystone_stores::{NameError, Resealed, Sealing, StackId, Store, Upgrade};
use drystone_workspace::Environment;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// The variable that says after how long a silent holder counts as dead, in buckets and databases.
const LEASE_TTL: &str = "DRYSTONE_LEASE_TTL";
const SHORTEST_TTL: Duration = Duration::from_secs(2);

/// The scheme of directories.
pub(crate) const FILE: &str = "file://";

/// A backend that is logged in to.
#[derive(Debug, Clone)]
pub(crate) struct Backend {
    /// Its URL, as the user gave it.
    pub(crate) url: String,
    medium: Medium,
}

/// What a backend keeps its stacks on.
#[derive(Debug, Clone)]
enum Medium {
    Folder {
        folder: PathBuf,
        store: LocalStore,
    },
    Bucket(BucketStore),
    Database(PostgresStore),
    /// Another system's stacks, in its own form.
    Trees(UnobinStore),
    Cdkd(CdkdStacks),
}

/// A stack and the backend that it is in.
#[derive(Debug, Clone)]
pub(crate) struct StackAt {
    pub(crate) backend: Backend,
    pub(crate) stack: StackId,
}

impl Display for StackAt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}#{}", self.backend, self.stack.qualified())
    }
}

/// The URL without what is secret in it (S17).
impl Display for Backend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&masked(&self.url))
    }
}

impl Backend {
    /// Opens the store that a URL stands for.
    pub(crate) async fn open(environment: &Environment, url: &str) -> Outcome<Self> {
        let sealing = match trees::without_encrypter(url) {
            (_, Some(encrypter)) if !is_of_another_system(url) => {
                Some(Sealing::with(sealing_encrypter(&encrypter)?))
            }
            _ => None,
        };
        Self::open_sealed(environment, url, sealing).await
    }

    /// Opens the store that a URL stands for, with what is in it sealed, whatever the URL says of that.
    pub(crate) async fn open_sealed(
        environment: &Environment,
        named: &str,
        sealing: Option<Sealing>,
    ) -> Outcome<Self> {
        let diy = LocalOptions { sealing, ..diy_options(environment)? };
        let (place, _) = trees::without_encrypter(named);
        let url = if is_of_another_system(named) { named } else { place.as_str() };
        let medium = match url.split_once("://").map_or(url, |(scheme, _)| scheme) {
            "file" => {
                let folder = folder_of(environment, url)?;
                let store = LocalStore::open(folder.clone(), diy)?;
                Medium::Folder { folder, store }
            }
            scheme if object::SCHEMES.contains(&scheme) => {
                let named = Url::parse(url)
                    .map_err(|error| Failure::configuration(format!("{}: {error}", masked(url))))?;
                let variables = environment.clone();
                let mut options = BucketOptions { diy, ..BucketOptions::default() };
                options.lease_ttl = lease_ttl(environment)?.unwrap_or(options.lease_ttl);
                let lookup = move |name: &str| variables.variable(name);
                Medium::Bucket(object::open_url(&named, options, lookup).await?)
            }
            "postgres" | "postgresql" => {
                let mut options = PostgresOptions { diy, ..PostgresOptions::default() };
                options.lease_ttl = lease_ttl(environment)?.unwrap_or(options.lease_ttl);
                Medium::Database(PostgresStore::open(url, options).await?)
            }
            cdkd_buckets::SCHEME => {
                let variables = environment.clone();
                Medium::Cdkd(cdkd_buckets::open(url, move |name| variables.variable(name)).await?)
            }
            scheme if scheme.starts_with(trees::SCHEME) => {
                let variables = environment.clone();
                Medium::Trees(trees::open(url, move |name| variables.variable(name)).await?)
            }
            _ => return Err(unknown(url)),
        };
        Ok(Self { url: named.to_owned(), medium })
    }

    /// Refuses a backend that cannot be what the user means: a folder that is not there, since a misspelt one would
    /// start anew; a bucket whose server does not keep its word; anything that cannot be read.
    pub(crate) async fn refuse_unfit(&self, named: bool, trusted: bool) -> Outcome {
        match &self.medium {
            Medium::Folder { folder, .. } if named && !folder.is_dir() => {
                let folder = folder.display();
                return Err(Failure::configuration(format!("{self}: there is no folder `{folder}`"))
                    .hint(format!("make it with `mkdir -p {folder}`, or look at the path")));
            }
            Medium::Bucket(store) if named && !trusted => store.probe().await.map_err(|error| {
                Failure::from(error).hint(
                    "use another server, or `--trust-server` if only one writer at a time can ever come here",
                )
            })?,
            Medium::Folder { .. }
            | Medium::Bucket(_)
            | Medium::Database(_)
            | Medium::Trees(_)
            | Medium::Cdkd(_) => {}
        }
        self.store().stacks(None).await?;
        Ok(())
    }

    /// The store.
    pub(crate) fn store(&self) -> &dyn Store {
        match &self.medium {
            Medium::Folder { store, .. } => store,
            Medium::Bucket(store) => store,
            Medium::Database(store) => store,
            Medium::Trees(store) => store,
            Medium::Cdkd(store) => store,
        }
    }

    /// Brings everything into the form that the store was opened with.
    pub(crate) async fn reseal(&self, command: &str) -> Outcome<Resealed> {
        match &self.medium {
            Medium::Folder { store, .. } => Ok(store.reseal(command).await?),
            Medium::Bucket(store) => Ok(store.reseal(command).await?),
            Medium::Database(store) => Ok(store.reseal(command).await?),
            Medium::Trees(_) | Medium::Cdkd(_) => {
                Err(Failure::configuration(format!("{self}: another system seals its stacks by itself")))
            }
        }
    }

    /// The store, where its stacks may stand without projects.
    pub(crate) fn upgrade(&self) -> Option<&dyn Upgrade> {
        match &self.medium {
            Medium::Folder { store, .. } => Some(store),
            Medium::Bucket(store) => Some(store),
            Medium::Database(store) => Some(store),
            Medium::Trees(_) | Medium::Cdkd(_) => None,
        }
    }

    /// The package of what no provider serves, where the stacks are another system's.
    pub(crate) fn unserved(&self) -> Option<&'static str> {
        match &self.medium {
            Medium::Trees(_) => Some(projection::unobin::PACKAGE),
            Medium::Cdkd(_) => Some(projection::cdkd::PACKAGE),
            Medium::Folder { .. } | Medium::Bucket(_) | Medium::Database(_) => None,
        }
    }

    /// Whether stacks belong to projects here; they do except where a very old CLI began.
    pub(crate) fn has_projects(&self) -> bool {
        match &self.medium {
            Medium::Folder { store, .. } => store.has_projects(),
            Medium::Bucket(store) => store.has_projects(),
            Medium::Database(store) => store.has_projects(),
            Medium::Trees(_) | Medium::Cdkd(_) => true,
        }
    }

    /// Reads a stack's name in any of its forms.
    pub(crate) fn stack_id(&self, text: &str, project: Option<&str>) -> Outcome<StackId> {
        let read = match &self.medium {
            Medium::Trees(_) | Medium::Cdkd(_) => of_another_system(text, project),
            _ if self.has_projects() => StackId::parse(text, project),
            _ => StackId::legacy(text),
        };
        Ok(read.map_err(drystone_stores::Error::from)?)
    }

    /// A stack's name as people of its project know it.
    pub(crate) fn shown(&self, stack: &StackId, project: Option<&str>, in_full: bool) -> String {
        if !in_full && stack.project().is_none_or(|own| Some(own) == project) {
            stack.name().to_owned()
        } else {
            stack.qualified()
        }
    }
}

/// Reads `factory/stack` or `stack/region`, with the organisation that is the same everywhere before it or not.
fn of_another_system(text: &str, project: Option<&str>) -> Result<StackId, NameError> {
    match text.strip_prefix("organization/").unwrap_or(text).split_once('/') {
        Some((project, name)) => StackId::of_another_system(project, name),
        None => match project {
            Some(project) => StackId::of_another_system(project, text),
            None => Err(NameError::NoProject(text.to_owned())),
        },
    }
}

/// Whether a URL is of stacks in another system's form, such as `unobin+s3://…`, which says itself how they are sealed.
pub(crate) fn is_of_another_system(url: &str) -> bool {
    url.split_once("://").is_some_and(|(scheme, _)| scheme.contains('+'))
}

/// An encrypter that seals a backend. One without a key seals nothing.
pub(crate) fn sealing_encrypter(said: &str) -> Outcome<Arc<dyn Encrypter>> {
    if said == "noop" {
        return Err(Failure::configuration("the encrypter `noop` has no key and seals nothing")
            .hint("say `env-key:VARIABLE`, `kms:KEY` or `gcp-kms:KEY`"));
    }
    trees::encrypter(said)
}

/// A URL without its password.
pub(crate) fn masked(url: &str) -> String {
    match Url::parse(url).ok().as_ref().and_then(Url::password) {
        Some(password) => url.replacen(&format!(":{password}@"), ":[secret]@", 1),
        None => url.to_owned(),
    }
}

fn unknown(url: &str) -> Failure {
    let scheme = url.split_once("://").map_or(url, |(scheme, _)| scheme);
    Failure::configuration(format!("`{scheme}://` backends are not part of this version: {}", masked(url)))
        .hint("there are file://PATH, s3://BUCKET, gs://BUCKET, azblob://CONTAINER and postgres://HOST/DATABASE; for stacks of other systems, cdkd+s3://BUCKET and unobin+file://PATH")
}

/// The folder of a `file://` URL; `~` is the home folder, relative ones start where the command runs.
fn folder_of(environment: &Environment, url: &str) -> Outcome<PathBuf> {
    let path = url.strip_prefix(FILE).unwrap_or(url);
    let path = path.split('?').next().unwrap_or(path);
    let home = || {
        environment
            .home()
            .ok_or_else(|| Failure::new(ExitCode::Configuration, format!("{url}: there is no home folder")))
    };
    Ok(match path.strip_prefix('~') {
        Some("") => home()?.to_owned(),
        Some(rest) if rest.starts_with(['/', '\\']) => home()?.join(&rest[1..]),
        _ => environment.resolve(Path::new(if path.is_empty() { "." } else { path })),
    })
}

/// The settings of the stock CLI's DIY backends that stand in the environment.
fn diy_options(environment: &Environment) -> Outcome<LocalOptions> {
    let is_set = |name: &str| is_true(environment, name);
    let gzip = is_set("PULUMI_DIY_BACKEND_GZIP") || is_set("PULUMI_SELF_MANAGED_STATE_GZIP");
    let zstd = is_set("PULUMI_DIY_BACKEND_ZSTD");
    let compression = match (gzip, zstd) {
        (true, true) => {
            return Err(Failure::configuration(
                "PULUMI_DIY_BACKEND_GZIP and PULUMI_DIY_BACKEND_ZSTD are both set",
            )
            .hint("unset one of them"));
        }
        (true, false) => Compression::Gzip,
        (false, true) => Compression::Zstd,
        (false, false) => Compression::None,
    };
    let mut options = LocalOptions {
        compression,
        retain_checkpoints: is_set("PULUMI_DIY_BACKEND_RETAIN_CHECKPOINTS"),
        backups: !is_set("PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS"),
        legacy_layout: is_set("PULUMI_DIY_BACKEND_LEGACY_LAYOUT"),
        ..LocalOptions::default()
    };
    if is_set("PULUMI_SKIP_CHECKPOINTS") {
        options.checkpoint_interval = None;
    }
    Ok(options)
}

/// For how long after its last sign of life a holder counts as alive, where a variable says so. Servers tell the time in
/// whole seconds, and a holder must have the time to renew: what is shorter would make others take over from the living.
fn lease_ttl(environment: &Environment) -> Outcome<Option<Duration>> {
    let Some(text) = environment.filled_variable(LEASE_TTL) else { return Ok(None) };
    let ttl =
        parse_duration(&text).map_err(|error| Failure::configuration(format!("{LEASE_TTL}: {error}")))?;
    if ttl < SHORTEST_TTL {
        return Err(Failure::configuration(format!("{LEASE_TTL}: {text} is too short to be renewed in"))
            .hint("give it 2s or more, or leave it out for 60s"));
    }
    Ok(Some(ttl))
}

/// Whether a variable says yes, in the words that the stock CLI takes for it.
pub(crate) fn is_true(environment: &Environment, name: &str) -> bool {
    let value = environment.filled_variable(name).unwrap_or_default();
    matches!(value.as_str(), "1" | "t" | "T" | "true" | "TRUE" | "True")
}
