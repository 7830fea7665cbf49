//! The places of a rank's communicators. A new one lies where a freed one lay, as MPIs use the handles of freed communicators
//! again: the library must not take it for the old one.

use std::ptr;

use crate::process::Communicator;

/// The places of freed communicators.
#[derive(Default)]
pub struct Places(Vec<*mut Communicator>);

impl Places {
    /// Puts a new communicator to a place.
    pub fn put(&mut self, communicator: Communicator) -> &'static Communicator {
        match self.0.pop() {
            None => Box::leak(Box::new(communicator)),
            // SAFETY: the place is that of a leaked box, and nothing is there any more.
            Some(place) => unsafe {
                place.write(communicator);
                &*place
            },
        }
    }

    /// Removes a communicator from its place.
    ///
    /// # Safety
    /// The communicator must be from [`Places::put`], and nobody may use it any more.
    pub unsafe fn vacate(&mut self, communicator: &'static Communicator) {
        let place = ptr::from_ref(communicator).cast_mut();
        // SAFETY: by this function's contract.
        unsafe { place.drop_in_place() };
        self.0.push(place);
    }
}
