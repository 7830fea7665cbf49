//! What users and tools learn of calls: report, profile, counters and log.

pub mod gathering;
pub mod logging;
pub mod names;
pub mod parts;
pub mod sampler;
pub mod watch;
