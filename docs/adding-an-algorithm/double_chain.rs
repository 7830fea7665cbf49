//! Two chains for MPI_Bcast: segments leave the root in both directions round the ring, and meet on the other side.
//!
//! With k segments 2(k − 1) + ceil(p/2) rounds of one segment: the root sends each twice, and the last rank is p/2 away.

use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::{Buffer::Recv, Builder, Schedule};
use std::iter;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "double_chain",
    aliases: &[],
    source: "the example of rustcoll's book",
    idea: "Segments leave the root in both directions round the ring, and meet on the other side.",
    avoid_when: "vectors are long, for `chain` sends them once, or short, for `binomial` has fewer rounds.",
    parameters: &[Parameter::Segment],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, segments, .. } = *problem;
    // Counted from the root, it begins both chains; one goes up to the middle, the other down from the last rank.
    let (rank, middle) = (problem.relative(rank), size / 2);
    let chains = [(0..=middle).collect::<Vec<_>>(), iter::once(0).chain((middle + 1..size).rev()).collect()];
    let (mut parent, mut children) = (None, Vec::new());
    for chain in chains {
        if let Some(place) = chain.iter().position(|&member| member == rank) {
            parent = parent.or(place.checked_sub(1).map(|before| chain[before]));
            children.extend(chain.get(place + 1).copied());
        }
    }

    let mut program = Builder::new(rank, size, segments);
    let receive = |segment| parent.and_then(|parent| program.receive(parent, Recv.block(segment)));
    let arriving: Vec<_> = (0..segments).map(receive).collect();
    for (segment, arriving) in arriving.into_iter().enumerate() {
        program.wait(arriving);
        for &child in &children {
            program.send(child, Recv.block(segment));
        }
    }
    program.build().relabel(root)
}
