//! What the component keeps for a communicator: its schedules and its temporary memory; and how a call is served.

use super::bindings::*;
use super::memory::{Memory, OutOfMemory};
use super::parameters::{Settings, Values, number, word};
use super::pml::{self, Place, Pml};
use crate::algorithms::{Algorithm, Collective, Parameter, Problem, default_radix, legal_radix};
use crate::engine::{Binding, Execution, Program, View};
use crate::schedule::Layout;
use crate::selection::{Call, Choice, Rules};
use std::collections::HashSet;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::rc::Rc;

/// A communicator keeps at most so many schedules; then it starts anew. Broadcasts from ever new roots would fill the
/// memory otherwise.
const MOST_SCHEDULES: usize = 64;

/// A vector is cut into at most so many segments, however short the user wants them.
const MOST_SEGMENTS: usize = 16384;

/// What decides which schedule serves a call. Equal on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Request {
    call: Call,
    root: usize,
    values: Values,
}

/// A schedule that was made before.
struct Known {
    algorithm: &'static Algorithm,
    problem: Problem,
    program: Rc<Program>,
}

/// Who serves a call.
#[derive(Clone)]
enum Served {
    /// The component below.
    Below,
    /// This component.
    Here { program: Rc<Program>, number: i32 },
}

/// A communicator's state.
pub struct Communicator {
    handle: *const c_void,
    rank: usize,
    size: usize,
    identifier: u32,
    below: rustcoll_below,
    known: Vec<Known>,
    /// By collective: the last call and who served it.
    last: [Option<(Request, Served)>; Collective::ALL.len()],
    /// Forced algorithms whose refusal was reported.
    reported: HashSet<(Collective, &'static str)>,
    execution: Execution,
    requests: Vec<*mut c_void>,
    scratch: Memory,
    staging: Memory,
    /// Whether posts may be outstanding.
    pub in_flight: bool,
}

/// The buffers of a call: send and receive place with their views, and the datatype of scratch blocks.
struct Buffers {
    send: Place,
    recv: Place,
    binding: Binding,
    scratch: rustcoll_datatype,
}

impl Communicator {
    /// State of a new communicator.
    pub fn new(handle: *const c_void, rank: usize, size: usize, identifier: u32, below: rustcoll_below) -> Self {
        Communicator {
            handle,
            rank,
            size,
            identifier,
            below,
            known: Vec::new(),
            last: [const { None }; Collective::ALL.len()],
            reported: HashSet::new(),
            execution: Execution::default(),
            requests: Vec::new(),
            scratch: Memory::default(),
            staging: Memory::default(),
            in_flight: false,
        }
    }

    /// The handle that the shim knows it by.
    pub fn handle(&self) -> *const c_void {
        self.handle
    }

    /// `MPI_Allreduce`; `send` is `None` for an in-place call.
    pub fn allreduce(
        &mut self,
        send: Option<*const u8>,
        recv: *mut u8,
        count: usize,
        datatype: rustcoll_datatype,
        operator: rustcoll_operator,
    ) -> c_int {
        let bytes = count * datatype.size;
        let call = self.call(Collective::Allreduce, bytes, operator.commutative != 0, send.is_none());
        let Served::Here { program, .. } = self.serve(call, 0) else { return RUSTCOLL_BELOW };
        let layout = Layout::Balanced { elements: count, blocks: program.schedule.blocks };
        let binding = Binding::uniform(View { layout, element_bytes: datatype.size });
        let send = send.map_or(Place::nowhere(), |base| Place { base: base.cast_mut(), datatype });
        let buffers = Buffers { send, recv: Place { base: recv, datatype }, binding, scratch: datatype };
        self.execute(&program, buffers, MCA_COLL_BASE_TAG_ALLREDUCE, operator)
    }

    /// `MPI_Alltoall`; `send` is `None` for an in-place call.
    pub fn alltoall(
        &mut self,
        send: Option<(*const u8, usize, rustcoll_datatype)>,
        recv: *mut u8,
        recv_count: usize,
        recv_datatype: rustcoll_datatype,
    ) -> c_int {
        let bytes = recv_count * recv_datatype.size;
        let (send, send_count, send_datatype) = match send {
            Some((base, count, datatype)) => (Some(base), count, datatype),
            None => (None, recv_count, recv_datatype),
        };
        if send_count * send_datatype.size != bytes {
            return MPI_ERR_TRUNCATE;
        }
        let call = self.call(Collective::Alltoall, bytes, true, send.is_none());
        let Served::Here { program, .. } = self.serve(call, 0) else { return RUSTCOLL_BELOW };
        let view = |elements, datatype: &rustcoll_datatype| View {
            layout: Layout::Uniform { elements },
            element_bytes: datatype.size,
        };
        let binding = Binding {
            send: view(send_count, &send_datatype),
            recv: view(recv_count, &recv_datatype),
            // Blocks on the way are kept without gaps.
            scratch: view(bytes, &pml::bytes()),
        };
        let send = send.map_or(Place::nowhere(), |base| Place { base: base.cast_mut(), datatype: send_datatype });
        let recv = Place { base: recv, datatype: recv_datatype };
        let buffers = Buffers { send, recv, binding, scratch: pml::bytes() };
        self.execute(&program, buffers, MCA_COLL_BASE_TAG_ALLTOALL, NO_OPERATOR)
    }

