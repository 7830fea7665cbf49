//! What a process keeps in memory.

use std::error::Error;
use std::fs;

/// Bytes in memory, of this process.
///
/// What is free goes back to the system first: how much of that the allocator keeps is chance, megabytes from one time to
/// the next.
pub fn resident_bytes() -> Result<u64, Box<dyn Error>> {
    // SAFETY: nothing that is in use is touched.
    unsafe { libc::malloc_trim(0) };
    let line = fs::read_to_string("/proc/self/statm")?;
    let pages = line.split_whitespace().nth(1).ok_or("/proc/self/statm has no second field")?;
    Ok(pages.parse::<u64>()? * rustix::param::page_size() as u64)
}
