//! Whether a value that is about to be kept in plain text looks like a secret.

use zxcvbn::matching::patterns::MatchPattern;

/// What stands in the keys of secrets.
const WORDS: [&str; 4] = ["pass", "pwd", "secret", "token"];
/// How much of a value is looked at.
const LONGEST: usize = 16;
/// With so many bits, a value is a secret.
const CERTAIN: f64 = 80.0;
/// With so many bits for each character and half of the bits above, it is one too.
const DENSE: f64 = 3.0;

/// Whether the key names a secret and the value is too random to be anything else.
pub(super) fn looks_like_secret(key: &str, value: &str) -> bool {
    let key = key.to_lowercase();
    if !WORDS.iter().any(|word| key.contains(word)) {
        return false;
    }
    let start: String = value.chars().take(LONGEST).collect();
    let length = start.chars().count() as f64;
    let bits = bits(&start);
    bits >= CERTAIN || (bits >= CERTAIN / 2.0 && bits / length >= DENSE)
}

/// How random a text is. Words, dates and keyboard patterns count as what they are; the rest counts by the kinds of
/// characters that the text is made of.
fn bits(text: &str) -> f64 {
    let alphabet = alphabet(text).log2();
    let estimate = zxcvbn::zxcvbn(text, &[]);
    estimate
        .sequence()
        .iter()
        .map(|part| match part.pattern {
            MatchPattern::BruteForce => alphabet * part.token.chars().count() as f64,
            _ => (part.guesses.unwrap_or(1) as f64).log2(),
        })
        .sum()
}

/// From how many characters those of a text are taken.
fn alphabet(text: &str) -> f64 {
    let kinds: [(fn(char) -> bool, f64); 4] = [
        (|c| c.is_lowercase(), 26.0),
        (|c| c.is_uppercase(), 26.0),
        (|c| c.is_numeric(), 10.0),
        (|c| !c.is_alphanumeric(), 33.0),
    ];
    kinds.iter().filter(|(is_kind, _)| text.chars().any(is_kind)).map(|(_, size)| size).sum::<f64>().max(1.0)
}
