//! How ranks come to their ends.

use crate::board::{self, Standing};
use crate::process::leave;

/// The exit code of a rank that has done all it had to do, or died as it should.
pub const WELL: i32 = 0;

/// The exit code of the rank that found that no rank can go on.
pub const HUNG: i32 = 40;

/// The exit code of a rank that found something wrong, which stands on the board.
pub const WRONG: i32 = 41;

/// The exit code of a rank at which the library ended the job; its message stands on the board.
pub const ENDED_THE_JOB: i32 = 42;

/// Nothing happens after the program's end: neither destructors nor what is registered for it.
pub fn exit(code: i32) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(code) }
}

/// This rank has come to its end.
pub fn well() -> ! {
    leave(Standing::Ended);
    exit(WELL)
}

/// This rank dies.
pub fn dead() -> ! {
    leave(Standing::Dead);
    exit(WELL)
}

/// No rank can go on.
pub fn hung() -> ! {
    exit(HUNG)
}

/// Something is wrong.
pub fn wrong(what: &str) -> ! {
    board::with(|board| board.note(what));
    exit(WRONG)
}

/// The library ends the job.
pub fn end_the_job(message: &str) -> ! {
    board::with(|board| board.note(message));
    exit(ENDED_THE_JOB)
}
