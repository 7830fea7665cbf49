//! The Open MPI component, and all of the library that is loaded before another MPI but what depends on that: entry points for the
//! C shim, and the transport over MPI's messages.
//!
//! The shim (`*.c` here for Open MPI, in `src/interpose` for others) contains what only C can say; every decision is taken here.

mod agreement;
mod arguments;
mod bindings;
mod channel;
mod communicator;
mod decision;
mod entry;
mod exchanging;
mod hash;
mod info;
mod job;
mod logging;
mod mapping;
mod memory;
mod mock_up;
mod nodes;
mod operation;
mod parameters;
mod patience;
mod planning;
mod pml;
mod priority;
mod room;
mod rules;
mod schedules;
mod scratch;
mod segment;
mod settings;
mod tags;
mod tenancy;
mod topology;
mod watch;
mod work;
