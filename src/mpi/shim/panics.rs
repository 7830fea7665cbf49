//! Panics do not cross into C.

use super::bindings::rustcoll_shim_abort;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `body`; after a panic, returns `on_panic`. Other ranks must not depend on `body` yet.
pub fn guarded<R>(on_panic: R, body: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(on_panic)
}

/// Runs `body`; a panic ends the job, because messages may be in flight, and other ranks would wait forever.
#[inline]
pub fn ending_the_job<R>(communicator: *const c_void, on_panic: R, body: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        let message = c"rustcoll: internal error while messages were on their way; ending the job";
        // SAFETY: the communicator is a handle of the shim's or NULL, which stands for the whole job.
        unsafe { rustcoll_shim_abort(communicator, message.as_ptr()) };
        on_panic
    })
}
