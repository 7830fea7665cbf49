//! The arguments of a collective in the library's form, as the C shims describe them (`describe.h`).

use std::ffi::{c_int, c_void};
use std::ptr;

use expected_results::buffers::{Buffers, Membership};
use expected_results::image::Image;
use rustcoll::algorithms::Collective;
use rustcoll::shim::*;

use crate::datatypes::{Datatype, Operator};

use Collective::*;

/// MPI's arguments for a buffer. Those that the rank does not have are NULL or 0.
#[derive(Clone, Copy)]
pub struct Side {
    /// The buffer's address, or [`in_place`].
    pub buffer: *const c_void,
    /// Elements of the vector, or of each block.
    pub count: usize,
    pub datatype: *const c_void,
    /// The elements of each block.
    pub counts: *const c_int,
    /// The offset of each block, in elements, or in bytes if each block has its own datatype.
    pub displacements: *const c_int,
    /// The offsets of the blocks in bytes.
    pub offsets: *const isize,
    /// The datatype of each block.
    pub datatypes: *const *const c_void,
}

impl Side {
    /// Returns the arguments of a missing buffer.
    pub fn none(buffer: *const c_void) -> Side {
        Side {
            buffer,
            count: 0,
            datatype: ptr::null(),
            counts: ptr::null(),
            displacements: ptr::null(),
            offsets: ptr::null(),
            datatypes: ptr::null(),
        }
    }

    fn of(buffer: *const c_void, image: &Image<Datatype>) -> Side {
        Side {
            buffer,
            count: image.count() as usize,
            datatype: image.datatype(),
            counts: image.counts().as_ptr(),
            displacements: image.displacements().as_ptr(),
            offsets: image.offsets().as_ptr(),
            datatypes: image.datatypes().as_ptr(),
        }
    }

    fn is_in_place(&self) -> bool {
        ptr::eq(self.buffer, in_place())
    }
}

static IN_PLACE: u8 = 0;

/// Returns the address that means a call in place.
pub fn in_place() -> *const c_void {
    (&raw const IN_PLACE).cast()
}

/// A rank's part in a call.
#[derive(Clone, Copy)]
pub struct Part {
    rank: usize,
    /// The root as the rank numbers it: the own group first.
    root: usize,
    /// Whether the rank has the buffer that only the root has; true without a root.
    has_of_root: bool,
    /// Whether it has the buffer that each rank has.
    has_of_each: bool,
}

impl Part {
    /// Returns the part of a rank of an intra-communicator.
    pub fn in_group(collective: Collective, rank: usize, root: usize) -> Part {
        Part { rank, root, has_of_root: rank == root || !collective.is_rooted(), has_of_each: true }
    }

    /// Returns the part of a rank. `root`: its number among the ranks of both groups of an inter-communicator.
    fn of(collective: Collective, membership: &Membership, root: usize) -> Part {
        let Membership { rank, size, ref others, .. } = *membership;
        match others {
            Some(others) if collective.is_rooted() => match () {
                _ if others.contains(&root) => {
                    Part { rank, root: size + root - others.start, has_of_root: false, has_of_each: true }
                }
                _ if root == membership.number() => {
                    Part { rank, root: rank, has_of_root: true, has_of_each: false }
                }
                // MPI does not tell the other ranks of the root's group which of them is the root.
                _ => Part { rank, root: (rank + 1) % size, has_of_root: false, has_of_each: false },
            },
            _ => Part::in_group(collective, rank, root),
        }
    }
}

/// A call in the library's form. It must not move, because it points to its own parts.
pub struct Described {
    call: rustcoll_call,
    send: rustcoll_datatype,
    recv: rustcoll_datatype,
    operator: Option<rustcoll_operator>,
}

impl Described {
    /// Describes a rank's call with its buffers.
    pub fn of_buffers(
        buffers: &mut Buffers<Datatype>,
        operator: Option<Operator>,
        membership: &Membership,
    ) -> Box<Described> {
        let absent = if buffers.is_in_place() { in_place() } else { ptr::null() };
        let send = buffers.send.as_ref().map_or(Side::none(absent), |image| Side::of(image.address(), image));
        let recv = match &mut buffers.receive {
            Some(image) => Side::of(image.address_mut(), image),
            None => Side::none(absent),
        };
        let part = Part::of(buffers.collective(), membership, buffers.root());
        Described::new(buffers.collective(), part, operator, send, recv)
    }

