//! Where the ranks run, and whether their hosts have one clock.

use std::collections::HashMap;

use mpi_programs::clock;
use mpi_programs::communicator::Communicator;
use mpi_programs::environment::Error;
use rustix::system::uname;

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
        let names = control.gathered(&name)?;
        let ranks = ranks_by_text(&names);
        Ok(Hosts {
            number: ranks.len(),
            most_ranks: ranks.values().copied().max().unwrap_or(0),
            share_clock: clock::is_shared(control)?,
        })
    }
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
}
