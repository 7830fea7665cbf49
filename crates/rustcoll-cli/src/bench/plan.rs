//! A plan of experiments, and the limits that should hold.

use super::other_mpis::{self, OtherMpis};
use super::{Race, bound, check_once, duration};
use measurements::{Contestant, Form, Operation, Series, Shape};
use rustcoll::algorithms::Collective;
use rustcoll::cost::machine::units;
use rustcoll::selection::{Measure, nearest, quantity};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;

/// A plan, as its file says it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The least repetitions of each contestant in each cell.
    at_least: u32,
    /// The most repetitions of each contestant in each cell.
    at_most: u32,
    /// In milliseconds. After this time in a cell, no repetition beyond the least number begins.
    pub budget: u64,
    /// How long the whole plan may take.
    minutes: Option<f64>,
    /// What the report says below its first table.
    pub note: Option<String>,
    /// The contestants, which take turns. The first one is compared with the best of the others.
    #[serde(default)]
    contestants: Vec<String>,
    bytes: UsualBytes,
    /// The template that starts a job on this machine.
    launcher: String,
    /// The commands of an emulated cluster.
    #[serde(default)]
    pub lab: LabCommands,
    #[serde(default, rename = "mpi")]
    pub other_mpis: OtherMpis,
    #[serde(rename = "experiment")]
    pub experiments: Vec<Experiment>,
    /// Reasons why cells exceed their limits.
    #[serde(default, rename = "remark")]
    pub remarks: Vec<Remark>,
}

/// Bytes for experiments that name none.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct UsualBytes {
    /// Where bytes are those of a vector.
    vector: Vec<String>,
    /// Where bytes are those of a block.
    block: Vec<String>,
}

/// Templates, in which {hosts}, {latency}, {bandwidth} and {gap} are replaced. `run` is a launcher's template instead.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabCommands {
    /// Starts the hosts.
    pub up: String,
    /// Changes the network.
    pub set: String,
    /// Starts a job.
    pub run: String,
    /// Ends the hosts.
    pub down: String,
    /// Fails if times that were measured since the network was set are not credible.
    pub status: Option<String>,
}

/// An emulated network.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Of a message.
    pub latency: String,
    /// Of a host.
    pub bandwidth: String,
    /// What each message costs besides its bytes, as a time.
    pub gap: String,
}

/// What to measure, and where.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Name in files.
    pub name: String,
    /// Name in the report.
    pub title: String,
    /// Place in the first table of the report. Experiments without a place are not in that table.
    pub place: Option<String>,
    /// Without a network, the experiment runs on one node.
    pub network: Option<Network>,
    /// Replaces the plan's launcher.
    launcher: Option<String>,
    /// How many ranks a host of the network has.
    #[serde(default = "one")]
    pub ranks_per_host: usize,
    /// Whether calls follow barriers closely.
    #[serde(default)]
    pub hot: bool,
    /// Whether ranks write what they send before each call.
    #[serde(default)]
    pub fresh: bool,
    /// How often ranks call on each communicator, if each repetition makes and frees one.
    pub short_lived: Option<NonZeroU32>,
    /// How many jobs measure each cell.
    #[serde(default = "one")]
    pub launches: usize,
    /// Whether cells that exceed a limit are measured in one more launch. They fail only if they exceed it there too.
    #[serde(default)]
    pub twice: bool,
    /// What the first contestant's times are divided by.
    #[serde(default)]
    pub against: Against,
    pub ranks: Vec<usize>,
    /// Collectives by name.
    #[serde(default)]
    collectives: Vec<String>,
    /// Collectives to measure besides `collectives`.
    every: Option<Every>,
    #[serde(default)]
    bytes: Vec<String>,
    #[serde(default)]
    contestants: Vec<String>,
    /// Rule files for rustcoll, relative to the folder where the command runs.
    #[serde(default)]
    pub rules: Vec<String>,
    #[serde(default)]
    pub mca: BTreeMap<String, String>,
    /// Replaces the plan's `at_least`.
    at_least: Option<u32>,
    /// Replaces the plan's `at_most`.
    at_most: Option<u32>,
    #[serde(default, rename = "limit")]
    pub limits: Vec<Limit>,
}

