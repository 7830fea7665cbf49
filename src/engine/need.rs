//! The temporary memory of a call at the rank that needs the most. Every rank computes it from data that all
//! ranks share, so all ranks get the same number and may base decisions on it.

use super::{Counts, Plan, SlotBounds, bind};
use crate::algorithms::{Algorithm, Collective, Problem};
use crate::schedule::Schedule;

/// If a plan uses slots: the bytes from one element to the next, and the bounds of slots.
pub type InSlots<'a> = Option<(usize, &'a SlotBounds)>;

/// Returns the most bytes of data that a rank of a call needs in scratch and staging memory, without gaps between
/// elements. `None` if ranks only know their own blocks' lengths, or if there are two groups.
///
/// `send` and `recv` may be the counts of any rank, and `problem` may be that of any rank. Makes all ranks' programs.
pub fn largest_need(
    algorithm: &Algorithm,
    collective: Collective,
    problem: &Problem,
    (send, recv): (&Counts, &Counts),
    slots: InSlots,
) -> Option<usize> {
    if problem.remote > 0 {
        return None;
    }
    // Another rank may be in place, or not, where each rank decides for itself.
    let may_differ = collective.has_in_place() && !collective.is_in_place_at_all_ranks();
    let places = if may_differ { &[false, true][..] } else { &[problem.in_place] };
    let mut most = 0;
    for rank in 0..problem.size {
        let (send, recv) = counts_at(collective, rank, send, recv)?;
        for &in_place in places {
            let problem = Problem { in_place, ..problem.clone() };
            let schedule = algorithm.schedule(&problem, rank);
            most = most.max(need(collective, &schedule, &send, &recv, slots));
        }
    }
    Some(most)
}

fn need(collective: Collective, schedule: &Schedule, send: &Counts, recv: &Counts, slots: InSlots) -> usize {
    let binding = bind(collective, schedule.rank, schedule.blocks, send, recv);
    let plan = match slots {
        Some((extent, bounds)) => Plan::in_stripes(schedule, &binding, extent, bounds),
        None => Plan::new(schedule, &binding),
    };
    let element = if collective.reduces() { send.element_bytes() } else { 1 };
    plan.temporary_elements() * element + plan.staging_bytes + plan.bytes_copied_to_lend(|_| false)
}

/// Returns the counts of a rank as any other rank derives them; in a rooted collective, as if it had both buffers.
fn counts_at(collective: Collective, rank: usize, send: &Counts, recv: &Counts) -> Option<(Counts, Counts)> {
    let own = if *send == Counts::NONE { recv } else { send };
    match collective {
        Collective::Allreduce | Collective::Exscan | Collective::Reduce | Collective::Scan => {
            Some((own.clone(), own.clone()))
        }
        // Ranks may describe the same data by different datatypes.
        Collective::Allgather
        | Collective::Alltoall
        | Collective::Bcast
        | Collective::Gather
        | Collective::Scatter => Some((own.in_bytes(), own.in_bytes())),
        Collective::Allgatherv => {
            // Where the blocks are, each rank decides for itself. Most memory is needed where none touches another.
            let recv = recv.in_bytes_with_gaps(1);
            Some((recv.block(rank)?, recv))
        }
        Collective::ReduceScatter => Some((send.clone(), send.block(rank)?)),
        Collective::ReduceScatterBlock => Some((send.clone(), send.clone())),
        Collective::Barrier
        | Collective::Alltoallv
        | Collective::Alltoallw
        | Collective::Gatherv
        | Collective::Scatterv
        | Collective::NeighborAllgather
        | Collective::NeighborAllgatherv
        | Collective::NeighborAlltoall
        | Collective::NeighborAlltoallv
        | Collective::NeighborAlltoallw => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::REGISTRY;
    use crate::verify::problems;
    use std::ops::Range;

    const COUNT: usize = 1000;

    const BYTES: usize = 8;

    /// What a rank passes for the blocks that its buffer has.
    fn passed(collective: Collective, has: Range<usize>, size: usize, rank: usize) -> Counts {
        let length = |block: usize| COUNT + block;
        let is_uneven = matches!(collective, Collective::Allgatherv | Collective::ReduceScatter);
        match () {
            () if has.is_empty() => Counts::NONE,
            () if !is_uneven => Counts::One { count: COUNT, bytes: BYTES },
            () if has.len() == size && size > 1 => {
                // At even ranks the blocks of an allgatherv touch.
                let touching = |block: usize| (0..block).map(length).sum::<usize>();
                let apart = collective == Collective::ReduceScatter || rank % 2 == 1;
                let start = |block| if apart { block * 2 * COUNT } else { touching(block) };
                let places = (0..size).map(|block| (start(block), length(block)));
                Counts::Each { places: places.collect(), bytes: BYTES }
            }
            () => Counts::One { count: length(has.start), bytes: BYTES },
        }
    }

    fn assert_all_ranks_know(algorithm: &Algorithm, collective: Collective, problem: &Problem) {
        let label = format!("{} of {}, {problem:?}", algorithm.title(), collective.name());
        let bounds = SlotBounds { stripe: Some(2000), ..SlotBounds::DEFAULT };
        let extent = if collective.reduces() { BYTES } else { 1 };
        let slots = algorithm.takes_shared_memory().then_some((extent, &bounds));
        let needs = (0..problem.size).map(|rank| {
            let is_other =
                !collective.is_in_place_at_all_ranks() && collective.has_in_place() && rank % 2 == 1;
            let problem = &Problem { in_place: problem.in_place ^ is_other, ..problem.clone() };
            let schedule = algorithm.schedule(problem, rank);
            let passed_for = |has| passed(collective, has, problem.size, rank);
            let send = passed_for(collective.send_blocks(problem, rank, schedule.blocks));
            let recv = passed_for(collective.recv_blocks(problem, rank, schedule.blocks));
            let element =
                |counts: &Counts| if collective.reduces() { counts.clone() } else { counts.in_bytes() };
            let own = need(collective, &schedule, &element(&send), &element(&recv), slots);
            (largest_need(algorithm, collective, problem, (&send, &recv), slots), own)
        });
        let needs: Vec<_> = needs.collect();
        assert!(needs.iter().all(|(largest, _)| *largest == needs[0].0), "{label}: {needs:?}");
        if let Some(largest) = needs[0].0 {
            assert!(needs.iter().all(|(_, own)| *own <= largest), "{label}: {needs:?}");
        }
    }

    #[test]
    fn all_ranks_come_to_the_same_number_and_none_needs_more() {
        for algorithm in REGISTRY {
            let sizes = [2, 3, 5, 8].into_iter().flat_map(|size| problems(algorithm, size));
            for problem in sizes.filter(|problem| problem.remote == 0) {
                for &collective in algorithm.collectives {
                    assert_all_ranks_know(algorithm, collective, &problem);
                }
            }
        }
    }

    #[test]
    fn the_root_of_a_reduction_may_need_more_than_others() {
        let vector = Counts::One { count: COUNT, bytes: BYTES };
        let (collective, problem) = (Collective::Reduce, Problem::new(4));
        let linear = collective.algorithm("linear").expect("it is registered");
        let at_leaf = largest_need(linear, collective, &problem, (&vector, &Counts::NONE), None);
        assert!(at_leaf >= Some(COUNT * BYTES), "{at_leaf:?}");
        assert_eq!(at_leaf, largest_need(linear, collective, &problem, (&vector, &vector), None));
    }
}
