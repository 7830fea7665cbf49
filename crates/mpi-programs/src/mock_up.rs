//! Mock-ups of performance guidelines: a collective made of calls of other collectives, on any communicator of any
//! MPI.

use std::ffi::{c_int, c_void};
use std::ptr;

use mpi_sys::{MPI_Aint, MPI_Datatype};
use rustcoll::algorithms::{Algorithm, Area, Collective, Problem};
use rustcoll::engine::mock_up::{AreaSpan, BoundBuffer, BoundCall, Deed, Deeds, Lengths};

use crate::communicator::Communicator;
use crate::environment::{Error, check};
use crate::handles;
use crate::invocation::{self, Form};
use crate::operator::Operator;
use crate::shares;

/// A rank's steps that replace a call of [`shares::call`], with their own memory.
#[derive(Debug)]
pub struct MockUp {
    collective: Collective,
    steps: Vec<BoundAct>,
    /// Room for all blocks, and for the rank's own block.
    memory: [Vec<u64>; 2],
}

#[derive(Debug)]
enum BoundAct {
    Copy(AreaSpan, AreaSpan),
    Clear(AreaSpan),
    Reduce(AreaSpan, AreaSpan),
    Call(Box<InnerCall>),
}

/// The call of a collective, with MPI's arguments.
#[derive(Debug)]
struct InnerCall {
    collective: Collective,
    root: usize,
    in_place: bool,
    unites: bool,
    send: Option<Buffer>,
    receive: Option<Buffer>,
}

/// MPI's arguments for a buffer, without the address.
#[derive(Debug)]
struct Buffer {
    area: Area,
    first: usize,
    count: c_int,
    counts: Vec<c_int>,
    displacements: Vec<c_int>,
}

/// The caller's buffers; null for one that the rank does not have.
#[derive(Clone, Copy, Debug)]
pub struct Buffers {
    pub send: *const c_void,
    /// The result, or the data of a broadcast.
    pub receive: *mut c_void,
}

/// A count does not fit into an int.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl MockUp {
    /// Makes the steps for a call with blocks, or a vector, of `elements` elements, not in place and with root 0.
    ///
    /// # Panics
    /// If the algorithm is not made of calls.
    pub fn new(algorithm: &Algorithm, communicator: &Communicator, elements: usize) -> Result<Self, TooLong> {
        let collective = algorithm.contract();
        let calls = algorithm.calls().expect("it is made of calls");
        let problem = Problem::new(communicator.size());
        let lengths = Lengths {
            send: elements,
            recv: elements,
            own: elements * shares::ELEMENT / own_bytes(collective),
        };
        let Deeds { deeds, memory, .. } =
            Deeds::new(collective, calls, &problem, communicator.rank(), lengths);
        let words = |elements: usize| (elements * own_bytes(collective)).div_ceil(size_of::<u64>());
        let steps = deeds.into_iter().map(BoundAct::new).collect::<Result<_, _>>()?;
        Ok(MockUp { collective, steps, memory: memory.map(|elements| vec![0; words(elements)]) })
    }

    /// Performs the steps.
    ///
    /// # Safety
    /// The buffers must be as long as those of the call for which this was made. If the call reduces, the operator
    /// must be the call's.
    pub unsafe fn perform(
        &mut self,
        communicator: &Communicator,
        buffers: Buffers,
        operator: Option<&Operator>,
    ) -> Result<(), Error> {
        let [all, own] = self.memory.each_mut().map(|memory| memory.as_mut_ptr().cast());
        let places = Places { collective: self.collective, buffers, all, own };
        // SAFETY: promised by the caller; steps keep to the buffers for whose lengths they were made.
        self.steps.iter().try_for_each(|step| unsafe { step.perform(communicator, &places, operator) })
    }
}

/// Returns the bytes of an element of the mock-up's own memory.
fn own_bytes(collective: Collective) -> usize {
    if collective.reduces() { shares::ELEMENT } else { 1 }
}

/// The addresses of all buffers.
struct Places {
    collective: Collective,
    buffers: Buffers,
    all: *mut c_void,
    own: *mut c_void,
}

impl Places {
    fn address(&self, area: Area, first: usize) -> *mut c_void {
        let base = match area {
            Area::Send => self.buffers.send.cast_mut(),
            Area::Recv => self.buffers.receive,
            Area::All => self.all,
            Area::Own => self.own,
        };
        base.wrapping_byte_add(first * self.element_bytes(area))
    }

    fn is_in_bytes(&self, area: Area) -> bool {
        matches!(area, Area::All | Area::Own) && !self.collective.reduces()
    }

