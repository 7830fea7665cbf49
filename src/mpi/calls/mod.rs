//! How a call is served: its arguments, who remembers it, and how it begins, goes on and ends.

pub mod arguments;
pub mod blocking;
pub mod communicator;
pub mod exchanging;
pub mod host_memory;
pub mod job;
pub mod key;
pub mod mock_up;
pub mod nonblocking;
pub mod operation;
pub mod planning;
pub mod staged;
pub mod transfer;
pub mod uses;
