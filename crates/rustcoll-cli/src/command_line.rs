//! What may be written behind `rustcoll`.

mod bench;
mod collectives;
mod guide;
mod guidelines;
mod pricing;
mod tune;

pub use bench::{
    BenchOptions, LaunchOptions, PerformanceOptions, ProgramOptions, RepetitionOptions, TimesOptions,
};
pub use guide::GuideOptions;
pub use guidelines::GuidelinesOptions;
pub use pricing::{
    AdviseOptions, AtlasOptions, DeriveOptions, FitOptions, MOST_RANKS_TO_SYNTHESIZE, MachineOption,
    PredictOptions, RegretOptions, SynthesizeOptions, TableFormat, ValidateOptions,
};

pub use tune::TuneOptions;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use collectives::collectives;
use rustcoll::algorithms::Collective;
use rustcoll::cost::simulation::MOST_BYTES;
use rustcoll::selection::quantity;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Schedules are made for at most so many ranks.
const MOST_RANKS: usize = 1 << 20;

/// Whoever goes through numbers of ranks does so up to here.
const MOST_RANKS_IN_TURN: usize = 1024;

/// The most ranks of communicators whose decisions are written.
pub const MOST_RANKS_TO_WRITE: usize = 16384;

/// A vector is cut into at most so many segments.
const MOST_SEGMENTS: i64 = 1 << 14;

/// Collective algorithms as data: lists and prices them, prints and proves their schedules, makes and explains rule files
///
/// Exit codes: 0 if all is well, 1 if the check found an error or a difference, 2 if the command line is wrong.
#[derive(Debug, Parser)]
#[command(name = "rustcoll", version)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Schedule files, or folders of them, separated by commas. rustcoll proves their algorithms and adds them to the built-in ones, also
    /// in jobs that this command starts
    #[arg(long, global = true, value_delimiter = ',', value_name = "FILES", value_hint = ValueHint::FilePath)]
    pub schedules: Vec<PathBuf>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Lists the algorithms
    Algorithms(AlgorithmsOptions),
    /// Prints the schedule of one rank or of all
    Schedule(ScheduleOptions),
    /// Proves algorithms right for all roots, radices, segments and topologies, by executing all ranks symbolically
    Verify(VerifyOptions),
    /// Predicts what the algorithms of a collective cost on a machine, the cheapest first
    Predict(PredictOptions),
    /// Makes a schedule file of an algorithm in JSON or in MSCCL's XML, and proves it
    Import(ImportOptions),
    /// Searches for an algorithm that is faster on a machine than rustcoll's own, and writes its schedule file
    Synthesize(SynthesizeOptions),
    /// Draws which algorithm of a collective is the fastest on a machine, by ranks and bytes
    Atlas(AtlasOptions),
    /// Finds a machine's parameters from measured times
    Fit(FitOptions),
    /// Compares predictions with measured times
    Validate(ValidateOptions),
    /// Measures collectives over an MPI: components and algorithms take turns in one job
    Bench(BenchOptions),
    /// Measures what a plan says, and reports how rustcoll compares, with tables, pictures and limits
    ///
    /// After an interruption, the same command continues where it stopped.
    Performance(PerformanceOptions),
    /// Says where the time of a job's collectives goes: which ranks come late, which calls matter, and what to do
    Advise(AdviseOptions),
    /// Finds algorithms that are faster than the default choice on this machine, and writes rule files that choose them
    ///
    /// There are three stages for each number of ranks. A survey, one job, measures the default choice and every algorithm that
    /// can serve, mock-ups of performance guidelines among them, in each cell (a collective and a number of bytes). It uses the
    /// parameters with the shortest predicted time, and skips what is predicted to be hopeless. A search, up to 3 jobs, varies
    /// radix, segment and window of candidates within 1.5 times the best, step by step, as long as that gains 3 %. In the final,
    /// --launches jobs compare the default with up to 3 candidates within 15 % of the best, if one is faster than the default by
    /// half of --gain. Only these jobs decide. A candidate replaces the default if the median of its jobs' medians is less by
    /// --gain and two tests agree, of all calls and of the jobs. Of candidates within 2 % of the best, the one that was chosen for
    /// the next smaller size wins. A candidate that gives a wrong result, crashes or hangs is left out and recorded.
    ///
    /// Appends every single time to measured.json and measured.csv at once. After an interruption, the same command continues where it
    /// stopped, and comes to the same rules. Exit codes: 130 after an interruption by Ctrl-C.
    Tune(TuneOptions),
    /// Checks that an MPI's collectives are not slower than equivalents of themselves: a regression gate
    ///
    /// Exits with 1 if a guideline is violated or something could not be measured.
    Guidelines(GuidelinesOptions),
    /// Opens the visual guide in a browser: how each algorithm moves data, step by step, and where rules switch between them
    ///
    /// It is served on this machine only, until Ctrl-C ends it. The same page can be written for any web server.
    Guide(GuideOptions),
    /// Checks, explains, converts, compares and derives rule files
    Rules {
        /// What to do.
        #[command(subcommand)]
        command: RulesCommand,
    },
    /// Prints a shell's completions
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Prints the manual page, or writes those of all commands into a folder
    Man {
        /// The folder, which is made if it is missing
        #[arg(value_hint = ValueHint::DirPath)]
        folder: Option<PathBuf>,
    },
}

