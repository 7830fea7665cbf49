//! Variables of the tool interface `MPI_T`: control variables, and performance variables that show what the library
//! did.

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;

use mpi_sys::{MPI_T_cvar_handle, MPI_T_enum, MPI_T_pvar_handle, MPI_T_pvar_session};

use crate::environment::{Error, check};
use crate::handles;
use crate::preloaded;

const TEXT: usize = 256;

/// A control variable of type int that is bound to no object.
#[derive(Debug)]
pub struct ControlVariable {
    source: Source<ControlHandle>,
    enumerator: MPI_T_enum,
}

/// The owner of a variable.
#[derive(Debug)]
enum Source<Handle> {
    /// MPI; the variable has a handle.
    Mpi(Handle),
    /// The preloaded library; the variable has an address.
    Preloaded(*mut c_int),
}

impl ControlVariable {
    /// Finds a variable; `None` if there is no int of this name.
    pub fn find(name: &str) -> Option<Self> {
        if let Some(place) = preloaded::variable(name) {
            return Some(ControlVariable { source: Source::Preloaded(place), enumerator: ptr::null_mut() });
        }
        let index = index_of_control(name)?;
        let enumerator = Self::enumerator_of_int(index)?;
        let source = Source::Mpi(ControlHandle::new(index)?);
        Some(ControlVariable { source, enumerator })
    }

    fn enumerator_of_int(index: c_int) -> Option<MPI_T_enum> {
        let (mut verbosity, mut bind, mut scope, mut length) = (0, 0, 0, 0);
        let (mut datatype, mut enumerator) = (handles::byte(), ptr::null_mut());
        // SAFETY: MPI writes no text if the length is 0 or the text's address is null.
        check(unsafe {
            mpi_sys::MPI_T_cvar_get_info(
                index,
                ptr::null_mut(),
                &mut length,
                &mut verbosity,
                &mut datatype,
                &mut enumerator,
                ptr::null_mut(),
                ptr::null_mut(),
                &mut bind,
                &mut scope,
            )
        })
        .ok()?;
        (datatype == handles::int()).then_some(enumerator)
    }

    pub fn read(&self) -> Result<i32, Error> {
        let mut value = 0;
        // SAFETY: the variable is one int.
        unsafe {
            match &self.source {
                Source::Preloaded(place) => value = place.read_volatile(),
                Source::Mpi(handle) => check(mpi_sys::MPI_T_cvar_read(handle.0, (&raw mut value).cast()))?,
            }
        }
        Ok(value)
    }

    pub fn write(&self, value: i32) -> Result<(), Error> {
        // SAFETY: the variable is one int.
        unsafe {
            match &self.source {
                Source::Preloaded(place) => place.write_volatile(value),
                Source::Mpi(handle) => check(mpi_sys::MPI_T_cvar_write(handle.0, (&raw const value).cast()))?,
            }
        }
        Ok(())
    }

    /// Returns the variable's possible values and their names; empty without an enumerator.
    pub fn names(&self) -> Vec<(i32, String)> {
        names(self.enumerator)
    }

    /// Returns the value of a name, or of a number as text. Fails with the existing names.
    pub fn number_of(&self, text: &str) -> Result<i32, Vec<String>> {
        let names = self.names();
        let named = names.iter().find(|(_, name)| name == text).map(|(value, _)| *value);
        named.or_else(|| text.parse().ok()).ok_or_else(|| names.into_iter().map(|(_, name)| name).collect())
    }
}

/// Whether a control variable that is a flag is set; `None` if it does not exist.
pub fn is_set(name: &str) -> Option<bool> {
    let handle = ControlHandle::new(index_of_control(name)?)?;
    // In Open MPI a flag is either a byte or an int.
    let mut value = [0u8; size_of::<u64>()];
    // SAFETY: the variable is one value, and no type of an MPI_T variable is longer than this array.
    check(unsafe { mpi_sys::MPI_T_cvar_read(handle.0, value.as_mut_ptr().cast()) }).ok()?;
    Some(value.iter().any(|&byte| byte != 0))
}

fn index_of_control(name: &str) -> Option<c_int> {
    let name = CString::new(name).ok()?;
    let mut index = 0;
    // SAFETY: the name is zero-terminated.
    check(unsafe { mpi_sys::MPI_T_cvar_get_index(name.as_ptr(), &mut index) }).ok()?;
    Some(index)
}

/// A control variable of one value that is bound to no object. It must be freed before the tool interface ends,
/// because not every MPI frees it then. Programs therefore drop it before [`crate::environment::Environment`].
#[derive(Debug)]
struct ControlHandle(MPI_T_cvar_handle);

impl ControlHandle {
    fn new(index: c_int) -> Option<Self> {
        let (mut handle, mut count): (MPI_T_cvar_handle, c_int) = (ptr::null_mut(), 0);
        // SAFETY: the index is valid, and a variable that is bound to no object takes no object.
        check(unsafe { mpi_sys::MPI_T_cvar_handle_alloc(index, ptr::null_mut(), &mut handle, &mut count) })
            .ok()?;
        let handle = ControlHandle(handle);
        (count == 1).then_some(handle)
    }
}

impl Drop for ControlHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is valid, and nothing else has it.
        unsafe { mpi_sys::MPI_T_cvar_handle_free(&mut self.0) };
    }
}

