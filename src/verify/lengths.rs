//! Checks that ranks know the lengths of blocks that their programs move: by their arguments, or because they learn them
//! before the data move.

use super::memory::{message_blocks, single_blocks};
use super::violation::{Fault, Violation};
use crate::algorithms::{Algorithm, Collective, Cut, Problem, Requirement};
use crate::schedule::{Buffer, Message, Run, Schedule, SlotKind, Step};
use std::collections::HashSet;

/// Checks every program by itself, as the requirements of its algorithm demand.
pub fn check(requires: &[Requirement], schedules: &[Schedule]) -> Result<(), Violation> {
    for requirement in requires {
        let check = match requirement {
            Requirement::BlockLengths => lengths_come_by_messages,
            Requirement::LongestBlock => messages_hold_scratch_blocks,
            _ => continue,
        };
        schedules.iter().try_for_each(check)?;
    }
    Ok(())
}

/// Checks that no rank needs another length than those in its arguments, unless the algorithm requires more.
pub fn check_arguments(
    algorithm: &Algorithm,
    problem: &Problem,
    schedules: &[Schedule],
) -> Result<(), Violation> {
    if algorithm.requires.iter().any(says_more) {
        return Ok(());
    }
    let is_checked = |collective: &&Collective| has_lengths_of_ends(**collective);
    let checked = algorithm.collectives.iter().find(is_checked);
    checked.map_or(Ok(()), |&collective| {
        schedules.iter().try_for_each(|schedule| check_ends(collective, problem, schedule))
    })
}

/// Whether it makes more lengths known than arguments contain. The blocks of a stencil are all equally long.
fn says_more(requirement: &Requirement) -> bool {
    requirement.is_of_lengths() || *requirement == Requirement::Stencil
}

/// Whether only the ranks at both ends of a block's way know how long the block is.
fn has_lengths_of_ends(collective: Collective) -> bool {
    match collective.cut() {
        Cut::Edges => true,
        Cut::Pairs => collective != Collective::Alltoall,
        Cut::Ranks => matches!(collective, Collective::Gatherv | Collective::Scatterv),
        Cut::Vector => false,
    }
}

/// Checks that a program needs only the lengths of the rank's own blocks, if others are not in its arguments.
pub fn check_ends(collective: Collective, problem: &Problem, schedule: &Schedule) -> Result<(), Violation> {
    if !has_lengths_of_ends(collective) {
        return Ok(());
    }
    let rank = schedule.rank;
    let ends = Ends { collective, problem, rank };
    // A lent slot comes with its block's length.
    let has_slots = schedule.slots > 0 && schedule.slot_kind != SlotKind::Lent;
    if has_slots || schedule.scratch_blocks() > 0 && !ends.are_in_place() {
        return Err(Violation::of(rank)(Fault::OnlyOwnLengths(collective)));
    }
    // The root knows all lengths, and the other ranks have one block each.
    if collective.cut() == Cut::Ranks {
        return Ok(());
    }
    match schedule.carried_out().position(|step| !ends.are_of(&step)) {
        Some(position) => Err(Violation::at(rank, position)(Fault::ByAnotherWay(collective))),
        None => Ok(()),
    }
}

/// Tells whether blocks are between a rank and its peer.
struct Ends<'a> {
    collective: Collective,
    problem: &'a Problem,
    rank: usize,
}

impl Ends<'_> {
    /// In an alltoall in place, block i of the receive buffer is as long as what rank i gets. Scratch has blocks of the
    /// same lengths.
    fn are_in_place(&self) -> bool {
        self.problem.in_place && self.collective.cut() == Cut::Pairs
    }

    /// Whether a step moves blocks only from where the rank or its peer sends them to where they are received.
    fn are_of(&self, step: &Step) -> bool {
        match *step {
            Step::Send { peer, ref message, .. } => message.runs().all(|run| self.is_sent(run, peer)),
            Step::Receive { peer, ref message, .. } => message.runs().all(|run| self.is_received(run, peer)),
            Step::Copy { source, target } => match (source.buffer, target.buffer) {
                (_, Buffer::Shared(_)) => self.gives(source.buffer),
                (Buffer::Shared(owner), _) => self.is_received(target, owner),
                _ if self.are_in_place() => self.peers(source).eq(self.peers(target)),
                _ => self.is_sent(source, self.rank as u32) && self.is_received(target, self.rank as u32),
            },
            Step::Reduce { .. } => false,
            Step::Wait { .. } | Step::Notify { .. } | Step::Await { .. } => true,
        }
    }

    fn gives(&self, buffer: Buffer) -> bool {
        buffer == Buffer::Send || self.are_in_place()
    }

    fn is_sent(&self, run: Run, peer: u32) -> bool {
        self.gives(run.buffer) && self.is_between(run, peer as usize)
    }

    fn is_received(&self, run: Run, peer: u32) -> bool {
        (run.buffer == Buffer::Recv || self.are_in_place()) && self.is_between(run, peer as usize)
    }

    /// Whether all blocks of a run are as long as blocks between the rank and `peer`.
    fn is_between(&self, run: Run, peer: usize) -> bool {
        if self.collective.cut() == Cut::Pairs {
            return self.peers(run).all(|other| other == peer);
        }
        let neighbours = self.problem.graph.neighbours(self.rank);
        let is_shared =
            matches!(self.collective, Collective::NeighborAllgather | Collective::NeighborAllgatherv);
        let edges = match run.buffer {
            Buffer::Send if is_shared => return true,
            Buffer::Send => &neighbours.destinations,
            _ => &neighbours.sources,
        };
        run.indices().all(|block| edges.iter().any(|edge| edge.block == block && edge.peer == peer))
    }

    /// Returns the ranks at the other ends of the blocks of an alltoall.
    fn peers(&self, run: Run) -> impl Iterator<Item = usize> + use<> {
        let size = self.problem.size;
        run.indices().map(move |block| block % size)
    }
}

