//! A call that rustcoll carries out by messages: everything but the memory, which is lent to it.

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
    /// The arguments of the call.
    pub arguments: Arguments,
    /// What is copied around them.
    pub wrapping: Wrapping,
    /// Where its messages go.
    channel: Channel,
}

/// What it goes by.
enum Course {
    /// A plan, whose memory lies so.
    Plan(Arc<Plan>, Layout),
    /// Two stages.
    Exchanging(Box<Exchanging>),
}

impl Transfer {
    /// A call that takes no more than so much temporary memory.
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

    /// Turns to another call's tags.
    pub fn move_to(&mut self, channel: Channel) {
        self.channel = channel;
    }

    /// Begins anew. An error leaves nothing outstanding.
    #[inline]
    pub fn begin(&mut self, work: &mut Work) -> Result<(), Error> {
        match &mut self.course {
            Course::Plan(plan, _) => work.begin(plan, &self.wrapping),
            Course::Exchanging(exchanging) => exchanging.begin(work, &self.arguments, &self.wrapping),
        }
    }

    /// Goes on to the end. A plan with slots needs the segment that they are in.
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

    /// Goes on as far as it can without waiting; says whether it came to the end. A plan with slots needs the segment that they are in.
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
