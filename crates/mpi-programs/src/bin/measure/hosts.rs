//! On which hosts the ranks are, and whether these have one clock.

use std::collections::HashMap;
use std::fs;

use mpi_programs::communicator::Communicator;
use mpi_programs::environment::Error;
use rustix::system::uname;

/// A number that Linux draws whenever it starts.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// By which a process may have a monotonic clock of its own.
const TIME_NAMESPACE: &str = "/proc/self/ns/time";

/// The ranks' hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// How many there are; known to rank 0.
    pub number: usize,
    /// The most ranks on one of them; known to rank 0.
    pub most_ranks: usize,
    /// Whether all have one monotonic clock; known to all.
    pub share_clock: bool,
}

impl Hosts {
    /// Asks all ranks.
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

/// What two processes have in common that share a monotonic clock; the host's name where Linux does not tell.
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