/// All collectives in some forms, with those of the shapes that suit them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Every {
    forms: Vec<Form>,
    /// The even shape, if empty.
    #[serde(default)]
    shapes: Vec<String>,
    #[serde(default)]
    overlap: bool,
}

impl Every {
    fn operations(&self) -> Result<Vec<Operation>, String> {
        let shapes: Vec<Shape> = match self.shapes.is_empty() {
            true => vec![Shape::Even],
            false => self.shapes.iter().map(|name| Shape::parse(name)).collect::<Result<_, _>>()?,
        };
        let mut operations = Vec::new();
        for &form in &self.forms {
            for collective in Collective::ALL {
                let suitable = shapes.iter().filter(|shape| shape.suits(collective));
                operations.extend(suitable.map(|&shape| Operation {
                    collective,
                    form,
                    shape,
                    overlaps: self.overlap,
                }));
            }
        }
        operations.iter().try_for_each(Operation::check).map(|()| operations)
    }
}

/// What times are compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// The best of the other contestants.
    #[default]
    BestOther,
    /// The time of the best algorithm, computed from the times of messages between two ranks.
    Bound,
}

fn one() -> usize {
    1
}

/// Selects some of an experiment's cells. A field that is not given selects all.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Where {
    #[serde(default)]
    experiments: Vec<String>,
    #[serde(default)]
    collectives: Vec<String>,
    #[serde(default)]
    ranks: Vec<usize>,
    power_of_two: Option<bool>,
    bytes: Option<String>,
}

/// What ratios must not exceed, or which algorithm must run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The cells to which the limit applies.
    #[serde(default, rename = "where")]
    pub cells: Where,
    /// For the ratio of each cell.
    pub each: Option<f64>,
    /// For the geometric mean of the ratios.
    pub mean: Option<f64>,
    /// The algorithm that must have run.
    pub algorithm: Option<String>,
}

/// A reason why cells exceed their limits.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    #[serde(default, rename = "where")]
    pub cells: Where,
    /// The highest ratio that the reason explains.
    up_to: f64,
    pub reason: String,
}

/// Where a number of a report comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportedCell<'plan> {
    pub experiment: &'plan str,
    pub operation: Operation,
    pub ranks: usize,
    pub bytes: usize,
}

impl ReportedCell<'_> {
    pub fn name(&self) -> String {
        self.operation.to_string()
    }
}

impl Where {
    /// Whether a cell is one of these.
    pub fn contains(&self, place: ReportedCell) -> bool {
        let is_named =
            |names: &[String], name: &str| names.is_empty() || names.iter().any(|other| other == name);
        is_named(&self.experiments, place.experiment)
            && is_named(&self.collectives, &place.name())
            && (self.ranks.is_empty() || self.ranks.contains(&place.ranks))
            && self.power_of_two.is_none_or(|is_one| is_one == place.ranks.is_power_of_two())
            && self.range().is_none_or(|range| range.contains(&place.bytes))
    }

    fn range(&self) -> Option<RangeInclusive<usize>> {
        // A plan is checked when it is read.
        quantity::range(self.bytes.as_ref()?, quantity::bytes).ok()
    }

    fn check(&self, plan: &Plan) -> Result<(), String> {
        let names = || plan.experiments.iter().map(|experiment| &experiment.name[..]);
        let unknown = self.experiments.iter().find(|name| names().all(|known| known != *name));
        unknown.map_or(Ok(()), |name| Err(nearest::unknown("experiment", name, names())))?;
        self.collectives.iter().try_for_each(|name| name.parse().map(|_: Operation| ()))?;
        self.bytes.as_ref().map_or(Ok(()), |range| quantity::range(range, quantity::bytes).map(drop))
    }

