//! Memory that several processes see.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr;
use std::sync::atomic::AtomicU64;

/// Memory of this process, or that of another one, which is then only read.
pub struct Mapping {
    base: *mut u8,
    bytes: usize,
    /// What the memory is known by, for others to find it.
    file: Option<File>,
}

impl Mapping {
    /// New memory without a name, all zero.
    pub fn new(bytes: usize) -> io::Result<Mapping> {
        // SAFETY: the name is a C string.
        let descriptor = unsafe { libc::memfd_create(c"rustcoll".as_ptr(), libc::MFD_CLOEXEC) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new, so nobody else owns it.
        let file = unsafe { File::from_raw_fd(descriptor) };
        file.set_len(bytes as u64)?;
        Mapping::of(file, bytes, libc::PROT_READ | libc::PROT_WRITE)
    }

    /// The memory that another process knows by a descriptor of its own.
    pub fn of_process(process: u32, descriptor: u32, bytes: usize) -> io::Result<Mapping> {
        let file = File::open(format!("/proc/{process}/fd/{descriptor}"))?;
        if file.metadata()?.len() != bytes as u64 {
            return Err(io::Error::other("the memory that a rank offers has another size"));
        }
        let mut mapping = Mapping::of(file, bytes, libc::PROT_READ)?;
        mapping.file = None;
        Ok(mapping)
    }

    fn of(file: File, bytes: usize, protection: i32) -> io::Result<Mapping> {
        // SAFETY: a new mapping disturbs no other memory.
        let base =
            unsafe { libc::mmap(ptr::null_mut(), bytes, protection, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        match base == libc::MAP_FAILED {
            true => Err(io::Error::last_os_error()),
            false => Ok(Mapping { base: base.cast(), bytes, file: Some(file) }),
        }
    }

    /// By which others find it, of new memory.
    pub fn descriptor(&self) -> Option<i32> {
        self.file.as_ref().map(File::as_raw_fd)
    }

    /// Where it begins.
    pub fn base(&self) -> *mut u8 {
        self.base
    }

    /// The number at an offset, of which only its owner changes it.
    #[inline]
    pub fn number(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset.is_multiple_of(size_of::<u64>()) && offset < self.bytes);
        // SAFETY: the offset lies within the mapping and is aligned; all processes access what stands there as an atomic
        // number. Those that may not write only load.
        unsafe { AtomicU64::from_ptr(self.base.wrapping_add(offset).cast()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's, and what refers to it does not outlive it.
        unsafe { libc::munmap(self.base.cast(), self.bytes) };
    }
}
