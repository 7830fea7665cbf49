//! What runs inside an MPI, whichever it is: the entry points for the C shim, and the transport over MPI's messages.
//!
//! A shim knows one MPI's structures and contains what only C can say: that of `src/coll_component` makes a component of Open MPI,
//! that of `src/interpose` a library that is loaded before another MPI. Every decision is taken here. *The component below* is
//! whatever serves the calls that rustcoll does not: another component, or the MPI itself.

mod agreement;
mod arguments;
mod bindings;
mod blocking;
mod channel;
mod communicator;
mod decision;
mod entry;
mod exchanging;
mod hash;
mod info;
mod job;
mod key;
mod logging;
mod mapping;
mod memory;
mod messages;
mod mock_up;
mod nodes;
mod nonblocking;
mod operation;
mod panics;
mod parameters;
mod patience;
mod planning;
mod priority;
mod room;
mod rules;
mod schedules;
mod scratch;
mod segment;
mod settings;
mod sharing;
mod tags;
mod tenancy;
mod topology;
mod transfer;
mod watch;
mod work;
