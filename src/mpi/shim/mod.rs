//! The interface to C: the header's bindings, the functions that a shim calls, and the boundary that no panic crosses.

pub mod bindings;
pub mod entry;
pub mod panics;
