//! Memory of a simulated device. The address that the library is given may not be touched: whoever does ends by a signal. Only
//! `rustcoll_shim_copy` may read and write there, and the simulated program; both do so at another address of the same memory.

use std::io;
use std::ptr;
use std::slice;

use expected_results::storage;

use crate::process::process;

/// Some of the device's memory.
#[derive(Debug)]
pub struct Memory {
    /// The address that the library is given.
    address: *mut u8,
    /// Where the memory can be touched.
    twin: *mut u8,
    bytes: usize,
}

/// Where memory of the device lies, and where it can be touched.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    address: usize,
    twin: usize,
    bytes: usize,
}

impl Memory {
    /// So many bytes, all zero.
    pub fn new(bytes: usize) -> Memory {
        let bytes = bytes.max(1);
        // SAFETY: new mappings disturb no other memory. Of a shared one no bytes are moved, which maps it a second time.
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
        process().device.borrow_mut().push(Place {
            address: address.addr(),
            twin: twin.expose_provenance(),
            bytes,
        });
        Memory { address, twin, bytes }
    }
}

impl storage::Memory for Memory {
    fn address(&self) -> *mut u8 {
        self.address
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes lie there as long as the memory lives, and whoever may write holds it exclusively.
        unsafe { slice::from_raw_parts(self.twin, self.bytes) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and written.
        unsafe { slice::from_raw_parts_mut(self.twin, self.bytes) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        process().device.borrow_mut().retain(|place| place.address != self.address.addr());
        // SAFETY: both mappings are this one's.
        unsafe {
            libc::munmap(self.address.cast(), self.bytes);
            libc::munmap(self.twin.cast(), self.bytes);
        }
    }
}

/// Whether an address is one of the device.
pub fn is_there(address: *const u8) -> bool {
    found(address).is_some()
}

/// Where what lies at an address can be touched.
pub fn touchable(address: *mut u8) -> *mut u8 {
    let Some(Place { address: start, twin, .. }) = found(address) else { return address };
    ptr::with_exposed_provenance_mut(twin + (address.addr() - start))
}

fn found(address: *const u8) -> Option<Place> {
    let is_in = |place: &&Place| (place.address..place.address + place.bytes).contains(&address.addr());
    process().device.borrow().iter().find(is_in).copied()
}