/// Refuses slots: a rank that reads in a slot has to know its length.
fn lengths_come_by_messages(schedule: &Schedule) -> Result<(), Violation> {
    match schedule.slots {
        0 => each_block_is_written_once(schedule),
        _ => Err(Violation::of(schedule.rank)(Fault::SlotsOfUnknownLengths)),
    }
}

/// Checks that each block is written once. Then a program over lengths leaves in a block the length of what a
/// program over data brings there. Also checks that results are not read: they may be kept elsewhere if they
/// do not fit.
fn each_block_is_written_once(schedule: &Schedule) -> Result<(), Violation> {
    let mut written = HashSet::new();
    for (position, step) in schedule.steps.iter().enumerate() {
        let (read, writes) = accesses(step);
        let reads_result = |run: &Run| run.buffer == Buffer::Recv && written.contains(run);
        let fault = match read.into_iter().find(reads_result) {
            Some(run) => Some(Fault::ResultRead(run)),
            None => writes.into_iter().find(|&run| !written.insert(run)).map(Fault::WrittenTwice),
        };
        fault.map_or(Ok(()), Err).map_err(Violation::at(schedule.rank, position))?;
    }
    Ok(())
}

/// Checks that messages hold scratch blocks only: only these are padded, so that they are equally long on all
/// ranks. Blocks pass slots unpadded, so the lengths that the same schedule brings to a receive buffer must
/// be those of the data.
fn messages_hold_scratch_blocks(schedule: &Schedule) -> Result<(), Violation> {
    if schedule.slots > 0 {
        each_block_is_written_once(schedule)?;
    }
    for (position, step) in schedule.steps.iter().enumerate() {
        if let Step::Send { message, .. } | Step::Receive { message, .. } = step {
            let unpadded = message.runs().find(|run| run.buffer != Buffer::Scratch);
            let fault = unpadded.map(Fault::Unpadded);
            fault.map_or(Ok(()), Err).map_err(Violation::at(schedule.rank, position))?;
        }
    }
    Ok(())
}

/// Returns the blocks that a step reads and those that it writes.
fn accesses(step: &Step) -> (Vec<Run>, Vec<Run>) {
    let blocks = |message: &Message| message_blocks(message).collect();
    match step {
        Step::Send { message, .. } => (blocks(message), Vec::new()),
        Step::Receive { message, .. } => (Vec::new(), blocks(message)),
        Step::Wait { .. } | Step::Notify { .. } | Step::Await { .. } => (Vec::new(), Vec::new()),
        Step::Copy { source, target } => (single_blocks(*source).collect(), single_blocks(*target).collect()),
        Step::Reduce { left, right, target } => {
            let read = single_blocks(*left).chain(single_blocks(*right));
            (read.collect(), single_blocks(*target).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::{problems, verify};

    #[test]
    fn without_the_lengths_that_it_requires_an_algorithm_is_wrong() {
        for (collective, name) in [
            (Collective::Gatherv, "binomial"),
            (Collective::Gatherv, "shared"),
            (Collective::Scatterv, "binomial"),
            (Collective::Scatterv, "shared"),
            (Collective::Alltoallv, "bruck_two_phase"),
            (Collective::Alltoallv, "bruck_padded"),
            (Collective::Alltoallv, "node_aware"),
            (Collective::Alltoallv, "shared"),
            (Collective::NeighborAllgather, "node_aware"),
            (Collective::NeighborAlltoallw, "node_aware"),
            (Collective::NeighborAllgather, "combining"),
            (Collective::NeighborAlltoall, "combining"),
        ] {
            let algorithm = collective.algorithm(name).unwrap();
            let others = algorithm.requires.iter().copied().filter(|requirement| !says_more(requirement));
            let mutated = Algorithm { requires: Vec::leak(others.collect()), ..*algorithm };
            let is_wrong = |problem: &Problem| {
                assert_eq!(verify(algorithm, problem), Ok(()));
                let fault = verify(&mutated, problem).err().map(|violation| violation.fault);
                matches!(fault, Some(Fault::OnlyOwnLengths(_) | Fault::ByAnotherWay(_)))
            };
            assert!(problems(algorithm, 9).iter().any(is_wrong), "{}", algorithm.title());
        }
    }

    #[test]
    fn blocks_of_a_neighbour_go_straight_there() {
        let program =
            |text: &str| -> Schedule { format!("rank 0 of 3, 3 blocks\n{text}\n").parse().unwrap() };
        let problem = Problem { in_place: true, ..Problem::new(3) };
        let is_right =
            |text, problem: &Problem| check_ends(Collective::Alltoallv, problem, &program(text)).is_ok();
        for (text, right, in_place) in [
            ("0: send to 1 from send[1]\nwait 0", true, true),
            ("0: send to 1 from send[2]\nwait 0", false, false),
            ("0: send to 1 from recv[1]\nwait 0", false, true),
            ("0: receive from 1 into recv[2]\nwait 0", false, false),
            ("copy recv[0..3] to scratch[3..6]", false, true),
            ("copy recv[0..2] to scratch[1..3]", false, false),
            ("copy send[1] to recv[1]", false, true),
        ] {
            assert_eq!(is_right(text, &Problem::new(3)), right, "{text}");
            assert_eq!(is_right(text, &problem), in_place, "{text}");
        }
    }
}
