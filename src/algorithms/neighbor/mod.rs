//! The neighbourhood collectives: each rank exchanges blocks with its neighbours in a process topology. Unless the blocks of all ranks are
//! equally long, only the two ranks of an edge know the length of its block. Another rank can pass it on only if lengths travel first.

pub mod combining;
pub mod linear;
pub mod node_aware;
pub mod shared;
pub mod single_copy;
