//! The options of `rustcoll tune`.

use super::{LaunchOptions, collectives, percentage, probability, ranks};
use clap::{Args, ValueHint};
use rustcoll::algorithms::Collective;
use rustcoll::selection::quantity;
use std::env;
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
    /// Bytes by the collective's measure (docs/rules.md), or of each block if it has none: numbers and ranges. Of a range, both ends
    /// and the sizes between by --step are measured. Units are B, KiB, MiB and GiB, or K, M and G
    #[arg(long, value_delimiter = ',', default_value = "8..1M", value_parser = sizes)]
    pub bytes: Vec<RangeInclusive<usize>>,
    /// The factor from one size of a range to the next
    #[arg(long, default_value = "4", value_parser = clap::value_parser!(u32).range(2..))]
    pub step: u32,
    /// The numbers of ranks
    #[arg(long, value_delimiter = ',', default_value = "4", value_parser = ranks)]
    pub ranks: Vec<usize>,
    /// How many ranks a host has; all of them unless given
    #[arg(long, value_parser = ranks)]
    pub ranks_per_host: Option<usize>,
    /// The folder for the results; it is created if it is missing: rules.toml, the same rules for other libraries, and all times in
    /// measured.json and measured.csv. An interrupted tuning in this folder continues
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub output: PathBuf,
    /// Rule files with the default choices, separated by commas, later ones first. Unless given: those that
    /// OMPI_MCA_coll_rustcoll_rules_file names in the environment, or else the default rules
    #[arg(long, value_name = "FILE", value_delimiter = ',', value_hint = ValueHint::FilePath)]
    rules: Vec<PathBuf>,
    /// How many jobs compare the default with the best candidates in the final; only these jobs decide
    #[arg(long, default_value = "5", value_parser = clap::value_parser!(u16).range(1..))]
    pub launches: u16,
    /// The part of the default's time that a candidate must save to replace the default
    #[arg(long, default_value = "10%", value_parser = gain)]
    pub gain: f64,
    /// A gain counts only if its probability by chance is less than this (the greater one of two tests: of all calls, and of the jobs)
    #[arg(long, default_value = "0.05", value_parser = probability)]
    pub significance: f64,
    /// Candidates are not measured if their predicted time is more than so many times the shortest prediction
    #[arg(long, default_value = "3", value_name = "TIMES", value_parser = at_least_one)]
    pub hopeless: f64,
    /// The machine of predictions: its file, see docs/costs.md, or hockney:ALPHA,BETA,GAMMA; a cluster with InfiniBand unless given
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub machine: Option<String>,
    /// A call that takes longer has hung. Its candidate is left out, in this cell and for more bytes. Must be less than --patience
    #[arg(long, default_value = "30", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: u64,
    /// Each cell is measured for as long as the shortest calls need until their mean has this relative standard error
    #[arg(long, default_value = "1%", value_parser = precision)]
    pub precision: f64,
    /// The time for all repetitions together; jobs need some more to start. Unless given: up to 12 seconds for each cell, more if calls are slow
    #[arg(long, value_name = "MINUTES", value_parser = positive)]
    pub time: Option<f64>,
    /// Calls follow barriers closely instead of starting at a common instant. This is the default if neither --launcher nor
    /// --ranks-per-host is given, because then all ranks are on this machine
    #[arg(long)]
    pub hot: bool,
    /// Measures the real gain of the rule file over the default, in 3 more jobs after all other measurements. The exit
    /// code is 1 if a cell is slower by more than 5 %, or could not be verified
    #[arg(long)]
    pub verify: bool,
    /// Moves earlier measurements aside and begins again
    #[arg(long)]
    pub from_scratch: bool,
    /// How jobs are started.
    #[command(flatten)]
    pub launch: LaunchOptions,
}

impl TuneOptions {
    /// The rule files with the default choices: those that are named, or else those that jobs find in the environment.
    pub fn rules(&self) -> Vec<PathBuf> {
        if !self.rules.is_empty() {
            return self.rules.clone();
        }
        let listed = env::var("OMPI_MCA_coll_rustcoll_rules_file").unwrap_or_default();
        listed.split(',').filter(|file| !file.is_empty()).map(PathBuf::from).collect()
    }
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
