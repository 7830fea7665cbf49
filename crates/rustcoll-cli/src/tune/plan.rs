//! The plan of a tuning, and the options that shape it.

use super::budget::Budget;
use super::entry::Header;
use super::wanted::Wanted;
use crate::bench::launcher::{DEFAULT_LAUNCHER, Launcher, rules_parameter};
use crate::bench::placement::Placement;
use crate::bench::shaping::{digests, shaping};
use crate::bench::{Race, distinct, machine};
use crate::command_line::{LaunchOptions, TuneOptions};
use crate::failure::Failure;
use crate::machine::named_or_usual;
use measurements::{Contestant, Series};
use rustcoll::algorithms::Collective;
use rustcoll::selection::{Call, quantity};
use rustix::system::uname;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;
use tuning::{CellKey, Demands, Field, fields};

/// The format of the file of measurements.
pub const FORMAT: &str = "rustcoll tune 1";

/// The plan that the options ask for.
#[derive(Debug)]
pub struct Plan {
    /// One for each number of ranks.
    pub settings: Vec<Setting>,
    pub budget: Budget,
    /// Number of jobs of the final.
    pub launches: usize,
    /// What a candidate must achieve to replace the default.
    pub demands: Demands,
}

/// The cells of one number of ranks.
#[derive(Debug)]
pub struct Setting {
    /// Where the ranks should be.
    pub placement: Placement,
    /// By collective, each in ascending order of bytes.
    pub cells: Vec<(CellKey, Field)>,
}

/// Returns the contestant that others may replace.
pub fn default_contestant() -> Contestant {
    Contestant { component: Contestant::OWN.into(), rules: None, algorithm: None, parameters: Vec::new() }
}

/// Fails if the options contradict each other, before any long work.
pub fn check(options: &TuneOptions, wanted: &[Wanted]) -> Result<(), Failure> {
    let (limit, patience) = (options.limit, options.launch.program.patience);
    if limit >= patience {
        return Err(Failure::Usage(format!(
            "--limit {limit}: a job without results is ended after {patience} s (--patience), before a call may take so long; less \
             is right, or more --patience"
        )));
    }
    for &Wanted { ranks, ranks_per_host, .. } in wanted {
        Race::new(ranks, ranks_per_host, Vec::new(), Vec::new()).map_err(Failure::Usage)?;
        named_or_usual(options.machine.as_deref(), ranks_per_host)?;
    }
    Ok(())
}

impl Plan {
    /// Fails as [`check`] does. Takes a while, because it simulates algorithms.
    pub fn new(options: &TuneOptions, wanted: &[Wanted]) -> Result<Plan, Failure> {
        let settings =
            wanted.iter().map(|wanted| Setting::new(options, wanted)).collect::<Result<Vec<_>, Failure>>()?;
        let launches = usize::from(options.launches);
        let budget = Budget {
            minutes: options.time,
            cells: settings.iter().map(|setting| setting.cells.len()).sum(),
            launches,
            precision: options.precision,
            limit: options.limit,
            hot: is_hot(options),
        };
        let demands = Demands { gain: options.gain, significance: options.significance };
        Ok(Plan { settings, budget, launches, demands })
    }
}

/// Whether calls follow barriers closely: also if all ranks are on this machine.
fn is_hot(options: &TuneOptions) -> bool {
    let is_here = options.launch.launcher == DEFAULT_LAUNCHER && options.ranks_per_host.is_none();
    options.hot || is_here
}

impl Setting {
    fn new(options: &TuneOptions, wanted: &Wanted) -> Result<Setting, Failure> {
        let &Wanted { ranks, ranks_per_host, ref series } = wanted;
        let machine = named_or_usual(options.machine.as_deref(), ranks_per_host)?;
        let cells = series.iter().flat_map(|series| {
            let calls: Vec<Call> = series
                .bytes
                .iter()
                .map(|&bytes| call(series.operation.collective, ranks, ranks_per_host, bytes))
                .collect();
            let places =
                calls.iter().map(|call| CellKey { collective: call.collective, ranks, bytes: call.bytes });
            places.zip(fields(&calls, &machine, options.hopeless)).collect::<Vec<_>>()
        });
        Ok(Setting { placement: Placement { ranks, ranks_per_host }, cells: cells.collect() })
    }
}

