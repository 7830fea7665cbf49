//! Two calls are the same if they differ only in the addresses of their buffers.

use super::arguments::handle;
use crate::mpi::messages::transport::bytes;
use crate::mpi::parameters::settings::Values;
use crate::mpi::shim::bindings::*;
use std::slice;

/// All that the shim passes for a call, except the buffers' addresses, and the parameter values at the call.
pub struct Key {
    pub values: Values,
    root: i32,
    in_place: i32,
    operator: Option<rustcoll_operator>,
    recv: SideKey,
    send: SideKey,
}

// SAFETY: handles are compared, and nothing else is done with them.
unsafe impl Send for Key {}

/// What the shim passes for a buffer, except its address.
struct SideKey {
    count: usize,
    datatype: Option<rustcoll_datatype>,
    /// The arrays of a buffer whose blocks differ. Most buffers have none.
    blocks: Option<Box<Blocks>>,
}

/// Copies of the caller's arrays for one buffer.
struct Blocks {
    counts: Numbers,
    displacements: Numbers,
    /// `None` if the caller gave none.
    datatypes: Option<Box<[rustcoll_datatype]>>,
}

/// A copy of a caller's array, in the caller's width, so that arrays are compared as a whole.
enum Numbers {
    /// The caller gave none.
    Missing,
    /// As MPI's functions without `_c` take them.
    Ints(Box<[i32]>),
    /// As those with `_c` take them, and displacements in bytes.
    Wide(Box<[isize]>),
}

impl Key {
    /// # Safety
    /// The call comes from the shim. Its send buffer has `sent` blocks, and its receive buffer has `received` blocks.
    pub unsafe fn new(call: &rustcoll_call, values: Values, (sent, received): (usize, usize)) -> Key {
        let &rustcoll_call { root, in_place, .. } = call;
        // SAFETY: by this function's contract the pointers are NULL or valid.
        unsafe {
            let operator = call.operator_.as_ref().copied();
            let (send, recv) = (SideKey::new(&call.send, sent), SideKey::new(&call.recv, received));
            Key { values, root, in_place, operator, recv, send }
        }
    }

    /// Returns how many elements the copies of the caller's arrays have.
    pub fn elements(&self) -> usize {
        let blocks = [&self.recv, &self.send].into_iter().filter_map(|side| side.blocks.as_deref());
        blocks.map(Blocks::elements).sum()
    }

    /// Whether a call of the key's collective and communicator is the same.
    ///
    /// # Safety
    /// As for [`Key::new`].
    #[inline(always)]
    pub unsafe fn is_of(&self, call: &rustcoll_call, values: &Values) -> bool {
        // SAFETY: by this function's contract the pointers are NULL or valid.
        unsafe {
            self.recv.is_of(&call.recv)
                && self.send.is_of(&call.send)
                && self.root == call.root
                && self.in_place == call.in_place
                && self.operator.as_ref() == call.operator_.as_ref()
                && self.values == *values
        }
    }
}

impl SideKey {
    /// # Safety
    /// The side comes from the shim, and has `blocks` blocks.
    unsafe fn new(side: &rustcoll_side, blocks: usize) -> SideKey {
        // SAFETY: by this function's contract the pointer is NULL or valid, and arrays have an element for each block.
        unsafe {
            let datatype = side.datatype.as_ref().copied();
            let has_arrays = !(side.counts.values.is_null() && side.datatypes.values.is_null());
            let blocks = has_arrays.then(|| Box::new(Blocks::new(side, blocks)));
            SideKey { count: side.count, datatype, blocks }
        }
    }

