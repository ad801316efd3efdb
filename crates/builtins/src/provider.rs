//! The provider of the package.

use crate::differences::Differences;
use crate::fields::Fields;
use crate::kind::{Answer, Change, Kind, Known, Made, Subject};
use crate::schema::{Failures, Form, PACKAGE, Shape, check, suggestion};
use crate::world::{Settings, World};
use crate::{archive, command, http, local, random, time};
use async_trait::async_trait;
use drystone_engine::{
    AppliedState, CheckArguments, Checked, CreateArguments, DeleteArguments, Diff, DiffArguments, Invoked,
    Parameterization, PropertyMap, Provider, ProviderError, ReadArguments, ReadState, UpdateArguments,
};
use drystone_model::{Computed, Urn, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// The package `drystone`. One instance serves one operation; it is not used again after a cancellation.
#[derive(Debug)]
pub struct Builtins {
    world: World,
}

impl Builtins {
    /// The package, surrounded by that.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { world: World::new(settings) }
    }
}

/// What a type token stands for.
struct Entry {
    shape: &'static Shape,
    kind: &'static dyn Kind,
}

fn entry(urn: &Urn) -> Answer<Entry> {
    let token = urn.type_token();
    let found = PACKAGE.resources.get(token).zip(kind(token));
    let (shape, kind) = found.ok_or_else(|| missing("resource", token, &PACKAGE.resources))?;
    Ok(Entry { shape, kind })
}

fn missing<T>(what: &str, token: &str, all: &BTreeMap<String, T>) -> ProviderError {
    let near = suggestion(token, all.keys().map(String::as_str));
    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    ProviderError::new(format!("the package `{}` has no {what} `{token}`{hint}", crate::PACKAGE))
}

fn kind(token: &str) -> Option<&'static dyn Kind> {
    Some(match token.strip_prefix("drystone:")? {
        "archive:File" => &archive::File,
        "command:Command" => &command::Command,
        "http:Request" => &http::Request,
        "local:Directory" => &local::Directory,
        "local:File" => &local::File,
        "random:Pet" | "random:RandomPet" => &random::Pet,
        "random:RandomBytes" => &random::Bytes,
        "random:RandomId" => &random::Id,
        "random:RandomInteger" => &random::Integer,
        "random:RandomPassword" => &random::Password,
        "random:RandomShuffle" => &random::Shuffle,
        "random:RandomString" => &random::Text,
        "random:RandomUuid" => &random::Uuid,
        "time:Offset" => &time::Offset,
        "time:Rotating" => &time::Rotating,
        "time:Sleep" => &time::Sleep,
        "time:Static" => &time::Static,
        _ => return None,
    })
}

#[async_trait]
impl Provider for Builtins {
    async fn schema(&self, _: Option<Parameterization>) -> Result<String, ProviderError> {
        Ok(PACKAGE.json.to_string())
    }

    async fn version(&self) -> Result<String, ProviderError> {
        Ok(env!("CARGO_PKG_VERSION").to_owned())
    }

    async fn check_config(&self, arguments: CheckArguments) -> Result<Checked, ProviderError> {
        let mut failures = Failures::default();
        for name in arguments.new_inputs.keys().filter(|name| *name != "version") {
            failures.add(name, format!("the package `{}` takes no configuration", crate::PACKAGE));
        }
        Ok(Checked { properties: arguments.new_inputs, failures: failures.0 })
    }

    async fn diff_config(&self, _: DiffArguments) -> Result<Diff, ProviderError> {
        Ok(Diff::none())
    }

    async fn check(&self, arguments: CheckArguments) -> Result<Checked, ProviderError> {
        let Entry { shape, kind } = entry(&arguments.urn)?;
        let mut failures = Failures::default();
        let properties = check(shape, &arguments.new_inputs, &mut failures);
        // Rules of a resource rely on the types.
        if failures.0.is_empty() {
            let inputs = Fields::new(&properties);
            for name in kind.named_by().iter().filter(|name| inputs.is_secret(name)) {
                failures.add(
                    name,
                    format!("`{name}` is part of the id, which is shown everywhere: it cannot be secret"),
                );
            }
            kind.check(&inputs, &mut failures);
        }
        Ok(Checked { properties, failures: failures.0 })
    }

    async fn diff(&self, arguments: DiffArguments) -> Result<Diff, ProviderError> {
        let Entry { shape, kind } = entry(&arguments.urn)?;
        let (old, new) = (&arguments.old_inputs, &arguments.new_inputs);
        let mut differences = Differences::of_inputs(shape, old, new, &arguments.ignore_changes);
        let change = Change {
            old_outputs: &Fields::new(&arguments.old_outputs),
            new_inputs: &Fields::new(new),
            changed: differences.keys(),
        };
        kind.diff(&self.world, &change, &mut differences).await?;
        Ok(differences.into_diff())
    }

    async fn create(&self, arguments: CreateArguments) -> Result<AppliedState, ProviderError> {
        let Entry { shape, kind } = entry(&arguments.urn)?;
        if arguments.dry_run {
            return Ok(AppliedState {
                outputs: foreseen(shape, &arguments.inputs, &PropertyMap::new(), &[]),
                ..AppliedState::default()
            });
        }
        let subject = Subject { urn: arguments.urn, id: String::new(), limit: limit(arguments.timeout) };
        let made = kind.create(&self.world, &subject, &Fields::new(&arguments.inputs)).await?;
        Ok(applied(shape, arguments.inputs, made))
    }

