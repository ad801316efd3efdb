//! Commands as a resource and as a function.

use super::execute::{Order, Printed};
use crate::fields::Fields;
use crate::kind::{Answer, Change, Kind, Known, Made, Seen, Subject};
use crate::schema::Failures;
use crate::world::World;
use async_trait::async_trait;
use drystone_engine::{PropertyMap, ProviderError};
use drystone_model::{Urn, Value};
use rand::Rng;

/// `Command`.
pub(crate) struct Command;

/// The function that runs a command.
pub(crate) const RUN: &str = "drystone:command:run";

/// Inputs that only matter later: a change of them runs nothing.
const LATER: [&str; 3] = ["addPreviousOutputInEnv", "delete", "logging"];

fn outputs(stdout: &str, stderr: &str, hidden: bool) -> PropertyMap {
    let output = |key: &str, text: &str| {
        let value = Value::from(text);
        (key.to_owned(), if hidden { Value::secret(value) } else { value })
    };
    PropertyMap::from([output("stdout", stdout), output("stderr", stderr)])
}

async fn carry_out(world: &World, order: Order) -> Answer<PropertyMap> {
    let hidden = order.hidden;
    let Printed { stdout, stderr } = order.run(world).await?;
    Ok(outputs(&stdout, &stderr, hidden))
}

fn check(inputs: &Fields, failures: &mut Failures) {
    for name in inputs.map("environment").keys() {
        if name.is_empty() || name.contains(['=', '\0']) {
            failures.add("environment", "a variable has no name, or one with `=` or a null character in it");
        }
    }
    if inputs.value("interpreter").is_some() && inputs.texts("interpreter").is_empty() {
        failures.add("interpreter", "`interpreter` must name a program");
    }
}

fn adds_previous(inputs: &Fields) -> bool {
    inputs.flag("addPreviousOutputInEnv").unwrap_or(true)
}

/// Whether a change leaves everything as it is until something else happens.
fn waits(change: &Change<'_>) -> bool {
    change.changed.iter().all(|key| LATER.contains(&key.as_str()))
}

#[async_trait]
impl Kind for Command {
    fn check(&self, inputs: &Fields, failures: &mut Failures) {
        check(inputs, failures);
    }

    fn kept_by_update(&self, change: &Change<'_>) -> &'static [&'static str] {
        if waits(change) { &["stdout", "stderr"] } else { &[] }
    }

    async fn create(&self, world: &World, subject: &Subject, inputs: &Fields) -> Answer<Made> {
        let outputs = match inputs.text("create") {
            Some(command) => {
                carry_out(world, Order::new(subject.urn.clone(), command, inputs, subject.limit)).await?
            }
            None => outputs("", "", false),
        };
        let id = format!("command-{:016x}", world.randomness().next_u64());
        Ok(Made { id, outputs })
    }

    async fn read(&self, _: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>> {
        if known.is_import() {
            return Err(ProviderError::new(
                "a command cannot be imported: it leaves nothing that could be read",
            ));
        }
        Ok(Some(known.unchanged(&subject.id)))
    }

    async fn update(&self, world: &World, subject: &Subject, change: &Change<'_>) -> Answer<Made> {
        let (old, new) = (change.old_outputs, change.new_inputs);
        let command = new.text("update").or(new.text("create")).filter(|_| !waits(change));
        let outputs = match command {
            Some(command) => {
                let order = Order::new(subject.urn.clone(), command, new, subject.limit);
                let order = if adds_previous(new) { order.with_previous(old) } else { order };
                carry_out(world, order).await?
            }
            None => outputs(
                old.text("stdout").unwrap_or_default(),
                old.text("stderr").unwrap_or_default(),
                old.any_secret(&["stdout", "stderr"]),
            ),
        };
        Ok(Made { id: subject.id.clone(), outputs })
    }

    async fn delete(
        &self,
        world: &World,
        subject: &Subject,
        inputs: &Fields,
        outputs: &Fields,
    ) -> Answer<()> {
        let Some(command) = inputs.text("delete") else { return Ok(()) };
        let order = Order::new(subject.urn.clone(), command, inputs, subject.limit);
        let order = if adds_previous(inputs) { order.with_previous(outputs) } else { order };
        order.run(world).await.map(|_| ())
    }
}

/// Runs a command and gives what it printed.
pub(crate) async fn run(world: &World, inputs: &Fields, failures: &mut Failures) -> Answer<Made> {
    check(inputs, failures);
    let Some(command) = inputs.text("command").filter(|_| failures.0.is_empty()) else {
        return Ok(Made::default());
    };
    let order = Order::new(Urn::default(), command, inputs, None);
    let hidden = order.hidden;
    let Printed { stdout, stderr } = order.quiet().run(world).await?;
    let outputs = outputs(&stdout, &stderr, hidden);
    Ok(Made { id: String::new(), outputs })
}
