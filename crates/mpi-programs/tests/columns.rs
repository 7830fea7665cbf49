//! Reductions of elements that interleave.

mod common;

use common::{compiled, mpirun, run};
use rustcoll::algorithms::{Algorithm, Collective, Requirement};

/// Algorithms that serve operators of a program's own on one node, without other collectives.
fn algorithms(collective: Collective) -> impl Iterator<Item = &'static Algorithm> {
    collective.algorithms().filter(|algorithm| {
        let needs = |requirement| algorithm.requires.contains(&requirement);
        !needs(Requirement::Predefined) && !needs(Requirement::TwoGroups) && !algorithm.is_mock_up()
    })
}

#[test]
fn columns_of_a_matrix_are_reduced_by_a_user_s_operator() {
    let of =
        |collective: Collective| algorithms(collective).map(move |algorithm| (collective, algorithm.name));
    let forced = of(Collective::Reduce).chain(of(Collective::Allreduce)).chain(of(Collective::Scan));
    let forced: Vec<_> = forced.map(Some).chain([None]).collect();
    assert!(forced.len() > 20);
    for (number, choice) in forced.into_iter().enumerate() {
        let mut command = mpirun([3, 4, 5][number % 3]);
        if let Some((collective, algorithm)) = choice {
            let parameter = format!("coll_rustcoll_{}_algorithm", collective.name());
            command.args(["--mca", &parameter, algorithm]);
        }
        let job = run(command.arg(compiled("columns")));
        job.assert(job.success, &format!("the program failed with {choice:?}"));
        job.assert(
            job.text.contains("\n0 wrong") || job.text.starts_with("0 wrong"),
            &format!("wrong with {choice:?}"),
        );
    }
}
