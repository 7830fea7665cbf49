//! Reductions of elements that interleave, and of an element without extent.

mod common;

use common::{compiled, mpirun, run};
use rustcoll::algorithms::{Collective, Parameter};

const REDUCTIONS: [Collective; 4] =
    [Collective::Reduce, Collective::Allreduce, Collective::Scan, Collective::Exscan];

fn has_radix(collective: Collective) -> bool {
    collective.algorithms().any(|algorithm| algorithm.parameters.contains(&Parameter::Radix))
}

#[test]
fn unusual_elements_are_reduced_by_a_user_s_operator() {
    let program = compiled("columns");
    // The program also leaves the choice to the rules.
    let algorithms: usize =
        REDUCTIONS.into_iter().map(|collective| 1 + collective.algorithms().count()).sum();
    for ranks in [3, 4, 5] {
        let mut command = mpirun(ranks);
        // With this radix, ranks have several vectors in temporary memory.
        for collective in REDUCTIONS.into_iter().filter(|&collective| has_radix(collective)) {
            command.args(["--mca", &format!("coll_rustcoll_{}_radix", collective.name()), "3"]);
        }
        let job = run(command.arg(&program));
        job.assert(job.success, "the program failed");
        job.assert_contains(&format!("{algorithms} algorithms\n0 wrong\n"));
    }
}