/// Returns the call that the measuring program makes.
fn call(collective: Collective, ranks: usize, ranks_per_host: usize, bytes: usize) -> Call {
    let nodes = ranks / ranks_per_host;
    Call {
        root: collective.is_rooted().then_some(0),
        shares_memory: ranks_per_host > 1,
        copies_singly: ranks_per_host > 1,
        is_on_several_nodes: nodes > 1,
        nodes: Some(nodes),
        ranks_per_node: Some(ranks_per_host),
        ..Call::new(collective, ranks, bytes)
    }
}

/// Returns a launcher whose default choice follows the rules that the user names. Each stage sets its repetitions.
pub fn launcher(options: &TuneOptions) -> Result<Launcher, Failure> {
    let mut mca = options.launch.mca.clone();
    let rules = options.rules();
    if !rules.is_empty() {
        mca.push(rules_parameter(&rules)?);
    }
    Launcher::new(&LaunchOptions { mca, ..options.launch.clone() }, Vec::new())
}

/// Returns what a tuning must have in common with the earlier one that it continues.
pub fn header(options: &TuneOptions, wanted: &[Wanted], launcher: &Launcher) -> Header {
    let name = uname();
    let host = name.nodename().to_string_lossy().into_owned();
    let mut shaping = shaping(launcher, &[]);
    shaping.extend(digests(options.machine.as_deref().map(PathBuf::from)));
    Header {
        format: FORMAT.into(),
        machine: format!("{host}: {}", machine::without_library()),
        library: String::new(),
        version: env!("CARGO_PKG_VERSION").into(),
        date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string()[..10].into(),
        options: words(options, wanted),
        shaping,
    }
}

/// Returns the options that shape what is measured, as the user writes them.
fn words(options: &TuneOptions, wanted: &[Wanted]) -> BTreeMap<String, String> {
    let joined = |words: Vec<String>| words.join(",");
    let of_series = |series: &Series| {
        format!(
            "{}:{}",
            series.operation.collective.name(),
            joined(series.bytes.iter().map(|&bytes| quantity::in_units(bytes)).collect())
        )
    };
    let of_ranks = |wanted: &Wanted| wanted.series.iter().map(of_series).collect::<Vec<_>>().join(" ");
    let bytes: Vec<String> = wanted.iter().map(of_ranks).collect();
    let launch = &options.launch;
    let paths =
        |paths: &[std::path::PathBuf]| joined(paths.iter().map(|path| path.display().to_string()).collect());
    let or_none = |value: Option<String>| value.unwrap_or_default();
    let all = [
        ("bytes", distinct(&bytes).join("; ")),
        ("ranks", joined(wanted.iter().map(|wanted| wanted.ranks.to_string()).collect())),
        // Without the option, they come from the profile.
        ("ranks-per-host", joined(wanted.iter().map(|wanted| wanted.ranks_per_host.to_string()).collect())),
        ("rules", paths(&options.rules())),
        ("launches", options.launches.to_string()),
        ("gain", format!("{}%", options.gain * 100.0)),
        ("significance", options.significance.to_string()),
        ("hopeless", options.hopeless.to_string()),
        ("machine", options.machine.clone().unwrap_or_default()),
        ("limit", options.limit.to_string()),
        ("precision", format!("{}%", options.precision * 100.0)),
        ("time", or_none(options.time.map(|time| time.to_string()))),
        ("hot", is_hot(options).to_string()),
        ("launcher", launch.launcher.clone()),
        ("mca", joined(launch.mca.iter().map(|(name, value)| format!("{name}={value}")).collect())),
        ("program", or_none(launch.program.program.as_ref().map(|path| path.display().to_string()))),
        ("component", or_none(launch.program.component.as_ref().map(|path| path.display().to_string()))),
    ];
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
