//! Algorithms whose results are reproducible: an element of the result depends only on the number of ranks and on their
//! values of that element. It does not depend on its place in the vector, the vector's length, the root or the
//! algorithm's parameters. The operator must treat all elements alike.
//!
//! All algorithms listed here even use the same expression, in allreduce, reduce and reduce-scatter. They combine pairs
//! of neighbours until a power of two of operands is left. Then they combine neighbouring operands, neighbouring
//! results, and so on:
//!
//! ```text
//! p = 5        ((01)2)(34)
//! p = 8        ((01)(23))((45)(67))
//! ```
//!
//! Between two groups, the values of each group are reduced by an expression of the group's own.
//!
//! Operands stay in the order of ranks, so operators need not commute. In the scans each rank has an expression of its
//! own. `tests/reproducible.rs` proves all this, and that no other algorithm belongs here: `binary_blocks`,
//! `reduce_bcast` and `non_overlapping` agree with each other, but on another expression.

use super::{Algorithm, Collective};

impl Algorithm {
    /// Whether its results are reproducible. Results of algorithms that only move data always are.
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
