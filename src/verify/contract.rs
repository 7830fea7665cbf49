//! What each collective starts from and what it must end with.

use super::execution::Outcome;
use super::values::Value;
use super::violation::{Fault, Violation};
use crate::algorithms::{Collective, Edge, Problem};
use crate::schedule::{Buffer, Run};
use std::ops::Range;

/// What a block of a rank's receive buffer must hold.
#[derive(Debug, PartialEq, Eq)]
enum Promise {
    /// A block of a rank's input.
    Input { rank: usize, block: usize },
    /// Nothing is written to it: it belongs to a neighbour that does not exist.
    Nothing,
    /// The reduction of a block over these ranks.
    Reduction { ranks: Range<usize> },
}

/// Returns what a block must hold; `None` if the collective promises nothing. `origin`: where the block comes
/// from in a neighbourhood collective, if from anywhere.
fn promise(
    collective: Collective,
    problem: &Problem,
    rank: usize,
    block: usize,
    origin: Option<Edge>,
) -> Option<Promise> {
    match collective {
        Collective::Allgather | Collective::Allgatherv | Collective::Gather | Collective::Gatherv => {
            Some(Promise::Input { rank: block, block })
        }
        Collective::Alltoall | Collective::Alltoallv | Collective::Alltoallw => {
            Some(Promise::Input { rank: block, block: rank })
        }
        Collective::Bcast | Collective::Scatter | Collective::Scatterv => {
            Some(Promise::Input { rank: problem.root, block })
        }
        Collective::Allreduce
        | Collective::Reduce
        | Collective::ReduceScatter
        | Collective::ReduceScatterBlock => Some(Promise::Reduction { ranks: problem.partners(rank) }),
        Collective::Scan => Some(Promise::Reduction { ranks: 0..rank + 1 }),
        Collective::NeighborAllgather | Collective::NeighborAllgatherv => {
            Some(origin.map_or(Promise::Nothing, |edge| Promise::Input { rank: edge.peer, block: 0 }))
        }
        Collective::NeighborAlltoall | Collective::NeighborAlltoallv | Collective::NeighborAlltoallw => Some(
            origin.map_or(Promise::Nothing, |edge| Promise::Input { rank: edge.peer, block: edge.block }),
        ),
        // A call in place leaves the first rank's buffer as it is.
        Collective::Exscan if rank == 0 => Some(Promise::Input { rank, block }),
        Collective::Exscan => Some(Promise::Reduction { ranks: 0..rank }),
        Collective::Barrier => None,
    }
}

/// Checks that every rank's receive buffer holds what the collective promises; after a barrier, that every rank has
/// heard of every other, or of the other group.
pub fn check(
    collective: Collective,
    problem: &Problem,
    ordered: bool,
    outcome: &Outcome,
) -> Result<(), Violation> {
    for rank in 0..problem.size {
        if collective == Collective::Barrier {
            let unheard = outcome.unheard(rank, problem.partners(rank));
            unheard.map_or(Ok(()), |other| Err(Violation::of(rank)(Fault::Unheard(other))))?;
        }
        let origins = problem.graph.origins(rank);
        for block in collective.recv_blocks(problem, rank, outcome.blocks) {
            let origin = origins.get(block).copied().flatten();
            let checked = match promise(collective, problem, rank, block, origin) {
                Some(Promise::Input { rank: from, block: number }) => {
                    check_equal(outcome, rank, block, outcome.values.input(from, number))
                }
                Some(Promise::Reduction { ranks }) => check_reduction(outcome, ordered, rank, block, ranks)
                    .and_then(|()| match collective {
                        Collective::Allreduce => check_alike(outcome, rank, block, problem.group(rank).start),
                        _ => Ok(()),
                    }),
                Some(Promise::Nothing) => check_untouched(outcome, rank, block),
                None => Ok(()),
            };
            checked.map_err(Violation::of(rank))?;
        }
    }
    Ok(())
}

/// Returns the reductions that the ranks end with: the rank and the value of each block.
pub fn reductions(
    collective: Collective,
    problem: &Problem,
    outcome: &Outcome,
) -> Result<Vec<(usize, Value)>, Violation> {
    let blocks = |rank| collective.recv_blocks(problem, rank, outcome.blocks);
    let places = (0..problem.size).flat_map(|rank| blocks(rank).map(move |block| (rank, block)));
    let reduced = places.filter(|&(rank, block)| {
        matches!(promise(collective, problem, rank, block, None), Some(Promise::Reduction { .. }))
    });
    let value = |(rank, block)| match result(outcome, rank, block) {
        Ok((_, value)) => Ok((rank, value)),
        Err(fault) => Err(Violation::of(rank)(fault)),
    };
    reduced.map(value).collect()
}

fn check_equal(outcome: &Outcome, rank: usize, block: usize, expected: Value) -> Result<(), Fault> {
    let (run, found) = result(outcome, rank, block)?;
    let describe = |value| outcome.values.describe(value);
    match found == expected {
        true => Ok(()),
        false => Err(Fault::Result(run, describe(found), describe(expected))),
    }
}

