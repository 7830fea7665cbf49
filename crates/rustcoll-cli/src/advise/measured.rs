//! The times that `rustcoll tune` measured.

use super::Calls;
use super::gain::Gain;
use crate::failure::Failure;
use crate::tune::{Conclusion, Entry, Event, FORMAT, MEASURED, cell_of};
use measurements::{Cause, Contestant, Fault, Job, Measurement, OutputLine};
use rustcoll::algorithms::Parameter;
use rustcoll::selection::Call;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use tuning::{Tried, candidate, words};

/// The number of ranks, the number of nodes, and the most ranks on a node.
pub type Placement = (usize, usize, usize);

/// The measured times of a tuning.
pub struct Measured {
    folder: String,
    /// By collective's name, placement and bytes.
    cells: BTreeMap<(String, Placement, usize), Vec<Tried>>,
    /// Where the ranks of the job were whose lines are read.
    place: Placement,
    /// Collective and contestant that gave a wrong result, hung or ended a job somewhere. They are never the best.
    wrong: BTreeSet<(String, String)>,
}

impl Measured {
    /// Reads what `rustcoll tune --output FOLDER` measured. Fails if the folder has no such file.
    pub fn read(folder: &Path) -> Result<Measured, Failure> {
        let file = folder.join(MEASURED);
        let fault = |fault: String| Failure::Input(format!("{}: {fault}", file.display()));
        let text = fs::read_to_string(&file).map_err(|error| fault(format!("cannot be read: {error}")))?;
        let mut lines = text.lines();
        if !lines.next().is_some_and(|first| first.starts_with(&format!("{{\"format\":\"{FORMAT}\""))) {
            return Err(fault("this is not what a tuning measured".into()));
        }
        let folder = folder.display().to_string();
        let mut measured =
            Measured { folder, cells: BTreeMap::new(), place: (0, 0, 0), wrong: BTreeSet::new() };
        lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .for_each(|Entry { event, .. }| measured.learn(event));
        Ok(measured)
    }

    fn learn(&mut self, event: Event) {
        match event {
            Event::Said(OutputLine::Job(Job { ranks, nodes, ranks_per_node, .. })) => {
                self.place = (ranks, nodes, ranks_per_node);
            }
            Event::Said(OutputLine::Measurement(measurement)) => {
                let Measurement { collective, bytes, contestant, ran, nanoseconds, .. } = measurement;
                let Ok(contestant) = contestant.parse::<Contestant>() else { return };
                let times = nanoseconds.iter().map(|&time| time as f64 * 1e-9).collect();
                let cell = self.cells.entry((collective, self.place, bytes)).or_default();
                match cell.iter_mut().find(|tried| tried.contestant == contestant) {
                    Some(tried) => tried.launches.push(times),
                    None => cell.push(Tried { contestant, ran, launches: vec![times] }),
                }
            }
            Event::Said(OutputLine::Fault(Fault {
                collective, contestant, cause: Cause::Failed, ..
            }))
            | Event::Concluded(Conclusion::Excluded { collective, contestant, .. }) => {
                self.wrong.insert((collective, contestant));
            }
            Event::Said(OutputLine::Hung(trial)) => {
                self.wrong.insert((trial.collective, trial.contestant));
            }
            _ => {}
        }
    }

    /// Returns the best algorithm for some calls against the one that ran, both measured on the same placement with half to
    /// twice the bytes.
    pub fn gain(&self, calls: &Calls, placement: Placement) -> Option<Gain> {
        let collective = calls.kind.collective;
        let (size, nodes, _) = placement;
        let wanted = cell_of(calls.kind, calls.row).bytes.max(1) as f64;
        let distance = |bytes: usize| (bytes.max(1) as f64 / wanted).log2().abs();
        let cells = self.cells.iter().filter(|((name, place, bytes), _)| {
            name == collective.name() && *place == placement && distance(*bytes) <= 1.0
        });
        let nearest =
            cells.min_by(|((_, _, one), _), ((_, _, other), _)| distance(*one).total_cmp(&distance(*other)));
        let ((name, _, bytes), cell) = nearest?;
        let ran = cell.iter().filter(|tried| served(tried, calls)).filter_map(Tried::median);
        let ran = ran.min_by(f64::total_cmp)?;
        let is_right = |tried: &&Tried| !self.wrong.contains(&(name.clone(), tried.contestant.to_string()));
        // What was measured can serve such calls, but perhaps not with their operator.
        let call = calls.with_operator(Call { nodes: Some(nodes), ..Call::new(collective, size, *bytes) });
        let (best, seconds) = cell
            .iter()
            .filter(is_right)
            .filter_map(|tried| Some((candidate(collective, &tried.contestant)?, tried.median()?)))
            // Advice names no algorithm that calls other collectives, because it has no price.
            .filter(|(candidate, _)| !candidate.algorithm.is_mock_up())
            .filter(|(candidate, _)| call.is_served_by(candidate.algorithm).is_ok())
            .min_by(|(_, one), (_, other)| one.total_cmp(other))?;
        Some(Gain {
            best,
            ratio: seconds / ran,
            known_by: format!("as {} measured with {}", self.folder, words::bytes(*bytes)),
            is_measured: true,
        })
    }
}

/// Whether this contestant ran what served the calls.
fn served(tried: &Tried, calls: &Calls) -> bool {
    let is_alike = |parameter: Parameter| {
        let given = tried.contestant.parameters.iter().find(|(name, _)| name == parameter.name());
        given.zip(calls.told(parameter.name())).is_none_or(|((_, given), told)| *given == told)
    };
    tried.ran == calls.served() && [Parameter::Radix, Parameter::Window].into_iter().all(is_alike)
}
