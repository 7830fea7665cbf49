//! Proofs that serve several problems of one algorithm.
//!
//! Many problems lead to programs that were verified before, in other words: a radix makes no difference on few ranks, and what was
//! written for root 0 serves every root once its ranks are renamed. So programs are brought to a normal form, in which the root is
//! rank 0, and each normal form is verified once. Nothing is taken on trust: normal forms are compared step by step.

use super::{Violation, verify_programs};
use crate::algorithms::{Algorithm, Cut, Problem};
use crate::schedule::{Buffer, Run, Schedule, Step};
use std::collections::HashSet;
use std::sync::Arc;

/// What was verified of one algorithm.
pub struct Proofs {
    algorithm: &'static Algorithm,
    /// For what, and the programs in words.
    proved: HashSet<(Problem, Vec<u32>)>,
}

impl Proofs {
    /// None yet.
    pub fn new(algorithm: &'static Algorithm) -> Self {
        Proofs { algorithm, proved: HashSet::new() }
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// Verifies the schedules that the algorithm makes for a problem.
    pub fn verify(&mut self, problem: &Problem) -> Result<(), Violation> {
        self.verify_programs(problem, &self.algorithm.programs(problem))
    }

    /// Verifies the schedules of all ranks, rank 0's first, unless the same were verified before under other names.
    pub fn verify_programs(&mut self, problem: &Problem, schedules: &[Schedule]) -> Result<(), Violation> {
        let root = if self.roots_are_alike(problem) { problem.root } else { 0 };
        let has_slots = schedules.iter().any(|schedule| schedule.slots > 0);
        let proof = (asked(problem, root, has_slots), self.words(schedules, root));
        if !self.proved.contains(&proof) {
            verify_programs(self.algorithm, problem, schedules)?;
            self.proved.insert(proof);
        }
        Ok(())
    }

    /// Whether what a collective promises is the same for every root but for the names of the ranks. The order of operands is the
    /// order of names.
    fn roots_are_alike(&self, problem: &Problem) -> bool {
        let collective = self.algorithm.collective;
        let is_ordered = collective.reduces() && self.algorithm.keeps_order();
        collective.is_rooted() && problem.remote == 0 && !is_ordered
    }

    /// The programs in words, after ranks were renamed so that this root is rank 0; and blocks, where they bear the numbers of ranks.
    fn words(&self, schedules: &[Schedule], root: usize) -> Vec<u32> {
        let size = schedules.len();
        // A rank that does not exist keeps its number, so that it is taken for no other.
        let renamed = |rank: usize| if rank < size { (rank + size - root) % size } else { rank };
        let mut words = Vec::new();
        for place in 0..size {
            let schedule = &schedules[(place + root) % size];
            match root > 0 && self.algorithm.collective.cut() == Cut::Ranks {
                true => write_words(&schedule.clone().relabel_blocks(size - root), renamed, &mut words),
                false => write_words(schedule, renamed, &mut words),
            }
        }
        words
    }
}

/// Appends a program in words, with the ranks renamed. Different programs have different words.
fn write_words(schedule: &Schedule, renamed: impl Fn(usize) -> usize, words: &mut Vec<u32>) {
    let Schedule { rank, size, blocks, slots, steps } = schedule;
    words.extend([renamed(*rank), *size, *blocks, *slots, steps.len()].map(|number| number as u32));
    let renamed = |rank: u32| renamed(rank as usize) as u32;
    let run = |run: &Run| {
        let buffer = match run.buffer {
            Buffer::Send => 0,
            Buffer::Recv => 1,
            Buffer::Scratch => 2,
            Buffer::Shared(rank) => 3 + renamed(rank),
        };
        [buffer, run.first, run.count]
    };
    for step in steps {
        match step {
            Step::Send { post, peer, message } => {
                words.extend([0, *post, renamed(*peer), message.runs().len() as u32]);
                words.extend(message.runs().iter().flat_map(run));
            }
            Step::Receive { post, peer, message } => {
                words.extend([1, *post, renamed(*peer), message.runs().len() as u32]);
                words.extend(message.runs().iter().flat_map(run));
            }
            Step::Wait { posts } => {
                words.extend([2, posts.len() as u32]);
                words.extend(posts);
            }
            Step::Copy { source, target } => {
                words.push(3);
                words.extend([source, target].into_iter().flat_map(run));
            }
            Step::Reduce { left, right, target } => {
                words.push(4);
                words.extend([left, right, target].into_iter().flat_map(run));
            }
            Step::Notify { slot } => words.extend([5, *slot]),
            Step::Await { rank, slot, times } => words.extend([6, renamed(*rank), *slot, *times]),
        }
    }
}

/// What the verifier asks of a problem, after ranks were renamed so that this root is rank 0. Parameters matter only to those who
/// make schedules, nodes only where programs have slots.
fn asked(problem: &Problem, root: usize, has_slots: bool) -> Problem {
    let size = problem.size;
    let nodes: Arc<[u32]> = match has_slots {
        true => renamed_nodes(&problem.nodes, root),
        false => Arc::default(),
    };
    Problem {
        remote: problem.remote,
        root: (problem.root + size - root) % size,
        in_place: problem.in_place,
        nodes,
        graph: problem.graph.clone(),
        ..Problem::new(size)
    }
}

/// The node of each rank after the ranks were renamed. Nodes are numbered in the order in which ranks come to them.
fn renamed_nodes(nodes: &[u32], root: usize) -> Arc<[u32]> {
    let mut seen = Vec::new();
    let number = |rank: usize| {
        let node = nodes[(rank + root) % nodes.len()];
        let known = seen.iter().position(|&other| other == node);
        known.unwrap_or_else(|| {
            seen.push(node);
            seen.len() - 1
        }) as u32
    };
    (0..nodes.len()).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::Collective;
    use crate::verify::problems;

    /// How many programs are verified for all problems of an algorithm.
    fn proofs(collective: Collective, name: &str, size: usize) -> usize {
        let mut proofs = Proofs::new(collective.algorithm(name).unwrap());
        problems(proofs.algorithm, size).iter().for_each(|problem| proofs.verify(problem).unwrap());
        proofs.proved.len()
    }

    #[test]
    fn one_proof_serves_every_root() {
        assert_eq!(proofs(Collective::Bcast, "scatter_ring_allgather", 10), 1);
        assert_eq!(proofs(Collective::Gather, "binomial", 10), 2);
        assert_eq!(proofs(Collective::Scatter, "binomial", 10), 2);
        assert_eq!(proofs(Collective::Bcast, "shared", 10), 1);
    }

    #[test]
    fn each_root_has_its_own_where_operands_have_an_order() {
        assert_eq!(proofs(Collective::Reduce, "binomial_in_order", 5), 2 * 5 * 5);
    }

    #[test]
    fn a_rank_that_does_not_exist_is_taken_for_no_other() {
        let mut proofs = Proofs::new(Collective::Bcast.algorithm("linear").unwrap());
        for root in [0, 1] {
            let problem = Problem { root, ..Problem::new(3) };
            proofs.verify(&problem).unwrap();
            let mut schedules = proofs.algorithm.programs(&problem);
            for step in &mut schedules[2].steps {
                if let Step::Receive { peer, .. } = step {
                    *peer += 3;
                }
            }
            assert!(proofs.verify_programs(&problem, &schedules).is_err());
        }
    }

    #[test]
    fn nodes_are_renamed_with_their_ranks() {
        assert_eq!(*renamed_nodes(&[0, 0, 1, 1, 2], 3), [0, 1, 2, 2, 0]);
        assert_eq!(*renamed_nodes(&[4, 4, 4], 1), [0, 0, 0]);
        assert!(renamed_nodes(&[], 1).is_empty());
    }
}
