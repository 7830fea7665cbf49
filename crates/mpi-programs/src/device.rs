//! Memory of the tests' own device (`tests/devices`), if the job has it. MPI gets addresses that nothing may
//! touch. The program reads and writes the same memory at other addresses.

use std::ffi::{CStr, c_void};
use std::ptr::{NonNull, null_mut};
use std::slice;

use expected_results::storage;

type New = unsafe extern "C" fn(usize, *mut *mut c_void) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);

/// A piece of the device's memory.
#[derive(Debug)]
pub struct DeviceMemory {
    /// The address on the device.
    address: *mut u8,
    /// The address at which the program can touch the memory.
    twin: NonNull<u8>,
    bytes: usize,
}

/// Whether the job has the device.
pub fn is_there() -> bool {
    function(c"device_memory_new").is_some()
}

/// Whether MPI knows the device by its own component. Otherwise only the library knows it, by functions of CUDA's
/// driver.
pub fn is_known_to_mpi() -> bool {
    function(c"cuMemcpy").is_none()
}

fn function(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: looks the name up among those of the process.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) })
}

impl DeviceMemory {
    /// Returns `bytes` zero bytes; `None` if the job has no device, or the device has not enough memory.
    pub fn new(bytes: usize) -> Option<DeviceMemory> {
        let mut twin = null_mut();
        let new = function(c"device_memory_new")?;
        // SAFETY: the function has this type, and `twin` has room for its answer.
        let address = unsafe { std::mem::transmute::<NonNull<c_void>, New>(new)(bytes.max(1), &mut twin) };
        let twin = NonNull::new(twin.cast()).filter(|_| !address.is_null())?;
        Some(DeviceMemory { address: address.cast(), twin, bytes })
    }
}

impl storage::OtherMemory for DeviceMemory {
    fn address(&self) -> *mut u8 {
        self.address
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes are readable there until the memory is freed, and `&mut self` excludes other access
        // while writing.
        unsafe { slice::from_raw_parts(self.twin.as_ptr(), self.bytes) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the bytes are writable.
        unsafe { slice::from_raw_parts_mut(self.twin.as_ptr(), self.bytes) }
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if let Some(free) = function(c"device_memory_free") {
            // SAFETY: the function has this type, and the memory is no longer used.
            unsafe { std::mem::transmute::<NonNull<c_void>, Free>(free)(self.address.cast()) };
        }
    }
}
