//! A simulated rank's own state, and how it waits: its communicators, its requests, and the turns that it gives to
//! others.

use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_int, c_void};
use std::process::abort;
use std::ptr;
use std::sync::OnceLock;

use expected_results::buffers::Membership;
use rustcoll::algorithms::Collective;
use rustcoll::shim::*;

use crate::board::{self, Board, Standing};
use crate::datatypes::Datatype;
use crate::describe::Described;
use crate::device;
use crate::duplication::Duplication;
use crate::exit;
use crate::faults::Faults;
use crate::history::{Delivery, History, MOST_RANKS, Topology};
use crate::network::{Envelope, Number};

/// MPI's error class for errors without another name.
pub const MPI_ERR_OTHER: c_int = 15;

/// No history has so many communicators. A context is the number of the communicator plus a multiple of this.
const MOST_COMMUNICATORS: u32 = 64;

/// Added to the context of the communicator below.
const BELOW: u32 = MOST_COMMUNICATORS;

/// Added to the context of the communicator that reaches the own group.
const OF_GROUP: u32 = 2 * MOST_COMMUNICATORS;

/// Added each time that a communicator is made again.
const AGAIN: u32 = 4 * MOST_COMMUNICATORS;

/// The last tag before those of requests. It and the three below are the library's own; the next one is that of the profile.
pub const LAST_TAG: c_int = Collective::ALL.len() as c_int + 4;

/// Open MPI's error if a message's other end has died.
pub const MPI_ERR_PROC_FAILED: c_int = 75;

/// If so many consecutive turns of each rank change nothing, no rank can ever go on.
const QUIET_TURNS: usize = 4;

/// Returns the same limit if a rank waits for shared memory. The simulation cannot see what happens there. But in each
/// turn some rank gets past a stripe, and no vector has more than MOST_STRIPES of them (see `generate`).
fn quiet_turns_in_memory(history: &History) -> usize {
    const MOST_STRIPES: usize = 500;
    const SHORTEST_STRIPE: usize = 24;
    let values = history.steps.iter().filter_map(|step| history.call_of(step)).map(|call| call.values);
    let longest = values.max().unwrap_or(0) * size_of::<c_int>();
    300 + 4 * (longest / SHORTEST_STRIPE).min(MOST_STRIPES)
}

/// Number of turns without an event before late messages arrive.
const LATE: usize = 2;

/// After so many turns without an event, the ranks take turns in order.
const IN_ORDER: usize = 64;

/// A communicator. The library identifies it by its address.
pub struct Communicator {
    pub context: u32,
    /// The numbers of the own group's ranks in the job.
    pub members: Vec<usize>,
    /// Those of the other group of an inter-communicator.
    others: Vec<usize>,
    /// This process's rank.
    pub membership: Membership,
    /// On an inter-communicator, reaches the own group.
    of_group: Option<Box<Communicator>>,
    /// How many operations have got a tag.
    pub tags: Cell<c_int>,
    /// The library's state of the communicator.
    pub state: Cell<*mut c_void>,
    pub info: Vec<(CString, CString)>,
    /// Lengths and periods of a grid, or sources and destinations.
    pub topology: [Vec<c_int>; 2],
    /// Whether the topology is a grid.
    pub is_grid: bool,
    /// Whether a blocking call has been made.
    pub is_set_up: Cell<bool>,
    /// Serves calls that fall back: the library, on another communicator that has none below.
    pub below: Option<&'static Communicator>,
}

