//! Values that come later.

use super::value::Val;
use drystone_model::Urn;
use futures::future::BoxFuture;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use tokio::sync::SetOnce;

/// A value that comes later. Copies wait for the same value.
#[derive(Clone)]
pub(crate) struct Promise(Arc<SetOnce<Settled>>);

/// What became of a promise.
pub(crate) type Settled = Result<Known, Rejected>;

/// A value that came.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// The value; none when it is not known before an update.
    pub(crate) value: Option<Val>,
    /// Whether it must not be shown.
    pub(crate) secret: bool,
    /// The resources that it came from.
    pub(crate) dependencies: Arc<BTreeSet<Urn>>,
}

/// Nothing came; why has been told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rejected;

impl Promise {
    /// A promise that is yet to be kept.
    pub(crate) fn open() -> Self {
        Self(Arc::new(SetOnce::new()))
    }

    /// A promise that is kept already.
    pub(crate) fn settled(value: Option<Val>, secret: bool) -> Self {
        Self::with_dependencies(value, secret, [])
    }

    /// The same, with where the value came from.
    pub(crate) fn with_dependencies(
        value: Option<Val>,
        secret: bool,
        dependencies: impl IntoIterator<Item = Urn>,
    ) -> Self {
        let dependencies = Arc::new(dependencies.into_iter().collect());
        Self::of(Ok(Known { value, secret, dependencies }))
    }

    /// A promise of which it is known what became of it.
    pub(crate) fn of(settled: Settled) -> Self {
        Self(Arc::new(SetOnce::new_with(Some(settled))))
    }

    /// Keeps or breaks it. Later tries change nothing.
    pub(crate) fn settle(&self, settled: Settled) {
        let _ = self.0.set(settled);
    }

    /// Waits for what becomes of it.
    pub(crate) async fn wait(&self) -> Settled {
        self.0.wait().await.clone()
    }
}

impl fmt::Debug for Promise {
    /// Never shows a value, which may be a secret (S17).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.get().is_some() { "Promise(settled)" } else { "Promise(open)" })
    }
}

impl Known {
    /// A value that everybody knows and may see.
    pub(crate) fn plain(value: Val) -> Self {
        Self { value: Some(value), secret: false, dependencies: Arc::default() }
    }

    /// Takes in what another value brings with it.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.secret |= other.secret;
        if self.dependencies.is_empty() {
            self.dependencies = Arc::clone(&other.dependencies);
        } else if !other.dependencies.is_empty() {
            Arc::make_mut(&mut self.dependencies).extend(other.dependencies.iter().cloned());
        }
    }
}

/// Waits for every output in a value. The result holds none; it is not known when any of them is not.
pub(crate) fn resolve(value: &Val) -> BoxFuture<'_, Settled> {
    Box::pin(async move {
        if !value.has_outputs() {
            return Ok(Known::plain(value.clone()));
        }
        match value {
            Val::Output(promise) => {
                let mut known = promise.wait().await?;
                if let Some(inner) = known.value.take() {
                    let inner = resolve(&inner).await?;
                    known.absorb(&inner);
                    known.value = inner.value;
                }
                Ok(known)
            }
            Val::List(items) => {
                let mut whole = Known::plain(Val::Null);
                let mut resolved = Some(Vec::with_capacity(items.len()));
                for item in items.iter() {
                    let item = resolve(item).await?;
                    whole.absorb(&item);
                    resolved = resolved.zip(item.value).map(|(mut items, item)| {
                        items.push(item);
                        items
                    });
                }
                whole.value = resolved.map(Val::list);
                Ok(whole)
            }
            Val::Object(members) => {
                let mut whole = Known::plain(Val::Null);
                let mut resolved = Some(std::collections::BTreeMap::new());
                for (name, member) in members.iter() {
                    let member = resolve(member).await?;
                    whole.absorb(&member);
                    resolved = resolved.zip(member.value).map(|(mut members, member)| {
                        members.insert(name.clone(), member);
                        members
                    });
                }
                whole.value = resolved.map(Val::object);
                Ok(whole)
            }
            other => Ok(Known::plain(other.clone())),
        }
    })
}
