//! Which ranks share a node. Open MPI tells a rank only which others are on its own; for all ranks to come to the same
//! map they tell each other, once for each communicator that needs it.

use super::bindings::*;
use super::hash::hash;
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

/// The longest name of a host, its end included.
const LONGEST_NAME: usize = 256;

/// What tells this rank's node from others: a number made of its host's name. Should two have the same one, they pass
/// for one node, which costs time and nothing else.
pub fn identity() -> u64 {
    let mut name = [0; LONGEST_NAME];
    // SAFETY: the shim writes at most so many bytes and ends them with a zero byte.
    let name = unsafe {
        rustcoll_shim_host_name(name.as_mut_ptr(), name.len());
        CStr::from_ptr(name.as_ptr())
    };
    hash(name.to_bytes())
}

/// The number of each rank's node, from 0 in the order of the ranks.
pub fn numbered(identities: &[u64]) -> Arc<[u32]> {
    let mut numbers = HashMap::new();
    let number = |identity: &u64| {
        let next = numbers.len() as u32;
        *numbers.entry(*identity).or_insert(next)
    };
    identities.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbered_as_they_appear() {
        assert_eq!(*numbered(&[70, 7, 70, 0, 7]), [0, 1, 0, 2, 1]);
    }
}
