//! Calls in two stages: the ranks exchange lengths, then each plans how the data move.

use super::arguments::Arguments;
use crate::engine::{Carried, DataPlan, Journey, LengthExchange, Memory, Plan, Region};
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
    stage: Stage,
    /// The most bytes of temporary memory; beyond it the second stage logs an error.
    scratch_limit: usize,
}

/// How far a call is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The rank writes short blocks to slots, if it has any.
    Showing,
    /// The ranks exchange lengths.
    Lengths,
    /// The blocks move, now that their lengths are known.
    Data,
}

impl Exchanging {
    pub fn new(exchange: &Arc<LengthExchange>, scratch_limit: usize, keeps_lengths: bool) -> Exchanging {
        let numbers = Arguments::of_numbers(ptr::null_mut(), exchange.numbers.len());
        let (exchange, layout) = (Arc::clone(exchange), ScratchLayout::new(&exchange.plan, &numbers));
        Exchanging {
            exchange,
            numbers,
            layout,
            data: None,
            keeps_lengths,
            stage: Stage::Showing,
            scratch_limit,
        }
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
            self.stage = Stage::Data;
            work.reserve(&stage.plan, layout).map_err(|_| RUSTCOLL_ERR_NO_MEM)?;
            return work.begin(&stage.plan, wrapping);
        }
        let LengthExchange { plan, numbers, carried, .. } = &*self.exchange;
        let copied = work.lengths(numbers).map_err(|_| RUSTCOLL_ERR_NO_MEM)?;
        self.numbers.recv.move_to(copied.cast());
        self.stage = Stage::Showing;
        work.begin(plan, wrapping)?;
        carried.iter().try_for_each(|carried| {
            let block = user_span(arguments, carried.region);
            // SAFETY: there is room for the block behind its lengths.
            unsafe { copy(block, Span { elements: block.bytes(), ..self.span_of(carried) }) }
        })
    }

    /// Advances the call: to its end, or as far as it comes without waiting. Returns whether it is complete. Plans with slots
    /// need the lane memory that contains the slots. A block that was too long is an error only at the end of the
    /// call, because other ranks wait for data that pass through this rank.
    pub fn drive<const BLOCKS: bool>(
        &mut self,
        work: &mut Work,
        channel: &Channel,
        arguments: &Arguments,
        wrapping: &Wrapping,
        mut lane_memory: Option<&mut LaneMemory>,
    ) -> Result<bool, Error> {
        if self.stage == Stage::Showing {
            if let Some(lane_memory) = lane_memory.as_deref_mut()
                && !self.show::<BLOCKS>(channel, arguments, lane_memory)?
            {
                return Ok(false);
            }
            self.stage = Stage::Lengths;
            self.keep(work, channel, arguments, lane_memory.as_deref_mut())?;
        }
        if self.stage == Stage::Lengths {
            let wrapping = &Wrapping::default();
            if !carry_on::<BLOCKS>(work, &self.first_task(channel, wrapping), lane_memory.as_deref_mut())? {
                return Ok(false);
            }
            if let Some(lane_memory) = lane_memory.as_deref_mut()
                && self.take_what_is_shown(arguments, lane_memory)?
            {
                return Ok(true);
            }
            self.begin_data(work, channel, arguments)?;
        }
        let (stage, layout) = self.data.as_ref().expect("the first stage has ended");
        let task = Task { plan: &stage.plan, layout, channel, arguments, wrapping };
        match carry_on::<BLOCKS>(work, &task, lane_memory)? {
            true if stage.is_truncated => Err(RUSTCOLL_ERR_TRUNCATE),
            ended => Ok(ended),
        }
    }

    /// Whether blocks travel in short slots, if all of them are short. In later starts of a persistent call, the lengths are
    /// known, and ranks need not wait for lengths.
    fn uses_short_slots(&self) -> bool {
        !self.keeps_lengths
    }

    /// Writes this rank's short blocks to slots. Returns whether it did; it does not while other ranks read the slots.
    fn show<const BLOCKS: bool>(
        &self,
        channel: &Channel,
        arguments: &Arguments,
        lane_memory: &mut LaneMemory,
    ) -> Result<bool, Error> {
        let LengthExchange { shown, short_slots, .. } = &*self.exchange;
        if shown.is_empty() || !self.uses_short_slots() {
            return Ok(true);
        }
        lane_memory.enter(*short_slots);
        match BLOCKS {
            true => lane_memory.await_free_slots()?,
            false if !lane_memory.are_slots_free() => {
                channel.check()?;
                return Ok(false);
            }
            false => {}
        }
        for &[block, slot] in shown {
            let block = user_span(arguments, block);
            // SAFETY: the slot is this rank's, nobody reads it, and it has room for the block.
            unsafe { copy(block, shared_span(lane_memory, slot, block.bytes())) }?;
        }
        Ok(true)
    }

    /// Copies the short blocks that stay with this rank, after it has told its lengths and while it waits for others'.
    fn keep(
        &self,
        work: &mut Work,
        channel: &Channel,
        arguments: &Arguments,
        lane_memory: Option<&mut LaneMemory>,
    ) -> Result<(), Error> {
        if self.exchange.kept.is_empty() || !self.uses_short_slots() {
            return Ok(());
        }
        work.advance(&self.first_task(channel, &Wrapping::default()), lane_memory)?;
        for &copied in &self.exchange.kept {
            let [source, target] = copied.map(|region| user_span(arguments, region));
            // SAFETY: both are the caller's blocks, which do not overlap.
            unsafe { copy(source.cut(target.bytes()), target) }?;
        }
        Ok(())
    }

    fn first_task<'a>(&'a self, channel: &'a Channel, wrapping: &'a Wrapping) -> Task<'a> {
        let Exchanging { exchange, layout, numbers, .. } = self;
        Task { plan: &exchange.plan, layout, channel, arguments: numbers, wrapping }
    }

    /// After the first stage, copies the blocks to the receive buffer if those of all ranks arrived with their lengths. Returns
    /// whether they did; then the call is complete.
    fn take_what_is_shown(&self, arguments: &Arguments, lane_memory: &mut LaneMemory) -> Result<bool, Error> {
        let slots = self.exchange.short_slots;
        match self.exchange.journey(self.learnt()) {
            Journey::BehindLengths => self.deliver(arguments, lane_memory).map(|()| true),
            Journey::InShortSlots if self.uses_short_slots() => {
                lane_memory.enter(slots);
                let delivered = self.deliver(arguments, lane_memory);
                lane_memory.end_stripe(slots);
                lane_memory.leave(slots);
                delivered.map(|()| true)
            }
            // The slots stay unread, so the next stripe that uses them may write them again.
            Journey::InShortSlots | Journey::InSecondStage => {
                lane_memory.leave(slots);
                Ok(false)
            }
        }
    }

    /// Copies the blocks that arrived with their lengths to the receive buffer. Those that this rank kept are there.
    fn deliver(&self, arguments: &Arguments, lane_memory: &LaneMemory) -> Result<(), Error> {
        let mut is_truncated = false;
        for (carried, apart) in &self.exchange.delivered {
            let (arriving, block) =
                (self.learnt()[carried.length] as usize, user_span(arguments, carried.region));
            is_truncated |= arriving > block.bytes();
            let bytes = arriving.min(block.bytes());
            let source = match (self.exchange.journey_of(carried, self.learnt()), apart.memory) {
                (Journey::BehindLengths, _) => Span { elements: bytes, ..self.span_of(carried) },
                (_, Memory::Buffer(Buffer::Shared(_))) => shared_span(lane_memory, *apart, bytes),
                _ => continue,
            };
            // SAFETY: so many bytes are there, and the block is the caller's.
            unsafe { copy(source, block) }?;
        }
        if is_truncated { Err(RUSTCOLL_ERR_TRUNCATE) } else { Ok(()) }
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
        self.stage = Stage::Data;
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

/// Carries a plan out to its end, or as far as it comes without waiting. Returns whether it is complete.
fn carry_on<const BLOCKS: bool>(
    work: &mut Work,
    task: &Task,
    lane_memory: Option<&mut LaneMemory>,
) -> Result<bool, Error> {
    if BLOCKS { work.finish(task, lane_memory).map(|()| true) } else { work.advance(task, lane_memory) }
}

/// Returns a region of one of the caller's buffers.
fn user_span(arguments: &Arguments, region: Region) -> Span {
    let side = if region.memory == Memory::Buffer(Buffer::Send) { &arguments.send } else { &arguments.recv };
    side.span_from(region.offset, region.elements)
}

/// Returns the first bytes of a slot.
fn shared_span(lane_memory: &LaneMemory, slot: Region, elements: usize) -> Span {
    let Memory::Buffer(Buffer::Shared(owner)) = slot.memory else { unreachable!("slots are shared memory") };
    Span { address: lane_memory.slot(owner, slot.offset), elements, datatype: bytes() }
}

/// Ends the job, because other ranks would wait for this one without end.
fn end_the_job(channel: &Channel, message: &CStr) {
    // SAFETY: the handle is that of the call's communicator.
    unsafe { rustcoll_shim_abort(channel.other.communicator, message.as_ptr()) };
}
