//! The transport over MPI's messages.

use super::channel::Channel;
use super::copying::copy_bytes;
use super::memory::Arena;
use crate::engine::{LentCopy, Memory, Plan, Region, Slots, Transport};
use crate::mpi::calls::arguments::Side;
use crate::mpi::shared_memory::lane_memory::LaneMemory;
use crate::mpi::shared_memory::single_copy::{Lent, are_readable};
use crate::mpi::shared_memory::slot_writer;
use crate::mpi::shim::bindings::*;
use crate::schedule::{Buffer, Post};
use std::ffi::{c_int, c_void};
use std::io;
use std::ops::Range;

/// An error code of MPI's, or one of `shim.h`.
pub type Error = c_int;

/// A block with a datatype of its own.
#[derive(Clone, Copy)]
pub struct TypedBlock {
    /// Bytes from the buffer's address to the first element.
    pub displacement: isize,
    pub count: usize,
    pub datatype: rustcoll_datatype,
}

impl TypedBlock {
    /// Bytes of data.
    pub fn bytes(&self) -> usize {
        self.count * self.datatype.size
    }

    /// Returns the block's elements in a buffer at that address.
    pub fn span(&self, base: *mut u8) -> Span {
        let TypedBlock { displacement, count, datatype } = *self;
        Span { address: base.wrapping_offset(displacement), elements: count, datatype }
    }
}

/// Memory with the datatype of its elements.
#[derive(Clone, Copy)]
pub struct Array<'a> {
    /// Address of the first element in MPI's sense: data may begin before or behind it.
    pub base: *mut u8,
    pub datatype: &'a rustcoll_datatype,
}

/// Consecutive elements of one datatype in memory.
#[derive(Clone, Copy)]
pub struct Span {
    /// Address of the first element.
    pub address: *mut u8,
    pub elements: usize,
    pub datatype: rustcoll_datatype,
}

impl<'a> Array<'a> {
    /// Returns the address and the datatype of an element; `offset` counts elements.
    #[inline]
    pub fn element(&self, offset: usize) -> (*mut u8, &'a rustcoll_datatype) {
        (self.base.wrapping_offset(offset as isize * self.datatype.extent), self.datatype)
    }

    /// Returns `elements` elements from `offset` on.
    pub fn span(&self, offset: usize, elements: usize) -> Span {
        let (address, &datatype) = self.element(offset);
        Span { address, elements, datatype }
    }
}

impl Span {
    /// Bytes of data.
    pub fn bytes(&self) -> usize {
        self.elements * self.datatype.size
    }

    /// Returns as many of the elements as have at most `bytes` bytes of data.
    pub fn cut(self, bytes: usize) -> Span {
        match self.bytes() > bytes {
            true => Span { elements: bytes / self.datatype.size, ..self },
            false => self,
        }
    }

    /// Address of the first byte of data, if elements have no gaps.
    pub fn data(&self) -> *mut u8 {
        self.address.wrapping_offset(self.datatype.true_lb)
    }
}

/// Plain bytes as a datatype.
pub fn bytes() -> rustcoll_datatype {
    // SAFETY: returns the address of a data object of MPI.
    let handle = unsafe { rustcoll_shim_byte() };
    rustcoll_datatype { handle, size: 1, extent: 1, true_lb: 0, true_extent: 1, contiguous: 1 }
}

/// 64-bit numbers as a datatype.
pub fn numbers() -> rustcoll_datatype {
    // SAFETY: as for bytes.
    let handle = unsafe { rustcoll_shim_number() };
    rustcoll_datatype { handle, size: 8, extent: 8, true_lb: 0, true_extent: 8, contiguous: 1 }
}

/// The operator for the maximum of two numbers.
pub fn maximum() -> rustcoll_operator {
    // SAFETY: as for bytes.
    rustcoll_operator { handle: unsafe { rustcoll_shim_maximum() }, commutative: 1, predefined: 1 }
}

