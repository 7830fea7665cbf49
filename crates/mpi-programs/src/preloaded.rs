//! Variables of the library that is loaded before an MPI, which MPI_T does not know.

use std::ffi::{CStr, CString, c_char, c_int};

/// Where the library keeps a number, if it is loaded and has one of that name.
pub fn variable(name: &str) -> Option<*mut c_int> {
    type Find = unsafe extern "C" fn(*const c_char) -> *mut c_int;
    const FIND: &CStr = c"rustcoll_variable";
    let name = CString::new(name).ok()?;
    // SAFETY: looks a name up among all that is loaded.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, FIND.as_ptr()) };
    if found.is_null() {
        return None;
    }
    // SAFETY: the library's function of that name is of this type, and takes a zero-terminated name.
    let place = unsafe { std::mem::transmute::<*mut libc::c_void, Find>(found)(name.as_ptr()) };
    (!place.is_null()).then_some(place)
}

/// Whether the library is loaded.
pub fn is_loaded() -> bool {
    variable("bcast_algorithm").is_some()
}
