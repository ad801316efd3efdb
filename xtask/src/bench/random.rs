//! Numbers from a seed, the same on every machine.

/// The SplitMix64 generator.
pub(super) struct Random {
    state: u64,
}

impl Random {
    /// The stream that belongs to a seed and a place in it, such as a resource's index.
    pub(super) fn at(seed: u64, place: u64) -> Self {
        let mut random = Self { state: seed ^ place.wrapping_mul(0xd134_2543_de82_ef95) };
        random.next();
        random
    }

    /// The next 64 bits.
    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a limit that is not zero.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// One of several things.
    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let index = self.below(from.len() as u64) as usize;
        &from[index]
    }

    /// Lower-case hexadecimal digits.
    pub(super) fn hex(&mut self, digits: usize) -> String {
        (0..digits).map(|_| char::from(b"0123456789abcdef"[self.below(16) as usize])).collect()
    }

    /// The numbers below a limit in random order.
    pub(super) fn permutation(&mut self, limit: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..limit).collect();
        for last in (1..limit).rev() {
            order.swap(last, self.below(last as u64 + 1) as usize);
        }
        order
    }
}
