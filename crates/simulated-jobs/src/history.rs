//! The program of a simulated job, for all ranks, and its description in plain words.

use std::fmt;
use std::mem::replace;

use expected_results::arithmetic::Arithmetic;
use rustcoll::algorithms::{Collective, Cut, Dimension, Graph, Problem};

use crate::order::{Act, acts};

pub const MOST_RANKS: usize = 9;

pub const MOST_STEPS: usize = 256;

/// A job from beginning to end. It determines everything that happens.
#[derive(Clone, Debug)]
pub struct History {
    /// Draws the data, the order in which ranks run, and the order in which messages arrive.
    pub seed: u64,
    pub ranks: usize,
    /// The simulated MPI, and the nodes of the ranks.
    pub surroundings: Surroundings,
    /// All communicators of the program. The first one has all ranks in order.
    pub communicators: Vec<Communicator>,
    /// The program's steps, in an order in which each rank could carry them out.
    pub steps: Vec<Step>,
    pub faults: Vec<Fault>,
}

/// Properties of the simulated MPI.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The node of each rank.
    pub nodes: Vec<usize>,
    /// Whether MPI can tell all ranks consistently whether there are several nodes.
    pub knows_nodes: bool,
    /// Whether MPI tells that of a communicator only from its first blocking call on, as the preloaded library does.
    pub tells_nodes_late: bool,
    /// Whether the job runs with the preloaded library.
    pub is_preloaded: bool,
    /// Up to so many bytes a send is eager; longer sends wait for their receives.
    pub eager: usize,
    pub delivery: Delivery,
    /// A call that need not wait lets other ranks run once in so many calls.
    pub turns: usize,
    /// Whether a cancelled receive is gone. Otherwise it stays in flight.
    pub cancels: bool,
    pub is_watched: bool,
    /// Whether a component below serves the calls that the library does not serve.
    pub has_below: bool,
    pub has_devices: bool,
    /// Whether rustcoll tries algorithms, from the first call on.
    pub tunes_online: bool,
    /// Whether MPI tells that messages between nodes go by TCP.
    pub goes_by_tcp: bool,
    /// Whether MPI tells a communicator's ranks of a member's death, and ends its messages.
    pub tells_of_failures: bool,
    /// Whether MPI itself ends some blocking neighbourhood collectives at ranks without neighbours, as Open MPI does.
    pub ends_idle_calls: bool,
}

/// When messages arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// All of them, whenever another rank runs.
    AtOnce,
    /// One of them now and then.
    Mixed,
    /// One of them if no rank can go on.
    Late,
}

#[derive(Clone, Debug)]
pub struct Communicator {
    /// The ranks' numbers in the job; those of the second group last.
    pub members: Vec<usize>,
    /// How many of them are the second group of an inter-communicator, else 0.
    pub remote: usize,
    pub topology: Topology,
    pub info: Vec<(String, String)>,
}

impl Communicator {
    /// Returns the ranks of the communicator, with both groups of an inter-communicator.
    pub fn ranks(&self) -> Problem {
        Problem::between(self.members.len() - self.remote, self.remote)
    }

    /// Returns the members of the second group of an inter-communicator.
    pub fn second_group(&self) -> &[usize] {
        &self.members[self.ranks().local()..]
    }

    /// Whether MPI has the collective on this communicator.
    pub fn has(&self, collective: Collective) -> bool {
        let is_for_one_group =
            collective.cut() == Cut::Edges || matches!(collective, Collective::Scan | Collective::Exscan);
        self.remote == 0 || !is_for_one_group
    }
}

/// A process topology.
#[derive(Clone, Debug)]
pub enum Topology {
    /// A ring, or a line.
    Grid(Vec<Dimension>),
    /// Lists of neighbours.
    Listed(Graph),
}

impl Topology {
    /// Returns a similar topology of `size` ranks.
    pub fn of_so_many(&self, size: usize) -> Topology {
        let periodic = matches!(self, Topology::Grid(dimensions) if dimensions[0].periodic);
        Topology::Grid(vec![Dimension { length: size, periodic }])
    }

    pub fn graph(&self) -> Graph {
        match self {
            Topology::Grid(dimensions) => Graph::grid(dimensions),
            Topology::Listed(graph) => graph.clone(),
        }
    }
}

/// A step of the program, for all ranks that it concerns.
#[derive(Clone, Debug)]
pub struct Step {
    /// Identifies the step, even after shrinking has removed others.
    pub number: u64,
    pub deed: Deed,
}

/// The action of a step.
#[derive(Clone, Debug)]
pub enum Deed {
    /// All ranks set a parameter to the same value, or each rank to its own.
    Set(Setting),
    /// The members of this communicator make it, for the first time or after they have freed it.
    Make(usize),
    /// The members of this communicator free it.
    Free(usize),
    /// A blocking call.
    Block(Call),
    /// A non-blocking call. Each rank waits for it later.
    Begin(Call),
    /// Makes a persistent operation.
    Prepare(Call),
    /// Starts the operation of the step with this number. Each rank waits for it later.
    Start(u64),
    /// MPI duplicates this communicator in the background, by a few allreduces that follow each other.
    Duplicate(usize),
}