    /// Describes a rank's call.
    pub fn new(
        collective: Collective,
        part: Part,
        operator: Option<Operator>,
        send: Side,
        recv: Side,
    ) -> Box<Described> {
        let Part { rank, root, has_of_root, has_of_each } = part;
        let is_scatter = matches!(collective, Scatter | Scatterv);
        let in_place = has_of_root && if is_scatter { recv.is_in_place() } else { send.is_in_place() };
        let call = rustcoll_call {
            collective: collective as c_int,
            in_place: in_place.into(),
            root: root as c_int,
            send: NO_SIDE,
            recv: NO_SIDE,
            operator_: ptr::null(),
        };
        // SAFETY: the handles are NULL or those of datatypes.
        let described = |side: Side| unsafe { Datatype::behind(side.datatype) }.description();
        let operator = operator.map(Operator::description);
        let mut this = Box::new(Described { call, send: described(send), recv: described(recv), operator });
        this.call.operator_ = this.operator.as_ref().map_or(ptr::null(), ptr::from_ref);
        let has_send = match collective {
            Barrier | Bcast => false,
            Scatter | Scatterv => has_of_root,
            _ => has_of_each && !in_place,
        };
        let has_recv = match collective {
            Barrier => false,
            Gather | Gatherv | Reduce => has_of_root,
            Scatter | Scatterv => has_of_each && !in_place,
            _ => has_of_root || has_of_each,
        };
        if collective.reduces() {
            this.describe_reduction(collective, rank, (has_send, send), (has_recv, recv));
            return this;
        }
        if has_send {
            this.call.send =
                Described::side(collective, send, &raw const this.send, SENDS_VARYING.contains(&collective));
        }
        if has_recv {
            this.call.recv = Described::side(
                collective,
                recv,
                &raw const this.recv,
                RECEIVES_VARYING.contains(&collective),
            );
        }
        this
    }

    /// Describes both buffers of a reduction by the arguments of one of them.
    fn describe_reduction(
        &mut self,
        collective: Collective,
        rank: usize,
        (has_send, send): (bool, Side),
        (has_recv, recv): (bool, Side),
    ) {
        let vector = if send.counts.is_null() { recv } else { send };
        // SAFETY: the handle is a datatype's.
        self.recv = unsafe { Datatype::behind(vector.datatype) }.description();
        let is_varying = collective == ReduceScatter;
        // SAFETY: a reduce-scatter has a count for each rank.
        let own = if is_varying { unsafe { *vector.counts.add(rank) as usize } } else { vector.count };
        let mut side = rustcoll_side { datatype: &raw const self.recv, ..NO_SIDE };
        if has_send {
            side.buffer = send.buffer;
            side.count = if is_varying { 0 } else { own };
            self.call.send = side;
        }
        if has_recv {
            (side.buffer, side.count) = (recv.buffer, own);
            if is_varying {
                side.counts = rustcoll_numbers { values: vector.counts.cast(), are_wide: 0 };
            }
            self.call.recv = side;
        }
    }

    fn side(
        collective: Collective,
        side: Side,
        datatype: *const rustcoll_datatype,
        is_varying: bool,
    ) -> rustcoll_side {
        let narrow = |numbers: *const c_int| rustcoll_numbers { values: numbers.cast(), are_wide: 0 };
        let none = rustcoll_side { buffer: side.buffer, ..NO_SIDE };
        match collective {
            Alltoallw | NeighborAlltoallw => rustcoll_side {
                counts: narrow(side.counts),
                displacements: match collective {
                    Alltoallw => narrow(side.displacements),
                    _ => rustcoll_numbers { values: side.offsets.cast(), are_wide: 1 },
                },
                datatypes: rustcoll_handles { values: side.datatypes.cast(), are_ints: 0 },
                ..none
            },
            _ if is_varying => rustcoll_side {
                datatype,
                counts: narrow(side.counts),
                displacements: narrow(side.displacements),
                ..none
            },
            _ => rustcoll_side { datatype, count: side.count, ..none },
        }
    }

    /// Returns the library's argument.
    pub fn call(&self) -> &rustcoll_call {
        &self.call
    }
}

const NO_NUMBERS: rustcoll_numbers = rustcoll_numbers { values: ptr::null(), are_wide: 0 };

const NO_SIDE: rustcoll_side = rustcoll_side {
    buffer: ptr::null(),
    count: 0,
    datatype: ptr::null(),
    counts: NO_NUMBERS,
    displacements: NO_NUMBERS,
    datatypes: rustcoll_handles { values: ptr::null(), are_ints: 0 },
};

const SENDS_VARYING: [Collective; 3] = [Alltoallv, NeighborAlltoallv, Scatterv];
const RECEIVES_VARYING: [Collective; 5] =
    [Allgatherv, Alltoallv, Gatherv, NeighborAllgatherv, NeighborAlltoallv];
