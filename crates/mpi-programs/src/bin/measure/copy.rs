//! The yardstick for collectives that move data without computing: copying as many bytes within a rank.

use std::hint::black_box;

/// Two buffers of a rank.
#[derive(Debug)]
pub struct Copy {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl Copy {
    /// Makes buffers of so many bytes. All bytes have been written, so their pages exist.
    pub fn of(bytes: usize) -> Self {
        Copy { from: vec![1; bytes], to: vec![2; bytes] }
    }

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
