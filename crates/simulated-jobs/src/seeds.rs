//! Which seeds are run.

/// One seed, or those of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeds {
    /// This one, which is shown.
    One(u64),
    /// From the first one up to the last, which is not among them; without end if there is none.
    Range(u64, Option<u64>),
}

impl Seeds {
    /// Reads `5`, `5..8` or `5..`.
    pub fn read(text: &str) -> Result<Seeds, String> {
        let number = |text: &str| {
            text.parse().map_err(|_| format!("`{text}` is no seed; give a number, as in 5, 5..8 or 5.."))
        };
        match text.split_once("..") {
            None => Ok(Seeds::One(number(text)?)),
            Some((first, "")) => Ok(Seeds::Range(number(first)?, None)),
            Some((first, end)) => Ok(Seeds::Range(number(first)?, Some(number(end)?))),
        }
    }

    /// The first seed, and the one past the last.
    pub fn range(self) -> (u64, u64) {
        match self {
            Seeds::One(seed) => (seed, seed + 1),
            Seeds::Range(first, end) => (first, end.unwrap_or(u64::MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_one_or_a_range() {
        assert_eq!(Seeds::read("5"), Ok(Seeds::One(5)));
        assert_eq!(Seeds::read("5..8"), Ok(Seeds::Range(5, Some(8))));
        assert_eq!(Seeds::read("5..").unwrap().range(), (5, u64::MAX));
        for wrong in ["", "x", "-1", "..8", "5..x"] {
            assert!(Seeds::read(wrong).unwrap_err().contains("is no seed"), "{wrong}");
        }
    }
}
