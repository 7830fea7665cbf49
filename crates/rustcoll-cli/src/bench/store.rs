//! Files of measured times, as comma-separated values. A line has a contestant's times in a cell, or their quartiles.

use super::cells::Cells;
use crate::failure::Failure;
use crate::files;
use measurements::{Measurement, OutputLine};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::Path;
use tuning::statistics;

/// The columns. Rows of calls that overlap with computing have one more: how long ranks computed, in nanoseconds.
const HEAD: &str = "experiment,collective,ranks,bytes,contestant,launch,ran,late,nanoseconds";

/// The name of `rustcoll bench` in the first column.
const BENCH: &str = "bench";

/// The start of a comment with an experiment's name and the machine that measured it.
const MACHINE: &str = "# machine of ";

/// The start of a comment that describes the machine of all experiments without a comment of their own.
const ONE_MACHINE: &str = "# machine: ";

/// The start of a comment with an experiment's name and the digest of its settings.
const SETTINGS: &str = "# settings of ";

/// The comment in files of quartiles.
const QUARTILES: &str = "# nanoseconds: first quartile, median, third quartile";

/// The content of a file.
#[derive(Clone, Debug, Default)]
pub struct Store {
    /// The machines that measured the experiments, as far as they are known.
    pub machines: BTreeMap<String, String>,
    pub experiments: BTreeMap<String, Cells>,
    /// Digests of the settings with which experiments were measured, as far as they are known.
    pub settings: BTreeMap<String, String>,
}

/// Writes all times into the files that are named. If there are no times, leaves the files as they are.
pub fn write(csv: Option<&Path>, json: Option<&Path>, cells: &Cells) -> Result<(), Failure> {
    let all = || cells.0.iter().flat_map(|cell| &cell.measurements);
    if all().next().is_none() {
        return Ok(());
    }
    if let Some(path) = csv {
        let rows: String = all().map(|measurement| row(BENCH, measurement)).collect();
        files::write(Some(path), format!("{HEAD}\n{rows}").as_bytes(), &mut io::sink())?;
    }
    if let Some(path) = json {
        let mut text = String::new();
        for measurement in all() {
            writeln!(text, "{}", OutputLine::Measurement(measurement.clone()).to_json())
                .expect("it is a text");
        }
        files::write(Some(path), text.as_bytes(), &mut io::sink())?;
    }
    Ok(())
}

/// Returns the line of one contestant in one cell.
pub fn row(experiment: &str, measurement: &Measurement) -> String {
    let times: Vec<String> = measurement.nanoseconds.iter().map(u64::to_string).collect();
    let Measurement { collective, ranks, bytes, contestant, launch, ran, late, computing, .. } = measurement;
    let computing = if *computing > 0 { format!(",{computing}") } else { String::new() };
    format!(
        "{experiment},{collective},{ranks},{bytes},{contestant},{launch},{ran},{late},{}{computing}\n",
        times.join(" ")
    )
}

/// Returns the line that describes the machine of an experiment. The last one in a file counts.
pub fn machine_line(experiment: &str, machine: &str) -> String {
    format!("{MACHINE}{experiment}: {machine}\n")
}

/// Returns the line that tells an experiment's settings. It makes earlier rows with other settings void.
pub fn settings_line(experiment: &str, digest: &str) -> String {
    format!("{SETTINGS}{experiment}: {digest}\n")
}

impl Store {
    /// Notes the settings of an experiment. Returns whether measurements with other settings were dropped.
    pub fn set_settings(&mut self, experiment: &str, digest: &str) -> bool {
        let before = self.settings.insert(experiment.to_owned(), digest.to_owned());
        let is_void = before.is_some_and(|before| before != digest);
        if is_void {
            self.machines.remove(experiment);
        }
        is_void && self.experiments.remove(experiment).is_some()
    }

