//! A long run: operations of all kinds on communicators that come and go, and the memory that is left behind.

use std::error::Error;

use mpi_programs::random::{Generator, combine};

use crate::case::Case;
use crate::progress::Progress;
use crate::report::Report;
use crate::{Session, Subject, plan, run, scenarios};

/// How many communicators come and go.
const COMMUNICATORS: usize = 200;
/// Communicators at the beginning, while allocators and lower layers of MPI still fill their pools.
const WARM_UP: usize = COMMUNICATORS / 4;
/// Bytes of growth that are taken for the noise of allocators.
const NOISE: u64 = 1 << 20;

/// So many operations at least, shared among the communicators; resident memory must come out as it was.
pub fn soak(
    session: &Session,
    operations: usize,
    progress: &mut Progress,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let seed = session.options.seed;
    let mut random = Generator::new(seed);
    let cases: Vec<(Subject, Vec<Case>)> = session
        .subjects
        .iter()
        .map(|&subject| {
            (subject, plan::draw(subject.0, subject.1, session.world.size(), &session.options).cases)
        })
        .collect();
    let mut resident = Vec::new();
    let mut done = 0;
    for generation in 1..=COMMUNICATORS {
        let communicator = scenarios::tested(session)?;
        while done < operations * generation / COMMUNICATORS {
            let (subject, cases) = &cases[random.below(cases.len())];
            let case = &cases[random.below(cases.len())];
            let variables = session.variables(subject.0);
            done += run::run(case, &communicator, variables, combine(&[seed, done as u64]), progress)?;
            variables.map_or(Ok(()), |variables| variables.reset())?;
        }
        drop(communicator);
        resident.push(resident_bytes()?);
    }
    let (before, after) =
        (median(&resident[WARM_UP..2 * WARM_UP]), median(&resident[COMMUNICATORS - WARM_UP..]));
    let growth = after.saturating_sub(before);
    progress.check((growth > NOISE).then(|| format!("resident memory grows from {before} to {after} bytes")));
    progress.rest();
    report.title(&format!(
        "{done} operations; resident memory of rank 0: {before} bytes, at the end {after} bytes"
    ));
    let size = session.world.size().to_string();
    Ok(report.line("soak", &format!("{COMMUNICATORS} communicators"), &size, progress)?)
}

/// Of this process, from the second field of a line of numbers of pages.
fn resident_bytes() -> Result<u64, Box<dyn Error>> {
    const PAGE: u64 = 4096;
    let line = std::fs::read_to_string("/proc/self/statm")?;
    let pages = line.split_whitespace().nth(1).ok_or("/proc/self/statm has no second field")?;
    Ok(pages.parse::<u64>()? * PAGE)
}

fn median(numbers: &[u64]) -> u64 {
    let mut sorted = numbers.to_vec();
    sorted.sort();
    sorted[sorted.len() / 2]
}
