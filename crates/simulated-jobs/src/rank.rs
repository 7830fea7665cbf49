//! A simulated rank carries out its part of a history, and checks every call.

use std::ffi::c_int;
use std::sync::atomic::Ordering::Relaxed;

use expected_results::buffers::Buffers;
use expected_results::random::nth;
use rustcoll::algorithms::{Collective, Graph};
use rustcoll::shim::*;

use crate::board::{self, NOT_BEGUN, Standing, UNDER_WAY};
use crate::datatypes::{Datatype, Operator};
use crate::describe::Described;
use crate::device;
use crate::duplication::Duplication;
use crate::exit;
use crate::history::{Call, Deed, History, Step};
use crate::mapped::shared_memories;
use crate::operation::Operation;
use crate::order::{Act, acts, draw};
use crate::parameters::Parameter;
use crate::places::Places;
use crate::process::{Communicator, process, progress, wait_until};
use crate::shim::IS_SHOWN;

/// MPI makes progress before one in so many steps.
const PROGRESS: u64 = 3;

/// Before one in so many preparations, the rank frees operations that it no longer needs.
const FREES: u64 = 2;

/// The outcome of starting an operation that could not be made, or that failed before.
const FAILED_BEFORE: c_int = c_int::MAX;

/// The seed of what a program writes to the buffers of a failed call.
const REUSED: u64 = u64::MAX;

struct Held {
    /// The number of the step that made it.
    number: u64,
    communicator: usize,
    /// `None` for a duplication of the communicator.
    made: Option<(Operation, Buffers<Datatype>)>,
    is_persistent: bool,
    /// The place of the step that started the operation, while it is in flight.
    under_way: Option<usize>,
}

/// A running rank.
pub struct Rank {
    history: &'static History,
    parameters: &'static [Parameter],
    rank: usize,
    communicators: Vec<Option<(&'static Communicator, Graph)>>,
    /// How often it has made each communicator.
    made: Vec<u32>,
    places: Places,
    held: Vec<Held>,
    /// The numbers of the persistent operations that it will still start.
    starts: Vec<u64>,
}

impl Rank {
    /// Makes a rank that has not done anything.
    pub fn new(history: &'static History, parameters: &'static [Parameter], rank: usize) -> Rank {
        let communicators = history.communicators.iter().map(|_| None).collect();
        let number = |act: &Act| match act {
            Act::Step(place) => match history.steps[*place].deed {
                Deed::Start(number) => Some(number),
                _ => None,
            },
            Act::Wait(_) => None,
        };
        let starts = acts(history, rank).iter().filter_map(number).collect();
        Rank {
            history,
            parameters,
            rank,
            communicators,
            made: vec![0; history.communicators.len()],
            places: Places::default(),
            held: Vec::new(),
            starts,
        }
    }

    /// Carries out the rank's part to its end.
    pub fn run(mut self) -> ! {
        self.parameter("tune").set(self.history.surroundings.tunes_online.into());
        self.parameter("tune_from").set(1);
        self.parameter("no_idle_neighbours").set((!self.history.surroundings.ends_idle_calls).into());
        // SAFETY: MPI starts.
        unsafe {
            rustcoll_start(IS_SHOWN.load(Relaxed).into(), (self.rank == 0).into(), self.rank as c_int, 0);
            rustcoll_watch(self.history.surroundings.is_watched.into());
        }
        for act in acts(self.history, self.rank) {
            match act {
                Act::Wait(place) => self.wait_for(|held| held.under_way == Some(place)),
                Act::Step(place) => {
                    let step = &self.history.steps[place];
                    if draw(self.history, step, self.rank, 1).is_multiple_of(PROGRESS) {
                        progress();
                    }
                    stand(Standing::In(place));
                    self.step(place);
                }
            }
        }
        self.held.clear();
        (0..self.communicators.len()).for_each(|communicator| self.free(communicator));
        self.check_shared_memories();
        // SAFETY: nothing is in flight.
        unsafe { rustcoll_finish() };
        exit::well()
    }

    fn parameter(&self, name: &str) -> &'static Parameter {
        let parameters = self.parameters;
        parameters.iter().find(|known| known.name == name).expect("the parameter is known")
    }