impl Communicator {
    /// Makes a history's communicator on a rank of the job. `times`: how often it was made before.
    pub fn new(history: &History, number: usize, times: u32, process: usize) -> Communicator {
        let made = &history.communicators[number];
        let place = made.members.iter().position(|&member| member == process).expect("only members make it");
        let context = number as u32 + times * AGAIN;
        let (ranks, has_two_groups) = (made.ranks(), made.remote > 0);
        let (group, partners) = (ranks.group(place), ranks.partners(place));
        let of_group =
            |context| Communicator::plain(context, &made.members[group.clone()], place - group.start);
        let others = if has_two_groups { &made.members[partners.clone()] } else { &[] };
        let text = |text: &String| CString::new(text.as_str()).expect("no zero in an info key");
        let (is_grid, topology) = match &made.topology {
            Topology::Grid(dimensions) => {
                let lengths = dimensions.iter().map(|dimension| dimension.length as c_int);
                let periods = dimensions.iter().map(|dimension| dimension.periodic.into());
                (true, [lengths.collect(), periods.collect()])
            }
            Topology::Listed(graph) => {
                let own = graph.neighbours(place);
                (
                    false,
                    [&own.sources, &own.destinations]
                        .map(|edges| edges.iter().map(|edge| edge.peer as c_int).collect()),
                )
            }
        };
        let this = of_group(context);
        Communicator {
            membership: Membership {
                first: group.start,
                others: has_two_groups.then_some(partners),
                ..this.membership
            },
            others: others.to_vec(),
            of_group: has_two_groups.then(|| Box::new(of_group(context + OF_GROUP))),
            info: made.info.iter().map(|(key, value)| (text(key), text(value))).collect(),
            topology,
            is_grid,
            ..this
        }
    }

    /// Makes a communicator of one group that has neither info keys nor a topology.
    fn plain(context: u32, members: &[usize], rank: usize) -> Communicator {
        Communicator {
            context,
            members: members.to_vec(),
            others: Vec::new(),
            membership: Membership::in_group(rank, members.len()),
            of_group: None,
            tags: Cell::new(0),
            state: Cell::new(ptr::null_mut()),
            info: Vec::new(),
            topology: [Vec::new(), Vec::new()],
            is_grid: false,
            is_set_up: Cell::new(false),
            below: None,
        }
    }

    /// Makes a communicator of the same ranks that is independent of the first.
    pub fn apart(history: &History, number: usize, times: u32, process: usize) -> Communicator {
        let mut this = Communicator::new(history, number, times, process);
        this.context += BELOW;
        this.of_group.iter_mut().for_each(|of_group| of_group.context += BELOW);
        Communicator { info: Vec::new(), ..this }
    }

    /// Returns the job's number of the rank to which messages for a peer go.
    pub fn reached(&self, peer: usize) -> usize {
        if self.others.is_empty() { self.members[peer] } else { self.others[peer] }
    }

    /// Makes the library's state for the communicator.
    pub fn announce(&self) {
        let serves = [u8::from(self.below.is_some()); Collective::ALL.len()];
        let below = rustcoll_below { blocking: serves, nonblocking: serves, persistent: serves };
        let Membership { rank, size, .. } = self.membership;
        let handle: *const c_void = ptr::from_ref(self).cast();
        let of_group = self.of_group.as_ref().map_or(handle, |of_group| ptr::from_ref(&**of_group).cast());
        // SAFETY: the communicator does not move until it is withdrawn.
        let state = unsafe {
            rustcoll_communicator_new(
                handle,
                of_group,
                rank as c_int,
                size as c_int,
                self.others.len() as c_int,
                LAST_TAG,
                self.context,
                &below,
            )
        };
        self.state.set(state);
    }

    /// Frees that state, and the state of the communicator below.
    pub fn withdraw(&self) {
        // SAFETY: the state is freed once, and nothing is in flight.
        unsafe { rustcoll_communicator_free(self.state.get()) };
        if let Some(below) = self.below {
            below.withdraw();
        }
    }

