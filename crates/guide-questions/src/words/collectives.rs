//! What each collective does.

use rustcoll::algorithms::Collective::{self, *};

/// Describes a collective in a few sentences.
pub fn of_collective(collective: Collective) -> &'static str {
    match collective {
        Allgather => "Every rank has a block, and in the end every rank has the blocks of all ranks.",
        Allgatherv => {
            "Every rank has a block, and in the end every rank has the blocks of all ranks. Blocks may differ in length."
        }
        Allreduce => {
            "The vectors of all ranks are combined element by element, by adding for instance, and every rank gets the result."
        }
        Alltoall => "Every rank has a block for each rank. Block j of rank i becomes block i of rank j.",
        Alltoallv => {
            "Every rank has a block for each rank. Block j of rank i becomes block i of rank j. Blocks may differ in length."
        }
        Alltoallw => {
            "Every rank has a block for each rank. Block j of rank i becomes block i of rank j. Blocks may differ in length and in type."
        }
        Barrier => "No rank leaves before all ranks have come. No data travel.",
        Bcast => "The root has a vector, and in the end every rank has it.",
        Exscan => {
            "Rank i gets the combination of the vectors of the ranks below it, its own not included. Rank 0 gets nothing."
        }
        Gather => "Every rank has a block, and the root gets the blocks of all ranks.",
        Gatherv => {
            "Every rank has a block, and the root gets the blocks of all ranks. Blocks may differ in length."
        }
        NeighborAllgather => "Every rank has neighbours in a topology, and gets the block of each of them.",
        NeighborAllgatherv => {
            "Every rank has neighbours in a topology, and gets the block of each of them. Blocks may differ in length."
        }
        NeighborAlltoall => {
            "Every rank has neighbours in a topology, and sends a block of its own to each of them."
        }
        NeighborAlltoallv => {
            "Every rank has neighbours in a topology, and sends a block of its own to each of them. Blocks may differ in length."
        }
        NeighborAlltoallw => {
            "Every rank has neighbours in a topology, and sends a block of its own to each of them. Blocks may differ in length and in type."
        }
        Reduce => {
            "The vectors of all ranks are combined element by element, by adding for instance, and the root gets the result."
        }
        ReduceScatter => {
            "The vectors of all ranks are combined element by element, and rank i gets block i of the result. Blocks may differ in length."
        }
        ReduceScatterBlock => {
            "The vectors of all ranks are combined element by element, and rank i gets block i of the result. All blocks have one length."
        }
        Scan => "Rank i gets the combination of the vectors of the ranks up to i, its own included.",
        Scatter => "The root has a block for each rank, and every rank gets its own.",
        Scatterv => {
            "The root has a block for each rank, and every rank gets its own. Blocks may differ in length."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_collective_is_told_apart_in_one_or_two_sentences() {
        let mut told: Vec<&str> = Collective::ALL.into_iter().map(of_collective).collect();
        assert!(told.iter().all(|text| text.ends_with('.') && text.matches(". ").count() <= 2));
        told.sort_unstable();
        told.dedup();
        assert_eq!(told.len(), Collective::ALL.len());
    }
}
