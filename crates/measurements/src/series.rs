//! Series: an operation and the sizes to measure.

use crate::Operation;
use rustcoll::algorithms::Collective;
use rustcoll::selection::quantity;
use std::fmt;
use std::str::FromStr;

/// An operation and its sizes: `allreduce:8,64,1K`, `iallreduce:8`, `alltoallv@sparse:8`. A barrier has no bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    pub operation: Operation,
    /// By the collective's measure, or the bytes of each block if the collective has none.
    pub bytes: Vec<usize>,
}

impl Series {
    /// Bytes of one number in a reduction. All sizes are multiples of it.
    pub const ELEMENT: usize = 4;

    /// Fails if MPI has no such call, or if the call cannot be measured with these bytes.
    pub fn new(operation: Operation, bytes: Vec<usize>) -> Result<Self, String> {
        operation.check()?;
        match bytes.iter().find(|bytes| !bytes.is_multiple_of(Series::ELEMENT)) {
            _ if operation.collective == Collective::Barrier => Ok(Series { operation, bytes: vec![0] }),
            _ if bytes.is_empty() => Err(format!("{operation}: bytes are missing, as {operation}:8,1K")),
            Some(odd) => Err(format!(
                "{operation}: {odd} bytes are no multiple of {}, those of an element",
                Series::ELEMENT
            )),
            None => Ok(Series { operation, bytes }),
        }
    }

    /// Returns the operation's name: `allreduce`, `iallreduce@overlap`, `alltoallv@sparse`.
    pub fn name(&self) -> String {
        self.operation.to_string()
    }
}

impl FromStr for Series {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, bytes) = text.split_once(':').map_or((text, None), |(name, bytes)| (name, Some(bytes)));
        let operation = name.parse()?;
        let bytes = bytes.map_or(Ok(Vec::new()), |bytes| bytes.split(',').map(quantity::bytes).collect());
        Series::new(operation, bytes.map_err(|error: String| format!("{name}: {error}"))?)
    }
}

impl fmt::Display for Series {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let bytes: Vec<String> = self.bytes.iter().map(usize::to_string).collect();
        write!(formatter, "{}:{}", self.name(), bytes.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_written_as_they_are_read() {
        let series: Series = "allreduce:8,1K".parse().unwrap();
        assert_eq!(series.to_string(), "allreduce:8,1024");
        assert_eq!(series.to_string().parse(), Ok(series));
        assert_eq!("barrier".parse::<Series>().unwrap().bytes, [0]);
        for text in ["iallreduce:8", "allreduce_init:8", "ibarrier:0", "bcast@inter:8"] {
            assert_eq!(text.parse::<Series>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        for (text, expected) in [
            ("alreduce:8", "unknown collective `alreduce`; the nearest known one is `allreduce`"),
            ("iallreduc:8", "unknown collective `iallreduc`; the nearest known one is `iallreduce`"),
            ("allreduce_init", "allreduce_init: bytes are missing, as allreduce_init:8,1K"),
            ("allreduce", "allreduce: bytes are missing, as allreduce:8,1K"),
            ("allreduce:8,x", "allreduce: `x` is not a number of bytes"),
            ("allreduce:9", "allreduce: 9 bytes are no multiple of 4, those of an element"),
            ("scan@inter:8", "scan has no shape `inter`: it is scan"),
        ] {
            assert_eq!(text.parse::<Series>().unwrap_err(), expected);
        }
    }
}