    /// Makes a blocking call.
    pub fn run(&self, call: &Described) -> c_int {
        if process().history.surroundings.tells_nodes_late && !self.is_set_up.replace(true) {
            // SAFETY: the state is the communicator's.
            unsafe { rustcoll_look_again(self.state.get()) };
        }
        // SAFETY: the state is the communicator's, the call is for it, and no other blocking call runs there.
        let status = unsafe { rustcoll_run(self.state.get(), call.call()) };
        match self.below {
            Some(below) if status == RUSTCOLL_BELOW => {
                let status = below.run(call);
                // SAFETY: the communicator below has ended the call.
                unsafe { rustcoll_ended_below(self.state.get()) };
                status
            }
            _ => status,
        }
    }

    /// Returns the tag of the next non-blocking or persistent operation.
    pub fn next_tag(&self) -> c_int {
        self.tags.set(self.tags.get() + 1);
        LAST_TAG + self.tags.get()
    }
}

/// A message in flight.
pub enum Request {
    /// A send. It is complete once the receiver has taken the message.
    Sent { message: Number, elements: *const c_void, count: usize, datatype: Datatype },
    /// A receive.
    Posted {
        envelope: Envelope,
        elements: *mut c_void,
        count: usize,
        datatype: Datatype,
        error: Option<c_int>,
    },
}

/// A simulated rank.
pub struct Process {
    pub rank: usize,
    pub history: &'static History,
    /// This rank's faults.
    pub faults: Faults,
    quiet_turns_in_memory: usize,
    /// Incomplete receives, in the order of posting.
    pub posted: RefCell<Vec<*mut Request>>,
    /// The device's memory, if there is any.
    pub device: RefCell<Vec<device::Addresses>>,
    /// Communicators that MPI is duplicating.
    pub duplications: RefCell<Vec<Duplication>>,
}

struct OneThread(Process);

// SAFETY: a rank has one thread.
unsafe impl Send for OneThread {}
// SAFETY: as above.
unsafe impl Sync for OneThread {}

static PROCESS: OnceLock<OneThread> = OnceLock::new();

/// Returns this rank.
pub fn process() -> &'static Process {
    let Some(OneThread(process)) = PROCESS.get() else {
        // Code before the fork needs no rank.
        abort()
    };
    process
}

impl Process {
    /// Whether MPI tells the communicator's ranks that a member has died.
    pub fn is_told_of_failure(&self, board: &Board, context: u32) -> bool {
        let members = &self.history.communicators[(context % MOST_COMMUNICATORS) as usize].members;
        self.history.surroundings.tells_of_failures && board.has_died_of(members)
    }
}

/// Whether this process is a rank.
pub fn is_rank() -> bool {
    PROCESS.get().is_some()
}

/// Makes this process a rank.
pub fn become_rank(rank: usize, history: &'static History) {
    let (posted, device, duplications) = (RefCell::default(), RefCell::default(), RefCell::default());
    let faults = Faults::of(history, rank);
    let quiet_turns_in_memory = quiet_turns_in_memory(history);
    let process = Process { rank, history, faults, quiet_turns_in_memory, posted, device, duplications };
    assert!(PROCESS.set(OneThread(process)).is_ok(), "a process is one rank");
}

pub fn note_event() {
    board::with(|board| board.quiet = 0);
}

/// Lets other ranks run now and then, although this rank need not wait.
pub fn pause() {
    let turns = process().history.surroundings.turns;
    if board::with(|board| board.random.below(turns)) == 0 {
        give_turn(false);
    }
}

/// Lets other ranks run, because this rank waits for shared memory or for messages.
pub fn wait_a_turn(for_memory: bool) {
    board::with(|board| board.wait_for_memory[process().rank] = for_memory);
    give_turn(true);
}

