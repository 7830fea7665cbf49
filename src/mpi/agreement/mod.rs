//! Compares what all ranks must hold alike, and decides whether the component serves a communicator.

pub mod holdings;
pub mod priority;
