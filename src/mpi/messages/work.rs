//! Carries out plans: their memory, their requests, and the copies before and after them.

use super::channel::Channel;
use super::memory::{Arena, Extent, OutOfMemory, bytes_of};
use super::transport::{self, Array, Error, Lending, Messages, Shared, Span};
use crate::algorithms::Collective;
use crate::engine::{CACHE_LINE, Execution, Memory, Plan, Region, Slots};
use crate::mpi::calls::arguments::Arguments;
use crate::mpi::calls::uses::{Reader, Use, uses};
use crate::mpi::shared_memory::lane_memory::LaneMemory;
use crate::mpi::shim::bindings::*;
use crate::schedule::Buffer;
use std::ffi::{c_int, c_void};
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread::yield_now;

/// How many calls over slots end before a process lets MPI make progress. Progress takes about as long as a short call.
const CALLS_BETWEEN_PROGRESS: u32 = 32;

/// Temporary memory and requests, kept from call to call.
pub struct Work {
    requests: Vec<*mut c_void>,
    scratch: Arena,
    staging: Arena,
    /// Replaces a buffer of the caller's.
    substitute: Arena,
    /// Copies that are lent to other ranks.
    lent: Arena,
    /// See [`Lending::is_readable`].
    is_lent_readable: Option<bool>,
    /// Lengths that the ranks exchange.
    lengths: Arena,
    bytes: rustcoll_datatype,
    execution: Execution,
    /// The error about data alone that the call returns at its end, see [`Messages::flaw`].
    flaw: Option<Error>,
    /// The error that ended the call, while some of its requests are still in flight.
    failed_by: Option<Error>,
}

/// The layout of a plan's temporary memory; the same for all calls with that plan and the same datatypes.
#[derive(Clone, Copy)]
pub struct ScratchLayout {
    scratch: Extent,
    /// Bytes from the address of the first scratch element to the memory behind the scratch buffer.
    spare: isize,
    /// Bytes.
    staging: usize,
    /// Bytes of the copies that the rank lends, if it surely lends one.
    lent: usize,
    /// The datatype of elements in scratch memory.
    datatype: rustcoll_datatype,
    /// Whether slots hold elements of `datatype`; otherwise they hold bytes.
    reduces: bool,
}

/// Copies, from a source to a target, that a schedule needs before and after it.
#[derive(Clone, Default)]
pub struct Wrapping {
    before: Vec<(Span, Span)>,
    after: Vec<(Span, Span)>,
}

/// A buffer of the caller's whose elements have gaps, so that packed data replace it.
struct Packed {
    spans: Vec<Span>,
    is_read: bool,
    is_written: bool,
}

/// A plan to carry out, with its channel and the caller's buffers.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    pub plan: &'a Plan,
    pub layout: &'a ScratchLayout,
    pub channel: &'a Channel,
    pub arguments: &'a Arguments,
    pub wrapping: &'a Wrapping,
}

/// A rank, and how many ranks there are. Displays the sizes of two groups as a sum.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Group {
    pub rank: usize,
    /// Number of ranks in the own group.
    pub size: usize,
    /// Number of ranks in the other group of an inter-communicator, else 0. Their numbers follow those of the own
    /// group.
    pub remote: usize,
}

impl Group {
    /// Number of ranks in both groups.
    pub fn all(self) -> usize {
        self.size + self.remote
    }

    /// Number of ranks with which a rank exchanges data: those of the other group, if there is one.
    pub fn partners(self) -> usize {
        if self.remote == 0 { self.size } else { self.remote }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "rank {} of {}", self.rank, self.size)?;
        if self.remote == 0 { Ok(()) } else { write!(formatter, "+{}", self.remote) }
    }
}

/// Names a rank's communicator at the start of log lines.
#[derive(Clone, Copy)]
pub struct Name {
    pub group: Group,
    pub identifier: u32,
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}, communicator {}", self.group, self.identifier)
    }
}

impl Wrapping {
    /// Whether there is nothing to copy.
    pub fn is_none(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }
}

impl Work {
    pub fn new() -> Work {
        Work {
            requests: Vec::new(),
            scratch: Arena::default(),
            staging: Arena::default(),
            substitute: Arena::default(),
            lent: Arena::default(),
            is_lent_readable: None,
            lengths: Arena::default(),
            bytes: transport::bytes(),
            execution: Execution::default(),
            flaw: None,
            failed_by: None,
        }
    }

    /// Returns how many bytes of temporary memory a call needs.
    pub fn needed(&self, plan: &Plan, arguments: &Arguments, group: Group, is_packed: bool) -> usize {
        if is_packed {
            let packed: usize = packed_sides(arguments, group).iter().flatten().map(Packed::bytes).sum();
            let lent = plan.bytes_copied_to_lend(|_| false);
            return bytes_of(plan.scratch_elements, &self.bytes) + plan.staging_bytes + lent + packed;
        }
        let copied = bytes_of(arguments.copied_input(group.size), arguments.send.datatype());
        ScratchLayout::new(plan, arguments).bytes() + copied
    }

