//! The clock that all ranks of a machine share.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// How long before an instant a rank stops sleeping, because it may wake late.
const AWAKE: f64 = 60e-6;

/// Seconds since some instant that is the same for all processes.
pub fn now() -> f64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Returns at an instant, or at once if it has passed.
pub fn sleep_until(instant: f64) {
    let time = instant - AWAKE - now();
    if time > 0.0 {
        std::thread::sleep(Duration::from_secs_f64(time));
    }
    while now() < instant {
        std::hint::spin_loop();
    }
}
