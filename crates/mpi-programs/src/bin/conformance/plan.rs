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

/// Draws a sample of all cases. It is the same on all ranks.
pub fn draw(simple: &Case, options: &Options) -> Plan {
    let mut random = Generator::new(combine(&[options.seed, simple.size as u64]));
    let mut properties = Properties::new(simple, options.long, &mut random);
    let indispensable = properties.longest();
    let number = properties.combinations().min(options.cases).max(indispensable);
    let mut cases = Vec::new();
    while cases.len() < number {
        properties.shuffle(&mut random);
        cases.extend((0..indispensable).map(|index| properties.case(simple, index)));
    }
    cases.truncate(number);
    Plan { cases, indispensable }
}

/// The values that cases combine.
struct Properties {
    settings: Vec<Vec<(Parameter, i32)>>,
    topologies: Vec<Topology>,
    forms: Vec<Form>,
    roots: Vec<usize>,
    counts: Vec<usize>,
    in_place: Vec<bool>,
    sides: Vec<(Sides, Arithmetic)>,
}

impl Properties {
    fn new(simple: &Case, long: bool, random: &mut Generator) -> Self {
        let &Case { collective, algorithm, size, .. } = simple;
        let is_barrier = collective == Collective::Barrier;
        let shares_memory = algorithm.is_some_and(Algorithm::takes_shared_memory);
        let is_mock_up = algorithm.is_some_and(Algorithm::is_mock_up);
        let mut sides = sides(collective);
        sides.retain(|(_, arithmetic)| !shares_memory || arithmetic.is_predefined());
        Properties {
            settings: settings(algorithm, size),
            topologies: match collective.cut() {
                Cut::Edges => topologies(size),
                Cut::Pairs | Cut::Ranks | Cut::Vector => vec![Topology::default()],
            },
            forms: if is_mock_up { vec![Form::Blocking] } else { Form::ALL.to_vec() },
            roots: roots(simple, random),
            counts: if is_barrier { vec![0] } else { counts(size, long) },
            in_place: if simple.remote > 0 { vec![false] } else { in_place(collective) },
            sides: if is_barrier { vec![(simple.sides, simple.arithmetic)] } else { sides },
        }
    }

    fn lengths(&self) -> [usize; 7] {
        let Properties { settings, topologies, forms, roots, counts, in_place, sides } = self;
        [
            settings.len(),
            topologies.len(),
            forms.len(),
            roots.len(),
            counts.len(),
            in_place.len(),
            sides.len(),
        ]
    }

    fn longest(&self) -> usize {
        self.lengths().into_iter().max().unwrap_or(0)
    }

    fn combinations(&self) -> usize {
        self.lengths().into_iter().product()
    }

    fn shuffle(&mut self, random: &mut Generator) {
        random.shuffle(&mut self.settings);
        random.shuffle(&mut self.topologies);
        random.shuffle(&mut self.forms);
        random.shuffle(&mut self.roots);
        random.shuffle(&mut self.counts);
        random.shuffle(&mut self.in_place);
        random.shuffle(&mut self.sides);
    }

    /// Returns the case with this index. Each property cycles through its values.
    fn case(&self, simple: &Case, index: usize) -> Case {
        let (sides, arithmetic) = cyclic(&self.sides, index);
        Case {
            parameters: cyclic(&self.settings, index),
            topology: cyclic(&self.topologies, index),
            form: cyclic(&self.forms, index),
            root: cyclic(&self.roots, index),
            count: cyclic(&self.counts, index),
            // A call in place has only one datatype.
            in_place: cyclic(&self.in_place, index) && !sides.differ(),
            sides,
            arithmetic,
            ..simple.clone()
        }
    }
}

fn cyclic<V: Clone>(values: &[V], index: usize) -> V {
    values[index % values.len()].clone()
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
    let mut counts = vec![0, 1, size - 1, size, size + 1, 1000];
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
