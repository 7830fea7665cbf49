//! Calls whose buffers lie on a device, such as a GPU: rustcoll carries them out on copies in host memory. Only the
//! rank with such a buffer knows. It exchanges the same messages with other ranks as any rank.

use super::arguments::{Arguments, number};
use super::host_memory::HostMemory;
use super::uses::{Reader, Use, uses};
use crate::engine::CACHE_LINE;
use crate::mpi::messages::memory::{OutOfMemory, reach};
use crate::mpi::messages::transport::{Error, Span, copy_by_mpi, is_of_data};
use crate::mpi::shim::bindings::*;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether the job has devices on which buffers may lie.
static HAS_DEVICES: AtomicBool = AtomicBool::new(false);

/// Finds out whether the job has devices.
pub fn start() {
    // SAFETY: MPI is starting and knows the devices.
    HAS_DEVICES.store(unsafe { rustcoll_shim_has_devices() } != 0, Relaxed);
}

/// Whether buffers of a call may lie on a device; false is certain. `blocks`: returns how many blocks the send and the
/// receive buffer have, if each block has a count.
///
/// # Safety
/// The call comes from the shim, and `blocks` is right.
#[inline]
pub unsafe fn may_be_needed(call: &rustcoll_call, blocks: impl FnOnce() -> (usize, usize)) -> bool {
    // SAFETY: by this function's contract.
    HAS_DEVICES.load(Relaxed) && unsafe { touches_device(call, blocks()) }
}

/// # Safety
/// As for [`may_be_needed`].
#[cold]
unsafe fn touches_device(call: &rustcoll_call, (sent, received): (usize, usize)) -> bool {
    [(&call.send, sent), (&call.recv, received)].into_iter().any(|(side, blocks)| {
        // A reduce-scatter describes its input at its result. SAFETY: by this function's contract NULL or valid.
        let datatype = unsafe { side.datatype.as_ref().or(call.recv.datatype.as_ref()) };
        // Blocks with datatypes of their own are looked at one by one later.
        !side.datatypes.values.is_null()
            || datatype.is_some_and(|datatype| {
                // SAFETY: by this function's contract.
                let first = unsafe { first_element(side, blocks) };
                let data = first.saturating_mul(datatype.extent).saturating_add(datatype.true_lb);
                is_on_device(side.buffer.wrapping_byte_offset(data))
            })
    })
}

/// Returns where the data of a buffer begin, in elements: at the first block that is not empty.
///
/// # Safety
/// As for [`may_be_needed`].
unsafe fn first_element(side: &rustcoll_side, blocks: usize) -> isize {
    if side.counts.values.is_null() || side.displacements.values.is_null() {
        return 0;
    }
    // SAFETY: by this function's contract there is a count and a displacement for each block.
    unsafe {
        let first = (0..blocks).find(|&block| number(side.counts, block) > 0);
        first.map_or(0, |block| number(side.displacements, block))
    }
}

fn is_on_device(address: *const c_void) -> bool {
    // SAFETY: looks the address up; any address is allowed.
    !address.is_null() && unsafe { rustcoll_shim_is_on_device(address) } != 0
}

/// Host copies of a call's buffers.
pub struct Staged {
    /// Source and target of what is copied before the call.
    before: Vec<(Span, Span)>,
    /// Source and target of what is copied after the call.
    after: Vec<(Span, Span)>,
    memory: HostMemory,
}

impl Staged {
    /// Returns the same call on copies of those buffers that lie on a device; `None` if none does.
    pub fn of(
        call: &rustcoll_call,
        arguments: &Arguments,
        reader: Reader,
    ) -> Result<Option<(Staged, rustcoll_call)>, OutOfMemory> {
        let uses = uses(arguments, reader).map(|found| found.filter(Use::is_on_device));
        let reaches = uses.each_ref().map(|found| found.as_ref().map(Use::reach));
        let bytes = reaches.iter().flatten().map(|(_, bytes)| bytes).sum::<usize>();
        if uses.iter().all(Option::is_none) {
            return Ok(None);
        }
        let memory = HostMemory::of(bytes).inspect_err(|_| {
            log::error!(
                "{} needs {bytes} bytes for copies of what lies on a device; there are not so many",
                arguments.collective.name()
            );
        })?;
        let mut next = memory.start();
        let mut staged = Staged { before: Vec::new(), after: Vec::new(), memory };
        let mut call = *call;
        let buffers = [&mut call.send.buffer, &mut call.recv.buffer];
        for ((found, buffer), reach) in uses.into_iter().zip(buffers).zip(reaches) {
            let (Some(Use { reads, writes }), Some((start, bytes))) = (found, reach) else { continue };
            let shift = next.addr().wrapping_sub(start) as isize;
            let copy = |span: Span| Span { address: span.address.wrapping_offset(shift), ..span };
            staged.before.extend(reads.into_iter().map(|span| (span, copy(span))));
            staged.after.extend(writes.into_iter().map(|span| (copy(span), span)));
            *buffer = next.wrapping_add(buffer.addr().wrapping_sub(start)).cast();
            next = next.wrapping_add(bytes);
        }
        Ok(Some((staged, call)))
    }

    /// Copies what the call reads.
    pub fn begin(&self) -> Result<(), Error> {
        self.before.iter().try_for_each(copy)
    }

    /// Copies what the call has written, if it is complete.
    pub fn end(&mut self, ended: Result<(), Error>) -> Result<(), Error> {
        match ended {
            Ok(()) => self.after.iter().try_for_each(copy),
            Err(error) if is_of_data(error) => self.after.iter().try_for_each(copy).and(ended),
            Err(_) => {
                // Messages that were given up may still arrive in this memory.
                self.memory.leak();
                ended
            }
        }
    }
}

impl Use {
    fn spans(&self) -> impl Iterator<Item = &Span> {
        self.reads.iter().chain(&self.writes)
    }

    fn is_on_device(&self) -> bool {
        self.spans().any(|span| is_on_device(span.data().cast()))
    }

    /// Returns the memory's address and bytes in whole cache lines, so that copies are aligned like the original.
    fn reach(&self) -> (usize, usize) {
        let reaches = || self.spans().map(|span| reach(span.address, span.elements, &span.datatype));
        let start = reaches().map(|reach| reach.start).min().unwrap_or(0) / CACHE_LINE * CACHE_LINE;
        let end = reaches().map(|reach| reach.end).max().unwrap_or(0);
        (start, (end - start).next_multiple_of(CACHE_LINE))
    }
}

fn copy((source, target): &(Span, Span)) -> Result<(), Error> {
    // SAFETY: one of the two is a buffer of the caller's as its arguments describe it, the other a copy's memory.
    unsafe { copy_by_mpi(*source, *target) }
}
