//! A call that rustcoll carries out itself: everything except its memory, which the caller lends.

use super::arguments::Arguments;
use super::exchanging::Exchanging;
use super::planning::CallPlan;
use crate::engine::Plan;
use crate::mpi::messages::channel::Channel;
use crate::mpi::messages::transport::Error;
use crate::mpi::messages::work::{ScratchLayout, Task, Work, Wrapping};
use crate::mpi::shared_memory::lane_memory::LaneMemory;
use std::sync::Arc;

/// A call, ready to begin.
pub struct Transfer {
    by: TransferBy,
    pub arguments: Arguments,
    /// What is copied before and after the call.
    pub wrapping: Wrapping,
    channel: Channel,
}

/// How a transfer is carried out.
enum TransferBy {
    /// By a plan, with the layout of its temporary memory.
    Plan(Arc<Plan>, ScratchLayout),
    /// In two stages.
    Exchanging(Box<Exchanging>),
}

impl Transfer {
    /// Returns a call that has not begun. If its second stage takes more than `scratch_limit` bytes, it logs an error.
    /// `is_persistent`: it may begin again, and then does so on all ranks with the same lengths.
    pub fn new(
        program: &CallPlan,
        arguments: Arguments,
        wrapping: Wrapping,
        channel: Channel,
        scratch_limit: usize,
        is_persistent: bool,
    ) -> Transfer {
        let by = match program {
            CallPlan::Plan(plan) => TransferBy::Plan(Arc::clone(plan), ScratchLayout::new(plan, &arguments)),
            CallPlan::Exchange(exchange) => {
                TransferBy::Exchanging(Box::new(Exchanging::new(exchange, scratch_limit, is_persistent)))
            }
        };
        Transfer { by, arguments, wrapping, channel }
    }

    /// Moves the messages to another call's tags.
    pub fn move_to(&mut self, channel: Channel) {
        self.channel = channel;
    }

    /// Begins the call, for the first time or again. After an error nothing is in flight.
    #[inline]
    pub fn begin(&mut self, work: &mut Work) -> Result<(), Error> {
        match &mut self.by {
            TransferBy::Plan(plan, _) => work.begin(plan, &self.wrapping),
            TransferBy::Exchanging(exchanging) => exchanging.begin(work, &self.arguments, &self.wrapping),
        }
    }

    /// Carries the call out to its end. A plan with slots needs the lane memory that contains the slots.
    #[inline]
    pub fn finish(&mut self, work: &mut Work, lane_memory: Option<&mut LaneMemory>) -> Result<(), Error> {
        let Transfer { by, arguments, wrapping, channel } = self;
        match by {
            TransferBy::Plan(plan, layout) => {
                work.finish(&Task { plan, layout, channel, arguments, wrapping }, lane_memory)
            }
            TransferBy::Exchanging(exchanging) => {
                exchanging.drive::<true>(work, channel, arguments, wrapping, lane_memory).map(drop)
            }
        }
    }

    /// Advances the call without waiting. Returns whether it is complete. A plan with slots needs their lane memory.
    pub fn advance(&mut self, work: &mut Work, lane_memory: Option<&mut LaneMemory>) -> Result<bool, Error> {
        let Transfer { by, arguments, wrapping, channel } = self;
        match by {
            TransferBy::Plan(plan, layout) => {
                work.advance(&Task { plan, layout, channel, arguments, wrapping }, lane_memory)
            }
            TransferBy::Exchanging(exchanging) => {
                exchanging.drive::<false>(work, channel, arguments, wrapping, lane_memory)
            }
        }
    }
}