/// The operator for the bitwise or.
pub fn union() -> rustcoll_operator {
    // SAFETY: as for bytes.
    rustcoll_operator { handle: unsafe { rustcoll_shim_union() }, commutative: 1, predefined: 1 }
}

/// Whether an error is only about data that were delivered in part or not at all. A call with such an error
/// ran to its end, as on the other ranks.
pub fn is_of_data(error: Error) -> bool {
    [RUSTCOLL_ERR_TRUNCATE, RUSTCOLL_ERR_UNREAD].contains(&error)
}

/// Turns a status into a result.
pub fn check(status: c_int) -> Result<(), Error> {
    if status == RUSTCOLL_SUCCESS { Ok(()) } else { Err(status) }
}

/// Turns a result into a status.
pub fn status(result: Result<(), Error>) -> c_int {
    result.err().unwrap_or(RUSTCOLL_SUCCESS)
}

/// Copies elements to others. Fails with `RUSTCOLL_ERR_TRUNCATE` if those hold fewer bytes of data.
///
/// # Safety
/// Both spans lie within memory that is valid for reading and writing, and do not overlap unless they are the same.
pub unsafe fn copy(source: Span, target: Span) -> Result<(), Error> {
    if source.bytes() > target.bytes() {
        return Err(RUSTCOLL_ERR_TRUNCATE);
    }
    if source.datatype.contiguous != 0 && target.datatype.contiguous != 0 {
        // SAFETY: by this function's contract; without gaps an element's data is `size` consecutive bytes.
        unsafe { copy_bytes(source.data(), target.data(), source.bytes()) };
        return Ok(());
    }
    // SAFETY: by this function's contract.
    unsafe { copy_by_mpi(source, target) }
}

/// Copies as [`copy`] does, but through MPI, which can handle gaps and device memory.
///
/// # Safety
/// As for [`copy`]; memory of a device is valid for MPI.
pub unsafe fn copy_by_mpi(source: Span, target: Span) -> Result<(), Error> {
    // SAFETY: by this function's contract; the shim writes only the data of the target's elements.
    check(unsafe {
        rustcoll_shim_copy(
            source.address.cast(),
            source.elements,
            source.datatype.handle,
            target.address.cast(),
            target.elements,
            target.datatype.handle,
        )
    })
}

/// The slots of a plan, and the lane memory that holds them.
pub struct Shared<'a> {
    pub lane_memory: &'a mut LaneMemory,
    /// The layout of the slots in the lane memory.
    pub slots: Slots,
    /// The datatype of an element in a slot.
    pub datatype: &'a rustcoll_datatype,
}

/// Bytes packed at a time in copies between elements that both have gaps, and from lent blocks to elements with gaps.
const PACKED: usize = 8 << 10;

/// `bytes` consecutive bytes of data of elements that may have gaps. They begin at byte `first` of the
/// element at `base`.
struct Window<'a> {
    base: *mut u8,
    datatype: &'a rustcoll_datatype,
    first: usize,
    bytes: usize,
}

/// The transport of one rank in one collective.
pub struct Messages<'a> {
    pub channel: &'a Channel,
    pub send: &'a Side,
    pub recv: &'a Side,
    pub scratch: Array<'a>,
    /// Memory behind the scratch buffer, for the result of a reduction into its left operand.
    pub spare: Array<'a>,
    /// Memory in which messages are packed.
    pub staging: Array<'a>,
    /// The shared memory of the node, if the plan has slots.
    pub shared: Option<Shared<'a>>,
    /// Whether regions of the caller's buffers count bytes of data, not elements.
    pub is_in_bytes: bool,
    /// Never applied if the collective does not reduce.
    pub operator: &'a rustcoll_operator,
    /// A request for each post; null if the post is not in flight.
    pub requests: &'a mut [*mut c_void],
    /// The first error about data alone: something was longer than its place, so that only its beginning was
    /// delivered, or could not be copied. The call returns the error only at its end: other ranks may wait
    /// for data through this one, and its messages must not meet the next collective.
    pub flaw: &'a mut Option<Error>,
    pub lending: Lending<'a>,
}