    /// Returns the selection in words.
    pub fn described(&self) -> String {
        let mut words = Vec::new();
        words.extend((!self.collectives.is_empty()).then(|| self.collectives.join(", ")));
        let ranks: Vec<String> = self.ranks.iter().map(usize::to_string).collect();
        words.extend((!ranks.is_empty()).then(|| format!("p = {}", ranks.join(", "))));
        words.extend(self.power_of_two.map(|is_one| match is_one {
            true => "p a power of two".to_owned(),
            false => "p no power of two".to_owned(),
        }));
        words.extend(self.bytes.as_ref().map(|bytes| format!("{bytes} bytes")));
        if words.is_empty() { "all".into() } else { words.join("; ") }
    }
}

impl Plan {
    /// Reads a plan. Fails with what is wrong in it.
    pub fn read(text: &str) -> Result<Plan, String> {
        let plan: Plan = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        for (place, experiment) in plan.experiments.iter().enumerate() {
            let fault = |reason: String| format!("the experiment `{}`: {reason}", experiment.name);
            if plan.experiments[..place].iter().any(|other| other.name == experiment.name) {
                return Err(fault("another one has this name".into()));
            }
            plan.check(experiment).map_err(fault)?;
        }
        for remark in &plan.remarks {
            remark.cells.check(&plan)?;
            check_positive("up_to", Some(remark.up_to))?;
        }
        check_positive("minutes", plan.minutes)?;
        let minutes = duration::of_plan(&plan)? / 60.0;
        match plan.minutes.filter(|&most| minutes > most) {
            Some(most) => Err(format!(
                "this takes about {minutes:.0} minutes, but minutes = {most}: leave out cells, or allow more minutes"
            )),
            None => Ok(plan),
        }
    }

    fn check(&self, experiment: &Experiment) -> Result<(), String> {
        let is_good = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
        if experiment.name.is_empty() || !experiment.name.chars().all(is_good) {
            return Err("a name has letters, digits, -, _ and . alone".into());
        }
        if experiment.network.is_some() && self.lab.run.is_empty() {
            return Err("its network needs the commands of a lab".into());
        }
        if experiment.network.is_some() && experiment.launcher.is_some() {
            return Err(
                "its network has the launcher of the lab, and so it cannot have one of its own".into()
            );
        }
        if let Some(Network { latency, bandwidth, gap }) = &experiment.network {
            units::time(latency).and(units::time(gap)).and(units::byte_time(bandwidth))?;
        }
        let series = self.all_series(experiment)?;
        if experiment.ranks.is_empty() || series.is_empty() {
            return Err("ranks or collectives are missing".into());
        }
        // A cell that is there twice would count twice in means.
        check_once("number of ranks", &experiment.ranks)?;
        check_once("collective", &series.iter().map(Series::name).collect::<Vec<_>>())?;
        series.iter().try_for_each(|series| check_once("number of bytes", &series.bytes))?;
        let (at_least, at_most) = self.repetitions(experiment);
        if at_least == 0 || at_least > at_most {
            return Err(format!(
                "at_least = {at_least}, at_most = {at_most}: 1 is the least, and at_most is no less than at_least"
            ));
        }
        if experiment.launches == 0 {
            return Err("launches = 0 measures nothing: at least 1 is needed".into());
        }
        let races = self.races(experiment)?;
        if races[0].contestants.is_empty() {
            return Err("contestants are missing".into());
        }
        if experiment.short_lived.is_some() {
            races[0].series().try_for_each(|series| series.operation.check_short_lived())?;
        }
        other_mpis::check(experiment, &races[0].contestants, &self.other_mpis)?;
        match experiment.against {
            Against::Bound if experiment.twice => {
                return Err("twice = true needs another contestant, and there is none but the bound".into());
            }
            Against::Bound => bound::check(experiment, &races[0].series().collect::<Vec<_>>())?,
            Against::BestOther if races[0].contestants.len() < 2 => {
                return Err("a contestant needs another one to be compared with".into());
            }
            Against::BestOther => {}
        }
        experiment.limits.iter().try_for_each(|limit| match (limit.each, limit.mean, &limit.algorithm) {
            (None, None, None) => Err("a limit says neither each, mean nor algorithm".into()),
            _ => {
                check_positive("each", limit.each)?;
                check_positive("mean", limit.mean)?;
                limit.cells.check(self)?;
                check_comparable(limit, &experiment.name, &races)
            }
        })
    }

