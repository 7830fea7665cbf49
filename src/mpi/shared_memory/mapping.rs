//! Memory that several processes see.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// How many mappings this process has.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// A process has so many at most: the system gives it 65,530 mappings unless told otherwise, each of these is a few, and the program needs
/// some.
const MOST: usize = 2048;

/// Memory of which a part is this process's own, and the rest that of others, which is only read.
pub struct Mapping {
    base: *mut u8,
    bytes: usize,
}

// SAFETY: what stands in the memory is only reached through atomic numbers and pointers, whose users see to their order.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Whether there may be one more.
    pub fn check_room() -> io::Result<()> {
        match LIVE.load(Relaxed) < MOST {
            true => Ok(()),
            false => {
                Err(io::Error::other(format!("{MOST} communicators of this process share memory already")))
            }
        }
    }

    /// New memory without a name, all zero; and what others find it by, as long as it is open.
    pub fn new(bytes: usize, own: Range<usize>) -> io::Result<(Mapping, File)> {
        let file = nameless_file()?;
        check_file_size(bytes)?;
        file.set_len(bytes as u64)?;
        Ok((Mapping::of(&file, bytes, own)?, file))
    }

    /// The memory that another process knows by a descriptor of its own.
    pub fn of_process(process: u32, descriptor: u32, bytes: usize, own: Range<usize>) -> io::Result<Mapping> {
        let path = format!("/proc/{process}/fd/{descriptor}");
        // Among processes that are numbered differently it may be anything, of which some would wait to be opened.
        let found = fs::metadata(&path)?;
        if !found.is_file() || found.len() != bytes as u64 {
            return Err(io::Error::other(format!("{path} is not the memory that a rank offers")));
        }
        Mapping::of(&File::options().read(true).write(true).open(&path)?, bytes, own)
    }

    fn of(file: &File, bytes: usize, own: Range<usize>) -> io::Result<Mapping> {
        // SAFETY: a new mapping disturbs no other memory.
        let base = unsafe {
            libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        LIVE.fetch_add(1, Relaxed);
        let mapping = Mapping { base: base.cast(), bytes };
        let start = mapping.base.wrapping_add(own.start).cast();
        // SAFETY: the part lies within the mapping, at a page's start.
        match unsafe { libc::mprotect(start, own.len(), libc::PROT_READ | libc::PROT_WRITE) } {
            0 => Ok(mapping),
            _ => Err(io::Error::last_os_error()),
        }
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

    /// Asks for huge pages, of which there may be none.
    pub fn advise_huge_pages(&self, bytes: Range<usize>) {
        // SAFETY: the bytes lie within the mapping, and their content does not change.
        unsafe {
            libc::madvise(self.base.wrapping_add(bytes.start).cast(), bytes.len(), libc::MADV_HUGEPAGE)
        };
    }

    /// Gives memory back, of which nobody needs what is there; it is zero for all who see it. Whether it was given back.
    pub fn give_back(&self, bytes: Range<usize>) -> bool {
        let start = self.base.wrapping_add(bytes.start).cast();
        // SAFETY: the bytes lie within the mapping, at a page's start, and by this function's contract nobody uses them.
        unsafe { libc::madvise(start, bytes.len(), libc::MADV_REMOVE) == 0 }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's, and what refers to it does not outlive it.
        unsafe { libc::munmap(self.base.cast(), self.bytes) };
        LIVE.fetch_sub(1, Relaxed);
    }
}

/// A file without a name. Some systems refuse one that might be executed, and older ones do not know the flag that says so.
fn nameless_file() -> io::Result<File> {
    let new = |flags| {
        // SAFETY: the name is a C string.
        let descriptor = unsafe { libc::memfd_create(c"rustcoll".as_ptr(), libc::MFD_CLOEXEC | flags) };
        match descriptor < 0 {
            true => Err(io::Error::last_os_error()),
            // SAFETY: the descriptor is new, so nobody else owns it.
            false => Ok(unsafe { File::from_raw_fd(descriptor) }),
        }
    };
    match new(libc::MFD_NOEXEC_SEAL) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => new(0),
        found => found,
    }
}

/// A file that becomes longer than a process's may is an error here; to the system it is a signal that ends the process.
fn check_file_size(bytes: usize) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: there is room for the answer.
    if unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    match limit.rlim_cur < bytes as libc::rlim_t {
        true => Err(io::Error::from_raw_os_error(libc::EFBIG)),
        false => Ok(()),
    }
}
