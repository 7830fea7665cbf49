//! The options of what measures collectives.

use super::ranks;
use crate::bench::launcher::DEFAULT_LAUNCHER;
use clap::{Args, ValueHint};
use measurements::Contestant;
use rustcoll::selection::quantity;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// Of `rustcoll bench`.
#[derive(Args, Debug)]
pub struct BenchOptions {
    /// What to measure: collectives, possibly with bytes of their own, as allreduce alltoall:8,1K. iallreduce is the form that does
    /// not block, from the call to the end of MPI_Wait; allreduce_init is the persistent one, from MPI_Start to the end of MPI_Wait.
    /// A shape may follow, as alltoallv@linear, alltoallv@sparse (nine of ten blocks are empty), bcast@inter (two groups),
    /// neighbor_alltoall@stencil_5, @stencil_9 or @random_8. iallreduce@overlap computes between call and wait
    #[arg(default_value = "allreduce")]
    pub series: Vec<String>,
    /// Bytes by the collective's measure, see docs/rules.md; of each block where it has none. Units are B, KiB, MiB and GiB, or
    /// K, M and G
    #[arg(long, value_delimiter = ',', default_value = "8,1K,64K,1M", value_parser = quantity::bytes)]
    pub bytes: Vec<usize>,
    /// The contestants, which take turns: components of Open MPI, possibly with an algorithm (a name or a number) and its parameters, as
    /// rustcoll,tuned,tuned:3,rustcoll:bruck:radix=4. rustcoll@FILE follows a rule file, and copy is a plain copy of as many bytes as a
    /// call moves to a rank
    #[arg(long, value_delimiter = ',', default_value = "rustcoll,tuned", value_parser = str::parse::<Contestant>)]
    pub contestants: Vec<Contestant>,
    /// The number of ranks
    #[arg(long, default_value = "4", value_parser = ranks)]
    pub ranks: usize,
    /// How many ranks a host has; all of them unless given
    #[arg(long, value_parser = ranks)]
    pub ranks_per_host: Option<usize>,
    /// Measures the 20 to 45 calls that determine a machine's parameters, and writes them as `rustcoll fit` reads them. Jobs
    /// have two ranks, some and all of them, with one rank on a host and with --ranks-per-host
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(conflicts_with_all = ["series", "bytes", "contestants", "csv", "json", "short_lived"])]
    pub for_fit: Option<PathBuf>,
    /// Repetitions.
    #[command(flatten)]
    pub repetitions: RepetitionOptions,
    /// Each repetition duplicates the communicator, calls so often on it, and frees it; the time is that of all of this. For programs
    /// whose communicators live for a few calls
    #[arg(long, value_name = "CALLS")]
    pub short_lived: Option<NonZeroU32>,
    /// How jobs are started.
    #[command(flatten)]
    pub launch: LaunchOptions,
    /// Where times are written.
    #[command(flatten)]
    pub times: TimesOptions,
}

/// Where times are written.
#[derive(Args, Debug)]
pub struct TimesOptions {
    /// Writes all times as comma-separated values
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub csv: Option<PathBuf>,
    /// Writes all times as JSON, one contestant and cell in a line
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
}

/// How often calls are repeated.
#[derive(Args, Clone, Debug)]
pub struct RepetitionOptions {
    /// Repetitions of each contestant in each cell, at least
    #[arg(long, default_value = "3", value_parser = clap::value_parser!(u32).range(1..))]
    pub at_least: u32,
    /// Repetitions of each contestant in each cell, at most
    #[arg(long, default_value = "30", value_parser = clap::value_parser!(u32).range(1..))]
    pub at_most: u32,
    /// The time for each cell, in milliseconds. After it, only the least number of repetitions is completed
    #[arg(long, default_value = "1000", value_name = "MILLISECONDS")]
    pub budget: u64,
    /// Calls follow barriers closely instead of starting at a common instant: for ranks of one node
    #[arg(long)]
    pub hot: bool,
    /// Each rank writes what it sends before each call, as programs do. Otherwise algorithms that read from the sender's own memory seem
    /// faster than they are in a program
    #[arg(long)]
    pub fresh: bool,
}

/// How jobs are started.
#[derive(Args, Clone, Debug)]
pub struct LaunchOptions {
    /// The command that starts a job. {ranks}, {hosts}, {ranks_per_host}, {mca} and {program} are replaced. Without {mca}, parameters
    /// go into the environment; without {program}, the program goes to the end of the command
    #[arg(long, default_value = DEFAULT_LAUNCHER)]
    pub launcher: String,
    /// A parameter of Open MPI, as coll_tuned_priority=40; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub mca: Vec<(String, String)>,
    /// What is started.
    #[command(flatten)]
    pub program: ProgramOptions,
}

/// What is started, and how long it may be silent.
#[derive(Args, Clone, Debug)]
pub struct ProgramOptions {
    /// The measuring program; unless given `measure` of ../libexec/rustcoll, seen from this command, or beside it
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub program: Option<PathBuf>,
    /// The folder of the component. Unless given: those of OMPI_MCA_mca_base_component_path, or that of this command if the component is there,
    /// otherwise Open MPI's
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub component: Option<PathBuf>,
    /// After so many seconds without a result a job is ended
    #[arg(long, default_value = "120", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub patience: u64,
}

/// Of `rustcoll performance`.
#[derive(Args, Debug)]
pub struct PerformanceOptions {
    /// The plan: experiments, and the limits that are to hold
    #[arg(value_hint = ValueHint::FilePath)]
    pub plan: PathBuf,
    /// The report to write. The quartiles of the times go into a folder beside it, of the same name
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub report: PathBuf,
    /// Measures nothing, and reports what was measured before
    #[arg(long, value_name = "MEASURED", value_hint = ValueHint::FilePath, conflicts_with = "only")]
    pub from: Option<PathBuf>,
    /// Measures these experiments alone, separated by commas. The others are reported as they were measured before
    #[arg(long, value_name = "EXPERIMENTS", value_delimiter = ',')]
    pub only: Vec<String>,
    /// What is started.
    #[command(flatten)]
    pub program: ProgramOptions,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not NAME=VALUE")),
    }
}