/// What this rank lends.
pub struct Lending<'a> {
    pub plan: &'a Plan,
    /// Memory for copies that are lent instead.
    pub copies: &'a mut Arena,
    /// Whether the system can copy from all that the plan lends; `None` until the rank has asked the system in this call.
    pub is_readable: &'a mut Option<bool>,
}

impl<'a> Window<'a> {
    /// Returns `bytes` bytes, from byte `offset` of the window on.
    fn part(&self, offset: usize, bytes: usize) -> Window<'a> {
        let Window { base, datatype, first, .. } = *self;
        let elements = (first + offset) / datatype.size;
        let base = base.wrapping_offset(elements as isize * datatype.extent);
        Window { base, datatype, first: (first + offset) % datatype.size, bytes }
    }

    /// # Safety
    /// The window lies within valid memory, and `packed` has room for its bytes.
    unsafe fn pack(&self, packed: *mut u8) -> Result<(), Error> {
        let Window { base, datatype, first, bytes } = *self;
        // SAFETY: by this function's contract.
        check(unsafe { rustcoll_shim_pack(base.cast(), datatype.handle, first, bytes, packed.cast()) })
    }

    /// # Safety
    /// As for [`Window::pack`], but `packed` holds the window's bytes.
    unsafe fn unpack(&self, packed: *const u8) -> Result<(), Error> {
        let Window { base, datatype, first, bytes } = *self;
        // SAFETY: by this function's contract.
        check(unsafe { rustcoll_shim_unpack(packed.cast(), bytes, base.cast(), datatype.handle, first) })
    }
}

