//! Collects the results of all ranks by point-to-point messages, independent of the tested collectives.

use std::process::ExitCode;

use mpi_programs::communicator::Communicator;
use mpi_programs::environment::Error;

use crate::progress::{DESCRIBED, Progress, Tally};

/// Collects the results on rank 0 and prints them there.
pub struct Report<'a> {
    world: &'a Communicator,
    total: Tally,
}

impl<'a> Report<'a> {
    pub fn new(world: &'a Communicator) -> Self {
        Report { world, total: Tally::default() }
    }

    /// Prints a line without results.
    pub fn title(&self, text: &str) {
        if self.world.rank() == 0 {
            println!("{text}");
        }
    }

    /// Prints the checks of all ranks since the last line, and the failures. All ranks must call it.
    pub fn line(
        &mut self,
        what: &str,
        name: &str,
        sizes: &str,
        progress: &mut Progress,
    ) -> Result<(), Error> {
        let mine = progress.take();
        if self.world.rank() != 0 {
            return self.world.send(&encode(&mine), 0);
        }
        let mut all = mine;
        for rank in 1..self.world.size() {
            add(&mut all, decode(&self.world.receive(rank)?));
        }
        let verdict = if all.failed == 0 { "ok".into() } else { format!("{} FAILED", all.failed) };
        println!("{what:<20} {name:<36} ranks {sizes:<8} {:>9} checks  {verdict}", all.passed + all.failed);
        let described = self.total.failures.len();
        add(&mut self.total, all);
        for failure in &self.total.failures[described..] {
            println!("    FAILED {failure}");
        }
        Ok(())
    }

    /// Prints the totals, and returns failure if any check failed.
    pub fn finish(self) -> ExitCode {
        if self.world.rank() == 0 {
            println!("{} passed, {} failed", self.total.passed, self.total.failed);
        }
        if self.total.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn add(total: &mut Tally, other: Tally) {
    total.passed += other.passed;
    total.failed += other.failed;
    total.failures.extend(other.failures);
    total.failures.truncate(DESCRIBED);
}

fn encode(tally: &Tally) -> Vec<u8> {
    format!("{}\n{}\n{}", tally.passed, tally.failed, tally.failures.join("\n")).into_bytes()
}

fn decode(bytes: &[u8]) -> Tally {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines();
    let mut number = || lines.next().and_then(|line| line.parse().ok()).expect("two numbers come first");
    let (passed, failed) = (number(), number());
    Tally { passed, failed, failures: lines.map(str::to_owned).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_survives_its_journey() {
        for failures in [vec![], vec!["one".to_owned(), "two".to_owned()]] {
            let tally = Tally { passed: 3, failed: 2, failures };
            let back = decode(&encode(&tally));
            assert_eq!((back.passed, back.failed, back.failures), (3, 2, tally.failures));
        }
    }
}
