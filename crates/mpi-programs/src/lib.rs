//! Programs over a real MPI. This library has what the demonstration, the measuring program and the conformance test
//! share.
//!
//! All `unsafe` code is in thin wrappers here; the programs themselves are safe.

pub mod call;
pub mod clock;
pub mod command_line;
pub mod communicator;
pub mod component;
pub mod datatype;
pub mod device;
pub mod environment;
#[cfg_attr(mpich_abi, path = "handles_of_mpich.rs")]
#[cfg_attr(standard_abi, path = "handles_of_standard.rs")]
mod handles;
mod image;
pub mod invocation;
pub mod memory;
pub mod mock_up;
pub mod operator;
#[cfg_attr(persistent_extension, path = "persistent_of_extension.rs")]
mod persistent;
pub mod preloaded;
pub mod pretended_nodes;
pub mod shares;
pub mod tools;
pub mod topology;
