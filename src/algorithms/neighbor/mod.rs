//! The neighbourhood collectives: each rank exchanges blocks with its neighbours in a process topology. Unless the blocks of all ranks are
//! equally long, only the two ranks of an edge know the length of its block, so it must go from one to the other directly.

pub mod combining;
pub mod linear;
