//! The arguments of a collective as the shim hands them over, read once for each call.

use super::planning::Refusal;
use crate::algorithms::Collective;
use crate::engine::Counts;
use crate::mpi::messages::transport::{Span, TypedBlock, bytes};
use crate::mpi::shim::bindings::*;
use crate::selection::Measure;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

/// One buffer of a call.
pub struct Side {
    base: *mut u8,
    datatype: rustcoll_datatype,
    blocks: Option<Box<[TypedBlock]>>,
    pub counts: Counts,
}

impl Side {
    /// Returns the side of a buffer that the call does not have.
    pub fn none() -> Side {
        Side { base: ptr::null_mut(), datatype: bytes(), blocks: None, counts: Counts::NONE }
    }

    /// Returns a buffer of `count` elements of a datatype.
    pub fn elements(base: *mut u8, count: usize, datatype: rustcoll_datatype) -> Side {
        let counts = Counts::One { count, bytes: datatype.size };
        Side { base, datatype, blocks: None, counts }
    }

    /// Returns the same data as bytes without gaps, at another address.
    pub fn packed(&self, base: *mut u8) -> Side {
        Side { base, datatype: bytes(), blocks: None, counts: self.counts.in_packed_bytes() }
    }

    /// Like `span_from`, as address, number of elements and datatype.
    #[inline]
    pub fn elements_at(&self, offset: usize, elements: usize) -> (*mut u8, usize, &rustcoll_datatype) {
        match &self.blocks {
            None => {
                (self.base.wrapping_offset(offset as isize * self.datatype.extent), elements, &self.datatype)
            }
            Some(blocks) => {
                let TypedBlock { displacement, count, datatype } = &blocks[offset];
                (self.base.wrapping_offset(*displacement), *count, datatype)
            }
        }
    }

    /// The datatype of the elements; bytes where each block has a datatype of its own.
    pub fn datatype(&self) -> &rustcoll_datatype {
        &self.datatype
    }

    /// Whether the call does not have the buffer.
    pub fn is_none(&self) -> bool {
        self.counts == Counts::NONE
    }

    /// Returns the first `elements` elements, whatever the counts say.
    pub fn span(&self, elements: usize) -> Span {
        Span { address: self.base, elements, datatype: self.datatype }
    }

    /// Returns the spans that hold data. A buffer with one count has `blocks` blocks of that length.
    pub fn spans(&self, blocks: usize) -> Vec<Span> {
        let mut spans = match (&self.blocks, &self.counts) {
            (Some(each), _) => each.iter().map(|block| block.span(self.base)).collect(),
            (None, Counts::Each { places, .. }) => {
                places.iter().map(|&(offset, elements)| self.span_from(offset, elements)).collect()
            }
            (None, Counts::One { count, .. }) => vec![self.span(count * blocks)],
            (None, Counts::Typed { .. }) => unreachable!("such blocks have datatypes"),
        };
        spans.retain(|span: &Span| span.bytes() > 0);
        spans
    }

    /// Returns `elements` elements from `offset` on; where each block has a datatype of its own, block `offset`.
    pub fn span_from(&self, offset: usize, elements: usize) -> Span {
        let (address, elements, &datatype) = self.elements_at(offset, elements);
        Span { address, elements, datatype }
    }

    /// The address from which offsets count. With negative displacements it is below the caller's address.
    pub fn base(&self) -> *mut u8 {
        self.base
    }

    /// Moves the side to another address; its counts stay.
    pub fn move_to(&mut self, base: *mut u8) {
        self.base = base;
    }

    /// Returns the data as plain bytes, if the elements have no gaps.
    pub fn as_bytes(&self) -> Option<Side> {
        let data = self.base.wrapping_offset(self.datatype.true_lb);
        (self.datatype.contiguous != 0).then(|| Side::elements(data, self.counts.bytes(), bytes()))
    }

    fn has_negative_count(&self) -> bool {
        // The counts are the caller's signed numbers, cast to unsigned ones.
        let is_negative = |count: usize| count > isize::MAX as usize;
        match (&self.blocks, &self.counts) {
            (Some(blocks), _) => blocks.iter().any(|block| is_negative(block.count)),
            (None, Counts::Each { places, .. }) => places.iter().any(|&(_, elements)| is_negative(elements)),
            (None, Counts::One { count, .. }) => is_negative(*count),
            (None, Counts::Typed { .. }) => false,
        }
    }

