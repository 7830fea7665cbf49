//! Memory of a buffer: the process's own, or a device's.

use std::ops::{Deref, DerefMut};

use crate::device::Memory;

/// The memory of a buffer. A copy is always the process's own.
#[derive(Debug)]
pub enum Storage {
    /// The process's own.
    Host(Vec<u8>),
    /// A device's.
    Device(Memory),
}

impl Storage {
    /// What MPI is given.
    pub fn address(&self) -> *const u8 {
        match self {
            Storage::Host(bytes) => bytes.as_ptr(),
            Storage::Device(memory) => memory.address(),
        }
    }

    /// What MPI is given to write to.
    pub fn address_mut(&mut self) -> *mut u8 {
        match self {
            Storage::Host(bytes) => bytes.as_mut_ptr(),
            Storage::Device(memory) => memory.address(),
        }
    }
}

impl Deref for Storage {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Storage::Host(bytes) => bytes,
            Storage::Device(memory) => memory.bytes(),
        }
    }
}

impl DerefMut for Storage {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Storage::Host(bytes) => bytes,
            Storage::Device(memory) => memory.bytes_mut(),
        }
    }
}

impl Clone for Storage {
    fn clone(&self) -> Self {
        Storage::Host(self.to_vec())
    }
}