/// Of `rustcoll algorithms`.
#[derive(Args, Debug)]
pub struct AlgorithmsOptions {
    /// Only those of this collective
    #[arg(value_parser = collectives())]
    pub collective: Option<Collective>,
    /// Only this one, with all that is known of it
    pub algorithm: Option<String>,
    /// All that is known of each, instead of a table
    #[arg(long)]
    pub long: bool,
    /// The number of ranks for which the cost is counted
    #[arg(long, default_value = "8", value_parser = ranks_in_turn)]
    pub ranks: usize,
}

/// Of `rustcoll schedule`.
#[derive(Args, Debug)]
pub struct ScheduleOptions {
    /// The collective
    #[arg(value_parser = collectives())]
    pub collective: Collective,
    /// The algorithm
    pub algorithm: String,
    /// The problem.
    #[command(flatten)]
    pub problem: ProblemOptions,
    /// Whose schedule: a rank, or all
    #[arg(long, default_value = "all", value_parser = whose)]
    pub rank: Whose,
    /// Writes all ranks' schedules in GOAL, the language of the simulators LogGOPSim and ATLAHS. Assumes that every rank
    /// knows all block lengths
    #[arg(long, requires = "bytes", conflicts_with = "rank")]
    pub goal: bool,
    /// Writes all ranks' schedules as a schedule file, for `rustcoll verify`
    #[arg(long, conflicts_with_all = ["rank", "goal"])]
    pub file: bool,
    /// Writes the same in JSON, for programs
    #[arg(long, conflicts_with_all = ["rank", "goal", "file"])]
    pub json: bool,
    /// Writes all ranks' schedules in the XML of MSCCL, which runs them between GPUs
    #[arg(long, conflicts_with_all = ["rank", "goal", "file", "json"])]
    pub msccl: bool,
    /// With --goal, the bytes of the vector, or of each block where there is one for each rank or neighbour; in a
    /// reduce-scatter between two groups, of each of the first group's. Units are B, KiB, MiB and GiB, or K, M and G
    #[arg(long, requires = "goal", value_parser = quantity::bytes)]
    pub bytes: Option<usize>,
}

