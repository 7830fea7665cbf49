//! The transport over MPI's messages, and the temporary memory of calls.

pub mod channel;
pub mod copying;
pub mod memory;
pub mod room;
pub mod scratch;
pub mod tags;
pub mod transport;
pub mod work;