    /// Returns the jobs of an experiment.
    pub fn races(&self, experiment: &Experiment) -> Result<Vec<Race>, String> {
        let contestants = self.contestants(experiment)?;
        let series = self.all_series(experiment)?;
        let race = |&ranks| {
            let ranks_per_host = if experiment.network.is_some() { experiment.ranks_per_host } else { ranks };
            Race::new(ranks, ranks_per_host, series.clone(), contestants.clone())
        };
        experiment.ranks.iter().map(race).collect()
    }

    /// Returns the contestants of an experiment.
    pub fn contestants(&self, experiment: &Experiment) -> Result<Vec<Contestant>, String> {
        let own = &experiment.contestants;
        let names = if own.is_empty() { &self.contestants } else { own };
        names.iter().map(|name| name.parse()).collect()
    }

    /// Returns the least and the most repetitions of each contestant in each cell.
    pub fn repetitions(&self, experiment: &Experiment) -> (u32, u32) {
        (experiment.at_least.unwrap_or(self.at_least), experiment.at_most.unwrap_or(self.at_most))
    }

    /// Returns the template that starts the jobs of an experiment, except those of other MPIs.
    pub fn launcher<'plan>(&'plan self, experiment: &'plan Experiment) -> &'plan str {
        match &experiment.network {
            Some(_) => &self.lab.run,
            None => experiment.launcher.as_ref().unwrap_or(&self.launcher),
        }
    }

    fn all_series(&self, experiment: &Experiment) -> Result<Vec<Series>, String> {
        let named = experiment.collectives.iter().map(|name| name.parse());
        let mut operations = named.collect::<Result<Vec<Operation>, _>>()?;
        operations.extend(experiment.every.as_ref().map_or(Ok(Vec::new()), Every::operations)?);
        operations.into_iter().map(|operation| self.series(experiment, operation)).collect()
    }

    fn series(&self, experiment: &Experiment, operation: Operation) -> Result<Series, String> {
        let bytes = match Measure::of(operation.collective) {
            _ if !experiment.bytes.is_empty() => &experiment.bytes,
            Measure::Vector | Measure::AllBlocks => &self.bytes.vector,
            Measure::Block | Measure::Nothing => &self.bytes.block,
        };
        let bytes = bytes.iter().map(|bytes| quantity::bytes(bytes)).collect::<Result<_, _>>();
        Series::new(operation, bytes.map_err(|reason| format!("{operation}: {reason}"))?)
    }

    /// Returns why a cell with this ratio exceeds its limit, if the plan gives a reason.
    pub fn reason(&self, place: ReportedCell, ratio: f64) -> Option<&str> {
        let explains = |remark: &&Remark| remark.cells.contains(place) && ratio <= remark.up_to;
        self.remarks.iter().find(explains).map(|remark| &remark.reason[..])
    }
}

/// Fails if a limit compares times of calls during which each contestant computes for as long as its own call takes.
fn check_comparable(limit: &Limit, experiment: &str, races: &[Race]) -> Result<(), String> {
    if limit.each.is_none() && limit.mean.is_none() {
        return Ok(());
    }
    let places = races.iter().flat_map(|race| {
        race.series().flat_map(move |series| {
            let Series { operation, ref bytes } = *series;
            bytes.iter().map(move |&bytes| ReportedCell { experiment, operation, ranks: race.ranks, bytes })
        })
    });
    match places.filter(|place| place.operation.overlaps).find(|&place| limit.cells.contains(place)) {
        Some(place) => Err(format!(
            "a limit compares times, and those of {} cannot be compared: each contestant computes for as long as its own call takes",
            place.name()
        )),
        None => Ok(()),
    }
}

