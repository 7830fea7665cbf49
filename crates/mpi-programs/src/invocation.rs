//! The calls of MPI's collectives, in their three forms.

use std::ffi::{c_int, c_void};
use std::ptr;

pub use measurements::Form;
use mpi_sys::{MPI_Aint, MPI_Datatype, MPI_Op, MPI_Request};
use rustcoll::algorithms::Collective;

use crate::communicator::Communicator;
use crate::environment::{Error, check};
use crate::handles;
use crate::image::Image;
use crate::operator::Operator;
use crate::persistent;

/// The buffers of a call that this rank has, its operator and its root.
#[derive(Debug)]
pub struct Invocation<'a> {
    /// The input, unless it is in the receive buffer.
    pub send: Option<&'a Image>,
    pub receive: Option<&'a mut Image>,
    /// Whether one buffer is missing because the other serves as input and result.
    pub in_place: bool,
    pub operator: Option<&'a Operator>,
    /// The root's number, if there is a root.
    pub root: usize,
}

/// MPI's arguments for a buffer. Those that this rank does not have are null or 0.
pub(crate) struct Side<Address> {
    pub address: Address,
    pub count: c_int,
    pub datatype: MPI_Datatype,
    pub counts: *const c_int,
    pub displacements: *const c_int,
    pub offsets: *const MPI_Aint,
    pub datatypes: *const MPI_Datatype,
}

impl Side<*mut c_void> {
    /// Returns the same arguments for a buffer that MPI only reads.
    pub fn reading(self) -> Side<*const c_void> {
        let Side { address, count, datatype, counts, displacements, offsets, datatypes } = self;
        Side { address: address.cast_const(), count, datatype, counts, displacements, offsets, datatypes }
    }
}

impl<Address> Side<Address> {
    fn of(address: Address, image: &Image) -> Self {
        Side {
            address,
            count: image.count(),
            datatype: image.datatype(),
            counts: image.counts().as_ptr(),
            displacements: image.displacements().as_ptr(),
            offsets: image.offsets().as_ptr().cast(),
            datatypes: image.datatypes().as_ptr(),
        }
    }

    fn none(address: Address) -> Self {
        let (counts, offsets, datatypes) = (ptr::null(), ptr::null(), ptr::null());
        Side {
            address,
            count: 0,
            datatype: handles::byte(),
            counts,
            displacements: counts,
            offsets,
            datatypes,
        }
    }
}

/// Calls the function of a form; the arguments of all forms begin alike.
macro_rules! in_form {
    ($form:ident, $request:ident, $blocking:ident, $nonblocking:ident, $persistent:ident: $($argument:expr),+) => {
        match $form {
            Form::Blocking => mpi_sys::$blocking($($argument),+),
            Form::Nonblocking => mpi_sys::$nonblocking($($argument),+, $request),
            Form::Persistent => persistent::$persistent($($argument),+, mpi_sys::RSMPI_INFO_NULL, $request),
        }
    };
}

impl Invocation<'_> {
    /// Makes a blocking call.
    pub fn block(self, collective: Collective, communicator: &Communicator) -> Result<(), Error> {
        // SAFETY: a blocking call uses the buffers only while it runs.
        unsafe { self.call(collective, Form::Blocking, communicator, ptr::null_mut()) }
    }

    /// Calls MPI.
    ///
    /// # Safety
    /// If the call does not block, the images must stay alive and nobody may access them until the request is
    /// complete, or freed if it is persistent. `request` must then be writable.
    pub unsafe fn call(
        self,
        collective: Collective,
        form: Form,
        communicator: &Communicator,
        request: *mut MPI_Request,
    ) -> Result<(), Error> {
        let is_in_place = self.in_place;
        let (absent, absent_mut) = match is_in_place {
            true => (handles::in_place(), handles::in_place().cast_mut()),
            false => (ptr::null(), ptr::null_mut()),
        };
        let send = self.send.map_or_else(|| Side::none(absent), |image| Side::of(image.address(), image));
        let receive = match self.receive {
            Some(image) => Side::of(image.address_mut(), image),
            None => Side::none(absent_mut),
        };
        let operator = self.operator.map_or(handles::sum(), Operator::handle);
        let root = communicator.root_argument(self.root);
        // SAFETY: promised by the caller.
        check(unsafe { call(collective, form, &send, &receive, operator, root, communicator, request) })
    }
}