fn check_untouched(outcome: &Outcome, rank: usize, block: usize) -> Result<(), Fault> {
    match result(outcome, rank, block) {
        Err(_) => Ok(()),
        Ok((run, found)) => Err(Fault::Result(run, outcome.values.describe(found), "nothing".into())),
    }
}

fn check_reduction(
    outcome: &Outcome,
    ordered: bool,
    rank: usize,
    block: usize,
    ranks: Range<usize>,
) -> Result<(), Fault> {
    let (run, found) = result(outcome, rank, block)?;
    let values = &outcome.values;
    if values.block(found) != block || !values.is_complete(found, ranks.clone()) {
        let expected = format!("block {block} of ranks {} to {}", ranks.start, ranks.end - 1);
        return Err(Fault::Result(run, values.describe(found), expected));
    }
    match ordered && !values.is_ascending(found) {
        true => Err(Fault::Order(run, values.describe(found))),
        false => Ok(()),
    }
}

/// Checks that a rank has come to its result by the same expression as the first rank of its group, so that
/// floating-point results agree bit for bit.
fn check_alike(outcome: &Outcome, rank: usize, block: usize, first: usize) -> Result<(), Fault> {
    let ((run, found), (_, first)) = (result(outcome, rank, block)?, result(outcome, first, block)?);
    match outcome.values.are_alike(found, first) {
        true => Ok(()),
        false => Err(Fault::Association(run, outcome.values.describe(found), outcome.values.describe(first))),
    }
}

fn result(outcome: &Outcome, rank: usize, block: usize) -> Result<(Run, Value), Fault> {
    let run = Buffer::Recv.block(block);
    Ok((run, outcome.memories[rank].read(run)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Algorithm, REGISTRY, registered};
    use crate::schedule::Step;
    use crate::verify::problems;

    /// All that the verifier and the cost ask of a collective.
    fn contract(collective: Collective, problem: &Problem, rank: usize) -> impl PartialEq + use<> {
        let blocks = problem.size;
        let sent = collective.send_blocks(problem, rank, blocks);
        let received = collective.recv_blocks(problem, rank, blocks);
        let origins = problem.graph.origins(rank);
        let promise =
            |block: usize| promise(collective, problem, rank, block, origins.get(block).copied().flatten());
        let promises: Vec<_> = received.clone().map(promise).collect();
        let together = collective.inseparable_blocks(problem, rank);
        (sent, received, promises, together, collective.input(problem, rank, blocks))
    }

    fn forms(collective: Collective) -> impl PartialEq {
        (collective.cut(), collective.is_rooted(), collective.has_in_place(), collective.reduces())
    }

    /// What a rank does with others, in the order in which each of them notices it.
    fn meetings(algorithm: &Algorithm, problem: &Problem, rank: usize) -> Vec<(&'static str, u32, usize)> {
        let steps = algorithm.schedule(problem, rank).unrolled().steps;
        let meeting = |step| match step {
            Step::Send { peer, message, .. } => Some(("to", peer, message.blocks())),
            Step::Receive { peer, message, .. } => Some(("from", peer, message.blocks())),
            Step::Notify { slot } => Some(("shows", slot, 0)),
            Step::Await { rank, slot, .. } => Some(("sees", rank, slot as usize)),
            _ => None,
        };
        let mut meetings: Vec<_> = steps.into_iter().filter_map(meeting).collect();
        meetings.sort_by_key(|&(what, rank, _)| (what, rank));
        meetings
    }

    /// So the proofs for calls in place and for others also hold where only some ranks are in place.
    #[test]
    fn ranks_may_decide_for_themselves_whether_they_are_in_place() {
        let decide =
            |collective: &Collective| collective.has_in_place() && !collective.is_in_place_at_all_ranks();
        for algorithm in REGISTRY.iter().filter(|algorithm| algorithm.collectives.iter().any(decide)) {
            for problem in
                (1..=9).flat_map(|size| problems(algorithm, size)).filter(|problem| problem.in_place)
            {
                let apart = Problem { in_place: false, ..problem.clone() };
                for rank in 0..problem.size {
                    let [one, other] = [&problem, &apart].map(|problem| meetings(algorithm, problem, rank));
                    assert_eq!(one, other, "{} {problem:?}, rank {rank}", algorithm.title());
                }
            }
        }
    }

    #[test]
    fn one_proof_holds_for_all_collectives_of_an_algorithm() {
        let of_several = |algorithm: &&Algorithm| algorithm.collectives.len() > 1;
        for algorithm in registered().filter(of_several) {
            let first = algorithm.contract();
            for &other in &algorithm.collectives[1..] {
                assert!(forms(first) == forms(other), "{}", algorithm.title());
                for problem in (1..=6).flat_map(|size| problems(algorithm, size)) {
                    let is_same = |rank| contract(first, &problem, rank) == contract(other, &problem, rank);
                    assert!((0..problem.size).all(is_same), "{} {problem:?}", algorithm.title());
                }
            }
        }
    }
}
