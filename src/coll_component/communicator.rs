//! What the component keeps for a communicator, and how a call is served.

use super::bindings::*;
use super::memory::Memory;
use super::parameters::{Settings, Values, word};
use super::pml::{self, Place, Pml};
use super::schedules::{Chosen, Schedules};
use crate::algorithms::Collective;
use crate::engine::{Binding, Execution, Plan, View};
use crate::schedule::{Layout, Schedule};
use crate::selection::Call;
use std::ffi::{c_int, c_void};
use std::ptr;

/// A communicator's state.
pub struct Communicator {
    handle: *const c_void,
    rank: usize,
    size: usize,
    identifier: u32,
    schedules: Schedules,
    /// By collective: how the last call was served. Programs repeat themselves.
    last: [Option<Prepared>; Collective::ALL.len()],
    requests: Vec<*mut c_void>,
    scratch: Memory,
    staging: Memory,
    /// The data of a broadcast whose datatype has gaps.
    packed: Memory,
    bytes: rustcoll_datatype,
    /// Whether posts may be outstanding.
    pub in_flight: bool,
}

/// Everything that a plan depends on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    call: Call,
    root: usize,
    values: Values,
    send: Elements,
    recv: Elements,
}

/// How many elements of how many bytes of data, and whether these have no gaps.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Elements {
    count: usize,
    bytes: usize,
    contiguous: bool,
}

impl Elements {
    fn new(count: usize, datatype: &rustcoll_datatype) -> Self {
        Elements { count, bytes: datatype.size, contiguous: datatype.contiguous != 0 }
    }

    fn view(self, layout: impl FnOnce(usize) -> Layout) -> View {
        View { layout: layout(self.count), element_bytes: self.bytes }
    }
}

/// A call's shape and what serves it.
struct Prepared {
    shape: Shape,
    /// The algorithm's number, 0 for the component below.
    number: c_int,
    /// `None`: the component below.
    plan: Option<Plan>,
    /// How many blocks the schedule cuts a vector into.
    blocks: usize,
}

/// The memory of a call.
struct Buffers<'a> {
    send: Place<'a>,
    recv: Place<'a>,
    /// The datatype of scratch elements.
    scratch: &'a rustcoll_datatype,
}

const NO_OPERATOR: rustcoll_operator = rustcoll_operator { handle: ptr::null(), commutative: 1 };

