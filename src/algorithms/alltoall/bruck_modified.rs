//! Modified radix-r Bruck for MPI_Alltoall: blocks travel downwards and land where they belong, so that neither
//! rotation is needed.
//!
//! Source: Fan et al. 2022, after Träff, Rougier, Hunold 2014.
//! Messages and blocks sent as in `bruck`; no copies but that of the rank's own block.
//! Loses when: blocks are large, for each travels up to ceil(log_r p) times.

use super::bruck::{Direction, exchange_by_digits};
use crate::algorithms::digits::nonzero_digits;
use crate::algorithms::{Algorithm, Collective, Parameter, Problem};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Alltoall,
    name: "bruck_modified",
    aliases: &["bruck_zero_copy"],
    source: "Fan et al. 2022; Träff, Rougier, Hunold 2014",
    parameters: &[Parameter::Radix],
    requires: &[],
    schedule,
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, radix, .. } = *problem;
    let mut program = Builder::new(rank, size, size);
    program.copy(Send.block(rank), Recv.block(rank));

    // A block that travels down by `distance` ends at the receive block of its source, rank + distance. On the way it
    // alternates between that block and scratch, such that its last hop takes it into the receive buffer.
    let place = |distance: usize, hops: usize| match nonzero_digits(distance, radix) - hops {
        _ if hops == 0 => Send.block((rank + size - distance) % size),
        remaining if remaining % 2 == 0 => Recv.block((rank + distance) % size),
        _ => Scratch.block(distance),
    };
    exchange_by_digits(&mut program, problem, rank, Direction::Down, place);
    super::with_input(problem, program.build())
}
