//! Draws histories from seeds.

use rustcoll::algorithms::{Collective, Dimension, Graph, Neighbours};
use rustcoll::selection::Rules;
use rustcoll::verify::stencils;

use crate::draw::Draw;
use crate::history::{
    Communicator, Deed, Delivery, Fault, FaultKind, History, MOST_RANKS, Surroundings, Topology,
};
use crate::parameters::Parameter;
use crate::program;

/// The parts of a history.
#[derive(Clone, Copy)]
enum Part {
    Surroundings,
    Tuning,
    Communicators,
    Program,
    Faults,
    Preparations,
}

/// Returns the history of a seed.
pub fn history(seed: u64, parameters: &[Parameter]) -> History {
    let draws_of = |part: Part| Draw::new(seed, part as u64);
    let mut draw = draws_of(Part::Surroundings);
    // Small jobs are cheap, and show most faults.
    let ranks = 2 + draw.below(3) + draw.below(2) * draw.below(MOST_RANKS - 3);
    let surroundings = surroundings(&mut draw, ranks);
    let mut draw = draws_of(Part::Communicators);
    let communicators = draw.one_of(&[1, 1, 2, 2, 3, 4]);
    let communicators = (0..communicators).map(|number| communicator(&mut draw, number, ranks)).collect();
    let faults = faults(&mut draws_of(Part::Faults), ranks);
    let mut history = History { seed, ranks, surroundings, communicators, steps: Vec::new(), faults };
    // Algorithms are tried only for calls that are repeated.
    let mut draw = draws_of(Part::Tuning);
    let repeats_calls = draw.one_in(4);
    if repeats_calls {
        tune(&mut draw, &mut history);
    }
    let prepares_many = draws_of(Part::Preparations).one_in(8);
    history.steps =
        program::steps(draws_of(Part::Program), &history, parameters, repeats_calls, prepares_many);
    // The calls of a duplication are not those of the program, so they may come before a blocking one or after it.
    let duplicates = history.steps.iter().any(|step| matches!(step.deed, Deed::Duplicate(_)));
    let surroundings = &mut history.surroundings;
    surroundings.tells_nodes_late = surroundings.is_preloaded && !duplicates && draw.one_in(2);
    history
}

/// Lets the job, or some of its communicators, try algorithms.
fn tune(draw: &mut Draw, history: &mut History) {
    history.surroundings.tunes_online = !draw.one_in(4);
    for communicator in &mut history.communicators {
        match draw.below(8) {
            0 => communicator.info.push(("rustcoll_tune".to_owned(), "off".to_owned())),
            1 | 2 => communicator.info.push(("rustcoll_tune".to_owned(), "online".to_owned())),
            _ => {}
        }
    }
}

/// Every third history has a fault, and half of these have two.
fn faults(draw: &mut Draw, ranks: usize) -> Vec<Fault> {
    const KINDS: [FaultKind; 6] = [
        FaultKind::NoMemory,
        FaultKind::NoMemory,
        FaultKind::NothingToShare,
        FaultKind::Send,
        FaultKind::Receive,
        FaultKind::Death,
    ];
    let number = draw.one_of(&[0, 0, 0, 0, 1, 2]);
    let fault = |_| {
        let (rank, kind) = (draw.below(ranks), draw.one_of(&KINDS));
        let after = if kind == FaultKind::NoMemory { draw.below(10) } else { draw.below(40) };
        Fault { rank, kind, after }
    };
    (0..number).map(fault).collect()
}

fn surroundings(draw: &mut Draw, ranks: usize) -> Surroundings {
    let nodes = draw.one_of(&[1, 1, 1, 2, 3]);
    let is_preloaded = draw.one_in(3);
    Surroundings {
        nodes: (0..ranks).map(|_| draw.below(nodes)).collect(),
        knows_nodes: !draw.one_in(6),
        is_preloaded,
        eager: draw.one_of(&[0, 64, 4096, usize::MAX]),
        delivery: draw.one_of(&[Delivery::AtOnce, Delivery::Mixed, Delivery::Late]),
        turns: draw.one_of(&[2, 5, 50]),
        cancels: !draw.one_in(3),
        is_watched: draw.one_in(3),
        has_below: draw.one_in(3),
        has_devices: draw.one_in(6),
        tunes_online: false,
        goes_by_tcp: draw.one_in(2),
        tells_of_failures: draw.one_in(2),
        tells_nodes_late: false,
        ends_idle_calls: !is_preloaded && draw.one_in(2),
    }
}

