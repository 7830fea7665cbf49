//! The algorithms of the book's chapter "To add an algorithm" are right, and cost what they say.

// What the example finds in the library where it is added.
mod algorithms {
    pub use rustcoll::algorithms::*;
}
mod cost {
    pub use rustcoll::cost::*;
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
    check(|algorithm, problem| {
        verify(algorithm, problem).map_err(|violation| format!("{problem:?}: {violation}"))
    });
}

#[test]
fn they_cost_what_they_say() {
    check(|algorithm, problem| {
        let (stated, counted) = (algorithm.cost(problem), Cost::count(&algorithm.programs(problem)));
        let is_as_stated = stated == counted;
        is_as_stated
            .then_some(())
            .ok_or_else(|| format!("{problem:?}: {stated:?} is stated, {counted:?} counted"))
    });
}

fn check(check: fn(&Algorithm, &Problem) -> Result<(), String>) {
    let all = |_: &Problem| true;
    check_all(&[&ALGORITHM, &doubling_allgather::ALGORITHM], 1..=64, all, check)
        .unwrap_or_else(|failure| panic!("{failure}"));
}

/// A rank that does not pass the vector on, and what the chapter says is found then.
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