    /// Obtains everything that a plan needs before its first message, so that no allocation fails while
    /// messages are in flight.
    pub fn prepare(
        &mut self,
        plan: &Plan,
        arguments: &mut Arguments,
        group: Group,
        is_packed: bool,
    ) -> Result<Wrapping, OutOfMemory> {
        let wrapping = self.substitute(arguments, group, is_packed)?;
        self.reserve(plan, &ScratchLayout::new(plan, arguments))?;
        Ok(wrapping)
    }

    /// Obtains everything that a plan needs, except what replaces the caller's buffers.
    pub fn reserve(&mut self, plan: &Plan, layout: &ScratchLayout) -> Result<(), OutOfMemory> {
        self.reserve_requests(plan.posts)?;
        self.scratch.fit(layout.scratch)?;
        self.staging.at_least(layout.staging)?;
        self.lent.at_least(layout.lent)?;
        Ok(())
    }

    /// Frees memory, the largest piece first, until at most `kept` bytes are left.
    #[inline]
    pub fn give_back(&mut self, kept: usize) {
        while self.held() > kept {
            let Work { scratch, staging, substitute, lent, lengths, .. } = self;
            let memories = [scratch, staging, substitute, lent, lengths];
            memories.into_iter().max_by_key(|memory| memory.held()).expect("there are some").release();
        }
    }

    /// Bytes of memory that it holds.
    pub fn held(&self) -> usize {
        [&self.scratch, &self.staging, &self.substitute, &self.lent, &self.lengths]
            .map(Arena::held)
            .iter()
            .sum()
    }

    /// Never frees the memory: messages of an abandoned call may still arrive there. Frees `lent`: peers only read
    /// it, and notice that it was withdrawn.
    #[cold]
    pub fn leak(&mut self) {
        self.scratch.leak();
        self.staging.leak();
        self.substitute.leak();
        self.lengths.leak();
    }

    #[cold]
    fn reserve_requests(&mut self, posts: usize) -> Result<(), OutOfMemory> {
        let more = posts.saturating_sub(self.requests.len());
        self.requests.try_reserve_exact(more).map_err(|_| OutOfMemory)?;
        self.requests.extend(std::iter::repeat_n(ptr::null_mut(), more));
        Ok(())
    }

    /// Replaces buffers of the caller's that schedules cannot use: buffers to be packed, and the input of a
    /// reduce-scatter in place.
    fn substitute(
        &mut self,
        arguments: &mut Arguments,
        group: Group,
        is_packed: bool,
    ) -> Result<Wrapping, OutOfMemory> {
        match arguments.copied_input(group.size) {
            _ if is_packed => self.pack(arguments, group),
            0 => Ok(Wrapping::default()),
            elements => self.copy_input(arguments, elements),
        }
    }

    fn pack(&mut self, arguments: &mut Arguments, group: Group) -> Result<Wrapping, OutOfMemory> {
        let packed = packed_sides(arguments, group);
        let mut next = self.substitute.at_least(packed.iter().flatten().map(Packed::bytes).sum())?;
        let mut wrapping = Wrapping::default();
        for (side, packed) in [&mut arguments.send, &mut arguments.recv].into_iter().zip(&packed) {
            let Some(Packed { spans, is_read, is_written }) = packed else { continue };
            *side = side.packed(next);
            for &user in spans {
                let copy = Span { address: next, elements: user.bytes(), datatype: self.bytes };
                wrapping.before.extend(is_read.then_some((user, copy)));
                wrapping.after.extend(is_written.then_some((copy, user)));
                next = next.wrapping_add(user.bytes());
            }
            next = next.wrapping_add(next.align_offset(CACHE_LINE));
        }
        Ok(wrapping)
    }

    fn copy_input(&mut self, arguments: &mut Arguments, elements: usize) -> Result<Wrapping, OutOfMemory> {
        let user = arguments.send.span(elements);
        let datatype = *arguments.send.datatype();
        let address = self.substitute.fit(Extent::new(elements, &datatype))?;
        let copied = Span { address, elements, datatype };
        arguments.send.move_to(address);
        Ok(Wrapping { before: vec![(user, copied)], after: Vec::new() })
    }

    /// Copies lengths to memory from which they can be sent.
    pub fn lengths(&mut self, numbers: &[u64]) -> Result<*mut u64, OutOfMemory> {
        let copy = self.lengths.at_least(size_of_val(numbers))?.cast();
        // SAFETY: the memory is new to the copy, long enough, and aligned for any datatype.
        unsafe { ptr::copy_nonoverlapping(numbers.as_ptr(), copy, numbers.len()) };
        Ok(copy)
    }