fn give_turn(is_waiting: bool) {
    let Process { rank, history, quiet_turns_in_memory, .. } = process();
    let next = board::with(|board| {
        if board.quiet == 0 {
            board.quiet_of = [0; MOST_RANKS];
        }
        board.quiet += usize::from(is_waiting);
        board.quiet_of[*rank] += usize::from(is_waiting);
        let is_due = match history.surroundings.delivery {
            Delivery::AtOnce => true,
            Delivery::Mixed => board.random.below(2) == 0 || board.quiet > LATE * board.ranks,
            Delivery::Late => board.quiet > LATE * board.ranks,
        };
        if is_due && board.network.deliver(&mut board.random) {
            board.quiet = 0;
        }
        let living: Vec<usize> = board.living().collect();
        let in_memory = living.iter().any(|&rank| board.wait_for_memory[rank]);
        let turns = if in_memory { *quiet_turns_in_memory } else { QUIET_TURNS };
        // A rank that tests many messages in its turn gives others many turns meanwhile.
        if board.quiet > IN_ORDER && living.iter().all(|&rank| board.quiet_of[rank] > turns) {
            exit::hung();
        }
        match board.quiet > IN_ORDER {
            true => *living.iter().find(|&other| other > rank).unwrap_or(&living[0]),
            false => living[board.random.below(living.len())],
        }
    });
    if next != *rank {
        board::give_baton(next);
        board::await_baton(*rank);
    }
}

/// Ends this rank. Another rank goes on.
pub fn leave(standing: Standing) {
    let next = board::with(|board| {
        board.standings[process().rank] = standing;
        board.quiet = 0;
        let living: Vec<usize> = board.living().collect();
        (!living.is_empty()).then(|| living[board.random.below(living.len())])
    });
    if let Some(next) = next {
        board::give_baton(next);
    }
}

/// Takes the arrived messages of posted receives.
pub fn receive_arrived() {
    process().posted.borrow_mut().retain(|&request| {
        // SAFETY: posted requests live until they are complete or cancelled.
        let Request::Posted { envelope, elements, count, datatype, error } = (unsafe { &mut *request })
        else {
            return false;
        };
        let received = board::with(|board| {
            if board.is_lost(*envelope) || process().is_told_of_failure(board, envelope.context) {
                board.quiet = 0;
                return Some(MPI_ERR_PROC_FAILED);
            }
            let message = board.network.take(*envelope)?;
            // SAFETY: the poster of a receive keeps room for its elements until it is complete.
            let is_truncated = unsafe { datatype.unpack(message, *elements, *count) };
            board.quiet = 0;
            Some(if is_truncated { RUSTCOLL_ERR_TRUNCATE } else { RUSTCOLL_SUCCESS })
        });
        *error = received.map(|error| process().faults.of_receive().unwrap_or(error));
        error.is_none()
    });
}

/// Makes progress as MPI does: of messages, of the library, and of duplications.
pub fn progress() {
    receive_arrived();
    // SAFETY: MPI is initialised.
    unsafe { rustcoll_progress() };
    Duplication::advance_all();
}

/// Replaces libc's function in this program. The baton decides which rank runs next, so the system need not schedule
/// another process.
#[unsafe(no_mangle)]
extern "C" fn sched_yield() -> c_int {
    0
}

/// Waits until the condition holds.
pub fn wait_until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        // Operations may use shared memory.
        wait_a_turn(true);
        progress();
    }
}

impl Request {
    /// Returns the error with which the request ended, if it has.
    pub fn ended(&self) -> Option<c_int> {
        match self {
            Request::Posted { error, .. } => *error,
            Request::Sent { message, elements, count, datatype } => {
                // SAFETY: a sender leaves its data alone until the send is complete.
                let data = unsafe { datatype.packed(*elements, *count) };
                board::with(|board| {
                    if board.network.data(*message) != data {
                        board.note("data were changed before their send was complete");
                    }
                    let Envelope { to, context, .. } = board.network.envelope(*message);
                    match board.standings[to] {
                        Standing::Dead => Some(MPI_ERR_PROC_FAILED),
                        _ if process().is_told_of_failure(board, context) => Some(MPI_ERR_PROC_FAILED),
                        _ => board.network.is_taken(*message).then_some(RUSTCOLL_SUCCESS),
                    }
                })
            }
        }
    }
}
