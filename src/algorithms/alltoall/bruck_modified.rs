//! Modified radix-r Bruck for MPI_Alltoall: blocks travel downwards and land where they belong, so that neither
//! rotation is needed.
//!
//! Source: Fan et al. 2022, after Träff, Rougier, Hunold 2014.
//! Messages and blocks sent as in `bruck`; no copies but that of the rank's own block.
//! Loses when: blocks are large, for each travels up to ceil(log_r p) times.

use super::bruck::{Direction, cost, exchange_by_digits};
use super::{copy_own_block, place_on_the_way, with_input};
use crate::algorithms::digits::nonzero_digits_of_all;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::{Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoall],
    name: "bruck_modified",
    aliases: &["bruck_zero_copy"],
    source: "Fan et al. 2022; Träff, Rougier, Hunold 2014",
    parameters: &[Parameter::Radix],
    requires: &[],
    body: Body::Messages { schedule, cost },
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, radix, .. } = *problem;
    let mut program = Builder::new(rank, size, size);
    copy_own_block(problem, &mut program, rank);
    let all_hops = nonzero_digits_of_all(size, radix);
    let place = |distance: usize, hops| place_on_the_way((rank, size), distance, all_hops[distance], hops);
    exchange_by_digits(&mut program, problem, rank, Direction::Down, place);
    with_input(problem, program.build())
}
