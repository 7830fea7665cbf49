//! What a simulated program does, at all ranks; and how it reads in plain words.

use std::fmt;

use expected_results::arithmetic::Arithmetic;
use rustcoll::algorithms::{Collective, Cut, Dimension, Graph};

use crate::order::{Act, acts};

/// There are at most so many ranks.
pub const MOST_RANKS: usize = 9;

/// A history has at most so many steps.
pub const MOST_STEPS: usize = 256;

/// A job from its beginning to its end. All that happens is a function of it.
#[derive(Clone, Debug)]
pub struct History {
    /// Draws the data and the order in which ranks run and messages arrive.
    pub seed: u64,
    /// Number of ranks.
    pub ranks: usize,
    /// The MPI and where the ranks are.
    pub surroundings: Surroundings,
    /// All communicators that the program makes. The first one has all ranks in their order.
    pub communicators: Vec<Communicator>,
    /// What the program does, in an order in which each rank could do it.
    pub steps: Vec<Step>,
    /// What goes wrong.
    pub faults: Vec<Fault>,
}

/// What the simulated MPI is like.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Of each rank the node.
    pub nodes: Vec<usize>,
    /// Whether MPI can tell all ranks alike whether there are several nodes.
    pub knows_nodes: bool,
    /// Whether the library is loaded before the MPI.
    pub is_preloaded: bool,
    /// Messages of up to so many bytes are sent at once; for longer ones a send waits for its receive.
    pub eager: usize,
    /// Which messages arrive when.
    pub delivery: Delivery,
    /// A call that need not wait lets others run once in so many times.
    pub turns: usize,
    /// Whether a receive that is given up is so for good, and not still under way.
    pub cancels: bool,
    /// Whether a tool counts the calls.
    pub is_watched: bool,
    /// Whether there is something that serves the calls which the library leaves alone.
    pub has_below: bool,
    /// Whether some buffers lie on a device.
    pub has_devices: bool,
    /// Whether algorithms are tried, from the first call on.
    pub tunes_online: bool,
    /// Whether MPI tells the ranks of a communicator that one of them has died, and ends its messages.
    pub tells_of_failures: bool,
}

/// Which messages arrive when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// All, whenever somebody else runs.
    AtOnce,
    /// One now and then.
    Mixed,
    /// One if no rank can go on.
    Late,
}

/// A communicator.
#[derive(Clone, Debug)]
pub struct Communicator {
    /// The numbers of its ranks in the job.
    pub members: Vec<usize>,
    /// Who the neighbours are.
    pub topology: Topology,
    /// Its info keys and their values.
    pub info: Vec<(String, String)>,
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
    /// A similar one of so many ranks.
    pub fn of_so_many(&self, size: usize) -> Topology {
        let periodic = matches!(self, Topology::Grid(dimensions) if dimensions[0].periodic);
        Topology::Grid(vec![Dimension { length: size, periodic }])
    }

    /// Who the neighbours are.
    pub fn graph(&self) -> Graph {
        match self {
            Topology::Grid(dimensions) => Graph::grid(dimensions),
            Topology::Listed(graph) => graph.clone(),
        }
    }
}

/// Something that the program does, at all ranks that it concerns.
#[derive(Clone, Debug)]
pub struct Step {
    /// What tells it from others, also from those that are left out to make a history shorter.
    pub number: u64,
    /// What is done.
    pub deed: Deed,
}

/// What is done in a step.
#[derive(Clone, Debug)]
pub enum Deed {
    /// The same value is given to a parameter at all ranks; to one of a rank's own, each rank's.
    Set(Setting),
    /// The ranks of a communicator make it.
    Make(usize),
    /// The ranks of a communicator free it.
    Free(usize),
    /// A call that blocks.
    Block(Call),
    /// A call that does not block. Each rank waits for it later.
    Begin(Call),
    /// An operation that can be started again and again.
    Prepare(Call),
    /// The operation of the step with this number is started. Each rank waits for it later.
    Start(u64),
    /// MPI duplicates a communicator in the background: it reduces to all ranks a few times, each time when the last one has ended.
    Duplicate(usize),
}

/// A parameter and its value.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value at each rank.
    pub values: Vec<i32>,
}

/// A call of a collective, at all ranks of a communicator.
#[derive(Clone, Debug)]
pub struct Call {
    /// The communicator.
    pub communicator: usize,
    /// The collective.
    pub collective: Collective,
    /// The root, where there is one.
    pub root: usize,
    /// Values of the vector, or of a block, or the most of a block where lengths differ. An even number.
    pub values: usize,
    /// Whether there is but one buffer; where there is a root, on the root.
    pub in_place: bool,
    /// What a reduction computes.
    pub arithmetic: Arithmetic,
    /// Draws lengths and datatypes.
    pub shape: u64,
    /// A rank of the communicator that describes its data by other datatypes, and what draws these.
    pub other: Option<(usize, u64)>,
}

/// Something that goes wrong at a rank.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The rank, by its number in the job.
    pub rank: usize,
    /// What.
    pub kind: FaultKind,
    /// How many of the things that can go wrong go well before.
    pub after: usize,
}

/// What can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A piece of temporary memory is refused.
    NoMemory,
    /// There is no memory to share.
    NothingToShare,
    /// A send fails.
    Send,
    /// A receive fails.
    Receive,
    /// The rank dies when it would send or receive.
    Death,
}

impl Step {
    /// The communicator that it is about.
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
    /// The call that a step carries out or begins.
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
}

impl fmt::Display for History {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let History { seed, ranks, surroundings, communicators, steps, faults } = self;
        writeln!(formatter, "A job of {ranks} ranks (seed {seed}); {surroundings}.")?;
        let is_made = |number: usize| {
            steps.iter().any(|step| matches!(step.deed, Deed::Make(communicator) if communicator == number))
        };
        for (number, communicator) in communicators.iter().enumerate().filter(|(number, _)| is_made(*number))
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
            is_preloaded,
            eager,
            delivery,
            turns,
            cancels,
            is_watched,
            has_below,
            has_devices,
            tunes_online,
            tells_of_failures,
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
        write!(formatter, "ranks {:?}", self.members)?;
        for (key, value) in &self.info {
            write!(formatter, ", info {key}={value}")?;
        }
        Ok(())
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
        let Call { communicator, collective, root, values, in_place, arithmetic, .. } = self;
        let mut words = format!("communicator {communicator}: {}", collective.name());
        if collective.is_rooted() {
            let root_in_job = history.communicators[*communicator].members[*root];
            words += &format!(" from or to rank {root_in_job} of the job");
        }
        if *collective != Collective::Barrier {
            words += &match collective.cut() {
                Cut::Vector => format!(", a vector of {values} ints"),
                _ => format!(", blocks of up to {values} ints"),
            };
        }
        if collective.reduces() {
            words += &format!(", {arithmetic}");
        }
        if *in_place {
            words += ", in place";
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
