//! How data move: the transport over MPI's messages, and the temporary memory it takes.

pub mod channel;
pub mod memory;
pub mod room;
pub mod scratch;
pub mod tags;
pub mod transport;
pub mod work;
