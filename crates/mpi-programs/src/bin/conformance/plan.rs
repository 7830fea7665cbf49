//! Which cases are tested for one algorithm and size.

use expected_results::random::{Generator, combine};
use mpi_programs::invocation::Form;
use mpi_programs::operator::Arithmetic;
use mpi_programs::topology::Topology;
use rustcoll::algorithms::{Algorithm, Collective, Cut, Parameter};

use crate::case::Case;
use crate::options::Options;
use crate::shape::Sides;
use crate::topologies::topologies;

const LONG: usize = 100_003;

/// Cases in the order in which they are run.
pub struct Plan {
    pub cases: Vec<Case>,
    /// The first `indispensable` cases show every value of every property at least once.
    pub indispensable: usize,
}

/// Draws a sample of all cases. It is the same on all ranks, and another for each algorithm.
pub fn draw(simple: &Case, options: &Options) -> Plan {
    let mut random = Generator::new(seed(simple, options));
    let mut properties = Properties::new(simple, options.long, &mut random);
    let indispensable = properties.longest();
    let number = properties.combinations().min(options.cases).max(indispensable);
    let cases = (0..number).map(|_| properties.case(simple, &mut random)).collect();
    Plan { cases, indispensable }
}

fn seed(simple: &Case, options: &Options) -> u64 {
    let name = [simple.collective.name(), crate::name(simple.algorithm)].concat();
    let name = combine(&name.bytes().map(u64::from).collect::<Vec<_>>());
    combine(&[options.seed, simple.size as u64, simple.remote as u64, name])
}

/// The values of one property. They come in a random order, and in another one each time all of them have come.
struct Deck<Value> {
    values: Vec<Value>,
    next: usize,
}

impl<Value: Clone> Deck<Value> {
    fn new(values: Vec<Value>) -> Self {
        Deck { values, next: 0 }
    }

    fn draw(&mut self, random: &mut Generator) -> Value {
        if self.next == 0 {
            random.shuffle(&mut self.values);
        }
        let drawn = self.values[self.next].clone();
        self.next = (self.next + 1) % self.values.len();
        drawn
    }
}

/// The values that cases combine.
struct Properties {
    settings: Deck<Vec<(Parameter, i32)>>,
    topologies: Deck<Topology>,
    forms: Deck<Form>,
    roots: Deck<usize>,
    counts: Deck<usize>,
    in_place: Deck<bool>,
    sides: Deck<(Sides, Arithmetic)>,
}

impl Properties {
    fn new(simple: &Case, long: bool, random: &mut Generator) -> Self {
        let &Case { collective, algorithm, size, .. } = simple;
        let is_barrier = collective == Collective::Barrier;
        let shares_memory = algorithm.is_some_and(Algorithm::takes_shared_memory);
        let mut sides = sides(collective);
        sides.retain(|(_, arithmetic)| !shares_memory || arithmetic.is_predefined());
        Properties {
            settings: Deck::new(settings(algorithm, size)),
            topologies: Deck::new(match collective.cut() {
                Cut::Edges => topologies(size),
                Cut::Pairs | Cut::Ranks | Cut::Vector => vec![Topology::default()],
            }),
            forms: Deck::new(if simple.must_block() { vec![Form::Blocking] } else { Form::ALL.to_vec() }),
            roots: Deck::new(roots(simple, random)),
            counts: Deck::new(if is_barrier { vec![0] } else { counts(size, long) }),
            in_place: Deck::new(if simple.remote > 0 { vec![false] } else { in_place(collective) }),
            sides: Deck::new(if is_barrier { vec![(simple.sides, simple.arithmetic)] } else { sides }),
        }
    }

    fn lengths(&self) -> [usize; 7] {
        let Properties { settings, topologies, forms, roots, counts, in_place, sides } = self;
        [
            settings.values.len(),
            topologies.values.len(),
            forms.values.len(),
            roots.values.len(),
            counts.values.len(),
            in_place.values.len(),
            sides.values.len(),
        ]
    }

    fn longest(&self) -> usize {
        self.lengths().into_iter().max().unwrap_or(0)
    }

    fn combinations(&self) -> usize {
        self.lengths().into_iter().product()
    }

    /// Returns the next case.
    fn case(&mut self, simple: &Case, random: &mut Generator) -> Case {
        let (sides, arithmetic) = self.sides.draw(random);
        Case {
            parameters: self.settings.draw(random),
            topology: self.topologies.draw(random),
            form: self.forms.draw(random),
            root: self.roots.draw(random),
            count: self.counts.draw(random),
            // A call in place has only one datatype.
            in_place: self.in_place.draw(random) && !sides.differ(),
            sides,
            arithmetic,
            ..simple.clone()
        }
    }
}

