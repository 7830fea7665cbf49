//! Reproducible algorithms reduce by one expression, whatever else a call says; no other algorithm does.

use rustcoll::algorithms::{Algorithm, Collective, Problem, REGISTRY};
use rustcoll::verify::{Expression, Expressions, expressions, problems};
use std::collections::HashMap;

/// The results that must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Result {
    /// Of all ranks' contributions, in whichever collective.
    Total,
    /// Of the contributions of one of two groups: how many ranks the second has, and the contributors' first rank.
    Group(usize, usize),
    /// Of a scan, at a rank.
    Prefix(Collective, usize),
}

impl Result {
    fn of(collective: Collective, problem: &Problem, rank: usize) -> Result {
        match collective {
            Collective::Exscan | Collective::Scan => Result::Prefix(collective, rank),
            _ if problem.remote > 0 => Result::Group(problem.remote, problem.partners(rank).start),
            _ => Result::Total,
        }
    }
}

/// The expressions of all results on so many ranks, and those that were met.
#[derive(Default)]
struct Agreed {
    results: HashMap<Result, Expression>,
    known: Expressions,
}

impl Agreed {
    /// Whether all results of an algorithm, in every way it can be called, are as agreed. Who comes first decides.
    fn includes(&mut self, algorithm: &Algorithm, size: usize) -> bool {
        problems(algorithm, size).iter().all(|problem| {
            let results = expressions(algorithm, problem, &mut self.known).expect("verified");
            results.into_iter().all(|(rank, expression)| {
                *self.results.entry(Result::of(algorithm.contract(), problem, rank)).or_insert(expression)
                    == expression
            })
        })
    }

    /// What the reproducible algorithms agree on.
    fn on(size: usize) -> Agreed {
        let mut agreed = Agreed::default();
        for algorithm in reducing(true) {
            assert!(agreed.includes(algorithm, size), "{}, p = {size}", algorithm.title());
        }
        agreed
    }
}

/// The algorithms that reduce and are reproducible, or are not.
fn reducing(reproducible: bool) -> impl Iterator<Item = &'static Algorithm> {
    let chosen = move |algorithm: &&Algorithm| {
        algorithm.contract().reduces() && algorithm.is_reproducible() == reproducible
    };
    REGISTRY.iter().copied().filter(chosen)
}

#[test]
fn reproducible_algorithms_agree() {
    for size in 1..=64 {
        Agreed::on(size);
    }
}

#[test]
fn no_other_algorithm_agrees() {
    let sizes = 2..=9;
    let mut agreed: Vec<(usize, Agreed)> = sizes.map(|size| (size, Agreed::on(size))).collect();
    for algorithm in reducing(false) {
        let agrees = agreed.iter_mut().all(|(size, agreed)| agreed.includes(algorithm, *size));
        assert!(!agrees, "{} is reproducible", algorithm.title());
    }
}

#[test]
fn every_reduction_has_a_reproducible_algorithm_for_every_operator() {
    for collective in Collective::ALL.into_iter().filter(|collective| collective.reduces()) {
        let mut algorithms = collective.algorithms().filter(|algorithm| algorithm.is_reproducible());
        let serves_all =
            |algorithm: &Algorithm| (1..=64).all(|size| algorithm.serves(size, 0, false).is_ok());
        assert!(algorithms.any(serves_all), "{}", collective.name());
    }
}
