//! The provider `pulumi`, which is the engine itself: references to other stacks, stashes, and questions about
//! resources.

use crate::deployment::Deployment;
use crate::{
    AppliedState, CheckArguments, CheckFailure, Checked, CreateArguments, DeleteArguments, Diff,
    DiffArguments, Invoked, PropertyMap, Provider, ProviderError, ReadArguments, ReadState, StackReader,
    UpdateArguments,
};
use async_trait::async_trait;
use drystone_model::{Urn, Value};
use std::fmt;
use std::sync::{Arc, Weak};

const STACK_REFERENCE: &str = "pulumi:pulumi:StackReference";
const STASH: &str = "pulumi:index:Stash";

/// The provider `pulumi`.
pub(crate) struct Builtin {
    deployment: Weak<Deployment>,
    stacks: Arc<dyn StackReader>,
}

impl fmt::Debug for Builtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Builtin")
    }
}

impl Builtin {
    pub(crate) fn new(deployment: Weak<Deployment>, stacks: Arc<dyn StackReader>) -> Self {
        Self { deployment, stacks }
    }

    /// The outputs of a stack reference.
    async fn read_stack(&self, inputs: &PropertyMap) -> Result<PropertyMap, ProviderError> {
        let name = inputs.get("name").map(Value::revealed);
        let Some(Value::String(name)) = name else {
            return Err(ProviderError::new("missing required property 'name'"));
        };
        let outputs = self.stacks.outputs(&name).await.map_err(|failed| ProviderError::new(failed.0))?;
        let secret = outputs.iter().filter(|(_, value)| value.contains_secrets());
        let secret: Vec<Value> = secret.map(|(key, _)| Value::String(key.clone())).collect();
        Ok(PropertyMap::from([
            ("name".to_owned(), Value::String(name)),
            ("outputs".to_owned(), Value::Object(outputs)),
            ("secretOutputNames".to_owned(), Value::Array(secret)),
        ]))
    }

    /// The state of a resource of this run.
    fn get_resource(&self, arguments: &PropertyMap) -> Result<PropertyMap, ProviderError> {
        let Some(Value::String(urn)) = arguments.get("urn").map(Value::revealed) else {
            return Err(ProviderError::new("missing required property 'urn'"));
        };
        let urn = Urn::new(urn);
        let unknown = || ProviderError::new(format!("unknown resource {urn}"));
        let deployment = self.deployment.upgrade().ok_or_else(unknown)?;
        let known = deployment.world().news.get(&urn).cloned().ok_or_else(unknown)?;
        let state = known.state(&deployment.vault).map_err(ProviderError::new)?;
        Ok(PropertyMap::from([
            ("urn".to_owned(), Value::String(urn.as_str().to_owned())),
            ("id".to_owned(), Value::String(state.record.id.clone())),
            ("provider".to_owned(), Value::String(state.record.provider.clone())),
            ("state".to_owned(), Value::Object(state.outputs.clone())),
        ]))
    }
}

fn unknown_type(urn: &Urn) -> ProviderError {
    ProviderError::new(format!("unrecognized resource type '{}'", urn.type_token()))
}

#[async_trait]
impl Provider for Builtin {
    async fn schema(&self, _: Option<crate::Parameterization>) -> Result<String, ProviderError> {
        Ok(include_str!("schema.json").to_owned())
    }

    async fn check(&self, arguments: CheckArguments) -> Result<Checked, ProviderError> {
        match arguments.urn.type_token() {
            STACK_REFERENCE => {
                if let Some(deployment) = self.deployment.upgrade() {
                    deployment.warn(
                        &arguments.urn,
                        "The \"pulumi:pulumi:StackReference\" resource type is deprecated. Update your SDK or if already up to date raise an issue at https://github.com/pulumi/pulumi/issues.",
                    );
                }
                let mut failures = Vec::new();
                for (key, value) in &arguments.new_inputs {
                    if key != "name" {
                        let reason = format!("unknown property \"{key}\"");
                        failures.push(CheckFailure { property: key.clone(), reason });
                    } else if !matches!(value.revealed(), Value::String(_) | Value::Computed(_)) {
                        let reason = "property \"name\" must be a string".to_owned();
                        failures.push(CheckFailure { property: key.clone(), reason });
                    }
                }
                if !arguments.new_inputs.contains_key("name") {
                    let reason = "missing required property \"name\"".to_owned();
                    failures.push(CheckFailure { property: "name".to_owned(), reason });
                }
                Ok(Checked { properties: arguments.new_inputs, failures })
            }
            STASH => {
                let mut failures = Vec::new();
                for key in arguments.new_inputs.keys().filter(|key| *key != "input") {
                    let reason = format!("unknown property \"{key}\"");
                    failures.push(CheckFailure { property: key.clone(), reason });
                }
                if !arguments.new_inputs.contains_key("input") {
                    let reason = "missing required property \"input\"".to_owned();
                    failures.push(CheckFailure { property: "input".to_owned(), reason });
                }
                Ok(Checked { properties: arguments.new_inputs, failures })
            }
            _ => Err(unknown_type(&arguments.urn)),
        }
    }

