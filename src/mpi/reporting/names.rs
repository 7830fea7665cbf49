//! The names of communicators, datatypes and operators in profiles.

use crate::mpi::shim::bindings::*;
use std::ffi::{CStr, c_char, c_void};

/// Bytes of the longest name, with its final zero byte. Every MPI has shorter names.
const LONGEST: usize = 512;

/// Returns the text that a function of the shim writes.
fn written(write: impl FnOnce(*mut c_char, usize)) -> String {
    let mut name = [0; LONGEST];
    write(name.as_mut_ptr(), name.len());
    name[LONGEST - 1] = 0;
    // SAFETY: the text ends with a zero byte.
    unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned()
}

/// Returns how profiles name a communicator: by the name that a user or MPI gave it, or by how it was made.
pub fn communicator(handle: *const c_void) -> String {
    // SAFETY: the handle is a communicator's, and there is so much room.
    origin(&written(|name, length| unsafe { rustcoll_shim_communicator_name(handle, name, length) }))
}

/// Returns a name without what differs from rank to rank. Programs number the rows and columns of a grid, and Open MPI
/// numbers communicators without a name.
fn origin(name: &str) -> String {
    if name.is_empty() {
        return "unnamed".into();
    }
    if let Some((_, made)) = name.strip_prefix("MPI COMMUNICATOR ").and_then(|rest| rest.split_once(' ')) {
        return made.split(" FROM ").next().unwrap_or_default().to_lowercase();
    }
    let mut origin = String::new();
    for character in name.chars() {
        match character {
            digit if digit.is_ascii_digit() => {
                if !origin.ends_with('#') {
                    origin.push('#');
                }
            }
            other => origin.push(other),
        }
    }
    origin
}

/// Returns the name of a datatype, or the length of its elements if it has none.
pub fn datatype(datatype: &rustcoll_datatype) -> String {
    // SAFETY: the handle is a datatype's, and there is so much room.
    let name = written(|name, length| unsafe { rustcoll_shim_datatype_name(datatype.handle, name, length) });
    if name.is_empty() { format!("derived, {} bytes", datatype.size) } else { name }
}

/// Returns the name of an operator of MPI's; all others have one name.
pub fn operator(operator: &rustcoll_operator) -> String {
    // SAFETY: the handle is an operator's, and the shim returns a C string that lives as long as the process.
    unsafe { CStr::from_ptr(rustcoll_shim_operator_name(operator.handle)) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_communicators_are_left_out() {
        assert_eq!(origin("row 17 of 20"), "row # of #");
        assert_eq!(origin("MPI_COMM_WORLD"), "MPI_COMM_WORLD");
        assert_eq!(origin("MPI COMMUNICATOR 3 SPLIT FROM 0"), "split");
        assert_eq!(origin("MPI COMMUNICATOR 12 SPLIT_TYPE FROM 3"), "split_type");
        assert_eq!(origin("rows"), "rows");
        assert_eq!(origin(""), "unnamed");
    }
}
