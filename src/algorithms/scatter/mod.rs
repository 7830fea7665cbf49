//! `MPI_Scatter` and `MPI_Scatterv`: each rank receives its block of the root's vector. The other ranks have no send
//! buffer, and with `MPI_Scatterv` only the root knows the lengths of all blocks, unless they are sent ahead.

pub mod bine;
pub mod binomial;
pub mod linear;
pub mod shared;
pub mod single_copy;
