//! MPI datatypes, and what this crate itself knows of their layout.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::{Arc, Mutex};

use expected_results::image;
use expected_results::layout::{BasicValue, Layout, Scalar};
use mpi_sys::{MPI_Aint, MPI_Datatype};

use crate::environment::{Error, check};
use crate::handles;

/// The layouts of all live datatypes, for user-defined operators: MPI passes them only the handle.
static LAYOUTS: Mutex<Vec<(usize, Arc<Layout>)>> = Mutex::new(Vec::new());

/// Returns the layout of a datatype that this crate made.
pub fn layout_of(handle: MPI_Datatype) -> Option<Arc<Layout>> {
    let layouts = LAYOUTS.lock().expect("no thread panics while it holds the lock");
    // A later datatype may have the handle of a freed one.
    layouts.iter().rfind(|(key, _)| *key == handles::number(handle)).map(|(_, layout)| layout.clone())
}

/// A datatype. Dropping it frees it unless it is predefined.
#[derive(Debug)]
pub struct Datatype {
    handle: MPI_Datatype,
    layout: Arc<Layout>,
    /// Whether the handle must not be freed: it is predefined or already freed.
    released: Cell<bool>,
}

impl Datatype {
    /// `MPI_BYTE`
    pub fn byte() -> Self {
        Self::predefined(handles::byte(), &[(0, Scalar::Byte)], 1)
    }

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
        let slots = slots.iter().map(|&(offset, scalar)| BasicValue { offset, scalar }).collect();
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

    /// `MPI_Type_vector`; block length and stride are in elements.
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

    /// Returns the handle, which is valid until this is freed or dropped.
    pub fn handle(&self) -> MPI_Datatype {
        self.handle
    }

    /// Frees the handle but keeps the layout. MPI itself keeps the datatype until no operation needs it.
    pub fn free(&self) {
        if !self.released.replace(true) {
            let mut handle = self.handle;
            // SAFETY: this object made the handle, and no new operation gets it.
            unsafe { mpi_sys::MPI_Type_free(&mut handle) };
        }
    }

    /// Returns where the values lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
}

impl image::Datatype for Datatype {
    type Handle = MPI_Datatype;

    fn layout(&self) -> &Layout {
        self.layout()
    }

    fn handle(&self) -> MPI_Datatype {
        self.handle()
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
