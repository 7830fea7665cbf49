//! Variables of the preloaded library. MPI_T does not know them.

use std::ffi::{CStr, CString, c_char, c_int};

/// Returns the address of the library's variable of this name, or `None` if the library is not loaded or lacks it.
pub fn variable(name: &str) -> Option<*mut c_int> {
    type Find = unsafe extern "C" fn(*const c_char) -> *mut c_int;
    const FIND: &CStr = c"rustcoll_variable";
    let name = CString::new(name).ok()?;
    // SAFETY: looks up a name among all loaded libraries.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, FIND.as_ptr()) };
    if found.is_null() {
        return None;
    }
    // SAFETY: the library's function of this name has this type, and takes a zero-terminated name.
    let place = unsafe { std::mem::transmute::<*mut libc::c_void, Find>(found)(name.as_ptr()) };
    (!place.is_null()).then_some(place)
}

pub fn is_loaded() -> bool {
    variable("bcast_algorithm").is_some()
}