    /// # Safety
    /// The side comes from the shim. Its pointers are NULL or valid, and its arrays have `blocks` elements.
    #[inline]
    unsafe fn read(side: &rustcoll_side, blocks: usize) -> Side {
        let base = side.buffer.cast_mut().cast::<u8>();
        // SAFETY: by this function's contract.
        unsafe {
            // Most calls are of this form, and so is every short call that must be fast.
            if !side.datatype.is_null() && side.counts.values.is_null() {
                return Side::elements(base, side.count, *side.datatype);
            }
            if !side.datatypes.values.is_null() {
                return Side::of_blocks(base, side, blocks);
            }
            if side.datatype.is_null() {
                return Side::none();
            }
            let datatype = *side.datatype;
            let counts = numbers(side.counts, blocks);
            match side.displacements.values.is_null() {
                true => Side::consecutive(base, &counts, datatype),
                false => Side::placed(base, &counts, &numbers(side.displacements, blocks), datatype),
            }
        }
    }

    fn consecutive(base: *mut u8, counts: &[isize], datatype: rustcoll_datatype) -> Side {
        let starts = counts.iter().scan(0, |end, &count| {
            *end += count;
            Some(*end - count)
        });
        Side::placed(base, counts, &starts.collect::<Vec<_>>(), datatype)
    }

    /// Displacements may be negative. The base address is lowered so that offsets are not.
    fn placed(base: *mut u8, counts: &[isize], displacements: &[isize], datatype: rustcoll_datatype) -> Side {
        let lowest = displacements.iter().copied().min().unwrap_or(0).min(0);
        let place =
            |(&count, &displacement): (&isize, &isize)| ((displacement - lowest) as usize, count as usize);
        let places: Arc<[(usize, usize)]> = counts.iter().zip(displacements).map(place).collect();
        let counts = Counts::Each { places, bytes: datatype.size };
        Side { base: base.wrapping_offset(lowest * datatype.extent), datatype, blocks: None, counts }
    }

    /// # Safety
    /// As for [`Side::read`]; the side has `number` counts, displacements in bytes, and datatypes.
    unsafe fn of_blocks(base: *mut u8, side: &rustcoll_side, number: usize) -> Side {
        // SAFETY: by this function's contract.
        let (counts, displacements) =
            unsafe { (numbers(side.counts, number), numbers(side.displacements, number)) };
        let block = |index: usize| {
            let mut datatype = bytes();
            // SAFETY: by this function's contract there is a handle for each block.
            unsafe { rustcoll_shim_describe(handle(side.datatypes, index), &mut datatype) };
            TypedBlock { displacement: displacements[index], count: counts[index] as usize, datatype }
        };
        let blocks: Box<[TypedBlock]> = (0..number).map(block).collect();
        let counts = Counts::Typed { bytes: blocks.iter().map(TypedBlock::bytes).collect() };
        Side { base, datatype: bytes(), blocks: Some(blocks), counts }
    }
}

/// Returns a handle as the shim knows it: an address, even if MPI's handles are ints.
///
/// # Safety
/// The array is the shim's and holds a handle at the index.
pub unsafe fn handle(handles: rustcoll_handles, index: usize) -> *const c_void {
    // SAFETY: by this function's contract.
    unsafe {
        match handles.are_ints != 0 {
            true => ptr::without_provenance(*handles.values.cast::<i32>().add(index) as isize as usize),
            false => *handles.values.cast::<*const c_void>().add(index),
        }
    }
}

/// # Safety
/// The array is the shim's and holds `length` numbers. If `length` is 0 it may be NULL.
unsafe fn numbers(numbers: rustcoll_numbers, length: usize) -> Vec<isize> {
    // SAFETY: by this function's contract.
    (0..length).map(|index| unsafe { number(numbers, index) }).collect()
}

/// Returns a number of an array of `int` or `ptrdiff_t`.
///
/// # Safety
/// The array is the shim's and holds a number at the index.
pub unsafe fn number(numbers: rustcoll_numbers, index: usize) -> isize {
    // SAFETY: by this function's contract.
    unsafe {
        match numbers.are_wide != 0 {
            true => *numbers.values.cast::<isize>().add(index),
            false => *numbers.values.cast::<i32>().add(index) as isize,
        }
    }
}

/// The byte that the ranks of a barrier send each other; never written.
static TOKEN: u8 = 0;

pub struct Arguments {
    pub collective: Collective,
    /// Whether this rank passed `MPI_IN_PLACE`: its input is where the result goes.
    pub in_place: bool,
    /// The root, 0 where there is none.
    pub root: usize,
    /// Whether it is a call on an inter-communicator.
    has_two_groups: bool,
    pub send: Side,
    pub recv: Side,
    /// The operator. Collectives that reduce nothing have an operator that is never applied.
    pub operator: rustcoll_operator,
}