    fn step(&mut self, place: usize) {
        let step: &'static Step = &self.history.steps[place];
        match &step.deed {
            Deed::Set(setting) => {
                // Later parts of a duplication would use the new value on some ranks only.
                self.wait_for(|held| held.made.is_none());
                self.parameter(&setting.name).set(setting.values[self.rank]);
            }
            Deed::Make(communicator) => self.make(*communicator),
            Deed::Free(communicator) => {
                self.wait_for(|held| held.communicator == *communicator);
                self.held.retain(|held| held.communicator != *communicator);
                self.free(*communicator);
                self.check_shared_memories();
            }
            Deed::Block(call) => self.block(place, call),
            Deed::Begin(call) => {
                if self.prepare(place, call, false) {
                    self.start(place, step.number);
                }
            }
            Deed::Prepare(call) => {
                if draw(self.history, step, self.rank, 3).is_multiple_of(FREES) {
                    self.free_unneeded();
                }
                self.prepare(place, call, true);
            }
            Deed::Start(number) => {
                let place_of_start = self.starts.iter().position(|start| start == number);
                self.starts.remove(place_of_start.expect("it is one of them"));
                self.wait_for(|held| held.number == *number);
                self.start(place, *number);
            }
            Deed::Duplicate(communicator) => self.duplicate(place, *communicator),
        }
    }

    /// Frees the persistent operations that the rank will not start again.
    fn free_unneeded(&mut self) {
        let Rank { held, starts, .. } = self;
        held.retain(|held| !held.is_persistent || held.under_way.is_some() || starts.contains(&held.number));
    }

    fn make(&mut self, number: usize) {
        let Rank { history, rank, places, .. } = self;
        let times = self.made[number];
        let below = history.surroundings.has_below.then(|| {
            let below = places.put(Communicator::apart(history, number, times, *rank));
            below.announce();
            below
        });
        let mut communicator = Communicator::new(history, number, times, *rank);
        communicator.below = below;
        let communicator = places.put(communicator);
        communicator.announce();
        let graph = history.communicators[number].topology.graph();
        self.communicators[number] = Some((communicator, graph));
        self.made[number] += 1;
    }

    fn free(&mut self, communicator: usize) {
        if let Some((communicator, _)) = self.communicators[communicator].take() {
            communicator.withdraw();
            for freed in communicator.below.into_iter().chain([communicator]) {
                // SAFETY: the library has forgotten the communicator, and nothing is in flight there.
                unsafe { self.places.vacate(freed) };
            }
        }
    }

    /// Checks that no communicator shares memory after it was freed. A failed operation keeps its memory, because cancelled
    /// messages may still arrive there.
    fn check_shared_memories(&self) {
        let has_failed = |outcome: i32| ![NOT_BEGUN, UNDER_WAY, RUSTCOLL_SUCCESS].contains(&outcome);
        let steps = self.history.steps.len();
        if board::with(|board| board.outcomes[..steps].iter().any(|of_step| has_failed(of_step[self.rank]))) {
            return;
        }
        let most: usize =
            self.communicators.iter().flatten().map(|(one, _)| 1 + usize::from(one.below.is_some())).sum();
        if let Some(number) = shared_memories().filter(|&number| number > most) {
            exit::wrong(&format!(
                "rank {} maps the shared memory of {number} communicators, but only {most} are not freed",
                self.rank
            ));
        }
    }

    /// Returns the communicator and the buffers of a step's call.
    fn buffers(&self, place: usize, call: &Call) -> (&'static Communicator, Buffers<Datatype>) {
        let (communicator, graph) = self.communicators[call.communicator].as_ref().expect("it was made");
        let (membership, ranks) =
            (&communicator.membership, self.history.communicators[call.communicator].ranks());
        let rank = membership.number();
        let arguments = call.arguments(rank, &ranks, graph);
        let mut buffers = Buffers::new(&arguments, membership, graph, self.seed(place));
        if self.history.surroundings.has_devices {
            buffers.move_some(rank, |_| true, |bytes| Some(Box::new(device::DeviceMemory::new(bytes))));
        }
        (communicator, buffers)
    }

    /// Returns the seed of a step's data, which is the same on all ranks.
    fn seed(&self, place: usize) -> u64 {
        nth(self.history.seed, self.history.steps[place].number)
    }

    fn block(&mut self, place: usize, call: &Call) {
        let (communicator, mut buffers) = self.buffers(place, call);
        let described = described(call, communicator, &mut buffers);
        note(place, UNDER_WAY);
        let status = match self.is_ended_by_mpi(call) {
            true => RUSTCOLL_SUCCESS,
            false => communicator.run(&described),
        };
        self.check(place, status, &buffers);
        if status != RUSTCOLL_SUCCESS {
            reuse(buffers);
        }
    }

    /// Whether MPI itself ends a call, because this rank has no neighbours and so passes counts of 0.
    fn is_ended_by_mpi(&self, call: &Call) -> bool {
        let (communicator, graph) = self.communicators[call.communicator].as_ref().expect("it was made");
        let is_ended =
            matches!(call.collective, Collective::NeighborAllgather | Collective::NeighborAlltoall);
        is_ended && self.history.surroundings.ends_idle_calls && {
            let own = graph.neighbours(communicator.membership.rank);
            own.indegree + own.outdegree == 0
        }
    }