    /// `MPI_Bcast`.
    ///
    /// Ranks may describe the same data by different counts and datatypes, so a vector is cut by bytes. Where a rank's
    /// datatype has gaps and the vector is cut, that rank packs it.
    pub fn bcast(&mut self, buffer: *mut u8, count: usize, datatype: rustcoll_datatype, root: usize) -> c_int {
        let bytes = count * datatype.size;
        let call = self.call(Collective::Bcast, bytes, true, false);
        let Served::Here { program, .. } = self.serve(call, root) else { return RUSTCOLL_BELOW };
        let blocks = program.schedule.blocks;
        let user = Place { base: buffer, datatype };
        if datatype.contiguous != 0 {
            let data = Place { base: buffer.wrapping_offset(datatype.true_lb), datatype: pml::bytes() };
            return self.bcast_from(&program, data, bytes, blocks);
        }
        if blocks == 1 {
            return self.bcast_from(&program, user, count, blocks);
        }
        let Ok(packed) = self.scratch.at_least(bytes) else { return MPI_ERR_NO_MEM };
        let packed = Place { base: packed, datatype: pml::bytes() };
        if self.rank == root {
            // SAFETY: the caller's buffer holds `count` elements, the scratch memory their bytes.
            let packing = pml::status(unsafe { pml::copy(&user, (0, count), &packed, (0, bytes)) });
            if packing != MPI_SUCCESS {
                return packing;
            }
        }
        let status = self.bcast_from(&program, packed, bytes, blocks);
        if status == MPI_SUCCESS && self.rank != root {
            // SAFETY: as above.
            return pml::status(unsafe { pml::copy(&packed, (0, bytes), &user, (0, count)) });
        }
        status
    }

    fn bcast_from(&mut self, program: &Rc<Program>, recv: Place, elements: usize, blocks: usize) -> c_int {
        let layout = Layout::Balanced { elements, blocks };
        let binding = Binding::uniform(View { layout, element_bytes: recv.datatype.size });
        let buffers = Buffers { send: Place::nowhere(), recv, binding, scratch: recv.datatype };
        self.execute(program, buffers, MCA_COLL_BASE_TAG_BCAST, NO_OPERATOR)
    }

    fn call(&self, collective: Collective, bytes: usize, commutative: bool, in_place: bool) -> Call {
        Call { collective, size: self.size, bytes, commutative, in_place }
    }

    /// Decides who serves a call, and makes the schedule if it is new.
    fn serve(&mut self, call: Call, root: usize) -> Served {
        let settings = Settings::of(call.collective);
        let request = Request { call, root, values: settings.values() };
        let slot = call.collective as usize;
        let served = match &self.last[slot] {
            Some((last, served)) if *last == request => served.clone(),
            _ => {
                let served = self.decide(&request);
                self.last[slot] = Some((request, served.clone()));
                served
            }
        };
        let number = if let Served::Here { number, .. } = served { number } else { 0 };
        settings.note_ran(number);
        log::debug!("{}: {} of {} bytes by {}", self.name(), call.collective.name(), call.bytes, word(call.collective, number));
        served
    }

    fn decide(&mut self, request: &Request) -> Served {
        let Request { call, values, .. } = *request;
        match self.choose(&call, values) {
            Choice::Below => Served::Below,
            Choice::Use { algorithm, radix, segment } => {
                let problem = self.problem(request, algorithm, radix, segment);
                Served::Here { program: self.program(algorithm, problem), number: number(algorithm) }
            }
        }
    }

    /// The forced algorithm, if it can serve the call; else what the rules say.
    fn choose(&mut self, call: &Call, values: Values) -> Choice {
        let chosen = match values.forced(call.collective) {
            Some(algorithm) => match algorithm.serves(call.commutative) {
                Ok(()) => Choice::Use { algorithm, radix: None, segment: None },
                Err(reason) => {
                    self.report_refusal(algorithm, &reason.to_string());
                    Choice::Below
                }
            },
            None => Rules::built_in().choose(call),
        };
        match chosen {
            Choice::Below if !self.has_below(call.collective) => first_that_serves(call),
            choice => choice,
        }
    }

    fn has_below(&self, collective: Collective) -> bool {
        let flag = match collective {
            Collective::Allreduce => self.below.allreduce,
            Collective::Alltoall => self.below.alltoall,
            Collective::Bcast => self.below.bcast,
        };
        flag != 0
    }

    /// Says once for each communicator and algorithm why a forced algorithm was not used.
    fn report_refusal(&mut self, algorithm: &'static Algorithm, reason: &str) {
        let (collective, name) = (algorithm.collective, algorithm.name);
        if self.reported.insert((collective, name)) && self.rank == 0 {
            let instead = if self.has_below(collective) { "the component below serves it" } else { "another one runs" };
            log::warn!(
                "{}: {name} is forced for {}, but cannot serve this call: {reason}; {instead}",
                self.name(),
                collective.name()
            );
        }
    }