fn communicator(draw: &mut Draw, number: usize, ranks: usize) -> Communicator {
    let mut members: Vec<usize> = (0..ranks).collect();
    if number > 0 && draw.one_in(2) {
        members.reverse();
        members.truncate(1 + draw.below(ranks));
    }
    let has_two_groups = number > 0 && members.len() > 1 && draw.one_in(3);
    let remote = if has_two_groups { 1 + draw.below(members.len() - 1) } else { 0 };
    let topology = topology(draw, members.len());
    let info = if draw.one_in(4) { vec![info(draw)] } else { Vec::new() };
    Communicator { members, remote, topology, info }
}

fn topology(draw: &mut Draw, size: usize) -> Topology {
    if draw.one_in(2) {
        return Topology::Grid(vec![Dimension { length: size, periodic: draw.one_in(2) }]);
    }
    if draw.one_in(3) {
        let stencils = stencils(size);
        let stencil = stencils[draw.below(stencils.len())].clone();
        return Topology::Listed(Graph::of_stencil(stencil).without_stencil());
    }
    let edges: Vec<(usize, usize)> = (0..size * 2).map(|_| (draw.below(size), draw.below(size))).collect();
    let of_rank = |rank: usize| {
        let sources = edges.iter().filter(|edge| edge.1 == rank).map(|edge| Some(edge.0));
        let destinations = edges.iter().filter(|edge| edge.0 == rank).map(|edge| Some(edge.1));
        Neighbours::listed(sources, destinations)
    };
    Topology::Listed(Graph::new((0..size).map(of_rank)))
}

/// Conditions of rules. Not every collective has each of them.
const CONDITIONS: [&str; 16] = [
    "bytes=..200",
    "bytes=100..4K",
    "ranks=2..",
    "ranks=..3",
    "root=0",
    "groups=2",
    "nodes=1",
    "nodes=2..",
    "ranks_per_node=2..",
    "neighbours=2..",
    "power_of_two",
    "commutative",
    "predefined=false",
    "in_place=false",
    "tcp",
    "when=\"bytes > 100 * ranks\"",
];

/// The draws of a rule until one is legal. An illegal one is left out by the library.
const DRAWS_OF_A_RULE: usize = 8;

fn info(draw: &mut Draw) -> (String, String) {
    if draw.one_in(3) {
        let collective = draw.one_of(&Collective::ALL);
        return (format!("rustcoll_{}_algorithm", collective.name()), algorithm(draw, collective).to_owned());
    }
    let rules = (0..DRAWS_OF_A_RULE).map(|_| {
        let collective = draw.one_of(&Collective::ALL);
        let served = if draw.one_in(3) { "below" } else { algorithm(draw, collective) };
        (collective, format!("{} -> {served}", draw.one_of(&CONDITIONS)))
    });
    let rules: Vec<(Collective, String)> = rules.collect();
    let is_legal = |rule: &&(Collective, String)| Rules::parse_line("", rule.0, &rule.1).is_ok();
    let (collective, rule) = rules.iter().find(is_legal).unwrap_or(&rules[0]);
    (format!("rustcoll_{}_rules", collective.name()), rule.clone())
}

fn algorithm(draw: &mut Draw, collective: Collective) -> &'static str {
    let algorithms: Vec<&str> = collective.algorithms().map(|algorithm| algorithm.name).collect();
    draw.one_of(&algorithms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_collective_has_each_condition() {
        for condition in CONDITIONS {
            let is_legal = |collective: &Collective| {
                Rules::parse_line("", *collective, &format!("{condition} -> below")).is_ok()
            };
            assert!(Collective::ALL.iter().any(is_legal), "{condition}");
        }
    }
}