    async fn read(&self, arguments: ReadArguments) -> Result<ReadState, ProviderError> {
        let Entry { shape, kind } = entry(&arguments.urn)?;
        let subject = Subject { urn: arguments.urn, id: arguments.id, limit: limit(arguments.timeout) };
        let known = Known { inputs: arguments.inputs, outputs: arguments.outputs };
        let Some(seen) = kind.read(&self.world, &subject, known).await? else {
            return Ok(ReadState::default());
        };
        let mut outputs = seen.outputs;
        for (name, value) in &seen.inputs {
            outputs.entry(name.clone()).or_insert_with(|| value.clone());
        }
        for (name, property) in &shape.inputs {
            if let Some(default) = &property.default {
                outputs.entry(name.clone()).or_insert_with(|| default.clone());
            }
        }
        conceal(shape, &mut outputs);
        Ok(ReadState {
            id: seen.id,
            inputs: Some(seen.inputs),
            outputs: Some(outputs),
            ..ReadState::default()
        })
    }

    async fn update(&self, arguments: UpdateArguments) -> Result<AppliedState, ProviderError> {
        let Entry { shape, kind } = entry(&arguments.urn)?;
        let (old, new) = (&arguments.old_inputs, &arguments.new_inputs);
        let change = Change {
            old_outputs: &Fields::new(&arguments.old_outputs),
            new_inputs: &Fields::new(new),
            changed: Differences::of_inputs(shape, old, new, &arguments.ignore_changes).keys(),
        };
        if arguments.dry_run {
            let kept = kind.kept_by_update(&change);
            let outputs = foreseen(shape, new, &arguments.old_outputs, kept);
            return Ok(AppliedState { id: arguments.id, outputs, ..AppliedState::default() });
        }
        let limit = limit(arguments.timeout);
        let subject = Subject { urn: arguments.urn, id: arguments.id, limit };
        let made = kind.update(&self.world, &subject, &change).await?;
        Ok(applied(shape, arguments.new_inputs, made))
    }

    async fn delete(&self, arguments: DeleteArguments) -> Result<(), ProviderError> {
        let Entry { kind, .. } = entry(&arguments.urn)?;
        let (inputs, outputs) = (Fields::new(&arguments.inputs), Fields::new(&arguments.outputs));
        let subject = Subject { urn: arguments.urn, id: arguments.id, limit: limit(arguments.timeout) };
        kind.delete(&self.world, &subject, &inputs, &outputs).await
    }

    async fn invoke(&self, token: &str, arguments: PropertyMap, _: bool) -> Result<Invoked, ProviderError> {
        let shape = PACKAGE.functions.get(token);
        let shape = shape.ok_or_else(|| missing("function", token, &PACKAGE.functions))?;
        let mut failures = Failures::default();
        let checked = check(shape, &arguments, &mut failures);
        if !failures.0.is_empty() {
            return Ok(Invoked { failures: failures.0, ..Invoked::default() });
        }
        if checked.values().any(Value::contains_unknowns) {
            return Ok(Invoked { unknown: true, ..Invoked::default() });
        }
        let fields = Fields::new(&checked);
        let made = match token {
            archive::GET_FILE => archive::get_file(&self.world, &fields, &mut failures).await?,
            command::RUN => command::run(&self.world, &fields, &mut failures).await?,
            http::GET_HTTP => http::get_http(&self.world, &fields, &mut failures).await?,
            _ => return Err(missing("function", token, &PACKAGE.functions)),
        };
        if !failures.0.is_empty() {
            return Ok(Invoked { failures: failures.0, ..Invoked::default() });
        }
        let mut properties = applied(shape, checked, made).outputs;
        properties.retain(|name, _| shape.outputs.contains_key(name));
        Ok(Invoked { properties, ..Invoked::default() })
    }

    async fn cancel(&self) -> Result<(), ProviderError> {
        self.world.cancel();
        Ok(())
    }
}

/// The longest time limit: as good as none, and no clock overflows.
const LONGEST_LIMIT: f64 = 10.0 * 365.0 * 86400.0;

fn limit(seconds: f64) -> Option<Duration> {
    (seconds > 0.0).then(|| Duration::try_from_secs_f64(seconds.min(LONGEST_LIMIT)).ok()).flatten()
}

/// The state after something was made or changed: what went in, and what came out.
fn applied(shape: &Shape, inputs: PropertyMap, made: Made) -> AppliedState {
    let mut outputs = inputs;
    outputs.extend(made.outputs);
    outputs.retain(|_, value| !value.is_null());
    conceal(shape, &mut outputs);
    AppliedState { id: made.id, outputs, ..AppliedState::default() }
}

/// The outputs that a preview shows.
fn foreseen(shape: &Shape, inputs: &PropertyMap, old: &PropertyMap, kept: &[&str]) -> PropertyMap {
    let mut outputs = inputs.clone();
    outputs.retain(|_, value| !value.is_null());
    for (name, property) in &shape.outputs {
        // The required outputs are those that are always there, whether they were put in or not.
        if shape.inputs.contains_key(name) && !shape.always.contains(name) {
            continue;
        }
        let kept = kept.contains(&name.as_str()).then(|| old.get(name).cloned()).flatten();
        let value = kept.unwrap_or(Value::Computed(unknown(&property.form)));
        outputs.entry(name.clone()).or_insert(value);
    }
    conceal(shape, &mut outputs);
    outputs
}

fn unknown(form: &Form) -> Computed {
    match form {
        Form::Flag => Computed::Bool,
        Form::Whole | Form::Number => Computed::Number,
        Form::List(_) => Computed::Array,
        Form::Map(_) | Form::Object { .. } => Computed::Object,
        Form::Any | Form::Text | Form::Choice(_) => Computed::String,
    }
}

/// Makes secret what the schema says is.
fn conceal(shape: &Shape, outputs: &mut PropertyMap) {
    for (name, value) in outputs {
        if shape.outputs.get(name).is_some_and(|property| property.secret) && !value.is_secret() {
            *value = Value::secret(std::mem::take(value));
        }
    }
}
