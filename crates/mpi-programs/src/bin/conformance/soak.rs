//! A long run: operations of all kinds on communicators that are made and freed. Memory must not leak.

use std::error::Error;

use expected_results::random::{Generator, combine};
use mpi_programs::component;
use mpi_programs::memory::resident_bytes;
use mpi_programs::topology::Topology;
use rustcoll::algorithms::Cut;

use crate::case::Case;
use crate::progress::Progress;
use crate::report::Report;
use crate::{Session, plan, run, scenarios};

/// Number of communicators that are made and freed.
const COMMUNICATORS: usize = 200;
/// A run has four parts. In the first, allocators and lower layers of MPI still fill their pools.
const PART: usize = COMMUNICATORS / 4;
/// Bytes by which memory may grow from one part to the next without a leak.
const NOISE: u64 = 1 << 18;

/// Runs at least `operations` operations, spread over the communicators. Resident memory must not grow in
/// every part: a leak grows always, but pools of lower layers grow at once, and seldom.
pub fn soak(
    session: &Session,
    operations: usize,
    progress: &mut Progress,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let seed = session.options.seed;
    let mut random = Generator::new(seed);
    let (single, double) = (cases_of_one_group(session), cases_of_two_groups(session));
    let mut resident = Vec::new();
    let mut done = 0;
    for generation in 1..=COMMUNICATORS {
        // Every fourth communicator has two groups, if there are enough ranks.
        let is_double = generation % 4 == 0 && !double.is_empty();
        let communicator = match is_double {
            true => session.world.parted(split(session))?.dup_for(component::NAME)?,
            false => scenarios::tested(session)?,
        };
        let cases = if is_double { &double } else { &single };
        while done < operations * generation / COMMUNICATORS {
            let of_subject = &cases[random.below(cases.len())];
            let case = &of_subject[random.below(of_subject.len())];
            let variables = session.variables(case.collective);
            done += run::run(case, &communicator, variables, combine(&[seed, done as u64]), progress)?;
            variables.map_or(Ok(()), |variables| variables.reset())?;
        }
        drop(communicator);
        resident.push(resident_bytes()?);
    }
    let parts = [1, 2, 3].map(|part| median(&resident[part * PART..(part + 1) * PART]));
    let grows = parts.windows(2).all(|parts| parts[1] > parts[0] + NOISE);
    progress
        .check(grows.then(|| format!("resident memory grows: {parts:?} bytes in the parts after the first")));
    progress.rest();
    report.title(&format!(
        "{done} operations; resident memory of rank 0 in the parts after the first: {parts:?} bytes"
    ));
    let size = session.world.size().to_string();
    Ok(report.line("soak", &format!("{COMMUNICATORS} communicators"), &size, progress)?)
}

/// Returns the cases of each subject. Neighbourhood collectives use the ring of [`scenarios::tested`].
fn cases_of_one_group(session: &Session) -> Vec<Vec<Case>> {
    let ring = Topology::ring(session.world.size());
    let cases = session.subjects.iter().map(|&(collective, algorithm)| {
        let mut simple = Case::simple(collective, algorithm, session.world.size());
        if collective.cut() == Cut::Edges {
            simple.topology = ring.clone();
        }
        let drawn = plan::draw(&simple, &session.options).cases;
        drawn.into_iter().map(|case| Case { topology: simple.topology.clone(), ..case }).collect()
    });
    cases.collect()
}

fn cases_of_two_groups(session: &Session) -> Vec<Vec<Case>> {
    let (size, at) = (session.world.size(), split(session));
    let cases = session.between.iter().filter(|_| size > 1).map(|&(collective, algorithm)| {
        let simple = Case { remote: size - at, ..Case::simple(collective, algorithm, size) };
        plan::draw(&simple, &session.options).cases
    });
    cases.collect()
}

/// Returns the first rank of the second group.
fn split(session: &Session) -> usize {
    session.world.size().div_ceil(2)
}

fn median(numbers: &[u64]) -> u64 {
    let mut sorted = numbers.to_vec();
    sorted.sort();
    sorted[sorted.len() / 2]
}
