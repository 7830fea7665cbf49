//! `rustcoll verify`

use crate::command_line::VerifyOptions;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::problem::{described, names};
use crate::progress::Count;
use crate::schedules;
use crate::words::counted;
use rustcoll::algorithms::{Algorithm, Cut, Problem, registered};
use rustcoll::schedule_file;
use rustcoll::selection::nearest;
use rustcoll::verify;
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Mock-ups are verified on at most this many ranks, as the verifier follows every element of every rank.
const MOST_RANKS_OF_MOCK_UPS: usize = 128;

/// Verifies the algorithms or the schedule files that the options name.
pub fn run(options: &VerifyOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    if !options.files.is_empty() {
        return prove_files(&options.files, options.certify, output);
    }
    let algorithms = chosen(options)?;
    verify(&algorithms, options.ranks.clone(), output)
}

fn chosen(options: &VerifyOptions) -> Result<Vec<&'static Algorithm>, Failure> {
    let of_collective =
        |algorithm: &&Algorithm| options.collective.is_none_or(|collective| algorithm.performs(collective));
    let candidates = || registered().filter(of_collective);
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
        if algorithm.is_mock_up() && problem.size > MOST_RANKS_OF_MOCK_UPS {
            return Ok(());
        }
        count.add(|| format!("{} ranks", problem.size));
        verify_one(algorithm, problem).map_err(|fault| format!("{}: {fault}", described(algorithm, problem)))
    };
    let verified = verify::check_all(algorithms, sizes.clone(), |_| true, check);
    let problems = count.end();
    let (first, last) = (sizes.start(), sizes.end());
    let leaves_out = *last > MOST_RANKS_OF_MOCK_UPS && algorithms.iter().any(|one| one.is_mock_up());
    let but = match leaves_out {
        true => format!(" (mock-ups on at most {MOST_RANKS_OF_MOCK_UPS})"),
        false => String::new(),
    };
    let what = format!("{} on {first} to {last} ranks{but}", counted(algorithms.len(), "algorithm"));
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

/// Proves schedule files, or prints where each is wrong.
fn prove_files(paths: &[PathBuf], certifies: bool, output: &mut impl Write) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::Right;
    for path in schedules::expanded(paths)? {
        let (name, text) = (files::name(&path), files::text(&path)?);
        match schedule_file::prove(&name, &text) {
            Ok(proved) => {
                let (file, problems) = (proved.file(), counted(proved.problems, "problem"));
                let (title, ranks) = (file.title(), file.ranks());
                writeln!(output, "{name}: {title} on {ranks} ranks: {problems}, all right")?;
                if certifies && files::is_standard_input(&path) {
                    return Err(Failure::Usage(
                        "--certify: the standard input has no place for a certificate".into(),
                    ));
                }
                if certifies {
                    let place = schedule_file::certify(&path, text.as_bytes(), &proved);
                    writeln!(output, "{}: written", place.map_err(Failure::Input)?.display())?;
                }
            }
            Err(wrong) => {
                writeln!(output, "{wrong}")?;
                outcome = Outcome::Wrong;
            }
        }
    }
    Ok(outcome)
}

/// Verifies schedules. For mock-ups, verifies calls of several lengths, as the length decides how a vector is cut.
fn verify_one(algorithm: &Algorithm, problem: &Problem) -> Result<(), String> {
    if !algorithm.is_mock_up() {
        return verify::verify(algorithm, problem).map_err(|violation| violation.to_string());
    }
    let size = problem.size;
    let lengths = match algorithm.contract().cut() {
        Cut::Vector => vec![0, 1, size - 1, size, size + 1, 2 * size + 3],
        Cut::Ranks | Cut::Pairs | Cut::Edges => vec![0, 1, 2],
    };
    lengths.into_iter().try_for_each(|elements| {
        let verified = verify::verify_calls(algorithm, problem, elements);
        verified.map_err(|fault| format!("{}: {fault}", counted(elements, "element")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustcoll::algorithms::{Act, Body, Calls, Collective, Parts};
    use rustcoll::schedule::Schedule;
    use std::sync::LazyLock;

    /// Does nothing, which is right only on one rank.
    static IDLE: LazyLock<Algorithm> = LazyLock::new(|| {
        let linear = Collective::Bcast.algorithm("linear").expect("it is registered");
        let schedule = |problem: &Problem, rank| Schedule::idle(rank, problem.size, 1);
        Algorithm { body: Body::Messages(schedule), ..*linear }
    });

    /// A mock-up that makes no calls.
    static CALLS_NOBODY: LazyLock<Algorithm> = LazyLock::new(|| {
        let acts = |_: &Problem, _| Vec::<Act>::new();
        Algorithm { body: Body::Calls(Calls { parts: Parts::Whole, acts }), ..*IDLE }
    });

    fn verified(algorithm: &'static Algorithm, sizes: RangeInclusive<usize>) -> (Outcome, String) {
        let mut output = Vec::new();
        let outcome = verify(&[algorithm], sizes, &mut output).unwrap();
        (outcome, String::from_utf8(output).unwrap())
    }

    #[test]
    fn a_wrong_algorithm_is_reported() {
        let (outcome, text) = verified(&IDLE, 1..=4);
        assert_eq!(outcome, Outcome::Wrong);
        let expected = "bcast linear --ranks 2 --root 0: rank 1: recv[0] is read but holds nothing defined\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn so_is_a_wrong_mock_up() {
        let (outcome, text) = verified(&CALLS_NOBODY, 1..=4);
        assert_eq!(outcome, Outcome::Wrong);
        assert!(
            text.starts_with("bcast linear --ranks 2 --root 0: 1 element: rank 1 ends with None"),
            "{text}"
        );
    }

    #[test]
    fn a_right_one_is_counted() {
        assert_eq!(
            verified(&IDLE, 1..=1),
            (Outcome::Right, "1 algorithm on 1 to 1 ranks: 1 problem, all right\n".into())
        );
    }
}