impl Messages<'_> {
    /// Returns address, number and datatype of a region's elements.
    #[inline(always)]
    fn elements(&self, region: Region) -> (*mut u8, usize, &rustcoll_datatype) {
        let place = match region.memory {
            Memory::Buffer(Buffer::Send) if self.is_in_bytes => return self.bytes_of(self.send, region),
            Memory::Buffer(Buffer::Recv) if self.is_in_bytes => return self.bytes_of(self.recv, region),
            Memory::Buffer(Buffer::Send) => return self.send.elements_at(region.offset, region.elements),
            Memory::Buffer(Buffer::Recv) => return self.recv.elements_at(region.offset, region.elements),
            Memory::Buffer(Buffer::Scratch) => self.scratch,
            Memory::Buffer(Buffer::Shared(owner)) => {
                let Shared { lane_memory, datatype, .. } = self.shared();
                return (lane_memory.slot(owner, region.offset), region.elements, datatype);
            }
            Memory::Staging => self.staging,
        };
        let (address, datatype) = place.element(region.offset);
        (address, region.elements, datatype)
    }

    #[inline]
    fn shared(&self) -> &Shared<'_> {
        self.shared.as_ref().expect("plans with slots have lane memory")
    }

    #[inline]
    fn lane_memory(&self) -> &LaneMemory {
        self.shared().lane_memory
    }

    #[inline]
    fn lane_memory_mut(&mut self) -> &mut LaneMemory {
        &mut *self.shared.as_mut().expect("plans with slots have lane memory").lane_memory
    }

    /// Returns what [`Messages::elements`] does, for bytes of a caller's buffer without gaps.
    fn bytes_of<'a>(&'a self, side: &'a Side, region: Region) -> (*mut u8, usize, &'a rustcoll_datatype) {
        let start = side.base().wrapping_offset(side.datatype().true_lb);
        (start.wrapping_add(region.offset), region.elements, self.staging.datatype)
    }

    /// Returns the bytes of a region of the caller's, if the region counts bytes and elements have gaps.
    fn window(&self, region: Region) -> Option<Window<'_>> {
        let side = match region.memory {
            Memory::Buffer(Buffer::Send) => self.send,
            Memory::Buffer(Buffer::Recv) => self.recv,
            _ => return None,
        };
        let datatype = side.datatype();
        let start = Window { base: side.base(), datatype, first: 0, bytes: 0 };
        (self.is_in_bytes && datatype.contiguous == 0).then(|| start.part(region.offset, region.elements))
    }

    /// Copies bytes between two regions of which at least one has gaps.
    #[cold]
    fn copy_windows(&mut self, source: Region, target: Region) -> Result<(), Error> {
        let bytes = source.elements.min(target.elements);
        self.note_truncated(source.elements > bytes);
        let part =
            |region: Region, offset, elements| Region { offset: region.offset + offset, elements, ..region };
        let plain = |region| self.span(region).address;
        let (whole_source, whole_target) = (part(source, 0, bytes), part(target, 0, bytes));
        match (self.window(whole_source), self.window(whole_target)) {
            // SAFETY: the regions lie within the caller's buffers or slots, and are as long as what is copied.
            (Some(window), None) => unsafe { window.pack(plain(target)) },
            // SAFETY: as above.
            (None, Some(window)) => unsafe { window.unpack(plain(source)) },
            _ => (0..bytes).step_by(PACKED).try_for_each(|offset| {
                let mut packed = [0; PACKED];
                let elements = PACKED.min(bytes - offset);
                let windows = [source, target].map(|region| self.window(part(region, offset, elements)));
                let [Some(source), Some(target)] = windows else { return Err(RUSTCOLL_ERR_INTERN) };
                // SAFETY: as above.
                unsafe {
                    source.pack(packed.as_mut_ptr())?;
                    target.unpack(packed.as_ptr())
                }
            }),
        }
    }

    /// Computes `target = left ⊕ right` by an MPI operator of three buffers; returns whether there is one. If
    /// an operand is a NaN, its bits may differ from those of an operator of two buffers. So it serves only
    /// reductions that read a slot, on all ranks alike.
    fn reduce_apart(&mut self, left: Region, right: Region, target: Region) -> bool {
        if !(is_slot(left) || is_slot(right)) {
            return false;
        }
        let ((left, ..), (right, ..)) = (self.handles(left), self.handles(right));
        let (result, elements, datatype) = self.handles(target);
        // SAFETY: the regions lie within buffers of the reduction's datatype and are apart, as verified schedules guarantee.
        unsafe {
            rustcoll_shim_reduce_apart(self.operator.handle, left, right, result, elements, datatype) != 0
        }
    }

    /// Returns what [`Messages::elements`] does, as MPI's functions take it.
    #[inline]
    fn handles(&self, region: Region) -> (*mut c_void, usize, *const c_void) {
        let (address, elements, datatype) = self.elements(region);
        (address.cast(), elements, datatype.handle)
    }

    /// Returns where a region's data begin, and how many bytes they have, unless its elements have gaps.
    #[inline]
    fn plain(&self, region: Region) -> Option<(*mut u8, usize)> {
        let (address, elements, datatype) = self.elements(region);
        let plain = (address.wrapping_offset(datatype.true_lb), elements * datatype.size);
        (datatype.contiguous != 0).then_some(plain)
    }

    fn span(&self, region: Region) -> Span {
        let (address, elements, &datatype) = self.elements(region);
        Span { address, elements, datatype }
    }

    /// Computes `left = left ⊕ right` in a copy of the right operand: MPI's operators overwrite their right
    /// operand, but `right` must not change.
    fn reduce_into_left(&mut self, left: Span, right: Span) -> Result<(), Error> {
        let copied = self.spare.span(0, left.elements);
        // SAFETY: the regions lie within their buffers, the copy within the spare memory.
        unsafe {
            copy(right, copied)?;
            let (operand, result) = (left.address.cast(), copied.address.cast());
            rustcoll_shim_reduce(self.operator.handle, operand, result, left.elements, left.datatype.handle);
            copy(copied, left)
        }
    }

    /// Returns the owner of a region's slot, if the slot holds the place of a lent block.
    #[inline]
    fn lender(&self, region: Region) -> Option<u32> {
        match (region.memory, &self.shared) {
            (Memory::Buffer(Buffer::Shared(owner)), Some(Shared { slots: Slots::Lent, .. })) => Some(owner),
            _ => None,
        }
    }

    /// Copies a block that a rank lends. Notes a failed copy as a flaw, unless a process has failed.
    fn copy_lent(&mut self, owner: u32, slot: usize, target: Region) -> Result<(), Error> {
        if let Err(error) = self.try_to_copy_lent((owner, slot), target)? {
            if self.flaw.is_none() {
                self.lane_memory().learn_of_failure()?;
            }
            log::error!("cannot copy from the memory of rank {owner}: {error}");
            self.flaw.get_or_insert(RUSTCOLL_ERR_UNREAD);
        }
        Ok(())
    }

    /// Copies a lent block. The inner result tells whether it could be read.
    fn try_to_copy_lent(&mut self, place: (u32, usize), target: Region) -> Result<io::Result<()>, Error> {
        let all = match self.lane_memory().lent(place.0, place.1) {
            Ok(all) => all,
            Err(error) => return Ok(Err(error)),
        };
        let lent = all.part(0, self.span(target).bytes().min(all.bytes as usize));
        self.note_truncated(lent != all);
        match self.gaps(target) {
            Some(window) => self.unpack_lent(place, lent, &window),
            // SAFETY: the target lies within a buffer, and is at least as long as what is copied.
            None => Ok(unsafe { self.lane_memory().copy_lent(place, lent, self.span(target).data()) }),
        }
    }

    /// Copies a lent block, part by part, to elements that have gaps. The inner result tells whether it could be read.
    fn unpack_lent(&self, place: (u32, usize), lent: Lent, target: &Window) -> Result<io::Result<()>, Error> {
        let bytes = lent.bytes as usize;
        for first in (0..bytes).step_by(PACKED) {
            let mut packed = [0; PACKED];
            let part = target.part(first, PACKED.min(bytes - first));
            // SAFETY: `packed` has room for the part, and the part lies within the target.
            unsafe {
                let lent = lent.part(first, part.bytes);
                let copied = self.lane_memory().copy_lent(place, lent, packed.as_mut_ptr());
                if copied.is_err() {
                    return Ok(copied);
                }
                part.unpack(packed.as_ptr())?;
            }
        }
        Ok(Ok(()))
    }

    /// Returns where the bytes of a region are that can be lent itself, if the system can copy from there.
    fn original(&self, region: Region, copy: LentCopy) -> Option<Range<usize>> {
        let is_usable = self.gaps(region).is_none() && !copy.is_needed;
        let start = self.span(region).data().addr();
        is_usable.then(|| start..start + copy.bytes)
    }

    /// Whether the system can copy from a part of what is lent. The first time, asks about all that the plan lends at once,
    /// because each question is a call of the system.
    fn is_readable(&mut self, part: Range<usize>) -> bool {
        let is_all_readable = self.lending.is_readable.unwrap_or_else(|| {
            let lendings = self.lending.plan.lendings();
            are_readable(lendings.filter_map(|(region, copy)| self.original(region, copy)))
        });
        *self.lending.is_readable = Some(is_all_readable);
        is_all_readable || are_readable([part])
    }

    /// Makes a copy of a region, to lend it in place of the region. Returns the copy's address.
    fn copy_to_lend(&mut self, region: Region, copy: LentCopy) -> Result<*mut u8, Error> {
        let Lending { plan, copies, .. } = &mut self.lending;
        let start = copies.at_least(plan.lent_bytes).map_err(|_| RUSTCOLL_ERR_NO_MEM)?;
        let copied = start.wrapping_add(copy.start);
        // SAFETY: the region lies within a buffer, and the memory has room for copies of all that is lent.
        unsafe {
            match self.gaps(region) {
                Some(window) => window.pack(copied)?,
                None => copy_bytes(self.span(region).data(), copied, copy.bytes),
            }
        }
        Ok(copied)
    }

    /// Returns a region's bytes of data, if its elements have gaps.
    fn gaps(&self, region: Region) -> Option<Window<'_>> {
        let (base, elements, datatype) = self.elements(region);
        let bytes = elements * datatype.size;
        let of_elements = (datatype.contiguous == 0).then_some(Window { base, datatype, first: 0, bytes });
        self.window(region).or(of_elements)
    }

    /// Notes a flaw if something was longer than its place.
    #[inline]
    fn note_truncated(&mut self, is_truncated: bool) {
        if is_truncated {
            self.flaw.get_or_insert(RUSTCOLL_ERR_TRUNCATE);
        }
    }

    /// Turns a transfer's status into a result. A truncation is only noted, because it does not end a collective.
    #[inline]
    fn note(&mut self, status: c_int) -> Result<(), Error> {
        if status == RUSTCOLL_ERR_TRUNCATE {
            self.note_truncated(true);
            return Ok(());
        }
        check(status)
    }

    /// Logs a post.
    #[inline]
    fn trace(&self, what: &str, peer: u32, Region { memory, offset, elements }: Region) {
        let rank = self.channel.rank;
        log::trace!("rank {rank} {what} rank {peer}: {elements} elements at {offset} of {memory:?}");
    }

    /// Stops using the slots, after a call without an error.
    #[inline]
    pub fn leave(&mut self) {
        if let Some(Shared { lane_memory, slots, .. }) = &mut self.shared {
            lane_memory.leave(*slots);
        }
    }
}