/// # Safety
/// As for `Invocation::call`. The sides' addresses and counts must be true as long as the operation lasts.
#[allow(clippy::too_many_arguments, reason = "these are what the collectives of MPI take together")]
pub(crate) unsafe fn call(
    collective: Collective,
    form: Form,
    send: &Side<*const c_void>,
    receive: &Side<*mut c_void>,
    operator: MPI_Op,
    root: c_int,
    communicator: &Communicator,
    request: *mut MPI_Request,
) -> c_int {
    let handle = communicator.handle();
    let (s, r) = (send, receive);
    // The vector of a reduction, on whichever side it is.
    let (vector_count, vector_counts, vector_type) = match send.counts.is_null() {
        true => (r.count, r.counts, r.datatype),
        false => (s.count, s.counts, s.datatype),
    };
    // SAFETY: promised by the caller.
    unsafe {
        match collective {
            Collective::Allgather => in_form! {
                form, request, MPI_Allgather, MPI_Iallgather, MPIX_Allgather_init:
                s.address, s.count, s.datatype, r.address, r.count, r.datatype, handle
            },
            Collective::Allgatherv => in_form! {
                form, request, MPI_Allgatherv, MPI_Iallgatherv, MPIX_Allgatherv_init:
                s.address, s.count, s.datatype, r.address, r.counts, r.displacements, r.datatype, handle
            },
            Collective::Allreduce => in_form! {
                form, request, MPI_Allreduce, MPI_Iallreduce, MPIX_Allreduce_init:
                s.address, r.address, vector_count, vector_type, operator, handle
            },
            Collective::Alltoall => in_form! {
                form, request, MPI_Alltoall, MPI_Ialltoall, MPIX_Alltoall_init:
                s.address, s.count, s.datatype, r.address, r.count, r.datatype, handle
            },
            Collective::Alltoallv => in_form! {
                form, request, MPI_Alltoallv, MPI_Ialltoallv, MPIX_Alltoallv_init:
                s.address, s.counts, s.displacements, s.datatype,
                r.address, r.counts, r.displacements, r.datatype, handle
            },
            Collective::Alltoallw => in_form! {
                form, request, MPI_Alltoallw, MPI_Ialltoallw, MPIX_Alltoallw_init:
                s.address, s.counts, s.displacements, s.datatypes,
                r.address, r.counts, r.displacements, r.datatypes, handle
            },
            Collective::Barrier => in_form! {
                form, request, MPI_Barrier, MPI_Ibarrier, MPIX_Barrier_init:
                handle
            },
            Collective::Bcast => in_form! {
                form, request, MPI_Bcast, MPI_Ibcast, MPIX_Bcast_init:
                r.address, r.count, r.datatype, root, handle
            },
            Collective::Exscan => in_form! {
                form, request, MPI_Exscan, MPI_Iexscan, MPIX_Exscan_init:
                s.address, r.address, vector_count, vector_type, operator, handle
            },
            Collective::Gather => in_form! {
                form, request, MPI_Gather, MPI_Igather, MPIX_Gather_init:
                s.address, s.count, s.datatype, r.address, r.count, r.datatype, root, handle
            },
            Collective::Gatherv => in_form! {
                form, request, MPI_Gatherv, MPI_Igatherv, MPIX_Gatherv_init:
                s.address, s.count, s.datatype, r.address, r.counts, r.displacements, r.datatype, root, handle
            },
            Collective::NeighborAllgather => in_form! {
                form, request, MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPIX_Neighbor_allgather_init:
                s.address, s.count, s.datatype, r.address, r.count, r.datatype, handle
            },
            Collective::NeighborAllgatherv => in_form! {
                form, request, MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, MPIX_Neighbor_allgatherv_init:
                s.address, s.count, s.datatype, r.address, r.counts, r.displacements, r.datatype, handle
            },
            Collective::NeighborAlltoall => in_form! {
                form, request, MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPIX_Neighbor_alltoall_init:
                s.address, s.count, s.datatype, r.address, r.count, r.datatype, handle
            },
            Collective::NeighborAlltoallv => in_form! {
                form, request, MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPIX_Neighbor_alltoallv_init:
                s.address, s.counts, s.displacements, s.datatype,
                r.address, r.counts, r.displacements, r.datatype, handle
            },
            Collective::NeighborAlltoallw => in_form! {
                form, request, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPIX_Neighbor_alltoallw_init:
                s.address, s.counts, s.offsets, s.datatypes,
                r.address, r.counts, r.offsets, r.datatypes, handle
            },
            Collective::Reduce => in_form! {
                form, request, MPI_Reduce, MPI_Ireduce, MPIX_Reduce_init:
                s.address, r.address, vector_count, vector_type, operator, root, handle
            },
            Collective::ReduceScatter => in_form! {
                form, request, MPI_Reduce_scatter, MPI_Ireduce_scatter, MPIX_Reduce_scatter_init:
                s.address, r.address, vector_counts, vector_type, operator, handle
            },
            Collective::ReduceScatterBlock => in_form! {
                form, request, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPIX_Reduce_scatter_block_init:
                s.address, r.address, vector_count, vector_type, operator, handle
            },
            Collective::Scan => in_form! {
                form, request, MPI_Scan, MPI_Iscan, MPIX_Scan_init:
                s.address, r.address, vector_count, vector_type, operator, handle
            },
            Collective::Scatter => in_form! {
                form, request, MPI_Scatter, MPI_Iscatter, MPIX_Scatter_init:
                s.address, s.count, s.datatype, r.address, r.count, r.datatype, root, handle
            },
            Collective::Scatterv => in_form! {
                form, request, MPI_Scatterv, MPI_Iscatterv, MPIX_Scatterv_init:
                s.address, s.counts, s.displacements, s.datatype, r.address, r.count, r.datatype, root, handle
            },
        }
    }
}
