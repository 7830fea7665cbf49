//! Algorithms whose results are reproducible: an element of the result depends only on the number of ranks and on their
//! values of that element; not on its place in the vector, the vector's length, the root or an algorithm's parameters; as
//! long as the operator treats all elements alike.
//!
//! More than that: all that are listed here reduce the ranks' values by one and the same expression, whichever of them
//! runs, and whether they serve an allreduce, a reduce or a reduce-scatter. Pairs of neighbours are combined until a
//! power of two of operands is left, then neighbours, neighbours of these, and so on:
//!
//! ```text
//! p = 5        ((01)2)(34)
//! p = 8        ((01)(23))((45)(67))
//! ```
//!
//! Between two groups each group's values are reduced by one expression of its own.
//!
//! Operands stay in the order of ranks, so operators that do not commute are served as well. In the scans each rank has
//! an expression of its own. `tests/reproducible.rs` proves all this, and that no other algorithm belongs here:
//! `binary_blocks`, `reduce_bcast` and `non_overlapping` agree among each other, but on another expression.

use super::{Algorithm, Collective};

impl Algorithm {
    /// Whether its results are reproducible. What only moves data always is.
    pub fn is_reproducible(&self) -> bool {
        let reproducible: &[&str] = match self.contract() {
            Collective::Allreduce => &["recursive_doubling", "rabenseifner", "inter_leaders"],
            Collective::Reduce => &["binomial_in_order", "rabenseifner", "inter_leaders"],
            Collective::ReduceScatter | Collective::ReduceScatterBlock => {
                &["recursive_doubling", "butterfly", "inter_leaders"]
            }
            Collective::Exscan | Collective::Scan => &["recursive_doubling"],
            collective => return !collective.reduces(),
        };
        reproducible.contains(&self.name)
    }
}
