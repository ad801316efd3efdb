//! Transforms: what programs change in requests before the engine sees them.

use super::dependencies::sources;
use crate::deployment::Deployment;
use crate::{InvokeRequest, MonitorError, RegisterRequest, Transform};
use drystone_model::{Output, Secret, Urn, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

type Transforms = Vec<Arc<dyn Transform>>;

impl Deployment {
    /// Applies the resource's own transforms, then its parents' outwards, then the stack's. Gives its own, for its
    /// children.
    pub(crate) async fn transform(&self, request: &mut RegisterRequest) -> Result<Transforms, MonitorError> {
        // With transforms of its own, a resource depends on what its values say in the end. Without, what the program
        // said stays true: the SDK of Node does not say again what the values that it gives back depend on.
        let rebuilt = !request.transforms.is_empty();
        let (own, all) = self.transforms_of(request);
        if all.is_empty() {
            return Ok(own);
        }
        if rebuilt {
            // Inputs carry their dependencies through the transforms as output values.
            for (key, value) in &mut request.properties {
                let urns = request.property_dependencies.get(key).cloned().unwrap_or_default();
                attach(value, urns);
            }
        }
        for transform in all {
            let (type_token, name, custom, parent) =
                (request.type_token.clone(), request.name.clone(), request.custom, request.parent.clone());
            let remote = request.remote;
            let transformed = transform.transform(std::mem::take(request)).await;
            *request =
                transformed.map_err(|failed| MonitorError::new(format!("invoke transform: {failed}")))?;
            // Who it is, is not the transform's to change.
            (request.type_token, request.name, request.custom, request.parent) =
                (type_token, name, custom, parent);
            request.remote = remote;
        }
        if !rebuilt {
            return Ok(own);
        }
        let mut dependencies: BTreeMap<String, Vec<Urn>> = BTreeMap::new();
        for (key, value) in &request.properties {
            let urns: Vec<Urn> = sources(value).into_iter().collect();
            for urn in &urns {
                if !request.dependencies.contains(urn) {
                    request.dependencies.push(urn.clone());
                }
            }
            dependencies.insert(key.clone(), urns);
        }
        request.property_dependencies = dependencies;
        Ok(own)
    }

    /// The resource's own transforms, and all that apply to it.
    fn transforms_of(&self, request: &mut RegisterRequest) -> (Transforms, Transforms) {
        let mut remembered = self.monitor.remembered();
        let key = (request.parent.clone(), request.type_token.clone(), request.name.clone());
        let own = match remembered.pending_transforms.remove(&key) {
            // Registered by the provider that constructs it: the program gave its transforms with the component.
            Some(pending) => pending,
            None => {
                let own = std::mem::take(&mut request.transforms);
                if request.remote && !own.is_empty() {
                    remembered.pending_transforms.insert(key, own.clone());
                }
                own
            }
        };
        let mut all = own.clone();
        let mut current = request.parent.clone();
        while !current.is_empty() {
            all.extend(remembered.transforms.get(&current).into_iter().flatten().cloned());
            current = remembered.parents.get(&current).cloned().unwrap_or_default();
        }
        all.extend(remembered.stack_transforms.iter().cloned());
        (own, all)
    }

    /// Applies the stack's transforms to an invoke.
    pub(crate) async fn transform_invoke(
        &self,
        mut request: InvokeRequest,
    ) -> Result<InvokeRequest, MonitorError> {
        let transforms = self.monitor.remembered().invoke_transforms.clone();
        for transform in transforms {
            let changed = transform.transform(request.clone()).await;
            let changed =
                changed.map_err(|failed| MonitorError::new(format!("invoke transform: {failed}")))?;
            request.arguments = changed.arguments;
            request.provider = changed.provider;
            request.package.version = changed.version;
            request.package.download_url = changed.download_url;
            request.package.checksums = changed.checksums;
        }
        Ok(request)
    }
}

/// Makes an output value of a value that depends on something, or cannot be told otherwise.
fn attach(value: &mut Value, dependencies: Vec<Urn>) {
    let plain = !matches!(value, Value::Output(_) | Value::Computed(_) | Value::Secret(_));
    if plain && dependencies.is_empty() {
        return;
    }
    let output = match std::mem::take(value) {
        Value::Output(mut output) => {
            for urn in dependencies {
                if !output.dependencies.contains(&urn) {
                    output.dependencies.push(urn);
                }
            }
            *output
        }
        Value::Computed(_) => Output { value: None, secret: false, dependencies },
        Value::Secret(Secret::Open(inside)) => match *inside {
            Value::Computed(_) => Output { value: None, secret: true, dependencies },
            inside => Output { value: Some(inside), secret: true, dependencies },
        },
        other => Output { value: Some(other), secret: false, dependencies },
    };
    *value = Value::Output(Box::new(output));
}
