//! rustcoll: collective algorithms as data.
//!
//! Every algorithm is a pure function from (rank, size, root, parameters) to a [`schedule::Schedule`]. The same
//! schedule is verified for all ranks ([`verify`]), priced on a machine ([`cost`]) and executed over any transport
//! ([`engine`]); inside an MPI (feature `mpi`) it runs under `MPI_Allreduce` and its kin.

pub mod algorithms;
pub mod atlas;
pub mod cost;
pub mod engine;
pub mod hash;
#[cfg(feature = "mpi")]
mod mpi;
pub mod parallel;
pub mod random;
pub mod report;
pub mod schedule;
pub mod schedule_file;
pub mod selection;
pub mod text;
pub mod trace;
pub mod verify;

/// The interface of the shims (`shim.h`), for a shim in Rust.
#[cfg(feature = "mpi")]
pub use mpi::shim::bindings as shim;
