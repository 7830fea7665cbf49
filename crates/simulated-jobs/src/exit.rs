//! The ways in which ranks end.

use crate::board::{self, Standing};
use crate::process::leave;

/// The exit code of a rank that has done everything, or died as planned.
pub const WELL: i32 = 0;

/// The exit code of a rank that found that no rank can go on.
pub const HUNG: i32 = 40;

/// The exit code of a rank that found a fault; the fault is on the board.
pub const WRONG: i32 = 41;

/// The exit code of a rank on which the library ended the job; the message is on the board.
pub const ENDED_THE_JOB: i32 = 42;

/// Ends the process at once: without destructors or exit handlers.
pub fn exit(code: i32) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(code) }
}

/// Ends a rank that has done everything.
pub fn well() -> ! {
    leave(Standing::Ended);
    exit(WELL)
}

/// Lets this rank die.
pub fn dead() -> ! {
    leave(Standing::Dead);
    exit(WELL)
}

/// Ends a rank because no rank can go on.
pub fn hung() -> ! {
    exit(HUNG)
}

/// Ends this rank with a fault.
pub fn wrong(what: &str) -> ! {
    board::with(|board| board.note(what));
    exit(WRONG)
}

/// Ends the job as the library demands.
pub fn end_the_job(message: &str) -> ! {
    board::with(|board| board.note(message));
    exit(ENDED_THE_JOB)
}
