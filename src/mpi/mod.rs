//! What runs inside an MPI process: entry points for the C shim, and the transport over MPI's messages.
//!
//! A shim knows one MPI's structures and contains only what must be in C. That of `src/coll_component` makes a
//! component of Open MPI, that of `src/interpose` a library that is loaded before another MPI. Rust takes every
//! decision. *The component below* is what serves all other calls: another component, or the MPI itself.

mod agreement;
mod calls;
mod decision;
mod messages;
mod parameters;
mod reporting;
mod shared_memory;
pub mod shim;
