//! The parameters of the library, as the simulated MPI lets them be set.

use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;

use rustcoll::shim::{rustcoll_parameter, rustcoll_parameter_get};

/// A parameter that is a word or a number.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// How many words it may be.
    pub words: usize,
    /// It may be a number from here up, or only a word if that is 0.
    pub minimum: i32,
    value: *mut c_int,
}

impl Parameter {
    /// All of them.
    pub fn all() -> Vec<Parameter> {
        (0..).map_while(described).flatten().collect()
    }

    /// Sets it in this process.
    pub fn set(&self, value: i32) {
        // SAFETY: the library keeps the value there as long as the process lives, and no other thread looks at it.
        unsafe { self.value.write(value) };
    }
}

/// The parameter of that number, if there are so many; nothing where it is a text.
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
