//! What the user and tools are told of calls.

pub mod gathering;
pub mod logging;
pub mod names;
pub mod parts;
pub mod sampler;
pub mod watch;
