//! The engine itself, all ranks in one process: every registered algorithm, with random delivery orders, both send
//! semantics, and datatypes with gaps and negative lower bounds. Results are compared with locally computed ones.

use rustcoll::algorithms::{Algorithm, Collective, Parameter, Problem, REGISTRY};
use rustcoll::engine::in_process::{Area, Areas, ElementType, Semantics, run};
use rustcoll::engine::{Binding, Plan, View};
use rustcoll::schedule::Layout;

const UNTOUCHED: u8 = 0xa5;

/// Element types of eight bytes of data.
fn element_types() -> Vec<ElementType> {
    vec![
        ElementType::contiguous(8),
        ElementType { pieces: vec![(0, 4), (12, 4)], extent: 20 },
        ElementType { pieces: vec![(-8, 3), (2, 5)], extent: 16 },
        ElementType { pieces: vec![(0, 8)], extent: -24 },
    ]
}

/// Composition of affine maps x → a·x + b modulo a prime: associative, not commutative.
fn compose(left: &[u8], right: &[u8]) -> Vec<u8> {
    let number = |bytes: &[u8]| u64::from(u32::from_le_bytes(bytes.try_into().unwrap()));
    let ((a, b), (c, d)) =
        ((number(&left[..4]), number(&left[4..])), (number(&right[..4]), number(&right[4..])));
    let prime = 1_000_003;
    let pair = [a * c % prime, (b * c + d) % prime];
    pair.iter().flat_map(|&value| (value as u32).to_le_bytes()).collect()
}

/// Wrapping sum: commutative.
fn sum(left: &[u8], right: &[u8]) -> Vec<u8> {
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    number(left).wrapping_add(number(right)).to_le_bytes().to_vec()
}

/// What a rank contributes at a position: distinct, and below the prime in both halves.
fn value(rank: usize, position: usize) -> Vec<u8> {
    let halves = [rank * 7919 + position * 31 + 2, rank * 104_729 % 65_521 + position + 1];
    halves.iter().flat_map(|&half| (half as u32).to_le_bytes()).collect()
}

fn values(rank: usize, positions: impl Iterator<Item = usize>) -> Vec<u8> {
    positions.flat_map(|position| value(rank, position)).collect()
}

/// One run: the problem, the size of the data and how it lies in memory.
struct Case<'a> {
    algorithm: &'a Algorithm,
    problem: Problem,
    /// Elements of the vector, or of a block for one peer.
    elements: usize,
    send: ElementType,
    recv: ElementType,
    semantics: Semantics,
    seed: u64,
}

