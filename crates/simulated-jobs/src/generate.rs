//! Draws histories from seeds.

use expected_results::arithmetic::Arithmetic;
use rustcoll::algorithms::{Collective, Cut, Dimension, Graph, Neighbours};
use rustcoll::random::Random;
use rustcoll::verify::stencils;

use crate::history::{
    Call, Communicator, Deed, Delivery, Fault, FaultKind, History, MOST_RANKS, Setting, Step, Surroundings,
    Topology,
};
use crate::parameters::Parameter;

/// The most calls of a history.
const MOST_CALLS: usize = 16;

/// A call is repeated fewer times than this. Repetitions let rustcoll try algorithms.
const MOST_REPETITIONS: usize = 24;

/// Parameters whose values may differ between ranks.
const OWN: [&str; 2] = ["scratch_kept", "shared_memory_limit"];

/// Returns the history of a seed.
pub fn history(seed: u64, parameters: &[Parameter]) -> History {
    let mut draw =
        Draw { random: Random(seed), parameters, steps: Vec::new(), theme: Vec::new(), cuts_finely: false };
    // Small jobs are cheap, and show most faults.
    let ranks = 2 + draw.below(3) + draw.below(2) * draw.below(MOST_RANKS - 3);
    let surroundings = draw.surroundings(ranks);
    let mut history = History {
        seed,
        ranks,
        surroundings,
        communicators: Vec::new(),
        steps: Vec::new(),
        faults: Vec::new(),
    };
    let communicators = 1 + draw.below(3);
    history.communicators = (0..communicators).map(|number| draw.communicator(number, ranks)).collect();
    draw.cuts_finely = draw.one_in(2);
    draw.theme = (0..1 + draw.below(3)).map(|_| draw.one_of(&Collective::ALL)).collect();
    draw.program(&history);
    history.steps = draw.steps;
    let mut random = Random(!seed);
    history.faults = faults(&mut random, ranks);
    history.surroundings.tells_of_failures = random.below(2) == 0;
    if random.below(4) == 0 {
        history.steps = repeated(&mut random, history.steps);
        history.surroundings.tunes_online = random.below(4) > 0;
        for communicator in &mut history.communicators {
            match random.below(8) {
                0 => communicator.info.push(("rustcoll_tune".to_owned(), "off".to_owned())),
                1 | 2 => communicator.info.push(("rustcoll_tune".to_owned(), "online".to_owned())),
                _ => {}
            }
        }
    }
    history.surroundings.ends_idle_calls = !history.surroundings.is_preloaded && random.below(2) == 0;
    history
}

/// Repeats blocking calls, because rustcoll tries algorithms only for repeated calls.
fn repeated(random: &mut Random, steps: Vec<Step>) -> Vec<Step> {
    let mut numbers = steps.len() as u64..;
    let mut all = Vec::new();
    for step in steps {
        let times = match &step.deed {
            Deed::Block(_) => random.below(2) * random.below(MOST_REPETITIONS),
            _ => 0,
        };
        let copies = numbers.by_ref().take(times).map(|number| Step { number, ..step.clone() });
        let copies: Vec<Step> = copies.collect();
        all.push(step);
        all.extend(copies);
    }
    all
}

/// Every third history has a fault, and half of these have two.
fn faults(random: &mut Random, ranks: usize) -> Vec<Fault> {
    const KINDS: [FaultKind; 6] = [
        FaultKind::NoMemory,
        FaultKind::NoMemory,
        FaultKind::NothingToShare,
        FaultKind::Send,
        FaultKind::Receive,
        FaultKind::Death,
    ];
    let number = [0, 0, 0, 0, 1, 2][random.below(6)];
    let fault = |_| {
        let (rank, kind) = (random.below(ranks), KINDS[random.below(KINDS.len())]);
        let after = if kind == FaultKind::NoMemory { random.below(10) } else { random.below(40) };
        Fault { rank, kind, after }
    };
    (0..number).map(fault).collect()
}

struct Draw<'a> {
    random: Random,
    parameters: &'a [Parameter],
    steps: Vec<Step>,
    /// The most frequent collectives.
    theme: Vec<Collective>,
    /// Whether vectors are cut into segments or stripes of a few bytes. Then vectors are short, because long ones
    /// would need thousands of them.
    cuts_finely: bool,
}

