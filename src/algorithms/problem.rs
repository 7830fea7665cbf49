//! What an algorithm is given, and what it may require of a call.

use super::{Algorithm, Body, Calls, Collective, Cut, Graph, Nodes};
use crate::schedule::Schedule;
use std::fmt;
use std::ops::Range;

/// What all ranks know and agree on before they make schedules. Of a topology each rank knows only its neighbours.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    /// Number of ranks, at least 1.
    pub size: usize,
    /// How many ranks, the last ones, are the second group of an inter-communicator; 0 if there is only one group.
    pub remote: usize,
    /// The root, if the collective has one.
    pub root: usize,
    /// Whether the input is in the receive buffer and there is no send buffer.
    pub in_place: bool,
    /// Radix, from 2 to `max(size, 2)`.
    pub radix: usize,
    /// Number of segments that a vector is cut into for pipelining, at least 1.
    pub segments: usize,
    /// The most independent messages in flight at a time, or the most blocks in a message of `pat`; at least 1.
    pub window: usize,
    /// Each rank's node; empty if nodes are unknown or do not matter. Then all ranks are on one node.
    pub nodes: Nodes,
    /// The neighbours, in a neighbourhood collective.
    pub graph: Graph,
}

impl Problem {
    /// Root 0, not in place, the default radix and window, one segment, no neighbours.
    pub fn new(size: usize) -> Self {
        Problem {
            size,
            remote: 0,
            root: 0,
            in_place: false,
            radix: default_radix(size),
            segments: 1,
            window: DEFAULT_WINDOW,
            nodes: Nodes::default(),
            graph: Graph::default(),
        }
    }

    /// Returns the part of the problem that a rank knows before it makes a schedule of the algorithm.
    pub fn known_to(&self, rank: usize, algorithm: &Algorithm) -> Self {
        let shares_node = |other| self.nodes.is_empty() || self.nodes.of(other) == self.nodes.of(rank);
        let told = |other| algorithm.takes_neighbours_of_node() && shares_node(other);
        Problem { graph: self.graph.known_to(rank, told), ..self.clone() }
    }

    /// Returns the default problem for groups of `first` and `second` ranks; the first group has the lower numbers.
    pub fn between(first: usize, second: usize) -> Self {
        Problem { remote: second, ..Problem::new(first + second) }
    }

    /// Number of ranks in the first group.
    pub fn local(&self) -> usize {
        self.size - self.remote
    }

    /// The ranks of a rank's own group.
    pub fn group(&self, rank: usize) -> Range<usize> {
        if rank < self.local() { 0..self.local() } else { self.local()..self.size }
    }

    /// The ranks with which a rank exchanges data: those of the other group, or all ranks if there is only one group.
    pub fn partners(&self, rank: usize) -> Range<usize> {
        match self.remote {
            0 => 0..self.size,
            _ if rank < self.local() => self.local()..self.size,
            _ => 0..self.local(),
        }
    }

    /// Returns the problem as the ranks of the second group number it: their own group first.
    pub fn exchanged(&self) -> Self {
        let root = (self.root + self.remote) % self.size;
        Problem { remote: self.local(), root, ..self.clone() }
    }

    /// A rank's number when counted from the root: the root is 0.
    pub fn relative(&self, rank: usize) -> usize {
        (rank + self.size - self.root) % self.size
    }
}

/// MPICH's throttle for its scattered alltoall.
const DEFAULT_WINDOW: usize = 32;

/// ceil(sqrt(size)), cut to the legal range: the radix that does best most often (Fan et al. 2022).
pub fn default_radix(size: usize) -> usize {
    let floor = size.isqrt();
    let ceil = if floor * floor == size { floor } else { floor + 1 };
    legal_radix(ceil, size)
}

/// The radix cut to what a communicator of this size allows: 2 to `max(size, 2)`.
pub fn legal_radix(radix: usize, size: usize) -> usize {
    radix.clamp(2, size.max(2))
}

/// A parameter that shapes an algorithm's schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parameter {
    /// Base of the digits in which ranks or distances are written.
    Radix,
    /// Length in bytes of a pipelined vector's pieces, or of the part of each block that is in shared memory at a time.
    Segment,
    /// How many independent messages are in flight at a time, or how many blocks a message has at most.
    Window,
}

impl Parameter {
    /// All parameters.
    pub const ALL: [Parameter; 3] = [Parameter::Radix, Parameter::Segment, Parameter::Window];