const NO_OPERATOR: rustcoll_operator =
    rustcoll_operator { handle: ptr::null(), commutative: 1, predefined: 1 };

impl Arguments {
    /// Returns an in-place allgather of `count` bytes from each rank, for the component's own use.
    pub fn allgather(all: *mut u8, count: usize) -> Arguments {
        Arguments {
            collective: Collective::Allgather,
            in_place: true,
            root: 0,
            has_two_groups: false,
            send: Side::none(),
            recv: Side::elements(all, count, bytes()),
            operator: NO_OPERATOR,
        }
    }

    /// Returns a broadcast of `count` bytes, for the component's own use.
    pub fn bcast(data: *mut u8, count: usize, root: usize) -> Arguments {
        Arguments {
            collective: Collective::Bcast,
            in_place: false,
            root,
            ..Arguments::allgather(data, count)
        }
    }

    /// Reads a call as the shim hands it over.
    ///
    /// # Safety
    /// The call comes from the shim. Where blocks have a count each, it has `sent` and `received` blocks.
    pub unsafe fn read(
        call: &rustcoll_call,
        (sent, received): (usize, usize),
        has_two_groups: bool,
    ) -> Arguments {
        let collective = Collective::ALL[call.collective as usize];
        // SAFETY: by this function's contract.
        let mut arguments = unsafe {
            Arguments {
                collective,
                in_place: call.in_place != 0,
                root: call.root as usize,
                has_two_groups,
                send: Side::read(&call.send, sent),
                recv: Side::read(&call.recv, received),
                operator: if call.operator_.is_null() { NO_OPERATOR } else { *call.operator_ },
            }
        };
        match arguments.collective {
            // Ranks may describe the same data differently, so data without gaps are counted in bytes.
            Collective::Bcast => {
                if let Some(plain) = arguments.recv.as_bytes() {
                    arguments.recv = plain;
                }
            }
            Collective::ReduceScatter | Collective::ReduceScatterBlock => {
                arguments.split_result(call.recv.count)
            }
            Collective::Barrier => arguments.send = Side::elements((&raw const TOKEN).cast_mut(), 1, bytes()),
            _ => {}
        }
        arguments
    }

    /// Returns the first stage of a call whose ranks exchange lengths: a maximum over `count` 64-bit numbers in place.
    pub fn of_numbers(numbers: *mut u64, count: usize) -> Arguments {
        Arguments {
            collective: Collective::Allreduce,
            in_place: true,
            root: 0,
            has_two_groups: false,
            send: Side::none(),
            recv: Side::elements(numbers.cast(), count, crate::mpi::messages::transport::numbers()),
            operator: crate::mpi::messages::transport::maximum(),
        }
    }

    /// Makes the whole vector, described at the receive buffer, the send side. `own`: elements of the result.
    fn split_result(&mut self, own: usize) {
        let input = if self.in_place { self.recv.base } else { self.send.base };
        let result = Side::elements(self.recv.base, own, self.recv.datatype);
        self.send = std::mem::replace(&mut self.recv, result);
        self.send.move_to(input);
    }

    /// Returns the elements of input to copy before the call: a reduce-scatter in place would overwrite them.
    pub fn copied_input(&self, size: usize) -> usize {
        match self.collective {
            Collective::ReduceScatter | Collective::ReduceScatterBlock if self.in_place => {
                self.input_elements(size)
            }
            _ => 0,
        }
    }

    /// Returns the most elements of input that a rank copies before the call, by what all ranks know: any rank may be in place.
    pub fn most_copied_input(&self, size: usize) -> usize {
        match self.collective {
            Collective::ReduceScatter => self.input_elements(size),
            _ => self.copied_input(size),
        }
    }

    /// Returns the elements of the whole input of a reduce-scatter.
    fn input_elements(&self, size: usize) -> usize {
        match &self.send.counts {
            Counts::Each { places, .. } => places.iter().map(|(_, elements)| elements).sum(),
            Counts::One { count, .. } => count * size,
            Counts::Typed { .. } => 0,
        }
    }

    /// Whether a broadcast's data must be packed, if its schedule cuts the vector.
    pub fn has_gaps(&self) -> bool {
        self.recv.datatype.contiguous == 0
    }