    /// Takes over experiments with their machines, in the place of those of the same names.
    pub fn replace(&mut self, mut newer: Store) {
        for (name, cells) in newer.experiments {
            self.machines.remove(&name);
            self.machines.extend(newer.machines.remove_entry(&name));
            self.experiments.insert(name, cells);
        }
    }

    /// Reads a file's text. Fails with the number of a line and what is wrong in it.
    pub fn read(text: &str) -> Result<Store, (usize, String)> {
        let mut store = Store::default();
        let mut one_machine = None;
        for (number, line) in text.lines().enumerate() {
            if let Some(machine) = line.strip_prefix(ONE_MACHINE) {
                one_machine = Some(machine);
            } else if let Some((experiment, machine)) = of_experiment(MACHINE, line) {
                store.machines.insert(experiment.to_owned(), machine.to_owned());
            } else if let Some((experiment, digest)) = of_experiment(SETTINGS, line) {
                store.set_settings(experiment, digest);
            } else if line != HEAD && line != QUARTILES {
                let (experiment, measurement) = parse(line).map_err(|reason| (number + 1, reason))?;
                store.experiments.entry(experiment).or_default().add(measurement);
            }
        }
        for (name, machine) in store.experiments.keys().zip(one_machine.into_iter().cycle()) {
            store.machines.entry(name.clone()).or_insert_with(|| machine.to_owned());
        }
        Ok(store)
    }

    /// Replaces each contestant's times by their quartiles. The medians stay the same.
    pub fn into_quartiles(mut self) -> Store {
        let cells = self.experiments.values_mut().flat_map(|cells| &mut cells.0);
        for Measurement { nanoseconds, .. } in cells.flat_map(|cell| &mut cell.measurements) {
            let quartiles = statistics::quartiles(nanoseconds.iter().map(|&time| time as f64));
            *nanoseconds = quartiles.map(|time| time.round() as u64).to_vec();
        }
        self
    }

    /// Returns the text of a file of quartiles.
    pub fn quartiles_to_text(&self) -> String {
        format!("{QUARTILES}\n{}", self.to_text())
    }

    /// Returns the text of a file of times.
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEAD}\n");
        for (experiment, cells) in &self.experiments {
            let line_of = |known: &BTreeMap<String, String>, line: fn(&str, &str) -> String| {
                known.get(experiment).map_or(String::new(), |value| line(experiment, value))
            };
            text += &line_of(&self.settings, settings_line);
            text += &line_of(&self.machines, machine_line);
            let all = cells.0.iter().flat_map(|cell| &cell.measurements);
            all.for_each(|measurement| text += &row(experiment, measurement));
        }
        text
    }
}

/// Returns the experiment of a comment, and what the comment says about it.
fn of_experiment<'line>(start: &str, line: &'line str) -> Option<(&'line str, &'line str)> {
    line.strip_prefix(start)?.split_once(": ")
}

fn parse(line: &str) -> Result<(String, Measurement), String> {
    let cells: Vec<&str> = line.split(',').collect();
    let [experiment, collective, ranks, bytes, contestant, launch, ran, late, times, ref more @ ..] =
        cells[..]
    else {
        return Err(format!(
            "{} columns are expected, and {} are there",
            HEAD.split(',').count(),
            cells.len()
        ));
    };
    let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is not a number"));
    let computing = match more {
        [] => 0,
        [time] => nanoseconds_of(time)?,
        _ => return Err(format!("{} columns are too many", cells.len())),
    };
    let nanoseconds: Vec<u64> = times.split(' ').map(nanoseconds_of).collect::<Result<_, _>>()?;
    let measurement = Measurement {
        collective: collective.into(),
        ranks: number(ranks)?,
        bytes: number(bytes)?,
        contestant: contestant.into(),
        launch: number(launch)?,
        ran: ran.into(),
        late: number(late)?,
        computing,
        nanoseconds,
    };
    Ok((experiment.into(), measurement))
}

