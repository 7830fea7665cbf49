//! What the ranks of a communicator exchange before some calls, such as their nodes, and where the memory is
//! that each shares with the ranks of its node.

use super::geometry::Geometry;
use super::node::{self, HeldOffer, NodeMemory, OFFER, Offered, OwnNode};
use super::nodes;
use super::patience::Patience;
use crate::algorithms::{Collective, Nodes};
use crate::engine::Plan;
use crate::mpi::calls::arguments::Arguments;
use crate::mpi::messages::channel::Channel;
use crate::mpi::messages::transport::Error;
use crate::mpi::messages::work::{Group, Name, ScratchLayout, Task, Work, Wrapping};
use crate::mpi::parameters::settings;
use crate::mpi::shim::bindings::RUSTCOLL_ERR_NO_MEM;
use crate::report::lateness::is_waited_for_by_all;
use std::io;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A rank that exchanges numbers with all others.
#[derive(Clone)]
pub struct Teller {
    /// The start of log lines.
    pub name: Name,
    pub channel: Channel,
}

/// An allgather of some numbers of each rank, a broadcast of one rank's numbers, or the greatest numbers of all ranks.
struct Telling<const N: usize> {
    numbers: Vec<[u64; N]>,
    plan: Plan,
    arguments: Arguments,
    layout: ScratchLayout,
    wrapping: Wrapping,
    work: Work,
    is_over: bool,
}

impl Teller {
    /// Returns the nodes of all ranks.
    pub fn nodes(&self) -> Result<Nodes, Error> {
        Ok(Nodes::named(self.gathered([nodes::identity()])?.into_iter().flatten()))
    }

    /// Gathers some numbers of each rank at all ranks.
    pub fn gathered<const N: usize>(&self, own: [u64; N]) -> Result<Vec<[u64; N]>, Error> {
        Telling::begin(self, own)?.finish(self)
    }

    /// Gathers numbers of a node's ranks at each of them, perhaps more of some than of others. `members`: these ranks,
    /// ascending.
    pub fn gathered_on_node(&self, members: &[usize], own: Vec<u64>) -> Result<Vec<Vec<u64>>, Error> {
        let lengths = self.of_equal_length(members, &[own.len() as u64])?.concat();
        let longest = lengths.iter().copied().max().unwrap_or(0).max(1);
        let mut padded = own;
        padded.resize(longest as usize, 0);
        let mut all = self.of_equal_length(members, &padded)?;
        all.iter_mut().zip(lengths).for_each(|(numbers, length)| numbers.truncate(length as usize));
        Ok(all)
    }

    fn of_equal_length(&self, members: &[usize], own: &[u64]) -> Result<Vec<Vec<u64>>, Error> {
        let Group { rank, size, .. } = self.name.group;
        let numbers = members
            .iter()
            .flat_map(|&member| own.iter().map(move |&number| [if member == rank { number } else { 0 }]));
        let plan = |numbers: &mut [[u64; 1]]| nodes::exchange_on_node(numbers, members, (rank, size));
        let all = Telling::of(self, numbers.collect(), plan)?.finish(self)?.concat();
        Ok(all.chunks_exact(own.len()).map(<[u64]>::to_vec).collect())
    }

    /// Combines the ranks' times of some calls; all ranks get the same result. If the ranks of a call wait
    /// for each other, its time is the least one, that of the last rank to come; otherwise the greatest one.
    pub fn combined_times(&self, times: Vec<u64>, collective: Collective) -> Result<Vec<u64>, Error> {
        let turned = |time: u64| if is_waited_for_by_all(collective) { !time } else { time };
        let numbers = times.into_iter().map(turned).collect();
        Ok(self.greatest(numbers)?.into_iter().map(turned).collect())
    }

    /// Returns the greatest of each number over all ranks. Each rank passes as many.
    pub fn greatest(&self, numbers: Vec<u64>) -> Result<Vec<u64>, Error> {
        let Group { rank, size, .. } = self.name.group;
        let numbers = numbers.into_iter().map(|number| [number]).collect();
        let plan = |numbers: &mut [[u64; 1]]| nodes::greatest(numbers, (rank, size));
        Ok(Telling::of(self, numbers, plan)?.finish(self)?.concat())
    }

    /// Returns the root's numbers at all ranks. Each rank passes as many.
    pub fn broadcast(&self, numbers: Vec<u64>, root: usize) -> Result<Vec<u64>, Error> {
        let Group { rank, .. } = self.name.group;
        let numbers = numbers.into_iter().map(|number| [number]).collect();
        let size = self.name.group.size;
        let plan = |numbers: &mut [[u64; 1]]| nodes::broadcast(numbers, root, (rank, size));
        Ok(Telling::of(self, numbers, plan)?.finish(self)?.concat())
    }
}

impl<const N: usize> Telling<N> {
    /// Starts an allgather with this rank's numbers.
    fn begin(teller: &Teller, own: [u64; N]) -> Result<Telling<N>, Error> {
        let Group { rank, size, .. } = teller.name.group;
        let mut numbers = vec![[0; N]; size];
        numbers[rank] = own;
        Telling::of(teller, numbers, |numbers| nodes::exchange(numbers, rank))
    }

    /// Starts the plan that `plan` makes for some numbers.
    fn of(
        teller: &Teller,
        mut numbers: Vec<[u64; N]>,
        plan: impl FnOnce(&mut [[u64; N]]) -> (Plan, Arguments),
    ) -> Result<Telling<N>, Error> {
        let (plan, mut arguments) = plan(&mut numbers);
        let layout = ScratchLayout::new(&plan, &arguments);
        let mut work = Work::new();
        let prepared = work.prepare(&plan, &mut arguments, teller.name.group, false);
        let wrapping = prepared.map_err(|_| RUSTCOLL_ERR_NO_MEM)?;
        work.begin(&plan, &wrapping)?;
        Ok(Telling { numbers, plan, arguments, layout, wrapping, work, is_over: false })
    }

