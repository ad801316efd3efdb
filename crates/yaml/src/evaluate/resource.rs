//! Resources while a program runs.

use super::promise::Rejected;
use drystone_engine::PropertyMap;
use drystone_model::Urn;
use drystone_plugins::schema::Resource as Schema;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::SetOnce;

/// A resource that is or will be registered. What became of it comes later.
#[derive(Debug)]
pub(crate) struct Handle {
    /// The name that it is registered under.
    pub(crate) name: String,
    /// Its whole type token.
    pub(crate) token: String,
    /// What its package says of it.
    pub(crate) schema: Option<Arc<Schema>>,
    /// Whether deleting it is refused, where that is said for it or a parent.
    pub(crate) protect: Option<bool>,
    /// The providers of its children by package.
    pub(crate) providers: BTreeMap<String, Arc<Handle>>,
    /// Whether it is only known by its name, and the rest has to be asked for.
    pub(crate) reference: bool,
    state: SetOnce<Result<Arc<State>, Rejected>>,
}

/// What became of a resource.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    /// Its URN, or empty when it could not be looked at yet.
    pub(crate) urn: Urn,
    /// What its provider calls it; none when that is not known yet.
    pub(crate) id: Option<String>,
    /// What it gives, without what is not known.
    pub(crate) outputs: PropertyMap,
}

impl Handle {
    /// A resource that is yet to be registered.
    pub(crate) fn new(name: &str, token: &str, schema: Option<Arc<Schema>>) -> Self {
        Self {
            name: name.to_owned(),
            token: token.to_owned(),
            schema,
            protect: None,
            providers: BTreeMap::new(),
            reference: false,
            state: SetOnce::new(),
        }
    }

    /// A resource that exists and is only known by its name.
    pub(crate) fn reference(state: State) -> Self {
        let (name, token) = (state.urn.name().to_owned(), state.urn.type_token().to_owned());
        let state = SetOnce::new_with(Some(Ok(Arc::new(state))));
        Self { state, reference: true, ..Self::new(&name, &token, None) }
    }

    /// The package that it is the provider of, if it is one.
    pub(crate) fn provider_of(&self) -> Option<&str> {
        self.token.strip_prefix("pulumi:providers:")
    }

    /// Says what became of it. Later tries change nothing.
    pub(crate) fn settle(&self, state: Result<State, Rejected>) {
        let _ = self.state.set(state.map(Arc::new));
    }

    /// Waits for what becomes of it.
    pub(crate) async fn wait(&self) -> Result<Arc<State>, Rejected> {
        self.state.wait().await.clone()
    }
}
