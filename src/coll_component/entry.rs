//! The functions that the C shim calls. No panic leaves them: before anything was posted it becomes an MPI error,
//! after that it ends the job, for other ranks would wait for ever.

use super::bindings::*;
use super::communicator::Communicator;
use super::{logging, parameters, priority};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// Runs `body` behind a panic boundary.
fn guarded<R>(on_panic: R, body: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(on_panic)
}

/// Runs a collective on a communicator's state behind a panic boundary.
///
/// # Safety
/// `state` is what [`rustcoll_communicator_new`] returned, not freed, and no other thread uses it: MPI forbids
/// concurrent collectives on one communicator.
unsafe fn collective(state: *mut c_void, body: impl FnOnce(&mut Communicator) -> c_int) -> c_int {
    // SAFETY: by this function's contract.
    let communicator = unsafe { &mut *state.cast::<Communicator>() };
    let outcome = catch_unwind(AssertUnwindSafe(|| body(communicator)));
    outcome.unwrap_or_else(|_| {
        if communicator.in_flight {
            let message = c"rustcoll: internal error while messages were on their way; ending the job";
            // SAFETY: the handle belongs to the communicator, the message is a C string.
            unsafe { rustcoll_shim_abort(communicator.handle(), message.as_ptr()) };
        }
        MPI_ERR_INTERN
    })
}

/// The text behind a C string.
///
/// # Safety
/// `text` is NULL or a C string that outlives the result.
unsafe fn optional_text<'a>(text: *const c_char) -> Option<&'a str> {
    // SAFETY: by this function's contract.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }).and_then(|text| text.to_str().ok())
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_parameter_get(index: c_int, parameter: *mut rustcoll_parameter) -> c_int {
    guarded(0, || {
        let described = usize::try_from(index).ok().and_then(parameters::parameter);
        described.map_or(0, |described| {
            // SAFETY: the shim passes a valid place for the answer.
            unsafe { parameter.write(described) };
            1
        })
    })
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_unknown_parameter(nearest: *mut *const c_char) -> *const c_char {
    guarded(ptr::null(), || {
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let found = parameters::unknown(names).map(|(unknown, near)| (lasting(unknown), lasting(near)));
        found.map_or(ptr::null(), |(unknown, near)| {
            // SAFETY: the shim passes a valid place for the answer.
            unsafe { nearest.write(near) };
            unknown
        })
    })
}

/// A C string that is never freed; for messages that precede the end of the job.
fn lasting(text: String) -> *const c_char {
    CString::new(text).unwrap_or_default().into_raw()
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_start(verbosity: c_int) {
    guarded((), || logging::start(verbosity));
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_priority(
    is_given: c_int,
    given: c_int,
    components: *const c_char,
    preference: *const c_char,
) -> c_int {
    guarded(-1, || {
        // SAFETY: the shim passes NULL or C strings that outlive the call.
        let (components, preference) = unsafe { (optional_text(components), optional_text(preference)) };
        priority::priority((is_given != 0).then_some(given), components, preference).unwrap_or(-1)
    })
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_communicator_new(
    handle: *const c_void,
    rank: c_int,
    size: c_int,
    identifier: c_uint,
    below: *const rustcoll_below,
) -> *mut c_void {
    guarded(ptr::null_mut(), || {
        // SAFETY: the shim passes a valid description.
        let below = unsafe { *below };
        let communicator = Communicator::new(handle, rank as usize, size as usize, identifier, below);
        Box::into_raw(Box::new(communicator)).cast()
    })
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_communicator_free(state: *mut c_void) {
    // SAFETY: the shim passes what `rustcoll_communicator_new` returned, once.
    guarded((), || drop(unsafe { Box::from_raw(state.cast::<Communicator>()) }));
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_allreduce(
    state: *mut c_void,
    in_place: c_int,
    send: *const c_void,
    recv: *mut c_void,
    count: usize,
    datatype: *const rustcoll_datatype,
    operator: *const rustcoll_operator,
) -> c_int {
    // SAFETY: the shim passes the communicator's state and valid descriptions.
    unsafe {
        let (datatype, operator) = (&*datatype, &*operator);
        let send = (in_place == 0).then_some(send.cast());
        collective(state, |communicator| communicator.allreduce(send, recv.cast(), count, datatype, operator))
    }
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_alltoall(
    state: *mut c_void,
    in_place: c_int,
    send: *const c_void,
    send_count: usize,
    send_datatype: *const rustcoll_datatype,
    recv: *mut c_void,
    recv_count: usize,
    recv_datatype: *const rustcoll_datatype,
) -> c_int {
    // SAFETY: the shim passes the communicator's state and valid descriptions.
    unsafe {
        let (send_datatype, recv_datatype) = (&*send_datatype, &*recv_datatype);
        let send = (in_place == 0).then_some((send.cast(), send_count, send_datatype));
        collective(state, |communicator| communicator.alltoall(send, recv.cast(), recv_count, recv_datatype))
    }
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_bcast(
    state: *mut c_void,
    buffer: *mut c_void,
    count: usize,
    datatype: *const rustcoll_datatype,
    root: c_int,
) -> c_int {
    // SAFETY: the shim passes the communicator's state and a valid description.
    unsafe {
        let datatype = &*datatype;
        collective(state, |communicator| communicator.bcast(buffer.cast(), count, datatype, root as usize))
    }
}

/// What the header declares is what is defined here; a difference does not compile.
#[allow(dead_code)]
fn signatures_agree() {
    use super::bindings as header;
    let _ = [header::rustcoll_parameter_get as unsafe extern "C" fn(_, _) -> _, rustcoll_parameter_get];
    let _ = [header::rustcoll_unknown_parameter as unsafe extern "C" fn(_) -> _, rustcoll_unknown_parameter];
    let _ = [header::rustcoll_start as unsafe extern "C" fn(_), rustcoll_start];
    let _ = [header::rustcoll_priority as unsafe extern "C" fn(_, _, _, _) -> _, rustcoll_priority];
    let _ = [
        header::rustcoll_communicator_new as unsafe extern "C" fn(_, _, _, _, _) -> _,
        rustcoll_communicator_new,
    ];
    let _ = [header::rustcoll_communicator_free as unsafe extern "C" fn(_), rustcoll_communicator_free];
    let _ =
        [header::rustcoll_allreduce as unsafe extern "C" fn(_, _, _, _, _, _, _) -> _, rustcoll_allreduce];
    let _ =
        [header::rustcoll_alltoall as unsafe extern "C" fn(_, _, _, _, _, _, _, _) -> _, rustcoll_alltoall];
    let _ = [header::rustcoll_bcast as unsafe extern "C" fn(_, _, _, _, _) -> _, rustcoll_bcast];
}