    /// Its name in parameters and rule files.
    pub fn name(self) -> &'static str {
        match self {
            Parameter::Radix => "radix",
            Parameter::Segment => "segment",
            Parameter::Window => "window",
        }
    }

    /// Other names of it in rule files.
    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            // The literature calls the degree of trees k.
            Parameter::Radix => &["k"],
            Parameter::Segment | Parameter::Window => &[],
        }
    }

    /// The smallest number that a user may give.
    pub fn minimum(self) -> i32 {
        match self {
            Parameter::Radix => 2,
            Parameter::Segment | Parameter::Window => 1,
        }
    }

    /// The word that stands for the default, which is not a number.
    pub fn default_word(self) -> &'static str {
        match self {
            Parameter::Radix => "sqrt",
            Parameter::Segment => "none",
            Parameter::Window => "auto",
        }
    }

    /// One sentence for users.
    pub fn description(self) -> &'static str {
        match self {
            Parameter::Radix => {
                "radix from 2 up, cut to the number of ranks; sqrt is the square root of the number of ranks, rounded up"
            }
            Parameter::Segment => {
                "length in bytes of the pieces in which a vector is pipelined; none leaves it whole, or in shared memory as long as fits"
            }
            Parameter::Window => {
                "how many messages are under way at a time, or how many blocks a message of pat has at most; auto is 32"
            }
        }
    }
}

/// What an algorithm requires of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Requirement {
    /// The operator must commute: contributions are combined out of rank order.
    Commutative,
    /// The number of ranks must be even: they work in pairs.
    EvenSize,
    /// The ranks' nodes should be known. The component can find them, so it refuses no call for this.
    Nodes,
    /// Every rank must know the lengths of the blocks that travel through it. Its arguments do not contain them, so the
    /// same schedule sends them ahead. No block is written twice, so each block has one length.
    BlockLengths,
    /// Every rank must know the length of the longest block; its arguments do not contain it. Either all scratch blocks
    /// have this length, or all ranks cut blocks into equally many stripes for slots. Messages hold only
    /// scratch blocks.
    LongestBlock,
    /// All ranks must be on one node.
    OneNode,
    /// The ranks of a node must share memory for the schedule's slots.
    SharedMemory,
    /// The ranks of a node must be able to copy from each other's own memory.
    SingleCopy,
    /// The operator must be one of MPI's own. Then elements are alike on all ranks.
    Predefined,
    /// The algorithm calls other collectives of the communicator. The call must be blocking, in one group, not made by
    /// another such algorithm, and need no reproducible result. Temporary memory must be within the limits.
    OtherCollectives,
    /// All ranks must have neighbours at the same offsets of a grid, and must know this. All blocks must be
    /// equally long on all ranks.
    Stencil,
    /// Each rank must know the neighbours of all ranks of its node.
    NeighboursOfNode,
    /// Requires an inter-communicator. Algorithms without this requirement serve intra-communicators only.
    TwoGroups,
    /// Requires an intra-communicator. No algorithm lists this requirement; it only serves as a reason.
    OneGroup,
}

impl Requirement {
    /// Whether the ranks must exchange lengths of blocks first.
    pub fn is_of_lengths(&self) -> bool {
        matches!(self, Requirement::BlockLengths | Requirement::LongestBlock)
    }

    /// Returns what there must be, as a text for users.
    pub fn description(self) -> &'static str {
        match self {
            Requirement::Commutative => "an operator that commutes",
            Requirement::EvenSize => "an even number of ranks",
            Requirement::Nodes => "the ranks' nodes",
            Requirement::BlockLengths => "the lengths of all blocks, sent ahead",
            Requirement::LongestBlock => "the length of the longest block, found ahead",
            Requirement::OneNode => "all ranks on one node",
            Requirement::OtherCollectives => {
                "calls that block, in one group, not reproducible, not within another mock-up"
            }
            Requirement::SharedMemory => "memory that the ranks of a node share",
            Requirement::SingleCopy => "copies from other ranks' memory",
            Requirement::Predefined => "an operator of MPI's own",
            Requirement::Stencil => "neighbours at the same offsets of a grid for all ranks",
            Requirement::NeighboursOfNode => "the neighbours of all ranks of the node",
            Requirement::TwoGroups => "two groups",
            Requirement::OneGroup => "one group",
        }
    }
}

