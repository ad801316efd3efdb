//! HTTP reads as a resource and as a function.

use super::ask::{Answered, Question, address};
use crate::fields::Fields;
use crate::kind::{Answer, Change, Kind, Known, Made, Seen, Subject};
use crate::schema::Failures;
use crate::world::World;
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use drystone_engine::PropertyMap;
use drystone_model::Value;
use std::time::Duration;

/// `Request`.
pub(crate) struct Request;

/// The function that asks an address.
pub(crate) const GET_HTTP: &str = "drystone:http:getHttp";

/// The most further attempts.
const MOST_ATTEMPTS: i64 = 100;

/// The longest time in milliseconds that an input may ask for: a day.
const LONGEST: i64 = 86_400_000;

fn check(inputs: &Fields, failures: &mut Failures) {
    if inputs.text("url").is_some_and(|url| address(url).is_none()) {
        failures.add("url", "`url` must be an address of `http://` or `https://`");
    }
    if inputs.whole("requestTimeoutMs").is_some_and(|timeout| !(1..=LONGEST).contains(&timeout)) {
        failures.add("requestTimeoutMs", format!("`requestTimeoutMs` must be 1 to {LONGEST}"));
    }
    let retry = [("attempts", MOST_ATTEMPTS), ("minDelayMs", LONGEST), ("maxDelayMs", LONGEST)];
    for (key, most) in retry {
        let number = inputs.value("retry").and_then(|retry| retry.get(key)?.as_number()?.as_i64());
        if number.is_some_and(|number| !(0..=most).contains(&number)) {
            failures.add(&format!("retry.{key}"), format!("`retry.{key}` must be 0 to {most}"));
        }
    }
}

fn outputs(inputs: &Fields, answered: &Answered) -> PropertyMap {
    let hidden = inputs.any_secret(&["url", "requestHeaders", "requestBody"]);
    let output =
        |key: &str, value: Value| (key.to_owned(), if hidden { Value::secret(value) } else { value });
    let text = String::from_utf8_lossy(&answered.body).into_owned();
    let headers = answered.headers.iter().map(|(name, value)| (name.clone(), value.as_str()));
    PropertyMap::from([
        ("statusCode".to_owned(), Value::from(i64::from(answered.status))),
        output("responseBody", Value::String(text)),
        output("responseBodyBase64", Value::String(STANDARD.encode(&answered.body))),
        output("responseHeaders", Value::object(headers)),
    ])
}

async fn ask(world: &World, inputs: &Fields, limit: Option<Duration>) -> Answer<Made> {
    let answered = Question::new(inputs)?.ask(world, limit).await?;
    let id = inputs.text("url").unwrap_or_default().to_owned();
    Ok(Made { id, outputs: outputs(inputs, &answered) })
}

#[async_trait]
impl Kind for Request {
    fn check(&self, inputs: &Fields, failures: &mut Failures) {
        check(inputs, failures);
    }

    async fn create(&self, world: &World, subject: &Subject, inputs: &Fields) -> Answer<Made> {
        let made = ask(world, inputs, subject.limit).await?;
        // An id is never secret.
        let id = if inputs.is_secret("url") { "secret".to_owned() } else { made.id };
        Ok(Made { id, ..made })
    }

    async fn read(&self, world: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>> {
        let mut inputs = known.inputs;
        inputs.entry("url".to_owned()).or_insert_with(|| Value::from(subject.id.as_str()));
        let made = ask(world, &Fields::new(&inputs), subject.limit).await?;
        Ok(Some(Seen { id: subject.id.clone(), inputs, outputs: made.outputs }))
    }

    async fn update(&self, world: &World, subject: &Subject, change: &Change<'_>) -> Answer<Made> {
        let made = ask(world, change.new_inputs, subject.limit).await?;
        Ok(Made { id: subject.id.clone(), ..made })
    }
}

/// Asks an address and gives what it answered.
pub(crate) async fn get_http(world: &World, inputs: &Fields, failures: &mut Failures) -> Answer<Made> {
    check(inputs, failures);
    if !failures.0.is_empty() {
        return Ok(Made::default());
    }
    ask(world, inputs, None).await
}