    /// Makes an operation; returns whether that succeeded.
    fn prepare(&mut self, place: usize, call: &Call, is_persistent: bool) -> bool {
        let number = self.history.steps[place].number;
        // A duplication's parts take their tags when they begin, so the operation must wait for it.
        self.wait_for(|held| held.made.is_none() && held.communicator == call.communicator);
        stand(Standing::In(place));
        let (communicator, mut buffers) = self.buffers(place, call);
        let described = described(call, communicator, &mut buffers);
        let operation = match Operation::new(communicator, &described, is_persistent) {
            Ok(operation) => operation,
            Err(error) => {
                self.check(place, error, &buffers);
                return false;
            }
        };
        self.held.push(Held {
            number,
            communicator: call.communicator,
            made: Some((operation, buffers)),
            is_persistent,
            under_way: None,
        });
        true
    }

    /// Starts the operation that a step made, unless the step failed.
    fn start(&mut self, place: usize, number: u64) {
        let seed = self.seed(place);
        let Some(held) = self.held.iter_mut().find(|held| held.number == number) else {
            return note(place, FAILED_BEFORE);
        };
        let Some((operation, buffers)) = &mut held.made else { return };
        buffers.fill(seed);
        held.under_way = Some(place);
        note(place, UNDER_WAY);
        operation.start(place);
    }

    fn duplicate(&mut self, place: usize, number: usize) {
        self.wait_for(|held| held.communicator == number);
        let (communicator, _) = self.communicators[number].as_ref().expect("it was made");
        note(place, UNDER_WAY);
        Duplication::begin(communicator, place);
        self.held.push(Held {
            number: self.history.steps[place].number,
            communicator: number,
            made: None,
            is_persistent: false,
            under_way: Some(place),
        });
    }

    /// Waits for the selected operations that are in flight.
    fn wait_for(&mut self, is_meant: impl Fn(&Held) -> bool) {
        while let Some(index) = self.held.iter().position(|held| held.under_way.is_some() && is_meant(held)) {
            let held = &mut self.held[index];
            let place = held.under_way.take().expect("it is under way");
            stand(Standing::Awaits(place));
            let mut error = None;
            wait_until(|| {
                error = match &held.made {
                    Some((operation, _)) => operation.ended(),
                    None => Duplication::ended(place),
                };
                error.is_some()
            });
            let error = error.expect("it was waited for");
            let is_over = !held.is_persistent || error != RUSTCOLL_SUCCESS;
            let held = if is_over { Some(self.held.remove(index)) } else { None };
            let buffers = match &held {
                Some(held) => held.made.as_ref(),
                None => self.held[index].made.as_ref(),
            };
            match buffers {
                Some((_, buffers)) => self.check(place, error, buffers),
                None => self.check_error(place, error),
            }
            if error != RUSTCOLL_SUCCESS
                && let Some(Held { made: Some((operation, buffers)), .. }) = held
            {
                std::mem::forget(operation);
                reuse(buffers);
            }
        }
    }

    /// Checks a call's error and result, and notes its outcome.
    fn check(&self, place: usize, status: c_int, buffers: &Buffers<Datatype>) {
        self.check_error(place, status);
        if status != RUSTCOLL_SUCCESS {
            return;
        }
        if let Some(difference) = buffers.difference() {
            self.wrong(place, &format!("a wrong result: {difference}"));
        }
        if let Some(difference) = buffers.changed_source() {
            self.wrong(place, &format!("its send buffer was changed: {difference}"));
        }
    }

    fn check_error(&self, place: usize, status: c_int) {
        note(place, status);
        if status != RUSTCOLL_SUCCESS && !self.history.allows(self.rank, status) {
            self.wrong(place, &format!("the error {status}, for which there is no reason"));
        }
    }

    fn wrong(&self, place: usize, what: &str) -> ! {
        exit::wrong(&format!("step {place} at rank {}: {what}", self.rank))
    }
}

fn described(call: &Call, communicator: &Communicator, buffers: &mut Buffers<Datatype>) -> Box<Described> {
    let operator = call.collective.reduces().then_some(Operator::Of(call.arithmetic));
    Described::of_buffers(buffers, operator, &communicator.membership)
}

/// Overwrites the buffers of a failed call, as a program may: no rank may read them any more. They stay, because cancelled
/// messages may still arrive.
fn reuse(mut buffers: Buffers<Datatype>) {
    buffers.fill(REUSED);
    std::mem::forget(buffers);
}

fn stand(standing: Standing) {
    board::with(|board| {
        board.quiet = 0;
        board.standings[process().rank] = standing;
    });
}

fn note(place: usize, outcome: c_int) {
    board::note_outcome(process().rank, place, outcome);
}
