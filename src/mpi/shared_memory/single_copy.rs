//! Copies from the memory of other processes by the system call `process_vm_readv` (Cross Memory Attach),
//! which needs no help from those processes.

use crate::mpi::messages::copying::{COMPARED, copy_bytes, is_trap};
use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

/// Bytes that are copied at a time where the system would copy slowly.
const PART: usize = 32 << 10;

/// The most parts of memory about which a rank asks the system at once.
const MOST_ASKED: usize = 32;

/// Where bytes lie in the memory of another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lent {
    /// Their address in that process.
    pub address: u64,
    pub bytes: u64,
}

impl Lent {
    /// Returns `bytes` bytes, from byte `first` on.
    pub fn part(self, first: usize, bytes: usize) -> Lent {
        Lent { address: self.address + first as u64, bytes: bytes as u64 }
    }
}

/// Copies bytes of a process. Fails if this process may not read them, or they do not exist.
///
/// # Safety
/// `target` has room for the bytes.
pub unsafe fn copy_from(process: u32, lent: Lent, target: *mut u8) -> io::Result<()> {
    let bytes = lent.bytes as usize;
    if !is_trap(lent.address as usize, target.addr(), bytes) {
        // SAFETY: by this function's contract.
        return unsafe { read(process, lent, target) };
    }
    let mut memory = [const { MaybeUninit::<u8>::uninit() }; PART + COMPARED];
    let base = memory.as_mut_ptr().cast::<u8>();
    (0..bytes).step_by(PART).try_for_each(|first| {
        let part = lent.part(first, PART.min(bytes - first));
        // As far behind a page as what is lent.
        let copied = base.wrapping_add((part.address as usize).wrapping_sub(base.addr()) % COMPARED);
        // SAFETY: there is room for the part behind any byte of the first page, and by this function's contract in the target.
        unsafe {
            read(process, part, copied)?;
            copy_bytes(copied, target.add(first), part.bytes as usize);
        }
        Ok(())
    })
}

/// Like [`copy_from`], straight by the system.
///
/// # Safety
/// As for [`copy_from`].
unsafe fn read(process: u32, lent: Lent, target: *mut u8) -> io::Result<()> {
    let (mut done, bytes) = (0, lent.bytes as usize);
    while done < bytes {
        let into = libc::iovec { iov_base: target.wrapping_add(done).cast(), iov_len: bytes - done };
        let address = ptr::without_provenance_mut(lent.address as usize + done);
        let from = libc::iovec { iov_base: address, iov_len: bytes - done };
        // SAFETY: by this function's contract; the system checks the address in the other process.
        match unsafe { libc::process_vm_readv(process as libc::pid_t, &into, 1, &from, 1, 0) } {
            // One call copies at most a page less than 2 GiB.
            copied @ 1.. => done += copied as usize,
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ => return Err(io::Error::last_os_error()),
        }
    }
    Ok(())
}

/// Whether the system can copy from parts of this process's memory. Tests only the first and the last byte of each part; parts
/// one behind the other are one part. The system cannot copy from memory that drivers map, although processors can read it.
/// The program may map its memory anew at any time, so the answer holds for one call.
pub fn are_readable(parts: impl IntoIterator<Item = Range<usize>>) -> bool {
    let mut asked = [const { 0..0 }; MOST_ASKED];
    let mut number = 0;
    for part in parts {
        match asked[..number].last_mut() {
            Some(last) if last.end == part.start => last.end = part.end,
            Some(last) if last.start == part.end => last.start = part.start,
            _ => {
                if number == MOST_ASKED {
                    if !are_ends_readable(&asked) {
                        return false;
                    }
                    number = 0;
                }
                asked[number] = part;
                number += 1;
            }
        }
    }
    are_ends_readable(&asked[..number])
}

