//! How programs read other stacks.

use crate::backend::Backend;
use async_trait::async_trait;
use drystone_dialects::pulumi::properties::decode_properties;
use drystone_engine::{Failed, PropertyMap, StackReader};
use drystone_model::{Json, Properties, ROOT_STACK_TYPE, Resource, Value};
use drystone_secrets::{Keyring, Manager, stored};
use drystone_stores::{At, Error as StoreError, Recorded};
use std::collections::BTreeMap;

/// Reads the stacks of a backend. It locks nothing and waits for nobody (S8).
#[derive(Debug)]
pub(super) struct BackendStacks {
    backend: Backend,
    keyring: Keyring,
    /// The project that a bare name belongs to.
    project: String,
}

impl BackendStacks {
    pub(super) fn new(backend: &Backend, keyring: &Keyring, project: &str) -> Self {
        Self { backend: backend.clone(), keyring: keyring.clone(), project: project.to_owned() }
    }

    async fn recorded(&self, name: &str) -> Result<Recorded, Failed> {
        let failed = |error: &dyn std::fmt::Display| Failed(error.to_string());
        let stack =
            self.backend.stack_id(name, Some(&self.project)).map_err(|error| failed(&error.message))?;
        match self.backend.store().snapshot(&stack, At::Current).await {
            Ok(recorded) => Ok(recorded),
            Err(StoreError::NotFound { .. }) => Err(Failed(format!("unknown stack {name:?}"))),
            Err(error) => Err(failed(&error)),
        }
    }

    /// The properties of resources, opened in one batch. Deriving a key takes a while, so it happens elsewhere.
    async fn open(
        &self,
        name: &str,
        recorded: &Recorded,
        properties: Vec<Properties>,
    ) -> Result<Vec<PropertyMap>, Failed> {
        let manager = match &recorded.snapshot.secrets_provider {
            Some(provider) => Manager::of_snapshot(&self.keyring, provider, Some(name)),
            None => Manager::absent(),
        };
        let opening = tokio::task::spawn_blocking(move || reveal(&manager, &properties));
        let opened = match opening.await {
            Ok(opened) => opened,
            Err(error) => Err(Failed(error.to_string())),
        };
        opened.map_err(|Failed(reason)| Failed(format!("the outputs of {name:?} cannot be read: {reason}")))
    }
}

/// Opens the secrets of properties. They stay marked as secrets.
fn reveal(manager: &Manager, properties: &[Properties]) -> Result<Vec<PropertyMap>, Failed> {
    let texts: Vec<&str> = properties.iter().map(Properties::text).collect();
    let opened = stored::reveal(&texts, manager.crypter().as_ref())
        .map_err(|error| Failed(error.cause().to_string()))?;
    let mut maps = Vec::with_capacity(properties.len());
    for (sealed, opened) in properties.iter().zip(opened) {
        let properties = match opened {
            Some(text) => Properties::new(Json::parse(text).map_err(|error| Failed(error.to_string()))?),
            None => sealed.clone(),
        };
        let values = decode_properties(&properties).map_err(|error| Failed(error.to_string()))?;
        maps.push(values.into_iter().collect());
    }
    Ok(maps)
}

fn is_root(resource: &Resource) -> bool {
    resource.type_token == ROOT_STACK_TYPE && resource.parent.is_empty()
}

#[async_trait]
impl StackReader for BackendStacks {
    async fn outputs(&self, stack: &str) -> Result<PropertyMap, Failed> {
        let recorded = self.recorded(stack).await?;
        let root = recorded.snapshot.resources.iter().find(|resource| is_root(resource));
        let Some(outputs) = root.map(|root| root.outputs.clone()) else { return Ok(PropertyMap::new()) };
        let mut opened = self.open(stack, &recorded, vec![outputs]).await?;
        Ok(opened.pop().unwrap_or_default())
    }

    async fn resource_outputs(&self, stack: &str) -> Result<PropertyMap, Failed> {
        let recorded = self.recorded(stack).await?;
        let live: Vec<&Resource> =
            recorded.snapshot.resources.iter().filter(|resource| !resource.delete).collect();
        let outputs = live.iter().map(|resource| resource.outputs.clone()).collect();
        let opened = self.open(stack, &recorded, outputs).await?;
        let entry = |(resource, outputs): (&&Resource, PropertyMap)| {
            let members = BTreeMap::from([
                ("type".to_owned(), Value::String(resource.type_token.clone())),
                ("outputs".to_owned(), Value::Object(outputs)),
            ]);
            (resource.urn.to_string(), Value::Object(members))
        };
        Ok(live.iter().zip(opened).map(entry).collect())
    }
}
