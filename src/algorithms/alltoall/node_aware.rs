//! Node-aware alltoall for short blocks: the ranks of a node give all their blocks to one of them, these exchange what goes
//! from node to node, and hand it out.
//!
//! With m nodes of q ranks 2(q − 1) rounds of all blocks of a rank on the nodes, and between them one round of m − 1
//! messages of q² blocks, where without leaders q² messages go from node to node.

use super::{copy_own_block, with_input};
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Message, Run, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoall],
    name: "node_aware",
    aliases: &[],
    source: "Träff, Rougier 2014; MPICH's and MVAPICH's leader-based alltoall",
    idea: "The ranks of a node give all their blocks to one of them. These ranks exchange what goes from node \
            to node and hand it out.",
    avoid_when: "blocks are long, for each is sent three times.",
    parameters: &[],
    requires: &[Requirement::Nodes],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let placement = Placement::of(problem);
    let Place { node, local } = placement.place(rank);
    let mut program = Builder::new(rank, problem.size, problem.size);
    copy_own_block(problem, &mut program, rank);
    match local {
        0 => Leader { placement: &placement, order: &placement.order(), node }.write(&mut program),
        _ => give_and_get(&mut program, &placement, rank, placement.leader(node)),
    }
    with_input(problem, program.build())
}

/// What a rank does that does not lead its node: it gives its blocks to the leader, in the order of the nodes, and gets
/// its result from there.
fn give_and_get(program: &mut Builder, placement: &Placement, rank: usize, leader: usize) {
    let others: Vec<usize> = placement.order().into_iter().filter(|&other| other != rank).collect();
    program.receive(leader, others.iter().map(|&source| Recv.block(source)).collect::<Message>());
    program.send(leader, others.iter().map(|&target| Send.block(target)).collect::<Message>());
    program.end_round();
}

/// The rank that leads a node. In scratch it holds for each other rank there a vector that this one gives, then one for
/// each that it gets, both in the order of the nodes.
struct Leader<'a> {
    placement: &'a Placement,
    order: &'a [usize],
    node: usize,
}

impl Leader<'_> {
    fn write(&self, program: &mut Builder) {
        let own = self.placement.positions(self.node);
        let others = || self.placement.members(self.node).enumerate().skip(1);
        let blocks = |local: usize, block: &dyn Fn(usize) -> Run| -> Message {
            let positions = 0..self.order.len();
            positions.filter(|&position| position != own.start + local).map(block).collect()
        };
        for (local, member) in others() {
            program.receive(member, blocks(local, &|target| self.given(local, target)));
        }
        program.end_round();
        self.exchange(program);
        for (local, member) in others() {
            program.send(member, blocks(local, &|source| self.result(local, source)));
            program.copy(self.given(local, own.start), self.result(0, own.start + local));
        }
    }

    /// Every leader sends each other one what goes from node to node, by sources and then by targets.
    fn exchange(&self, program: &mut Builder) {
        let (node, nodes) = (self.node, self.placement.nodes());
        let own = 0..self.placement.population(node);
        for distance in 1..nodes {
            let source = (node + nodes - distance) % nodes;
            let sources = self.placement.positions(source);
            let pairs = sources.flat_map(|from| own.clone().map(move |to| (from, to)));
            let message: Message = pairs.map(|(from, to)| self.gotten(to, from)).collect();
            program.receive(self.placement.leader(source), message);
        }
        for distance in 1..nodes {
            let target = (node + distance) % nodes;
            let targets = self.placement.positions(target);
            let pairs = own.clone().flat_map(|from| targets.clone().map(move |to| (from, to)));
            let message: Message = pairs.map(|(from, to)| self.given(from, to)).collect();
            program.send(self.placement.leader(target), message);
        }
        program.end_round();
    }

    /// Where the block stands that a rank of the node gives for the rank at a position.
    fn given(&self, local: usize, target: usize) -> Run {
        match local {
            0 => Send.block(self.order[target]),
            _ => Scratch.block((local - 1) * self.order.len() + target),
        }
    }

    /// Where the block arrives that a rank of the node gets from the rank at a position, on another node.
    fn gotten(&self, local: usize, source: usize) -> Run {
        let others = self.placement.population(self.node) - 1;
        match local {
            0 => Recv.block(self.order[source]),
            _ => Scratch.block((others + local - 1) * self.order.len() + source),
        }
    }

    /// Where the block stands at last that a rank of the node gets from the rank at a position.
    fn result(&self, local: usize, source: usize) -> Run {
        let own = self.placement.positions(self.node);
        match own.contains(&source) && local > 0 {
            true => self.given(source - own.start, own.start + local),
            false => self.gotten(local, source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn a_message_goes_from_each_node_to_each_other() {
        let problem = Problem { nodes: (0..16).map(|rank| rank % 4).collect(), ..Problem::new(16) };
        for rank in 0..16 {
            let outside = |peer: u32| peer as usize % 4 != rank % 4;
            let steps = schedule(&problem, rank).steps;
            let leaving: Vec<usize> = steps
                .iter()
                .filter_map(|step| match step {
                    Step::Send { peer, message, .. } if outside(*peer) => Some(message.blocks()),
                    _ => None,
                })
                .collect();
            assert_eq!(leaving, if rank < 4 { vec![16; 3] } else { Vec::new() });
        }
    }
}
