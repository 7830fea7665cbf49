//! Serves calls: reads their arguments, remembers how they are served, and carries them out.

pub mod arguments;
pub mod attached;
pub mod blocking;
pub mod communicator;
pub mod exchanging;
pub mod host_memory;
pub mod job;
pub mod key;
pub mod mock_up;
pub mod neighbours;
pub mod nonblocking;
pub mod operation;
pub mod planning;
pub mod precedents;
pub mod staged;
pub mod transfer;
pub mod uses;
