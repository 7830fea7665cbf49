//! Measured times of collectives, in a file of comma-separated values.

pub mod left_out;
mod writing;

pub use writing::to_csv;

use crate::bench::placement::Placement;
use crate::failure::Failure;
use crate::files;
use crate::problem;
use rustcoll::algorithms::{Collective, Parameter, Problem};
use rustcoll::atlas::Candidate;
use rustcoll::cost::Machine;
use rustcoll::cost::simulation::{MOST_BYTES, Simulation, SimulationError};
use rustcoll::selection::{Parameters, nearest};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

const REQUIRED: [&str; 5] = ["collective", "algorithm", "ranks", "bytes", "microseconds"];
const OPTIONAL: [&str; 6] = ["radix", "segment", "ranks_per_node", "run", "time", "published_as"];

/// The most ranks in a row.
const MOST_RANKS: usize = 1 << 20;

/// A measured time.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its line in the file, from 1; 0 if it is in no file.
    pub line: usize,
    pub candidate: Candidate,
    pub ranks: usize,
    /// By the collective's measure.
    pub bytes: usize,
    /// `None` if the file does not say it.
    pub ranks_per_node: Option<usize>,
    /// The run in which the time was measured; empty if the file does not say it.
    pub run: String,
    /// The group of each node, if it is known.
    pub placed: Option<Arc<[u32]>>,
    pub time: Time,
    pub seconds: f64,
}

/// The ranks that a time is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Time {
    /// The time of the slowest rank.
    #[default]
    Slowest,
    /// The mean time of all ranks.
    Mean,
}

impl Row {
    /// Returns a row with the time of the slowest rank, in a run without a name.
    pub fn of(candidate: Candidate, placement: Placement, bytes: usize, seconds: f64) -> Row {
        let Placement { ranks, ranks_per_host } = placement;
        let (ranks_per_node, run, time) = (Some(ranks_per_host), String::new(), Time::Slowest);
        Row { line: 0, candidate, ranks, bytes, ranks_per_node, run, placed: None, time, seconds }
    }

    /// Returns the predicted time in seconds, by the [`simulation`](Row::simulation) of this row.
    pub fn predicted(&self, simulation: &mut Simulation) -> Result<f64, String> {
        let prediction = simulation.predict(self.bytes).map_err(|error| error.to_string())?;
        Ok(match self.time {
            Time::Slowest => prediction.time(),
            Time::Mean => prediction.mean_time(),
        })
    }

    /// Returns the simulation of this row and of rows that are [`alike`]. Fails if the algorithm cannot serve.
    pub fn simulation(&self, machine: &Machine) -> Result<Simulation, String> {
        let simulation = self.candidate.simulation(&self.problem(), &self.place(machine));
        simulation.map_err(|error| error.to_string())
    }

    fn problem(&self) -> Problem {
        self.candidate.problem(self.ranks, self.bytes)
    }

    /// Returns the machine with the row's job placed on it.
    pub fn place(&self, machine: &Machine) -> Machine {
        let ranks_per_node = self.ranks_per_node.unwrap_or(machine.ranks_per_node);
        let mut machine = Machine { ranks_per_node, ..machine.clone() };
        if let Some(groups) = &mut machine.groups {
            groups.placed = self.placed.clone();
        }
        machine
    }

    /// Returns what rows have in common that differ only in their algorithms.
    pub fn cell(&self) -> (String, Collective, usize, Option<usize>, usize) {
        (self.run.clone(), self.candidate.collective, self.ranks, self.ranks_per_node, self.bytes)
    }

    /// Returns collective, algorithm with parameters, ranks and bytes.
    pub fn described(&self) -> [String; 4] {
        let collective = self.candidate.collective.name().to_owned();
        [collective, self.candidate.to_string(), self.ranks.to_string(), self.bytes.to_string()]
    }
}

