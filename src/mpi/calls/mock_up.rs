//! Mock-ups: algorithms that consist of calls of the communicator's own collectives, whatever component serves these.

use super::arguments::Arguments;
use crate::algorithms::{Algorithm, Area, Collective};
use crate::engine::mock_up::{AreaSpan, BoundBuffer, BoundCall, Deed, Deeds, NoRoom};
use crate::mpi::messages::memory::{Extent, OutOfMemory, bytes_of};
use crate::mpi::messages::room::Room;
use crate::mpi::messages::transport::{self, Array, Error, check, is_of_data};
use crate::mpi::parameters::settings::{INT_BYTES, MESSAGE_BYTES, Settings, full_name, mock_up_limits};
use crate::mpi::shim::bindings::*;
use crate::selection::Call;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;

/// Checks that a call has room for an algorithm, if that is a mock-up. The result is the same on all ranks.
pub fn check_room(algorithm: &Algorithm, call: &Call) -> Result<(), NoRoom> {
    match algorithm.is_mock_up() {
        true => Deeds::check_room(algorithm, call.size, call.root.unwrap_or(0), call.bytes, mock_up_limits()),
        false => Ok(()),
    }
}

/// Returns the parameter that gives more room, in parentheses for a message; empty if none does.
pub fn remedy(lack: NoRoom) -> String {
    let parameter = match lack {
        NoRoom::Message { .. } => MESSAGE_BYTES,
        NoRoom::Numbers { .. } => INT_BYTES,
        NoRoom::BeyondInt { .. } => return String::new(),
    };
    format!(" ({})", full_name(parameter))
}

/// A call that calls of other collectives carry out.
pub struct MockUp {
    arguments: Arguments,
    deeds: Arc<Deeds>,
    /// The algorithm's number.
    number: c_int,
    /// The datatype in the algorithm's own memory: bytes, or the reduced elements.
    own: rustcoll_datatype,
    room: Room,
}

/// The memory of each area.
struct Areas<'a> {
    send: Array<'a>,
    recv: Array<'a>,
    all: Array<'a>,
    own: Array<'a>,
}

impl MockUp {
    /// Obtains the memory that the algorithm needs. Logs an error if there is not enough.
    pub fn new(arguments: Arguments, deeds: Arc<Deeds>, number: c_int) -> Result<MockUp, OutOfMemory> {
        let own = match arguments.collective.reduces() {
            false => transport::bytes(),
            true if arguments.send.is_none() => *arguments.recv.datatype(),
            true => *arguments.send.datatype(),
        };
        let bytes = deeds.memory.map(|elements| lines_of(elements, &own)).iter().sum();
        let room = Room::new(bytes, deeds.numbers).inspect_err(|_| {
            log::error!(
                "{} needs {bytes} bytes for its calls of other collectives; there are not so many",
                arguments.collective.name()
            );
        })?;
        Ok(MockUp { arguments, deeds, number, own, room })
    }

    /// Runs the calls. As in a schedule, data that do not fit fail it only at its end: other ranks would wait.
    ///
    /// # Safety
    /// The arguments are those of a call on this communicator.
    pub unsafe fn run(mut self, communicator: *const c_void) -> Result<(), Error> {
        // SAFETY: by this function's contract.
        let ended = unsafe { self.perform_all(communicator) };
        // Components below may have called the same collective, which overwrites this note.
        Settings::of(self.arguments.collective).note_ran(self.number);
        // After any error, the component that served an inner call may have left requests posted.
        if ended.is_err() {
            self.room.leak();
        }
        ended
    }

    /// # Safety
    /// As for [`MockUp::run`].
    unsafe fn perform_all(&self, communicator: *const c_void) -> Result<(), Error> {
        let areas = self.areas();
        let mut flaw = None;
        for deed in &self.deeds.deeds {
            // SAFETY: by this function's contract, and deeds keep to the buffers for whose lengths they were made.
            match unsafe { self.perform(deed, &areas, communicator) } {
                Err(error) if is_of_data(error) => flaw = flaw.or(Some(error)),
                ended => ended?,
            }
        }
        flaw.map_or(Ok(()), Err)
    }

