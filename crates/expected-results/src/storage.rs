//! Memory of a buffer: host memory of the process, or other memory.

use std::fmt::Debug;
use std::ops::{Deref, DerefMut};

/// Memory outside the process's own, for example of a device.
pub trait OtherMemory: Debug {
    /// Returns the address to pass to MPI.
    fn address(&self) -> *mut u8;

    fn bytes(&self) -> &[u8];

    fn bytes_mut(&mut self) -> &mut [u8];
}

/// The memory of a buffer. A clone is always in the process's own memory.
#[derive(Debug)]
pub enum Storage {
    /// The process's own memory.
    Host(Vec<u8>),
    /// Memory outside the process's own.
    Other(Box<dyn OtherMemory>),
}

impl Storage {
    /// Returns the address for MPI to read from.
    pub fn address(&self) -> *const u8 {
        match self {
            Storage::Host(bytes) => bytes.as_ptr(),
            Storage::Other(memory) => memory.address(),
        }
    }

    /// Returns the address for MPI to write to.
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
