//! Selects the histories to run.

use crate::found;
use crate::generate;
use crate::history::History;
use crate::parameters::Parameter;

/// The histories of seeds, or those in which something was wrong once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeds {
    /// This seed, whose history is shown.
    One(u64),
    /// From the first seed up to, but not including, the last; endless without a last one.
    Range(u64, Option<u64>),
    /// The histories in which something was wrong once.
    Found,
}

impl Seeds {
    /// Reads `5`, `5..8`, `5..` or `found`.
    pub fn read(text: &str) -> Result<Seeds, String> {
        if text == "found" {
            return Ok(Seeds::Found);
        }
        let number = |text: &str| {
            text.parse()
                .map_err(|_| format!("`{text}` is no seed; give a number, as in 5, 5..8 or 5.., or `found`"))
        };
        match text.split_once("..") {
            None => Ok(Seeds::One(number(text)?)),
            Some((first, "")) => Ok(Seeds::Range(number(first)?, None)),
            Some((first, end)) => Ok(Seeds::Range(number(first)?, Some(number(end)?))),
        }
    }

    /// Returns the first seed, and the seed after the last.
    pub fn range(self) -> (u64, u64) {
        match self {
            Seeds::One(seed) => (seed, seed + 1),
            Seeds::Range(first, end) => (first, end.unwrap_or(u64::MAX)),
            Seeds::Found => (0, found::NUMBER),
        }
    }

    /// Returns the history of a seed, or the found history with this number.
    pub fn history(self, number: u64, parameters: &[Parameter]) -> History {
        match self {
            Seeds::Found => found::history(number),
            Seeds::One(_) | Seeds::Range(..) => generate::history(number, parameters),
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
        assert_eq!(Seeds::read("found"), Ok(Seeds::Found));
        assert_eq!(Seeds::read("5..").unwrap().range(), (5, u64::MAX));
        for wrong in ["", "x", "-1", "..8", "5..x"] {
            assert!(Seeds::read(wrong).unwrap_err().contains("is no seed"), "{wrong}");
        }
    }
}
