//! `rustcoll verify`

use crate::command_line::VerifyOptions;
use crate::failure::{Failure, Outcome};
use crate::problem::{described, names};
use crate::progress::Count;
use crate::words::counted;
use rustcoll::algorithms::{Algorithm, Problem, REGISTRY};
use rustcoll::selection::nearest;
use rustcoll::verify;
use std::io::Write;
use std::ops::RangeInclusive;

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
    let count = Count::new("problems");
    let check = |algorithm: &'static Algorithm, problem: &Problem| {
        count.add(|| format!("{} ranks", problem.size));
        verify::verify(algorithm, problem)
            .map_err(|violation| format!("{}: {violation}", described(algorithm, problem)))
    };
    let verified = verify::check_all(algorithms, sizes.clone(), |_| true, check);
    let problems = count.end();
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

#[cfg(test)]
mod tests {
    use super::*;
    use rustcoll::algorithms::{Body, Collective};
    use rustcoll::cost::Cost;
    use rustcoll::schedule::Schedule;
    use std::sync::LazyLock;

    /// Does nothing, which is right on one rank only.
    static IDLE: LazyLock<Algorithm> = LazyLock::new(|| {
        let linear = Collective::Bcast.algorithm("linear").expect("it is registered");
        let schedule = |problem: &Problem, rank| Schedule::idle(rank, problem.size, 1);
        Algorithm { body: Body::Messages { schedule, cost: |_| Cost::default() }, ..*linear }
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
