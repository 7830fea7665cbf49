//! The transport over Open MPI's point-to-point layer, the PML.

use super::bindings::*;
use crate::engine::{Memory, Region, Transport};
use crate::schedule::Post;
use std::ffi::{c_int, c_void};
use std::ptr;

/// An MPI error code, or a negative one of Open MPI's own.
pub type Error = c_int;

/// Memory with the datatype of its elements.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Address of the first element, as MPI means it: data may begin before or behind it.
    pub base: *mut u8,
    /// What an element is.
    pub datatype: &'a rustcoll_datatype,
}

impl Place<'_> {
    fn element(&self, offset: usize) -> *mut u8 {
        self.base.wrapping_offset(offset as isize * self.datatype.extent)
    }

    /// The first byte of an element's data, where elements have no gaps.
    pub fn data(&self, offset: usize) -> *mut u8 {
        self.element(offset).wrapping_offset(self.datatype.true_lb)
    }
}

/// Plain bytes as a datatype.
pub fn bytes() -> rustcoll_datatype {
    // SAFETY: returns the address of a data object of Open MPI.
    let handle = unsafe { rustcoll_shim_byte() };
    rustcoll_datatype { handle, size: 1, extent: 1, true_lb: 0, true_extent: 1, contiguous: 1 }
}

/// Turns a status into a result.
pub fn check(status: c_int) -> Result<(), Error> {
    if status == MPI_SUCCESS { Ok(()) } else { Err(status) }
}

/// Turns a result into a status.
pub fn status(result: Result<(), Error>) -> c_int {
    result.err().unwrap_or(MPI_SUCCESS)
}

/// Copies elements of one place to another that hold as many bytes of data.
///
/// # Safety
/// Both ranges of elements lie within memory that is valid for reading and writing, and do not overlap unless they
/// are the same.
pub unsafe fn copy(
    source: &Place,
    (source_offset, source_elements): (usize, usize),
    target: &Place,
    (target_offset, target_elements): (usize, usize),
) -> Result<(), Error> {
    if source.datatype.contiguous != 0 && target.datatype.contiguous != 0 {
        let (from, to) = (source.data(source_offset), target.data(target_offset));
        if from != to {
            let bytes = source_elements * source.datatype.size;
            debug_assert_eq!(bytes, target_elements * target.datatype.size);
            // SAFETY: by this function's contract; without gaps an element's data is `size` consecutive bytes.
            unsafe { ptr::copy_nonoverlapping(from, to, bytes) };
        }
        return Ok(());
    }
    // SAFETY: by this function's contract; the shim writes only the data of the target's elements.
    check(unsafe {
        rustcoll_shim_copy(
            source.element(source_offset).cast(),
            source_elements,
            source.datatype.handle,
            target.element(target_offset).cast(),
            target_elements,
            target.datatype.handle,
        )
    })
}

/// One rank's side of one collective.
pub struct Pml<'a> {
    /// The communicator's handle.
    pub communicator: *const c_void,
    /// The collective's tag.
    pub tag: c_int,
    /// Send, receive and scratch buffer, in the order of [`crate::schedule::Buffer::ALL`].
    pub buffers: [Place<'a>; 3],
    /// Where messages are packed.
    pub staging: Place<'a>,
    /// The operator; none that is ever applied, where nothing is reduced.
    pub operator: &'a rustcoll_operator,
    /// A request for each post; null while it is not outstanding.
    pub requests: &'a mut [*mut c_void],
}

