//! The yardstick of collectives that move data and compute nothing: copying as much within a rank.

use std::hint::black_box;

/// Two buffers of a rank.
#[derive(Debug)]
pub struct Copy {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl Copy {
    /// Of so many bytes, all of which have been written before.
    pub fn of(bytes: usize) -> Self {
        Copy { from: vec![1; bytes], to: vec![2; bytes] }
    }

    /// Copies all of them.
    pub fn perform(&mut self) {
        black_box(&mut self.to).copy_from_slice(black_box(&self.from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_are_copied() {
        let mut copy = Copy::of(3);
        copy.perform();
        assert_eq!(copy.to, [1, 1, 1]);
    }
}
