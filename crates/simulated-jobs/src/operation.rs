//! Non-blocking and persistent collectives, which MPI holds by requests.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;

use rustcoll::shim::*;

use crate::board;
use crate::describe::Described;
use crate::memory::private_pages;
use crate::process::{Communicator, process};

/// A request. The library completes it.
#[derive(Default)]
pub struct Completion {
    error: Cell<Option<c_int>>,
    /// The place of the step that started the operation.
    place: Cell<usize>,
}

impl Completion {
    /// Completes the request. Notes an error at once, because the rank may never wait for the operation.
    pub fn complete(&self, error: c_int) {
        self.error.set(Some(error));
        if error != RUSTCOLL_SUCCESS {
            board::note_outcome(process().rank, self.place.get(), error);
        }
    }
}

/// An operation of the library.
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
        let pages = private_pages();
        let (tag, mut handle) = (communicator.next_tag(), ptr::null_mut());
        // SAFETY: the state is the communicator's, the call is for it, and the request lives as long as the operation.
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
            (RUSTCOLL_BELOW, Some(below)) => {
                if private_pages() > pages {
                    board::with(|board| board.note("a call that falls back took host memory"));
                }
                Operation::new(below, call, is_persistent)
            }
            _ => Err(status),
        }
    }

    /// Starts the operation in the step at this place. It must not be in flight.
    pub fn start(&self, place: usize) {
        self.completion.error.set(None);
        self.completion.place.set(place);
        // SAFETY: the operation exists and is not in flight.
        unsafe { rustcoll_operation_start(self.handle) };
    }

    /// Returns the error with which the operation ended, if it has.
    pub fn ended(&self) -> Option<c_int> {
        self.completion.error.get()
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        // SAFETY: the owner has waited for the operation.
        unsafe { rustcoll_operation_free(self.handle) };
    }
}
