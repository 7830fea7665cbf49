//! Everything that a tuning measured, in memory and in files. Each entry goes to the files before anything uses it.

use super::csv;
use super::entry::{Conclusion, Entry, Event, Header, TuningStep};
use crate::appended::Appended;
use crate::failure::Failure;
use crate::files::unwritable;
use measurements::{Cause, Contestant, Fault, Measurement, OutputLine};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use tuning::CellKey;

/// The file from which a tuning continues.
pub const MEASURED: &str = "measured.json";

/// The same times as a table.
const CSV: &str = "measured.csv";

/// Why a file is left as it is.
const FOREIGN: &str = "this is not what a tuning measured; --from-scratch moves it aside";

/// What the user can do after an interruption.
pub const GOES_ON: &str = "the same command goes on from there (without --from-scratch)";

/// A contestant with a late rank in every repetition is called in this many jobs.
const MOST_LATE: usize = 2;

/// A contestant that is not called again in a cell.
#[derive(Clone, Debug)]
struct Exclusion {
    /// The step in which the reason was found.
    step: TuningStep,
    place: CellKey,
    contestant: String,
    reason: String,
    /// Whether this holds with more bytes, too.
    and_larger: bool,
}

/// Everything that was measured.
#[derive(Debug)]
pub struct Record {
    pub folder: PathBuf,
    /// Where and how the tuning began. Its library is unknown before the first job.
    pub header: Header,
    /// The number of the next job.
    pub jobs: usize,
    /// The longest time, in seconds, until a collective's shortest calls were known well; 0 if no job said it.
    pub reference: f64,
    /// By step, cell and contestant. A new measurement replaces the old one.
    measurements: BTreeMap<(TuningStep, CellKey, String), Measurement>,
    exclusions: Vec<Exclusion>,
    /// How often a rank was late in every repetition, by step, cell and contestant.
    late: BTreeMap<(TuningStep, CellKey, String), usize>,
    /// By number of ranks, as jobs said it: the number of hosts, and the most ranks on one.
    placements: BTreeMap<usize, (usize, usize)>,
    json: Appended,
    csv: Appended,
}

impl Record {
    /// Opens the files of a folder, or begins them. Fails if the folder has measurements of another tuning.
    pub fn open(folder: &Path, wanted: Header, from_scratch: bool) -> Result<Record, Failure> {
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        let mut json = Appended::locked(folder.join(MEASURED))?;
        let mut csv = Appended::open(folder.join(CSV))?;
        if from_scratch && !(json.is_empty() && csv.is_empty()) {
            move_aside(folder)?;
            json = Appended::locked(folder.join(MEASURED))?;
            csv = Appended::open(folder.join(CSV))?;
        }
        let mut record = Record {
            folder: folder.to_owned(),
            header: wanted,
            jobs: 0,
            reference: 0.0,
            measurements: BTreeMap::new(),
            exclusions: Vec::new(),
            late: BTreeMap::new(),
            placements: BTreeMap::new(),
            json,
            csv,
        };
        record.resume()?;
        Ok(record)
    }

    /// Reads the file. Cuts off an incomplete last line, which an interrupted tuning may leave. Changes no files of
    /// anything else.
    fn resume(&mut self) -> Result<(), Failure> {
        let path = self.json.path.clone();
        let fault = |reason: String| Failure::Input(format!("{}: {reason}", path.display()));
        if self.json.is_empty() {
            return self.rewrite_csv(&[]);
        }
        let text = self.json.whole_lines()?;
        let mut lines = text.lines().enumerate();
        let header = lines.next().and_then(|(_, first)| serde_json::from_str(first).ok());
        let header: Header = header.ok_or_else(|| fault(FOREIGN.into()))?;
        self.accept(header)?;
        self.json.cut(&text)?;
        let mut entries = Vec::new();
        for (number, line) in lines {
            let entry: Entry = serde_json::from_str(line).map_err(|error| {
                fault(format!("line {}: {error}; --from-scratch moves the file aside", number + 1))
            })?;
            self.learn(&entry);
            entries.push(entry);
        }
        self.rewrite_csv(&entries)
    }

