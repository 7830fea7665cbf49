//! Radix-k Bruck for MPI_Allgather: the blocks that a rank holds grow k-fold in every round.
//!
//! w = ceil(log_k p) rounds of up to k − 1 messages, w(k−1) − floor((k^w − p)/k^(w−1)) in all; p − 1 blocks sent.
//! Blocks arrive at their final places, so the last rotation of the original is not needed. In return a message
//! may have two runs.

use super::with_own_block;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::{Buffer::Recv, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allgather, Collective::Allgatherv],
    name: "bruck",
    aliases: &["brucks", "k_brucks"],
    source: "Bruck et al. 1997; Thakur, Rabenseifner, Gropp 2005, section 4.1",
    idea: "Every rank fetches the blocks that the rank 1, k, k², … further on has collected, so that it has k \
            times as many after every round.",
    avoid_when: "vectors are long, for then partners that are far apart cost more than neighbours.",
    parameters: &[Parameter::Radix],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, radix, .. } = *problem;
    // Written for rank 0, then renumbered: on rank r, block j becomes block (j + r) mod p.
    let mut program = Builder::new(0, size, size);
    let mut held = 1;
    while held < size {
        for distance in (held..size).step_by(held).take(radix - 1) {
            let count = held.min(size - distance);
            program.receive(distance, Recv.blocks(distance..distance + count));
            program.send(size - distance, Recv.blocks(0..count));
        }
        program.end_round();
        held *= radix;
    }
    with_own_block(problem, program.build().relabel(rank).relabel_blocks(rank))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::digits::digits;

    #[test]
    fn a_round_for_each_digit() {
        for size in 1..70 {
            for radix in 2..=size.max(2) {
                let schedule = schedule(&Problem { radix, ..Problem::new(size) }, size / 3);
                assert_eq!(schedule.rounds(), digits(size, radix) as usize);
            }
        }
    }
}