#[derive(Clone, Debug)]
pub struct Setting {
    pub name: String,
    /// The value on each rank.
    pub values: Vec<i32>,
}

/// The values of a call. Only ints are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    Ints,
}

/// A call of a collective on all ranks of a communicator.
#[derive(Clone, Debug)]
pub struct Call {
    pub communicator: usize,
    pub collective: Collective,
    /// The root's place among the members, or 0 without a root.
    pub root: usize,
    /// Values of the vector, or of a block, or of the longest block if lengths differ.
    pub values: usize,
    pub unit: Unit,
    /// Whether the call is in place; if it has a root, on the root only.
    pub in_place: bool,
    pub arithmetic: Arithmetic,
    /// The seed of lengths and datatypes.
    pub shape: u64,
    /// A member of the communicator that describes its data by other datatypes, and their seed. If ranks may differ in that, it alone
    /// passes `MPI_IN_PLACE`, or alone does not.
    pub other: Option<(usize, u64)>,
}

/// A fault of a rank.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The rank's number in the job.
    pub rank: usize,
    pub kind: FaultKind,
    /// How many actions of this kind succeed before.
    pub after: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A piece of temporary memory is refused.
    NoMemory,
    /// The rank cannot share memory.
    NothingToShare,
    Send,
    Receive,
    /// The rank dies when it would send or receive.
    Death,
}

impl Step {
    /// Returns the communicator of the step, if it has one.
    pub fn communicator(&self, history: &History) -> Option<usize> {
        match &self.deed {
            Deed::Set(_) => None,
            Deed::Make(communicator) | Deed::Free(communicator) | Deed::Duplicate(communicator) => {
                Some(*communicator)
            }
            Deed::Block(call) | Deed::Begin(call) | Deed::Prepare(call) => Some(call.communicator),
            Deed::Start(_) => history.call_of(self).map(|call| call.communicator),
        }
    }
}

impl History {
    /// Returns the call that a step makes, prepares or starts.
    pub fn call_of<'a>(&'a self, step: &'a Step) -> Option<&'a Call> {
        match &step.deed {
            Deed::Block(call) | Deed::Begin(call) | Deed::Prepare(call) => Some(call),
            Deed::Start(number) => {
                let prepared = self.steps.iter().find(|other| other.number == *number)?;
                if let Deed::Prepare(call) = &prepared.deed { Some(call) } else { None }
            }
            _ => None,
        }
    }

    /// Whether any step makes the communicator with this number.
    pub fn makes(&self, number: usize) -> bool {
        self.steps.iter().any(|step| matches!(step.deed, Deed::Make(communicator) if communicator == number))
    }

    /// Returns the history without steps that no program could carry out: those on communicators that do not exist at that
    /// time, and starts of operations that were not made or are freed.
    pub fn without_strays(mut self) -> History {
        let mut exists = vec![false; self.communicators.len()];
        let mut prepared: Vec<(u64, usize)> = Vec::new();
        self.steps.retain(|Step { number, deed }| match deed {
            Deed::Set(_) => true,
            Deed::Make(communicator) => !replace(&mut exists[*communicator], true),
            Deed::Free(communicator) => {
                prepared.retain(|(_, of)| of != communicator);
                replace(&mut exists[*communicator], false)
            }
            Deed::Block(call) | Deed::Begin(call) => exists[call.communicator],
            Deed::Prepare(call) => {
                let is_made = exists[call.communicator];
                prepared.extend(is_made.then_some((*number, call.communicator)));
                is_made
            }
            Deed::Start(started) => prepared.iter().any(|(number, _)| number == started),
            Deed::Duplicate(communicator) => exists[*communicator],
        });
        self
    }
}