    fn areas(&self) -> Areas<'_> {
        let Arguments { send, recv, .. } = &self.arguments;
        let [all, own] = self.deeds.memory;
        let behind = self.room.data.wrapping_add(lines_of(all, &self.own));
        Areas {
            send: Array { base: send.base(), datatype: send.datatype() },
            recv: Array { base: recv.base(), datatype: recv.datatype() },
            all: Extent::new(all, &self.own).at(self.room.data, &self.own),
            own: Extent::new(own, &self.own).at(behind, &self.own),
        }
    }

    /// # Safety
    /// The deed is one of this call's, and the communicator is that of the call.
    unsafe fn perform(&self, deed: &Deed, areas: &Areas, communicator: *const c_void) -> Result<(), Error> {
        // SAFETY: by this function's contract the spans lie within their buffers.
        unsafe {
            match deed {
                Deed::Copy(from, to) => transport::copy(areas.span(from), areas.span(to)),
                Deed::Clear(span) => {
                    // Only memory for a bitwise union is cleared. A union counts in bytes.
                    let span = areas.span(span);
                    ptr::write_bytes(span.address, 0, span.elements);
                    Ok(())
                }
                Deed::Reduce(from, to) => {
                    let (from, to) = (areas.span(from), areas.span(to));
                    let operator = self.arguments.operator.handle;
                    let (operand, result) = (from.address.cast(), to.address.cast());
                    rustcoll_shim_reduce(operator, operand, result, to.elements, to.datatype.handle);
                    Ok(())
                }
                Deed::Call(call) => check(rustcoll_shim_call(communicator, &self.call(call, areas))),
            }
        }
    }

    /// Returns a call in MPI's form. Its counts and displacements stay in `room` until the next call's.
    fn call(&self, call: &BoundCall, areas: &Areas) -> rustcoll_own_call {
        let mut numbers = self.room.numbers;
        let side = |side: &Option<BoundBuffer>| {
            side.as_ref().map(|side| {
                let BoundBuffer { area, first, count, ref varying, .. } = *side;
                let (address, datatype) = areas.of(area).element(first);
                let mut noted = |values: &[usize]| {
                    let start = numbers;
                    // SAFETY: there is room for all numbers of a call.
                    unsafe {
                        for (place, &value) in values.iter().enumerate() {
                            start.add(place).write(value as c_int);
                        }
                        numbers = start.add(values.len());
                    }
                    start.cast_const()
                };
                let (counts, displacements) = match varying {
                    None => (ptr::null(), ptr::null()),
                    Some((counts, _)) if !call.has_displacements() => (noted(counts), ptr::null()),
                    Some((counts, displacements)) => (noted(counts), noted(displacements)),
                };
                rustcoll_own_side {
                    buffer: address.cast(),
                    count: count as c_int,
                    datatype: datatype.handle,
                    counts,
                    displacements,
                }
            })
        };
        let [send, recv] = [&call.send, &call.recv].map(side);
        // Some components look at the count and the datatype of a buffer that is not there.
        let none = rustcoll_own_side {
            buffer: ptr::null_mut(),
            counts: ptr::null(),
            displacements: ptr::null(),
            ..send.or(recv).expect("a call has a buffer")
        };
        let [mut send, mut recv] = [send.unwrap_or(none), recv.unwrap_or(none)];
        if call.in_place {
            let is_scatter = matches!(call.collective, Collective::Scatter | Collective::Scatterv);
            let replaced = if is_scatter { &mut recv } else { &mut send };
            // SAFETY: returns a constant of MPI.
            replaced.buffer = unsafe { rustcoll_shim_in_place() };
        }
        let operator = if call.unites { transport::union() } else { self.arguments.operator };
        rustcoll_own_call {
            collective: call.collective as c_int,
            root: call.root as c_int,
            send,
            recv,
            operator_: operator.handle,
        }
    }
}

impl<'a> Areas<'a> {
    fn of(&self, area: Area) -> Array<'a> {
        match area {
            Area::Send => self.send,
            Area::Recv => self.recv,
            Area::All => self.all,
            Area::Own => self.own,
        }
    }

    fn span(&self, span: &AreaSpan) -> transport::Span {
        self.of(span.area).span(span.first, span.elements)
    }
}

/// Bytes of the cache lines that elements take.
fn lines_of(elements: usize, datatype: &rustcoll_datatype) -> usize {
    bytes_of(elements, datatype).next_multiple_of(64)
}
