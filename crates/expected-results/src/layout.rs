//! The layout of a datatype's elements in memory.

use std::ops::Range;

/// A basic type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// `MPI_BYTE`
    Byte,
    /// `MPI_INT`
    Int,
    /// `MPI_DOUBLE`
    Double,
}

impl Scalar {
    /// Returns the length in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Scalar::Byte => 1,
            Scalar::Int => 4,
            Scalar::Double => 8,
        }
    }

    /// Returns the prime modulo which operators of users compute: the type can hold two numbers below it.
    pub fn prime(self) -> i64 {
        match self {
            Scalar::Byte => 13,
            Scalar::Int | Scalar::Double => 46_337,
        }
    }

    /// Encodes a number at the start of 8 bytes. A byte holds the lowest 8 bits of the number; other types must be able to hold
    /// the number exactly.
    pub fn encode(self, value: i64) -> [u8; 8] {
        let mut bytes = [0; 8];
        match self {
            Scalar::Byte => bytes[0] = value as u8,
            Scalar::Int => bytes[..4].copy_from_slice(&(value as i32).to_ne_bytes()),
            Scalar::Double => bytes.copy_from_slice(&(value as f64).to_ne_bytes()),
        }
        bytes
    }

    /// Decodes a number from exactly as many bytes as the type has.
    pub fn decode(self, bytes: &[u8]) -> f64 {
        match self {
            Scalar::Byte => bytes[0].into(),
            Scalar::Int => i32::from_ne_bytes(bytes.try_into().expect("4 bytes")).into(),
            Scalar::Double => f64::from_ne_bytes(bytes.try_into().expect("8 bytes")),
        }
    }
}

/// One basic value of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasicValue {
    /// Distance in bytes from the element's address.
    pub offset: isize,
    pub scalar: Scalar,
}

/// The places of an element's values, and the distance between elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The values in the order of sending.
    pub slots: Vec<BasicValue>,
    /// `MPI_Type_get_extent`'s lower bound.
    pub lower_bound: isize,
    /// `MPI_Type_get_extent`'s extent.
    pub extent: isize,
}

impl Layout {
    /// Returns the prime modulo which operators of users compute with such elements.
    pub fn prime(&self) -> i64 {
        let primes = self.slots.iter().map(|slot| slot.scalar.prime());
        primes.min().unwrap_or(Scalar::Int.prime())
    }

    /// Returns the layout of one element that consists of copies of this one at several displacements in bytes.
    pub fn at(&self, displacements: &[isize]) -> Self {
        let slots = displacements
            .iter()
            .flat_map(|by| {
                self.slots.iter().map(move |slot| BasicValue { offset: slot.offset + by, ..*slot })
            })
            .collect();
        let lowest = displacements.iter().min().unwrap_or(&0);
        let highest = displacements.iter().max().unwrap_or(&0);
        let extent = if displacements.is_empty() { 0 } else { highest - lowest + self.extent };
        Layout { slots, lower_bound: lowest + self.lower_bound, extent }
    }

    /// Returns a range around the buffer's address with all bytes that `count` elements may touch.
    pub fn span(&self, count: usize) -> Range<isize> {
        if count == 0 {
            return 0..0;
        }
        let start = self.slots.iter().map(|slot| slot.offset).min().unwrap_or(0);
        let end = self.slots.iter().map(|slot| slot.offset + slot.scalar.bytes() as isize).max().unwrap_or(0);
        start.min(0)..(end + (count as isize - 1) * self.extent).max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int() -> Layout {
        Layout { slots: vec![BasicValue { offset: 0, scalar: Scalar::Int }], lower_bound: 0, extent: 4 }
    }

    #[test]
    fn displacements_shift_the_bounds() {
        let layout = int().at(&[-8, 4]);
        assert_eq!((layout.lower_bound, layout.extent), (-8, 16));
        assert_eq!(layout.span(2), -8..24);
    }

    #[test]
    fn nothing_touches_nothing() {
        assert_eq!(int().span(0), 0..0);
        assert_eq!(int().at(&[]).span(3), 0..0);
    }

    #[test]
    fn numbers_survive_their_encoding() {
        let through = |scalar: Scalar, value| scalar.decode(&scalar.encode(value)[..scalar.bytes()]);
        for value in [0, -1, i32::MAX as i64, i32::MIN as i64] {
            for scalar in [Scalar::Int, Scalar::Double] {
                assert_eq!(through(scalar, value), value as f64);
            }
        }
        assert_eq!([0, 255, 256, -1].map(|value| through(Scalar::Byte, value)), [0.0, 255.0, 0.0, 255.0]);
    }
}
