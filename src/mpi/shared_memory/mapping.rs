//! Memory that several processes map.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Number of mappings of this process.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// The most mappings of a process. The system's default limit is 65,530 mapped areas; each mapping is a few,
/// and the program needs some.
const MOST: usize = 2048;

/// Shared memory. This process writes only its own part; it only reads those of others.
pub struct Mapping {
    base: *mut u8,
    bytes: usize,
}

// SAFETY: the memory is only reached through atomic numbers and pointers, and their users ensure the order.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Fails if this process has `MOST` mappings already.
    pub fn check_room() -> io::Result<()> {
        match LIVE.load(Relaxed) < MOST {
            true => Ok(()),
            false => {
                Err(io::Error::other(format!("{MOST} communicators of this process share memory already")))
            }
        }
    }

    /// Creates nameless, zeroed memory; `own` is the part to write. Others find it by the file, while that is open.
    pub fn new(bytes: usize, own: Range<usize>) -> io::Result<(Mapping, File)> {
        let file = nameless_file()?;
        check_file_size(bytes)?;
        file.set_len(bytes as u64)?;
        Ok((Mapping::of(&file, bytes, own)?, file))
    }

    /// Maps memory that another process has open under a descriptor; `own` is the part to write.
    pub fn of_process(process: u32, descriptor: u32, bytes: usize, own: Range<usize>) -> io::Result<Mapping> {
        let path = format!("/proc/{process}/fd/{descriptor}");
        // In another PID namespace, the path may be any file; opening some, such as pipes, would block.
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
        mapping.leave_out_of_core_files();
        let start = mapping.base.wrapping_add(own.start).cast();
        // SAFETY: the part lies within the mapping, at a page's start.
        match unsafe { libc::mprotect(start, own.len(), libc::PROT_READ | libc::PROT_WRITE) } {
            0 => Ok(mapping),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Leaves the memory out of core files. Each file would hold that of all ranks of the node, and the system would provide what
    /// nobody has written.
    fn leave_out_of_core_files(&self) {
        // SAFETY: the mapping belongs to this object, and its content does not change.
        unsafe { libc::madvise(self.base.cast(), self.bytes, libc::MADV_DONTDUMP) };
    }

    pub fn base(&self) -> *mut u8 {
        self.base
    }

    /// The number at an offset in bytes. Only its owner writes it.
    #[inline]
    pub fn number(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset.is_multiple_of(size_of::<u64>()) && offset < self.bytes);
        // SAFETY: the offset lies within the mapping and is aligned; all processes access it atomically, and
        // only owners store.
        unsafe { AtomicU64::from_ptr(self.base.wrapping_add(offset).cast()) }
    }

    /// Lets the system provide memory of the own part at once, before it is written. Readers then get several pages of it
    /// at their first access. Does nothing on Linux before 5.14.
    pub fn provide(&self, bytes: Range<usize>) {
        // SAFETY: the bytes lie within the mapping, and their content does not change.
        unsafe {
            libc::madvise(self.base.wrapping_add(bytes.start).cast(), bytes.len(), libc::MADV_POPULATE_WRITE)
        };
    }

    /// Asks the system for huge pages. The system may have none.
    pub fn advise_huge_pages(&self, bytes: Range<usize>) {
        // SAFETY: the bytes lie within the mapping, and their content does not change.
        unsafe {
            libc::madvise(self.base.wrapping_add(bytes.start).cast(), bytes.len(), libc::MADV_HUGEPAGE)
        };
    }

    /// Returns memory to the system, when no process needs its content; all processes then read zeros.
    /// Returns whether that succeeded.
    pub fn give_back(&self, bytes: Range<usize>) -> bool {
        let start = self.base.wrapping_add(bytes.start).cast();
        // SAFETY: the bytes lie within the mapping, at a page's start, and by this function's contract nobody uses them.
        unsafe { libc::madvise(start, bytes.len(), libc::MADV_REMOVE) == 0 }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this object owns the mapping, and no reference to it lives longer.
        unsafe { libc::munmap(self.base.cast(), self.bytes) };
        LIVE.fetch_sub(1, Relaxed);
    }
}

/// Creates a file without a name. Some systems refuse one that might be executed; older ones do not know the
/// flag for that.
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

/// Fails if a file of so many bytes exceeds the process's limit. The system would end the process with a signal.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::shared_memory::geometry::PAGE;

    /// Returns the flags of the area that begins at an address, as the system shows them.
    fn flags(address: usize) -> Vec<String> {
        let areas = fs::read_to_string("/proc/self/smaps").unwrap();
        let own = areas.lines().skip_while(|line| !line.starts_with(&format!("{address:x}-")));
        let flags = own.filter_map(|line| line.strip_prefix("VmFlags:")).next().unwrap();
        flags.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn core_files_leave_the_memory_out() {
        let (mapping, _file) = Mapping::new(2 * PAGE, 0..PAGE).unwrap();
        for start in [0, PAGE] {
            let flags = flags(mapping.base().addr() + start);
            assert!(flags.contains(&"dd".to_owned()), "{flags:?}");
            assert_eq!(flags.contains(&"wr".to_owned()), start == 0, "{flags:?}");
        }
    }
}
