//! `MPI_Bcast`: the root's vector reaches every rank. Its only buffer is the receive buffer.

pub mod binary;
pub mod bine;
pub mod binomial;
pub mod chain;
pub mod circulant_pipelined;
pub mod knomial;
pub mod linear;
pub mod node_aware;
pub mod node_aware_chain;
pub mod node_aware_knomial;
pub mod scatter_recursive_doubling_allgather;
pub mod scatter_ring_allgather;
pub mod scatter_ring_allgather_opt;
pub mod shared;
pub mod shared_leaders;
pub mod shared_leaders_pipelined;
pub mod single_copy;
