//! The command line.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Parser;
use rustcoll::algorithms::Collective;

/// Tests every collective algorithm over MPI against locally computed results
#[derive(Parser, Debug)]
pub struct Options {
    /// Communicator sizes: "all" from 1 to the number of ranks, or a list such as 1,2,5
    #[arg(long, default_value = "all")]
    pub sizes: Sizes,
    /// From which data and samples of cases are drawn
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Test only this collective
    #[arg(long, value_parser = collective)]
    pub collective: Option<Collective>,
    /// Test only this algorithm; "auto" is the component's own choice
    #[arg(long)]
    pub algorithm: Option<String>,
    /// A folder of schedule files, which the component is given, too: their algorithms are tested as well
    #[arg(long)]
    pub schedules: Option<PathBuf>,
    /// The most cases that are drawn for one algorithm and size, if enough to show every value of every argument
    #[arg(long, default_value_t = 24)]
    pub cases: usize,
    /// Test also vectors of a hundred thousand elements
    #[arg(long)]
    pub long: bool,
    /// Leave out cases when testing the algorithms takes longer; the cases that cover everything once always run
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub budget_seconds: Option<Duration>,
    /// Test nothing but vectors of more than 2^31 bytes, on two ranks
    #[arg(long)]
    pub huge: bool,
    /// Test nothing but so many operations on communicators that come and go: resident memory must not grow
    #[arg(long, value_name = "OPERATIONS", conflicts_with = "huge")]
    pub soak: Option<usize>,
    /// Pretend that each node has so many consecutive ranks, and test only algorithms that know nodes, and the component's own
    /// choice. Preload the library that tests/pretended_nodes.c is compiled to
    #[arg(long, value_name = "RANKS", value_parser = clap::value_parser!(i32).range(1..), conflicts_with = "reference")]
    pub ranks_on_node: Option<i32>,
    /// Leave out calls that must fail: for an MPI that ends jobs at errors even where MPI_ERRORS_RETURN is set
    #[arg(long)]
    pub without_errors: bool,
    /// Test the test: run over the MPI library's own algorithms, without the component. Open MPI 4.1 fails where a
    /// periodic dimension has one or two ranks: what its libnbc sends in one direction arrives from the same one
    #[arg(long, conflicts_with = "algorithm")]
    pub reference: bool,
}

fn collective(name: &str) -> Result<Collective, String> {
    Collective::named(name)
        .ok_or_else(|| format!("one of {}", Collective::ALL.map(Collective::name).join(", ")))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = f64::from_str(text).map_err(|error| error.to_string())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// Which sizes of communicators are tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    All,
    List(Vec<usize>),
}

impl Sizes {
    /// Returns the sizes that at most `ranks` ranks can form.
    pub fn up_to(&self, ranks: usize) -> Vec<usize> {
        match self {
            Sizes::All => (1..=ranks).collect(),
            Sizes::List(sizes) => sizes.iter().copied().filter(|&size| size <= ranks).collect(),
        }
    }
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Sizes::All);
        }
        let size = |number: &str| number.parse().ok().filter(|&size: &usize| size > 0);
        let sizes: Option<Vec<usize>> = text.split(',').map(size).collect();
        sizes.map(Sizes::List).ok_or_else(|| "neither \"all\" nor a list of numbers from 1 up".into())
    }
}

/// Writes numbers as ranges: 1-3,5.
pub fn ranges(numbers: &[usize]) -> String {
    numbers
        .chunk_by(|left, right| left + 1 == *right)
        .map(|range| match range {
            [single] => single.to_string(),
            _ => format!("{}-{}", range[0], range[range.len() - 1]),
        })
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_cut() {
        assert_eq!("all".parse::<Sizes>().unwrap().up_to(3), [1, 2, 3]);
        assert_eq!("1,2,5".parse::<Sizes>().unwrap().up_to(4), [1, 2]);
        assert!("0".parse::<Sizes>().is_err());
        assert!("1,".parse::<Sizes>().is_err());
    }

    #[test]
    fn ranges_are_short() {
        assert_eq!(ranges(&[1, 2, 3, 5, 8, 9]), "1-3,5,8-9");
        assert_eq!(ranges(&[]), "");
    }
}
