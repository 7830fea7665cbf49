//! The command line.

use clap::{Parser, ValueEnum};
use measurements::{Contestant, Heat};
use std::num::NonZeroU32;
use std::time::Duration;

/// Measures collectives: contestants take turns in one job, their results are checked, and all times are printed
///
/// Prints lines of JSON: who measures, which contestant is about to be tried in which cell, and then its times, or why there
/// are none. Calls start together, at an instant by a clock that all ranks have in common: ranks that run on one machine, be it
/// in the namespaces of an emulated cluster, have one; those of several machines find out before each cell how far their clocks
/// are apart (--clock).
#[derive(Debug, Parser)]
pub struct Options {
    /// Collectives and bytes by the collective's measure, as allreduce:8,1K, and who calls them, as
    /// allreduce:8,1K/rustcoll,rustcoll:ring; without `/` those of --contestants. Of iallreduce the time is measured from the call to the
    /// end of MPI_Wait, of allreduce_init from MPI_Start to the end of MPI_Wait. A shape may follow the name, as alltoallv@sparse, bcast@inter or
    /// neighbor_alltoall@stencil_5; iallreduce@overlap is called alone first, and then computes as long between call and wait
    #[arg(required = true, value_name = "HEAT", value_parser = str::parse::<Heat>)]
    pub heats: Vec<Heat>,
    /// Who takes turns, as rustcoll,tuned:3,rustcoll:bruck:radix=4; rustcoll@FILE follows a rule file of its own, and
    /// tuned:bcast_as_allgatherv calls allgatherv of tuned where the others call bcast
    #[arg(long, value_delimiter = ',', value_parser = str::parse::<Contestant>)]
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
    /// How long before its start the first repetition is agreed upon; then twice as long as it takes the last rank to hear of it
    #[arg(long, default_value = "20", value_name = "MILLISECONDS")]
    pub slack: u64,
    /// Calls follow barriers closely instead of starting at an instant: for ranks of one node
    #[arg(long)]
    pub hot: bool,
    /// Each rank writes what it sends before each call, as programs do
    ///
    /// Otherwise data may still lie in the caches of the ranks that read it in the call before. Algorithms that read from the sender's own
    /// memory then seem faster than they are in a program.
    #[arg(long)]
    pub fresh: bool,
    /// Each repetition duplicates the communicator, calls so often on it, and frees it; the time is that of all of this
    ///
    /// rustcoll's communicators then begin to share memory when those of programs do, otherwise at once.
    #[arg(long, value_name = "CALLS")]
    pub short_lived: Option<NonZeroU32>,
    /// By which clock calls start together
    #[arg(long, value_enum, default_value_t)]
    pub clock: ClockChoice,
    /// A call that takes longer ends the job, with a line that names the contestant, and exit code 3
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub limit: Option<f64>,
    /// Measures each contestant as long as it takes until the times of the shortest calls are known well, and tells how long
    ///
    /// The first contestant of each heat calls the collective with one element until the relative standard error of the times
    /// is below --precision. In each cell a contestant then runs 5 times, 5 times more if the relative standard error is above
    /// --batch-precision, and as often as the least of these times fits into the time that the shortest calls took together
    /// (Hunold and Carpen-Amarie 2018, section 4.2). --at-least, --at-most and --budget hold as ever.
    #[arg(long)]
    pub estimate: bool,
    /// The relative standard error of the shortest calls at which they are known well
    #[arg(long, default_value = "0.01", value_name = "PART", requires = "estimate", value_parser = positive)]
    pub precision: f64,
    /// The relative standard error above which a second batch of 5 repetitions follows the first
    #[arg(long, default_value = "0.05", value_name = "PART", requires = "estimate", value_parser = positive)]
    pub batch_precision: f64,
    /// How long the shortest calls took together in earlier jobs: contestants are measured no shorter
    #[arg(long, value_name = "SECONDS", requires = "estimate", value_parser = positive)]
    pub reference: Option<f64>,
}

/// The clock that all ranks have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ClockChoice {
    /// As it is on one machine, synchronised otherwise
    #[default]
    Auto,
    /// The monotonic clock, which all ranks of a machine share
    Shared,
    /// Rank 0's: the others ask before each cell how far theirs is from it
    Synchronised,
}

impl Options {
    /// Returns how long a cell is measured, unless the least number of repetitions takes longer.
    pub fn budget(&self) -> Duration {
        Duration::from_millis(self.budget)
    }

    /// Returns all heats with their contestants. Fails if neither a heat nor the option `--contestants` names any, or
    /// if a call cannot be made on a short-lived communicator.
    pub fn all_heats(&self) -> Result<Vec<Heat>, String> {
        let heats: Vec<Heat> =
            self.heats.iter().map(|heat| self.with_contestants(heat)).collect::<Result<_, _>>()?;
        if self.short_lived.is_some() {
            heats.iter().try_for_each(|heat| heat.series.operation.check_short_lived())?;
        }
        Ok(heats)
    }

    fn with_contestants(&self, heat: &Heat) -> Result<Heat, String> {
        match (heat.contestants.is_empty(), self.contestants.is_empty()) {
            (false, _) => Ok(heat.clone()),
            (true, false) => Ok(Heat { contestants: self.contestants.clone(), ..heat.clone() }),
            (true, true) => Err(format!(
                "{heat}: nobody is to call it; name contestants behind it, as {heat}/rustcoll,tuned, or by --contestants"
            )),
        }
    }
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "a number greater than 0 is expected".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heats(words: &[&str]) -> Result<Vec<String>, String> {
        let options = Options::try_parse_from([&["measure"], words].concat()).unwrap();
        Ok(options.all_heats()?.iter().map(Heat::to_string).collect())
    }

    #[test]
    fn heats_name_contestants_or_all_have_the_same() {
        assert_eq!(
            heats(&["--contestants", "rustcoll,tuned", "bcast:8", "scan:8/sm"]).unwrap(),
            ["bcast:8/rustcoll,tuned", "scan:8/sm"]
        );
        let expected = "scan:8: nobody is to call it; name contestants behind it, as scan:8/rustcoll,tuned, or by --contestants";
        assert_eq!(heats(&["bcast:8/sm", "scan:8"]).unwrap_err(), expected);
    }

    #[test]
    fn a_limit_is_a_positive_number() {
        for limit in ["0", "-1", "nan", "inf", "soon"] {
            let words = ["measure", &format!("--limit={limit}"), "bcast:8/sm"];
            assert!(Options::try_parse_from(words).is_err(), "{limit}");
        }
    }
}