    /// Fails for a root beyond `ranks` or a negative count. Even an MPI that checks arguments lets some through.
    pub fn check(&self, ranks: usize) -> Result<(), Refusal> {
        let refusal = if self.has_two_groups { Refusal::Error } else { Refusal::Argument };
        match () {
            _ if self.root >= ranks => Err(refusal(RUSTCOLL_ERR_ROOT)),
            _ if !self.send.has_negative_count() && !self.recv.has_negative_count() => Ok(()),
            _ if self.has_equal_counts() => Err(refusal(RUSTCOLL_ERR_COUNT)),
            _ => Err(Refusal::Error(RUSTCOLL_ERR_COUNT)),
        }
    }

    /// Whether a count that is negative on one rank of a right program is negative on all.
    fn has_equal_counts(&self) -> bool {
        self.collective.reduces()
            || [Collective::Allgather, Collective::Alltoall, Collective::Bcast].contains(&self.collective)
    }

    /// Returns the bytes by which rules measure the call: of the vector, of a block, or of all blocks together where
    /// their counts differ. 0 if the call has no measure.
    pub fn measured_bytes(&self) -> usize {
        if self.is_measured() { self.measured_counts().bytes() } else { 0 }
    }

    /// Returns the bytes of the longest block, if all ranks know the lengths of blocks that may differ.
    pub fn longest_block(&self) -> Option<usize> {
        if self.is_measured() { self.measured_counts().longest_block() } else { None }
    }

    /// The counts of the buffer that has all data, where the rank has it.
    fn measured_counts(&self) -> &Counts {
        let (first, second) = match self.collective {
            Collective::ReduceScatter | Collective::ReduceScatterBlock | Collective::Scatter => {
                (&self.send, &self.recv)
            }
            _ => (&self.recv, &self.send),
        };
        if first.is_none() { &second.counts } else { &first.counts }
    }

    /// Returns the bytes of data: the measure, or without one what this rank sends, or receives if it sends none.
    pub fn bytes(&self) -> usize {
        match self.send.counts.bytes() {
            _ if self.collective == Collective::Barrier => 0,
            _ if self.is_measured() => self.measured_bytes(),
            0 => self.recv.counts.bytes(),
            sent => sent,
        }
    }

    /// Returns the datatype of the send buffer, or of the receive buffer if the call has no send buffer.
    pub fn element(&self) -> &rustcoll_datatype {
        if self.send.is_none() { self.recv.datatype() } else { self.send.datatype() }
    }

    /// Bytes from one reduced element to the next: the longer of its extent and true extent.
    pub fn extent(&self) -> usize {
        let datatype = self.element();
        datatype.extent.unsigned_abs().max(datatype.true_extent)
    }

    /// Whether the measure says that no rank has anything to do.
    pub fn is_empty(&self) -> bool {
        self.is_measured() && self.measured_bytes() == 0
    }

    /// Whether all ranks know the same measure. They do not where each rank knows its own counts only. Between groups
    /// they do not where the two directions may differ, or where the root's group knows no counts.
    fn is_measured(&self) -> bool {
        let measure = match self.has_two_groups {
            true => Measure::between_groups(self.collective),
            false => Measure::of(self.collective),
        };
        measure != Measure::Nothing
    }
}

/// The shim numbers the collectives in the order of Rust's list.
const _: () = {
    assert!(Collective::ALL.len() as u32 == rustcoll_collective_RUSTCOLL_COLLECTIVES);
    assert!(Collective::Allgather as u32 == rustcoll_collective_RUSTCOLL_ALLGATHER);
    assert!(Collective::Allreduce as u32 == rustcoll_collective_RUSTCOLL_ALLREDUCE);
    assert!(Collective::Alltoallw as u32 == rustcoll_collective_RUSTCOLL_ALLTOALLW);
    assert!(Collective::Bcast as u32 == rustcoll_collective_RUSTCOLL_BCAST);
    assert!(Collective::Gatherv as u32 == rustcoll_collective_RUSTCOLL_GATHERV);
    assert!(Collective::NeighborAllgather as u32 == rustcoll_collective_RUSTCOLL_NEIGHBOR_ALLGATHER);
    assert!(Collective::NeighborAlltoallw as u32 == rustcoll_collective_RUSTCOLL_NEIGHBOR_ALLTOALLW);
    assert!(Collective::ReduceScatterBlock as u32 == rustcoll_collective_RUSTCOLL_REDUCE_SCATTER_BLOCK);
    assert!(Collective::Scatterv as u32 == rustcoll_collective_RUSTCOLL_SCATTERV);
};
