//! Memory of a simulated device. Access to the library's address of it ends the rank by a signal. Only
//! `rustcoll_shim_copy` and the simulated program read and write the memory, at another address.

use std::io;
use std::ptr;
use std::slice;

use expected_results::storage;

use crate::process::process;

/// A piece of the device's memory.
#[derive(Debug)]
pub struct DeviceMemory {
    /// The library's address.
    address: *mut u8,
    /// The address at which the memory is accessible.
    twin: *mut u8,
    bytes: usize,
}

/// A piece of the device's memory, by its two addresses.
#[derive(Clone, Copy, Debug)]
pub struct Addresses {
    address: usize,
    twin: usize,
    bytes: usize,
}

impl DeviceMemory {
    /// Returns `bytes` zero bytes.
    pub fn new(bytes: usize) -> DeviceMemory {
        let bytes = bytes.max(1);
        // SAFETY: new mappings disturb no other memory. `mremap` of 0 bytes maps a shared mapping a second time.
        let (twin, address) = unsafe {
            let (access, flags) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
            let twin = libc::mmap(ptr::null_mut(), bytes, access, flags, -1, 0);
            let address = libc::mremap(twin, 0, bytes, libc::MREMAP_MAYMOVE);
            assert!(
                ![twin, address].contains(&libc::MAP_FAILED)
                    && libc::mprotect(address, bytes, libc::PROT_NONE) == 0,
                "no memory for a device: {}",
                io::Error::last_os_error()
            );
            (twin.cast::<u8>(), address.cast::<u8>())
        };
        process().device.borrow_mut().push(Addresses {
            address: address.addr(),
            twin: twin.expose_provenance(),
            bytes,
        });
        DeviceMemory { address, twin, bytes }
    }
}

impl storage::OtherMemory for DeviceMemory {
    fn address(&self) -> *mut u8 {
        self.address
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes lie there until the memory is dropped, and `&mut self` excludes other access while
        // writing.
        unsafe { slice::from_raw_parts(self.twin, self.bytes) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the bytes are writable.
        unsafe { slice::from_raw_parts_mut(self.twin, self.bytes) }
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        process().device.borrow_mut().retain(|addresses| addresses.address != self.address.addr());
        // SAFETY: this object made both mappings.
        unsafe {
            libc::munmap(self.address.cast(), self.bytes);
            libc::munmap(self.twin.cast(), self.bytes);
        }
    }
}

/// Whether an address lies in the device's memory.
pub fn is_there(address: *const u8) -> bool {
    found(address).is_some()
}

/// Returns where the data of an address is accessible.
pub fn touchable(address: *mut u8) -> *mut u8 {
    let Some(Addresses { address: start, twin, .. }) = found(address) else { return address };
    ptr::with_exposed_provenance_mut(twin + (address.addr() - start))
}

fn found(address: *const u8) -> Option<Addresses> {
    let is_in = |addresses: &&Addresses| {
        (addresses.address..addresses.address + addresses.bytes).contains(&address.addr())
    };
    process().device.borrow().iter().find(is_in).copied()
}
