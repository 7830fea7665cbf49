//! The algorithms of the book's chapter "To add an algorithm" must be right, and cost what their headers state.

// Modules that the example finds in the library once it is added.
mod algorithms {
    pub use rustcoll::algorithms::*;
}
mod schedule {
    pub use rustcoll::schedule::*;
}

#[path = "../docs/adding-an-algorithm/double_chain.rs"]
mod double_chain;
#[path = "../docs/adding-an-algorithm/doubling_allgather.rs"]
mod doubling_allgather;

use double_chain::ALGORITHM;
use rustcoll::algorithms::{Algorithm, Problem};
use rustcoll::cost::Cost;
use rustcoll::verify::{check_all, verify, verify_schedules};

#[test]
fn they_are_right_on_up_to_64_ranks() {
    let check = |algorithm: &Algorithm, problem: &Problem| {
        verify(algorithm, problem).map_err(|violation| format!("{problem:?}: {violation}"))
    };
    check_all(&[&ALGORITHM, &doubling_allgather::ALGORITHM], 1..=64, |_| true, check)
        .unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn they_cost_what_their_headers_say() {
    for size in 3..=64 {
        let segments = 1 + size % 5;
        let problem = Problem { segments, ..Problem::new(size) };
        let cost = Cost::count(&ALGORITHM.programs(&problem));
        assert_eq!(cost.rounds, 2 * (segments - 1) + size.div_ceil(2), "p={size}");
        let cost = Cost::count(&doubling_allgather::ALGORITHM.programs(&problem));
        assert_eq!(
            (cost.rounds, cost.blocks),
            (size.next_power_of_two().ilog2() as usize, size - 1),
            "p={size}"
        );
    }
}

/// Removes steps of a rank, so that it does not pass the vector on. The verifier must report the fault that the
/// chapter shows.
#[test]
fn a_fault_is_found() {
    let problem = Problem::new(5);
    let mut schedules = ALGORITHM.programs(&problem);
    assert_eq!(schedules[1].messages_sent(), 1);
    schedules[1].steps.truncate(2);
    let violation = verify_schedules(ALGORITHM.contract(), &problem, true, &schedules);
    assert_eq!(
        violation.unwrap_err().to_string(),
        "rank 2, step 0: unmatched receive of recv[0] from rank 1 (post 0)"
    );
}
