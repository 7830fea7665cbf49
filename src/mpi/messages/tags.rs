//! The tags under which collectives that block communicate.

use crate::algorithms::Collective;
use crate::mpi::shim::bindings::rustcoll_shim_tag;
use std::ffi::c_int;

/// The tag for a collective that blocks.
pub fn tag(collective: Collective) -> c_int {
    // SAFETY: looks a constant of the shim's up; the shim numbers collectives as Rust does.
    unsafe { rustcoll_shim_tag(collective as c_int) }
}
