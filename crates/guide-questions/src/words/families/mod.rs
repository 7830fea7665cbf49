//! What the messages of a family of algorithms are for.

mod binary_blocks;
mod bruck;
mod circulant;
mod direct;
mod dissemination;
mod doubling;
mod groups;
mod in_order;
mod line;
mod multiplying;
mod neighbours;
mod nodes;
mod pipeline;
mod ring;
mod scan;
mod scatter_allgather;
mod tree;

#[cfg(test)]
pub mod testing;

use super::Explained;
use super::scene::Scene;
use crate::trace::Sentence;
use rustcoll::algorithms::Algorithm;
use rustcoll::trace::Travel;

/// What a family knows of its algorithms.
#[derive(Clone, Copy)]
pub struct Family {
    /// To which phase a message of a step belongs; none, if it does not look as it should.
    pub phase: fn(&Scene, &Travel) -> Option<Phase>,
    /// What is said of the messages of a step as a whole, if each belongs to a phase.
    pub whole: fn(&Scene) -> Vec<Sentence>,
    /// What ranks do on their own in a step, if the family knows more than the works show.
    pub work: fn(&Scene) -> Option<Explained>,
    /// What is worth knowing of a run as a whole.
    pub facts: fn(&Scene) -> Vec<String>,
}

/// What several messages of a step have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// What the step is called.
    pub title: Option<String>,
    /// What the messages are for.
    pub sentences: Vec<Sentence>,
    /// What is said of their blocks, instead of what they show.
    pub blocks: Option<Sentence>,
}

impl Phase {
    /// A phase of which one sentence is said.
    pub fn new(title: impl Into<String>, sentence: Sentence) -> Phase {
        Phase { title: Some(title.into()), sentences: vec![sentence], blocks: None }
    }
}

impl Default for Family {
    fn default() -> Family {
        Family::NONE
    }
}

impl Family {
    /// That of which nothing is known.
    pub const NONE: Family =
        Family { phase: |_, _| None, whole: |_| Vec::new(), work: |_| None, facts: |_| Vec::new() };

    /// The family of an algorithm. Without one, its steps are explained by what they show, as those of a user's schedule.
    pub fn of(algorithm: &Algorithm) -> Option<Family> {
        use rustcoll::algorithms::Collective::{Barrier, Exscan, Scan};
        Some(match algorithm.name {
            "bruck" | "bruck_modified" | "bruck_two_phase" | "bruck_padded" => bruck::FAMILY,
            "linear" if matches!(algorithm.contract(), Scan | Exscan) => line::FAMILY,
            "ring" if algorithm.contract() == Barrier => line::FAMILY,
            "neighbor_exchange" => neighbours::FAMILY,
            "binomial_in_order" | "binary_in_order" => in_order::FAMILY,
            "spread_out" | "linear_window" | "pairwise" | "linear" | "inter_linear" => direct::FAMILY,
            "ring" | "ring_segmented" => ring::FAMILY,
            "recursive_doubling" if matches!(algorithm.contract(), Scan | Exscan) => scan::FAMILY,
            "recursive_doubling" | "rabenseifner" | "rabenseifner_far" | "recursive_halving"
            | "butterfly" => doubling::FAMILY,
            "binary_blocks" => binary_blocks::FAMILY,
            "binomial" | "knomial" | "binary" | "tree" | "gather_bcast" | "reduce_bcast"
            | "non_overlapping" => tree::FAMILY,
            "chain" | "circulant_pipelined" => pipeline::FAMILY,
            "scatter_recursive_doubling_allgather"
            | "scatter_ring_allgather"
            | "scatter_ring_allgather_opt" => scatter_allgather::FAMILY,
            "dissemination" => dissemination::FAMILY,
            "circulant" | "postal" | "allgather_reduce" => circulant::FAMILY,
            "recursive_multiplying" => multiplying::FAMILY,
            "inter_leaders" => groups::FAMILY,
            "node_aware"
            | "node_aware_circulant"
            | "node_aware_knomial"
            | "node_aware_chain"
            | "shared_leaders"
            | "shared_multi_leaders"
            | "shared_multi_leaders_multiplying"
            | "shared_multi_leaders_pipelined"
            | "shared_leaders_pipelined" => nodes::FAMILY,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustcoll::algorithms::REGISTRY;

    /// A new algorithm needs no family: what its steps show explains them. But a renamed algorithm must not lose its family.
    #[test]
    fn no_algorithm_has_lost_its_family() {
        let known = REGISTRY.iter().filter(|algorithm| Family::of(algorithm).is_some()).count();
        assert_eq!(
            known, 107,
            "so many algorithms have a family; if you gave one to another algorithm, raise the number"
        );
    }
}
