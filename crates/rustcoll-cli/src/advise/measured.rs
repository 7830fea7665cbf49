//! The times that `rustcoll tune` measured.

use super::Calls;
use super::gain::{BETTER, Gain, Known};
use crate::failure::Failure;
use crate::tune::{Conclusion, Entry, Event, FORMAT, MEASURED, Stage, TuningStep, cell_of};
use measurements::{Cause, Contestant, Fault, Job, Measurement, OutputLine};
use rustcoll::algorithms::Parameter;
use rustcoll::atlas::Candidate;
use rustcoll::selection::Call;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::slice;
use tuning::{Chosen, Decision, Demands, Tried, candidate, decide, words};

/// The usual demands of a tuning.
const DEMANDS: Demands = Demands { gain: 1.0 - BETTER, significance: 0.05 };

/// The number of ranks, the number of nodes, and the most ranks on a node.
pub type Placement = (usize, usize, usize);

/// The measured times of a tuning.
pub struct Measured {
    folder: String,
    /// By collective's name, placement and bytes.
    cells: BTreeMap<(String, Placement, usize), Cell>,
    /// Where the ranks of the job were whose lines are read.
    place: Placement,
    /// Collective and contestant that gave a wrong result, hung or ended a job somewhere. They are never the best.
    wrong: BTreeSet<(String, String)>,
}

/// The times of a cell. Only the final decides: the best of many candidates in the survey was lucky.
#[derive(Default)]
struct Cell {
    survey: Vec<Tried>,
    finals: Vec<Tried>,
}

impl Cell {
    fn add(&mut self, step: TuningStep, contestant: Contestant, ran: String, times: Vec<f64>) {
        let all = match step.stage {
            Stage::Survey => &mut self.survey,
            Stage::Final => &mut self.finals,
            Stage::Search | Stage::Verify => return,
        };
        let place = all.iter().position(|tried| tried.contestant == contestant).unwrap_or_else(|| {
            all.push(Tried { contestant, ran, launches: Vec::new() });
            all.len() - 1
        });
        let launches = &mut all[place].launches;
        launches.resize(launches.len().max(step.round + 1), Vec::new());
        launches[step.round] = times;
    }

    /// Returns what is known of the contestant that served the calls: by the final, otherwise by the survey.
    fn ran(&self, calls: &Calls) -> Option<Ran> {
        [&self.finals, &self.survey].into_iter().find_map(|all| {
            let default = default_of(all)?;
            if served(default, calls) {
                return Some(Ran { is_default: true, ratio: 1.0 });
            }
            let own = all.iter().filter(|tried| served(tried, calls));
            let ratio = own.filter_map(|tried| relative(default, tried)).min_by(f64::total_cmp)?;
            Some(Ran { is_default: false, ratio })
        })
    }

    /// Whether none of these was far faster than the default in the survey.
    fn has_nothing_faster(&self, surveyed: &[Tried]) -> bool {
        let default = default_of(&self.survey);
        let ratios = surveyed.iter().filter_map(|tried| relative(default?, tried));
        ratios.min_by(f64::total_cmp).is_none_or(|least| least > BETTER)
    }
}

/// What served the calls.
#[derive(Clone, Copy)]
struct Ran {
    is_default: bool,
    /// Its time, divided by the default's.
    ratio: f64,
}

fn default_of(all: &[Tried]) -> Option<&Tried> {
    all.iter().find(|tried| tried.contestant.is_own() && tried.contestant.is_plain())
}

