//! Scans on several nodes: the ranks of a node combine what they show each other in shared memory, as in `shared`. One rank of
//! each node, its leader, runs an exclusive scan with the other leaders by messages, over the sums of the nodes. It shows the
//! result, which its node's ranks put in front of theirs.
//!
//! With m nodes of up to q ranks: ceil(log2 m) rounds of the whole vector, one message of each node in a round. A leader reads
//! the vectors of its node, and a rank those below it there, up to q. Keeps the order of operands, so ranks that are on one node
//! but not consecutive count as on different ones.

use super::{contribution, recursive_doubling};
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::building_blocks::shared_node::with_slots;
use crate::algorithms::building_blocks::slots::Contributions;
use crate::algorithms::{Algorithm, Body, Collective, Nodes, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Run, Schedule};

pub const SCAN: Algorithm = Algorithm {
    collectives: &[Collective::Scan],
    name: "shared_leaders",
    aliases: &[],
    source: "the leaders of MPICH (smp); between the nodes as in `recursive_doubling`",
    idea: "The ranks of a node combine what they show each other in shared memory. One rank of each node combines its node's sum \
            with those of the nodes below, and shows it.",
    avoid_when: "vectors are long, or each rank has a node of its own.",
    parameters: &[],
    requires: &[Requirement::Nodes, Requirement::SharedMemory, Requirement::Predefined],
    body: Body::Messages(|problem, rank| schedule(problem, rank, true)),
};

pub const EXSCAN: Algorithm = Algorithm {
    collectives: &[Collective::Exscan],
    body: Body::Messages(|problem, rank| schedule(problem, rank, false)),
    ..SCAN
};

/// The slot in which a rank shows its contribution.
const OWN: usize = 0;

/// The slot in which a leader shows the sum of the nodes below.
const BELOW: usize = 1;

fn schedule(problem: &Problem, rank: usize, is_inclusive: bool) -> Schedule {
    let placement = Placement::of(&in_runs(problem));
    let place = placement.place(rank);
    let (node, own) = (place.node, contribution(problem).block(0));
    let [combined, put] = [combined_on_node, put_behind].map(|part| {
        let mut phase = Builder::new(place.local, placement.population(node), 1);
        part(&placement, place, own, is_inclusive, &mut phase);
        placement.within(node, phase.build())
    });
    let program = match place.local {
        0 => combined.then(placement.between(among_leaders(node, placement.nodes()))).then(put),
        _ => combined.then(put),
    };
    with_slots(2, placement.most_members(), program)
}

/// Lets a node's leader combine the vectors of its node, and the others those below them there.
fn combined_on_node(placement: &Placement, place: Place, own: Run, is_inclusive: bool, up: &mut Builder) {
    let Place { node, local } = place;
    let (population, is_last) = (placement.population(node), node + 1 == placement.nodes());
    // The ranks above read a rank's vector, and the leader does so if its node has one to send its sum to.
    if local + 1 < population || !is_last && population > 1 {
        up.publish(own, OWN);
    }
    let contributions = Contributions { rank: local, own, slot: OWN };
    match local {
        0 if !is_last => contributions.combine(0..population, sum(), sum(), up),
        0 => {}
        _ => {
            let combined = local + usize::from(is_inclusive);
            contributions.combine(0..combined, Recv.block(0), Recv.block(0), up);
        }
    }
}

/// Puts what a rank combined behind the sum of the nodes below, which its leader shows.
fn put_behind(placement: &Placement, place: Place, own: Run, is_inclusive: bool, down: &mut Builder) {
    let Place { node, local } = place;
    match (node, local) {
        (0, 0) if is_inclusive => down.copy(own, Recv.block(0)),
        (0, _) => {}
        (_, 0) => {
            if placement.population(node) > 1 {
                down.publish(sum(), BELOW);
            }
            match is_inclusive {
                true => down.reduce(sum(), own, Recv.block(0)),
                false => down.copy(sum(), Recv.block(0)),
            }
        }
        _ => {
            let below = down.await_slot(0, BELOW);
            down.reduce(below, Recv.block(0), Recv.block(0));
        }
    }
}

/// Where a leader has the sum of its node, then that of the nodes below.
fn sum() -> Run {
    Scratch.block(0)
}

/// Returns the program of a node's leader: an exclusive scan over its [`sum`].
fn among_leaders(node: usize, nodes: usize) -> Schedule {
    let problem = Problem { in_place: true, ..Problem::new(nodes) };
    recursive_doubling::EXSCAN.schedule(&problem, node).map_runs(|run| match run.buffer {
        Recv => run.in_buffer(Scratch),
        _ => Scratch.blocks(run.indices().start + 1..run.indices().end + 1),
    })
}

/// Returns the problem with a node for each run of consecutive ranks that are on one node.
fn in_runs(problem: &Problem) -> Problem {
    if problem.nodes.is_empty() || problem.nodes.is_in_order() {
        return problem.clone();
    }
    let mut run = 0;
    let runs = (0..problem.size).map(|rank| {
        run += u32::from(rank > 0 && problem.nodes.of(rank) != problem.nodes.of(rank - 1));
        run
    });
    Problem { nodes: runs.collect::<Nodes>(), ..problem.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaders_alone_send_and_once_in_each_round() {
        for algorithm in [SCAN, EXSCAN] {
            let problem = Problem { nodes: (0..16).map(|rank| rank / 4).collect(), ..Problem::new(16) };
            let sent = |rank| algorithm.schedule(&problem, rank).messages_sent();
            let leaders: Vec<usize> = (0..4).map(|node| sent(4 * node)).collect();
            assert_eq!(leaders, [2, 2, 1, 0]);
            assert!((0..16).filter(|rank| rank % 4 != 0).all(|rank| sent(rank) == 0));
        }
    }

    #[test]
    fn ranks_that_are_not_consecutive_are_not_combined_first() {
        let problem = Problem { nodes: [0, 0, 1, 0, 1, 1].into(), ..Problem::new(6) };
        let leads = |rank| SCAN.schedule(&problem, rank).steps.iter().any(|step| step.peer().is_some());
        assert_eq!([0, 1, 2, 3, 4, 5].map(leads), [true, false, true, true, true, false]);
    }
}
