//! Modified radix-r Bruck for MPI_Alltoall: blocks travel downwards and land where they belong, so that neither
//! rotation is needed.
//!
//! Messages and blocks sent as in `bruck`; no copies but that of the rank's own block.

use super::bruck::{Direction, exchange_by_digits};
use super::{copy_own_block, place_on_the_way, with_input};
use crate::algorithms::digits::nonzero_digits_of_all;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::{Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoall],
    name: "bruck_modified",
    aliases: &["bruck_zero_copy"],
    source: "Fan et al. 2022, after Träff, Rougier, Hunold 2014",
    idea: "Bruck's algorithm without its rotations: blocks travel digit by digit in the other direction and \
            arrive where they belong.",
    avoid_when: "blocks are large, for each of them travels several times.",
    parameters: &[Parameter::Radix],
    requires: &[],
    body: Body::Messages(schedule),
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
