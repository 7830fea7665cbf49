//! The functions that the library calls (`shim.h`), over the simulated MPI.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rustcoll::algorithms::Collective;
use rustcoll::shim::*;

use crate::board;
use crate::datatypes::{Datatype, Operator};
use crate::describe::{Described, Part, Side, in_place};
use crate::device;
use crate::exit;
use crate::network::Envelope;
use crate::operation::Completion;
use crate::process::{
    Communicator, LAST_TAG, MPI_ERR_PROC_FAILED, Request, is_rank, note_event, pause, process, progress,
    receive_arrived, wait_a_turn, wait_until,
};
use expected_results::image::Datatype as _;

/// # Safety
/// The handle must be that of a live communicator.
unsafe fn communicator<'a>(handle: *const c_void) -> &'a Communicator {
    // SAFETY: by this function's contract.
    unsafe { &*handle.cast::<Communicator>() }
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_send(
    buffer: *const c_void,
    count: usize,
    datatype: *const c_void,
    peer: c_int,
    tag: c_int,
    handle: *const c_void,
    request: *mut *mut c_void,
) -> c_int {
    pause();
    if let Some(error) = process().faults.of_send() {
        return error;
    }
    // SAFETY: the library passes what its header promises: elements of a datatype, a communicator, and room for a
    // request.
    unsafe {
        let (communicator, datatype) = (communicator(handle), Datatype::behind(datatype));
        let envelope = Envelope {
            from: process().rank,
            to: communicator.reached(peer as usize),
            context: communicator.context,
            tag,
        };
        let data = datatype.packed(buffer, count);
        let message = board::with(|board| {
            board.quiet = 0;
            board.network.send(envelope, &data)
        });
        let sent = Request::Sent { message, elements: buffer, count, datatype };
        let is_buffered = data.len() <= process().history.surroundings.eager;
        *request = if is_buffered { ptr::null_mut() } else { Box::into_raw(Box::new(sent)).cast() };
    }
    RUSTCOLL_SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_receive(
    elements: *mut c_void,
    count: usize,
    datatype: *const c_void,
    peer: c_int,
    tag: c_int,
    handle: *const c_void,
    request: *mut *mut c_void,
) -> c_int {
    pause();
    // SAFETY: as for sends.
    unsafe {
        let (communicator, datatype) = (communicator(handle), Datatype::behind(datatype));
        let envelope = Envelope {
            from: communicator.reached(peer as usize),
            to: process().rank,
            context: communicator.context,
            tag,
        };
        let posted = Request::Posted { envelope, elements, count, datatype, error: None };
        let posted = Box::into_raw(Box::new(posted));
        process().posted.borrow_mut().push(posted);
        *request = posted.cast();
    }
    RUSTCOLL_SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_send_and_wait(
    buffer: *const c_void,
    count: usize,
    datatype: *const c_void,
    peer: c_int,
    tag: c_int,
    handle: *const c_void,
) -> c_int {
    let mut request = ptr::null_mut();
    match rustcoll_shim_send(buffer, count, datatype, peer, tag, handle, &mut request) {
        RUSTCOLL_SUCCESS if request.is_null() => RUSTCOLL_SUCCESS,
        RUSTCOLL_SUCCESS => rustcoll_shim_wait(&mut request),
        error => error,
    }
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_receive_and_wait(
    elements: *mut c_void,
    count: usize,
    datatype: *const c_void,
    peer: c_int,
    tag: c_int,
    handle: *const c_void,
) -> c_int {
    let mut request = ptr::null_mut();
    match rustcoll_shim_receive(elements, count, datatype, peer, tag, handle, &mut request) {
        RUSTCOLL_SUCCESS => rustcoll_shim_wait(&mut request),
        error => error,
    }
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_wait(handle: *mut *mut c_void) -> c_int {
    // SAFETY: the library passes a request in flight.
    let request = unsafe { (*handle).cast::<Request>() };
    let mut error = None;
    receive_arrived();
    wait_until(|| {
        // SAFETY: the request lives until it is freed below.
        error = unsafe { (*request).ended() };
        error.is_some()
    });
    // SAFETY: nothing else refers to the request any more.
    unsafe {
        drop(Box::from_raw(request));
        *handle = ptr::null_mut();
    }
    error.unwrap_or(RUSTCOLL_ERR_INTERN)
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_test(handle: *mut *mut c_void, error: *mut c_int) -> c_int {
    pause();
    receive_arrived();
    // SAFETY: the library passes a request in flight, and room for the error.
    unsafe {
        let request = (*handle).cast::<Request>();
        let Some(ended) = (*request).ended() else { return 0 };
        drop(Box::from_raw(request));
        (*handle, *error) = (ptr::null_mut(), ended);
    }
    1
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_abandon(handle: *mut *mut c_void) -> c_int {
    // SAFETY: the library passes a request in flight.
    unsafe {
        let request = (*handle).cast::<Request>();
        *handle = ptr::null_mut();
        if !process().history.surroundings.cancels {
            // The receive stays posted, and may still write to its buffer.
            return RUSTCOLL_LOST as c_int;
        }
        process().posted.borrow_mut().retain(|&posted| posted != request);
        drop(Box::from_raw(request));
    }
    RUSTCOLL_FREED as c_int
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_failure(communicator: *const c_void) -> c_int {
    // SAFETY: the library passes a live communicator.
    let context = unsafe { self::communicator(communicator) }.context;
    match board::with(|board| process().is_told_of_failure(board, context)) {
        true => MPI_ERR_PROC_FAILED,
        false => RUSTCOLL_SUCCESS as c_int,
    }
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_has_devices() -> c_int {
    c_int::from(is_rank() && process().history.surroundings.has_devices)
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_is_on_device(address: *const c_void) -> c_int {
    device::is_there(address.cast()).into()
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_register_host(_address: *mut c_void, _bytes: usize) -> c_int {
    1
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_unregister_host(_address: *mut c_void) -> c_int {
    1
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_copy(
    source: *const c_void,
    source_count: usize,
    source_datatype: *const c_void,
    target: *mut c_void,
    target_count: usize,
    target_datatype: *const c_void,
) -> c_int {
    let source = device::touchable(source.cast_mut().cast()).cast::<c_void>();
    let target = device::touchable(target.cast()).cast();
    // SAFETY: the library passes elements of datatypes.
    unsafe {
        let data = Datatype::behind(source_datatype).packed(source, source_count);
        Datatype::behind(target_datatype).unpack(&data, target, target_count);
    }
    RUSTCOLL_SUCCESS
}

/// Returns the elements that contain these bytes of data, the data of these elements, and the offset of the bytes in
/// it.
///
/// # Safety
/// The elements must lie at the address.
unsafe fn window(
    elements: *const c_void,
    datatype: Datatype,
    first: usize,
    bytes: usize,
) -> (*const c_void, Vec<u8>, usize) {
    let description = datatype.description();
    let (begin, end) = (first / description.size, (first + bytes).div_ceil(description.size));
    let start = elements.wrapping_byte_offset(begin as isize * description.extent);
    // SAFETY: by this function's contract.
    (start, unsafe { datatype.packed(start, end - begin) }, first - begin * description.size)
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_pack(
    source: *const c_void,
    datatype: *const c_void,
    first: usize,
    bytes: usize,
    packed: *mut c_void,
) -> c_int {
    // SAFETY: the library passes elements of a datatype, and room for the bytes.
    unsafe {
        let (_, data, begin) = window(source, Datatype::behind(datatype), first, bytes);
        ptr::copy_nonoverlapping(data[begin..][..bytes].as_ptr(), packed.cast(), bytes);
    }
    RUSTCOLL_SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_unpack(
    packed: *const c_void,
    bytes: usize,
    target: *mut c_void,
    datatype: *const c_void,
    first: usize,
) -> c_int {
    // SAFETY: the library passes so many bytes, and elements of a datatype.
    unsafe {
        let datatype = Datatype::behind(datatype);
        let (start, mut data, begin) = window(target, datatype, first, bytes);
        data[begin..][..bytes].copy_from_slice(slice::from_raw_parts(packed.cast(), bytes));
        datatype.unpack(&data, start.cast_mut(), data.len() / datatype.description().size);
    }
    RUSTCOLL_SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_reduce(
    operator: *const c_void,
    source: *const c_void,
    target: *mut c_void,
    count: usize,
    datatype: *const c_void,
) {
    // SAFETY: the library passes an operator, and elements on which the operator is defined.
    unsafe { Operator::behind(operator).reduce(source, target, count, Datatype::behind(datatype)) };
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_reduce_apart(
    operator: *const c_void,
    left: *const c_void,
    right: *const c_void,
    target: *mut c_void,
    count: usize,
    datatype: *const c_void,
) -> c_int {
    // SAFETY: as for `rustcoll_shim_reduce`; the target does not overlap the operands.
    unsafe {
        let (operator, datatype) = (Operator::behind(operator), Datatype::behind(datatype));
        if !operator.is_predefined() {
            return 0;
        }
        let data = datatype.packed(right, count);
        datatype.unpack(&data, target, count);
        operator.reduce(left, target, count, datatype);
    }
    1
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_progress() {
    wait_a_turn(true);
    progress();
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_is_threaded() -> c_int {
    0
}

/// Keeps ranks from spinning for another rank, because only one rank runs at a time.
#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_is_crowded() -> c_int {
    1
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_is_preloaded() -> c_int {
    c_int::from(is_rank() && process().history.surroundings.is_preloaded)
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_parameter_files(_: c_int) -> *const c_char {
    c"".as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_switches() -> *const c_char {
    c"".as_ptr()
}

/// As in Open MPI, a neighbourhood collective has the tag of the corresponding collective.
#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_tag(collective: c_int) -> c_int {
    match Collective::ALL[collective as usize] {
        Collective::NeighborAllgather => Collective::Allgather as c_int,
        Collective::NeighborAllgatherv => Collective::Allgatherv as c_int,
        Collective::NeighborAlltoall => Collective::Alltoall as c_int,
        Collective::NeighborAlltoallv => Collective::Alltoallv as c_int,
        Collective::NeighborAlltoallw => Collective::Alltoallw as c_int,
        _ => collective,
    }
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_profile_tag() -> c_int {
    LAST_TAG - 4
}

/// Writes an empty name, because nothing has a name here.
fn write_no_name(name: *mut c_char, length: usize) {
    if length > 0 {
        // SAFETY: there is room for `length` bytes.
        unsafe { name.write(0) };
    }
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_communicator_name(
    _communicator: *const c_void,
    name: *mut c_char,
    length: usize,
) {
    write_no_name(name, length);
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_datatype_name(_datatype: *const c_void, name: *mut c_char, length: usize) {
    write_no_name(name, length);
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_operator_name(_operator: *const c_void) -> *const c_char {
    c"".as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_is_complete(_communicator: *const c_void) -> c_int {
    1
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_shared_number(_communicator: *const c_void) -> u64 {
    0
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_world_ranks(_communicator: *const c_void, _ranks: *mut c_int, _size: c_int) {
    unreachable!("simulated jobs have no profile")
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_byte() -> *const c_void {
    Datatype::byte().handle()
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_number() -> *const c_void {
    Datatype::number().handle()
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_maximum() -> *const c_void {
    Operator::GreaterNumber.handle()
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_union() -> *const c_void {
    Operator::Union.handle()
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_in_place() -> *mut c_void {
    in_place().cast_mut()
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_call(handle: *const c_void, call: *const rustcoll_own_call) -> c_int {
    // SAFETY: the library passes a live communicator and a call for it.
    unsafe {
        let (communicator, call) = (communicator(handle), &*call);
        let side = |side: &rustcoll_own_side| Side {
            count: side.count as usize,
            datatype: side.datatype,
            counts: side.counts,
            displacements: side.displacements,
            ..Side::none(side.buffer)
        };
        let collective = Collective::ALL[call.collective as usize];
        let operator = collective.reduces().then(|| Operator::behind(call.operator_));
        let (send, recv) = (side(&call.send), side(&call.recv));
        let part = Part::in_group(collective, communicator.membership.rank, call.root as usize);
        let described = Described::new(collective, part, operator, send, recv);
        communicator.run(&described)
    }
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_topology(handle: *const c_void, topology: *mut rustcoll_topology) {
    // SAFETY: the library passes a live communicator, and room for the answer.
    unsafe {
        let Communicator { topology: [one, other], is_grid, .. } = communicator(handle);
        let (dimensions, indegree, outdegree) =
            if *is_grid { (one.len(), 2 * one.len(), 2 * one.len()) } else { (0, one.len(), other.len()) };
        let (one, other) = (one.as_ptr(), other.as_ptr());
        topology.write(rustcoll_topology {
            is_grid: (*is_grid).into(),
            dimensions,
            lengths: one,
            periods: other,
            indegree,
            outdegree,
            sources: one,
            destinations: other,
        });
    }
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_info(
    handle: *const c_void,
    number: c_int,
    key: *mut *const c_char,
    value: *mut *const c_char,
) -> c_int {
    // SAFETY: the library passes a live communicator, and room for the answers.
    unsafe {
        let Some((name, content)) = communicator(handle).info.get(number as usize) else { return 0 };
        (*key, *value) = (name.as_ptr(), content.as_ptr());
    }
    1
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_describe(datatype: *const c_void, description: *mut rustcoll_datatype) {
    // SAFETY: the library passes a datatype's handle, and room for the answer.
    unsafe { description.write(Datatype::behind(datatype).description()) };
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_complete(request: *mut c_void, error: c_int) {
    note_event();
    // SAFETY: the library passes the request of a live operation.
    unsafe { (*request.cast::<Completion>()).complete(error) };
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_goes_by_tcp() -> c_int {
    c_int::from(process().history.surroundings.goes_by_tcp)
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_spread(handle: *const c_void) -> c_int {
    let surroundings = &process().history.surroundings;
    // SAFETY: the library passes a live communicator.
    let Communicator { members, is_set_up, .. } = unsafe { communicator(handle) };
    let node = |member: &usize| surroundings.nodes[*member];
    match () {
        _ if !surroundings.knows_nodes || (surroundings.tells_nodes_late && !is_set_up.get()) => 0,
        _ if members.iter().all(|member| node(member) == node(&members[0])) => RUSTCOLL_ON_ONE_NODE,
        _ => RUSTCOLL_ON_SEVERAL_NODES,
    }
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_host_name(name: *mut c_char, length: usize) {
    let text = format!("node{}", process().history.surroundings.nodes[process().rank]);
    assert!(text.len() < length, "there is room for the name");
    // SAFETY: there is room for the name and its final zero.
    unsafe {
        ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len());
        name.add(text.len()).write(0);
    }
}

/// Whether the program prints the library's log.
pub static IS_SHOWN: AtomicBool = AtomicBool::new(false);

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_output(line: *const c_char) {
    if IS_SHOWN.load(Relaxed) {
        // SAFETY: the library passes a C string.
        println!("  {}", unsafe { CStr::from_ptr(line) }.to_string_lossy());
    }
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_refuse_rules(faults: *const c_char, _: c_int) {
    // SAFETY: the library passes a C string.
    exit::wrong(&unsafe { CStr::from_ptr(faults) }.to_string_lossy());
}

#[unsafe(no_mangle)]
extern "C" fn rustcoll_shim_abort(_: *const c_void, message: *const c_char) {
    // SAFETY: the library passes a C string.
    exit::end_the_job(&unsafe { CStr::from_ptr(message) }.to_string_lossy());
}

/// Does not compile if a definition here differs from its declaration in the header.
#[allow(dead_code)]
fn signatures_agree() {
    use rustcoll::shim as header;
    let _ =
        [header::rustcoll_shim_send as unsafe extern "C" fn(_, _, _, _, _, _, _) -> _, rustcoll_shim_send];
    let _ = [
        header::rustcoll_shim_receive as unsafe extern "C" fn(_, _, _, _, _, _, _) -> _,
        rustcoll_shim_receive,
    ];
    let _ = [
        header::rustcoll_shim_send_and_wait as unsafe extern "C" fn(_, _, _, _, _, _) -> _,
        rustcoll_shim_send_and_wait,
    ];
    let _ = [
        header::rustcoll_shim_receive_and_wait as unsafe extern "C" fn(_, _, _, _, _, _) -> _,
        rustcoll_shim_receive_and_wait,
    ];
    let _ = [header::rustcoll_shim_wait as unsafe extern "C" fn(_) -> _, rustcoll_shim_wait];
    let _ = [header::rustcoll_shim_test as unsafe extern "C" fn(_, _) -> _, rustcoll_shim_test];
    let _ = [header::rustcoll_shim_abandon as unsafe extern "C" fn(_) -> _, rustcoll_shim_abandon];
    let _ = [header::rustcoll_shim_failure as unsafe extern "C" fn(_) -> _, rustcoll_shim_failure];
    let _ = [header::rustcoll_shim_has_devices as unsafe extern "C" fn() -> _, rustcoll_shim_has_devices];
    let _ = [header::rustcoll_shim_is_on_device as unsafe extern "C" fn(_) -> _, rustcoll_shim_is_on_device];
    let _ =
        [header::rustcoll_shim_register_host as unsafe extern "C" fn(_, _) -> _, rustcoll_shim_register_host];
    let _ = [
        header::rustcoll_shim_unregister_host as unsafe extern "C" fn(_) -> _,
        rustcoll_shim_unregister_host,
    ];
    let _ = [header::rustcoll_shim_copy as unsafe extern "C" fn(_, _, _, _, _, _) -> _, rustcoll_shim_copy];
    let _ = [header::rustcoll_shim_pack as unsafe extern "C" fn(_, _, _, _, _) -> _, rustcoll_shim_pack];
    let _ = [header::rustcoll_shim_unpack as unsafe extern "C" fn(_, _, _, _, _) -> _, rustcoll_shim_unpack];
    let _ = [header::rustcoll_shim_reduce as unsafe extern "C" fn(_, _, _, _, _), rustcoll_shim_reduce];
    let _ = [
        header::rustcoll_shim_reduce_apart as unsafe extern "C" fn(_, _, _, _, _, _) -> _,
        rustcoll_shim_reduce_apart,
    ];
    let _ = [header::rustcoll_shim_call as unsafe extern "C" fn(_, _) -> _, rustcoll_shim_call];
    let _ = [header::rustcoll_shim_topology as unsafe extern "C" fn(_, _), rustcoll_shim_topology];
    let _ = [header::rustcoll_shim_info as unsafe extern "C" fn(_, _, _, _) -> _, rustcoll_shim_info];
    let _ = [header::rustcoll_shim_describe as unsafe extern "C" fn(_, _), rustcoll_shim_describe];
    let _ = [header::rustcoll_shim_complete as unsafe extern "C" fn(_, _), rustcoll_shim_complete];
    let _ = [header::rustcoll_shim_profile_tag as unsafe extern "C" fn() -> _, rustcoll_shim_profile_tag];
    let _ = [
        header::rustcoll_shim_communicator_name as unsafe extern "C" fn(_, _, _),
        rustcoll_shim_communicator_name,
    ];
    let _ =
        [header::rustcoll_shim_datatype_name as unsafe extern "C" fn(_, _, _), rustcoll_shim_datatype_name];
    let _ =
        [header::rustcoll_shim_operator_name as unsafe extern "C" fn(_) -> _, rustcoll_shim_operator_name];
    let _ = [header::rustcoll_shim_is_complete as unsafe extern "C" fn(_) -> _, rustcoll_shim_is_complete];
    let _ =
        [header::rustcoll_shim_shared_number as unsafe extern "C" fn(_) -> _, rustcoll_shim_shared_number];
    let _ = [header::rustcoll_shim_world_ranks as unsafe extern "C" fn(_, _, _), rustcoll_shim_world_ranks];
    let _ = [header::rustcoll_shim_goes_by_tcp as unsafe extern "C" fn() -> _, rustcoll_shim_goes_by_tcp];
    let _ = [header::rustcoll_shim_spread as unsafe extern "C" fn(_) -> _, rustcoll_shim_spread];
    let _ = [header::rustcoll_shim_host_name as unsafe extern "C" fn(_, _), rustcoll_shim_host_name];
    let _ = [header::rustcoll_shim_abort as unsafe extern "C" fn(_, _), rustcoll_shim_abort];
}
