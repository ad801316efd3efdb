//! Texts of random characters, shown or secret.

use super::{MOST, check_count, count, draw};
use crate::fields::Fields;
use crate::kind::{Answer, Kind, Known, Made, Seen, Subject};
use crate::schema::Failures;
use crate::world::World;
use async_trait::async_trait;
use drystone_engine::{PropertyMap, ProviderError};
use drystone_model::Value;
use rand_chacha::ChaCha20Rng;

/// `RandomString`.
pub(crate) struct Text;

/// `RandomPassword`.
pub(crate) struct Password;

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const NUMERIC: &str = "0123456789";
const SPECIAL: &str = "!@#$%&*()-_=+[]{}<>:?";

/// The id of a password, which must not show it.
const HIDDEN_ID: &str = "none";

/// What bcrypt's hashes cost: 2 to that power rounds.
const BCRYPT_COST: u32 = 10;

/// A class of characters: the inputs that allow it and that ask for some of it, and what it holds.
struct Class {
    allowed: &'static str,
    least: &'static str,
    characters: Vec<char>,
}

fn classes(inputs: &Fields) -> [Class; 4] {
    let special = inputs.text("overrideSpecial").unwrap_or(SPECIAL);
    [
        ("lower", "minLower", LOWER),
        ("upper", "minUpper", UPPER),
        ("numeric", "minNumeric", NUMERIC),
        ("special", "minSpecial", special),
    ]
    .map(|(allowed, least, characters)| Class {
        allowed,
        least,
        characters: characters.chars().collect(),
    })
}

fn check(inputs: &Fields, failures: &mut Failures) {
    check_count(inputs, "length", 1, MOST, failures);
    let unknown = ["length", "overrideSpecial", "lower", "upper", "numeric", "special"];
    if unknown.iter().any(|key| inputs.is_unknown(key)) {
        return;
    }
    let (mut wanted, mut choice) = (0, 0);
    for class in classes(inputs) {
        check_count(inputs, class.least, 0, MOST, failures);
        let least = count(inputs, class.least);
        wanted += least;
        if inputs.flag(class.allowed) == Some(true) {
            choice += class.characters.len();
        } else if least > 0 {
            let message =
                format!("`{}` asks for characters that `{}: false` forbids", class.least, class.allowed);
            failures.add(class.least, message);
        }
        if least > 0 && class.characters.is_empty() {
            failures.add(class.least, "there are no special characters to choose from");
        }
    }
    if choice == 0 {
        failures.add("", "no characters are allowed: set one of `lower`, `upper`, `numeric` and `special`");
    }
    if wanted > count(inputs, "length") {
        failures.add("length", "`length` is less than the minimums together");
    }
}

/// A text as the inputs ask for it: the minimums first, then any, then all in another order.
fn draw_text(randomness: &mut ChaCha20Rng, inputs: &Fields) -> Answer<String> {
    let mut all: Vec<char> = Vec::new();
    let mut text: Vec<char> = Vec::new();
    for class in classes(inputs) {
        for _ in 0..count(inputs, class.least) {
            text.extend(class.characters.get(draw::index(randomness, class.characters.len())));
        }
        if inputs.flag(class.allowed) == Some(true) {
            all.extend(class.characters);
        }
    }
    if all.is_empty() {
        return Err(ProviderError::new("no characters are allowed"));
    }
    while text.len() < count(inputs, "length") {
        text.push(all[draw::index(randomness, all.len())]);
    }
    draw::shuffle(randomness, &mut text);
    Ok(text.into_iter().collect())
}

/// The inputs that a text may have come from.
fn inputs_of(text: &str) -> PropertyMap {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let holds = |class: &str| Value::Bool(text.chars().any(|character| class.contains(character)));
    let other = |character: &char| ![LOWER, UPPER, NUMERIC].iter().any(|class| class.contains(*character));
    let mut special: Vec<char> = text.chars().filter(other).collect();
    special.sort_unstable();
    special.dedup();
    let mut inputs = PropertyMap::from([
        ("length".to_owned(), Value::from(length)),
        ("lower".to_owned(), holds(LOWER)),
        ("upper".to_owned(), holds(UPPER)),
        ("numeric".to_owned(), holds(NUMERIC)),
        ("special".to_owned(), Value::Bool(!special.is_empty())),
    ]);
    if special.iter().any(|character| !SPECIAL.contains(*character)) {
        inputs.insert("overrideSpecial".to_owned(), Value::String(special.into_iter().collect()));
    }
    inputs
}

fn result(text: &str) -> PropertyMap {
    PropertyMap::from([("result".to_owned(), Value::from(text))])
}

fn with_hash(world: &World, text: &str) -> Answer<PropertyMap> {
    let mut salt = [0; 16];
    salt.copy_from_slice(&draw::bytes(&mut world.randomness(), 16));
    let hash = bcrypt::hash_with_salt(text, BCRYPT_COST, salt)
        .map_err(|_| ProviderError::new("the password has no bcrypt hash: it holds a null character"))?;
    let mut outputs = result(text);
    outputs.insert("bcryptHash".to_owned(), Value::String(hash.format_for_version(bcrypt::Version::TwoA)));
    Ok(outputs)
}

#[async_trait]
impl Kind for Text {
    fn check(&self, inputs: &Fields, failures: &mut Failures) {
        check(inputs, failures);
    }

    async fn create(&self, world: &World, _: &Subject, inputs: &Fields) -> Answer<Made> {
        let text = draw_text(&mut world.randomness(), inputs)?;
        Ok(Made { outputs: result(&text), id: text })
    }

    async fn read(&self, _: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>> {
        if !known.is_import() {
            return Ok(Some(known.unchanged(&subject.id)));
        }
        let text = &subject.id;
        Ok(Some(Seen { id: text.clone(), inputs: inputs_of(text), outputs: result(text) }))
    }
}

#[async_trait]
impl Kind for Password {
    fn check(&self, inputs: &Fields, failures: &mut Failures) {
        check(inputs, failures);
    }

    async fn create(&self, world: &World, _: &Subject, inputs: &Fields) -> Answer<Made> {
        let text = draw_text(&mut world.randomness(), inputs)?;
        Ok(Made { id: HIDDEN_ID.to_owned(), outputs: with_hash(world, &text)? })
    }

    async fn read(&self, world: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>> {
        if !known.is_import() {
            return Ok(Some(known.unchanged(&subject.id)));
        }
        let mut inputs = inputs_of(&subject.id);
        // Its own special characters say something of the password, and code that is made from inputs would show them.
        inputs.remove("overrideSpecial");
        let outputs = with_hash(world, &subject.id)?;
        Ok(Some(Seen { id: HIDDEN_ID.to_owned(), inputs, outputs }))
    }
}