/// Fails if a number is not above 0, or has no end.
fn check_positive(name: &str, number: Option<f64>) -> Result<(), String> {
    match number.filter(|number| !(number.is_finite() && *number > 0.0)) {
        Some(number) => Err(format!("{name} = {number} is not a number above 0")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const HEAD: &str = "at_least = 1\nat_most = 2\nbudget = 3\ncontestants = ['rustcoll', 'tuned']\nlauncher = 'mpirun'\n\
        bytes = { vector = ['8', '1K'], block = ['64'] }\n";

    fn experiment(more: &str) -> String {
        format!(
            "{HEAD}[[experiment]]\nname = 'a'\ntitle = 'A'\nranks = [4, 6]\ncollectives = ['bcast', 'alltoall']\n{more}"
        )
    }

    #[test]
    fn an_experiment_is_a_job_for_each_number_of_ranks() {
        let plan = Plan::read(&experiment("")).unwrap();
        let races = plan.races(&plan.experiments[0]).unwrap();
        assert_eq!(races.iter().map(|race| race.ranks).collect::<Vec<_>>(), [4, 6]);
        let series: Vec<String> = races[0].series().map(Series::to_string).collect();
        assert_eq!(series, ["bcast:8,1024", "alltoall:64"]);
    }

    #[test]
    fn every_collective_that_has_a_meaning_is_called() {
        let names = |every: &str| {
            let text = experiment(&format!("every = {every}\nbytes = ['8']"));
            let plan = Plan::read(&text.replace("['bcast', 'alltoall']", "[]"));
            let races = plan.map(|plan| plan.races(&plan.experiments[0]).unwrap());
            races.map(|races| races[0].series().map(Series::name).collect::<Vec<_>>())
        };
        let all = names("{ forms = ['blocking', 'persistent'] }").unwrap();
        assert_eq!(all.len(), 2 * 17);
        assert_eq!(all[..2], ["allgather", "allgatherv"]);
        assert!(all.contains(&"barrier_init".to_owned()));
        let neighbours =
            names("{ forms = ['nonblocking'], shapes = ['stencil_5', 'random_8'], overlap = true }").unwrap();
        assert_eq!(neighbours.len(), 2 * 5);
        assert_eq!(neighbours[1], "ineighbor_allgather@random_8@overlap");
        assert!(
            names("{ forms = ['blocking'], overlap = true }")
                .unwrap_err()
                .contains("only non-blocking calls overlap")
        );
        assert!(
            names("{ forms = ['blocking'], shapes = ['spars'] }")
                .unwrap_err()
                .contains("the nearest known one is `sparse`")
        );
    }

    /// Reads a plan of the repository.
    fn shipped(name: &str) -> Plan {
        let path = format!("{}/../../benches/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        Plan::read(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn what_make_bench_measures_has_every_collective_in_every_form_in_every_place() {
        let plan = shipped("performance");
        let places = ["2 ranks", "4 and 8 ranks", "network"];
        let mut measured = HashSet::new();
        for experiment in &plan.experiments {
            let races = plan.races(experiment).unwrap();
            let names = races[0].series().map(Series::name).collect::<Vec<_>>();
            measured
                .extend(names.into_iter().map(|name| (experiment.place.clone().unwrap_or_default(), name)));
        }
        let forms = [Form::Blocking, Form::Nonblocking, Form::Persistent];
        for (form, shape, collective) in forms.into_iter().flat_map(|form| {
            Shape::ALL.into_iter().flat_map(move |shape| Collective::ALL.map(|one| (form, shape, one)))
        }) {
            let operation = Operation { form, shape, ..Operation::blocking(collective) };
            for place in places.iter().filter(|_| shape.suits(collective)) {
                assert!(
                    measured.contains(&(place.to_string(), operation.to_string())),
                    "{operation}, {place}"
                );
            }
        }
        assert!(measured.contains(&("2 ranks".to_owned(), "ialltoall@overlap".to_owned())));
        assert_eq!(plan.minutes, Some(90.0));
    }

    #[test]
    fn what_make_bench_quick_measures_takes_minutes() {
        assert!(duration::of_plan(&shipped("quick")).unwrap() < 180.0);
    }

    #[test]
    fn limits_and_remarks_speak_of_some_cells() {
        let limit = "limit = [{ where = { collectives = ['bcast'], bytes = '1K..', power_of_two = true }, each = 1.0 }]";
        let plan = Plan::read(&experiment(limit)).unwrap();
        let cells = &plan.experiments[0].limits[0].cells;
        let operation: Operation = "bcast".parse().unwrap();
        let place = ReportedCell { experiment: "a", operation, ranks: 4, bytes: 1024 };
        assert!(cells.contains(place));
        for other in [
            ReportedCell { operation: "reduce".parse().unwrap(), ..place },
            ReportedCell { operation: "ibcast".parse().unwrap(), ..place },
            ReportedCell { operation: "bcast@inter".parse().unwrap(), ..place },
            ReportedCell { ranks: 6, ..place },
            ReportedCell { bytes: 8, ..place },
        ] {
            assert!(!cells.contains(other));
        }
        assert_eq!(cells.described(), "bcast; p a power of two; 1K.. bytes");
    }

    #[test]
    fn forms_are_named_as_mpi_names_them() {
        let text = experiment("limit = [{ where = { collectives = ['ibcast'] }, each = 1.0 }]");
        let plan = Plan::read(&text.replace("'alltoall'", "'ibcast', 'alltoall_init'")).unwrap();
        let races = plan.races(&plan.experiments[0]).unwrap();
        let series: Vec<String> = races[0].series().map(Series::to_string).collect();
        assert_eq!(series, ["bcast:8,1024", "ibcast:8,1024", "alltoall_init:64"]);
        let operation: Operation = "ibcast".parse().unwrap();
        let place = ReportedCell { experiment: "a", operation, ranks: 4, bytes: 8 };
        let cells = &plan.experiments[0].limits[0].cells;
        assert!(
            cells.contains(place)
                && !cells.contains(ReportedCell { operation: "bcast".parse().unwrap(), ..place })
        );
    }

    #[test]
    fn a_limit_may_leave_out_calls_that_overlap_with_computing() {
        let text = experiment(
            "limit = [{ where = { collectives = ['bcast'] }, each = 1.0 }, { algorithm = 'ring' }]",
        );
        Plan::read(&text.replace("'alltoall'", "'ialltoall@overlap'")).unwrap();
    }

    #[test]
    fn an_experiment_may_have_a_launcher_of_its_own() {
        for (more, expected) in [("", "mpirun"), ("launcher = 'srun'", "srun")] {
            let plan = Plan::read(&experiment(more)).unwrap();
            assert_eq!(plan.launcher(&plan.experiments[0]), expected);
        }
        let more = "launcher = 'srun'\nnetwork = { latency = '1ms', bandwidth = '1MB/s', gap = '0us' }";
        let lab = "lab = { up = '', set = '', run = 'run', down = '' }\n[[experiment]]";
        let told = Plan::read(&experiment(more).replace("[[experiment]]", lab)).unwrap_err();
        assert!(told.contains("the launcher of the lab, and so it cannot have one of its own"), "{told}");
    }

    #[test]
    fn what_other_mpis_cannot_do_is_refused() {
        let fault = |more: &str| {
            let mpi = "lab.run = 'run'\nlab.up = ''\nlab.set = ''\nlab.down = ''\n\
                mpi.mpich = { launcher = 'mpiexec', program = 'measure' }\n[[experiment]]";
            Plan::read(&experiment(more).replace("[[experiment]]", mpi)).map(drop)
        };
        assert_eq!(fault("contestants = ['rustcoll', 'tuned', 'mpich']\nlaunches = 3"), Ok(()));
        for (more, expected) in [
            (
                "contestants = ['mpich', 'tuned']",
                "mpich is another MPI, and the first contestant is a component of Open MPI",
            ),
            (
                "contestants = ['tuned', 'mpich:3']",
                "the contestant mpich:3: mpich is another MPI, whose algorithms cannot be chosen",
            ),
            (
                "contestants = ['tuned', 'mpich']\nnetwork = { latency = '1ms', bandwidth = '1MB/s', gap = '0us' }",
                "mpich is another MPI, which is measured on one node alone",
            ),
        ] {
            let told = fault(more).unwrap_err();
            assert!(told.contains(expected), "{more}: {told}");
        }
    }

    #[test]
    fn faults_of_a_plan_are_told() {
        let fault = |more: &str| Plan::read(&experiment(more)).unwrap_err();
        for (more, expected) in [
            ("rank = [3]", "unknown field `rank`"),
            ("bytes = ['64']\nevery = { form = ['blocking'] }", "unknown field `form`"),
            ("limit = [{ ech = 1.0 }]", "unknown field `ech`"),
            ("launches = 0", "the experiment `a`: launches = 0 measures nothing: at least 1 is needed"),
            ("limit = [{}]", "the experiment `a`: a limit says neither each, mean nor algorithm"),
            ("limit = [{ where = { collectives = ['bcst'] }, each = 1.0 }]", "unknown collective `bcst`"),
            (
                "against = 'bound'\ntwice = true",
                "twice = true needs another contestant, and there is none but the bound",
            ),
            ("against = 'bound'", "alpha and beta come from its broadcasts between 2 ranks"),
            ("contestants = ['tuned']", "a contestant needs another one to be compared with"),
            ("bytes = ['8', '9']", "bcast: 9 bytes are no multiple of 4"),
            ("bytes = ['1K', '1024']", "the experiment `a`: the number of bytes 1024 is named twice"),
            ("bytes = ['8']\nevery = { forms = ['blocking'] }", "the collective alltoall is named twice"),
            (
                "[[experiment]]\nname = 'b'\ntitle = ''\nranks = [4, 2, 4]\ncollectives = ['scan']",
                "the number of ranks 4 is named twice",
            ),
            (
                "network = { latency = '1ms', bandwidth = '1MB/s', gap = '0us' }",
                "its network needs the commands of a lab",
            ),
            (
                "[[experiment]]\nname = 'b'\ntitle = ''\nranks = [2]\ncollectives = ['scan', 'iscan@overlap']\nlimit = [{ mean = 1.0 }]",
                "a limit compares times, and those of iscan@overlap cannot be compared",
            ),
            ("limit = [{ each = nan }]", "the experiment `a`: each = NaN is not a number above 0"),
            ("limit = [{ mean = 0.0 }]", "the experiment `a`: mean = 0 is not a number above 0"),
            ("[[remark]]\nreason = ''\nup_to = -1.0", "up_to = -1 is not a number above 0"),
            ("[[remark]]\nreason = ''", "missing field `up_to`"),
            (
                "[[remark]]\nwhere = { experiments = ['b'] }\nreason = ''\nup_to = 2.0",
                "unknown experiment `b`",
            ),
            (
                "[[experiment]]\nname = 'b'\ntitle = ''\nranks = [2]\ncollectives = ['bcast', 'scan']\nagainst = 'bound'",
                "there is no bound of scan, only of bcast and allreduce",
            ),
            (
                "[[experiment]]\nname = 'b'\ntitle = ''\nranks = [2]\ncollectives = ['bcast', 'ibcast']\nagainst = 'bound'",
                "there is no bound of ibcast, only of bcast and allreduce",
            ),
            (
                "[[experiment]]\nname = 'a'\ntitle = ''\nranks = [2]\ncollectives = ['scan']",
                "another one has this name",
            ),
        ] {
            let told = fault(more);
            assert!(told.contains(expected), "{more}: {told}");
        }
        for minutes in ["nan", "inf", "-1.0"] {
            let told = Plan::read(&format!("minutes = {minutes}\n{}", experiment(""))).unwrap_err();
            assert!(told.starts_with("minutes = ") && told.ends_with(" is not a number above 0"), "{told}");
        }
    }
}
