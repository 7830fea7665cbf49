//! The functions that the C shim calls. No panic leaves them. While a call is decided, a panic becomes an MPI
//! error; later it ends the job, because other ranks would wait forever.

use super::bindings::*;
use super::panics::{ending_the_job, guarded};
use crate::algorithms::Collective;
use crate::hash::hash;
use crate::mpi::agreement::holdings::{self, Participation};
use crate::mpi::agreement::priority;
use crate::mpi::calls::attached::{Attached, Facts};
use crate::mpi::calls::operation;
use crate::mpi::calls::operation::Operation;
use crate::mpi::calls::{host_memory, staged};
use crate::mpi::decision::learnt;
use crate::mpi::decision::rules;
use crate::mpi::messages::room;
use crate::mpi::messages::work::Group;
use crate::mpi::parameters::given;
use crate::mpi::parameters::registered;
use crate::mpi::parameters::settings;
use crate::mpi::parameters::settings::Reported;
use crate::mpi::reporting::watch::Quantity;
use crate::mpi::reporting::{gathering, logging, parts, watch};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr;
use std::sync::Mutex;

/// Returns the text of a C string; `None` if it is NULL or not UTF-8.
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
        let described = usize::try_from(index).ok().and_then(registered::parameter);
        described.map_or(0, |described| {
            // SAFETY: the shim passes a valid place for the answer.
            unsafe { parameter.write(described) };
            1
        })
    })
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_unknown_parameter(
    nearest: *mut *const c_char,
    place: *mut *const c_char,
) -> *const c_char {
    guarded(ptr::null(), || {
        registered::unknown(given::all()).map_or(ptr::null(), |(unknown, near)| {
            // SAFETY: the shim passes valid places for the answers.
            unsafe {
                nearest.write(lasting(near));
                place.write(lasting(unknown.given_in.to_string()));
            }
            lasting(unknown.name.clone())
        })
    })
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_given(full_name: *const c_char, place: *mut *const c_char) -> *const c_char {
    guarded(ptr::null(), || {
        // SAFETY: the shim passes a C string that outlives the call.
        let given = unsafe { optional_text(full_name) }.and_then(given::of);
        given.map_or(ptr::null(), |given| {
            // SAFETY: the shim passes a valid place for the answer.
            unsafe { place.write(lasting(given.given_in.to_string())) };
            lasting(given.value.clone())
        })
    })
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_nearest_word(full_name: *const c_char, value: *const c_char) -> *const c_char {
    guarded(ptr::null(), || {
        // SAFETY: the shim passes C strings that outlive the call.
        let (full_name, value) = unsafe { (optional_text(full_name), optional_text(value)) };
        let word = registered::nearest_word(full_name.unwrap_or_default(), value.unwrap_or_default());
        word.map_or(ptr::null(), |word| lasting(word.to_owned()))
    })
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_gives_parameters() -> c_int {
    guarded(0, || c_int::from(!given::all().is_empty()))
}

/// Returns a C string that is never freed: such strings are few, or the job is about to end.
fn lasting(text: String) -> *const c_char {
    CString::new(text).unwrap_or_default().into_raw()
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_gives_rules() -> c_int {
    guarded(0, || c_int::from(settings::gives_rules()))
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_faults() -> *const c_char {
    guarded(c"".as_ptr(), || rules::faults().as_ptr())
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_start(verbosity: c_int, is_first_on_node: c_int, rank: c_int, job: c_int) {
    guarded((), || {
        settings::note_job(job);
        logging::start(verbosity, settings::reported() == Reported::Calls);
        rules::announce(is_first_on_node != 0, rank == 0);
        watch::start(rank as u32);
        learnt::start();
        staged::start();
    });
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_finish() {
    guarded((), || {
        watch::finish();
        learnt::write();
        room::release();
        host_memory::release();
    });
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_watch(more: c_int) {
    watch::add_tools(more as isize);
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_begin_profile(rank: c_int, size: c_int) -> c_int {
    guarded(0, || {
        parts::start(rank as usize, size as usize);
        c_int::from(settings::profile_file().is_some())
    })
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_write_profile(communicator: *const c_void, rank: c_int, size: c_int) {
    // SAFETY: the shim passes the handle of a communicator of all ranks of the job.
    guarded((), || unsafe { gathering::write_profile(communicator, rank as usize, size as usize) });
}

/// The collective that the shim knows by a number.
fn collective(number: c_int) -> Collective {
    Collective::ALL[number as usize]
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_counted_numbers(number: c_int) -> c_int {
    guarded(0, || watch::counted_numbers(collective(number)) as c_int)
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_counted(number: c_int, quantity: c_int, sums: *mut c_void) {
    guarded((), || {
        let quantity = [Quantity::Calls, Quantity::Bytes, Quantity::Time][quantity as usize];
        for (index, sum) in watch::counted(collective(number), quantity).into_iter().enumerate() {
            // SAFETY: the shim passes room for as many sums as there are numbers, of 8 bytes each.
            unsafe {
                match quantity {
                    Quantity::Time => sums.cast::<f64>().add(index).write(sum as f64 * 1e-9),
                    Quantity::Calls | Quantity::Bytes => sums.cast::<u64>().add(index).write(sum),
                }
            }
        }
    });
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
        let given = (is_given != 0).then_some(given).or_else(|| rules::given().rules.priority());
        priority::priority(given, components, preference).unwrap_or(-1)
    })
}

/// Keeps the last text, because every communicator asks for it and it seldom changes.
#[unsafe(no_mangle)]
extern "C" fn rustcoll_holdings(
    priority: c_int,
    components: *const c_char,
    wrong: *const c_char,
) -> *const c_char {
    static LAST: Mutex<Option<&CStr>> = Mutex::new(None);
    guarded(c"".as_ptr(), || {
        // SAFETY: the shim passes NULL or C strings that outlive the call.
        let (components, wrong) = unsafe { (optional_text(components), optional_text(wrong)) };
        let priority = (priority >= 0).then_some(priority);
        let published = holdings::published(&Participation { priority, components, wrong });
        let mut last = LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match *last {
            Some(known) if known.to_bytes() == published.as_bytes() => known.as_ptr(),
            _ => {
                let new: &CStr = Box::leak(CString::new(published).unwrap_or_default().into_boxed_c_str());
                *last = Some(new);
                new.as_ptr()
            }
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_differ(
    own: *const c_char,
    other: *const c_char,
    difference: *mut rustcoll_difference,
) -> c_int {
    guarded(0, || {
        // SAFETY: the shim passes NULL or C strings that outlive the call.
        let (own, other) = unsafe { (optional_text(own), optional_text(other)) };
        let found = holdings::difference(own.unwrap_or_default(), other);
        found.map_or(0, |holdings::Difference { what, own, other }| {
            let [what, own, other] = [what.to_owned(), own, other].map(lasting);
            // SAFETY: the shim passes a valid place for the answer.
            unsafe { difference.write(rustcoll_difference { what, own, other }) };
            1
        })
    })
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_digest(text: *const c_char) -> c_ulonglong {
    // SAFETY: the shim passes a C string.
    hash(unsafe { CStr::from_ptr(text) }.to_bytes())
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_communicator_new(
    handle: *const c_void,
    local: *const c_void,
    rank: c_int,
    size: c_int,
    remote: c_int,
    last_tag: c_int,
    identifier: c_uint,
    below: *const rustcoll_below,
) -> *mut c_void {
    guarded(ptr::null_mut(), || {
        let group = Group { rank: rank as usize, size: size as usize, remote: remote as usize };
        // SAFETY: the shim passes a valid description.
        let below = unsafe { *below };
        let facts = Facts { handle, own_group: local, group, last_tag, identifier, below };
        Box::into_raw(Box::new(Attached::new(facts))).cast()
    })
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_communicator_free(state: *mut c_void) {
    // SAFETY: the shim passes what `rustcoll_communicator_new` returned, once.
    guarded((), || drop(unsafe { Box::from_raw(state.cast::<Attached>()) }));
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_look_again(state: *mut c_void) {
    // SAFETY: the shim passes the communicator's state.
    guarded((), || unsafe { (*state.cast::<Attached>()).communicator().look_again() });
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_run(state: *mut c_void, call: *const rustcoll_call) -> c_int {
    // SAFETY: the shim passes the communicator's state and a valid call on it; MPI forbids two collectives that block on
    // one communicator at the same time.
    unsafe {
        let attached = &*state.cast::<Attached>();
        ending_the_job(attached.facts.handle, RUSTCOLL_ERR_INTERN, || attached.communicator().run(&*call))
    }
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_ended_below(state: *mut c_void) {
    // SAFETY: the shim passes the communicator's state, on which no other collective that blocks runs.
    guarded((), || unsafe { (*state.cast::<Attached>()).communicator().note_ended() });
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_prepare(
    state: *mut c_void,
    call: *const rustcoll_call,
    is_persistent: c_int,
    tag: c_int,
    local_tag: c_int,
    request: *mut c_void,
    operation: *mut *mut c_void,
) -> c_int {
    // SAFETY: the shim passes the communicator's state, a valid call on it and a valid place for the answer.
    guarded(RUSTCOLL_ERR_INTERN, || unsafe {
        let communicator = (*state.cast::<Attached>()).communicator();
        match communicator.prepare(&*call, is_persistent != 0, (tag, local_tag), request) {
            Ok(None) => RUSTCOLL_BELOW,
            Err(error) => error,
            Ok(Some(prepared)) => {
                operation.write(Box::into_raw(prepared).cast());
                RUSTCOLL_SUCCESS
            }
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_missed(state: *mut c_void, is_persistent: c_int) {
    // SAFETY: the shim passes the communicator's state.
    guarded((), || unsafe { (*state.cast::<Attached>()).communicator().miss(is_persistent != 0) });
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_operation_start(operation: *mut c_void) {
    // SAFETY: the shim passes an operation that lives and is not under way.
    ending_the_job(ptr::null(), (), || unsafe { operation::start(operation.cast()) });
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_operation_free(operation: *mut c_void) {
    // SAFETY: the shim passes what `rustcoll_prepare` wrote, once, and not while it is under way.
    guarded((), || unsafe { Box::from_raw(operation.cast::<Operation>()) }.free());
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_progress() -> c_int {
    ending_the_job(ptr::null(), 0, operation::progress)
}

/// Does not compile if a definition here differs from its declaration in the header.
#[allow(dead_code)]
fn signatures_agree() {
    use super::bindings as header;
    let _ = [header::rustcoll_parameter_get as unsafe extern "C" fn(_, _) -> _, rustcoll_parameter_get];
    let _ =
        [header::rustcoll_unknown_parameter as unsafe extern "C" fn(_, _) -> _, rustcoll_unknown_parameter];
    let _ = [header::rustcoll_given as unsafe extern "C" fn(_, _) -> _, rustcoll_given];
    let _ = [header::rustcoll_nearest_word as unsafe extern "C" fn(_, _) -> _, rustcoll_nearest_word];
    let _ = [header::rustcoll_gives_parameters as unsafe extern "C" fn() -> _, rustcoll_gives_parameters];
    let _ = [header::rustcoll_gives_rules as unsafe extern "C" fn() -> _, rustcoll_gives_rules];
    let _ = [header::rustcoll_faults as unsafe extern "C" fn() -> _, rustcoll_faults];
    let _ = [header::rustcoll_start as unsafe extern "C" fn(_, _, _, _), rustcoll_start];
    let _ = [header::rustcoll_priority as unsafe extern "C" fn(_, _, _, _) -> _, rustcoll_priority];
    let _ = [header::rustcoll_holdings as unsafe extern "C" fn(_, _, _) -> _, rustcoll_holdings];
    let _ = [header::rustcoll_digest as unsafe extern "C" fn(_) -> _, rustcoll_digest];
    let _ = [header::rustcoll_differ as unsafe extern "C" fn(_, _, _) -> _, rustcoll_differ];
    let _ = [
        header::rustcoll_communicator_new as unsafe extern "C" fn(_, _, _, _, _, _, _, _) -> _,
        rustcoll_communicator_new,
    ];
    let _ = [header::rustcoll_communicator_free as unsafe extern "C" fn(_), rustcoll_communicator_free];
    let _ = [header::rustcoll_look_again as unsafe extern "C" fn(_), rustcoll_look_again];
    let _ = [header::rustcoll_run as unsafe extern "C" fn(_, _) -> _, rustcoll_run];
    let _ = [header::rustcoll_ended_below as unsafe extern "C" fn(_), rustcoll_ended_below];
    let _ = [header::rustcoll_finish as unsafe extern "C" fn(), rustcoll_finish];
    let _ = [header::rustcoll_watch as unsafe extern "C" fn(_), rustcoll_watch];
    let _ = [header::rustcoll_begin_profile as unsafe extern "C" fn(_, _) -> _, rustcoll_begin_profile];
    let _ = [header::rustcoll_write_profile as unsafe extern "C" fn(_, _, _), rustcoll_write_profile];
    let _ = [header::rustcoll_counted_numbers as unsafe extern "C" fn(_) -> _, rustcoll_counted_numbers];
    let _ = [header::rustcoll_counted as unsafe extern "C" fn(_, _, _), rustcoll_counted];
    let _ = [header::rustcoll_prepare as unsafe extern "C" fn(_, _, _, _, _, _, _) -> _, rustcoll_prepare];
    let _ = [header::rustcoll_missed as unsafe extern "C" fn(_, _), rustcoll_missed];
    let _ = [header::rustcoll_operation_start as unsafe extern "C" fn(_), rustcoll_operation_start];
    let _ = [header::rustcoll_operation_free as unsafe extern "C" fn(_), rustcoll_operation_free];
    let _ = [header::rustcoll_progress as unsafe extern "C" fn() -> _, rustcoll_progress];
}