    /// Starts a plan, and makes the copies before it. After an error, nothing is in flight.
    #[inline]
    pub fn begin(&mut self, plan: &Plan, wrapping: &Wrapping) -> Result<(), Error> {
        self.execution.restart();
        self.is_lent_readable = None;
        self.flaw = None;
        self.failed_by = None;
        if self.requests.len() < plan.posts {
            self.reserve_requests(plan.posts).map_err(|_| RUSTCOLL_ERR_NO_MEM)?;
        }
        copy(&wrapping.before)
    }

    /// Carries out the rest of a plan, and blocks until its end.
    #[inline]
    pub fn finish(&mut self, task: &Task, mut lane_memory: Option<&mut LaneMemory>) -> Result<(), Error> {
        let ended = self.drive(task, lane_memory.as_deref_mut(), |execution, transport| {
            execution.finish(task.plan, transport).map(|()| true)
        });
        if ended.is_err() {
            withdraw(task, lane_memory);
            self.abandon_all();
        } else if task.plan.slots.is_some() {
            note_call_in_slots();
        }
        ended.map(drop)
    }

    /// Advances a plan without waiting; returns whether it is complete. A plan with slots needs their lane memory, the same
    /// one in each call. Returns an error only after all requests of the failed plan are freed.
    pub fn advance(&mut self, task: &Task, mut lane_memory: Option<&mut LaneMemory>) -> Result<bool, Error> {
        let error = match self.failed_by {
            Some(error) => error,
            None => match self.try_to_advance(task, lane_memory.as_deref_mut()) {
                Ok(is_over) => return Ok(is_over),
                Err(error) => {
                    withdraw(task, lane_memory);
                    *self.failed_by.insert(error)
                }
            },
        };
        if self.abandon() { Err(error) } else { Ok(false) }
    }

    fn try_to_advance(&mut self, task: &Task, lane_memory: Option<&mut LaneMemory>) -> Result<bool, Error> {
        let advance =
            |execution: &mut Execution, transport: &mut Messages| execution.advance(task.plan, transport);
        let is_over = self.drive(task, lane_memory, advance)?;
        if !is_over && task.plan.slots.is_some() {
            // MPI reports failed processes in messages, but not in slots.
            task.channel.check()?;
        }
        Ok(is_over)
    }

    #[cold]
    fn abandon_all(&mut self) {
        while !self.abandon() {
            // SAFETY: MPI is initialised, and collectives may make progress.
            unsafe { rustcoll_shim_progress() };
            yield_now();
        }
    }

    /// Abandons all requests in flight, after an error; returns whether all of them are freed.
    #[cold]
    fn abandon(&mut self) -> bool {
        let outstanding = self.requests.iter_mut().filter(|request| !request.is_null());
        // SAFETY: the requests are in flight, and their places are ours.
        let given_up: Vec<c_int> =
            outstanding.map(|request| unsafe { rustcoll_shim_abandon(request) }).collect();
        if given_up.contains(&RUSTCOLL_LOST) {
            self.leak();
        }
        !given_up.contains(&RUSTCOLL_ENDING)
    }

    #[inline]
    fn drive(
        &mut self,
        task: &Task,
        lane_memory: Option<&mut LaneMemory>,
        go: impl FnOnce(&mut Execution, &mut Messages) -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        let Task { plan, layout, channel, arguments, wrapping } = *task;
        // This can fail only before the first post; later, the memory is there.
        let base = self.scratch.fit(layout.scratch).map_err(|_| RUSTCOLL_ERR_NO_MEM)?;
        let staging = self.staging.at_least(layout.staging).map_err(|_| RUSTCOLL_ERR_NO_MEM)?;
        self.lent.at_least(layout.lent).map_err(|_| RUSTCOLL_ERR_NO_MEM)?;
        let scratch = Array { base, datatype: &layout.datatype };
        let spare = Array { base: base.wrapping_offset(layout.spare), ..scratch };
        let shared = lane_memory.zip(plan.slots).map(|(lane_memory, slots)| {
            lane_memory.enter(slots);
            let datatype = if layout.reduces { &layout.datatype } else { &self.bytes };
            Shared { lane_memory, slots, datatype }
        });
        let mut transport = Messages {
            channel,
            send: &arguments.send,
            recv: &arguments.recv,
            scratch,
            spare,
            staging: Array { base: staging, datatype: &self.bytes },
            shared,
            is_in_bytes: plan.is_in_bytes,
            operator: &arguments.operator,
            requests: &mut self.requests,
            flaw: &mut self.flaw,
            lending: Lending { plan, copies: &mut self.lent, is_readable: &mut self.is_lent_readable },
        };
        let is_over = go(&mut self.execution, &mut transport)?;
        if is_over {
            transport.leave();
            copy(&wrapping.after)?;
            return self.flaw.map_or(Ok(true), Err);
        }
        Ok(false)
    }
}

