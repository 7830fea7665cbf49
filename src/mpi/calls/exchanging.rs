//! Calls in two stages: the ranks exchange lengths, then each plans how the data move.

use super::arguments::Arguments;
use crate::engine::{Carried, DataPlan, LengthExchange, Memory, Plan, Region};
use crate::mpi::messages::channel::Channel;
use crate::mpi::messages::transport::{Error, Span, bytes, copy};
use crate::mpi::messages::work::{ScratchLayout, Task, Work, Wrapping};
use crate::mpi::shared_memory::lane_memory::LaneMemory;
use crate::mpi::shim::bindings::{RUSTCOLL_ERR_NO_MEM, RUSTCOLL_ERR_TRUNCATE, rustcoll_shim_abort};
use crate::schedule::Buffer;
use std::ffi::CStr;
use std::ptr;
use std::slice;
use std::sync::Arc;

/// The longest block in bytes that a rank may announce. No process has room for a longer block, and sums of such
/// lengths do not overflow. Only a stray message of an erroneous program announces more.
const LONGEST: u64 = 1 << 47;

/// A call in two stages.
pub struct Exchanging {
    exchange: Arc<LengthExchange>,
    /// The arguments of the first stage.
    numbers: Arguments,
    /// The layout of the first stage's temporary memory.
    layout: ScratchLayout,
    /// The second stage of the last call, used again for the same lengths.
    data: Option<(Arc<DataPlan>, ScratchLayout)>,
    /// Whether the lengths of all ranks stay as they are: those of a persistent call do.
    keeps_lengths: bool,
    /// Whether the second stage has begun.
    is_in_data: bool,
    /// The most bytes of temporary memory; beyond it the second stage logs an error.
    scratch_limit: usize,
}

impl Exchanging {
    pub fn new(exchange: &Arc<LengthExchange>, scratch_limit: usize, keeps_lengths: bool) -> Exchanging {
        let numbers = Arguments::of_numbers(ptr::null_mut(), exchange.numbers.len());
        let (exchange, layout) = (Arc::clone(exchange), ScratchLayout::new(&exchange.plan, &numbers));
        Exchanging { exchange, numbers, layout, data: None, keeps_lengths, is_in_data: false, scratch_limit }
    }

    /// Begins the call, for the first time or again. After an error nothing is in flight.
    pub fn begin(
        &mut self,
        work: &mut Work,
        arguments: &Arguments,
        wrapping: &Wrapping,
    ) -> Result<(), Error> {
        // All ranks start a persistent call equally often, so none of them exchanges lengths again.
        if let (true, Some((stage, layout))) = (self.keeps_lengths, &self.data) {
            self.is_in_data = true;
            work.reserve(&stage.plan, layout).map_err(|_| RUSTCOLL_ERR_NO_MEM)?;
            return work.begin(&stage.plan, wrapping);
        }
        let LengthExchange { plan, numbers, carried, .. } = &*self.exchange;
        let copied = work.lengths(numbers).map_err(|_| RUSTCOLL_ERR_NO_MEM)?;
        self.numbers.recv.move_to(copied.cast());
        self.is_in_data = false;
        work.begin(plan, wrapping)?;
        carried.iter().try_for_each(|carried| {
            let block = user_span(arguments, carried.region);
            // SAFETY: there is room for the block behind its lengths.
            unsafe { copy(block, Span { elements: block.bytes(), ..self.span_of(carried) }) }
        })
    }

    /// Carries the call out to its end. Plans with slots need the lane memory that contains the slots.
    pub fn finish(
        &mut self,
        work: &mut Work,
        channel: &Channel,
        arguments: &Arguments,
        wrapping: &Wrapping,
        mut lane_memory: Option<&mut LaneMemory>,
    ) -> Result<(), Error> {
        self.drive(work, channel, arguments, wrapping, |work, task| {
            work.finish(task, lane_memory.as_deref_mut()).map(|()| true)
        })?;
        Ok(())
    }

    /// Advances the call without waiting. Returns whether it is complete.
    pub fn advance(
        &mut self,
        work: &mut Work,
        channel: &Channel,
        arguments: &Arguments,
        wrapping: &Wrapping,
        mut lane_memory: Option<&mut LaneMemory>,
    ) -> Result<bool, Error> {
        self.drive(work, channel, arguments, wrapping, |work, task| {
            work.advance(task, lane_memory.as_deref_mut())
        })
    }

