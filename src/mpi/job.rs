//! A collective that blocks, ready to be carried out or left below; and the shortest way to the next one, which mostly is the same
//! elsewhere in memory.

use super::arguments::Arguments;
use super::bindings::*;
use super::planning::Planned;
use super::settings::Values;
use super::work::Wrapping;
use std::ffi::c_void;

/// Arguments with what serves them.
pub struct Job {
    /// `None` if no later call can be alike.
    key: Option<Key>,
    /// The values of parameters that it was planned by.
    pub values: Values,
    /// How far the buffers of the arguments are from those of the call.
    shifts: (isize, isize),
    /// The arguments.
    pub arguments: Arguments,
    /// What serves them.
    pub planned: Planned,
    /// What is copied around them.
    pub wrapping: Wrapping,
}

/// A call that the component below has served.
pub struct LeftBelow {
    key: Key,
    values: Values,
}

impl LeftBelow {
    /// `None` if no later call can be alike.
    ///
    /// # Safety
    /// The call comes from the shim.
    pub unsafe fn new(call: &rustcoll_call, values: Values) -> Option<LeftBelow> {
        // SAFETY: by this function's contract.
        unsafe { Key::of(call) }.map(|key| LeftBelow { key, values })
    }

    /// Whether a call is alike.
    ///
    /// # Safety
    /// The call comes from the shim.
    #[inline]
    pub unsafe fn is_like(&self, call: &rustcoll_call, values: Values) -> bool {
        // SAFETY: by this function's contract.
        self.values == values && unsafe { self.key.is_of(call) }
    }
}

/// Everything about a call but where its buffers are, if each buffer has one count and one datatype.
struct Key {
    send: SideKey,
    recv: SideKey,
    root: i32,
    in_place: i32,
    operator: Option<rustcoll_operator>,
}

/// Count and datatype of a buffer, if the call has it.
struct SideKey {
    count: usize,
    datatype: Option<rustcoll_datatype>,
}

impl Job {
    /// The job of a call. Buffers that the wrapping replaces are not to be found again.
    ///
    /// # Safety
    /// The call comes from the shim.
    pub unsafe fn new(
        call: &rustcoll_call,
        values: Values,
        arguments: Arguments,
        planned: Planned,
        wrapping: Wrapping,
    ) -> Job {
        // SAFETY: by this function's contract.
        let key = unsafe { Key::of(call) }.filter(|_| wrapping.is_none());
        let shift = |from: *const c_void, to: *mut u8| to.addr().wrapping_sub(from.addr()) as isize;
        let (send, recv) = (arguments.send.base(), arguments.recv.base());
        let shifts = (shift(call.send.buffer, send), shift(call.recv.buffer, recv));
        Job { key, values, shifts, arguments, planned, wrapping }
    }

    /// Makes this the job of a call, if it is alike. Says whether it is.
    ///
    /// # Safety
    /// The call comes from the shim.
    #[inline]
    pub unsafe fn turn_to(&mut self, call: &rustcoll_call, values: Values) -> bool {
        // SAFETY: by this function's contract.
        if self.values != values || !self.key.as_ref().is_some_and(|key| unsafe { key.is_of(call) }) {
            return false;
        }
        let moved = |buffer: *const c_void, shift| buffer.cast_mut().cast::<u8>().wrapping_offset(shift);
        self.arguments.send.move_to(moved(call.send.buffer, self.shifts.0));
        self.arguments.recv.move_to(moved(call.recv.buffer, self.shifts.1));
        true
    }
}

impl Key {
    /// # Safety
    /// The call comes from the shim.
    unsafe fn of(call: &rustcoll_call) -> Option<Key> {
        let &rustcoll_call { root, in_place, .. } = call;
        // SAFETY: by this function's contract the pointers are NULL or valid.
        unsafe {
            let operator = call.operator_.as_ref().copied();
            Some(Key {
                send: SideKey::of(&call.send)?,
                recv: SideKey::of(&call.recv)?,
                root,
                in_place,
                operator,
            })
        }
    }

    /// # Safety
    /// The call comes from the shim.
    #[inline]
    unsafe fn is_of(&self, call: &rustcoll_call) -> bool {
        // SAFETY: by this function's contract the pointers are NULL or valid.
        unsafe {
            self.recv.is_of(&call.recv)
                && self.send.is_of(&call.send)
                && self.root == call.root
                && self.in_place == call.in_place
                && self.operator.as_ref() == call.operator_.as_ref()
        }
    }
}

impl SideKey {
    /// # Safety
    /// The side comes from the shim.
    unsafe fn of(side: &rustcoll_side) -> Option<SideKey> {
        // SAFETY: by this function's contract the pointer is NULL or valid.
        let datatype = unsafe { side.datatype.as_ref().copied() };
        is_simple(side).then_some(SideKey { count: side.count, datatype })
    }

    /// # Safety
    /// The side comes from the shim.
    #[inline]
    unsafe fn is_of(&self, side: &rustcoll_side) -> bool {
        // SAFETY: by this function's contract the pointer is NULL or valid.
        let datatype = unsafe { side.datatype.as_ref() };
        self.count == side.count && self.datatype.as_ref() == datatype && is_simple(side)
    }
}

/// Whether there is one count for all, and one datatype.
#[inline]
fn is_simple(side: &rustcoll_side) -> bool {
    side.counts.values.is_null() && side.datatypes.values.is_null()
}
