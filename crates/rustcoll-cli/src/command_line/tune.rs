//! The options of `rustcoll tune`.

use super::{LaunchOptions, collectives, percentage, probability, ranks};
use clap::{Args, ValueHint};
use rustcoll::algorithms::Collective;
use rustcoll::selection::quantity;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Of `rustcoll tune`.
#[derive(Args, Debug)]
pub struct TuneOptions {
    /// The collectives; all that can be measured unless given
    #[arg(value_parser = collectives())]
    pub collectives: Vec<Collective>,
    /// Instead of collectives, bytes and ranks: the profile of a job, see docs/profile.md. The calls in which it moves data for most of
    /// the time are tuned, and what the job gains is said
    #[arg(long, conflicts_with_all = ["collectives", "bytes", "step", "ranks"], value_hint = ValueHint::FilePath)]
    pub profile: Option<PathBuf>,
    /// Bytes by the collective's measure, see docs/rules.md, of each block where it has none: numbers, and ranges, of which both
    /// ends and what lies between by --step are measured. Units are B, KiB, MiB and GiB, or K, M and G
    #[arg(long, value_delimiter = ',', default_value = "8..1M", value_parser = sizes)]
    pub bytes: Vec<RangeInclusive<usize>>,
    /// From one of a range's sizes to the next, so many times as many bytes
    #[arg(long, default_value = "4", value_parser = clap::value_parser!(u32).range(2..))]
    pub step: u32,
    /// The numbers of ranks
    #[arg(long, value_delimiter = ',', default_value = "4", value_parser = ranks)]
    pub ranks: Vec<usize>,
    /// How many ranks a host has; all of them unless given
    #[arg(long, value_parser = ranks)]
    pub ranks_per_host: Option<usize>,
    /// The folder to write, which is made if it is missing: rules.toml, the same for other libraries, and all that was measured in
    /// measured.json and measured.csv. If an interrupted tuning is there it goes on
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub output: PathBuf,
    /// Rule files that decide by default, separated by commas, later ones first; the default rules do unless given
    #[arg(long, value_name = "FILE", value_delimiter = ',', value_hint = ValueHint::FilePath)]
    pub rules: Vec<PathBuf>,
    /// How many jobs have the default race with those that came near it; they alone decide
    #[arg(long, default_value = "5", value_parser = clap::value_parser!(u16).range(1..))]
    pub launches: u16,
    /// The part of the default's time that something else must save to replace it
    #[arg(long, default_value = "10%", value_parser = gain)]
    pub gain: f64,
    /// By chance alone such a gain must be less probable than this (Wilcoxon's rank-sum test of all times)
    #[arg(long, default_value = "0.05", value_parser = probability)]
    pub significance: f64,
    /// Who is predicted to take more than so many times the least prediction is not measured
    #[arg(long, default_value = "3", value_name = "TIMES", value_parser = at_least_one)]
    pub hopeless: f64,
    /// The machine of predictions: its file, see docs/costs.md, or hockney:ALPHA,BETA,GAMMA; a cluster with InfiniBand unless given
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub machine: Option<String>,
    /// A call that takes longer has hung: who made it is left out, there and for more bytes; less than --patience
    #[arg(long, default_value = "30", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: u64,
    /// Each cell is measured as long as it takes until the mean of the shortest calls is known so well (its relative standard error)
    #[arg(long, default_value = "1%", value_parser = precision)]
    pub precision: f64,
    /// Repetitions are to take so long all in all, of which jobs need some more to start; without, up to 12 seconds for each cell unless calls are slow
    #[arg(long, value_name = "MINUTES", value_parser = positive)]
    pub time: Option<f64>,
    /// Calls follow barriers closely instead of starting at a common instant; so they do unless --launcher or --ranks-per-host is
    /// given, for then all ranks are here
    #[arg(long)]
    pub hot: bool,
    /// Measures what the rule file really gains, against the default in 3 jobs more, now or when all else is measured; the exit
    /// code is 1 if a cell is slower by more than 5 %, or could not be verified
    #[arg(long)]
    pub verify: bool,
    /// Moves what was measured before aside and begins anew
    #[arg(long)]
    pub from_scratch: bool,
    /// How jobs are started.
    #[command(flatten)]
    pub launch: LaunchOptions,
}

fn sizes(text: &str) -> Result<RangeInclusive<usize>, String> {
    let range = quantity::range(text, quantity::bytes)?;
    match *range.end() {
        usize::MAX => Err(format!("the range `{text}` has no last size, as 8..1M has")),
        _ if *range.start() == 0 && *range.end() > 0 => {
            Err(format!("the range `{text}` has no first size, as 8..1M has"))
        }
        _ => Ok(range),
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .ok_or_else(|| format!("`{text}` is not a number"))
}

fn positive(text: &str) -> Result<f64, String> {
    let number = number(text)?;
    if number > 0.0 { Ok(number) } else { Err(format!("`{text}` is not more than 0")) }
}

fn at_least_one(text: &str) -> Result<f64, String> {
    let number = number(text)?;
    if number >= 1.0 {
        Ok(number)
    } else {
        Err(format!("`{text}` is less than 1, the least prediction itself"))
    }
}

fn gain(text: &str) -> Result<f64, String> {
    let gain = percentage(text)?;
    if gain < 1.0 { Ok(gain) } else { Err(format!("`{text}` cannot be saved of a time: at most 99% can")) }
}

fn precision(text: &str) -> Result<f64, String> {
    let precision = percentage(text)?;
    if precision > 0.0 { Ok(precision) } else { Err(format!("`{text}` is never reached: more than 0% is")) }
}