/// Returns the indices of rows that differ only in their lengths, those of each simulation together. The
/// slowest simulations come first, so that no processor is left alone with one.
pub fn alike(rows: &[Row]) -> Vec<Vec<usize>> {
    let mut alike: HashMap<_, Vec<usize>> = HashMap::new();
    for (number, row) in rows.iter().enumerate() {
        let Candidate { collective, algorithm, .. } = row.candidate;
        let solved = (collective, algorithm.name, row.problem(), row.candidate.stripe());
        let key = (solved, row.ranks_per_node, row.run.as_str());
        alike.entry(key).or_default().push(number);
    }
    let mut alike: Vec<Vec<usize>> = alike.into_values().collect();
    alike.sort_by_key(|numbers| (Reverse(rows[numbers[0]].ranks), numbers[0]));
    alike
}

/// Reads measured times, and where each run's nodes were. Skips empty lines and lines that begin with #.
pub fn read(path: &Path, placement: Option<&Path>) -> Result<Vec<Row>, Failure> {
    let mut rows = parse(&files::text(path)?).map_err(|(line, message)| {
        let place = if line > 0 { format!(":{line}") } else { String::new() };
        Failure::Input(format!("{}{place}: {message}", files::name(path)))
    })?;
    placement.map_or(Ok(()), |placement| place(&mut rows, placement))?;
    Ok(rows)
}

