//! `MPI_Gather` and `MPI_Gatherv`: the root receives the block of each rank. The other ranks have no receive buffer,
//! and with `MPI_Gatherv` only the root knows the lengths of all blocks, unless they are sent ahead.

pub mod bine;
pub mod binomial;
pub mod linear;
pub mod shared;
pub mod single_copy;
