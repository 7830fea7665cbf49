//! What it takes to carry a plan out: memory, requests, and what has to be copied before and after.

use super::arguments::{Arguments, Side};
use super::bindings::*;
use super::channel::Channel;
use super::memory::{Memory, OutOfMemory, bytes_of};
use super::messages::{self, Error, Messages, Place, Shared, Span};
use super::segment::Segment;
use crate::algorithms::Collective;
use crate::engine::call::Counts;
use crate::engine::{Execution, Plan};
use std::ffi::c_void;
use std::fmt;
use std::ptr;

/// Temporary memory and requests, kept from call to call.
pub struct Work {
    requests: Vec<*mut c_void>,
    scratch: Memory,
    staging: Memory,
    /// What stands in for a buffer of the caller's.
    substitute: Memory,
    bytes: rustcoll_datatype,
    execution: Execution,
    is_truncated: bool,
}

/// Copies of the caller's data that a schedule needs around it.
#[derive(Clone, Copy, Default)]
pub struct Wrapping {
    before: Option<(Span, Span)>,
    after: Option<(Span, Span)>,
}

/// A rank among how many. Displayed, two groups are a sum.
#[derive(Clone, Copy)]
pub struct Group {
    /// The rank.
    pub rank: usize,
    /// Number of ranks.
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

impl Wrapping {
    /// Whether there is nothing to copy.
    pub fn is_none(&self) -> bool {
        self.before.is_none() && self.after.is_none()
    }
}

impl Work {
    /// No memory yet.
    pub fn new() -> Work {
        Work {
            requests: Vec::new(),
            scratch: Memory::default(),
            staging: Memory::default(),
            substitute: Memory::default(),
            bytes: messages::bytes(),
            execution: Execution::default(),
            is_truncated: false,
        }
    }

    /// Bytes of temporary memory that a call takes.
    pub fn needed(&self, plan: &Plan, arguments: &Arguments, group: Group, is_packed: bool) -> usize {
        let substitute = match arguments.collective {
            Collective::Bcast if is_packed => arguments.recv.counts.bytes(),
            Collective::ReduceScatter | Collective::ReduceScatterBlock if arguments.in_place => {
                bytes_of(arguments.input_elements(group.size), arguments.send.datatype())
            }
            _ => 0,
        };
        match is_packed {
            true => bytes_of(plan.scratch_elements, &self.bytes) + plan.staging_bytes + substitute,
            false => self.planned_bytes(plan, arguments) + substitute,
        }
    }

    /// Bytes of temporary memory that a plan takes.
    pub fn planned_bytes(&self, plan: &Plan, arguments: &Arguments) -> usize {
        let scratch_type = scratch_datatype(plan, arguments, &self.bytes);
        bytes_of(plan.temporary_elements(), scratch_type) + plan.staging_bytes
    }

    /// Obtains everything that a plan needs, so that nothing is left to fail once messages are under way.
    pub fn prepare(
        &mut self,
        plan: &Plan,
        arguments: &mut Arguments,
        group: Group,
        is_packed: bool,
    ) -> Result<Wrapping, OutOfMemory> {
        let wrapping = self.substitute(arguments, group, is_packed)?;
        self.reserve(plan, arguments)?;
        Ok(wrapping)
    }

    /// Obtains everything that a plan needs but what stands in for the caller's buffers.
    pub fn reserve(&mut self, plan: &Plan, arguments: &Arguments) -> Result<(), OutOfMemory> {
        self.reserve_requests(plan.posts)?;
        self.scratch.place(plan.temporary_elements(), scratch_datatype(plan, arguments, &self.bytes))?;
        self.staging.place(plan.staging_bytes, &self.bytes)?;
        Ok(())
    }

    /// Gives memory back, the largest piece first, until no more than so many bytes are kept.
    #[inline]
    pub fn give_back(&mut self, kept: usize) {
        while self.held() > kept {
            let memories = [&mut self.scratch, &mut self.staging, &mut self.substitute];
            memories.into_iter().max_by_key(|memory| memory.held()).expect("there are three").release();
        }
    }

    /// Bytes of temporary memory that it holds.
    fn held(&self) -> usize {
        self.scratch.held() + self.staging.held() + self.substitute.held()
    }

    /// Gives memory up for good: what was given up may still arrive.
    #[cold]
    fn leak(&mut self) {
        self.scratch.leak();
        self.staging.leak();
        self.substitute.leak();
    }

    fn reserve_requests(&mut self, posts: usize) -> Result<(), OutOfMemory> {
        let more = posts.saturating_sub(self.requests.len());
        self.requests.try_reserve_exact(more).map_err(|_| OutOfMemory)?;
        self.requests.extend(std::iter::repeat_n(ptr::null_mut(), more));
        Ok(())
    }

    /// Replaces buffers of the caller's where schedules cannot work on them as they are: the vector of a broadcast that
    /// is to be packed, and the input of a reduce-scatter that stands where the result goes.
    fn substitute(
        &mut self,
        arguments: &mut Arguments,
        group: Group,
        is_packed: bool,
    ) -> Result<Wrapping, OutOfMemory> {
        match arguments.collective {
            Collective::Bcast if is_packed => self.pack(arguments, group.rank == arguments.root),
            Collective::ReduceScatter | Collective::ReduceScatterBlock if arguments.in_place => {
                self.copy_input(arguments, group.size)
            }
            _ => Ok(Wrapping::default()),
        }
    }

