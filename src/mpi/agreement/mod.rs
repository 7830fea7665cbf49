//! What all ranks must hold alike, and whether the component serves a communicator at all.

pub mod holdings;
pub mod priority;
