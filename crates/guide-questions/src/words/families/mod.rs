//! Explains what the messages of each family of algorithms are for.

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

/// Explanations that a family of algorithms gives.
#[derive(Clone, Copy)]
pub struct Family {
    /// Returns the phase of a message of a step; none if the message does not look as the family expects.
    pub phase: fn(&Scene, &Travel) -> Option<Phase>,
    /// Returns sentences about all messages of a step together, if each of them belongs to a phase.
    pub whole: fn(&Scene) -> Vec<Sentence>,
    /// Explains a step without messages, if the family knows more than the works show.
    pub work: fn(&Scene) -> Option<Explained>,
    /// Returns facts about a run as a whole.
    pub facts: fn(&Scene) -> Vec<String>,
}

/// What several messages of a step have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// Title of the step.
    pub title: Option<String>,
    /// What the messages are for.
    pub sentences: Vec<Sentence>,
    /// A sentence about the messages' blocks, which replaces the general one.
    pub blocks: Option<Sentence>,
}

impl Phase {
    /// Returns a phase with a title and one sentence.
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
    /// The family of algorithms about which nothing is known.
    pub const NONE: Family =
        Family { phase: |_, _| None, whole: |_| Vec::new(), work: |_| None, facts: |_| Vec::new() };

    /// Returns the family of an algorithm. Without a family, the messages and works alone explain a step.
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
            // Its steps explain themselves: no node sums up what all ranks have.
            "shared_leaders" if matches!(algorithm.contract(), Scan | Exscan) => return None,
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

    /// A new algorithm needs no family, as its steps explain themselves. A renamed one must keep its family.
    #[test]
    fn no_algorithm_has_lost_its_family() {
        let known = REGISTRY.iter().filter(|algorithm| Family::of(algorithm).is_some()).count();
        assert_eq!(
            known, 115,
            "so many algorithms have a family; if you gave one to another algorithm, raise the number"
        );
    }
}