    fn pack(&mut self, arguments: &mut Arguments, is_root: bool) -> Result<Wrapping, OutOfMemory> {
        let Counts::One { count, bytes } = arguments.recv.counts else { return Ok(Wrapping::default()) };
        let user = arguments.recv.span(count);
        arguments.recv = Side::elements(self.substitute.at_least(count * bytes)?, count * bytes, self.bytes);
        let packed = arguments.recv.span(count * bytes);
        Ok(match is_root {
            true => Wrapping { before: Some((user, packed)), after: None },
            false => Wrapping { before: None, after: Some((packed, user)) },
        })
    }

    fn copy_input(&mut self, arguments: &mut Arguments, size: usize) -> Result<Wrapping, OutOfMemory> {
        let elements = arguments.input_elements(size);
        let user = arguments.send.span(elements);
        let copied = self.substitute.place(elements, arguments.send.datatype())?.span(0, elements);
        arguments.send.move_to(copied.address);
        Ok(Wrapping { before: Some((user, copied)), after: None })
    }

    /// A copy of numbers in the memory that stands in for a buffer of the caller's.
    pub fn numbers(&mut self, numbers: &[u64]) -> Result<*mut u64, OutOfMemory> {
        let copy = self.substitute.at_least(size_of_val(numbers))?.cast();
        // SAFETY: the memory is new to the copy, long enough, and aligned for any datatype.
        unsafe { ptr::copy_nonoverlapping(numbers.as_ptr(), copy, numbers.len()) };
        Ok(copy)
    }

    /// Begins anew with a plan. An error leaves nothing outstanding.
    pub fn begin(&mut self, plan: &Plan, wrapping: &Wrapping) -> Result<(), Error> {
        self.execution = Execution::default();
        self.is_truncated = false;
        if self.requests.len() < plan.posts {
            self.reserve_requests(plan.posts).map_err(|_| RUSTCOLL_ERR_NO_MEM)?;
        }
        copy(&wrapping.before)
    }

    /// Goes on to the end of a plan.
    #[inline]
    pub fn finish(
        &mut self,
        plan: &Plan,
        channel: Channel,
        arguments: &Arguments,
        wrapping: &Wrapping,
        segment: Option<&mut Segment>,
    ) -> Result<(), Error> {
        self.drive(plan, channel, arguments, wrapping, segment, |execution, transport| {
            execution.finish(plan, transport).map(|()| true)
        })?;
        Ok(())
    }

    /// Goes on with a plan as far as it can without waiting; says whether it came to its end.
    pub fn advance(
        &mut self,
        plan: &Plan,
        channel: Channel,
        arguments: &Arguments,
        wrapping: &Wrapping,
    ) -> Result<bool, Error> {
        self.drive(plan, channel, arguments, wrapping, None, |execution, transport| {
            execution.advance(plan, transport)
        })
    }

    #[inline]
    fn drive(
        &mut self,
        plan: &Plan,
        channel: Channel,
        arguments: &Arguments,
        wrapping: &Wrapping,
        segment: Option<&mut Segment>,
        go: impl FnOnce(&mut Execution, &mut Messages) -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        let scratch_type = scratch_datatype(plan, arguments, &self.bytes);
        // Before anything is posted; later it is there.
        let scratch =
            self.scratch.place(plan.temporary_elements(), scratch_type).map_err(|_| RUSTCOLL_ERR_NO_MEM)?;
        let (spare, _) = scratch.element(plan.scratch_elements);
        let staging = self.staging.place(plan.staging_bytes, &self.bytes).map_err(|_| RUSTCOLL_ERR_NO_MEM)?;
        let shared = segment.zip(plan.slots).map(|(segment, slots)| {
            segment.enter(slots);
            let datatype = if arguments.collective.reduces() { scratch_type } else { &self.bytes };
            Shared { segment, slots, datatype }
        });
        let mut transport = Messages {
            channel,
            send: &arguments.send,
            recv: &arguments.recv,
            scratch,
            spare: Place { base: spare, datatype: scratch_type },
            staging,
            shared,
            is_in_bytes: plan.is_in_bytes,
            operator: &arguments.operator,
            requests: &mut self.requests,
            is_truncated: &mut self.is_truncated,
        };
        let result = go(&mut self.execution, &mut transport);
        transport.leave();
        if result.is_err() && transport.abandon() {
            self.leak();
        }
        if result? {
            copy(&wrapping.after)?;
            return if self.is_truncated { Err(RUSTCOLL_ERR_TRUNCATE) } else { Ok(true) };
        }
        Ok(false)
    }
}

/// Reductions need elements in scratch memory, and broadcasts keep them there unless their plan numbers bytes; everything
/// else keeps bytes.
fn scratch_datatype<'a>(
    plan: &Plan,
    arguments: &'a Arguments,
    bytes: &'a rustcoll_datatype,
) -> &'a rustcoll_datatype {
    match arguments.collective {
        Collective::Bcast if !plan.is_in_bytes => arguments.recv.datatype(),
        collective if !collective.reduces() => bytes,
        _ if arguments.send.is_none() => arguments.recv.datatype(),
        _ => arguments.send.datatype(),
    }
}

fn copy(spans: &Option<(Span, Span)>) -> Result<(), Error> {
    let Some((source, target)) = spans else { return Ok(()) };
    // SAFETY: one of the two is a buffer of the caller's as its arguments describe it, the other a copy's memory.
    unsafe { messages::copy(*source, *target) }
}
