//! What a resource does in the world.

use crate::differences::Differences;
use crate::fields::Fields;
use crate::schema::Failures;
use crate::world::World;
use async_trait::async_trait;
use drystone_engine::{PropertyMap, ProviderError};
use drystone_model::Urn;
use std::time::Duration;

pub(crate) type Answer<T> = Result<T, ProviderError>;

/// A kind of resource. Types, required inputs and which change replaces are said by the schema; the rest is here.
#[async_trait]
pub(crate) trait Kind: Send + Sync {
    /// Inputs that the id is made of, which is never secret.
    fn named_by(&self) -> &'static [&'static str] {
        &[]
    }

    /// Looks for what the schema cannot say of inputs.
    fn check(&self, inputs: &Fields, failures: &mut Failures) {
        let _ = (inputs, failures);
    }

    /// Adds differences that the inputs alone do not show.
    async fn diff(&self, world: &World, change: &Change<'_>, differences: &mut Differences) -> Answer<()> {
        let _ = (world, change, differences);
        Ok(())
    }

    /// Outputs that an update keeps, so that a preview knows them.
    fn kept_by_update(&self, change: &Change<'_>) -> &'static [&'static str] {
        let _ = change;
        &[]
    }

    async fn create(&self, world: &World, subject: &Subject, inputs: &Fields) -> Answer<Made>;

    /// Looks at it; nothing when it is gone.
    async fn read(&self, world: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>>;

    async fn update(&self, world: &World, subject: &Subject, change: &Change<'_>) -> Answer<Made> {
        let _ = (world, change);
        Err(ProviderError::new(format!("`{}` cannot be changed, only replaced", subject.urn.name())))
    }

    /// Deletes it. One that is gone already is no failure.
    async fn delete(
        &self,
        world: &World,
        subject: &Subject,
        inputs: &Fields,
        outputs: &Fields,
    ) -> Answer<()> {
        let _ = (world, subject, inputs, outputs);
        Ok(())
    }
}

/// A resource.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) urn: Urn,
    /// Empty while it is created.
    pub(crate) id: String,
    /// How long the operation may take, where the program says so.
    pub(crate) limit: Option<Duration>,
}

/// Something that was made: its id, and the outputs that are no inputs.
#[derive(Debug, Default)]
pub(crate) struct Made {
    pub(crate) id: String,
    pub(crate) outputs: PropertyMap,
}

/// What is known of a resource before it is read; nothing when it is imported.
pub(crate) struct Known {
    pub(crate) inputs: PropertyMap,
    pub(crate) outputs: PropertyMap,
}

impl Known {
    /// Whether nothing but the id is known: the outputs of what was made repeat its inputs.
    pub(crate) fn is_import(&self) -> bool {
        self.outputs.is_empty()
    }

    /// The same again: for what only lives in the state.
    pub(crate) fn unchanged(self, id: &str) -> Seen {
        Seen { id: id.to_owned(), inputs: self.inputs, outputs: self.outputs }
    }
}

/// What a resource was seen to be. The inputs are what would make it so.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) id: String,
    pub(crate) inputs: PropertyMap,
    pub(crate) outputs: PropertyMap,
}

/// A change of a resource.
pub(crate) struct Change<'a> {
    pub(crate) old_outputs: &'a Fields,
    pub(crate) new_inputs: &'a Fields,
    /// Names of the inputs that differ.
    pub(crate) changed: Vec<String>,
}
