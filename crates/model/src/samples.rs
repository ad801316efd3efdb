//! Small resources and snapshots for tests.

use crate::{Manifest, Resource, Snapshot, Urn};

/// The URN of a top-level resource of type `a:b:C`.
pub(crate) fn urn(name: &str) -> Urn {
    Urn::build("dev", "shop", "", "a:b:C", name)
}

/// A top-level component of type `a:b:C`.
pub(crate) fn component(name: &str) -> Resource {
    Resource { urn: urn(name), type_token: "a:b:C".to_owned(), ..Resource::default() }
}

/// A component that depends on others.
pub(crate) fn needing(name: &str, dependencies: &[&str]) -> Resource {
    Resource { dependencies: dependencies.iter().map(|name| urn(name)).collect(), ..component(name) }
}

/// A component below another one, with the URN of a child.
pub(crate) fn child(parent: &Resource, name: &str) -> Resource {
    let urn = Urn::build("dev", "shop", parent.urn.qualified_type(), "a:b:C", name);
    Resource { urn, parent: parent.urn.clone(), ..component(name) }
}

/// A provider of package `aws` and the reference to it.
pub(crate) fn provider(name: &str, id: &str) -> (Resource, String) {
    let urn = Urn::build("dev", "shop", "", "pulumi:providers:aws", name);
    let reference = format!("{urn}::{id}");
    let type_token = "pulumi:providers:aws".to_owned();
    (Resource { urn, type_token, custom: true, id: id.to_owned(), ..Resource::default() }, reference)
}

/// A custom resource with this provider reference.
pub(crate) fn managed(name: &str, provider: &str) -> Resource {
    Resource { custom: true, id: format!("id-{name}"), provider: provider.to_owned(), ..component(name) }
}

/// The same resource, marked for deletion.
pub(crate) fn deleted(resource: Resource) -> Resource {
    Resource { delete: true, ..resource }
}

/// A snapshot with a manifest that fits.
pub(crate) fn snapshot(resources: impl Into<Vec<Resource>>) -> Snapshot {
    Snapshot {
        manifest: Manifest::new("2024-01-01T00:00:00Z", "v3.259.0"),
        resources: resources.into(),
        ..Snapshot::default()
    }
}
