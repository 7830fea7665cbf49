//! What runs inside an MPI, whichever it is: the entry points for the C shim, and the transport over MPI's messages.
//!
//! A shim knows one MPI's structures and contains what only C can say: that of `src/coll_component` makes a component of Open MPI,
//! that of `src/interpose` a library that is loaded before another MPI. Every decision is taken here. *The component below* is
//! whatever serves the calls that rustcoll does not: another component, or the MPI itself.

mod agreement;
mod calls;
mod decision;
mod messages;
mod parameters;
mod reporting;
mod shared_memory;
pub mod shim;
