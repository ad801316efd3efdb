//! Drawing. The same seed draws the same for ever: what is drawn from it stands in states.

use rand::Rng;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use sha2::{Digest, Sha256};

/// Randomness that a text stands for.
pub(super) fn seeded(seed: &str) -> ChaCha20Rng {
    ChaCha20Rng::from_seed(Sha256::digest(seed.as_bytes()).into())
}

/// A number below `end`, each as likely; 0 when there is none.
pub(super) fn below(randomness: &mut ChaCha20Rng, end: u64) -> u64 {
    if end < 2 {
        return 0;
    }
    // The last numbers, which do not fill a whole round, would favour the first remainders.
    let rounds = u64::MAX - u64::MAX % end;
    loop {
        let drawn = randomness.next_u64();
        if drawn < rounds {
            return drawn % end;
        }
    }
}

/// One of several, as an index.
pub(super) fn index(randomness: &mut ChaCha20Rng, length: usize) -> usize {
    usize::try_from(below(randomness, length as u64)).unwrap_or_default()
}

/// Brings elements into any order.
pub(super) fn shuffle<T>(randomness: &mut ChaCha20Rng, elements: &mut [T]) {
    for last in (1..elements.len()).rev() {
        elements.swap(last, index(randomness, last + 1));
    }
}

pub(super) fn bytes(randomness: &mut ChaCha20Rng, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    randomness.fill_bytes(&mut bytes);
    bytes
}
