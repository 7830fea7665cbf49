//! MPI datatypes together with what this crate itself knows of their layout.

use std::cell::Cell;
use std::ffi::c_int;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use mpi_sys::{MPI_Aint, MPI_Datatype};

use crate::environment::{Error, check};
use crate::handles;

/// A basic type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// `MPI_INT`
    Int,
    /// `MPI_DOUBLE`
    Double,
}

impl Scalar {
    /// Its length in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Scalar::Int => 4,
            Scalar::Double => 8,
        }
    }

    /// A number in this type, at the start of 8 bytes. It must be exact there.
    pub fn encode(self, value: i64) -> [u8; 8] {
        let mut bytes = [0; 8];
        match self {
            Scalar::Int => bytes[..4].copy_from_slice(&(value as i32).to_ne_bytes()),
            Scalar::Double => bytes.copy_from_slice(&(value as f64).to_ne_bytes()),
        }
        bytes
    }

    /// The number in as many bytes as the type has.
    pub fn decode(self, bytes: &[u8]) -> f64 {
        match self {
            Scalar::Int => i32::from_ne_bytes(bytes.try_into().expect("4 bytes")).into(),
            Scalar::Double => f64::from_ne_bytes(bytes.try_into().expect("8 bytes")),
        }
    }
}

/// One basic value of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Distance in bytes from the element's address.
    pub offset: isize,
    /// What is there.
    pub scalar: Scalar,
}

/// Where an element's values lie, and how far elements stand apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The values in the order in which they are sent.
    pub slots: Vec<Slot>,
    /// `MPI_Type_get_extent`'s lower bound.
    pub lower_bound: isize,
    /// `MPI_Type_get_extent`'s extent.
    pub extent: isize,
}

impl Layout {
    /// Copies of the layout at several displacements.
    fn at(&self, displacements: &[isize]) -> Self {
        let slots = displacements
            .iter()
            .flat_map(|by| self.slots.iter().map(move |slot| Slot { offset: slot.offset + by, ..*slot }))
            .collect();
        let lowest = displacements.iter().min().unwrap_or(&0);
        let highest = displacements.iter().max().unwrap_or(&0);
        let extent = if displacements.is_empty() { 0 } else { highest - lowest + self.extent };
        Layout { slots, lower_bound: lowest + self.lower_bound, extent }
    }

    /// Every byte that elements may touch lies in this range around the buffer's address.
    pub fn span(&self, count: usize) -> Range<isize> {
        if count == 0 {
            return 0..0;
        }
        let start = self.slots.iter().map(|slot| slot.offset).min().unwrap_or(0);
        let end = self.slots.iter().map(|slot| slot.offset + slot.scalar.bytes() as isize).max().unwrap_or(0);
        start.min(0)..(end + (count as isize - 1) * self.extent).max(0)
    }
}

/// The layouts of all living datatypes, for user-defined operators: MPI hands them nothing but the handle.
static LAYOUTS: Mutex<Vec<(usize, Arc<Layout>)>> = Mutex::new(Vec::new());

/// The layout of a datatype that was made here.
pub fn layout_of(handle: MPI_Datatype) -> Option<Arc<Layout>> {
    let layouts = LAYOUTS.lock().expect("no thread panics while it holds the lock");
    // The handle of a freed datatype may have become that of a later one.
    layouts.iter().rfind(|(key, _)| *key == handles::number(handle)).map(|(_, layout)| layout.clone())
}

/// A datatype, freed when dropped unless it is predefined.
#[derive(Debug)]
pub struct Datatype {
    handle: MPI_Datatype,
    layout: Arc<Layout>,
    /// Whether MPI keeps the handle without this: it is predefined or freed.
    released: Cell<bool>,
}

impl Datatype {
    /// `MPI_INT`
    pub fn int() -> Self {
        Self::predefined(handles::int(), &[(0, Scalar::Int)], 4)
    }

    /// `MPI_DOUBLE`
    pub fn double() -> Self {
        Self::predefined(handles::double(), &[(0, Scalar::Double)], 8)
    }

    /// `MPI_DOUBLE_INT`
    pub fn double_int() -> Self {
        Self::predefined(handles::double_int(), &[(0, Scalar::Double), (8, Scalar::Int)], 16)
    }

    fn predefined(handle: MPI_Datatype, slots: &[(isize, Scalar)], extent: isize) -> Self {
        let slots = slots.iter().map(|&(offset, scalar)| Slot { offset, scalar }).collect();
        Self::new(handle, Layout { slots, lower_bound: 0, extent }, true)
    }

    /// `MPI_Type_contiguous`
    pub fn contiguous(count: usize, element: &Datatype) -> Result<Self, Error> {
        let displacements: Vec<isize> = (0..count as isize).map(|i| i * element.layout.extent).collect();
        Self::derived(element.layout.at(&displacements), |handle| {
            // SAFETY: the element's handle is valid and MPI writes the new one.
            unsafe { mpi_sys::MPI_Type_contiguous(count as c_int, element.handle, handle) }
        })
    }

