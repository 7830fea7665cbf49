//! Broadcast by single copies: all others copy the vector from the root's own memory.
//!
//! As `shared`, but the root publishes the address of its vector. At the end it waits until all have copied the vector.

use super::shared;
use crate::algorithms::building_blocks::slots::{NEEDS_OF_SINGLE_COPIES, SOURCE_OF_SINGLE_COPIES, lent};
use crate::algorithms::{Algorithm, Body};

pub const ALGORITHM: Algorithm = Algorithm {
    name: "single_copy",
    source: SOURCE_OF_SINGLE_COPIES,
    idea: "The root tells where its vector lies, and all others copy it from there.",
    avoid_when: "the vector is short, for each copy is a call of the system, or many ranks copy from one at once.",
    parameters: &[],
    requires: NEEDS_OF_SINGLE_COPIES,
    body: Body::Messages(|problem, rank| lent(shared::schedule(problem, rank))),
    ..shared::ALGORITHM
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::Problem;
    use crate::schedule::SlotKind;

    #[test]
    fn it_is_the_shared_one_but_for_what_slots_hold() {
        let problem = Problem { root: 1, ..Problem::new(3) };
        for rank in 0..3 {
            let lent = ALGORITHM.schedule(&problem, rank);
            assert_eq!(lent.slot_kind, SlotKind::Lent);
            assert_eq!(lent.steps, shared::ALGORITHM.schedule(&problem, rank).steps);
        }
    }
}
