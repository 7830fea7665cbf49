//! Barrier on several nodes: ranks raise flags for their leader; leaders run `dissemination`, then raise theirs.
//!
//! With m nodes: ceil(log_k m) rounds.

use super::dissemination;
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::building_blocks::shared_node::with_slots;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Barrier],
    name: "shared_leaders",
    aliases: &[],
    source: "the leaders of MPICH (smp) and Open MPI (han); between m nodes as in `dissemination`",
    idea: "The ranks of a node raise flags for one of them. These ranks tell each other by messages, and raise \
            flags in turn.",
    avoid_when: "each rank has a node of its own, or all ranks share one.",
    parameters: &[Parameter::Radix],
    requires: &[Requirement::Nodes, Requirement::SharedMemory],
    body: Body::Messages(schedule),
};

/// The algorithm between the leaders of the nodes.
const BETWEEN: Algorithm = dissemination::ALGORITHM;

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let placement = Placement::of(problem);
    let Place { node, local } = placement.place(rank);
    let members = placement.members(node);
    let (mut arriving, mut leaving) =
        (Builder::new(rank, problem.size, 1), Builder::new(rank, problem.size, 1));
    let program = match local {
        0 => {
            for member in members.clone().skip(1) {
                arriving.await_slot(member, 0);
            }
            if members.len() > 1 {
                leaving.notify(0);
            }
            let between = Problem { radix: problem.radix, ..Problem::new(placement.nodes()) };
            let between = BETWEEN.schedule(&between, node);
            arriving.build().then(placement.between(between)).then(leaving.build())
        }
        _ => {
            arriving.notify(0);
            arriving.await_slot(placement.leader(node), 0);
            arriving.build()
        }
    };
    with_slots(1, placement.most_members(), program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaders_alone_send() {
        let nodes = || (0..16).map(|rank| rank / 4).collect();
        for (radix, messages) in [(2, 2), (4, 3)] {
            let problem = Problem { radix, nodes: nodes(), ..Problem::new(16) };
            let sent: Vec<usize> = (0..16).map(|rank| schedule(&problem, rank).messages_sent()).collect();
            let of_a_node = [messages, 0, 0, 0];
            assert_eq!(sent, of_a_node.repeat(4));
        }
    }
}