/// What an algorithm is asked.
#[derive(Args, Debug)]
pub struct ProblemOptions {
    /// The number of ranks, of both groups together if there are two
    #[arg(long, value_parser = ranks)]
    pub ranks: usize,
    /// The root's rank
    #[arg(long)]
    pub root: Option<usize>,
    /// The radix, from 2 up; the square root of the number of ranks unless given
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..))]
    pub radix: Option<u32>,
    /// Into how many segments a vector is cut
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=MOST_SEGMENTS))]
    pub segments: Option<u32>,
    /// How many messages are under way at a time, or how many blocks a message of pat has at most
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub window: Option<u32>,
    /// The input is in the receive buffer (MPI_IN_PLACE)
    #[arg(long)]
    pub in_place: bool,
    /// The number of ranks in the other group of an inter-communicator: the last ranks
    #[arg(long)]
    pub remote: Option<usize>,
    /// How many neighbouring ranks share a node; all of them unless given
    #[arg(long, value_parser = ranks)]
    pub ranks_per_node: Option<usize>,
    /// The grid of a neighbourhood collective, as 4x3; one dimension unless given
    #[arg(long)]
    pub grid: Option<String>,
    /// The grid's last rank in each dimension is a neighbour of its first
    #[arg(long)]
    pub periodic: bool,
    /// All ranks that touch a rank on the grid are its neighbours, those at its corners too
    #[arg(long)]
    pub corners: bool,
}

/// Of `rustcoll verify`.
#[derive(Args, Debug)]
pub struct VerifyOptions {
    /// Schedule files to prove instead; - is the standard input
    #[arg(value_hint = ValueHint::FilePath, conflicts_with_all = ["collective", "algorithm", "ranks"])]
    pub files: Vec<PathBuf>,
    /// Writes FILE.certificate beside each correct file. Jobs need it for programs of more than 64 ranks
    #[arg(long, requires = "files")]
    pub certify: bool,
    /// Only the algorithms of this collective
    #[arg(long, value_parser = collectives())]
    pub collective: Option<Collective>,
    /// Only algorithms of this name
    #[arg(long)]
    pub algorithm: Option<String>,
    /// Numbers of ranks, both ends included
    #[arg(long, default_value = "1..16", value_parser = numbers_of_ranks)]
    pub ranks: RangeInclusive<usize>,
}

/// Of `rustcoll import`.
#[derive(Args, Debug)]
pub struct ImportOptions {
    /// The algorithm: a schedule file in JSON, or the XML that SCCL, TACCL, TE-CCL and MSCCLang write; - is the standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// The algorithm's name. Unless given, the name in the JSON, or msccl_ and the name in the XML
    #[arg(long)]
    pub name: Option<String>,
    /// The schedule file that is written
    #[arg(short, long, value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
}

/// The commands about rules.
#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// Checks rule files: prints their faults, one in a line, or their contents
    Check {
        /// The files; - is the standard input
        #[arg(required = true, value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
    },
    /// Says which rule decides a call, and why each earlier one does not
    Explain(ExplainOptions),
    /// Writes rules in another format; says on the standard error stream what that cannot express
    Convert(ConvertOptions),
    /// Says where two rule files decide differently
    Diff(DiffOptions),
    /// Makes rules for a machine from predictions
    Derive(DeriveOptions),
    /// Predicts how much longer the rules' choices take than the fastest algorithm on a machine
    Regret(RegretOptions),
}

/// Of `rustcoll rules convert`.
#[derive(Args, Debug)]
pub struct ConvertOptions {
    /// A rule file of any known format; - is the standard input. The default rules unless given
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// The format
    #[arg(long, value_enum)]
    pub to: FileFormat,
    /// The file to write, instead of the standard output
    #[arg(short, long, value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// The largest number of ranks whose decisions are written, where the format wants them one by one; 128 unless given, or more if
    /// rules name more
    #[arg(long, value_parser = ranks_to_write)]
    pub most_ranks: Option<usize>,
}

/// The formats in which rules are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FileFormat {
    /// rustcoll's own
    Native,
    /// That of Open MPI's tuned component, up to series 5
    Tuned,
    /// That of Open MPI 6
    OpenmpiJson,
}

