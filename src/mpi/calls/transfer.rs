//! A call that rustcoll carries out itself: everything except its memory, which the caller lends.

use super::arguments::Arguments;
use super::exchanging::Exchanging;
use super::planning::Program;
use crate::engine::Plan;
use crate::mpi::messages::channel::Channel;
use crate::mpi::messages::transport::Error;
use crate::mpi::messages::work::{Layout, Task, Work, Wrapping};
use crate::mpi::shared_memory::segment::Segment;
use std::sync::Arc;

/// A call, ready to begin.
pub struct Transfer {
    course: Course,
    pub arguments: Arguments,
    /// What is copied before and after the call.
    pub wrapping: Wrapping,
    channel: Channel,
}

/// How a transfer is carried out.
enum Course {
    /// By a plan, with the layout of its temporary memory.
    Plan(Arc<Plan>, Layout),
    /// In two stages.
    Exchanging(Box<Exchanging>),
}

impl Transfer {
    /// Returns a call that has not begun. If its second stage takes more than `scratch_limit` bytes, it logs an error.
    pub fn new(
        program: &Program,
        arguments: Arguments,
        wrapping: Wrapping,
        channel: Channel,
        scratch_limit: usize,
    ) -> Transfer {
        let course = match program {
            Program::Plan(plan) => Course::Plan(Arc::clone(plan), Layout::new(plan, &arguments)),
            Program::Exchange(exchange) => {
                Course::Exchanging(Box::new(Exchanging::new(exchange, scratch_limit)))
            }
        };
        Transfer { course, arguments, wrapping, channel }
    }

    /// Moves the messages to another call's tags.
    pub fn move_to(&mut self, channel: Channel) {
        self.channel = channel;
    }

    /// Begins the call, for the first time or again. After an error nothing is in flight.
    #[inline]
    pub fn begin(&mut self, work: &mut Work) -> Result<(), Error> {
        match &mut self.course {
            Course::Plan(plan, _) => work.begin(plan, &self.wrapping),
            Course::Exchanging(exchanging) => exchanging.begin(work, &self.arguments, &self.wrapping),
        }
    }

    /// Carries the call out to its end. A plan with slots needs the segment that contains the slots.
    #[inline]
    pub fn finish(&mut self, work: &mut Work, segment: Option<&mut Segment>) -> Result<(), Error> {
        let Transfer { course, arguments, wrapping, channel } = self;
        match course {
            Course::Plan(plan, layout) => {
                work.finish(&Task { plan, layout, channel, arguments, wrapping }, segment)
            }
            Course::Exchanging(exchanging) => exchanging.finish(work, channel, arguments, wrapping, segment),
        }
    }

    /// Advances the call without waiting. Returns whether it is complete. A plan with slots needs their segment.
    pub fn advance(&mut self, work: &mut Work, segment: Option<&mut Segment>) -> Result<bool, Error> {
        let Transfer { course, arguments, wrapping, channel } = self;
        match course {
            Course::Plan(plan, layout) => {
                work.advance(&Task { plan, layout, channel, arguments, wrapping }, segment)
            }
            Course::Exchanging(exchanging) => exchanging.advance(work, channel, arguments, wrapping, segment),
        }
    }
}