/// Whether the system can copy from the first and the last byte of at most `MOST_ASKED` parts of this process's memory.
fn are_ends_readable(parts: &[Range<usize>]) -> bool {
    const MOST: usize = 2 * MOST_ASKED;
    let ends = parts.iter().flat_map(|part| [part.start, part.end - 1]);
    let mut from = [libc::iovec { iov_base: ptr::null_mut(), iov_len: 1 }; MOST];
    from.iter_mut().zip(ends).for_each(|(byte, end)| byte.iov_base = ptr::without_provenance_mut(end));
    let number = 2 * parts.len();
    let mut bytes = [0u8; MOST];
    let into = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: number };
    let process = std::process::id() as libc::pid_t;
    // SAFETY: there is room for a byte of each address; the system checks the addresses.
    let read =
        unsafe { libc::process_vm_readv(process, &into, 1, from.as_ptr(), number as libc::c_ulong, 0) };
    read == number as isize
}

/// Reads the number at an address of a process.
pub fn number_at(process: u32, address: u64) -> io::Result<u64> {
    let mut number = 0u64;
    let lent = Lent { address, bytes: size_of::<u64>() as u64 };
    // SAFETY: there is room for a number.
    unsafe { copy_from(process, lent, ptr::from_mut(&mut number).cast())? };
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_readable(part: Range<usize>) -> bool {
        are_readable([part])
    }

    #[test]
    fn a_process_copies_from_its_own_memory_and_not_from_nowhere() {
        let numbers: Vec<u64> = (0..100_000).collect();
        let lent = Lent { address: numbers.as_ptr() as u64, bytes: 800_000 };
        let mut copied = vec![0u64; numbers.len()];
        // SAFETY: there is as much room.
        unsafe { copy_from(std::process::id(), lent, copied.as_mut_ptr().cast()) }.unwrap();
        assert_eq!(copied, numbers);
        let mut behind = vec![0u8; 800_000 + 2 * COMPARED];
        for distance in [0, 1, 16, 63, 64] {
            let start = numbers.as_ptr().addr().wrapping_sub(behind.as_ptr().addr()) % COMPARED + distance;
            // SAFETY: there is room for all behind any byte of the first two pages.
            unsafe { copy_from(std::process::id(), lent, behind.as_mut_ptr().add(start)) }.unwrap();
            assert!(
                behind[start..]
                    .chunks_exact(8)
                    .zip(&numbers)
                    .all(|(copy, number)| copy == number.to_ne_bytes())
            );
        }
        assert_eq!(number_at(std::process::id(), lent.address + 8 * 77).unwrap(), 77);
        assert!(number_at(std::process::id(), 8).is_err());
        let start = numbers.as_ptr().addr();
        assert!(is_readable(start..start + 800_000));
        let apart = || (0..1000).map(|part| start + 800 * part..start + 800 * part + 700);
        assert!(are_readable(apart()));
        assert!(are_readable(apart().rev()));
        assert!(!are_readable(apart().chain(std::iter::once(8..9))));
        assert!(!are_readable([start..start + 8, start + 8..start + 16, 8..9]));
        assert!(are_readable([]));
    }

    #[test]
    fn memory_is_readable_only_as_long_as_it_is_mapped_for_reading() {
        // A multiple of the pages of every system.
        const PAGE: usize = 64 << 10;
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, of which nothing but this test knows.
        let mapped = unsafe { libc::mmap(ptr::null_mut(), 2 * PAGE, access, kind, -1, 0) };
        let pages = |number| mapped.addr()..mapped.addr() + number * PAGE;
        assert!(is_readable(pages(2)));
        // SAFETY: the second page of this mapping.
        assert_eq!(unsafe { libc::mprotect(mapped.wrapping_byte_add(PAGE), PAGE, libc::PROT_NONE) }, 0);
        assert!(!is_readable(pages(2)));
        assert!(is_readable(pages(1)));
        // SAFETY: this mapping, which nothing uses any more.
        assert_eq!(unsafe { libc::munmap(mapped, 2 * PAGE) }, 0);
    }
}