    async fn diff(&self, arguments: DiffArguments) -> Result<Diff, ProviderError> {
        let same = crate::generate::diff::same_inputs(&arguments.old_inputs, &arguments.new_inputs);
        match arguments.urn.type_token() {
            STACK_REFERENCE if same => Ok(Diff::none()),
            STACK_REFERENCE => Ok(Diff::replace("name")),
            STASH if same => Ok(Diff::none()),
            STASH => Ok(Diff { changed_keys: vec!["input".to_owned()], ..Diff::some() }),
            _ => Err(unknown_type(&arguments.urn)),
        }
    }

    async fn create(&self, arguments: CreateArguments) -> Result<AppliedState, ProviderError> {
        let id = || match arguments.dry_run {
            true => String::new(),
            false => self.deployment.upgrade().map(|d| d.surroundings.uuid().to_string()).unwrap_or_default(),
        };
        match arguments.urn.type_token() {
            STACK_REFERENCE => {
                let outputs = self.read_stack(&arguments.inputs).await?;
                Ok(AppliedState { id: id(), outputs, ..AppliedState::default() })
            }
            STASH => {
                let input = arguments.inputs.get("input").cloned().unwrap_or_default();
                let outputs =
                    PropertyMap::from([("input".to_owned(), input.clone()), ("output".to_owned(), input)]);
                Ok(AppliedState { id: id(), outputs, ..AppliedState::default() })
            }
            _ => Err(unknown_type(&arguments.urn)),
        }
    }

    async fn update(&self, arguments: UpdateArguments) -> Result<AppliedState, ProviderError> {
        if arguments.urn.type_token() != STASH {
            return Err(unknown_type(&arguments.urn));
        }
        // A stash keeps what it was first given.
        let input = arguments.new_inputs.get("input").cloned().unwrap_or_default();
        let output = arguments.old_outputs.get("output").cloned().unwrap_or_default();
        let outputs = PropertyMap::from([("input".to_owned(), input), ("output".to_owned(), output)]);
        Ok(AppliedState { id: arguments.id, outputs, ..AppliedState::default() })
    }

    async fn read(&self, arguments: ReadArguments) -> Result<ReadState, ProviderError> {
        let (inputs, outputs) = match arguments.urn.type_token() {
            STACK_REFERENCE if !arguments.inputs.contains_key("name") => {
                return Err(ProviderError::new("stack reference can not be imported"));
            }
            STACK_REFERENCE => (arguments.inputs.clone(), self.read_stack(&arguments.inputs).await?),
            STASH if arguments.inputs.is_empty() => {
                return Err(ProviderError::new("stash can not be imported"));
            }
            STASH => (arguments.inputs.clone(), arguments.outputs.clone()),
            _ => return Err(unknown_type(&arguments.urn)),
        };
        Ok(ReadState {
            id: arguments.id,
            inputs: Some(inputs),
            outputs: Some(outputs),
            ..ReadState::default()
        })
    }

    async fn delete(&self, arguments: DeleteArguments) -> Result<(), ProviderError> {
        match arguments.urn.type_token() {
            STACK_REFERENCE | STASH => Ok(()),
            _ => Err(unknown_type(&arguments.urn)),
        }
    }

    async fn invoke(&self, token: &str, arguments: PropertyMap, _: bool) -> Result<Invoked, ProviderError> {
        let properties = match token {
            "pulumi:pulumi:readStackOutputs" => self.read_stack(&arguments).await?,
            "pulumi:pulumi:readStackResourceOutputs" => {
                let Some(Value::String(name)) = arguments.get("stackName").map(Value::revealed) else {
                    return Err(ProviderError::new("missing required property 'stackName'"));
                };
                let outputs = self.stacks.resource_outputs(&name).await;
                let outputs = outputs.map_err(|failed| ProviderError::new(failed.0))?;
                PropertyMap::from([
                    ("name".to_owned(), Value::String(name)),
                    ("outputs".to_owned(), Value::Object(outputs)),
                ])
            }
            "pulumi:pulumi:getResource" => self.get_resource(&arguments)?,
            _ => return Err(ProviderError::new(format!("unrecognized function name: '{token}'"))),
        };
        Ok(Invoked { properties, ..Invoked::default() })
    }
}
