//! Reproducible algorithms always reduce by the same expression, whatever the call's other properties. No other
//! algorithm does.

use rustcoll::algorithms::{Algorithm, Collective, Problem, REGISTRY};
use rustcoll::verify::{Expression, Expressions, expressions, problems};
use std::collections::HashMap;

/// Results that must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Result {
    /// The result of all ranks' contributions, in any collective.
    Total,
    /// The result of one of two groups' contributions: the number of ranks in the second group, and the first
    /// contributor.
    Group(usize, usize),
    /// The result of a scan on a rank.
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

/// The expressions of all results on a given number of ranks, and all expressions so far.
#[derive(Default)]
struct Agreed {
    results: HashMap<Result, Expression>,
    known: Expressions,
}

impl Agreed {
    /// Whether all results of an algorithm, in every way it can be called, agree with the earlier ones. The first
    /// result sets the expression.
    fn includes(&mut self, algorithm: &Algorithm, size: usize) -> bool {
        problems(algorithm, size).iter().all(|problem| {
            let results = expressions(algorithm, problem, &mut self.known).expect("verified");
            results.into_iter().all(|(rank, expression)| {
                *self.results.entry(Result::of(algorithm.contract(), problem, rank)).or_insert(expression)
                    == expression
            })
        })
    }

    /// Returns the results on which the reproducible algorithms agree.
    fn on(size: usize) -> Agreed {
        let mut agreed = Agreed::default();
        for algorithm in reducing(true) {
            assert!(agreed.includes(algorithm, size), "{}, p = {size}", algorithm.title());
        }
        agreed
    }
}

/// Returns the reducing algorithms that are reproducible, or those that are not.
fn reducing(reproducible: bool) -> impl Iterator<Item = &'static Algorithm> {
    let chosen = move |algorithm: &&Algorithm| {
        algorithm.contract().reduces() && algorithm.is_reproducible() == reproducible
    };
    REGISTRY.iter().copied().filter(chosen)
}

#[test]
fn reproducible_algorithms_agree_on_up_to_40_ranks() {
    (1..=40).for_each(|size| drop(Agreed::on(size)));
}

#[test]
#[ignore = "takes a quarter of a minute"]
fn reproducible_algorithms_agree_on_up_to_64_ranks() {
    (41..=64).for_each(|size| drop(Agreed::on(size)));
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
