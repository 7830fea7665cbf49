//! Checks the limits of a plan.

use super::bound::{Hockney, PAIR};
use super::cells::Cells;
use super::plan::{Against, Experiment, Limit, Plan, ReportedCell};
use rustcoll::selection::quantity;
use tuning::statistics::geometric_mean;

/// A measured cell: its place, the first contestant's ratio to the best of the others or to the bound, and what ran.
#[derive(Clone, Debug)]
pub struct Ratio<'plan> {
    pub place: ReportedCell<'plan>,
    /// In the launches that all cells have.
    pub ratio: f64,
    /// In the launch in which cells beyond a limit are measured again.
    pub again: Option<f64>,
    /// Overlap of the first contestant, and of the best of the others, in percent; none if ranks do not compute.
    pub overlap: Option<[f64; 2]>,
    pub ran: String,
}

/// Returns all measured cells of an experiment, collective by collective.
pub fn ratios<'plan>(
    plan: &Plan,
    experiment: &'plan Experiment,
    cells: &Cells,
) -> Result<Vec<Ratio<'plan>>, String> {
    let mut ratios = Vec::new();
    for race in plan.races(experiment)? {
        let subject = race.contestants[0].to_string();
        if experiment.against == Against::Bound && race.ranks == PAIR {
            continue;
        }
        let model = Hockney::found_in(cells, &subject);
        for (series, &bytes) in
            race.series().flat_map(|series| series.bytes.iter().map(move |bytes| (series, bytes)))
        {
            let operation = series.operation;
            let Some(cell) = cells.find(&series.name(), race.ranks, bytes) else { continue };
            // Another plan may have measured other contestants, and more launches.
            let cell = cell.of_contestants(&race.contestants);
            let is_again = |launch| experiment.twice && launch == experiment.launches;
            let again = cell.of_launches(is_again).ratio(&subject);
            // A launch of some cells alone would flatter them: it was made because they were slow.
            let cell = cell.of_launches(|launch| launch < experiment.launches);
            let bound = |model: Hockney| model.bound(operation.collective, race.ranks, bytes);
            let ratio = match experiment.against {
                Against::BestOther => cell.ratio(&subject),
                Against::Bound => cell
                    .summary(&subject)
                    .zip(model.and_then(bound))
                    .map(|(found, bound)| found.median / bound),
            };
            let (Some(ratio), Some(ran)) = (ratio, cell.ran(&subject)) else { continue };
            let (experiment, ranks) = (&experiment.name[..], race.ranks);
            let place = ReportedCell { experiment, operation, ranks, bytes };
            let overlap = cell.overlap(&subject).zip(cell.best_other_overlap(&subject)).map(<[f64; 2]>::from);
            ratios.push(Ratio { place, ratio, again, overlap, ran: ran.to_owned() });
        }
    }
    Ok(ratios)
}

impl Ratio<'_> {
    /// The lesser of both ratios.
    fn lesser(&self) -> f64 {
        self.again.map_or(self.ratio, |again| again.min(self.ratio))
    }
}

/// Returns the cells of each collective and form, by its name, in the order in which they come.
pub fn by_name<'ratios, 'plan>(ratios: &'ratios [Ratio<'plan>]) -> Vec<(String, Vec<&'ratios Ratio<'plan>>)> {
    let mut all: Vec<(String, Vec<&Ratio>)> = Vec::new();
    for ratio in ratios {
        let name = ratio.place.name();
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, own)) => own.push(ratio),
            None => all.push((name, vec![ratio])),
        }
    }
    all
}

impl Limit {
    /// Whether a cell to which the limit applies exceeds the limit, each time that it was measured.
    fn is_exceeded_by(&self, cell: &Ratio) -> bool {
        self.each.is_some_and(|most| cell.lesser() > most)
            || self.algorithm.as_ref().is_some_and(|algorithm| *algorithm != cell.ran)
    }
}

/// Returns the cells of an experiment that exceed one of its limits.
pub fn beyond<'plan>(
    plan: &Plan,
    experiment: &'plan Experiment,
    cells: &Cells,
) -> Result<Vec<ReportedCell<'plan>>, String> {
    let is_beyond = |ratio: &Ratio| {
        let exceeds = |limit: &Limit| limit.cells.contains(ratio.place) && limit.is_exceeded_by(ratio);
        experiment.limits.iter().any(exceeds)
    };
    let all = ratios(plan, experiment, cells)?;
    Ok(all.iter().filter(|ratio| is_beyond(ratio)).map(|ratio| ratio.place).collect())
}

/// The result of checking a limit.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Number of cells to which the limit applies.
    pub cells: usize,
    /// The largest ratio.
    pub worst: Option<f64>,
    /// The geometric mean of the ratios.
    pub mean: Option<f64>,
    /// The cells that exceed the limit, each with the plan's reason for it, if there is one.
    pub beyond: Vec<(String, Option<String>)>,
    /// Number of cells that exceeded the limit, and did not when they were measured again.
    pub within_again: usize,
    /// Whether the mean is within its own limit, if there is one.
    pub mean_holds: bool,
}

impl Verdict {
    /// Checks the cells to which a limit applies.
    pub fn of(limit: &Limit, ratios: &[Ratio], plan: &Plan) -> Verdict {
        let cells: Vec<&Ratio> = ratios.iter().filter(|ratio| limit.cells.contains(ratio.place)).collect();
        let mean = geometric_mean(cells.iter().map(|cell| cell.ratio));
        let told =
            |cell: &&Ratio| (described(cell), plan.reason(cell.place, cell.lesser()).map(str::to_owned));
        let beyond_first = |cell: &&&Ratio| limit.each.is_some_and(|most| cell.ratio > most);
        let is_beyond = |cell: &&&Ratio| limit.is_exceeded_by(cell);
        Verdict {
            cells: cells.len(),
            worst: cells.iter().map(|cell| cell.ratio).reduce(f64::max),
            mean,
            beyond: cells.iter().filter(is_beyond).map(told).collect(),
            within_again: cells.iter().filter(beyond_first).filter(|cell| !is_beyond(cell)).count(),
            mean_holds: !matches!((mean, limit.mean), (Some(mean), Some(most)) if mean > most),
        }
    }
}

fn described(cell: &Ratio) -> String {
    let ReportedCell { ranks, bytes, .. } = cell.place;
    let bytes = quantity::in_units(bytes);
    let again = cell.again.map_or(String::new(), |again| format!(" (again: {again:.2})"));
    format!("{}, {ranks} ranks, {bytes} bytes: {:.2}{again} by `{}`", cell.place.name(), cell.ratio, cell.ran)
}
