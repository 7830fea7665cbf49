//! Circulant alltoall: every block travels the skips ceil(p/2), …, 2, 1 of which its distance is the sum.
//!
//! Source: Träff 2024 (arXiv 2410.14234), whose reduce-scatter without its reduction this is.
//! ceil(log2 p) rounds of one message, for any p. As in `bruck_modified` blocks land where they belong, and a block
//! moves once for each skip of its distance: a rank sends as many blocks as all distances have skips.
//! Loses when: blocks are large, for each travels up to ceil(log2 p) times.

use super::{copy_own_block, place_on_the_way, with_input};
use crate::algorithms::digits::doublings;
use crate::algorithms::phases::circulant::skips;
use crate::algorithms::{Algorithm, Collective, Problem};
use crate::cost::Cost;
use crate::schedule::{Builder, Message, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Alltoall,
    name: "circulant",
    aliases: &[],
    source: "Träff 2024",
    parameters: &[],
    requires: &[],
    schedule,
    cost,
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let mut program = Builder::new(rank, size, size);
    copy_own_block(problem, &mut program, rank);
    let routes: Vec<Vec<usize>> = (0..size).map(|distance| route(distance, size)).collect();
    for skip in skips(size, 2) {
        // The blocks that take this skip, before it and after it.
        let travelling = |hops_more: usize| {
            let place = |(distance, route): (usize, &Vec<usize>)| {
                let hops = route.iter().position(|&other| other == skip)?;
                Some(place_on_the_way((rank, size), distance, route.len(), hops + hops_more))
            };
            routes.iter().enumerate().filter_map(place).collect::<Message>()
        };
        program.exchange(((rank + size - skip) % size, travelling(0)), ((rank + skip) % size, travelling(1)));
    }
    with_input(problem, program.build())
}

fn cost(problem: &Problem) -> Cost {
    let size = problem.size;
    let hops = (0..size).map(|distance| route(distance, size).len()).sum();
    Cost::of_rounds(doublings(size), hops, 0)
}

/// The skips whose sum is a distance, each the longest that is not too long.
fn route(distance: usize, size: usize) -> Vec<usize> {
    let mut remaining = distance;
    let takes = |&skip: &usize| {
        let takes = skip <= remaining;
        remaining -= if takes { skip } else { 0 };
        takes
    };
    skips(size, 2).filter(takes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_lead_there() {
        for size in 1..200 {
            assert!((0..size).all(|distance| route(distance, size).iter().sum::<usize>() == distance));
        }
    }

    #[test]
    fn powers_of_two_send_half_the_blocks_in_every_round() {
        assert_eq!(schedule(&Problem::new(512), 7).blocks_sent(), 9 * 256);
    }
}