/// Of `rustcoll rules diff`.
#[derive(Args, Debug)]
pub struct DiffOptions {
    /// A rule file; - is the standard input. Where no rule of a file matches, the default rules decide
    #[arg(value_hint = ValueHint::FilePath)]
    pub one: PathBuf,
    /// Another one; the default rules alone unless given
    #[arg(value_hint = ValueHint::FilePath)]
    pub other: Option<PathBuf>,
    /// Numbers of ranks, both ends included
    #[arg(long, default_value = "1..64", value_parser = numbers_of_ranks)]
    pub ranks: RangeInclusive<usize>,
}

/// Of `rustcoll rules explain`.
#[derive(Args, Debug)]
pub struct ExplainOptions {
    /// Rule files. A later file's rules come before an earlier one's, so name the site's file first; - is the standard input. The default
    /// rules come last
    #[arg(value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Rules in a line, as in `coll_rustcoll_<collective>_rules`; they come before those of files
    #[arg(long)]
    pub line: Option<String>,
    /// The collective
    #[arg(long, value_parser = collectives())]
    pub collective: Collective,
    /// The number of ranks, of both groups together if there are two
    #[arg(long, value_parser = any_ranks)]
    pub ranks: usize,
    /// The bytes that the collective is measured by, see docs/rules.md. Units are B, KiB, MiB and GiB, or K, M and G
    #[arg(long, value_parser = quantity::bytes)]
    pub bytes: Option<usize>,
    /// The bytes of the longest block, where blocks may differ and all ranks know it; all are equally long unless given
    #[arg(long, value_parser = quantity::bytes)]
    pub longest: Option<usize>,
    /// The root's rank; 0 unless given
    #[arg(long)]
    pub root: Option<usize>,
    /// On how many nodes there are ranks; not known unless given
    #[arg(long, value_parser = any_ranks)]
    pub nodes: Option<usize>,
    /// The most ranks on one node. Unless given: all ranks if there is one node, otherwise unknown
    #[arg(long, value_parser = any_ranks)]
    pub ranks_per_node: Option<usize>,
    /// The number of neighbours of an inner rank, if all ranks have neighbours at the same offsets of a grid. Not known unless given
    #[arg(long, requires = "dimensions")]
    pub neighbours: Option<usize>,
    /// In how many dimensions of that grid there are neighbours
    #[arg(long, requires = "neighbours")]
    pub dimensions: Option<usize>,
    /// The number of ranks in the other group of an inter-communicator
    #[arg(long)]
    pub remote: Option<usize>,
    /// MPI_IN_PLACE is passed on all ranks
    #[arg(long)]
    pub in_place: bool,
    /// Messages between nodes go by TCP
    #[arg(long)]
    pub tcp: bool,
    /// The operator does not commute
    #[arg(long)]
    pub not_commutative: bool,
    /// Whether the operator is one of MPI's own; true unless given
    #[arg(long, value_name = "true or false")]
    pub predefined: Option<bool>,
    /// The ranks of a node share no memory for the call
    #[arg(long)]
    pub no_shared_memory: bool,
    /// The ranks of a node cannot copy from each other's own memory
    #[arg(long)]
    pub no_single_copy: bool,
    /// The result must be reproducible
    #[arg(long)]
    pub reproducible: bool,
    /// What to print
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

/// How an explanation is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

/// One rank or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// All ranks.
    All,
    /// This rank.
    Rank(usize),
}

fn whose(text: &str) -> Result<Whose, String> {
    if text == "all" { Ok(Whose::All) } else { quantity::number(text).map(Whose::Rank) }
}

fn ranks(text: &str) -> Result<usize, String> {
    quantity::number(text).and_then(|ranks| within(ranks, 1..=MOST_RANKS))
}

/// A number of ranks of which no schedule is made.
fn any_ranks(text: &str) -> Result<usize, String> {
    quantity::number(text).and_then(|ranks| within(ranks, 1..=i32::MAX as usize))
}

