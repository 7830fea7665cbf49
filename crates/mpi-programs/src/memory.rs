//! Measures a process's memory.

use std::error::Error;
use std::fs;

/// Returns the resident bytes of this process.
///
/// First returns free memory to the system. How much of it the allocator keeps is chance, and differs by
/// megabytes from one time to the next.
pub fn resident_bytes() -> Result<u64, Box<dyn Error>> {
    // SAFETY: the call touches no memory in use.
    unsafe { libc::malloc_trim(0) };
    let line = fs::read_to_string("/proc/self/statm")?;
    let pages = line.split_whitespace().nth(1).ok_or("/proc/self/statm has no second field")?;
    Ok(pages.parse::<u64>()? * rustix::param::page_size() as u64)
}