/// Returns a time divided by the default's, in the jobs that measured both.
fn relative(default: &Tried, tried: &Tried) -> Option<f64> {
    let [default, tried] = default.in_common(tried);
    Some(tried.median()? / default.median()?)
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
        lines.filter_map(|line| serde_json::from_str(line).ok()).for_each(|entry| measured.learn(entry));
        Ok(measured)
    }

    fn learn(&mut self, Entry { step, event, .. }: Entry) {
        match event {
            Event::Said(OutputLine::Job(Job { ranks, nodes, ranks_per_node, .. })) => {
                self.place = (ranks, nodes, ranks_per_node);
            }
            Event::Said(OutputLine::Measurement(measurement)) => {
                let Measurement { collective, bytes, contestant, ran, nanoseconds, .. } = measurement;
                let Ok(contestant) = contestant.parse::<Contestant>() else { return };
                let times = nanoseconds.iter().map(|&time| time as f64 * 1e-9).collect();
                let cell = self.cells.entry((collective, self.place, bytes)).or_default();
                cell.add(step, contestant, ran, times);
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

    /// Returns what the tuning says of some calls, by its measurements on the same placement with half to twice the bytes.
    pub fn known(&self, calls: &Calls, placement: Placement) -> Known {
        let Some((bytes, cell)) = self.nearest(calls, placement) else { return Known::Unknown };
        let Some(ran) = cell.ran(calls) else { return Known::Unknown };
        let (ranks, nodes, _) = placement;
        // What was measured can serve such calls, but perhaps not with their operator.
        let call = calls
            .with_operator(Call { nodes: Some(nodes), ..Call::new(calls.kind.collective, ranks, bytes) });
        let eligible = |all: &[Tried]| -> Vec<Tried> {
            all.iter().filter(|one| self.is_eligible(one, &call)).cloned().collect()
        };
        let best = match default_of(&cell.finals) {
            Some(default) => best_of(decision(&call, placement, default, eligible(&cell.finals)), ran),
            // There is no final if nothing is faster than the default, or if the tuning has not come so far.
            None if ran.is_default && cell.has_nothing_faster(&eligible(&cell.survey)) => None,
            None => return Known::Unknown,
        };
        let gain = best.and_then(|(best, ratio)| {
            Some(Gain {
                best: candidate(call.collective, &best)?,
                ratio: ratio / ran.ratio,
                known_by: format!("as {} measured with {}", self.folder, words::bytes(bytes)),
                is_measured: true,
            })
        });
        gain.map_or(Known::Nothing, Known::Gain)
    }

    /// Returns the measured cell whose bytes are nearest to those of some calls, and its bytes.
    fn nearest(&self, calls: &Calls, placement: Placement) -> Option<(usize, &Cell)> {
        let wanted = cell_of(calls.kind, calls.row).bytes.max(1) as f64;
        let distance = |bytes: usize| (bytes.max(1) as f64 / wanted).log2().abs();
        let cells = self.cells.iter().filter(|((name, place, bytes), _)| {
            name == calls.kind.collective.name() && *place == placement && distance(*bytes) <= 1.0
        });
        let bytes_of = cells.map(|((_, _, bytes), cell)| (*bytes, cell));
        bytes_of.min_by(|(one, _), (other, _)| distance(*one).total_cmp(&distance(*other)))
    }

    /// Whether advice may name this contestant for such calls.
    fn is_eligible(&self, tried: &Tried, call: &Call) -> bool {
        let who = (call.collective.name().to_owned(), tried.contestant.to_string());
        let candidate = candidate(call.collective, &tried.contestant).filter(|_| !self.wrong.contains(&who));
        // An algorithm that calls other collectives has no price.
        candidate.is_some_and(|Candidate { algorithm, .. }| {
            !algorithm.is_mock_up() && call.is_served_by(algorithm).is_ok()
        })
    }
}

/// Returns a cell in which the tuning has not decided yet.
fn decision(call: &Call, placement: Placement, default: &Tried, candidates: Vec<Tried>) -> Decision {
    let (ranks, nodes, ranks_per_node) = placement;
    Decision {
        collective: call.collective,
        ranks,
        nodes,
        ranks_per_node,
        bytes: call.bytes,
        default: default.clone(),
        candidates,
        skipped: Vec::new(),
        chosen: None,
        verified: None,
    }
}

/// Returns what to take instead of what ran, and its time divided by the default's. It is what the tuning chooses. If it keeps
/// the default, and something else ran, it is the best finalist.
fn best_of(mut cell: Decision, ran: Ran) -> Option<(Contestant, f64)> {
    decide(slice::from_mut(&mut cell), DEMANDS);
    if let Some(Chosen { candidate, gain, .. }) = cell.chosen {
        return Some((cell.candidates[candidate].contestant.clone(), 1.0 - gain));
    }
    let finalists = cell.finalists().filter(|_| !ran.is_default);
    let ratios = finalists.filter_map(|one| Some((one.contestant.clone(), relative(&cell.default, one)?)));
    ratios.min_by(|(_, one), (_, other)| one.total_cmp(other))
}

/// Whether this contestant ran what served the calls.
fn served(tried: &Tried, calls: &Calls) -> bool {
    let is_alike = |parameter: Parameter| {
        let given = tried.contestant.parameters.iter().find(|(name, _)| name == parameter.name());
        given.zip(calls.told(parameter.name())).is_none_or(|((_, given), told)| *given == told)
    };
    tried.ran == calls.served() && [Parameter::Radix, Parameter::Window].into_iter().all(is_alike)
}
