//! A hash that is the same in every process.

/// The 64-bit hash FNV-1a.
pub fn hash(bytes: &[u8]) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x100_0000_01b3;
    bytes.iter().fold(OFFSET, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_differ_and_known_ones_are_as_published() {
        assert_ne!(hash(b"node1"), hash(b"node2"));
        assert_eq!(hash(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
