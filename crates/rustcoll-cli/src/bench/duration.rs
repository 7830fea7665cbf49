//! Estimates how long jobs take. A cell ends when its time is over, or when each contestant has called often enough.

use super::Race;
use super::plan::{Experiment, Plan};
use measurements::{Operation, Series, Shape};
use rustcoll::algorithms::{Collective, Cut};
use rustcoll::cost::machine::units;

use Collective::*;

/// Seconds from the start of a job until its first call and from its last call to its end.
const JOB: f64 = 2.0;

/// Seconds in which each rank makes a communicator, in a network as slow as the emulated ones and on one node.
const COMMUNICATOR_IN_NETWORK: f64 = 0.01;
const COMMUNICATOR_ON_NODE: f64 = 0.001;

/// Seconds in which ranks agree on a common start.
const AGREEMENT: f64 = 0.015;

/// On one node, where ranks share processors: seconds of each rank for a call, and for a byte.
const CALL_ON_NODE: f64 = 20e-6;
const BYTE_ON_NODE: f64 = 0.3e-9;

/// How many messages of a call follow each other.
const ROUNDS: f64 = 6.0;

/// The part of an experiment's cells that is measured once more, if the experiment asks for it.
const AGAIN: f64 = 0.25;

/// Returns the seconds that a plan takes.
pub fn of_plan(plan: &Plan) -> Result<f64, String> {
    plan.experiments.iter().map(|experiment| of_experiment(plan, experiment)).sum()
}

/// Returns the seconds that an experiment takes.
pub fn of_experiment(plan: &Plan, experiment: &Experiment) -> Result<f64, String> {
    let launches = experiment.launches as f64 + if experiment.twice { AGAIN } else { 0.0 };
    let races = plan.races(experiment)?;
    Ok(launches * races.iter().map(|race| of_race(plan, experiment, race)).sum::<f64>())
}

/// Returns the seconds that one job takes.
pub fn of_race(plan: &Plan, experiment: &Experiment, race: &Race) -> f64 {
    let contestants = race.contestants.len() as f64;
    let communicator =
        if experiment.network.is_some() { COMMUNICATOR_IN_NETWORK } else { COMMUNICATOR_ON_NODE };
    let of_series = |series: &Series| {
        let cells = series.bytes.iter().map(|&bytes| {
            let call = of_call(experiment, race.ranks, series.operation, bytes);
            let repetition = match experiment.short_lived {
                Some(calls) => race.ranks as f64 * communicator + f64::from(calls.get()) * call,
                None => call,
            };
            of_cell(plan, experiment, contestants, repetition, series.operation.overlaps)
        });
        contestants * race.ranks as f64 * communicator + cells.sum::<f64>()
    };
    JOB + race.series().map(of_series).sum::<f64>()
}

fn of_cell(plan: &Plan, experiment: &Experiment, contestants: f64, call: f64, overlaps: bool) -> f64 {
    let (at_least, at_most) = plan.repetitions(experiment);
    let repetition = contestants * (call + if experiment.hot { 0.0 } else { AGREEMENT });
    let budget = plan.budget as f64 * 1e-3;
    let time = budget.clamp(f64::from(at_least) * repetition, f64::from(at_most) * repetition);
    // With computing, a call takes twice as long. One more call of each contestant checks its result.
    contestants * call
        + if overlaps { time + (2.0 * f64::from(at_least) * repetition).max(time) } else { time }
}

/// Returns the seconds that a call takes with an algorithm that is not the best.
fn of_call(experiment: &Experiment, ranks: usize, operation: Operation, bytes: usize) -> f64 {
    let moved = traffic(operation, ranks) * bytes as f64;
    match &experiment.network {
        Some(network) => {
            // A plan is checked when it is read.
            let [latency, gap] =
                [&network.latency, &network.gap].map(|time| units::time(time).unwrap_or(0.0));
            let byte = units::byte_time(&network.bandwidth).unwrap_or(0.0);
            ROUNDS * (latency + gap) + experiment.ranks_per_host as f64 * moved * byte
        }
        None => ranks as f64 * (CALL_ON_NODE + moved * BYTE_ON_NODE),
    }
}

/// Returns how many times the call's bytes the busiest rank sends or receives.
fn traffic(Operation { collective, shape, .. }: Operation, ranks: usize) -> f64 {
    let others = (ranks - 1) as f64;
    match (collective, shape) {
        (Barrier, _) => 0.0,
        (_, Shape::Stencil5) => others.min(4.0),
        _ if collective.cut() == Cut::Edges => others.min(8.0),
        (Alltoallv | Alltoallw | Gatherv | Scatterv, Shape::Sparse) => (others / 10.0).max(1.0),
        (_, Shape::Inter) => (others / 2.0).max(2.0),
        // libnbc reduces whole vectors, and scans from rank to rank.
        (ReduceScatterBlock, _) => 3.0 * others,
        (Exscan | Scan, _) => (others / 2.0).max(2.0),
        (Allgatherv | ReduceScatter, _) => 3.0,
        _ if collective.cut() == Cut::Vector => 4.0,
        _ => others,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "at_least = 3\nat_most = 20\nbudget = 300\ncontestants = ['rustcoll', 'tuned']\n\
        launcher = 'mpirun'\nbytes = { vector = ['8'], block = ['8'] }\nlab = { up = '', set = '', run = 'run', down = '' }\n\
        [[experiment]]\nname = 'a'\ntitle = 'A'\nranks = [13]\n\
        network = { latency = '1ms', bandwidth = '100Mbit/s', gap = '0us' }\n";

    fn seconds(more: &str) -> f64 {
        of_plan(&Plan::read(&format!("{PLAN}{more}\n")).unwrap()).unwrap()
    }

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
    }

    #[test]
    fn short_calls_fill_the_time_of_a_cell() {
        let more = "collectives = ['bcast']";
        let start = JOB + 2.0 * 13.0 * COMMUNICATOR_IN_NETWORK;
        close(seconds(more), start + 0.3 + 2.0 * 0.006);
        close(seconds(&format!("{more}\nlaunches = 2\ntwice = true")), 2.25 * seconds(more));
    }

    #[test]
    fn long_calls_are_repeated_as_often_as_they_must() {
        let call = 0.006 + 12.0 * 1048576.0 * 8e-8;
        let more = "collectives = ['alltoall']\nbytes = ['1M']";
        close(seconds(more), JOB + 0.26 + 3.0 * 2.0 * (call + AGREEMENT) + 2.0 * call);
    }

    #[test]
    fn a_plan_that_takes_too_long_is_refused() {
        let text = format!("minutes = 1\n{PLAN}collectives = ['alltoall']\nbytes = ['1M']\nlaunches = 10\n");
        let told = "this takes about 2 minutes, but minutes = 1: leave out cells, or allow more minutes";
        assert_eq!(Plan::read(&text).unwrap_err(), told);
    }
}
