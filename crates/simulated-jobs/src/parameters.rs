//! The library's parameters, which the simulated MPI sets.

use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;

use rustcoll::shim::{rustcoll_parameter, rustcoll_parameter_get};

/// A parameter whose value is a word or a number.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub name: String,
    /// Number of words among its values.
    pub words: usize,
    /// The least number among its values, or 0 if it takes words only.
    pub minimum: i32,
    value: *mut c_int,
}

impl Parameter {
    pub fn all() -> Vec<Parameter> {
        (0..).map_while(described).flatten().collect()
    }

    /// Sets the parameter in this process.
    pub fn set(&self, value: i32) {
        // SAFETY: the library keeps the value there as long as the process lives, and no other thread accesses it.
        unsafe { self.value.write(value) };
    }
}

/// Returns the parameter with this number; `Some(None)` for a text, `None` beyond the last.
fn described(index: c_int) -> Option<Option<Parameter>> {
    let mut described = MaybeUninit::<rustcoll_parameter>::uninit();
    // SAFETY: there is room for the description.
    let described = unsafe {
        if rustcoll_parameter_get(index, described.as_mut_ptr()) == 0 {
            return None;
        }
        described.assume_init()
    };
    if described.value.is_null() {
        return Some(None);
    }
    // SAFETY: the name is a C string, and the list of words ends with NULL.
    let (name, words) = unsafe {
        let words = (0..).take_while(|&word| !(*described.words.add(word)).is_null()).count();
        (CStr::from_ptr(described.name).to_string_lossy().into_owned(), words)
    };
    let rustcoll_parameter { minimum, value, .. } = described;
    Some(Some(Parameter { name, words, minimum, value }))
}