    /// # Safety
    /// The side comes from the shim, and has as many blocks as the side of the key.
    #[inline(always)]
    unsafe fn is_of(&self, side: &rustcoll_side) -> bool {
        // SAFETY: by this function's contract the pointer is NULL or valid.
        let datatype = unsafe { side.datatype.as_ref() };
        // Without `blocks` there are no arrays now either: if a buffer has blocks, it has arrays in all calls or in
        // none.
        self.count == side.count
            && self.datatype.as_ref() == datatype
            // SAFETY: by this function's contract.
            && self.blocks.as_ref().is_none_or(|blocks| unsafe { blocks.are_of(side) })
    }
}

impl Blocks {
    /// # Safety
    /// The side's arrays are NULL or have `blocks` elements.
    unsafe fn new(side: &rustcoll_side, blocks: usize) -> Blocks {
        let described = || {
            // SAFETY: by this function's contract.
            (0..blocks).map(|index| unsafe { described(side.datatypes, index) }).collect()
        };
        let datatypes = (!side.datatypes.values.is_null()).then(described);
        // SAFETY: by this function's contract.
        unsafe {
            let (counts, displacements) =
                (Numbers::copied(side.counts, blocks), Numbers::copied(side.displacements, blocks));
            Blocks { counts, displacements, datatypes }
        }
    }

    fn elements(&self) -> usize {
        self.counts.len() + self.displacements.len() + self.datatypes.as_ref().map_or(0, |all| all.len())
    }

    /// # Safety
    /// The side's arrays are NULL or have as many elements as these.
    unsafe fn are_of(&self, side: &rustcoll_side) -> bool {
        let are_datatypes_of = |own: &[rustcoll_datatype]| {
            // SAFETY: by this function's contract.
            !side.datatypes.values.is_null() && all(own, |index| unsafe { described(side.datatypes, index) })
        };
        // SAFETY: by this function's contract.
        let are_numbers_of =
            unsafe { self.counts.are(side.counts) && self.displacements.are(side.displacements) };
        are_numbers_of && self.datatypes.as_deref().map_or(side.datatypes.values.is_null(), are_datatypes_of)
    }
}

impl Numbers {
    /// # Safety
    /// The array is the shim's: NULL or `length` numbers.
    unsafe fn copied(numbers: rustcoll_numbers, length: usize) -> Numbers {
        let rustcoll_numbers { values, are_wide } = numbers;
        // SAFETY: by this function's contract.
        unsafe {
            match () {
                () if values.is_null() => Numbers::Missing,
                () if are_wide != 0 => Numbers::Wide(slice::from_raw_parts(values.cast(), length).into()),
                () => Numbers::Ints(slice::from_raw_parts(values.cast(), length).into()),
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Numbers::Missing => 0,
            Numbers::Ints(numbers) => numbers.len(),
            Numbers::Wide(numbers) => numbers.len(),
        }
    }

    /// Whether an array has the same numbers in the same width.
    ///
    /// # Safety
    /// The array is the shim's: NULL or as long as this one.
    unsafe fn are(&self, other: rustcoll_numbers) -> bool {
        let rustcoll_numbers { values, are_wide } = other;
        // SAFETY: by this function's contract.
        unsafe {
            match self {
                Numbers::Missing => values.is_null(),
                Numbers::Ints(own) => {
                    !values.is_null()
                        && are_wide == 0
                        && **own == *slice::from_raw_parts(values.cast(), own.len())
                }
                Numbers::Wide(own) => {
                    !values.is_null()
                        && are_wide != 0
                        && **own == *slice::from_raw_parts(values.cast(), own.len())
                }
            }
        }
    }
}

/// Whether each element is equal to `other` at its index.
fn all<T: PartialEq>(own: &[T], other: impl Fn(usize) -> T) -> bool {
    own.iter().enumerate().all(|(index, element)| *element == other(index))
}

/// # Safety
/// The array is the shim's and holds a handle at the index.
unsafe fn described(datatypes: rustcoll_handles, index: usize) -> rustcoll_datatype {
    let mut datatype = bytes();
    // SAFETY: by this function's contract.
    unsafe { rustcoll_shim_describe(handle(datatypes, index), &mut datatype) };
    datatype
}