fn numbers_of_ranks(text: &str) -> Result<RangeInclusive<usize>, String> {
    range_within(text, 1..=MOST_RANKS_IN_TURN)
}

/// Numbers of ranks of which some are priced.
fn ranks_to_price(text: &str) -> Result<RangeInclusive<usize>, String> {
    range_within(text, 1..=MOST_RANKS)
}

fn range_within(text: &str, bounds: RangeInclusive<usize>) -> Result<RangeInclusive<usize>, String> {
    let range = quantity::range(text, quantity::number)?;
    Ok(within(*range.start(), bounds.clone())?..=within(*range.end(), bounds)?)
}

fn ranks_to_write(text: &str) -> Result<usize, String> {
    quantity::number(text).and_then(|ranks| within(ranks, 1..=MOST_RANKS_TO_WRITE))
}

fn ranks_in_turn(text: &str) -> Result<usize, String> {
    quantity::number(text).and_then(|ranks| within(ranks, 1..=MOST_RANKS_IN_TURN))
}

/// Bytes of a collective that is priced.
fn bytes_to_price(text: &str) -> Result<usize, String> {
    quantity::bytes(text).and_then(|bytes| within(bytes, 0..=MOST_BYTES))
}

fn segment(text: &str) -> Result<usize, String> {
    quantity::bytes(text).and_then(|bytes| within(bytes, 1..=MOST_BYTES))
}

/// A part of one, written as a percentage.
fn percentage(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim_end().parse::<f64>().ok());
    let number = number.filter(|number| number.is_finite() && *number >= 0.0);
    number.map(|number| number / 100.0).ok_or_else(|| format!("`{text}` is not a percentage, as 5% is"))
}

fn probability(text: &str) -> Result<f64, String> {
    let probability = text.parse().ok().filter(|part: &f64| *part > 0.0 && *part <= 1.0);
    probability.ok_or_else(|| "a probability above 0 and up to 1 is expected, as 0.05".into())
}

fn within(number: usize, bounds: RangeInclusive<usize>) -> Result<usize, String> {
    match bounds.contains(&number) {
        true => Ok(number),
        false => Err(format!("{number} is not from {} to {}", bounds.start(), bounds.end())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn of_the_forms_of_a_collective_only_the_blocking_one_is_accepted() {
        let read = |name: &str| CommandLine::try_parse_from(["rustcoll", "tune", "--output", "x", name]);
        assert!(read("allreduce").is_ok());
        for name in ["iallreduce", "allreduce_init"] {
            let told = read(name).unwrap_err().to_string();
            assert!(told.contains("only the blocking form is known here, `allreduce`"), "{told}");
        }
        let told = read("alreduce").unwrap_err().to_string();
        assert!(!told.contains("iallreduce"), "{told}");
    }

    #[test]
    fn percentages_have_a_sign() {
        assert_eq!(percentage("15%"), Ok(0.15));
        assert_eq!(percentage("0.5 %"), Ok(0.005));
        for wrong in ["15", "-1%", "%", "inf%"] {
            assert_eq!(percentage(wrong).unwrap_err(), format!("`{wrong}` is not a percentage, as 5% is"));
        }
    }

    #[test]
    fn numbers_of_ranks_are_bounded() {
        assert_eq!(ranks("1048576"), Ok(1 << 20));
        assert_eq!(ranks("0").unwrap_err(), "0 is not from 1 to 1048576");
        assert_eq!(ranks("-1").unwrap_err(), "`-1` is not a number");
        assert_eq!(numbers_of_ranks("3"), Ok(3..=3));
        assert_eq!(numbers_of_ranks("3..5"), Ok(3..=5));
        assert_eq!(numbers_of_ranks("..5").unwrap_err(), "0 is not from 1 to 1024");
        assert!(numbers_of_ranks("5..").unwrap_err().ends_with(" is not from 1 to 1024"));
    }
}
