//! What the user and tools are told of calls.

pub mod logging;
pub mod watch;
