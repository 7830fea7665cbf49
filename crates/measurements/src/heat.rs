//! A heat: one series and its contestants.

use crate::{Contestant, Series};
use std::fmt;
use std::str::FromStr;

/// A series and its contestants: `allreduce:8,1K/rustcoll,rustcoll:ring`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heat {
    pub series: Series,
    /// Empty for the contestants of the whole job.
    pub contestants: Vec<Contestant>,
}

impl FromStr for Heat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (series, contestants) =
            text.split_once('/').map_or((text, None), |(series, rest)| (series, Some(rest)));
        let contestants = contestants.map_or(Ok(Vec::new()), |all| all.split(',').map(str::parse).collect());
        Ok(Heat { series: series.parse()?, contestants: contestants? })
    }
}

impl fmt::Display for Heat {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}", self.series)?;
        let separators = ["/"].into_iter().chain(std::iter::repeat(","));
        separators
            .zip(&self.contestants)
            .try_for_each(|(separator, one)| write!(formatter, "{separator}{one}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heats_are_written_as_they_are_read() {
        for text in ["allreduce:8,1024", "bcast:8/rustcoll", "bcast:8,64/rustcoll@/tmp/rules.toml,tuned:3"] {
            assert_eq!(text.parse::<Heat>().unwrap().to_string(), text);
        }
        assert_eq!(
            "bcast:8/".parse::<Heat>().unwrap_err(),
            "the contestant ``: component[:algorithm][:key=value] is expected"
        );
    }
}