impl Draw<'_> {
    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound)
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn surroundings(&mut self, ranks: usize) -> Surroundings {
        let nodes = self.one_of(&[1, 1, 1, 2, 3]);
        Surroundings {
            nodes: (0..ranks).map(|_| self.below(nodes)).collect(),
            knows_nodes: !self.one_in(6),
            is_preloaded: self.one_in(3),
            eager: self.one_of(&[0, 64, 4096, usize::MAX]),
            delivery: self.one_of(&[Delivery::AtOnce, Delivery::Mixed, Delivery::Late]),
            turns: self.one_of(&[2, 5, 50]),
            cancels: !self.one_in(3),
            is_watched: self.one_in(3),
            has_below: self.one_in(3),
            has_devices: self.one_in(6),
            tunes_online: false,
            goes_by_tcp: self.one_in(2),
            tells_of_failures: false,
            ends_idle_calls: false,
        }
    }

    fn communicator(&mut self, number: usize, ranks: usize) -> Communicator {
        let mut members: Vec<usize> = (0..ranks).collect();
        if number > 0 && self.one_in(2) {
            members.reverse();
            members.truncate(1 + self.below(ranks));
        }
        let topology = self.topology(members.len());
        let info = if self.one_in(4) { vec![self.info()] } else { Vec::new() };
        Communicator { members, topology, info }
    }

    fn topology(&mut self, size: usize) -> Topology {
        if self.one_in(2) {
            return Topology::Grid(vec![Dimension { length: size, periodic: self.one_in(2) }]);
        }
        if self.one_in(3) {
            let stencils = stencils(size);
            let stencil = stencils[self.below(stencils.len())].clone();
            return Topology::Listed(Graph::of_stencil(stencil).without_stencil());
        }
        let edges: Vec<(usize, usize)> =
            (0..size * 2).map(|_| (self.below(size), self.below(size))).collect();
        let of_rank = |rank: usize| {
            let sources = edges.iter().filter(|edge| edge.1 == rank).map(|edge| Some(edge.0));
            let destinations = edges.iter().filter(|edge| edge.0 == rank).map(|edge| Some(edge.1));
            Neighbours::listed(sources, destinations)
        };
        Topology::Listed(Graph::new((0..size).map(of_rank)))
    }

    fn info(&mut self) -> (String, String) {
        let collective = self.one_of(&Collective::ALL);
        let algorithms: Vec<&str> = collective.algorithms().map(|algorithm| algorithm.name).collect();
        let algorithm = self.one_of(&algorithms);
        match self.below(3) {
            0 => (format!("rustcoll_{}_rules", collective.name()), "bytes=..200 -> below".to_owned()),
            1 => (format!("rustcoll_{}_algorithm", collective.name()), algorithm.to_owned()),
            _ => (format!("rustcoll_{}_rules", collective.name()), format!("ranks=2.. -> {algorithm}")),
        }
    }

    fn program(&mut self, history: &History) {
        let made = history.communicators.len();
        self.push(Deed::Make(0));
        // Later changes have no effect: mock-ups obtain their memory once.
        if self.one_in(4) {
            let bytes = self.one_of(&[64, 4096]);
            self.push_setting("mockup_message_bytes", vec![bytes; history.ranks]);
        }
        // Few histories have enough calls to share memory later.
        if !self.one_in(3) {
            self.push_setting("shared_memory_from", vec![1; history.ranks]);
        }
        for _ in 0..self.below(4) {
            self.set(history.ranks);
        }
        (1..made).for_each(|communicator| self.push(Deed::Make(communicator)));
        let calls = 2 + self.below(MOST_CALLS - 1);
        for _ in 0..calls {
            if self.one_in(6) {
                self.set(history.ranks);
            }
            self.call(history);
        }
        if self.one_in(3) {
            let freed = self.below(made);
            self.push(Deed::Free(freed));
        }
    }

    fn push(&mut self, deed: Deed) {
        let number = self.steps.len() as u64;
        self.steps.push(Step { number, deed });
    }

    /// Gives a parameter another value.
    fn set(&mut self, ranks: usize) {
        let parameter = match self.one_in(3) {
            true => self.one_of(&MEMORY).to_owned(),
            false => {
                let collective = self.favourite().name();
                let kind =
                    self.one_of(&["algorithm", "algorithm", "algorithm", "segment", "radix", "window"]);
                format!("{collective}_{kind}")
            }
        };
        let Some(parameter) = self.parameters.iter().find(|known| known.name == parameter) else { return };
        let is_own = OWN.contains(&&*parameter.name);
        let value = self.value(parameter);
        let values = (0..ranks).map(|_| if is_own { self.value(parameter) } else { value }).collect();
        self.push_setting(&parameter.name, values);
    }

    fn push_setting(&mut self, name: &str, values: Vec<i32>) {
        self.push(Deed::Set(Setting { name: name.to_owned(), values }));
    }

    fn value(&mut self, parameter: &Parameter) -> i32 {
        match parameter.minimum {
            0 => self.below(parameter.words) as i32,
            _ if self.one_in(3) => 0,
            minimum if parameter.name.ends_with("segment") => {
                let segment = if self.cuts_finely { 24 } else { 1024 };
                self.one_of(&[segment, 1024, 4096]).max(minimum)
            }
            _ if parameter.name == "shared_memory_size" && !self.cuts_finely => self.one_of(&[64, 1024]),
            minimum => (minimum - 1) + self.one_of(&[1, 2, 3, 8, 64]),
        }
    }

    fn favourite(&mut self) -> Collective {
        match self.one_in(4) {
            true => self.one_of(&Collective::ALL),
            false => {
                let theme = self.theme.clone();
                self.one_of(&theme)
            }
        }
    }

    fn call(&mut self, history: &History) {
        let communicator = self.below(history.communicators.len());
        let call =
            self.repeated(history, communicator).unwrap_or_else(|| self.new_call(history, communicator));
        match self.below(10) {
            0..6 => self.push(Deed::Block(call)),
            6..8 => self.push(Deed::Begin(call)),
            8 => self.push(Deed::Duplicate(communicator)),
            _ => {
                self.push(Deed::Prepare(call));
                let prepared = self.steps.len() as u64 - 1;
                for _ in 0..self.below(3) {
                    self.push(Deed::Start(prepared));
                }
            }
        }
    }

    /// Returns an earlier call on a communicator. One of the ranks may describe it differently.
    fn repeated(&mut self, history: &History, communicator: usize) -> Option<Call> {
        let call = |step: &Step| match &step.deed {
            Deed::Block(call) | Deed::Begin(call) => {
                (call.communicator == communicator).then(|| call.clone())
            }
            _ => None,
        };
        let earlier: Vec<Call> = self.steps.iter().filter_map(call).collect();
        if earlier.is_empty() || self.one_in(2) {
            return None;
        }
        let place = self.below(earlier.len());
        let mut call = earlier[place].clone();
        if self.one_in(3) {
            let rank = self.below(history.communicators[communicator].members.len());
            call.other = Some((rank, self.below(1 << 30) as u64));
            call.in_place ^= call.collective.is_rooted() && has_in_place(call.collective);
        }
        Some(call)
    }

    fn new_call(&mut self, history: &History, communicator: usize) -> Call {
        let size = history.communicators[communicator].members.len();
        let collective = self.favourite();
        let is_vector = collective.cut() == Cut::Vector;
        let values = match self.below(40) {
            0..3 => 0,
            3..18 => 2 * (1 + self.below(8)),
            18..34 => 2 * (1 + self.below(150)),
            34..39 => 2 * (1 + self.below(1500)),
            _ if self.cuts_finely => 2 * (1 + self.below(1500)),
            _ => 2 * self.below(20_000),
        };
        Call {
            communicator,
            collective,
            root: if collective.is_rooted() { self.below(size) } else { 0 },
            values: if is_vector { values } else { values / size / 2 * 2 },
            in_place: has_in_place(collective) && self.one_in(3),
            arithmetic: self.one_of(&[
                Arithmetic::Sum,
                Arithmetic::Sum,
                Arithmetic::Max,
                Arithmetic::Product,
                Arithmetic::Affine,
            ]),
            shape: self.below(1 << 30) as u64,
            other: None,
        }
    }
}

/// Whether MPI allows the collective in place.
fn has_in_place(collective: Collective) -> bool {
    !matches!(collective, Collective::Barrier | Collective::Bcast) && collective.cut() != Cut::Edges
}

/// Parameters for memory, and for all collectives.
const MEMORY: [&str; 7] = [
    "shared_memory",
    "shared_memory_size",
    "shared_memory_limit",
    "shared_memory_from",
    "scratch_limit",
    "scratch_kept",
    "reproducible",
];