    /// Waits until the exchange is complete. Returns the numbers.
    fn finish(mut self, teller: &Teller) -> Result<Vec<[u64; N]>, Error> {
        self.go_on(teller, |work, task| work.finish(task, None).map(|()| true))?;
        Ok(mem::take(&mut self.numbers))
    }

    /// Advances the exchange without waiting. Returns whether it is complete.
    fn advance(&mut self, teller: &Teller) -> Result<bool, Error> {
        self.go_on(teller, |work, task| work.advance(task, None))
    }

    fn go_on(
        &mut self,
        teller: &Teller,
        go: impl FnOnce(&mut Work, &Task) -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        let Telling { plan, arguments, layout, wrapping, work, is_over, .. } = self;
        *is_over = go(work, &Task { plan, layout, channel: &teller.channel, arguments, wrapping })?;
        Ok(*is_over)
    }
}

impl<const N: usize> Drop for Telling<N> {
    fn drop(&mut self) {
        if !self.is_over {
            // Messages of the abandoned exchange may still arrive there.
            mem::forget(mem::take(&mut self.numbers));
            self.work.leak();
        }
    }
}

/// What a rank sends if it could map the memory; and if it can also copy from the memory of the others of its node.
const MAPS: u64 = 1;
const COPIES_SINGLY: u64 = 2;

/// The allocation of shared memory on each node. All ranks get the same answer whether there is any.
pub struct Making {
    teller: Teller,
    stage: Stage,
}

enum Stage {
    /// The ranks exchange where the memory is.
    Offering(OwnNode, io::Result<Offered>, Telling<OFFER>),
    /// The ranks exchange whether they could map the memory, and copy from each other's memory. [`HeldOffer`]
    /// lives until all have tried.
    Joining(io::Result<NodeMemory>, HeldOffer, Telling<1>),
    /// Complete.
    Over,
}

impl Making {
    /// Starts the allocation. `neighbours`: for each rank, whether it is on this rank's node.
    pub fn begin(teller: Teller, neighbours: &[bool]) -> Result<Making, Error> {
        let Group { rank, size, .. } = teller.name.group;
        let node = OwnNode::new(Geometry::new(size, settings::shared_bank()), neighbours, rank);
        let offered = node.make();
        let telling = Telling::begin(&teller, node::offer(&offered))?;
        Ok(Making { teller, stage: Stage::Offering(node, offered, telling) })
    }

    /// Advances the allocation without waiting. Returns the memory when it is complete, or `Some(None)` if a
    /// rank could not get any.
    pub fn advance(&mut self) -> Result<Option<Option<NodeMemory>>, Error> {
        if let Stage::Offering(_, _, telling) = &mut self.stage {
            if !telling.advance(&self.teller)? {
                return Ok(None);
            }
            if self.join()?.is_none() {
                return Ok(Some(None));
            }
        }
        if let Stage::Joining(_, _, telling) = &mut self.stage
            && !telling.advance(&self.teller)?
        {
            return Ok(None);
        }
        let Stage::Joining(memory, _found, telling) = mem::replace(&mut self.stage, Stage::Over) else {
            unreachable!("nobody goes on after the end")
        };
        match (telling.numbers.iter().position(|&[could]| could == 0), memory) {
            (None, Ok(mut memory)) => {
                memory.note_single_copies(telling.numbers.iter().all(|&[could]| could == COPIES_SINGLY));
                Ok(Some(Some(memory)))
            }
            (first, memory) => {
                self.report_lack(first, memory.err());
                Ok(Some(None))
            }
        }
    }

    /// Maps the memory of the node's first rank. `None` if a rank has no memory.
    fn join(&mut self) -> Result<Option<()>, Error> {
        let Stage::Offering(node, offered, telling) = mem::replace(&mut self.stage, Stage::Over) else {
            unreachable!("it joins once")
        };
        let offers = &telling.numbers;
        let offered = match (offers.iter().position(|offer| !node::can_share(*offer)), offered) {
            (None, Ok(offered)) => offered,
            (first, offered) => {
                self.report_lack(first, offered.err());
                return Ok(None);
            }
        };
        let (memory, found) =
            node.join(offered, offers, Patience::with(self.teller.channel.own.communicator));
        let could = match memory.as_ref().map(|memory| memory.check_single_copies(offers)) {
            Ok(Ok(())) => COPIES_SINGLY,
            Ok(Err(error)) => {
                let name = self.teller.name;
                log::info!("{name}: no copies from the memory of other ranks: {error}");
                MAPS
            }
            Err(_) => 0,
        };
        let telling = Telling::begin(&self.teller, [could])?;
        self.stage = Stage::Joining(memory, found, telling);
        Ok(Some(()))
    }

    /// Logs that there is no shared memory. The first rank that could not get any logs the reason: as a
    /// warning the first time in its process, then as information.
    fn report_lack(&self, first: Option<usize>, error: Option<io::Error>) {
        static IS_REPORTED: AtomicBool = AtomicBool::new(false);
        let name = self.teller.name;
        let Some(error) = error.filter(|_| first == Some(name.group.rank)) else {
            return log::info!("{name}: another rank has no memory to share");
        };
        let is_first = !IS_REPORTED.swap(true, Relaxed);
        let level = if is_first { log::Level::Warn } else { log::Level::Info };
        log::log!(level, "{name}: no memory to share with other ranks: {error}; all send messages instead");
    }
}