/// Why an algorithm cannot serve a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The call does not meet this requirement.
    Unmet(Requirement),
    /// The algorithm's results are not reproducible, but the call's result must be.
    Irreproducible,
    /// A rank would read slots of a rank on another node.
    SeveralNodes,
    /// The algorithm's file has no programs for this number of ranks.
    UnlistedSize,
    /// A rank sends more blocks to neighbours than it has slots.
    TooManyNeighbours,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Reason::Unmet(Requirement::Commutative) => "the operator does not commute",
            Reason::Unmet(Requirement::EvenSize) => "the number of ranks is odd",
            Reason::Unmet(Requirement::Nodes) => "the ranks' nodes are not known",
            Reason::Unmet(Requirement::BlockLengths | Requirement::LongestBlock) => {
                "lengths of blocks are not known"
            }
            Reason::Unmet(Requirement::OneNode) => "the ranks are not all known to be on one node",
            Reason::Unmet(Requirement::SharedMemory) => "the ranks of a node share no memory for it",
            Reason::Unmet(Requirement::SingleCopy) => {
                "the ranks of a node cannot copy from each other's own memory"
            }
            Reason::Unmet(Requirement::Predefined) => "the operator is not one of MPI's own",
            Reason::Unmet(Requirement::OtherCollectives) => {
                "it does not block, is called by another mock-up, or there is no room for a mock-up"
            }
            Reason::Unmet(Requirement::Stencil) => {
                "the ranks are not known to have neighbours at the same offsets of a grid"
            }
            Reason::Unmet(Requirement::NeighboursOfNode) => {
                "the ranks of a node have not told each other their neighbours"
            }
            Reason::Unmet(Requirement::TwoGroups) => "the communicator has but one group",
            Reason::Unmet(Requirement::OneGroup) => "the communicator has two groups",
            Reason::Irreproducible => "its results are not reproducible",
            Reason::SeveralNodes => "ranks of different nodes share no memory",
            Reason::UnlistedSize => "its file has no programs for so many ranks",
            Reason::TooManyNeighbours => "a rank has more neighbours than slots in shared memory",
        })
    }
}

impl Algorithm {
    /// Whether it performs a collective.
    pub fn performs(&self, collective: Collective) -> bool {
        self.collectives.contains(&collective)
    }

    /// Whether this is its name or one of its aliases.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// Returns the first of its collectives. All have the same buffers, roots and results, so one proof covers them.
    pub fn contract(&self) -> Collective {
        self.collectives[0]
    }

    /// Returns its collectives and its name, as in `allgather and allgatherv ring`.
    pub fn title(&self) -> String {
        let names: Vec<&str> = self.collectives.iter().map(|collective| collective.name()).collect();
        let (last, others) = names.split_last().expect("an algorithm performs a collective");
        let others = if others.is_empty() { String::new() } else { format!("{} and ", others.join(", ")) };
        format!("{others}{last} {}", self.name)
    }

    /// Returns `Ok` if the algorithm can serve calls on `size` ranks. The last `remote` ranks are a second group.
    /// `commutative`: whether the operator commutes.
    pub fn serves(&self, size: usize, remote: usize, commutative: bool) -> Result<(), Reason> {
        let is_met = |requirement: &Requirement| match requirement {
            Requirement::Commutative => commutative,
            Requirement::EvenSize => size.is_multiple_of(2),
            Requirement::TwoGroups => remote > 0,
            Requirement::OneGroup => remote == 0,
            // The executor of the schedule provides these.
            Requirement::Nodes | Requirement::BlockLengths | Requirement::LongestBlock => true,
            // These do not depend on the size: see [`crate::selection::Call::is_served_by`].
            Requirement::OneNode
            | Requirement::SharedMemory
            | Requirement::SingleCopy
            | Requirement::Predefined
            | Requirement::OtherCollectives
            | Requirement::Stencil
            | Requirement::NeighboursOfNode => true,
        };
        if let Body::Listed(listed) = self.body
            && !listed.programs.contains_key(&size)
        {
            return Err(Reason::UnlistedSize);
        }
        let groups = if self.is_for_two_groups() { Requirement::TwoGroups } else { Requirement::OneGroup };
        let mut requirements = [groups].into_iter().chain(self.requires.iter().copied());
        requirements
            .find(|requirement| !is_met(requirement))
            .map_or(Ok(()), |unmet| Err(Reason::Unmet(unmet)))
    }

    /// Whether its schedule depends on the ranks' nodes.
    pub fn takes_nodes(&self) -> bool {
        self.requires.contains(&Requirement::Nodes)
    }

    /// Whether its schedule has slots.
    pub fn takes_shared_memory(&self) -> bool {
        self.requires.contains(&Requirement::SharedMemory)
    }

    /// Whether each rank must know the neighbours of all ranks of its node.
    pub fn takes_neighbours_of_node(&self) -> bool {
        self.requires.contains(&Requirement::NeighboursOfNode)
    }

    /// Whether all ranks must know that their neighbours are at the same offsets of a grid.
    pub fn takes_stencil(&self) -> bool {
        self.requires.contains(&Requirement::Stencil)
    }

    /// Whether it is made for inter-communicators.
    pub fn is_for_two_groups(&self) -> bool {
        self.requires.contains(&Requirement::TwoGroups)
    }

    /// Whether the number of segments shapes its schedule. If blocks go through slots, a segment is the part of
    /// each block that is in a slot at a time. Then the schedule runs once for each segment.
    pub fn cuts_segments(&self) -> bool {
        let is_of_messages =
            !self.takes_shared_memory() || (self.takes_nodes() && self.contract().cut() == Cut::Vector);
        self.parameters.contains(&Parameter::Segment) && is_of_messages
    }

