//! The time for a byte, which may depend on the number of bytes.

/// The time for each byte, in seconds: a constant, or a function of the number of bytes.
///
/// Such a function is known at some numbers of bytes, its knots. Between knots it is linear in the logarithm
/// of the number of bytes. Below the first and beyond the last knot it is constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByteTime {
    /// Numbers of bytes, ascending, and the times there. Unused knots repeat the last time.
    knots: [(f64, f64); ByteTime::MOST_KNOTS],
    used: usize,
}

impl ByteTime {
    /// The most knots.
    pub const MOST_KNOTS: usize = 8;

    /// No byte takes any time.
    pub const NONE: ByteTime = ByteTime { knots: [(1.0, 0.0); ByteTime::MOST_KNOTS], used: 1 };

    /// The same time for each byte, however many there are.
    pub fn constant(seconds: f64) -> ByteTime {
        ByteTime { knots: [(1.0, seconds); ByteTime::MOST_KNOTS], used: 1 }
    }

    /// Returns the function with these knots. Their numbers of bytes must be at least 1 and ascend. `None` if
    /// not, if there are no knots, or more than [`ByteTime::MOST_KNOTS`].
    pub fn known_at(knots: &[(usize, f64)]) -> Option<ByteTime> {
        let last = *knots.last()?;
        if knots.len() > ByteTime::MOST_KNOTS
            || !knots.is_sorted_by(|one, other| one.0 < other.0)
            || knots[0].0 == 0
        {
            return None;
        }
        let knot = |index| *knots.get(index).unwrap_or(&last);
        let knots_of = std::array::from_fn(|index| (knot(index).0 as f64, knot(index).1));
        Some(ByteTime { knots: knots_of, used: knots.len() })
    }

    /// Returns the knots: numbers of bytes, and the times there.
    pub fn knots(&self) -> &[(f64, f64)] {
        &self.knots[..self.used]
    }

    /// Returns the time for each of so many bytes.
    pub fn at(&self, bytes: f64) -> f64 {
        self.shares(bytes).into_iter().map(|(knot, share)| share * self.knots[knot].1).sum()
    }

    /// Returns that time as a weighted sum of two knots: their positions and weights.
    pub fn shares(&self, bytes: f64) -> [(usize, f64); 2] {
        let beyond = self.knots().partition_point(|knot| knot.0 <= bytes);
        if beyond == 0 || beyond == self.used {
            return [(beyond.saturating_sub(1), 1.0), (0, 0.0)];
        }
        let [(least, _), (most, _)] = [self.knots[beyond - 1], self.knots[beyond]];
        let share = (bytes / least).ln() / (most / least).ln();
        [(beyond - 1, 1.0 - share), (beyond, share)]
    }

    /// Whether no byte takes any time.
    pub fn is_none(&self) -> bool {
        self.knots().iter().all(|knot| knot.1 == 0.0)
    }

    /// Returns the same knots with other times; `time` gets each position and time.
    pub fn map(&self, mut time: impl FnMut(usize, f64) -> f64) -> ByteTime {
        let mut mapped = *self;
        for (number, knot) in mapped.knots[..self.used].iter_mut().enumerate() {
            knot.1 = time(number, knot.1);
        }
        mapped
    }
}

impl Default for ByteTime {
    fn default() -> Self {
        ByteTime::NONE
    }
}

impl From<f64> for ByteTime {
    fn from(seconds: f64) -> Self {
        ByteTime::constant(seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_time_holds_for_all() {
        for bytes in [0.0, 1.0, 1e12] {
            assert_eq!(ByteTime::constant(0.3).at(bytes), 0.3);
        }
        assert!(ByteTime::NONE.is_none() && !ByteTime::constant(1.0).is_none());
    }

    #[test]
    fn between_two_knots_it_changes_with_the_logarithm() {
        let time = ByteTime::known_at(&[(1, 8.0), (4, 4.0), (64, 2.0)]).unwrap();
        for (bytes, expected) in
            [(0.0, 8.0), (1.0, 8.0), (2.0, 6.0), (4.0, 4.0), (16.0, 3.0), (64.0, 2.0), (1e9, 2.0)]
        {
            assert!((time.at(bytes) - expected).abs() < 1e-12, "{bytes}");
        }
        let halved = time.map(|_, time| time / 2.0);
        assert_eq!(halved.knots(), [(1.0, 4.0), (4.0, 2.0), (64.0, 1.0)]);
    }

    #[test]
    fn knots_ascend() {
        assert_eq!(ByteTime::known_at(&[]), None);
        assert_eq!(ByteTime::known_at(&[(0, 1.0)]), None);
        assert_eq!(ByteTime::known_at(&[(2, 1.0), (2, 1.0)]), None);
        assert_eq!(ByteTime::known_at(&[(1, 1.0); ByteTime::MOST_KNOTS + 1]), None);
    }
}
