//! The options of what prices collectives.

use super::{bytes_to_price, collectives, percentage, ranks, ranks_to_price, segment};
use clap::{Args, ValueEnum, ValueHint};
use rustcoll::algorithms::Collective;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Where messages are priced.
#[derive(Args, Debug)]
pub struct MachineOption {
    /// A machine that comes with rustcoll, as leonardo; a machine's file, see docs/costs.md; or hockney:ALPHA,BETA,GAMMA, in seconds and
    /// seconds for each byte that travels and that is reduced
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub machine: String,
    /// How many ranks share a node; what the machine's file says unless given
    #[arg(long, value_parser = ranks)]
    pub ranks_per_node: Option<usize>,
}

/// The most ranks for which an algorithm is searched: a timetable takes time in proportion to their number to the fifth.
pub const MOST_RANKS_TO_SYNTHESIZE: usize = 32;

/// Of `rustcoll predict`.
#[derive(Args, Debug)]
pub struct PredictOptions {
    /// The collective
    #[arg(value_parser = collectives())]
    pub collective: Collective,
    /// The number of ranks
    #[arg(long, value_parser = ranks)]
    pub ranks: usize,
    /// The bytes that the collective is measured by, see docs/rules.md; those of each block where there is no measure.
    /// Units are B, KiB, MiB and GiB, or K, M and G
    #[arg(long, value_parser = bytes_to_price)]
    pub bytes: Option<usize>,
    /// The machine.
    #[command(flatten)]
    pub machine: MachineOption,
    /// Only these algorithms, separated by commas; with --rules also what these choose
    #[arg(long, value_delimiter = ',')]
    pub algorithms: Vec<String>,
    /// Radices for the algorithms that take one, separated by commas; the square root of the number of ranks unless given
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..))]
    pub radix: Vec<u32>,
    /// Every radix, for the algorithms that take one
    #[arg(long, conflicts_with = "radix")]
    pub sweep_radix: bool,
    /// Segments for the algorithms that take them, in bytes, separated by commas; whole vectors unless given. Units as for --bytes
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = segment)]
    pub segment: Vec<usize>,
    /// The grid of a neighbourhood collective, as 4x3
    #[arg(long)]
    pub grid: Option<String>,
    /// The grid's last rank in each dimension is a neighbour of its first
    #[arg(long, requires = "grid")]
    pub periodic: bool,
    /// All ranks that touch a rank on the grid are its neighbours, those at its corners too
    #[arg(long, requires = "grid")]
    pub corners: bool,
    /// Marks what these rules choose; where none of them matches, the default rules do
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rules: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value = "text")]
    pub format: TableFormat,
}

/// Of `rustcoll synthesize`.
#[derive(Args, Debug)]
pub struct SynthesizeOptions {
    /// The collective: allgather
    #[arg(value_parser = ["allgather"])]
    pub collective: String,
    /// The number of ranks
    #[arg(long, required_unless_present = "nodes", value_parser = clap::value_parser!(u32).range(2..=MOST_RANKS_TO_SYNTHESIZE as i64))]
    pub ranks: Option<u32>,
    /// The number of ranks on each node instead, separated by commas: 4,1,1
    #[arg(long, value_delimiter = ',', conflicts_with_all = ["ranks", "ranks_per_node"],
          value_parser = clap::value_parser!(u32).range(1..=MOST_RANKS_TO_SYNTHESIZE as i64))]
    pub nodes: Vec<u32>,
    /// The bytes of each block. Units are B, KiB, MiB and GiB, or K, M and G
    #[arg(long, value_parser = bytes_to_price)]
    pub bytes: usize,
    /// The machine.
    #[command(flatten)]
    pub machine: MachineOption,
    /// How many timetables are made
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub attempts: u32,
    /// The schedule file that is written if it is faster than rustcoll's own algorithms
    #[arg(short, long, value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
}

/// How a table is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// Comma-separated values
    Csv,
}

