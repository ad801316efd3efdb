//! Views that test providers publish.

use drystone_engine::{Op, PropertyMap, ViewPublisher, ViewState, ViewStep};
use drystone_model::Value;
use futures::FutureExt;
use std::sync::{Arc, Mutex};

/// Where a provider publishes views. Copies publish at the same place.
#[derive(Clone, Default)]
pub(crate) struct ViewDesk(Arc<Mutex<Option<Arc<dyn ViewPublisher>>>>);

impl ViewDesk {
    pub(crate) fn open(&self, publisher: &Arc<dyn ViewPublisher>) {
        *self.0.lock().unwrap() = Some(Arc::clone(publisher));
    }

    pub(crate) fn publish(&self, token: &str, steps: Vec<ViewStep>) {
        let publisher = self.0.lock().unwrap().clone().unwrap();
        publisher.publish_views(token, steps).now_or_never().unwrap().unwrap();
    }
}

/// The view `name` of the type `pkgA:m:View` with one input and one output.
pub(crate) fn view(name: &str, value: impl Into<Value>) -> ViewState {
    let value = value.into();
    ViewState {
        type_token: "pkgA:m:View".to_owned(),
        name: name.to_owned(),
        inputs: PropertyMap::from([("input".to_owned(), value.clone())]),
        outputs: PropertyMap::from([("result".to_owned(), value)]),
        ..ViewState::default()
    }
}

pub(crate) fn view_step(op: Op, old: Option<ViewState>, new: Option<ViewState>) -> ViewStep {
    let named = new.as_ref().or(old.as_ref()).unwrap();
    ViewStep {
        op,
        error: String::new(),
        partial: false,
        type_token: named.type_token.clone(),
        name: named.name.clone(),
        old,
        new,
        replace_keys: Vec::new(),
        changed_keys: Vec::new(),
        detailed: None,
    }
}