/// Whether a region lies in memory that ranks share.
fn is_slot(region: Region) -> bool {
    matches!(region.memory, Memory::Buffer(Buffer::Shared(_)))
}

impl Transport for Messages<'_> {
    type Error = Error;

    fn send(&mut self, post: Post, peer: u32, region: Region) -> Result<(), Error> {
        self.trace("sends to", peer, region);
        let (address, elements, datatype) = self.handles(region);
        let (route, rank) = self.channel.to(peer);
        let request = &mut self.requests[post as usize];
        // SAFETY: the region stays valid until the post is complete: the schedule waits for it before the
        // collective ends. The place of the request outlives the request.
        check(unsafe {
            rustcoll_shim_send(address, elements, datatype, rank, route.tag, route.communicator, request)
        })
    }

    fn receive(&mut self, post: Post, peer: u32, region: Region) -> Result<(), Error> {
        self.trace("receives from", peer, region);
        let (address, elements, datatype) = self.handles(region);
        let (route, rank) = self.channel.to(peer);
        let request = &mut self.requests[post as usize];
        // SAFETY: as for sends.
        check(unsafe {
            rustcoll_shim_receive(address, elements, datatype, rank, route.tag, route.communicator, request)
        })
    }

    // A post that blocks at once needs no request.

    fn send_and_wait(&mut self, _: Post, peer: u32, region: Region) -> Result<(), Error> {
        self.trace("sends to", peer, region);
        let (address, elements, datatype) = self.handles(region);
        let (route, rank) = self.channel.to(peer);
        // SAFETY: the region lies in memory that is valid for reading.
        let status = unsafe {
            rustcoll_shim_send_and_wait(address, elements, datatype, rank, route.tag, route.communicator)
        };
        self.note(status)
    }

    fn receive_and_wait(&mut self, _: Post, peer: u32, region: Region) -> Result<(), Error> {
        self.trace("receives from", peer, region);
        let (address, elements, datatype) = self.handles(region);
        let (route, rank) = self.channel.to(peer);
        // SAFETY: the region lies in memory that is valid for writing.
        let status = unsafe {
            rustcoll_shim_receive_and_wait(address, elements, datatype, rank, route.tag, route.communicator)
        };
        self.note(status)
    }

    fn wait(&mut self, posts: &[Post]) -> Result<(), Error> {
        for &post in posts {
            let request = &mut self.requests[post as usize];
            if !request.is_null() {
                // SAFETY: the request is in flight; the shim sets its place to null.
                let status = unsafe { rustcoll_shim_wait(request) };
                self.note(status)?;
            }
        }
        Ok(())
    }

    fn test(&mut self, posts: &[Post]) -> Result<bool, Error> {
        for &post in posts {
            let request = &mut self.requests[post as usize];
            let mut error = RUSTCOLL_SUCCESS;
            // SAFETY: as for waiting.
            if !request.is_null() && unsafe { rustcoll_shim_test(request, &mut error) } == 0 {
                return Ok(false);
            }
            self.note(error)?;
        }
        Ok(true)
    }

    fn copy(&mut self, source: Region, target: Region) -> Result<(), Error> {
        if let Some(owner) = self.lender(source) {
            return self.copy_lent(owner, source.offset, target);
        }
        if self.is_in_bytes && (self.window(source).is_some() || self.window(target).is_some()) {
            return self.copy_windows(source, target);
        }
        if let (Some((from, bytes)), Some((to, room))) = (self.plain(source), self.plain(target))
            && bytes <= room
        {
            let is_long_in_slot = bytes >= slot_writer::LEAST && is_slot(target);
            // SAFETY: as for the copy below.
            unsafe {
                match is_long_in_slot {
                    true => self.lane_memory_mut().writer.write(from, to, bytes),
                    false => copy_bytes(from, to, bytes),
                }
            }
            return Ok(());
        }
        let (source, target) = (self.span(source), self.span(target));
        self.note_truncated(source.bytes() > target.bytes());
        // SAFETY: verified schedules copy between different blocks, and the binding keeps blocks within their buffers.
        unsafe { copy(source.cut(target.bytes()), target) }
    }

    fn reduce(&mut self, left: Region, right: Region, target: Region) -> Result<(), Error> {
        if target != right {
            if target == left {
                return self.reduce_into_left(self.span(left), self.span(right));
            }
            if self.reduce_apart(left, right, target) {
                return Ok(());
            }
            self.copy(right, target)?;
        }
        let (operand, ..) = self.handles(left);
        let (result, elements, datatype) = self.handles(target);
        // SAFETY: the regions lie within buffers of the reduction's datatype and are equal or apart, as verified
        // schedules guarantee.
        unsafe {
            rustcoll_shim_reduce(self.operator.handle, operand, result, elements, datatype);
        }
        Ok(())
    }

    fn lend(&mut self, region: Region, slot: u32, copy: LentCopy) -> Result<(), Error> {
        let address = match self.original(region, copy) {
            Some(original) if self.is_readable(original.clone()) => original.start,
            _ => self.copy_to_lend(region, copy)?.addr(),
        };
        self.lane_memory().lend(slot, Lent { address: address as u64, bytes: copy.bytes as u64 });
        Ok(())
    }

    #[inline]
    fn notify(&mut self, slot: u32) -> Result<(), Error> {
        self.lane_memory_mut().notify(slot);
        Ok(())
    }

    fn is_notified(&mut self, rank: u32, slot: u32, times: u32) -> Result<bool, Error> {
        Ok(self.lane_memory_mut().is_notified(rank, slot, times))
    }

    #[inline]
    fn await_notification(&mut self, rank: u32, slot: u32, times: u32) -> Result<(), Error> {
        self.lane_memory().await_notification(rank, slot, times)
    }

    fn are_slots_free(&mut self) -> Result<bool, Error> {
        Ok(self.lane_memory_mut().are_slots_free())
    }

    #[inline]
    fn await_free_slots(&mut self) -> Result<(), Error> {
        self.lane_memory_mut().await_free_slots()
    }

    #[inline]
    fn end_stripe(&mut self) {
        if let Some(Shared { lane_memory, slots, .. }) = &mut self.shared {
            lane_memory.end_stripe(*slots);
        }
    }
}
