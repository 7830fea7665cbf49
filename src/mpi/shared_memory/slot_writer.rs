//! How a rank writes long blocks to its slots: through its cache, or past it.
//!
//! Before a processor writes to a cache line, it must take it from every cache that has it. If the slot's reader shares a cache
//! (the last level) with the writer, this is faster than to write past the caches, and the reader then reads from that cache.
//! Otherwise, writing past the caches is many times as fast. Each rank times its first copies, and decides for itself.

use crate::mpi::messages::copying::copy_bytes;
use std::ptr;
use std::time::Instant;

/// Blocks of fewer bytes always go through the cache.
pub const LEAST: usize = 8 << 10;

/// Copies before the first one that is timed: they touch memory for the first time.
const UNTIMED: u32 = 32;

/// How many copies of each way are timed, in turn: a row of copies that touch memory for the first time, such as those of a new
/// communicator, is slow both ways.
const TIMED: u32 = 16;

/// From this copy on, the rank has decided.
const DECIDED: u32 = UNTIMED + 2 * TIMED;

/// Seconds for each byte, for most copies through the cache, if readers have no cache in common with the writer: 0.28 ns and
/// more were measured. Where they have one, it was up to 0.15 ns, and a reader takes longer to read what was written past it.
const FAR: f32 = 0.2e-9;

/// At this copy of a rank that writes through the cache or past the caches, both are timed again: ranks may have moved. To time
/// copies through a cache that is far from the readers costs more, so this is done less often.
const AGAIN: [u32; 2] = [1 << 11, 1 << 15];

/// Writes blocks to a rank's slots.
#[derive(Default)]
pub struct SlotWriter {
    copies: u32,
    /// How many copies took long: longer than [`FAR`] through the cache, longer than half of that past the caches.
    long: [u32; 2],
    streams: bool,
}

impl SlotWriter {
    /// Copies at least [`LEAST`] bytes to a slot.
    ///
    /// # Safety
    /// Both ranges are valid, and do not overlap.
    pub unsafe fn write(&mut self, from: *const u8, to: *mut u8, bytes: usize) {
        // SAFETY: by this function's contract.
        let copy = |streams: bool| unsafe {
            if streams { stream(from, to, bytes) } else { copy_bytes(from, to, bytes) }
        };
        if self.copies == AGAIN[usize::from(self.streams)] {
            *self = SlotWriter { copies: UNTIMED, ..SlotWriter::default() };
        }
        if self.copies < DECIDED {
            let streams = self.streams_in_turn();
            let start = Instant::now();
            copy(streams);
            self.note(start.elapsed().as_secs_f32() / bytes as f32);
        } else {
            copy(self.streams);
            self.copies += 1;
        }
    }

    /// Whether this copy goes past the caches, as long as the rank has not decided.
    fn streams_in_turn(&self) -> bool {
        self.copies >= UNTIMED && self.copies % 2 == 1
    }

    /// Takes note of the seconds for each byte that a copy took, before the rank has decided. Decides after the last one.
    fn note(&mut self, rate: f32) {
        if self.copies >= UNTIMED {
            let streamed = self.streams_in_turn();
            let limit = if streamed { FAR / 2.0 } else { FAR };
            self.long[usize::from(streamed)] += u32::from(rate > limit);
        }
        self.copies += 1;
        let [cached, streamed] = self.long;
        self.streams = self.copies == DECIDED && cached > TIMED * 3 / 4 && streamed <= TIMED / 2;
    }
}

/// Copies bytes to memory without keeping them in this processor's caches. The copy ends before any later store of this rank,
/// for instance of a flag.
///
/// # Safety
/// As for [`SlotWriter::write`].
#[cfg(target_arch = "x86_64")]
unsafe fn stream(from: *const u8, to: *mut u8, bytes: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    const STEP: usize = size_of::<__m128i>();
    let before = to.align_offset(STEP).min(bytes);
    let behind = before + (bytes - before) / STEP * STEP;
    // SAFETY: by this function's contract; every processor of this architecture has these instructions, and the target of
    // each of them is aligned. The fence orders them before the store of a flag.
    unsafe {
        ptr::copy_nonoverlapping(from, to, before);
        for place in (before..behind).step_by(STEP) {
            _mm_stream_si128(to.add(place).cast(), _mm_loadu_si128(from.add(place).cast()));
        }
        ptr::copy_nonoverlapping(from.add(behind), to.add(behind), bytes - behind);
        _mm_sfence();
    }
}

/// Copies through the cache: the standard library has no other way on these processors.
///
/// # Safety
/// As for [`SlotWriter::write`].
#[cfg(not(target_arch = "x86_64"))]
unsafe fn stream(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: by this function's contract.
    unsafe { ptr::copy_nonoverlapping(from, to, bytes) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_written_and_no_other() {
        for (first, bytes) in [(0, 64), (1, 64), (15, 1), (3, 0), (7, 9000), (16, 8191)] {
            let source: Vec<u8> = (0..bytes).map(|byte| byte as u8 | 1).collect();
            let mut target = vec![0; bytes + 64];
            // SAFETY: the target has room for all bytes behind the first ones.
            unsafe { stream(source.as_ptr(), target.as_mut_ptr().add(first), bytes) };
            assert_eq!(target[first..first + bytes], source);
            assert!(target[..first].iter().chain(&target[first + bytes..]).all(|&byte| byte == 0));
        }
    }

    /// Returns whether a rank decides to write past the caches, if its timed copies take these nanoseconds for each byte.
    fn streams_at(rate: impl Fn(u32, bool) -> f32) -> bool {
        let mut writer = SlotWriter { copies: UNTIMED, ..SlotWriter::default() };
        while writer.copies < DECIDED {
            writer.note(rate(writer.copies - UNTIMED, writer.streams_in_turn()) * 1e-9);
        }
        writer.streams
    }

    #[test]
    fn ranks_write_past_the_caches_only_where_the_readers_share_none() {
        let far = |streamed: bool| if streamed { 0.03 } else { 0.4 };
        let near = |streamed: bool| if streamed { 0.06 } else { 0.025 };
        assert!(streams_at(|_, streamed| far(streamed)));
        assert!(!streams_at(|_, streamed| near(streamed)));
        // New pages take 0.7 ns for each byte, whichever way they are written.
        for touched in 0..=2 * TIMED {
            let rate = |copy, streamed| if copy < touched { 0.7 } else { near(streamed) };
            assert!(!streams_at(rate), "{touched} copies touch new pages");
        }
    }

    #[test]
    fn every_copy_is_right_whichever_way_it_goes_and_both_ways_are_timed_again() {
        let mut writer = SlotWriter::default();
        let mut target = vec![0; LEAST];
        for copy in 0..AGAIN[1] + 1 {
            writer.streams |= copy == 150;
            let source = vec![copy as u8; LEAST];
            // SAFETY: both have so many bytes.
            unsafe { writer.write(source.as_ptr(), target.as_mut_ptr(), LEAST) };
            assert_eq!(target, source, "{copy}");
        }
        assert_eq!(writer.copies, UNTIMED + 1);
    }
}
