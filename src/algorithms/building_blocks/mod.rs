//! Parts that several algorithms are composed of. They act on the receive buffer, in place, for root 0.
//! `relabel` rotates them for another root; `embed` runs them in a subgroup.

pub mod bine;
pub mod binomial_tree;
pub mod butterfly;
pub mod circulant;
pub mod circulant_broadcast;
pub mod exchange_and_reduce;
pub mod far_to_near;
pub mod fold;
pub mod in_order_tree;
pub mod knomial_tree;
pub mod node_aware_tree;
pub mod placement;
pub mod receive_in_scratch;
pub mod recursive_halving;
pub mod ring_allgather;
pub mod ring_reduce_scatter;
pub mod shared_node;
pub mod shares;
pub mod show_on_arrival;
pub mod slots;
pub mod tree_broadcast;
pub mod tree_gather;
pub mod tree_reduce;

/// How many messages an overlapped program runs ahead of what it waits for. This bounds the memory for
/// messages that arrive early. More would gain nothing where a message takes no longer than sending eight.
pub const AHEAD: usize = 8;

/// How many messages of a root that all ranks send to, or that sends to all, are under way at a time. The
/// root keeps about 40 bytes for each. So many keep any network busy.
pub const ROOT_WINDOW: usize = 512;