/// Fails if a file says where nodes were, but the machine is the same everywhere.
pub fn check_placement(placement: Option<&Path>, machine: &Machine) -> Result<(), Failure> {
    match placement {
        Some(path) if machine.groups.is_none() => Err(Failure::Usage(format!(
            "--placement {}: has no effect on a machine without `[groups]`; --machine names one that has groups",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Notes where each run's nodes were, from a file with the columns run, node and group.
fn place(rows: &mut [Row], path: &Path) -> Result<(), Failure> {
    let text = files::text(path)?;
    let wrong = |line: usize, what: &str| Failure::Input(format!("{}:{line}: {what}", files::name(path)));
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let head: Vec<&str> = lines.next().map(|(_, head)| cells(head).collect()).unwrap_or_default();
    let column = |name: &str| {
        let found = head.iter().position(|column| *column == name);
        found.ok_or_else(|| wrong(1, &format!("the column `{name}` is missing")))
    };
    let [run, node, group] = [column("run")?, column("node")?, column("group")?];
    let mut placed: BTreeMap<&str, BTreeMap<usize, u32>> = BTreeMap::new();
    for (number, line) in lines {
        let cells: Vec<&str> = cells(line).collect();
        let read = (
            cells.get(run),
            cells.get(node).and_then(|cell| cell.parse().ok()),
            cells.get(group).and_then(|cell| cell.parse().ok()),
        );
        let (Some(run), Some(node), Some(group)) = read else {
            return Err(wrong(number + 1, "a run and the numbers of a node and its group are expected"));
        };
        placed.entry(run).or_default().insert(node, group);
    }
    let placed: BTreeMap<&str, Arc<[u32]>> =
        placed.into_iter().map(|(run, groups)| (run, groups.into_values().collect())).collect();
    rows.iter_mut().for_each(|row| row.placed = placed.get(&*row.run).cloned());
    Ok(())
}

/// Line number and message. 0 is the whole text.
type Fault = (usize, String);

fn parse(text: &str) -> Result<Vec<Row>, Fault> {
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let (number, head) = lines.next().ok_or((0, "there are no measured times".to_owned()))?;
    let head: Vec<&str> = cells(head).collect();
    check_head(&head).map_err(|message| (number, message))?;
    let read = |(number, line)| match row(&head, line) {
        Ok(row) => Ok(row.map(|row| Row { line: number, ..row })),
        Err(message) => Err((number, message)),
    };
    let rows = lines.map(read).filter_map(Result::transpose);
    let rows: Vec<Row> = rows.collect::<Result<_, _>>()?;
    if rows.is_empty() { Err((0, "there are no measured times".to_owned())) } else { Ok(rows) }
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(str::trim)
}

fn check_head(head: &[&str]) -> Result<(), String> {
    let known = || REQUIRED.into_iter().chain(OPTIONAL);
    if let Some(column) = head.iter().find(|column| known().all(|known| known != **column)) {
        return Err(nearest::unknown("column", column, known()));
    }
    if let Some(column) = known().find(|known| head.iter().filter(|column| *column == known).count() > 1) {
        return Err(format!("the column `{column}` stands there twice"));
    }
    match REQUIRED.into_iter().find(|column| !head.contains(column)) {
        Some(column) => Err(format!("the column `{column}` is missing")),
        None => Ok(()),
    }
}

/// Returns none for an algorithm that rustcoll lacks: `algorithm` is empty, `published_as` is not.
fn row(head: &[&str], line: &str) -> Result<Option<Row>, String> {
    let cells: Vec<&str> = cells(line).collect();
    if cells.len() != head.len() {
        return Err(format!("{} columns are expected, and {} are there", head.len(), cells.len()));
    }
    let cell = |name| head.iter().position(|column| *column == name).map(|column| cells[column]);
    let required = |name| cell(name).expect("the head has been checked");
    if required("algorithm").is_empty() && cell("published_as").is_some_and(|name| !name.is_empty()) {
        return Ok(None);
    }
    let number =
        |name, most| optional_number(name, required(name), most)?.ok_or(format!("{name} is missing"));
    let ranks = number("ranks", MOST_RANKS)?;
    let optional = |name, most| cell(name).map_or(Ok(None), |text| optional_number(name, text, most));
    let parameters = [
        (Parameter::Radix, optional("radix", MOST_RANKS)?),
        (Parameter::Segment, optional("segment", MOST_BYTES)?),
    ];
    let candidate = candidate(required("collective"), required("algorithm"), parameters)?;
    candidate
        .algorithm
        .serves(ranks, 0, true)
        .map_err(|reason| format!("{candidate} cannot serve this: {reason}"))?;
    Ok(Some(Row {
        line: 0,
        candidate,
        ranks,
        bytes: number("bytes", MOST_BYTES)?,
        ranks_per_node: optional("ranks_per_node", MOST_RANKS)?,
        run: cell("run").unwrap_or_default().to_owned(),
        placed: None,
        time: time(cell("time").unwrap_or_default())?,
        seconds: microseconds(required("microseconds"))? / 1e6,
    }))
}

fn time(text: &str) -> Result<Time, String> {
    match text {
        "" | "slowest" => Ok(Time::Slowest),
        "mean" => Ok(Time::Mean),
        _ => Err(nearest::unknown("time", text, ["slowest", "mean"])),
    }
}

fn candidate(
    collective: &str,
    algorithm: &str,
    given: [(Parameter, Option<usize>); 2],
) -> Result<Candidate, String> {
    let names = || Collective::ALL.into_iter().map(Collective::name);
    let named = Collective::ALL.into_iter().find(|known| known.name() == collective);
    let named = named.ok_or_else(|| nearest::unknown("collective", collective, names()))?;
    crate::predict::priced(named).map_err(|failure| failure.to_string())?;
    let algorithm = problem::algorithm(named, algorithm).map_err(|failure| failure.to_string())?;
    if algorithm.is_mock_up() {
        return Err(format!("{collective} {}: {}", algorithm.name, SimulationError::CostsWhatItCalls));
    }
    let mut parameters = Parameters::default();
    for (parameter, value) in given.into_iter().filter(|(_, value)| value.is_some()) {
        if !algorithm.parameters.contains(&parameter) {
            return Err(format!("{collective} {} has no {}", algorithm.name, parameter.name()));
        }
        parameters.set(parameter, value);
    }
    Ok(Candidate { collective: named, algorithm, parameters })
}

/// Returns none for an empty text.
fn optional_number(name: &str, text: &str, most: usize) -> Result<Option<usize>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let least = match name {
        "bytes" => 0,
        "radix" => 2,
        _ => 1,
    };
    match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(Some(number)),
        _ => Err(format!("{name}: `{text}` is not a number from {least} to {most}")),
    }
}

fn microseconds(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("microseconds: `{text}` is not a number above 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "collective,algorithm,ranks,bytes,microseconds,radix,ranks_per_node,segment\n";

    #[test]
    fn columns_stand_in_any_order() {
        let text =
            "# Measured\n\nranks, bytes ,algorithm,collective,microseconds\n8,1024,bruck,alltoall,12.5\n";
        let rows = parse(text).unwrap();
        assert_eq!(rows[0].described(), ["alltoall", "bruck", "8", "1024"]);
        assert_eq!((rows[0].seconds, rows[0].ranks_per_node), (12.5e-6, None));
    }

    #[test]
    fn parameters_may_be_left_out() {
        let rows = parse(&format!(
            "{HEAD}alltoall,bruck,8,64,1,4,2,\nalltoall,bruck,8,64,1,,,\n\
            allreduce,rabenseifner,8,64,1,,,32\n"
        ))
        .unwrap();
        assert_eq!(rows[0].described()[1], "bruck, radix 4");
        assert_eq!(rows[0].ranks_per_node, Some(2));
        assert_eq!((rows[1].described()[1].as_str(), rows[1].ranks_per_node), ("bruck", None));
        assert_eq!(rows[2].described()[1], "rabenseifner, segment 32");
        assert_eq!(rows[2].problem().segments, 2);
    }

    #[test]
    fn rows_are_read_as_they_were_written() {
        let text = "collective,algorithm,ranks,bytes,microseconds,radix,ranks_per_node,run,time\n\
            alltoall,bruck,8,64,1.500,4,2,,slowest\nbcast,binomial,2,8,1234.567,,,monday,mean\n";
        assert_eq!(to_csv(&parse(text).unwrap()), text);
    }

    #[test]
    fn faults_are_told_with_their_lines() {
        let fault = |text: &str| parse(text).unwrap_err();
        let in_row = |row: &str| fault(&format!("{HEAD}{row}\n"));
        let told = |line, message: &str| (line, message.to_owned());
        assert_eq!(fault(""), told(0, "there are no measured times"));
        assert_eq!(fault(HEAD), told(0, "there are no measured times"));
        assert_eq!(
            fault("collective,algoritm\n"),
            told(1, "unknown column `algoritm`; the nearest known one is `algorithm`")
        );
        assert_eq!(fault("ranks,ranks\n"), told(1, "the column `ranks` stands there twice"));
        assert_eq!(fault("ranks\n"), told(1, "the column `collective` is missing"));
        assert_eq!(in_row("bcast,linear"), told(2, "8 columns are expected, and 2 are there"));
        for (row, message) in [
            ("bcst,linear,8,8,1,,,", "unknown collective `bcst`; the nearest known one is `bcast`"),
            ("bcast,linar,8,8,1,,,", "unknown bcast algorithm `linar`; the nearest known one is `linear`"),
            ("bcast,linear,0,8,1,,,", "ranks: `0` is not a number from 1 to 1048576"),
            ("bcast,linear,8,x,1,,,", "bytes: `x` is not a number from 0 to 17592186044416"),
            ("bcast,linear,8,8,-1,,,", "microseconds: `-1` is not a number above 0"),
            ("bcast,linear,8,8,1,2,,", "bcast linear has no radix"),
            ("bcast,linear,8,8,1,,,64", "bcast linear has no segment"),
            ("bcast,chain,8,8,1,,,0", "segment: `0` is not a number from 1 to 17592186044416"),
            (
                "bcast,bcast_as_allgatherv,8,8,1,,,",
                "bcast bcast_as_allgatherv: it has no price of its own: it costs what the collectives do that it calls",
            ),
            ("bcast,knomial,8,8,1,1,,", "radix: `1` is not a number from 2 to 1048576"),
            (
                "allgather,neighbor_exchange,7,8,1,,,",
                "neighbor_exchange cannot serve this: the number of ranks is odd",
            ),
            (
                "neighbor_alltoall,linear,8,8,1,,,",
                "neighbor_alltoall has no price: it depends on who the neighbours are",
            ),
        ] {
            assert_eq!(in_row(row), told(2, message));
        }
    }
}
