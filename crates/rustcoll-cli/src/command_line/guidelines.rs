//! The options of `rustcoll guidelines`.

use super::{Format, LaunchOptions, RepetitionOptions, TimesOptions, probability, ranks};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use measurements::Contestant;
use rustcoll::selection::quantity;
use tuning::Guideline;

/// Of `rustcoll guidelines`.
///
/// `pattern`: a collective is not slower than others that do the same together, as an allreduce than a reduce and a broadcast (22
/// mock-ups, Hunold and Carpen-Amarie 2018). `monotony`: less data do not take longer than the next larger size. `split`: a call is
/// not slower than k calls of a k-th of its data, where both were measured.
///
/// Several jobs measure it all. What counts is the median of the jobs' medians. A guideline is violated if the collective
/// takes longer by more than the factor, and two tests, of all calls and of the jobs, say that this is no chance. How often calls
/// are repeated is found by the measuring program, between --at-least and --at-most times in each job.
#[derive(Args, Debug)]
pub struct GuidelinesOptions {
    /// What to check: collectives, possibly with bytes of their own, as allreduce bcast:8,1K; unless given all those that
    /// others can stand for
    pub series: Vec<String>,
    /// Whose collectives: a component of Open MPI, as tuned or han; rustcoll@FILE follows a rule file
    #[arg(long, default_value = "rustcoll", value_parser = str::parse::<Contestant>)]
    pub contestant: Contestant,
    /// Bytes by the collective's measure, see docs/rules.md; of each block where it has none. Units are B, KiB, MiB and GiB, or
    /// K, M and G
    #[arg(long, value_delimiter = ',', default_value = "8,64,512,4K,32K,256K", value_parser = quantity::bytes)]
    pub bytes: Vec<usize>,
    /// The numbers of ranks
    #[arg(long, value_delimiter = ',', default_value = "4", value_parser = ranks)]
    pub ranks: Vec<usize>,
    /// How many ranks a host has; all of them unless given
    #[arg(long, value_parser = ranks)]
    pub ranks_per_host: Option<usize>,
    /// A collective may take at most this many times as long as its equivalent
    #[arg(long, default_value = "1.1", value_parser = factor)]
    pub factor: f64,
    /// How probable it may be that such a difference is chance
    #[arg(long, default_value = "0.05", value_parser = probability)]
    pub significance: f64,
    /// How many jobs measure each number of ranks
    #[arg(long, default_value = "3", value_parser = clap::value_parser!(u32).range(1..))]
    pub launches: u32,
    /// Only these kinds of guidelines
    #[arg(long, value_delimiter = ',', default_value = "pattern,monotony,split", value_parser = kinds())]
    pub only: Vec<Guideline>,
    /// Repetitions.
    #[command(flatten)]
    pub repetitions: RepetitionOptions,
    /// How jobs are started.
    #[command(flatten)]
    pub launch: LaunchOptions,
    /// Where times are written.
    #[command(flatten)]
    pub times: TimesOptions,
    /// How violations are printed
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

fn kinds() -> impl TypedValueParser<Value = Guideline> {
    let named = |name: String| Guideline::ALL.into_iter().find(|kind| kind.name() == name);
    let names = PossibleValuesParser::new(Guideline::ALL.map(Guideline::name));
    names.try_map(move |name| named(name).ok_or("unknown kind"))
}

fn factor(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor >= 1.0);
    factor.ok_or_else(|| "a number from 1 up is expected, as 1.1".into())
}