/// Of `rustcoll atlas`.
#[derive(Args, Debug)]
pub struct AtlasOptions {
    /// The collective
    #[arg(value_parser = collectives())]
    pub collective: Collective,
    /// The machine.
    #[command(flatten)]
    pub machine: MachineOption,
    /// Numbers of ranks, both ends included
    #[arg(long, default_value = "2..1024", value_parser = ranks_to_price)]
    pub ranks: RangeInclusive<usize>,
    /// Numbers of bytes, both ends included
    #[arg(long, default_value = "8..16MiB", value_parser = numbers_of_bytes)]
    pub bytes: RangeInclusive<usize>,
    /// Only these algorithms, separated by commas
    #[arg(long, value_delimiter = ',')]
    pub algorithms: Vec<String>,
    /// Tries a choice of radices and segments besides the defaults
    #[arg(long)]
    pub sweep: bool,
    /// The file to write: .svg, .png or .csv. Comma-separated values on the standard output unless given
    #[arg(short, long, value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// Of `rustcoll rules derive`.
#[derive(Args, Debug)]
pub struct DeriveOptions {
    /// The machine.
    #[command(flatten)]
    pub machine: MachineOption,
    /// Only rules of this collective; may be given several times
    #[arg(long, value_parser = collectives())]
    pub collective: Vec<Collective>,
    /// Numbers of ranks, both ends included. The rules of the fewest and of the most hold beyond them as well
    #[arg(long, default_value = "2..1024", value_parser = ranks_to_price)]
    pub ranks: RangeInclusive<usize>,
    /// Numbers of bytes, both ends included. The rules of the fewest and of the most hold beyond them as well
    #[arg(long, default_value = "8..16MiB", value_parser = numbers_of_bytes)]
    pub bytes: RangeInclusive<usize>,
    /// How much longer than the fastest algorithm the one of a rule may take, so that there are fewer rules
    #[arg(long, default_value = "5%", value_parser = percentage)]
    pub regret: f64,
    /// The file to write, instead of the standard output
    #[arg(short, long, value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// Of `rustcoll rules regret`.
#[derive(Args, Debug)]
pub struct RegretOptions {
    /// A rule file of any known format. The default rules decide if none of its rules matches, or if no file is given
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// The machine.
    #[command(flatten)]
    pub machine: MachineOption,
    /// Only rules of this collective; may be given several times
    #[arg(long, value_parser = collectives())]
    pub collective: Vec<Collective>,
    /// Numbers of ranks, both ends included
    #[arg(long, default_value = "2..1024", value_parser = ranks_to_price)]
    pub ranks: RangeInclusive<usize>,
    /// Numbers of bytes, both ends included
    #[arg(long, default_value = "8..1MiB", value_parser = numbers_of_bytes)]
    pub bytes: RangeInclusive<usize>,
    /// How many of the worst points of each collective are shown
    #[arg(long, default_value = "3")]
    pub worst: usize,
    /// The run ends with 1 if a choice takes longer by more than this, or if no choice for a collective has a price
    #[arg(long, value_parser = percentage)]
    pub limit: Option<f64>,
}

/// Of `rustcoll fit`.
#[derive(Args, Debug)]
pub struct FitOptions {
    /// Measured times, comma-separated: collective, algorithm, ranks, bytes and microseconds, in a head line in any order;
    /// possibly also radix, ranks_per_node, run, time (slowest or mean: of the ranks) and published_as. - is the standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub measured: PathBuf,
    /// The machine file at which the search starts. Only parameters that depend on bytes, nodes or ranks there do so in the result. Without it the
    /// search starts at a guess, and no parameter depends on them
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub machine: Option<String>,
    /// Where the nodes of each run were: comma-separated run, node and group. For machines with groups
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub placement: Option<PathBuf>,
    /// Fits to one cell of so many, which leaves the rest to validate by. The rows of a cell differ in their algorithms only
    #[arg(long, default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    pub one_of: u32,
    /// The machine's file to write; on the standard output, behind the residuals, unless given
    #[arg(short, long, value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// Of `rustcoll advise`.
#[derive(Args, Debug)]
pub struct AdviseOptions {
    /// The profile of a job: the file that coll_rustcoll_profile or RUSTCOLL_PROFILE names. While the job runs, the folder FILE.parts beside it; - is
    /// the standard input
    #[arg(value_hint = ValueHint::AnyPath)]
    pub profile: PathBuf,
    /// The machine on which the job ran, see docs/costs.md; InfiniBand EDR unless given
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub machine: Option<String>,
    /// How many ranks share a node; the most that a node of the job has, unless given
    #[arg(long, value_parser = ranks)]
    pub ranks_per_node: Option<usize>,
    /// The folder that rustcoll tune --output wrote: what it measured goes before predictions
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub measured: Option<PathBuf>,
    /// Draws it as a page too
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Says also what the same calls take on so many times as many ranks
    #[arg(long, value_name = "NUMBER", value_parser = times_as_many)]
    pub times_as_many: Option<usize>,
}

/// A small factor.
fn times_as_many(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(times @ 2..=1024) => Ok(times),
        _ => Err("expected a number from 2 to 1024".into()),
    }
}

/// Of `rustcoll validate`.
#[derive(Args, Debug)]
pub struct ValidateOptions {
    /// Measured times, as for `rustcoll fit`; - is the standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub measured: PathBuf,
    /// The machine.
    #[command(flatten)]
    pub machine: MachineOption,
    /// Where the nodes of each run were: comma-separated run, node and group. For machines with groups
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub placement: Option<PathBuf>,
    /// Only rows of these numbers of ranks, both ends included
    #[arg(long, value_parser = ranks_to_price)]
    pub ranks: Option<RangeInclusive<usize>>,
    /// The error up to which a prediction is good
    #[arg(long, default_value = "15%", value_parser = percentage)]
    pub within: f64,
    /// Says also how much longer calls take if these rules choose, behind which the default rules stand; may be given several times
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rules: Vec<PathBuf>,
    /// The picture to write, .svg: predicted times against measured ones, a panel for each collective
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,
    /// The run ends with 1 if fewer of the predictions than this share are good
    #[arg(long, value_parser = percentage)]
    pub share: Option<f64>,
}

fn numbers_of_bytes(text: &str) -> Result<RangeInclusive<usize>, String> {
    let range = rustcoll::selection::quantity::range(text, bytes_to_price)?;
    match *range.end() {
        usize::MAX => Err(format!("the range `{text}` has no end")),
        _ => Ok(range),
    }
}
