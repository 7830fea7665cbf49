//! The tags of messages that are not those of a request.

use crate::algorithms::Collective;
use crate::mpi::shim::bindings::{
    rustcoll_shim_memory_tag, rustcoll_shim_profile_tag, rustcoll_shim_stencil_tag, rustcoll_shim_tag,
};
use std::ffi::c_int;

/// The tag for a collective that blocks.
pub fn tag(collective: Collective) -> c_int {
    // SAFETY: looks a constant of the shim's up; the shim numbers collectives as Rust does.
    unsafe { rustcoll_shim_tag(collective as c_int) }
}

/// The tag under which ranks come to memory that they share, whatever else goes on meanwhile.
pub fn memory_tag() -> c_int {
    // SAFETY: looks a constant of the shim's up.
    unsafe { rustcoll_shim_memory_tag() }
}

/// The tag under which ranks find the stencil of their neighbours. What a rank that fails meanwhile leaves behind meets no other call.
pub fn stencil_tag() -> c_int {
    // SAFETY: looks a constant of the shim's up.
    unsafe { rustcoll_shim_stencil_tag() }
}

/// The tag under which ranks tell each other what they did, when MPI ends.
pub fn profile_tag() -> c_int {
    // SAFETY: looks a constant of the shim's up.
    unsafe { rustcoll_shim_profile_tag() }
}
