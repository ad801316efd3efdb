//! Which plugin serves a package where a request does not say: what the program's language says, else what the state
//! was last made with.

use crate::deployment::Deployment;
use crate::registry::package_of;
use crate::{MonitorError, PackageDescriptor};
use drystone_model::is_provider_type;
use semver::Version;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The plugins that stand for packages, by the package's name.
pub(super) type Standing = BTreeMap<String, PackageDescriptor>;

impl Deployment {
    /// Takes what the program's language says that the program needs.
    pub(super) fn require_packages(&self, packages: Vec<PackageDescriptor>) -> Result<(), MonitorError> {
        if packages.is_empty() {
            return Ok(());
        }
        let mut standing = Standing::new();
        for package in packages {
            if let Some(other) = keep_newest(&mut standing, package.clone()) {
                return Err(ambiguous(&other, &package));
            }
        }
        // A program that runs says it once.
        let _: Result<(), Standing> = self.monitor.standing.set(standing);
        Ok(())
    }

    /// What a request for a package means: what it leaves out is as it stands.
    pub(super) fn completed(&self, asked: &PackageDescriptor) -> PackageDescriptor {
        let Some(standing) = self.standing().get(asked.package()) else { return asked.clone() };
        let mut package = asked.clone();
        if package.download_url.is_empty() {
            package.download_url.clone_from(&standing.download_url);
        }
        if package.parameterization.is_none() && package.version.is_empty() {
            package.name.clone_from(&standing.name);
            package.version.clone_from(&standing.version);
            package.parameterization.clone_from(&standing.parameterization);
        }
        if package.checksums.is_empty() && package.version == standing.version {
            package.checksums.clone_from(&standing.checksums);
        }
        package
    }

    fn standing(&self) -> &Standing {
        self.monitor.standing.get_or_init(|| self.standing_in_the_state())
    }

    /// The newest plugin of each package in the state. A package of which there are two kinds has none, and neither has
    /// one that a provider is of without a version: what was made so stays so.
    fn standing_in_the_state(&self) -> Standing {
        let olds = self.world().olds.clone();
        let mut standing = Standing::new();
        let mut open = Vec::new();
        for known in olds.iter().filter(|known| is_provider_type(known.urn().type_token())) {
            // One that cannot be opened is told of where it is needed.
            let Ok(state) = known.state(&self.vault) else { continue };
            let Ok(mut package) = package_of(known.urn(), &state.inputs) else { continue };
            package.env_var_mappings.clear();
            if package.version.is_empty() {
                open.push(package.package().to_owned());
            }
            open.extend(keep_newest(&mut standing, package).map(|other| other.package().to_owned()));
        }
        for package in open {
            standing.remove(&package);
        }
        standing
    }
}

/// Keeps the newest version of a package; gives back what serves it in another way.
fn keep_newest(standing: &mut Standing, package: PackageDescriptor) -> Option<PackageDescriptor> {
    match standing.entry(package.package().to_owned()) {
        Entry::Vacant(place) => {
            place.insert(package);
        }
        Entry::Occupied(mut place) => {
            let known = place.get();
            if known.name != package.name
                || known.parameterization.is_some() != package.parameterization.is_some()
            {
                return Some(known.clone());
            }
            if version(&package) >= version(known) {
                place.insert(package);
            }
        }
    }
    None
}

/// A plugin's version; none is older than any.
fn version(package: &PackageDescriptor) -> Option<Version> {
    Version::parse(package.version.trim_start_matches('v')).ok()
}

fn ambiguous(one: &PackageDescriptor, other: &PackageDescriptor) -> MonitorError {
    let described = |package: &PackageDescriptor| {
        let version = version(package).map(|version| format!(" v{version}")).unwrap_or_default();
        let plugin = format!("plugin \"{}\"{version}", package.name);
        match &package.parameterization {
            Some(made) => format!("{plugin} parameterized as \"{}\" v{}", made.name, made.version),
            None => plugin,
        }
    };
    MonitorError::new(format!(
        "package \"{}\" is provided by more than one plugin:\n  {}\n  {}\nRemove one of the packages, or give each \
         resource a provider of its own.",
        one.package(),
        described(one),
        described(other)
    ))
}
