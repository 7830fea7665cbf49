//! Memory of a buffer: the process's own, or another one.

use std::fmt::Debug;
use std::ops::{Deref, DerefMut};

/// Memory that is not the process's own, as that of a device.
pub trait Memory: Debug {
    /// What MPI is given.
    fn address(&self) -> *mut u8;

    /// What it holds.
    fn bytes(&self) -> &[u8];

    /// What it holds, to be changed.
    fn bytes_mut(&mut self) -> &mut [u8];
}

/// The memory of a buffer. A copy is always the process's own.
#[derive(Debug)]
pub enum Storage {
    /// The process's own.
    Host(Vec<u8>),
    /// Another one.
    Other(Box<dyn Memory>),
}

impl Storage {
    /// What MPI is given.
    pub fn address(&self) -> *const u8 {
        match self {
            Storage::Host(bytes) => bytes.as_ptr(),
            Storage::Other(memory) => memory.address(),
        }
    }

    /// What MPI is given to write to.
    pub fn address_mut(&mut self) -> *mut u8 {
        match self {
            Storage::Host(bytes) => bytes.as_mut_ptr(),
            Storage::Other(memory) => memory.address(),
        }
    }
}

impl Deref for Storage {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Storage::Host(bytes) => bytes,
            Storage::Other(memory) => memory.bytes(),
        }
    }
}

impl DerefMut for Storage {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Storage::Host(bytes) => bytes,
            Storage::Other(memory) => memory.bytes_mut(),
        }
    }
}

impl Clone for Storage {
    fn clone(&self) -> Self {
        Storage::Host(self.to_vec())
    }
}