impl Communicator {
    /// State of a new communicator.
    pub fn new(
        handle: *const c_void,
        rank: usize,
        size: usize,
        identifier: u32,
        below: rustcoll_below,
    ) -> Self {
        Communicator {
            handle,
            rank,
            size,
            identifier,
            schedules: Schedules::new(rank, size, identifier, below),
            last: [const { None }; Collective::ALL.len()],
            requests: Vec::new(),
            scratch: Memory::default(),
            staging: Memory::default(),
            packed: Memory::default(),
            bytes: pml::bytes(),
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
        datatype: &rustcoll_datatype,
        operator: &rustcoll_operator,
    ) -> c_int {
        let elements = Elements::new(count, datatype);
        let call = Call {
            collective: Collective::Allreduce,
            size: self.size,
            bytes: count * datatype.size,
            commutative: operator.commutative != 0,
            in_place: send.is_none(),
        };
        if call.bytes == 0 {
            return MPI_SUCCESS;
        }
        let served = self.prepare(self.shape(call, 0, elements, elements), |schedule| {
            Binding::uniform(elements.view(|elements| Layout::Balanced { elements, blocks: schedule.blocks }))
        });
        if !served {
            return RUSTCOLL_BELOW;
        }
        let send = Place { base: send.unwrap_or(ptr::null()).cast_mut(), datatype };
        let recv = Place { base: recv, datatype };
        self.execute(call.collective, Buffers { send, recv, scratch: datatype }, operator)
    }

    /// `MPI_Alltoall`; `send` is `None` for an in-place call.
    pub fn alltoall(
        &mut self,
        send: Option<(*const u8, usize, &rustcoll_datatype)>,
        recv: *mut u8,
        recv_count: usize,
        recv_datatype: &rustcoll_datatype,
    ) -> c_int {
        let (send_base, send_count, send_datatype) = send.unwrap_or((ptr::null(), recv_count, recv_datatype));
        let bytes = recv_count * recv_datatype.size;
        if send_count * send_datatype.size != bytes {
            return MPI_ERR_TRUNCATE;
        }
        let (sent, received) =
            (Elements::new(send_count, send_datatype), Elements::new(recv_count, recv_datatype));
        let call = Call {
            collective: Collective::Alltoall,
            size: self.size,
            bytes,
            commutative: true,
            in_place: send.is_none(),
        };
        let uniform = |elements| Layout::Uniform { elements };
        if call.bytes == 0 {
            return MPI_SUCCESS;
        }
        let served = self.prepare(self.shape(call, 0, sent, received), |_| Binding {
            send: sent.view(uniform),
            recv: received.view(uniform),
            // Blocks on their way are kept without gaps.
            scratch: View { layout: uniform(bytes), element_bytes: 1 },
        });
        if !served {
            return RUSTCOLL_BELOW;
        }
        let send = Place { base: send_base.cast_mut(), datatype: send_datatype };
        let recv = Place { base: recv, datatype: recv_datatype };
        let scratch = self.bytes;
        self.execute(call.collective, Buffers { send, recv, scratch: &scratch }, &NO_OPERATOR)
    }

    /// `MPI_Bcast`.
    ///
    /// Ranks may describe the same data by different counts and datatypes, so a vector is cut by bytes. Where a rank's
    /// datatype has gaps and the vector is cut, that rank packs it.
    pub fn bcast(
        &mut self,
        buffer: *mut u8,
        count: usize,
        datatype: &rustcoll_datatype,
        root: usize,
    ) -> c_int {
        let bytes = count * datatype.size;
        let call = Call {
            collective: Collective::Bcast,
            size: self.size,
            bytes,
            commutative: true,
            in_place: false,
        };
        let elements = Elements::new(count, datatype);
        let as_bytes = Elements { count: bytes, bytes: 1, contiguous: true };
        if call.bytes == 0 {
            return MPI_SUCCESS;
        }
        let served = self.prepare(self.shape(call, root, elements, elements), |schedule| {
            let cut = if elements.contiguous || schedule.blocks > 1 { as_bytes } else { elements };
            Binding::uniform(cut.view(|elements| Layout::Balanced { elements, blocks: schedule.blocks }))
        });
        if !served {
            return RUSTCOLL_BELOW;
        }
        let user = Place { base: buffer, datatype };
        let bytes_type = self.bytes;
        if elements.contiguous {
            return self.bcast_from(Place { base: user.data(0), datatype: &bytes_type });
        }
        if self.blocks(call.collective) == 1 {
            return self.bcast_from(user);
        }
        let Ok(memory) = self.packed.at_least(bytes) else { return MPI_ERR_NO_MEM };
        let packed = Place { base: memory, datatype: &bytes_type };
        if self.rank == root {
            // SAFETY: the caller's buffer holds `count` elements, the packed memory their bytes.
            let packing = pml::status(unsafe { pml::copy(&user, (0, count), &packed, (0, bytes)) });
            if packing != MPI_SUCCESS {
                return packing;
            }
        }
        let status = self.bcast_from(packed);
        if status == MPI_SUCCESS && self.rank != root {
            // SAFETY: as above.
            return pml::status(unsafe { pml::copy(&packed, (0, bytes), &user, (0, count)) });
        }
        status
    }

    /// Broadcasts have neither a send buffer nor scratch blocks.
    fn bcast_from(&mut self, recv: Place) -> c_int {
        let buffers = Buffers { send: Place { base: ptr::null_mut(), ..recv }, recv, scratch: recv.datatype };
        self.execute(Collective::Bcast, buffers, &NO_OPERATOR)
    }

    fn shape(&self, call: Call, root: usize, send: Elements, recv: Elements) -> Shape {
        Shape { call, root, values: Settings::of(call.collective).values(), send, recv }
    }

    fn blocks(&self, collective: Collective) -> usize {
        self.last[collective as usize].as_ref().map_or(1, |prepared| prepared.blocks)
    }

    /// Decides who serves a call and plans it, unless the last call was alike. Says whether it is served here.
    fn prepare(&mut self, shape: Shape, bind: impl FnOnce(&Schedule) -> Binding) -> bool {
        let collective = shape.call.collective;
        let last = &mut self.last[collective as usize];
        let prepared = match last {
            Some(prepared) if prepared.shape == shape => prepared,
            _ => last.insert(match self.schedules.choose(&shape.call, shape.root, shape.values) {
                Chosen::Below => Prepared { shape, number: 0, plan: None, blocks: 1 },
                Chosen::Here { number, schedule } => {
                    let plan = Plan::new(schedule, &bind(schedule));
                    Prepared { shape, number, plan: Some(plan), blocks: schedule.blocks }
                }
            }),
        };
        Settings::of(collective).note_ran(prepared.number);
        log::debug!(
            "rank {} of {}, communicator {}: {} of {} bytes by {}",
            self.rank,
            self.size,
            self.identifier,
            collective.name(),
            shape.call.bytes,
            word(collective, prepared.number)
        );
        prepared.plan.is_some()
    }

    /// Carries the prepared plan of a collective out over the PML.
    fn execute(&mut self, collective: Collective, buffers: Buffers, operator: &rustcoll_operator) -> c_int {
        let Some(Prepared { plan: Some(plan), .. }) = &self.last[collective as usize] else {
            return MPI_ERR_INTERN;
        };
        let staging = self.staging.at_least(plan.staging_bytes);
        let scratch = self.scratch.place(plan.scratch_elements, buffers.scratch);
        let (Ok(staging), Ok(scratch)) = (staging, scratch) else { return MPI_ERR_NO_MEM };
        if self.requests.len() < plan.posts {
            self.requests.resize(plan.posts, ptr::null_mut());
        }
        let mut transport = Pml {
            communicator: self.handle,
            tag: tag(collective),
            buffers: [buffers.send, buffers.recv, scratch],
            staging: Place { base: staging, datatype: &self.bytes },
            operator,
            requests: &mut self.requests,
        };
        self.in_flight = true;
        let result = Execution::run(plan, &mut transport);
        if result.is_err() && transport.abandon() {
            // What was given up may still arrive.
            self.scratch.leak();
            self.staging.leak();
            self.packed.leak();
        }
        self.in_flight = false;
        pml::status(result)
    }
}

fn tag(collective: Collective) -> c_int {
    match collective {
        Collective::Allreduce => MCA_COLL_BASE_TAG_ALLREDUCE,
        Collective::Alltoall => MCA_COLL_BASE_TAG_ALLTOALL,
        Collective::Bcast => MCA_COLL_BASE_TAG_BCAST,
    }
}
