//! Names of random words.

use super::words::{ADJECTIVES, ADVERBS, ANIMALS};
use super::{check_count, count, draw};
use crate::fields::Fields;
use crate::kind::{Answer, Kind, Known, Made, Seen, Subject};
use crate::schema::Failures;
use crate::world::World;
use async_trait::async_trait;
use drystone_engine::{PropertyMap, ProviderError};
use drystone_model::Value;
use rand_chacha::ChaCha20Rng;

/// `RandomPet`.
pub(crate) struct Pet;

/// Any number of adverbs, an adjective, an animal; the animal is the last to be left out.
fn words(randomness: &mut ChaCha20Rng, length: usize) -> Vec<&'static str> {
    let mut word = |words: &[&'static str]| words[draw::index(randomness, words.len())];
    let list = |left: usize| match left {
        1 => ANIMALS,
        2 => ADJECTIVES,
        _ => ADVERBS,
    };
    (1..=length).rev().map(|left| word(list(left))).collect()
}

fn is_word(text: &str) -> bool {
    [ADVERBS, ADJECTIVES, ANIMALS].iter().any(|words| words.contains(&text))
}

#[async_trait]
impl Kind for Pet {
    fn named_by(&self) -> &'static [&'static str] {
        &["prefix"]
    }

    fn check(&self, inputs: &Fields, failures: &mut Failures) {
        check_count(inputs, "length", 1, 64, failures);
    }

    async fn create(&self, world: &World, _: &Subject, inputs: &Fields) -> Answer<Made> {
        let words = words(&mut world.randomness(), count(inputs, "length"));
        let parts: Vec<&str> = inputs.text("prefix").into_iter().chain(words).collect();
        let id = parts.join(inputs.text("separator").unwrap_or_default());
        Ok(Made { id, ..Made::default() })
    }

    async fn read(&self, _: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>> {
        if !known.is_import() {
            return Ok(Some(known.unchanged(&subject.id)));
        }
        let parts: Vec<&str> = subject.id.split('-').collect();
        let length = parts.iter().rev().take_while(|part| is_word(part)).count();
        if length == 0 {
            return Err(ProviderError::new(format!(
                "`{}` ends with no word that names are made of",
                subject.id
            )));
        }
        let prefix = parts[..parts.len() - length].join("-");
        let length = i64::try_from(length).unwrap_or_default();
        let mut inputs = PropertyMap::from([
            ("length".to_owned(), Value::from(length)),
            ("separator".to_owned(), Value::from("-")),
        ]);
        if !prefix.is_empty() {
            inputs.insert("prefix".to_owned(), Value::String(prefix));
        }
        Ok(Some(Seen { id: subject.id.clone(), inputs, outputs: PropertyMap::new() }))
    }
}