    /// What the algorithm is asked, with the user's parameters before the rule's.
    fn problem(
        &self,
        request: &Request,
        algorithm: &Algorithm,
        radix: Option<usize>,
        segment: Option<usize>,
    ) -> Problem {
        let mut problem = Problem::new(self.size);
        problem.in_place = request.call.in_place;
        if algorithm.collective.is_rooted() {
            problem.root = request.root;
        }
        let takes = |parameter| algorithm.parameters.contains(&parameter);
        if takes(Parameter::Radix) {
            let wanted = request.values.radix().or(radix).unwrap_or(default_radix(self.size));
            problem.radix = legal_radix(wanted, self.size);
            if problem.radix != wanted {
                log::info!("{}: radix {wanted} is cut to {}, for the size", self.name(), problem.radix);
            }
        }
        if takes(Parameter::Segment)
            && let Some(segment) = request.values.segment().or(segment)
        {
            let wanted = request.call.bytes.div_ceil(segment).max(1);
            problem.segments = wanted.min(MOST_SEGMENTS);
            if problem.segments != wanted {
                log::info!("{}: {wanted} segments are cut to {MOST_SEGMENTS}", self.name());
            }
        }
        problem
    }

    /// The prepared schedule of an algorithm, from memory or new.
    fn program(&mut self, algorithm: &'static Algorithm, problem: Problem) -> Rc<Program> {
        let is_it = |known: &&Known| ptr::eq(known.algorithm, algorithm) && known.problem == problem;
        if let Some(known) = self.known.iter().find(is_it) {
            return Rc::clone(&known.program);
        }
        let program = Rc::new(Program::new((algorithm.schedule)(&problem, self.rank)));
        log::info!(
            "{}: {} by {}{}",
            self.name(),
            algorithm.collective.name(),
            algorithm.name,
            describe(algorithm, &problem)
        );
        if self.known.len() == MOST_SCHEDULES {
            self.known.clear();
        }
        self.known.push(Known { algorithm, problem, program: Rc::clone(&program) });
        program
    }

    /// Runs a schedule over the PML.
    fn execute(&mut self, program: &Program, buffers: Buffers, tag: c_int, operator: rustcoll_operator) -> c_int {
        let Buffers { send, recv, binding, scratch } = buffers;
        let staging = self.staging.at_least(program.staging_bytes(&binding));
        let scratch_elements = binding.scratch.layout.offset(program.scratch_blocks);
        let scratch = scratch_place(&mut self.scratch, scratch_elements, scratch);
        let (Ok(staging), Ok(scratch)) = (staging, scratch) else { return MPI_ERR_NO_MEM };
        self.requests.clear();
        self.requests.resize(program.posts, ptr::null_mut());
        let mut transport = Pml {
            communicator: self.handle,
            tag,
            places: pml::places(send, recv, scratch),
            staging: Place { base: staging, datatype: pml::bytes() },
            operator,
            requests: &mut self.requests,
        };
        self.execution.restart();
        self.in_flight = true;
        let result = self.execution.run(&program.schedule, &binding, &mut transport);
        if result.is_err() && transport.abandon() {
            // What was given up may still arrive.
            self.scratch.leak();
            self.staging.leak();
        }
        self.in_flight = false;
        pml::status(result)
    }

    fn name(&self) -> String {
        format!("rank {} of {}, communicator {}", self.rank, self.size, self.identifier)
    }
}

const NO_OPERATOR: rustcoll_operator = rustcoll_operator { handle: ptr::null(), commutative: 1 };

/// Memory for elements of a datatype, wherever their data lies relative to their address.
fn scratch_place(
    memory: &mut Memory,
    elements: usize,
    datatype: rustcoll_datatype,
) -> Result<Place, OutOfMemory> {
    if elements == 0 {
        return Ok(Place { base: ptr::null_mut(), datatype });
    }
    let last = (elements - 1) as isize * datatype.extent;
    let (lowest, highest) = (last.min(0) + datatype.true_lb, last.max(0) + datatype.true_lb);
    let span = (highest - lowest) as usize + datatype.true_extent;
    Ok(Place { base: memory.at_least(span)?.wrapping_offset(-lowest), datatype })
}

/// Where nothing is below: the first registered algorithm that can serve the call.
fn first_that_serves(call: &Call) -> Choice {
    let serving = call.collective.algorithms().find(|algorithm| algorithm.serves(call.commutative).is_ok());
    serving.map_or(Choice::Below, |algorithm| Choice::Use { algorithm, radix: None, segment: None })
}

/// The parameters that shape the schedule, for the log.
fn describe(algorithm: &Algorithm, problem: &Problem) -> String {
    let value = |parameter: &Parameter| match parameter {
        Parameter::Radix => format!(" radix {}", problem.radix),
        Parameter::Segment => format!(" in {} segments", problem.segments),
    };
    algorithm.parameters.iter().map(value).collect()
}