impl Case<'_> {
    fn describe(&self) -> String {
        format!(
            "{} {} {:?}, {} elements of {:?} and {:?}, {:?}, seed {}",
            self.algorithm.collective.name(),
            self.algorithm.name,
            self.problem,
            self.elements,
            self.send,
            self.recv,
            self.semantics,
            self.seed
        )
    }

    fn commutative(&self) -> bool {
        self.algorithm.serves(false).is_err()
    }

    fn operator(&self) -> fn(&[u8], &[u8]) -> Vec<u8> {
        if self.commutative() { sum } else { compose }
    }

    fn is_alltoall(&self) -> bool {
        self.algorithm.collective == Collective::Alltoall
    }

    /// Elements in the whole of a buffer.
    fn total(&self) -> usize {
        if self.is_alltoall() { self.elements * self.problem.size } else { self.elements }
    }

    /// The data that a rank brings.
    fn input(&self, rank: usize) -> Vec<u8> {
        values(rank, 0..self.total())
    }

    /// The data that must stand in a rank's receive buffer at the end.
    fn expected(&self, rank: usize) -> Vec<u8> {
        match self.algorithm.collective {
            Collective::Allreduce => (0..self.elements)
                .flat_map(|position| {
                    let operands = (0..self.problem.size).map(|from| value(from, position));
                    operands.reduce(|left, right| self.operator()(&left, &right)).unwrap()
                })
                .collect(),
            Collective::Alltoall => (0..self.problem.size)
                .flat_map(|from| values(from, rank * self.elements..(rank + 1) * self.elements))
                .collect(),
            Collective::Bcast => self.input(self.problem.root),
        }
    }

    fn plan(&self, rank: usize) -> Plan {
        let schedule = (self.algorithm.schedule)(&self.problem, rank);
        let layout = match self.is_alltoall() {
            true => Layout::Uniform { elements: self.elements },
            false => Layout::Balanced { elements: self.elements, blocks: schedule.blocks },
        };
        // Where nothing is reduced, scratch holds data without gaps, as bytes.
        let scratch = match self.is_alltoall() {
            true => View { layout: Layout::Uniform { elements: self.elements * 8 }, element_bytes: 1 },
            false => View { layout, element_bytes: 8 },
        };
        let view = View { layout, element_bytes: 8 };
        Plan::new(&schedule, &Binding { send: view, recv: view, scratch })
    }

    fn areas(&self, rank: usize, plan: &Plan) -> Areas {
        let scratch = if self.is_alltoall() { ElementType::contiguous(1) } else { self.recv.clone() };
        let mut areas = [
            Area::filled(self.send.clone(), self.total(), UNTOUCHED),
            Area::filled(self.recv.clone(), self.total(), UNTOUCHED),
            Area::filled(scratch, plan.scratch_elements, UNTOUCHED),
        ];
        let is_root = rank == self.problem.root;
        match (self.algorithm.collective == Collective::Bcast, self.problem.in_place) {
            (true, _) if is_root => areas[1].scatter(0, &self.input(rank)),
            (true, _) => {}
            (false, true) => areas[1].scatter(0, &self.input(rank)),
            (false, false) => areas[0].scatter(0, &self.input(rank)),
        }
        areas
    }

    fn check(&self) {
        let plans: Vec<Plan> = (0..self.problem.size).map(|rank| self.plan(rank)).collect();
        let mut areas: Vec<Areas> =
            plans.iter().enumerate().map(|(rank, plan)| self.areas(rank, plan)).collect();
        let before = areas.clone();
        run(&plans, &mut areas, &self.operator(), self.semantics, self.seed)
            .unwrap_or_else(|failure| panic!("{}: {failure}", self.describe()));
        for rank in 0..self.problem.size {
            let recv = &areas[rank][1];
            assert_eq!(recv.gather(0, self.total()), self.expected(rank), "rank {rank}: {}", self.describe());
            assert_eq!(
                areas[rank][0].bytes,
                before[rank][0].bytes,
                "send buffer changed: {}",
                self.describe()
            );
            self.check_gaps(recv);
        }
    }

    fn check_gaps(&self, area: &Area) {
        let mut gaps = area.bytes.clone();
        (0..self.total()).flat_map(|element| area.positions(element)).for_each(|at| gaps[at] = UNTOUCHED);
        assert!(gaps.iter().all(|&byte| byte == UNTOUCHED), "a gap was written: {}", self.describe());
    }
}

fn problems(algorithm: &Algorithm, size: usize) -> Vec<Problem> {
    let roots = if algorithm.collective.is_rooted() { vec![0, size / 2, size - 1] } else { vec![0] };
    let places = if algorithm.collective.has_in_place() { vec![false, true] } else { vec![false] };
    let radices = match algorithm.parameters.contains(&Parameter::Radix) {
        true => vec![2, 3.min(size.max(2)), size.max(2)],
        false => vec![2],
    };
    let segments = if algorithm.parameters.contains(&Parameter::Segment) { vec![1, 4] } else { vec![1] };
    let mut problems = Vec::new();
    for &root in &roots {
        for &in_place in &places {
            for &radix in &radices {
                for &segments in &segments {
                    problems.push(Problem { size, root, in_place, radix, segments });
                }
            }
        }
    }
    problems
}

#[test]
fn every_algorithm_over_random_networks() {
    let types = element_types();
    let mut seed = 0;
    for algorithm in REGISTRY {
        for size in [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16] {
            for problem in problems(algorithm, size) {
                for elements in [0, 1, size - 1, size, size + 1, 37] {
                    seed += 1;
                    let pick = |shift: u64| types[((seed + shift) % types.len() as u64) as usize].clone();
                    let semantics = if seed % 3 == 0 { Semantics::Eager } else { Semantics::Rendezvous };
                    let (send, recv) = (pick(0), pick(seed / 7));
                    // A reduction's buffers have one datatype.
                    let send = if algorithm.collective.reduces() { recv.clone() } else { send };
                    Case { algorithm, problem, elements, send, recv, semantics, seed }.check();
                }
            }
        }
    }
}
