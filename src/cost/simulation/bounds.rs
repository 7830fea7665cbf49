//! Lower bounds of the simulated time of a call, from the programs of few of its ranks.

use super::MOST_BYTES;
use super::chain::chain_time;
use super::job::Simulation;
use super::least::{LeastCosts, busy_time, node_busy_time};
use super::network::Crossings;
use super::program::{Compiler, Program};
use super::sizes::Lengths;
use super::symmetry::Symmetry;
use std::collections::BTreeMap;
use std::iter::once;
use std::sync::Arc;

/// Returns a lower bound of [`Simulation::predict`] for each of several calls, in seconds. A call is a number of bytes with a
/// limit in seconds: a bound beyond the limit need not be high.
pub type LowerBound = fn(&Simulation, &[(usize, f64)]) -> Vec<f64>;

/// Those that are quick to find come first.
pub const LOWER_BOUNDS: [LowerBound; 3] = [of_first_rank, of_few_ranks, of_node];

/// If rank 0 has more actions, chains are not followed.
const MOST_CHAINED: usize = 1 << 14;

/// Programs with at most so many actions are short.
const MOST_SHORT_ACTIONS: usize = 1 << 10;

/// A simulation of at most so many actions takes no longer than a bound from several programs, if these are of many ranks.
const MOST_QUICK_ACTIONS: usize = 1 << 20;

/// On at most so many ranks, programs are written at once.
const MOST_WRITTEN_AT_ONCE: usize = 1 << 12;

/// The bound of a node knows so many of its ranks at most.
const MOST_OF_NODE: usize = 128;

/// Ranks with their programs.
type Programs = Vec<(usize, Arc<Program>)>;

/// How long rank 0 is busy.
fn of_first_rank(job: &Simulation, calls: &[(usize, f64)]) -> Vec<f64> {
    bounds(job, |_| Vec::new(), calls, |programs, _, costs, _| busiest(job, programs, costs))
}

/// How long the busiest of few ranks is busy, or how long a chain of messages takes until one of them is done: of rank 0, and with
/// a root, which makes ranks differ, of two more.
fn of_few_ranks(job: &Simulation, calls: &[(usize, f64)]) -> Vec<f64> {
    let others = if job.collective.is_rooted() { vec![job.size() / 2, job.size() - 1] } else { Vec::new() };
    let are_followed =
        |first: &Program| first.actions.len() <= MOST_CHAINED && !is_simulated_quickly(job, first);
    let few = |first: &Program| if are_followed(first) { others.clone() } else { Vec::new() };
    let mut written = (Lengths::AnyOne, BTreeMap::new());
    bounds(job, few, calls, |programs, lengths, costs, limit| {
        let busy = busiest(job, programs, costs);
        if !are_followed(&programs[0].1) {
            return busy;
        }
        if written.0 != lengths {
            written = (lengths, BTreeMap::new());
        }
        let compiler = job.compiler(lengths);
        let mut program =
            |rank| written.1.entry(rank).or_insert_with(|| Arc::new(compiler.program(rank))).clone();
        let mut crossings = crossings(job, programs.iter().all(|(_, program)| is_short(program)));
        let chain = |(rank, first): &(usize, Arc<Program>)| {
            chain_time((*rank, first), &mut program, &job.problem.nodes, costs, &mut crossings, limit)
        };
        programs.iter().map(chain).fold(busy, f64::max)
    })
}

/// How long what the ranks of the first node share is busy.
fn of_node(job: &Simulation, calls: &[(usize, f64)]) -> Vec<f64> {
    let nodes = &job.problem.nodes;
    let others = |first: &Program| {
        let others = nodes.members(0).filter(|&rank| rank > 0).take(MOST_OF_NODE);
        let is_sought = is_short(first) && !is_simulated_quickly(job, first);
        if is_sought { others.collect() } else { Vec::new() }
    };
    bounds(job, others, calls, |programs, _, costs, _| node_busy_time(programs, nodes, costs))
}

/// Returns a bound for each call, from the programs of rank 0 and of `others`, which may depend on that of rank 0. Programs that
/// serve several calls in turn are written once.
fn bounds(
    job: &Simulation,
    others: impl Fn(&Program) -> Vec<usize>,
    calls: &[(usize, f64)],
    mut bound: impl FnMut(&Programs, Lengths, &LeastCosts, f64) -> f64,
) -> Vec<f64> {
    let mut known: Option<(Lengths, Programs)> = None;
    let of_call = |&(bytes, limit): &(usize, f64)| {
        let (lengths, bytes) = job.lengths_and_bytes(bytes.min(MOST_BYTES));
        let programs = match known.take() {
            Some((known, programs)) if known == lengths => programs,
            _ => programs(&job.compiler(lengths), &others),
        };
        let found = bound(&programs, lengths, &LeastCosts::new(bytes, &job.machine), limit);
        known = Some((lengths, programs));
        found
    };
    calls.iter().map(of_call).collect()
}

fn programs(compiler: &Compiler, others: impl Fn(&Program) -> Vec<usize>) -> Programs {
    let first = compiler.program(0);
    let others = others(&first);
    let others = others.into_iter().map(|rank| (rank, Arc::new(compiler.program(rank))));
    once((0, Arc::new(first))).chain(others).collect()
}

/// Whether such programs are written for many ranks in little time.
fn is_short(program: &Program) -> bool {
    program.actions.len() <= MOST_SHORT_ACTIONS
}

/// Whether few of many ranks stand for all, and together do little.
fn is_simulated_quickly(job: &Simulation, first: &Program) -> bool {
    let symmetry = job.symmetry().filter(|_| job.size() > MOST_WRITTEN_AT_ONCE);
    symmetry.is_some_and(|symmetry| symmetry.period() * first.actions.len() <= MOST_QUICK_ACTIONS)
}

fn busiest(job: &Simulation, programs: &Programs, costs: &LeastCosts) -> f64 {
    let busy = |(rank, program): &(usize, Arc<Program>)| busy_time(program, *rank, &job.problem.nodes, costs);
    programs.iter().map(busy).fold(0.0, f64::max)
}

/// Counts the messages that go from one group of nodes to another: none if it would take long to find which ranks stand for all, or
/// if the ranks that they stand for are not exactly as many.
fn crossings(job: &Simulation, are_short: bool) -> Crossings<'_> {
    let groups = job.machine.groups.as_ref().filter(|_| are_short);
    let symmetry = groups.and_then(|_| job.symmetry()).unwrap_or(Symmetry::none(job.size()));
    Crossings::new(symmetry, &job.problem.nodes, groups.filter(|_| symmetry.is_exact()))
}
