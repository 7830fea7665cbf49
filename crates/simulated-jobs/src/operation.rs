//! Collectives that do not block, as MPI holds them by requests.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;

use rustcoll::shim::*;

use crate::board;
use crate::describe::Described;
use crate::process::{Communicator, process};

/// A request, which the library completes.
#[derive(Default)]
pub struct Completion {
    error: Cell<Option<c_int>>,
    /// Where the step is that started the operation.
    place: Cell<usize>,
}

impl Completion {
    /// Completes the request. An error is noted at once: the rank may never come to wait for the operation.
    pub fn complete(&self, error: c_int) {
        self.error.set(Some(error));
        if error != RUSTCOLL_SUCCESS {
            board::note_outcome(process().rank, self.place.get(), error);
        }
    }
}

/// An operation of the library's.
pub struct Operation {
    handle: *mut c_void,
    completion: Box<Completion>,
}

impl Operation {
    /// Prepares an operation on a communicator.
    pub fn new(
        communicator: &Communicator,
        call: &Described,
        is_persistent: bool,
    ) -> Result<Operation, c_int> {
        let completion = Box::<Completion>::default();
        let (tag, mut handle) = (communicator.next_tag(), ptr::null_mut());
        // SAFETY: the state is the communicator's, the call one on it, and the request lives as long as the operation.
        let status = unsafe {
            rustcoll_prepare(
                communicator.state.get(),
                call.call(),
                is_persistent.into(),
                tag,
                tag,
                ptr::from_ref(&*completion).cast_mut().cast(),
                &mut handle,
            )
        };
        match (status, communicator.below) {
            (RUSTCOLL_SUCCESS, _) => Ok(Operation { handle, completion }),
            (RUSTCOLL_BELOW, Some(below)) => Operation::new(below, call, is_persistent),
            _ => Err(status),
        }
    }

    /// Starts it, in the step at a place; it is not under way.
    pub fn start(&self, place: usize) {
        self.completion.error.set(None);
        self.completion.place.set(place);
        // SAFETY: the operation lives and is not under way.
        unsafe { rustcoll_operation_start(self.handle) };
    }

    /// The error with which it ended, if it has.
    pub fn ended(&self) -> Option<c_int> {
        self.completion.error.get()
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        // SAFETY: who drops it has waited for it.
        unsafe { rustcoll_operation_free(self.handle) };
    }
}