impl fmt::Display for History {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let History { seed, ranks, surroundings, communicators, steps, faults } = self;
        writeln!(formatter, "A job of {ranks} ranks (seed {seed}); {surroundings}.")?;
        for (number, communicator) in
            communicators.iter().enumerate().filter(|(number, _)| self.makes(*number))
        {
            writeln!(formatter, "  communicator {number}: {communicator}")?;
        }
        for fault in faults {
            writeln!(formatter, "  {fault}")?;
        }
        for (place, step) in steps.iter().enumerate() {
            writeln!(formatter, "  step {place}: {}", step.deed.in_words(self))?;
        }
        for rank in 0..*ranks {
            let acts: Vec<String> = acts(self, rank).iter().map(Act::to_string).collect();
            writeln!(formatter, "  rank {rank} does the steps {}", acts.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Surroundings {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Surroundings {
            nodes,
            knows_nodes,
            tells_nodes_late,
            is_preloaded,
            eager,
            delivery,
            turns,
            cancels,
            is_watched,
            has_below,
            has_devices,
            tunes_online,
            goes_by_tcp,
            tells_of_failures,
            ends_idle_calls,
        } = self;
        write!(
            formatter,
            "nodes {nodes:?}{}",
            if *knows_nodes { "" } else { ", of which MPI does not tell" }
        )?;
        match *eager {
            usize::MAX => formatter.write_str("; sends do not wait for their receives")?,
            0 => formatter.write_str("; sends wait for their receives")?,
            eager => write!(formatter, "; sends of more than {eager} bytes wait for their receives")?,
        }
        write!(formatter, "; messages arrive {delivery}")?;
        write!(formatter, "; another rank's turn every {turns} calls")?;
        if *tells_nodes_late {
            formatter.write_str("; nodes are known from the first blocking call on")?;
        }
        if *is_preloaded {
            formatter.write_str("; preloaded")?;
        }
        if !cancels {
            formatter.write_str("; receives cannot be cancelled")?;
        }
        if *is_watched {
            formatter.write_str("; a tool counts the calls")?;
        }
        if *has_below {
            formatter.write_str("; there is a component below")?;
        }
        if *has_devices {
            formatter.write_str("; some buffers lie on a device")?;
        }
        if *ends_idle_calls {
            formatter.write_str("; MPI ends calls of ranks without neighbours")?;
        }
        if *goes_by_tcp {
            formatter.write_str("; messages between nodes go by TCP")?;
        }
        if *tunes_online {
            formatter.write_str("; algorithms are tried online")?;
        }
        if *tells_of_failures {
            formatter.write_str("; who dies is made known")?;
        }
        Ok(())
    }
}

impl fmt::Display for Delivery {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Delivery::AtOnce => "at once",
            Delivery::Mixed => "now and then",
            Delivery::Late => "when nothing else happens",
        })
    }
}

impl fmt::Display for Communicator {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let (first, second) = self.members.split_at(self.ranks().local());
        write!(formatter, "ranks {first:?}")?;
        if self.remote > 0 {
            write!(formatter, " and, in the other group, {second:?}")?;
        }
        for (key, value) in &self.info {
            write!(formatter, ", info {key}={value}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Unit::Bytes => "bytes",
            Unit::Ints => "ints",
        })
    }
}

impl Deed {
    fn in_words(&self, history: &History) -> String {
        match self {
            Deed::Set(Setting { name, values }) if values.iter().all(|value| *value == values[0]) => {
                format!("all ranks set {name} to {}", values[0])
            }
            Deed::Set(Setting { name, values }) => format!("the ranks set {name} to {values:?}"),
            Deed::Make(communicator) => format!("make communicator {communicator}"),
            Deed::Free(communicator) => format!("free communicator {communicator}"),
            Deed::Block(call) => format!("{}, blocking", call.in_words(history)),
            Deed::Begin(call) => format!("{}, non-blocking", call.in_words(history)),
            Deed::Prepare(call) => format!("{}, persistent", call.in_words(history)),
            Deed::Start(number) => {
                let place = history.steps.iter().position(|step| step.number == *number);
                place.map_or("nothing".into(), |place| format!("start the operation of step {place}"))
            }
            Deed::Duplicate(communicator) => {
                format!("MPI duplicates communicator {communicator} in the background")
            }
        }
    }
}

impl Call {
    fn in_words(&self, history: &History) -> String {
        let Call { communicator, collective, root, values, unit, in_place, arithmetic, .. } = self;
        let mut words = format!("communicator {communicator}: {}", collective.name());
        if collective.is_rooted() {
            let root_in_job = history.communicators[*communicator].members[*root];
            words += &format!(" from or to rank {root_in_job} of the job");
        }
        if *collective != Collective::Barrier {
            words += &match collective.cut() {
                Cut::Vector => format!(", a vector of {values} {unit}"),
                _ => format!(", blocks of up to {values} {unit}"),
            };
        }
        if collective.reduces() {
            words += &format!(", {arithmetic}");
        }
        if *in_place {
            words += ", in place";
        }
        if let Some((rank, _)) = self.other.filter(|_| self.differs_in_place()) {
            let in_job = history.communicators[*communicator].members[rank];
            words += &format!(", other than the rest in place or not at rank {in_job}");
        }
        if let Some((rank, _)) = self.other.filter(|_| !collective.reduces()) {
            let in_job = history.communicators[*communicator].members[rank];
            words += &format!(", with datatypes of its own at rank {in_job}");
        }
        words
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Fault { rank, kind, after } = self;
        match kind {
            FaultKind::NoMemory => {
                write!(formatter, "rank {rank} is refused a piece of temporary memory after it got {after}")
            }
            FaultKind::NothingToShare => write!(formatter, "rank {rank} cannot have memory to share"),
            FaultKind::Send => write!(formatter, "rank {rank} cannot send its message number {after}"),
            FaultKind::Receive => write!(formatter, "rank {rank} cannot receive its message number {after}"),
            FaultKind::Death => write!(formatter, "rank {rank} dies after it began {after} messages"),
        }
    }
}
