//! Where the ranks run, and whether their hosts have one clock.

use std::collections::HashMap;
use std::fs;

use mpi_programs::communicator::Communicator;
use mpi_programs::environment::Error;
use rustix::system::uname;

/// A random number that Linux draws at each boot.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// Processes in different time namespaces may have different monotonic clocks.
const TIME_NAMESPACE: &str = "/proc/self/ns/time";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// Number of hosts; only rank 0 knows it.
    pub number: usize,
    /// The most ranks on one host; only rank 0 knows it.
    pub most_ranks: usize,
    /// Whether all hosts have one monotonic clock; all ranks know it.
    pub share_clock: bool,
}

impl Hosts {
    /// Collects the names and clocks of all ranks' hosts. All ranks must call it.
    pub fn of(control: &Communicator) -> Result<Hosts, Error> {
        let name = uname().nodename().to_string_lossy().into_owned();
        let (names, clocks) = (control.gathered(&name)?, control.gathered(&clock(&name))?);
        let ranks = ranks_by_text(&names);
        let share_clock = ranks_by_text(&clocks).len() == 1;
        Ok(Hosts {
            number: ranks.len(),
            most_ranks: ranks.values().copied().max().unwrap_or(0),
            share_clock: control.told_by(0, share_clock)?,
        })
    }
}

/// Returns a text that is equal for processes with the same monotonic clock; it uses the host's name if Linux has no
/// boot id.
fn clock(host: &str) -> String {
    let boot = fs::read_to_string(BOOT).unwrap_or_else(|_| host.to_owned());
    let namespace = fs::read_link(TIME_NAMESPACE).unwrap_or_default();
    format!("{} {}", boot.trim(), namespace.display())
}

fn ranks_by_text(texts: &[String]) -> HashMap<&str, usize> {
    let mut ranks = HashMap::new();
    texts.iter().for_each(|text| *ranks.entry(&text[..]).or_default() += 1);
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_counted_by_host() {
        let names = ["h1", "h2", "h1"].map(str::to_owned);
        assert_eq!(ranks_by_text(&names), HashMap::from([("h1", 2), ("h2", 1)]));
    }

    #[test]
    fn a_process_shares_its_own_clock() {
        assert_eq!(clock("h1"), clock("h1"));
        assert!(fs::metadata(BOOT).is_err() || clock("h1") == clock("h2"));
    }
}
