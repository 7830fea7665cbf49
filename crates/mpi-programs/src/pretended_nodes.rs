//! Nodes on which the ranks of one host pretend to be, if the job has loaded `tests/pretended_nodes.c` first.

use std::ffi::{CStr, c_int};

/// Returns the place of the library's number of ranks on a node; `None` if the library is not loaded.
fn place() -> Option<*mut c_int> {
    const NAME: &CStr = c"ranks_on_node";
    // SAFETY: looks the name up among those of the process.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, NAME.as_ptr()) };
    (!found.is_null()).then_some(found.cast())
}

/// From now on pretends that each node has so many consecutive ranks of the job. Returns whether the library is loaded.
pub fn pretend(ranks_on_node: c_int) -> bool {
    let Some(place) = place() else { return false };
    // SAFETY: the library's variable of this name is an int. While MPI initializes, other threads read it; later only this one uses it.
    unsafe { place.write(ranks_on_node) };
    true
}

/// Returns how many ranks a pretended node has; `None` while the ranks are where they are.
pub fn ranks_on_node() -> Option<usize> {
    // SAFETY: as above.
    let number = place().map_or(0, |place| unsafe { place.read() });
    usize::try_from(number).ok().filter(|&number| number > 0)
}