    /// `MPI_Type_vector`, block length and stride in elements.
    pub fn vector(blocks: usize, length: usize, stride: usize, element: &Datatype) -> Result<Self, Error> {
        let places = (0..blocks).flat_map(|block| (0..length).map(move |i| block * stride + i));
        let displacements: Vec<isize> = places.map(|i| i as isize * element.layout.extent).collect();
        Self::derived(element.layout.at(&displacements), |handle| {
            let [blocks, length, stride] = [blocks, length, stride].map(|number| number as c_int);
            // SAFETY: the element's handle is valid and MPI writes the new one.
            unsafe { mpi_sys::MPI_Type_vector(blocks, length, stride, element.handle, handle) }
        })
    }

    /// `MPI_Type_create_hindexed_block` with blocks of one element.
    pub fn displaced(displacements: &[isize], element: &Datatype) -> Result<Self, Error> {
        let bytes: Vec<MPI_Aint> = displacements.iter().map(|&by| by as MPI_Aint).collect();
        Self::derived(element.layout.at(displacements), |handle| {
            let count = bytes.len() as c_int;
            // SAFETY: there are `count` displacements, the element's handle is valid, MPI writes the new one.
            unsafe {
                mpi_sys::MPI_Type_create_hindexed_block(count, 1, bytes.as_ptr(), element.handle, handle)
            }
        })
    }

    /// `MPI_Type_create_resized`
    pub fn resized(lower_bound: isize, extent: isize, element: &Datatype) -> Result<Self, Error> {
        Self::derived(Layout { lower_bound, extent, ..(*element.layout).clone() }, |handle| {
            let [lower_bound, extent] = [lower_bound, extent].map(|number| number as MPI_Aint);
            // SAFETY: the element's handle is valid and MPI writes the new one.
            unsafe { mpi_sys::MPI_Type_create_resized(element.handle, lower_bound, extent, handle) }
        })
    }

    fn derived(layout: Layout, make: impl FnOnce(*mut MPI_Datatype) -> c_int) -> Result<Self, Error> {
        // SAFETY: reads a constant.
        let mut handle = unsafe { mpi_sys::RSMPI_DATATYPE_NULL };
        check(make(&mut handle))?;
        // SAFETY: the handle was just made.
        check(unsafe { mpi_sys::MPI_Type_commit(&mut handle) })?;
        Ok(Self::new(handle, layout, false))
    }

    fn new(handle: MPI_Datatype, layout: Layout, released: bool) -> Self {
        let (mut lower_bound, mut extent) = (0, 0);
        // SAFETY: the handle is valid.
        unsafe { mpi_sys::MPI_Type_get_extent(handle, &mut lower_bound, &mut extent) };
        assert_eq!(
            [lower_bound, extent],
            [layout.lower_bound, layout.extent].map(|number| number as MPI_Aint),
            "MPI and this crate must agree on a datatype's bounds"
        );
        let layout = Arc::new(layout);
        LAYOUTS
            .lock()
            .expect("no thread panics while it holds the lock")
            .push((handles::number(handle), layout.clone()));
        Datatype { handle, layout, released: Cell::new(released) }
    }

    /// The handle, valid as long as this lives and is not freed.
    pub fn handle(&self) -> MPI_Datatype {
        self.handle
    }

    /// Frees the handle but not what is known of it: MPI itself keeps it until no operation needs it.
    pub fn free(&self) {
        if !self.released.replace(true) {
            let mut handle = self.handle;
            // SAFETY: the handle was made by this, and no new operation gets it.
            unsafe { mpi_sys::MPI_Type_free(&mut handle) };
        }
    }

    /// Where the values lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
}

impl Drop for Datatype {
    fn drop(&mut self) {
        let mut layouts = LAYOUTS.lock().expect("no thread panics while it holds the lock");
        layouts.retain(|(_, layout)| !Arc::ptr_eq(layout, &self.layout));
        drop(layouts);
        self.free();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int() -> Layout {
        Layout { slots: vec![Slot { offset: 0, scalar: Scalar::Int }], lower_bound: 0, extent: 4 }
    }

    #[test]
    fn displacements_shift_the_bounds() {
        let layout = int().at(&[-8, 4]);
        assert_eq!((layout.lower_bound, layout.extent), (-8, 16));
        assert_eq!(layout.span(2), -8..24);
    }

    #[test]
    fn nothing_touches_nothing() {
        assert_eq!(int().span(0), 0..0);
        assert_eq!(int().at(&[]).span(3), 0..0);
    }

    #[test]
    fn numbers_survive_their_encoding() {
        for value in [0, -1, i32::MAX as i64, i32::MIN as i64] {
            for scalar in [Scalar::Int, Scalar::Double] {
                assert_eq!(scalar.decode(&scalar.encode(value)[..scalar.bytes()]), value as f64);
            }
        }
    }
}