/// A performance variable of class STATE and type int, continuous and bound to no object.
#[derive(Debug)]
pub struct PerformanceVariable {
    source: Source<StateHandle>,
    enumerator: MPI_T_enum,
}

impl PerformanceVariable {
    /// Finds a variable; `None` if there is no continuous int of this name and class.
    pub fn find(name: &str) -> Option<Self> {
        if let Some(place) = preloaded::variable(name) {
            return Some(PerformanceVariable {
                source: Source::Preloaded(place),
                enumerator: ptr::null_mut(),
            });
        }
        let name = CString::new(name).ok()?;
        let mut index = 0;
        // SAFETY: the name is zero-terminated.
        check(unsafe { mpi_sys::MPI_T_pvar_get_index(name.as_ptr(), handles::STATE, &mut index) }).ok()?;
        let enumerator = Self::enumerator_of_continuous_int(index)?;
        let source = Source::Mpi(StateHandle::new(index)?);
        Some(PerformanceVariable { source, enumerator })
    }

    fn enumerator_of_continuous_int(index: c_int) -> Option<MPI_T_enum> {
        let (mut verbosity, mut class, mut bind, mut length) = (0, 0, 0, 0);
        let (mut read_only, mut continuous, mut atomic) = (0, 0, 0);
        let (mut datatype, mut enumerator) = (handles::byte(), ptr::null_mut());
        // SAFETY: MPI writes no text if the length is 0 or the text's address is null.
        check(unsafe {
            mpi_sys::MPI_T_pvar_get_info(
                index,
                ptr::null_mut(),
                &mut length,
                &mut verbosity,
                &mut class,
                &mut datatype,
                &mut enumerator,
                ptr::null_mut(),
                ptr::null_mut(),
                &mut bind,
                &mut read_only,
                &mut continuous,
                &mut atomic,
            )
        })
        .ok()?;
        (datatype == handles::int() && continuous != 0).then_some(enumerator)
    }

    pub fn read(&self) -> Result<i32, Error> {
        let mut value = 0;
        // SAFETY: the variable is one int.
        unsafe {
            match &self.source {
                Source::Preloaded(place) => value = place.read_volatile(),
                Source::Mpi(StateHandle { session, handle }) => {
                    check(mpi_sys::MPI_T_pvar_read(*session, *handle, (&raw mut value).cast()))?
                }
            }
        }
        Ok(value)
    }

    /// Returns the variable's possible values and their names; empty without an enumerator.
    pub fn names(&self) -> Vec<(i32, String)> {
        names(self.enumerator)
    }
}

/// A continuous performance variable of one value that is bound to no object, in its own session. It must be
/// freed as early as a [`ControlHandle`].
#[derive(Debug)]
struct StateHandle {
    session: MPI_T_pvar_session,
    handle: MPI_T_pvar_handle,
}

impl StateHandle {
    fn new(index: c_int) -> Option<Self> {
        let mut count = 0;
        let mut new = StateHandle { session: ptr::null_mut(), handle: ptr::null_mut() };
        let StateHandle { session, handle } = &mut new;
        // SAFETY: the index is valid, and a variable that is bound to no object takes no object.
        unsafe {
            check(mpi_sys::MPI_T_pvar_session_create(session)).ok()?;
            check(mpi_sys::MPI_T_pvar_handle_alloc(*session, index, ptr::null_mut(), handle, &mut count))
                .ok()?;
        }
        (count == 1).then_some(new)
    }
}

impl Drop for StateHandle {
    fn drop(&mut self) {
        let StateHandle { session, handle } = self;
        // SAFETY: a session or handle that is not null is valid, and nothing else has it.
        unsafe {
            if !handle.is_null() {
                mpi_sys::MPI_T_pvar_handle_free(*session, handle);
            }
            if !session.is_null() {
                mpi_sys::MPI_T_pvar_session_free(session);
            }
        }
    }
}

fn names(enumerator: MPI_T_enum) -> Vec<(i32, String)> {
    let (mut items, mut length) = (0, TEXT as c_int);
    let mut text: [c_char; TEXT] = [0; TEXT];
    if enumerator.is_null() {
        return Vec::new();
    }
    // SAFETY: the enumerator is valid, and the length is the text's.
    let code =
        unsafe { mpi_sys::MPI_T_enum_get_info(enumerator, &mut items, text.as_mut_ptr(), &mut length) };
    let items = if check(code).is_ok() { items } else { 0 };
    (0..items).filter_map(|index| item(enumerator, index).ok()).collect()
}

fn item(enumerator: MPI_T_enum, index: c_int) -> Result<(i32, String), Error> {
    let (mut value, mut length) = (0, TEXT as c_int);
    let mut text: [c_char; TEXT] = [0; TEXT];
    // SAFETY: the index is less than the number of items, and the length is the text's.
    check(unsafe {
        mpi_sys::MPI_T_enum_get_item(enumerator, index, &mut value, text.as_mut_ptr(), &mut length)
    })?;
    // SAFETY: MPI terminates the text with a zero.
    let name = unsafe { CStr::from_ptr(text.as_ptr()) };
    Ok((value, name.to_string_lossy().into_owned()))
}