/// Takes back the lent blocks: after an error, the caller may write to them while other ranks copy them.
#[cold]
fn withdraw(task: &Task, lane_memory: Option<&mut LaneMemory>) {
    if let (Some(lane_memory), Some(Slots::Lent)) = (lane_memory, task.plan.slots) {
        // The last call of the lane may have had slots of another kind.
        lane_memory.enter(Slots::Lent);
        lane_memory.withdraw();
    }
}

impl Packed {
    /// Bytes of memory that the packed data take.
    fn bytes(&self) -> usize {
        self.spans.iter().map(Span::bytes).sum::<usize>().next_multiple_of(CACHE_LINE)
    }
}

/// Returns how the send and the receive buffer are packed; `None` for a buffer that is not.
fn packed_sides(arguments: &Arguments, group: Group) -> [Option<Packed>; 2] {
    let blocks = (group.partners(), group.partners());
    uses(arguments, Reader::of(group, blocks)).map(|found| {
        let Use { reads, writes } = found?;
        let (is_read, is_written) = (!reads.is_empty(), !writes.is_empty());
        let spans = if is_read { reads } else { writes };
        let has_gaps = spans.first()?.datatype.contiguous == 0;
        has_gaps.then_some(Packed { spans, is_read, is_written })
    })
}

impl ScratchLayout {
    pub fn new(plan: &Plan, arguments: &Arguments) -> ScratchLayout {
        let datatype = scratch_datatype(plan, arguments);
        ScratchLayout {
            scratch: Extent::new(plan.temporary_elements(), &datatype),
            spare: plan.scratch_elements as isize * datatype.extent,
            staging: plan.staging_bytes,
            lent: plan.bytes_copied_to_lend(|region| has_gaps(plan, arguments, region)),
            datatype,
            reduces: arguments.collective.reduces(),
        }
    }

    /// Bytes of temporary memory.
    pub fn bytes(&self) -> usize {
        self.scratch.bytes + self.staging + self.lent
    }
}

/// Whether the elements of a region of the caller's have gaps.
fn has_gaps(plan: &Plan, arguments: &Arguments, region: Region) -> bool {
    let side = match region.memory {
        Memory::Buffer(Buffer::Send) => &arguments.send,
        Memory::Buffer(Buffer::Recv) => &arguments.recv,
        _ => return false,
    };
    let datatype = match plan.is_in_bytes {
        true => side.datatype(),
        false => side.elements_at(region.offset, region.elements).2,
    };
    datatype.contiguous == 0
}

/// Returns the datatype of elements in scratch memory. Elements whose extent is 0 lie apart there, because vectors would
/// otherwise have the same address.
fn scratch_datatype(plan: &Plan, arguments: &Arguments) -> rustcoll_datatype {
    let datatype = kept_datatype(plan, arguments);
    match datatype.extent {
        0 => {
            let extent = datatype.true_extent.next_multiple_of(CACHE_LINE) as isize;
            rustcoll_datatype { extent, ..datatype }
        }
        _ => datatype,
    }
}

/// Returns what scratch memory keeps. Reductions keep elements there. Broadcasts do, too, unless their plan counts bytes.
/// All other collectives keep bytes.
fn kept_datatype(plan: &Plan, arguments: &Arguments) -> rustcoll_datatype {
    match arguments.collective {
        Collective::Bcast if !plan.is_in_bytes => *arguments.recv.datatype(),
        collective if !collective.reduces() => transport::bytes(),
        _ if arguments.send.is_none() => *arguments.recv.datatype(),
        _ => *arguments.send.datatype(),
    }
}

/// Lets MPI make progress once in some calls over slots. Those that need not wait for others make none otherwise, and
/// messages of this rank would stand still. Counts the calls of the whole process: many operations carry out only one.
#[inline]
pub fn note_call_in_slots() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    // If another thread counts meanwhile, one of the two calls is lost, which delays progress by a call. An atomic addition
    // would take longer.
    let calls = CALLS.load(Relaxed).wrapping_add(1);
    CALLS.store(calls, Relaxed);
    if calls.is_multiple_of(CALLS_BETWEEN_PROGRESS) {
        // SAFETY: MPI is initialised, and collectives may make progress.
        unsafe { rustcoll_shim_progress() };
    }
}

#[inline]
fn copy(spans: &[(Span, Span)]) -> Result<(), Error> {
    if spans.is_empty() { Ok(()) } else { copy_now(spans) }
}

#[cold]
fn copy_now(spans: &[(Span, Span)]) -> Result<(), Error> {
    // SAFETY: one of the two is a buffer of the caller's as its arguments describe it, the other a copy's memory.
    spans.iter().try_for_each(|&(source, target)| unsafe { transport::copy(source, target) })
}