    /// Fails if the tuning in the file began in another way than this one.
    fn accept(&mut self, found: Header) -> Result<(), Failure> {
        let differences = differences(&found, &self.header);
        if differences.is_empty() {
            self.header = found;
            return Ok(());
        }
        Err(Failure::Input(format!(
            "{}: what was measured there cannot go on here:\n  {}\nGive another --output, or --from-scratch to move it aside",
            self.json.path.display(),
            differences.join("\n  ")
        )))
    }

    fn rewrite_csv(&mut self, entries: &[Entry]) -> Result<(), Failure> {
        if !self.csv.is_empty() {
            let is_own = self.csv.whole_lines()?.lines().next() == Some(csv::HEAD);
            if !is_own {
                return Err(Failure::Input(format!("{}: {FOREIGN}", self.csv.path.display())));
            }
            self.csv.cut("")?;
        }
        let rows: String = entries.iter().map(csv::rows).collect();
        self.csv.append(&format!("{}\n{rows}", csv::HEAD))
    }

    /// Appends an entry to the files, and learns it.
    pub fn add(&mut self, entry: &Entry) -> Result<(), Failure> {
        if let Event::Said(OutputLine::Job(job)) = &entry.event {
            self.check_library(&job.library)?;
        }
        self.json.append(&(as_json(entry) + "\n"))?;
        let rows = csv::rows(entry);
        if !rows.is_empty() {
            self.csv.append(&rows)?;
        }
        self.learn(entry);
        Ok(())
    }

    /// Writes everything so far to the disk. During a job, this would disturb the job.
    pub fn sync(&self) -> Result<(), Failure> {
        self.json.sync()
    }

    /// Begins the file with the library that the first job names. Later jobs must have the same library.
    fn check_library(&mut self, library: &str) -> Result<(), Failure> {
        if self.json.is_empty() {
            self.header.library = library.to_owned();
            return self.json.append(&(as_json(&self.header) + "\n"));
        }
        if self.header.library == library {
            return Ok(());
        }
        Err(Failure::Input(format!(
            "{}: the library was\n  {}\nand now it is\n  {}\nGive another --output, or --from-scratch to move it aside",
            self.json.path.display(),
            self.header.library.trim(),
            library.trim()
        )))
    }

    fn learn(&mut self, entry: &Entry) {
        let Entry { job, step, event } = entry;
        self.jobs = self.jobs.max(job + 1);
        match event {
            Event::Said(OutputLine::Job(job)) => {
                self.placements.insert(job.ranks, (job.nodes, job.ranks_per_node));
            }
            Event::Said(OutputLine::Reference(reference)) => {
                self.reference = self.reference.max(reference.seconds)
            }
            Event::Said(OutputLine::Measurement(measurement)) => {
                if let Some(place) = place(&measurement.collective, step.ranks, measurement.bytes) {
                    let key = (*step, place, measurement.contestant.clone());
                    self.measurements.insert(key, measurement.clone());
                }
            }
            Event::Said(OutputLine::Fault(Fault {
                collective,
                bytes,
                contestant,
                cause: Cause::Late,
                ..
            })) => {
                if let Some(place) = place(collective, step.ranks, *bytes) {
                    *self.late.entry((*step, place, contestant.clone())).or_default() += 1;
                }
            }
            Event::Said(OutputLine::Fault(Fault { collective, bytes, contestant, message, .. })) => {
                self.exclude(*step, collective, *bytes, (contestant, message, false));
            }
            Event::Concluded(Conclusion::Excluded { collective, bytes, contestant, reason }) => {
                self.exclude(*step, collective, *bytes, (contestant, reason, true));
            }
            Event::Said(OutputLine::Trying(_) | OutputLine::Hung(_)) => {}
        }
    }

    fn exclude(&mut self, step: TuningStep, collective: &str, bytes: usize, who: (&str, &str, bool)) {
        if let Some(place) = place(collective, step.ranks, bytes) {
            let (contestant, reason, and_larger) = (who.0.to_owned(), who.1.to_owned(), who.2);
            self.exclusions.push(Exclusion { step, place, contestant, reason, and_larger });
        }
    }

    /// Whether a contestant is not called again in a cell.
    pub fn is_excluded(&self, place: CellKey, contestant: &Contestant) -> bool {
        let name = contestant.to_string();
        self.exclusions.iter().any(|one| one.contestant == name && one.holds_in(place))
    }