fn nanoseconds_of(time: &str) -> Result<u64, String> {
    time.parse().map_err(|_| format!("`{time}` is not a number of nanoseconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = "a,allreduce,4,8,rustcoll,0,ring,0,10 20 30\na,allreduce,4,8,rustcoll,1,ring,0,20 20\na,allreduce,4,8,tuned,0,,1,15\na,iallreduce@overlap,4,8,tuned,0,,1,15,8\n";

    #[test]
    fn files_are_read_as_they_were_written() {
        let text = format!("{HEAD}\n{}{ROWS}", machine_line("a", "two processors"));
        let store = Store::read(&text).unwrap();
        assert_eq!(store.machines["a"], "two processors");
        assert_eq!(store.to_text(), text);
        let cell = store.experiments["a"].find("allreduce", 4, 8).unwrap();
        assert_eq!(cell.ratio("rustcoll"), Some(20.0 / 15.0));
        let overlapped = store.experiments["a"].find("iallreduce@overlap", 4, 8).unwrap();
        assert_eq!(overlapped.measurements[0].computing, 8);
    }

    #[test]
    fn quartiles_have_the_median_of_all_times() {
        let rows = "a,allreduce,4,8,rustcoll,0,ring,0,40 10 20\na,allreduce,4,8,tuned,0,,1,15\n";
        let ratio = |store: &Store| {
            store.experiments["a"].find("allreduce", 4, 8).unwrap().ratio("rustcoll").unwrap()
        };
        let all = Store::read(&format!("{HEAD}\n{rows}")).unwrap();
        let text = all.clone().into_quartiles().quartiles_to_text();
        assert!(
            text.contains("rustcoll,0,ring,0,15 20 30\n") && text.contains("tuned,0,,1,15 15 15\n"),
            "{text}"
        );
        let quartiles = Store::read(&text).unwrap();
        assert_eq!(quartiles.quartiles_to_text(), text);
        assert_eq!(ratio(&quartiles), ratio(&all));
    }

    #[test]
    fn rows_with_other_settings_are_void() {
        let line = |digest: &str| settings_line("a", digest);
        let text = format!("{HEAD}\n{}{}{ROWS}", line("1"), machine_line("a", "two processors"));
        assert_eq!(Store::read(&text).unwrap().to_text(), text);
        assert_eq!(Store::read(&format!("{text}{}", line("1"))).unwrap().to_text(), text);
        let void = Store::read(&format!("{text}{}", line("2"))).unwrap();
        assert!(void.experiments.is_empty() && void.machines.is_empty());
    }

    #[test]
    fn a_machine_of_all_is_that_of_experiments_without_one_of_their_own() {
        let own = machine_line("a", "two processors");
        let other = "b,allreduce,4,8,tuned,0,,0,15\n";
        let store = Store::read(&format!("# machine: one processor\n{HEAD}\n{own}{ROWS}{other}")).unwrap();
        assert_eq!(["a", "b"].map(|name| &store.machines[name][..]), ["two processors", "one processor"]);
    }

    #[test]
    fn newer_experiments_come_with_their_machines() {
        let read = |name: &str, rows: &str| {
            Store::read(&format!("{HEAD}\n{}{rows}", machine_line("a", name))).unwrap()
        };
        let mut all = read("two processors", ROWS);
        all.replace(read("one processor", ""));
        assert_eq!(all.machines["a"], "two processors");
        all.replace(read("one processor", ROWS));
        assert_eq!(all.machines["a"], "one processor");
    }

    #[test]
    fn faults_are_told_with_their_lines() {
        let fault = |row: &str| Store::read(&format!("{HEAD}\n{row}\n")).unwrap_err();
        assert_eq!(fault("a,b"), (2, "9 columns are expected, and 2 are there".to_owned()));
        assert_eq!(fault("a,b,4,8,c,0,,0,"), (2, "`` is not a number of nanoseconds".to_owned()));
        assert_eq!(fault("a,b,x,8,c,0,,0,1"), (2, "`x` is not a number".to_owned()));
    }
}
