//! `rustcoll verify`

use crate::command_line::VerifyOptions;
use crate::failure::{Failure, Outcome};
use crate::problem::{described, names};
use crate::words::counted;
use rustcoll::algorithms::{Algorithm, Problem, REGISTRY};
use rustcoll::selection::nearest;
use rustcoll::verify;
use std::io::{self, IsTerminal, Write};
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How often progress is shown.
const INTERVAL: Duration = Duration::from_millis(100);

/// Verifies the algorithms that were asked for.
pub fn run(options: &VerifyOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let algorithms = chosen(options)?;
    verify(&algorithms, options.ranks.clone(), output)
}

fn chosen(options: &VerifyOptions) -> Result<Vec<&'static Algorithm>, Failure> {
    let of_collective = |algorithm: &&Algorithm| {
        options.collective.is_none_or(|collective| algorithm.collective == collective)
    };
    let candidates = || REGISTRY.iter().copied().filter(of_collective);
    let Some(wanted) = &options.algorithm else { return Ok(candidates().collect()) };
    let found: Vec<_> =
        candidates().filter(|&algorithm| names(algorithm).any(|name| name == wanted)).collect();
    if found.is_empty() {
        let what = options.collective.map_or("algorithm".into(), |one| format!("{} algorithm", one.name()));
        return Err(Failure::Usage(nearest::unknown(&what, wanted, candidates().flat_map(names))));
    }
    Ok(found)
}

fn verify(
    algorithms: &[&'static Algorithm],
    sizes: RangeInclusive<usize>,
    output: &mut impl Write,
) -> Result<Outcome, Failure> {
    let progress = Progress::new();
    let check = |algorithm: &'static Algorithm, problem: &Problem| {
        progress.note(problem.size);
        verify::verify(algorithm, problem)
            .map_err(|violation| format!("{}: {violation}", described(algorithm, problem)))
    };
    let verified = verify::check_all(algorithms, sizes.clone(), |_| true, check);
    let problems = progress.end();
    let (first, last) = (sizes.start(), sizes.end());
    let what = format!("{} on {first} to {last} ranks", counted(algorithms.len(), "algorithm"));
    match verified {
        Err(fault) => {
            writeln!(output, "{fault}")?;
            Ok(Outcome::Wrong)
        }
        Ok(()) if problems == 0 => Err(Failure::Usage(format!("there is nothing to verify: {what}"))),
        Ok(()) => {
            writeln!(output, "{what}: {}, all right", counted(problems, "problem"))?;
            Ok(Outcome::Right)
        }
    }
}

/// Counts problems and, on a terminal, shows from time to time how many there were.
struct Progress {
    is_shown: bool,
    state: Mutex<(usize, Instant)>,
}

impl Progress {
    fn new() -> Progress {
        Progress { is_shown: io::stderr().is_terminal(), state: Mutex::new((0, Instant::now())) }
    }

    fn note(&self, size: usize) {
        let mut state = self.state.lock().expect("nobody panics who holds it");
        let (problems, shown) = &mut *state;
        *problems += 1;
        if self.is_shown && shown.elapsed() >= INTERVAL {
            *shown = Instant::now();
            eprint!("\r{size} ranks, {problems} problems");
        }
    }

    fn end(self) -> usize {
        if self.is_shown {
            // Clears the line.
            eprint!("\r\x1b[K");
        }
        self.state.into_inner().expect("nobody panics who holds it").0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustcoll::algorithms::Collective;
    use rustcoll::schedule::Schedule;
    use std::sync::LazyLock;

    /// Does nothing, which is right on one rank only.
    static IDLE: LazyLock<Algorithm> = LazyLock::new(|| {
        let linear = Collective::Bcast.algorithm("linear").expect("it is registered");
        Algorithm { schedule: |problem, rank| Schedule::idle(rank, problem.size, 1), ..*linear }
    });

    fn verified(sizes: RangeInclusive<usize>) -> (Outcome, String) {
        let mut output = Vec::new();
        let outcome = verify(&[&IDLE], sizes, &mut output).unwrap();
        (outcome, String::from_utf8(output).unwrap())
    }

    #[test]
    fn a_wrong_algorithm_is_reported() {
        let (outcome, text) = verified(1..=4);
        assert_eq!(outcome, Outcome::Wrong);
        let expected = "bcast linear --ranks 2 --root 0: rank 1: recv[0] is read but holds nothing defined\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_right_one_is_counted() {
        assert_eq!(
            verified(1..=1),
            (Outcome::Right, "1 algorithm on 1 to 1 ranks: 1 problem, all right\n".into())
        );
    }
}