    /// Whether this was known before a step. What is known later must not change what was planned then.
    pub fn was_excluded(&self, place: CellKey, contestant: &Contestant, before: TuningStep) -> bool {
        let name = contestant.to_string();
        let is_known = |one: &&Exclusion| one.step < before && one.holds_in(place);
        self.exclusions.iter().filter(is_known).any(|one| one.contestant == name)
    }

    /// Returns the contestants that are not called in a cell, and why.
    pub fn exclusions(&self, place: CellKey) -> impl Iterator<Item = (&str, &str)> {
        let there = self.exclusions.iter().filter(move |one| one.holds_in(place));
        there.map(|one| (&one.contestant[..], &one.reason[..]))
    }

    /// Returns a contestant's times in a step and a cell.
    pub fn measurement(
        &self,
        step: TuningStep,
        place: CellKey,
        contestant: &Contestant,
    ) -> Option<&Measurement> {
        self.measurements.get(&(step, place, contestant.to_string()))
    }

    /// Whether a step need not call a contestant again: it was measured, or ranks were late too often.
    pub fn is_done(&self, step: TuningStep, place: CellKey, contestant: &Contestant) -> bool {
        let key = (step, place, contestant.to_string());
        self.measurements.contains_key(&key) || self.late.get(&key).is_some_and(|&times| times >= MOST_LATE)
    }

    /// Returns everything that was measured in a cell, in the order of the steps.
    pub fn measured_in(&self, place: CellKey) -> impl Iterator<Item = (TuningStep, &Measurement)> {
        let there = self.measurements.iter().filter(move |((_, other, _), _)| *other == place);
        there.map(|((step, ..), measurement)| (*step, measurement))
    }

    /// Returns the number of hosts of this many ranks, and the most ranks on one, if a job said it.
    pub fn placement(&self, ranks: usize) -> Option<(usize, usize)> {
        self.placements.get(&ranks).copied().filter(|(nodes, _)| *nodes > 0)
    }
}

impl Exclusion {
    fn holds_in(&self, place: CellKey) -> bool {
        let is_beside = (self.place.collective, self.place.ranks) == (place.collective, place.ranks);
        is_beside && (self.place.bytes == place.bytes || self.and_larger && place.bytes > self.place.bytes)
    }
}

fn place(collective: &str, ranks: usize, bytes: usize) -> Option<CellKey> {
    let collective = rustcoll::algorithms::Collective::named(collective)?;
    Some(CellKey { collective, ranks, bytes })
}

fn as_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("texts and numbers can be written")
}

/// Returns the differences between the tuning in the file and this one.
fn differences(found: &Header, wanted: &Header) -> Vec<String> {
    let mut all = Vec::new();
    for (thing, there, here) in [
        ("the format", &found.format[..], &wanted.format[..]),
        ("the machine", found.kind_of_machine(), wanted.kind_of_machine()),
        ("rustcoll", &found.version[..], &wanted.version[..]),
    ] {
        all.extend((there != here).then(|| format!("{thing} was {there}, and now it is {here}")));
    }
    all.extend(changed("--", &found.options, &wanted.options));
    all.extend(changed("", &found.shaping, &wanted.shaping));
    all
}

/// Returns the values that changed, with their names.
fn changed(start: &str, found: &BTreeMap<String, String>, wanted: &BTreeMap<String, String>) -> Vec<String> {
    let names: BTreeSet<&String> = found.keys().chain(wanted.keys()).collect();
    let value = |all: &BTreeMap<String, String>, name: &String| all.get(name).cloned().unwrap_or_default();
    let change = |name: &String| {
        let (there, here) = (value(found, name), value(wanted, name));
        (there != here).then(|| format!("{start}{name} was `{there}`, and now it is `{here}`"))
    };
    names.into_iter().filter_map(change).collect()
}

/// Renames the files of a folder to names that are free.
fn move_aside(folder: &Path) -> Result<(), Failure> {
    let named = |name: &str, number: usize| {
        let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
        folder.join(format!("{stem}-{number}.{ending}"))
    };
    let is_free = |number: &usize| [MEASURED, CSV].iter().all(|name| !named(name, *number).exists());
    let number = (1..).find(is_free).unwrap_or(0);
    for name in [MEASURED, CSV] {
        let path = folder.join(name);
        if path.exists() {
            fs::rename(&path, named(name, number)).map_err(|error| unwritable(&path, &error))?;
        }
    }
    Ok(())
}
