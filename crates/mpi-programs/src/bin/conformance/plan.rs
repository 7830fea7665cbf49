//! Which cases are tested for one algorithm and size.

use std::collections::HashSet;

use mpi_programs::operator::Arithmetic;
use mpi_programs::random::{Generator, combine};
use rustcoll::algorithms::{Algorithm, Collective, Parameter};

use crate::case::Case;
use crate::options::Options;
use crate::shape::Sides;

const LONG: usize = 100_003;

/// Cases in the order in which they are run.
pub struct Plan {
    pub cases: Vec<Case>,
    /// The first so many show every value of every feature at least once.
    pub indispensable: usize,
}

/// Draws a sample of all cases, the same on all ranks.
pub fn draw(
    collective: Collective,
    algorithm: Option<&'static Algorithm>,
    size: usize,
    options: &Options,
) -> Plan {
    let mut random = Generator::new(combine(&[options.seed, size as u64]));
    let mut cases = product(collective, algorithm, size, options.long, &mut random);
    random.shuffle(&mut cases);
    let mut seen = HashSet::new();
    // Every feature has to be looked at, hence no short circuit.
    let is_new = |case: &Case| case.features().into_iter().filter(|it| seen.insert(it.clone())).count() > 0;
    let (mut cases, others): (Vec<_>, Vec<_>) = cases.into_iter().partition(is_new);
    let indispensable = cases.len();
    let room = options.cases.saturating_sub(indispensable);
    cases.extend(others.into_iter().take(room));
    Plan { cases, indispensable }
}

fn product(
    collective: Collective,
    algorithm: Option<&'static Algorithm>,
    size: usize,
    long: bool,
    random: &mut Generator,
) -> Vec<Case> {
    let start = vec![Case::simple(collective, algorithm, size)];
    let cases = vary(start, &settings(algorithm, size), |case, value| case.parameters = value.clone());
    let cases = vary(cases, &roots(collective, size, random), |case, &value| case.root = value);
    let cases = vary(cases, &counts(size, long), |case, &value| case.count = value);
    let cases = vary(cases, in_place(collective), |case, &value| case.in_place = value);
    let cases = vary(cases, &sides(collective), |case, &(sides, arithmetic)| {
        (case.sides, case.arithmetic) = (sides, arithmetic);
    });
    // There is but one datatype in place.
    cases.into_iter().filter(|case| !case.in_place || !case.sides.differ()).collect()
}

/// Each case with each value.
fn vary<V>(cases: Vec<Case>, values: &[V], set: impl Fn(&mut Case, &V)) -> Vec<Case> {
    let with = |case: &Case, value: &V| {
        let mut case = case.clone();
        set(&mut case, value);
        case
    };
    cases.iter().flat_map(|case| values.iter().map(move |value| with(case, value))).collect()
}

/// All combinations of the algorithm's parameters; 0 stands for the default.
fn settings(algorithm: Option<&Algorithm>, size: usize) -> Vec<Vec<(Parameter, i32)>> {
    let mut settings = vec![Vec::new()];
    for &parameter in algorithm.map_or(&[][..], |algorithm| algorithm.parameters) {
        let values = match parameter {
            Parameter::Radix => vec![0, 2, 3, size.max(2) as i32],
            Parameter::Segment => vec![0, 24, 1024],
        };
        let with = |setting: &Vec<_>, value| [&setting[..], &[(parameter, value)]].concat();
        settings = settings
            .iter()
            .flat_map(|setting| values.iter().map(|&value| with(setting, value)).collect::<Vec<_>>())
            .collect();
    }
    settings
}

fn roots(collective: Collective, size: usize, random: &mut Generator) -> Vec<usize> {
    match (collective.is_rooted(), size) {
        (false, _) => vec![0],
        (true, ..=5) => (0..size).collect(),
        (true, _) => vec![0, 1, size - 1, 2 + random.below(size - 3)],
    }
}

fn counts(size: usize, long: bool) -> Vec<usize> {
    let mut counts = vec![0, 1, size - 1, size, size + 1, 1000];
    counts.extend(long.then_some(LONG));
    counts.sort();
    counts.dedup();
    counts
}

fn in_place(collective: Collective) -> &'static [bool] {
    if collective.has_in_place() { &[false, true] } else { &[false] }
}

fn sides(collective: Collective) -> Vec<(Sides, Arithmetic)> {
    if collective.reduces() {
        let combined = |sides: Sides| sides.0.operators().iter().map(move |&operator| (sides, operator));
        Sides::same().flat_map(combined).collect()
    } else {
        Sides::same().chain(Sides::MIXED).map(|sides| (sides, Arithmetic::Sum)).collect()
    }
}