    /// Returns the schedule of a rank. If there are two groups, the rank numbers its own group first.
    ///
    /// # Panics
    /// If it is made of calls.
    pub fn schedule(&self, problem: &Problem, rank: usize) -> Schedule {
        let mut schedule = match self.body {
            Body::Messages(schedule) => schedule(problem, rank),
            Body::Listed(listed) => listed.schedule(problem, rank),
            Body::Calls(_) => panic!("{} has no schedule: it calls other collectives", self.name),
        };
        // The schedule lives as long as its communicator.
        schedule.steps.shrink_to_fit();
        schedule
    }

    /// Returns the calls that the algorithm is made of; `None` if it has schedules.
    pub fn calls(&self) -> Option<&Calls> {
        match &self.body {
            Body::Messages(_) | Body::Listed(_) => None,
            Body::Calls(calls) => Some(calls),
        }
    }

    /// Whether it is the mock-up of a performance guideline: calls of other collectives that should not be faster.
    pub fn is_mock_up(&self) -> bool {
        self.calls().is_some()
    }

    /// Returns the program of any rank, step by step.
    ///
    /// # Panics
    /// If it is made of calls.
    pub fn program(&self, problem: &Problem, rank: usize) -> Schedule {
        self.program_with_loops(problem, rank).unrolled()
    }

    /// Returns the program of any rank with its loops. In schedules a rank numbers its own group first; the
    /// programs of the second group are renumbered.
    ///
    /// # Panics
    /// If it is made of calls.
    pub fn program_with_loops(&self, problem: &Problem, rank: usize) -> Schedule {
        let first = problem.local();
        if rank < first {
            return self.schedule(&problem.known_to(rank, self), rank);
        }
        let program = self.schedule(&problem.exchanged(), rank - first).relabel(first);
        if self.contract().cut() == Cut::Vector { program } else { program.relabel_blocks(first) }
    }

    /// Returns the programs of all ranks, step by step, rank 0's first.
    ///
    /// # Panics
    /// If it is made of calls.
    pub fn programs(&self, problem: &Problem) -> Vec<Schedule> {
        (0..problem.size).map(|rank| self.program(problem, rank)).collect()
    }

    /// Whether the algorithm keeps the order of operands.
    pub fn keeps_order(&self) -> bool {
        !self.requires.contains(&Requirement::Commutative)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_radix_is_the_ceiling_of_the_square_root() {
        let expected = [(1, 2), (2, 2), (4, 2), (5, 3), (9, 3), (10, 4), (512, 23), (4096, 64)];
        for (size, radix) in expected {
            assert_eq!(default_radix(size), radix, "p = {size}");
        }
    }

    #[test]
    fn groups_are_partners_of_each_other() {
        let problem = Problem { root: 4, ..Problem::between(3, 2) };
        assert_eq!((problem.group(1), problem.partners(1)), (0..3, 3..5));
        assert_eq!((problem.group(3), problem.partners(3)), (3..5, 0..3));
        assert_eq!(Problem::new(5).partners(3), 0..5);
        let exchanged = problem.exchanged();
        assert_eq!((exchanged.local(), exchanged.remote, exchanged.root), (2, 3, 1));
        assert_eq!(exchanged.exchanged(), problem);
    }

    #[test]
    fn an_algorithm_serves_one_group_or_two() {
        for algorithm in crate::algorithms::REGISTRY {
            let serves = |remote| algorithm.serves(8, remote, true);
            let (one, two) = (Ok(()), Err(Reason::Unmet(Requirement::OneGroup)));
            match algorithm.is_for_two_groups() {
                true => assert_eq!((serves(0), serves(3)), (Err(Reason::Unmet(Requirement::TwoGroups)), one)),
                false => assert_eq!((serves(0), serves(3)), (one, two)),
            }
        }
    }

    #[test]
    fn exchanging_the_groups_renames_the_ranks_and_nothing_else() {
        for algorithm in crate::algorithms::REGISTRY.iter().filter(|algorithm| algorithm.is_for_two_groups())
        {
            let problem = Problem { root: 1, ..Problem::between(3, 2) };
            for rank in 0..problem.size {
                let renamed = algorithm.program(&problem, rank).relabel(problem.remote);
                let cut = algorithm.contract().cut();
                let renamed =
                    if cut == Cut::Vector { renamed } else { renamed.relabel_blocks(problem.remote) };
                let exchanged = algorithm.program(&problem.exchanged(), (rank + 2) % 5);
                assert_eq!(renamed, exchanged, "{}", algorithm.title());
            }
        }
    }

    #[test]
    fn radix_is_cut_to_the_size() {
        assert_eq!(legal_radix(64, 5), 5);
        assert_eq!(legal_radix(64, 1), 2);
    }
}