impl<'a> Pml<'a> {
    fn place(&self, memory: Memory) -> &Place<'a> {
        match memory {
            Memory::Buffer(buffer) => &self.buffers[buffer as usize],
            Memory::Staging => &self.staging,
        }
    }

    /// Address of a region's first element.
    fn address(&self, region: Region) -> *mut c_void {
        self.place(region.memory).element(region.offset).cast()
    }

    /// Address, datatype and slot for the request of a new post.
    fn post(&mut self, post: Post, region: Region) -> (*mut c_void, *const c_void, *mut *mut c_void) {
        let datatype = self.place(region.memory).datatype.handle;
        (self.address(region), datatype, &mut self.requests[post as usize])
    }

    /// `left = left ⊕ right`: MPI's operators leave the result where the right operand was, which must not change.
    fn reduce_into_left(&mut self, left: Region, right: Region) -> Result<(), Error> {
        let (left_place, right_place) = (self.place(left.memory), self.place(right.memory));
        let (elements, datatype) = (left.elements, left_place.datatype);
        let mut memory = super::memory::Memory::default();
        let copied = memory.place(elements, datatype).map_err(|_| MPI_ERR_NO_MEM)?;
        // SAFETY: the regions lie within their buffers, the copy within its own memory.
        unsafe {
            copy(right_place, (right.offset, elements), &copied, (0, elements))?;
            let (operand, result) = (self.address(left), copied.base.cast());
            rustcoll_shim_reduce(self.operator.handle, operand, result, elements, datatype.handle);
            copy(&copied, (0, elements), left_place, (left.offset, elements))
        }
    }

    /// Gives up everything that is outstanding, after an error. Says whether there was anything.
    pub fn abandon(&mut self) -> bool {
        let mut any = false;
        for request in self.requests.iter_mut().filter(|request| !request.is_null()) {
            // SAFETY: the request is outstanding and its slot is ours.
            unsafe { rustcoll_shim_abandon(request) };
            any = true;
        }
        any
    }
}

impl Transport for Pml<'_> {
    type Error = Error;

    fn send(&mut self, post: Post, peer: u32, region: Region) -> Result<(), Error> {
        log::trace!(
            "send {} elements at {} of {:?} to {peer}",
            region.elements,
            region.offset,
            region.memory
        );
        let (tag, communicator) = (self.tag, self.communicator);
        let (address, datatype, request) = self.post(post, region);
        // SAFETY: the region lies in memory that stays valid until the post was waited for, as the schedule does
        // before the collective returns; the slot outlives the request.
        check(unsafe {
            rustcoll_shim_send(address, region.elements, datatype, peer as c_int, tag, communicator, request)
        })
    }

    fn receive(&mut self, post: Post, peer: u32, region: Region) -> Result<(), Error> {
        log::trace!(
            "receive {} elements at {} of {:?} from {peer}",
            region.elements,
            region.offset,
            region.memory
        );
        let (tag, communicator) = (self.tag, self.communicator);
        let (address, datatype, request) = self.post(post, region);
        // SAFETY: as for sends.
        check(unsafe {
            rustcoll_shim_receive(
                address,
                region.elements,
                datatype,
                peer as c_int,
                tag,
                communicator,
                request,
            )
        })
    }

    fn wait(&mut self, posts: &[Post]) -> Result<(), Error> {
        for &post in posts {
            let request = &mut self.requests[post as usize];
            if !request.is_null() {
                // SAFETY: the request is outstanding; the shim sets its slot to null.
                check(unsafe { rustcoll_shim_wait(request) })?;
            }
        }
        Ok(())
    }

    fn test(&mut self, posts: &[Post]) -> Result<bool, Error> {
        self.wait(posts).map(|()| true)
    }

    fn copy(&mut self, source: Region, target: Region) -> Result<(), Error> {
        let ranges = ((source.offset, source.elements), (target.offset, target.elements));
        // SAFETY: verified schedules copy between different blocks, and the binding keeps blocks within their buffers.
        unsafe { copy(self.place(source.memory), ranges.0, self.place(target.memory), ranges.1) }
    }

    fn reduce(&mut self, left: Region, right: Region, target: Region) -> Result<(), Error> {
        if target == left {
            return self.reduce_into_left(left, right);
        }
        if target != right {
            // Open MPI's operators of three buffers do not give the same bits as those of two, where a NaN is an operand.
            self.copy(right, target)?;
        }
        let datatype = self.place(target.memory).datatype.handle;
        let (operand, result) = (self.address(left), self.address(target));
        // SAFETY: the regions lie within buffers of the reduction's datatype and are equal or apart, as verified
        // schedules guarantee.
        unsafe { rustcoll_shim_reduce(self.operator.handle, operand, result, target.elements, datatype) };
        Ok(())
    }
}