/// Returns all combinations of the algorithm's parameters; 0 means the default.
fn settings(algorithm: Option<&Algorithm>, size: usize) -> Vec<Vec<(Parameter, i32)>> {
    let mut settings = vec![Vec::new()];
    for &parameter in algorithm.map_or(&[][..], |algorithm| algorithm.parameters) {
        let values = match parameter {
            Parameter::Radix => vec![0, 2, 3, size.max(2) as i32],
            Parameter::Segment => vec![0, 24, 1024],
            Parameter::Window => vec![0, 1, 3],
        };
        let with = |setting: &Vec<_>, value| [&setting[..], &[(parameter, value)]].concat();
        settings = settings
            .iter()
            .flat_map(|setting| values.iter().map(|&value| with(setting, value)).collect::<Vec<_>>())
            .collect();
    }
    settings
}

fn roots(simple: &Case, random: &mut Generator) -> Vec<usize> {
    let &Case { collective, size, remote, .. } = simple;
    let every = if remote > 0 { 8 } else { 5 };
    match collective.is_rooted() {
        false => vec![0],
        true if size <= every => (0..size).collect(),
        true => vec![0, 1, size - 1, 2 + random.below(size - 3)],
    }
}

fn counts(size: usize, long: bool) -> Vec<usize> {
    let mut counts = vec![0, 1, size - 1, size, size + 1, 1001];
    counts.extend(long.then_some(LONG));
    counts.sort();
    counts.dedup();
    counts
}

/// If an algorithm has no in-place schedule, the component copies the input of an in-place call.
fn in_place(collective: Collective) -> Vec<bool> {
    match collective {
        Collective::Barrier | Collective::Bcast => vec![false],
        _ if collective.cut() == Cut::Edges => vec![false],
        _ => vec![false, true],
    }
}

fn sides(collective: Collective) -> Vec<(Sides, Arithmetic)> {
    if collective.reduces() {
        let combined = |sides: Sides| sides.0.operators().iter().map(move |&operator| (sides, operator));
        return Sides::same().flat_map(combined).collect();
    }
    let has_one_length = !matches!(
        collective,
        Collective::Allgatherv
            | Collective::Alltoallv
            | Collective::Gatherv
            | Collective::NeighborAllgatherv
            | Collective::NeighborAlltoallv
            | Collective::Scatterv
    );
    let mixed = Sides::MIXED.into_iter().filter(|sides| has_one_length || !sides.fix_length());
    Sides::same().chain(mixed).map(|sides| (sides, Arithmetic::Sum)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::collections::BTreeSet;
    use std::fmt::Debug;

    /// Asserts that the cases have every pair of a value of one property and a value of another one.
    fn assert_pairs<Pair: Ord + Debug>(cases: &[Case], pair: impl Fn(&Case) -> Option<Pair>, number: usize) {
        let pairs: BTreeSet<Pair> = cases.iter().filter_map(pair).collect();
        assert_eq!(pairs.len(), number, "{pairs:?}");
    }

    fn segment(case: &Case) -> Option<i32> {
        let of_segment = |&&(parameter, _): &&(Parameter, i32)| parameter == Parameter::Segment;
        case.parameters.iter().find(of_segment).map(|&(_, value)| value)
    }

    /// Even of the fewest cases.
    #[test]
    fn the_cases_of_a_collective_combine_each_two_values() {
        let options = Options::parse_from(["conformance", "--cases", "1"]);
        let algorithms =
            Collective::Allreduce.algorithms().filter(|algorithm| !algorithm.is_for_two_groups());
        let cases = algorithms.flat_map(|algorithm| {
            draw(&Case::simple(Collective::Allreduce, Some(algorithm), 9), &options).cases
        });
        let cases: Vec<Case> = cases.collect();
        let (counts, forms, segments) = (6, Form::ALL.len(), 3);
        assert_pairs(&cases, |case| Some((case.count, case.form)), counts * forms);
        assert_pairs(&cases, |case| Some((case.count, case.in_place)), counts * 2);
        assert_pairs(&cases, |case| Some((segment(case)?, case.form)), segments * forms);
        assert_pairs(&cases, |case| Some((segment(case)?, case.count)), segments * counts);
    }

    #[test]
    fn each_value_comes_once_before_any_comes_again() {
        let (mut deck, mut random) = (Deck::new(vec![1, 2, 3]), Generator::new(4));
        for _ in 0..10 {
            let mut drawn = [0; 3].map(|_| deck.draw(&mut random));
            drawn.sort();
            assert_eq!(drawn, [1, 2, 3]);
        }
    }
}
