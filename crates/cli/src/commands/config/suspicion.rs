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

/// How random a text is: the fewest bits of all ways to split it into words, dates, keyboard patterns and single
/// characters.
fn bits(text: &str) -> f64 {
    let characters: Vec<char> = text.chars().collect();
    let alone = alphabet(text).log2();
    let mut fewest = vec![0.0; characters.len() + 1];
    for end in 1..=characters.len() {
        fewest[end] = fewest[end - 1] + alone;
        for start in 0..end {
            let part: String = characters[start..end].iter().collect();
            if let Some(bits) = known_bits(&part) {
                fewest[end] = f64::min(fewest[end], fewest[start] + bits);
            }
        }
    }
    fewest[characters.len()]
}

/// How random a part is that is one word or pattern as a whole.
fn known_bits(part: &str) -> Option<f64> {
    let estimate = zxcvbn::zxcvbn(part, &[]);
    let [only] = estimate.sequence() else { return None };
    match &only.pattern {
        MatchPattern::BruteForce => None,
        MatchPattern::Dictionary(word) => {
            Some((word.rank as f64).log2() + (word.uppercase_variations.max(1) as f64).log2())
        }
        _ => only.guesses.map(|guesses| (guesses.max(1) as f64).log2()),
    }
}

/// From how many characters those of a text are taken.
fn alphabet(text: &str) -> f64 {
    let size_if = |has_some: bool, size: f64| if has_some { size } else { 0.0 };
    let size = size_if(text.chars().any(char::is_lowercase), 26.0)
        + size_if(text.chars().any(char::is_uppercase), 26.0)
        + size_if(text.chars().any(char::is_numeric), 10.0)
        + size_if(text.chars().any(|character| !character.is_alphanumeric()), 33.0);
    size.max(1.0)
}