    /// Advances the stage that is under way by `go`, and goes from the first stage to the second. A block that was too
    /// long is an error only at the end of the call, because other ranks wait for data that pass through this rank.
    fn drive(
        &mut self,
        work: &mut Work,
        channel: &Channel,
        arguments: &Arguments,
        wrapping: &Wrapping,
        mut go: impl FnMut(&mut Work, &Task) -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        if !self.is_in_data {
            let Exchanging { exchange, layout, numbers, .. } = &*self;
            let (plan, wrapping) = (&exchange.plan, &Wrapping::default());
            if !go(work, &Task { plan, layout, channel, arguments: numbers, wrapping })? {
                return Ok(false);
            }
            if exchange.have_gone_along(self.learnt()) {
                return self.deliver(arguments);
            }
            self.begin_data(work, channel, arguments)?;
        }
        let (stage, layout) = self.data.as_ref().expect("the first stage has ended");
        match go(work, &Task { plan: &stage.plan, layout, channel, arguments, wrapping })? {
            true if stage.is_truncated => Err(RUSTCOLL_ERR_TRUNCATE),
            ended => Ok(ended),
        }
    }

    /// Copies the blocks that arrived with their lengths to the receive buffer. Then the call is complete.
    fn deliver(&self, arguments: &Arguments) -> Result<bool, Error> {
        let mut is_truncated = false;
        for carried in &self.exchange.delivered {
            let (arriving, block) =
                (self.learnt()[carried.length] as usize, user_span(arguments, carried.region));
            is_truncated |= arriving > block.bytes();
            let source = Span { elements: arriving.min(block.bytes()), ..self.span_of(carried) };
            // SAFETY: so many bytes are there, and the block is the caller's.
            unsafe { copy(source, block) }?;
        }
        if is_truncated { Err(RUSTCOLL_ERR_TRUNCATE) } else { Ok(true) }
    }

    /// Returns where the bytes of a block are that travels with its length; the caller sets how many.
    fn span_of(&self, carried: &Carried) -> Span {
        let address = self.numbers.recv.base().wrapping_add(carried.data() * size_of::<u64>());
        Span { address, elements: 0, datatype: bytes() }
    }

    fn begin_data(&mut self, work: &mut Work, channel: &Channel, arguments: &Arguments) -> Result<(), Error> {
        let is_known =
            self.data.as_ref().is_some_and(|(stage, _)| self.exchange.is_known(stage, self.learnt()));
        if !is_known {
            if self.exchange.lengths(self.learnt()).any(|length| length > LONGEST) {
                end_the_job(
                    channel,
                    c"rustcoll: a rank told of a block that no memory holds; ending the job",
                );
            }
            let stage = self.exchange.data(self.learnt());
            let layout = ScratchLayout::new(&stage.plan, arguments);
            self.data = Some((stage, layout));
        }
        let (stage, layout) = self.data.as_ref().expect("it was just planned");
        self.obtain(work, channel, &stage.plan, layout, arguments);
        work.begin(&stage.plan, &Wrapping::default())?;
        self.is_in_data = true;
        Ok(())
    }

    /// Obtains the memory of the second stage, whose size was not known before. The other ranks have this rank's
    /// lengths and count on it. So the memory may exceed the limit, and if there is none, the job ends.
    fn obtain(
        &self,
        work: &mut Work,
        channel: &Channel,
        plan: &Plan,
        layout: &ScratchLayout,
        arguments: &Arguments,
    ) {
        let (needed, limit) = (layout.bytes(), self.scratch_limit);
        let collective = arguments.collective.name();
        if needed > limit {
            log::error!(
                "{collective}: the blocks that pass through here take {needed} bytes of temporary memory; \
                 the limit is {limit}, but the ranks have begun"
            );
        }
        if work.reserve(plan, layout).is_err() {
            end_the_job(
                channel,
                c"rustcoll: no memory for blocks whose lengths the ranks have exchanged; ending the job",
            );
        }
    }

    /// The numbers that the first stage left in its receive buffer.
    fn learnt(&self) -> &[u64] {
        let numbers = self.numbers.recv.base().cast::<u64>();
        // SAFETY: a copy of as many numbers stands there since the call began, and no message writes it any more.
        unsafe { slice::from_raw_parts(numbers, self.exchange.numbers.len()) }
    }
}

/// Returns a region of one of the caller's buffers.
fn user_span(arguments: &Arguments, region: Region) -> Span {
    let side = if region.memory == Memory::Buffer(Buffer::Send) { &arguments.send } else { &arguments.recv };
    side.span_from(region.offset, region.elements)
}

/// Ends the job, because other ranks would wait for this one without end.
fn end_the_job(channel: &Channel, message: &CStr) {
    // SAFETY: the handle is that of the call's communicator.
    unsafe { rustcoll_shim_abort(channel.other.communicator, message.as_ptr()) };
}
