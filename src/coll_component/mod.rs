//! The Open MPI component: entry points for the C shim, and the transport over Open MPI's PML.
//!
//! The shim (`*.c`) contains what only C can say; every decision is taken here.

mod bindings;
mod communicator;
mod entry;
mod logging;
mod memory;
mod parameters;
mod pml;
mod priority;
mod schedules;
