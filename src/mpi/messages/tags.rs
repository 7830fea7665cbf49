//! The tags of messages, except those of collectives with requests.

use crate::algorithms::Collective;
use crate::mpi::shim::bindings::{rustcoll_shim_profile_tag, rustcoll_shim_tag};
use std::ffi::c_int;

/// The tag of a blocking collective.
pub fn tag(collective: Collective) -> c_int {
    // SAFETY: looks a constant of the shim's up; the shim numbers collectives as Rust does.
    unsafe { rustcoll_shim_tag(collective as c_int) }
}

/// The tag of messages that gather the job's profile when MPI ends.
pub fn profile_tag() -> c_int {
    // SAFETY: looks a constant of the shim's up.
    unsafe { rustcoll_shim_profile_tag() }
}
