//! Reductions of elements that interleave, or have no extent.

mod common;

use common::{compiled, mpirun, run};
use rustcoll::algorithms::{Algorithm, Collective, Parameter, Requirement};

/// Algorithms that serve operators of a program's own on one node; and all mock-ups, forced in vain or not.
fn algorithms(collective: Collective) -> impl Iterator<Item = &'static Algorithm> {
    collective.algorithms().filter(|algorithm| {
        let needs = |requirement| algorithm.requires.contains(&requirement);
        algorithm.is_mock_up() || (!needs(Requirement::Predefined) && !needs(Requirement::TwoGroups))
    })
}

#[test]
fn columns_of_a_matrix_are_reduced_by_a_user_s_operator() {
    let of = |collective: Collective| algorithms(collective).map(move |algorithm| (collective, algorithm));
    let forced = of(Collective::Reduce).chain(of(Collective::Allreduce)).chain(of(Collective::Scan));
    let forced: Vec<_> = forced.map(Some).chain([None]).collect();
    assert!(forced.len() > 20);
    for (number, choice) in forced.into_iter().enumerate() {
        // Mock-ups pad 8 columns if these are no multiple of the ranks.
        let is_mock_up = choice.is_some_and(|(_, algorithm)| algorithm.is_mock_up());
        let mut command = mpirun(if is_mock_up { 3 } else { [3, 4, 5][number % 3] });
        if let Some((collective, algorithm)) = choice {
            let mut set = |parameter: &str, value: &str| {
                let name = format!("coll_rustcoll_{}_{parameter}", collective.name());
                command.args(["--mca", &name, value]);
            };
            set("algorithm", algorithm.name);
            // With this radix, ranks have several vectors in temporary memory.
            if algorithm.parameters.contains(&Parameter::Radix) {
                set("radix", "3");
            }
        }
        let choice = choice.map(|(collective, algorithm)| (collective, algorithm.name));
        let job = run(command.arg(compiled("columns")));
        job.assert(job.success, &format!("the program failed with {choice:?}"));
        job.assert(
            job.text.contains("\n0 wrong") || job.text.starts_with("0 wrong"),
            &format!("wrong with {choice:?}"),
        );
    }
}
