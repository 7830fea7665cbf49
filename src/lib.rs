//! rustcoll: collective algorithms as data.
//!
//! Every algorithm is a pure function from (rank, size, root, parameters) to a [`schedule::Schedule`]. The same
//! schedule is verified for all ranks ([`verify`]), priced on a machine ([`cost`]) and executed over any transport
//! ([`engine`]); the Open MPI component (feature `component`) and the library that is loaded before another MPI (`interpose`) run it
//! under `MPI_Allreduce` and its kin.

pub mod algorithms;
pub mod atlas;
#[cfg(any(feature = "component", feature = "interpose"))]
mod coll_component;
pub mod cost;
pub mod engine;
mod parallel;
mod random;
pub mod report;
pub mod schedule;
pub mod selection;
pub mod text;
pub mod trace;
pub mod verify;
