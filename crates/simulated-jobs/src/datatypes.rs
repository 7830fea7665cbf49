//! Datatypes and operators of the simulated MPI. Handles are addresses of statics here, equal in every rank.

use std::ffi::c_void;
use std::ptr;
use std::slice;
use std::sync::LazyLock;

use expected_results::arithmetic::Arithmetic;
use expected_results::image;
use expected_results::layout::{BasicValue, Layout, Scalar};
use rustcoll::shim::{rustcoll_datatype, rustcoll_operator};

use crate::history::Unit;

/// A datatype's elements: plain bytes, or one value, or two ints, of which the second may lie before the first. There may be gaps.
#[derive(Debug)]
pub struct Described {
    layout: Layout,
    /// Where each piece of data begins, and its bytes, in the order of sending.
    pieces: Vec<(isize, usize)>,
}

#[derive(Clone, Copy, Debug)]
pub struct Datatype(&'static Described);

static BYTE: LazyLock<Described> = LazyLock::new(|| Described::plain(1));
static NUMBER: LazyLock<Described> = LazyLock::new(|| Described::plain(8));
static CHARACTER: LazyLock<Described> = LazyLock::new(|| Described::of(Scalar::Byte, &[0], 0, 1));
static CHARACTERS_APART: LazyLock<Described> = LazyLock::new(|| Described::of(Scalar::Byte, &[1], 0, 3));
static CHARACTERS_BEFORE: LazyLock<Described> = LazyLock::new(|| Described::of(Scalar::Byte, &[-2], -2, 2));
static INT: LazyLock<Described> = LazyLock::new(|| Described::of(Scalar::Int, &[0], 0, 4));
static INTS_APART: LazyLock<Described> = LazyLock::new(|| Described::of(Scalar::Int, &[4], 0, 12));
static INTS_BEFORE: LazyLock<Described> = LazyLock::new(|| Described::of(Scalar::Int, &[-4], -4, 8));
static WITH_GAPS: LazyLock<Described> = LazyLock::new(|| Described::of(Scalar::Int, &[0, 8], -4, 20));
static DESCENDING: LazyLock<Described> = LazyLock::new(|| Described::of(Scalar::Int, &[4, -8], -8, 16));

impl Described {
    fn plain(bytes: usize) -> Described {
        let layout = Layout { slots: Vec::new(), lower_bound: 0, extent: bytes as isize };
        Described { layout, pieces: vec![(0, bytes)] }
    }

    fn of(scalar: Scalar, offsets: &[isize], lower_bound: isize, extent: isize) -> Described {
        let slot = |&offset: &isize| BasicValue { offset, scalar };
        let slots: Vec<BasicValue> = offsets.iter().map(slot).collect();
        let pieces = slots.iter().map(|slot| (slot.offset, slot.scalar.bytes())).collect();
        Described { layout: Layout { slots, lower_bound, extent }, pieces }
    }

    /// Returns an element's bytes, without gaps.
    fn size(&self) -> usize {
        self.pieces.iter().map(|piece| piece.1).sum()
    }

    fn is_contiguous(&self) -> bool {
        self.pieces.len() == 1 && self.layout.extent == self.size() as isize
    }
}

impl Datatype {
    /// Returns the datatypes of a simulated program's call of so many values. Elements of two values suit an even number of ints.
    pub fn of_values(unit: Unit, values: usize) -> [Datatype; 3] {
        let datatypes: [&'static Described; 3] = match unit {
            Unit::Bytes => [&CHARACTER, &CHARACTERS_APART, &CHARACTERS_BEFORE],
            Unit::Ints if values.is_multiple_of(2) => [&INT, &WITH_GAPS, &DESCENDING],
            Unit::Ints => [&INT, &INTS_APART, &INTS_BEFORE],
        };
        datatypes.map(Datatype)
    }

    /// `MPI_INT`
    pub fn int() -> Datatype {
        Datatype(&INT)
    }

    /// `MPI_BYTE`
    pub fn byte() -> Datatype {
        Datatype(&BYTE)
    }

    /// `MPI_UINT64_T`
    pub fn number() -> Datatype {
        Datatype(&NUMBER)
    }

    /// Returns the datatype of a handle; plain bytes for NULL.
    ///
    /// # Safety
    /// The handle must be NULL or from [`image::Datatype::handle`].
    pub unsafe fn behind(handle: *const c_void) -> Datatype {
        // SAFETY: by this function's contract it is a static's address.
        unsafe { handle.cast::<Described>().as_ref() }.map_or(Datatype::byte(), Datatype)
    }

    /// Returns the number of values in an element.
    pub fn width(self) -> usize {
        self.0.layout.slots.len()
    }

    /// Describes the datatype to the library.
    pub fn description(self) -> rustcoll_datatype {
        let Described { layout, pieces, .. } = self.0;
        let start = pieces.iter().map(|piece| piece.0).min().expect("an element has data");
        let end = pieces.iter().map(|piece| piece.0 + piece.1 as isize).max().expect("as above");
        rustcoll_datatype {
            handle: image::Datatype::handle(&self),
            size: self.0.size(),
            extent: layout.extent,
            true_lb: start,
            true_extent: (end - start) as usize,
            contiguous: i32::from(self.0.is_contiguous()),
        }
    }

    /// Returns the elements' data without gaps.
    ///
    /// # Safety
    /// `count` elements must lie at the address.
    pub unsafe fn packed(self, elements: *const c_void, count: usize) -> Vec<u8> {
        let mut packed = Vec::with_capacity(count * self.0.size());
        self.each_piece(count, |place, bytes| {
            // SAFETY: by this function's contract.
            let piece = unsafe { slice::from_raw_parts(elements.byte_offset(place).cast::<u8>(), bytes) };
            packed.extend_from_slice(piece);
        });
        packed
    }

    /// Writes data without gaps to at most `count` elements, and drops the rest. Returns whether there was a rest.
    ///
    /// # Safety
    /// There must be room for `count` elements.
    pub unsafe fn unpack(self, mut packed: &[u8], elements: *mut c_void, count: usize) -> bool {
        self.each_piece(count, |place, bytes| {
            let (piece, rest) = packed.split_at(bytes.min(packed.len()));
            // SAFETY: by this function's contract.
            unsafe { ptr::copy(piece.as_ptr(), elements.byte_offset(place).cast::<u8>(), piece.len()) };
            packed = rest;
        });
        !packed.is_empty()
    }

    /// Calls `take` with each piece's offset from the first element's address, and its length.
    fn each_piece(self, count: usize, mut take: impl FnMut(isize, usize)) {
        if self.0.is_contiguous() {
            return take(self.0.pieces[0].0, count * self.0.size());
        }
        for element in 0..count as isize {
            for &(offset, bytes) in &self.0.pieces {
                take(element * self.0.layout.extent + offset, bytes);
            }
        }
    }
}

impl image::Datatype for Datatype {
    type Handle = *const c_void;

    fn layout(&self) -> &Layout {
        &self.0.layout
    }

    fn handle(&self) -> *const c_void {
        ptr::from_ref(self.0).cast()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// An operator of a simulated program.
    Of(Arithmetic),
    /// `MPI_MAX` of 64-bit numbers.
    GreaterNumber,
    /// `MPI_BOR`
    Union,
}

const SUM: Operator = Operator::Of(Arithmetic::Sum);
static OPERATORS: [Operator; 6] = [
    SUM,
    Operator::Of(Arithmetic::Max),
    Operator::Of(Arithmetic::Product),
    Operator::Of(Arithmetic::Affine),
    Operator::GreaterNumber,
    Operator::Union,
];

impl Operator {
    pub fn handle(self) -> *const c_void {
        let kept = OPERATORS.iter().find(|&&kept| kept == self).expect("the operator is among those kept");
        ptr::from_ref(kept).cast()
    }

    /// Returns the operator of a handle.
    ///
    /// # Safety
    /// The handle must be from [`Operator::handle`].
    pub unsafe fn behind(handle: *const c_void) -> Operator {
        // SAFETY: by this function's contract it is a static's address.
        unsafe { *handle.cast::<Operator>() }
    }

    /// Whether MPI defines the operator.
    pub fn is_predefined(self) -> bool {
        if let Operator::Of(arithmetic) = self { arithmetic.is_predefined() } else { true }
    }

    /// Describes the operator to the library.
    pub fn description(self) -> rustcoll_operator {
        let commutes = if let Operator::Of(arithmetic) = self { arithmetic.commutes() } else { true };
        rustcoll_operator {
            handle: self.handle(),
            commutative: i32::from(commutes),
            predefined: i32::from(self.is_predefined()),
        }
    }

    /// `target = source ⊕ target`
    ///
    /// # Safety
    /// Both addresses must hold `count` elements.
    pub unsafe fn reduce(self, source: *const c_void, target: *mut c_void, count: usize, datatype: Datatype) {
        // SAFETY: by this function's contract.
        let (left, mut right) = unsafe { (datatype.packed(source, count), datatype.packed(target, count)) };
        match self {
            Operator::Union => right.iter_mut().zip(left).for_each(|(right, left)| *right |= left),
            Operator::GreaterNumber => {
                let (left, right) = (left.as_chunks::<8>().0, right.as_chunks_mut::<8>().0);
                for (left, right) in left.iter().zip(right) {
                    *right = u64::from_ne_bytes(*left).max(u64::from_ne_bytes(*right)).to_ne_bytes();
                }
            }
            // The arithmetic of simulated programs combines each value of an element by itself.
            Operator::Of(arithmetic) => {
                let (left, right) = (left.as_chunks::<4>().0, right.as_chunks_mut::<4>().0);
                let value = |bytes: &[u8; 4]| i64::from(i32::from_ne_bytes(*bytes));
                let prime = datatype.0.layout.prime();
                for (left, right) in left.iter().zip(right) {
                    *right = (arithmetic.apply(prime, value(left), value(right)) as i32).to_ne_bytes();
                }
            }
        }
        // SAFETY: by this function's contract.
        unsafe { datatype.unpack(&right, target, count) };
    }
}
