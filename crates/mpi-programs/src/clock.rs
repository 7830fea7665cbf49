//! The monotonic clock of a machine.

use std::fs;

use rustix::system::uname;
use rustix::time::{ClockId, clock_gettime};

use crate::communicator::Communicator;
use crate::environment::Error;

/// A random number that Linux draws at each boot.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// Processes in different time namespaces may have different monotonic clocks.
const TIME_NAMESPACE: &str = "/proc/self/ns/time";

/// Returns seconds since an instant that is the same for all processes of a machine.
pub fn now() -> f64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Whether all ranks have one clock. All ranks must call it.
pub fn is_shared(control: &Communicator) -> Result<bool, Error> {
    let clocks = control.gathered(&identity())?;
    control.told_by(0, clocks.windows(2).all(|pair| pair[0] == pair[1]))
}

/// Returns a text that is equal for processes with the same clock; it uses the host's name if Linux has no boot id.
fn identity() -> String {
    let host = || uname().nodename().to_string_lossy().into_owned();
    let boot = fs::read_to_string(BOOT).unwrap_or_else(|_| host());
    let namespace = fs::read_link(TIME_NAMESPACE).unwrap_or_default();
    format!("{} {}", boot.trim(), namespace.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_shares_its_own_clock() {
        assert_eq!(identity(), identity());
    }
}