    fn element_bytes(&self, area: Area) -> usize {
        if self.is_in_bytes(area) { 1 } else { shares::ELEMENT }
    }

    fn datatype(&self, area: Area) -> MPI_Datatype {
        if self.is_in_bytes(area) { handles::byte() } else { handles::int() }
    }

    /// Returns the address and the length in bytes.
    fn span(&self, span: &AreaSpan) -> (*mut c_void, usize) {
        (self.address(span.area, span.first), span.elements * self.element_bytes(span.area))
    }

    fn side(&self, buffer: &Buffer) -> invocation::Side<*mut c_void> {
        let or_null = |numbers: &[c_int]| if numbers.is_empty() { ptr::null() } else { numbers.as_ptr() };
        invocation::Side {
            address: self.address(buffer.area, buffer.first),
            count: buffer.count,
            datatype: self.datatype(buffer.area),
            counts: or_null(&buffer.counts),
            displacements: or_null(&buffer.displacements),
            offsets: ptr::null::<MPI_Aint>(),
            datatypes: ptr::null(),
        }
    }
}

impl BoundAct {
    fn new(deed: Deed) -> Result<Self, TooLong> {
        Ok(match deed {
            Deed::Copy(from, to) => BoundAct::Copy(from, to),
            Deed::Clear(span) => BoundAct::Clear(span),
            Deed::Reduce(from, to) => BoundAct::Reduce(from, to),
            Deed::Call(call) => BoundAct::Call(Box::new(InnerCall::new(call)?)),
        })
    }

    /// # Safety
    /// All areas that the step touches lie within `places`. Areas that it copies or combines do not overlap.
    unsafe fn perform(
        &self,
        communicator: &Communicator,
        places: &Places,
        operator: Option<&Operator>,
    ) -> Result<(), Error> {
        let operator = operator.map_or(handles::sum(), Operator::handle);
        // SAFETY: promised by the caller.
        unsafe {
            match self {
                BoundAct::Copy(from, to) => {
                    let ((from, bytes), (to, _)) = (places.span(from), places.span(to));
                    ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast(), bytes);
                }
                BoundAct::Clear(span) => {
                    let (address, bytes) = places.span(span);
                    ptr::write_bytes(address.cast::<u8>(), 0, bytes);
                }
                BoundAct::Reduce(from, to) => {
                    let ((left, _), (right, _)) = (places.span(from), places.span(to));
                    let count = from.elements as c_int;
                    check(mpi_sys::MPI_Reduce_local(
                        left,
                        right,
                        count,
                        places.datatype(from.area),
                        operator,
                    ))?;
                }
                BoundAct::Call(call) => {
                    let [send, receive] = call.sides(places);
                    let operator = if call.unites { handles::union() } else { operator };
                    let root = communicator.root_argument(call.root);
                    check(invocation::call(
                        call.collective,
                        Form::Blocking,
                        &send.reading(),
                        &receive,
                        operator,
                        root,
                        communicator,
                        ptr::null_mut(),
                    ))?;
                }
            }
        }
        Ok(())
    }
}

impl InnerCall {
    fn new(call: BoundCall) -> Result<Self, TooLong> {
        let BoundCall { collective, root, in_place, unites, send, recv } = call;
        let [send, receive] = [send, recv].map(|side| side.as_ref().map(Buffer::new).transpose());
        Ok(InnerCall { collective, root, in_place, unites, send: send?, receive: receive? })
    }

    /// Returns both sides. A side that the rank does not have gets the other's count and datatype, because some MPIs
    /// read them.
    fn sides(&self, places: &Places) -> [invocation::Side<*mut c_void>; 2] {
        let known = self.send.as_ref().or(self.receive.as_ref()).expect("a call has a buffer");
        let absent = || invocation::Side {
            address: if self.in_place { handles::in_place().cast_mut() } else { ptr::null_mut() },
            counts: ptr::null(),
            displacements: ptr::null(),
            ..places.side(known)
        };
        [&self.send, &self.receive]
            .map(|buffer| buffer.as_ref().map_or_else(absent, |buffer| places.side(buffer)))
    }
}

impl Buffer {
    fn new(side: &BoundBuffer) -> Result<Self, TooLong> {
        let int = |number: usize| c_int::try_from(number).map_err(|_| TooLong);
        let ints = |numbers: &[usize]| numbers.iter().map(|&number| int(number)).collect::<Result<_, _>>();
        let (counts, displacements) = side.varying.clone().unwrap_or_default();
        Ok(Buffer {
            area: side.area,
            first: side.first,
            count: int(side.count)?,
            counts: ints(&counts)?,
            displacements: ints(&displacements)?,
        })
    }
}
