//! What the ranks of a communicator tell each other before some calls: their nodes, and where the memory is that each
//! shares with those of its node.

use super::nodes::{self, Nodes};
use super::patience::Patience;
use super::segment::{self, Geometry, Node, Segment};
use crate::mpi::messages::channel::Channel;
use crate::mpi::messages::transport::Error;
use crate::mpi::messages::work::{Group, Layout, Task, Work};
use crate::mpi::parameters::settings;
use crate::mpi::shim::bindings::RUSTCOLL_ERR_NO_MEM;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A rank among those that it tells something, and what it takes to do so.
pub struct Exchange<'a> {
    /// How log lines begin.
    pub name: &'a str,
    /// The ranks.
    pub group: Group,
    /// How they are reached.
    pub channel: Channel,
    /// Memory for it.
    pub work: &'a mut Work,
}

impl Exchange<'_> {
    /// All ranks' nodes.
    pub fn nodes(&mut self) -> Result<Nodes, Error> {
        Ok(Nodes::new(&self.told_by_all([nodes::identity()])?.concat()))
    }

    /// The memory that the ranks of this node share; `neighbours`: of each rank whether it is one of them. All ranks come to the
    /// same answer whether there is any.
    pub fn segment(&mut self, neighbours: impl FnOnce() -> Vec<bool>) -> Result<Option<Segment>, Error> {
        let Group { rank, size, .. } = self.group;
        let node = Node::new(Geometry::new(size, settings::shared_bank()), &neighbours(), rank);
        let made = node.make();
        let offers = self.told_by_all(segment::offer(&made))?;
        let made = match (offers.iter().position(|offer| !segment::can_share(*offer)), made) {
            (None, Ok(made)) => made,
            (first, made) => {
                self.report_lack(first, made.err());
                return Ok(None);
            }
        };
        // Others look for the memory as long as its file is there.
        let (segment, _file) = node.join(made, &offers, Patience::with(self.channel.own.communicator));
        let joined = self.told_by_all([u64::from(segment.is_ok())])?;
        match (joined.iter().position(|&[could]| could == 0), segment) {
            (None, Ok(segment)) => Ok(Some(segment)),
            (first, segment) => {
                self.report_lack(first, segment.err());
                Ok(None)
            }
        }
    }

    /// Says that there is no shared memory, and why: the first rank that could not have it does, once in its process.
    fn report_lack(&self, first: Option<usize>, error: Option<io::Error>) {
        static IS_REPORTED: AtomicBool = AtomicBool::new(false);
        let name = self.name;
        let Some(error) = error.filter(|_| first == Some(self.group.rank)) else {
            return log::info!("{name}: another rank has no memory to share");
        };
        let is_first = !IS_REPORTED.swap(true, Relaxed);
        let level = if is_first { log::Level::Warn } else { log::Level::Info };
        log::log!(level, "{name}: no memory to share with other ranks: {error}; all send messages instead");
    }

    /// Some numbers of each rank, of which this one tells its own.
    fn told_by_all<const N: usize>(&mut self, own: [u64; N]) -> Result<Vec<[u64; N]>, Error> {
        let Group { rank, size, .. } = self.group;
        let mut all = vec![[0; N]; size];
        all[rank] = own;
        let (plan, mut arguments) = nodes::exchange(&mut all, rank);
        let layout = Layout::new(&plan, &arguments);
        let Exchange { group, channel, work, .. } = self;
        let prepared = work.prepare(&plan, &mut arguments, *group, false).map_err(|_| RUSTCOLL_ERR_NO_MEM);
        let told = prepared.and_then(|wrapping| {
            work.begin(&plan, &wrapping)?;
            let task =
                Task { plan: &plan, layout: &layout, channel, arguments: &arguments, wrapping: &wrapping };
            work.finish(&task, None)
        });
        match told {
            Ok(()) => Ok(all),
            Err(error) => {
                // What was given up may still arrive.
                std::mem::forget(all);
                Err(error)
            }
        }
    }
}
