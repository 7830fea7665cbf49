//! Pseudo-random numbers for tests of all ranks in one process.

/// SplitMix64: small, seeded, the same everywhere.
pub struct Random(pub u64);

impl Random {
    /// A number below the bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

/// Changes a text a little: a bit, a character, its end, or a line that comes twice. New characters are of an alphabet.
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
