//! What may be written behind the program's name.

use clap::Parser;
use measurements::{Contestant, Series};
use std::time::Duration;

/// Measures collectives: contestants take turns in one job, their results are checked, and all times are printed
///
/// Prints a line of JSON for each contestant in each cell. All ranks must share one clock: they run on one machine, be it in
/// the namespaces of an emulated cluster.
#[derive(Debug, Parser)]
pub struct Options {
    /// Collectives and bytes by the collective's measure, as allreduce:8,1K
    #[arg(required = true, value_parser = str::parse::<Series>)]
    pub series: Vec<Series>,
    /// Who takes turns, as rustcoll,tuned:3,rustcoll:bruck:radix=4
    #[arg(long, required = true, value_delimiter = ',', value_parser = str::parse::<Contestant>)]
    pub contestants: Vec<Contestant>,
    /// Repetitions of each contestant in each cell, at least
    #[arg(long, default_value = "3", value_parser = clap::value_parser!(u32).range(1..))]
    pub at_least: u32,
    /// Repetitions of each contestant in each cell, at most
    #[arg(long, default_value = "30", value_parser = clap::value_parser!(u32).range(1..))]
    pub at_most: u32,
    /// No repetition beyond the least number begins after so many milliseconds in a cell
    #[arg(long, default_value = "1000", value_name = "MILLISECONDS")]
    pub budget: u64,
    /// How long before its start a repetition is agreed upon; longer as soon as a rank is late
    #[arg(long, default_value = "20", value_name = "MILLISECONDS")]
    pub slack: u64,
    /// Calls follow barriers closely instead of starting at an instant: for ranks of one node
    #[arg(long)]
    pub hot: bool,
}

impl Options {
    /// How long a cell is measured, unless the least number of repetitions takes longer.
    pub fn budget(&self) -> Duration {
        Duration::from_millis(self.budget)
    }
}
