//! Pseudo-random numbers by SplitMix64: small, seeded, the same everywhere.

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns number `index` of the sequence that starts from a seed.
pub fn nth(seed: u64, index: u64) -> u64 {
    let number = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN));
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// A sequence of numbers that starts from a seed.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        let number = nth(self.0, 0);
        self.0 = self.0.wrapping_add(GOLDEN);
        (number % bound as u64) as usize
    }
}

/// Changes a bit or a character, removes one, cuts off the end, or repeats a line. New characters are of `alphabet`.
#[cfg(test)]
pub fn mutate(text: &mut Vec<u8>, alphabet: &[u8], random: &mut Random) {
    if text.is_empty() {
        return;
    }
    let place = random.below(text.len());
    match random.below(5) {
        0 => text[place] ^= 1 << random.below(8),
        1 => text[place] = alphabet[random.below(alphabet.len())],
        2 => text.truncate(place),
        3 => drop(text.remove(place)),
        _ => duplicate_line(text, place),
    }
}

#[cfg(test)]
fn duplicate_line(text: &mut Vec<u8>, place: usize) {
    let newline = |byte: &u8| *byte == b'\n';
    let start = text[..place].iter().rposition(newline).map_or(0, |before| before + 1);
    let end = text[place..].iter().position(newline).map_or(text.len(), |length| place + length + 1);
    let line = text[start..end].to_vec();
    text.splice(start..start, line);
}
