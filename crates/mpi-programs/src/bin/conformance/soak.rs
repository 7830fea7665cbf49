//! A long run: operations of all kinds on communicators that come and go, and the memory that is left behind.

use std::error::Error;

use mpi_programs::component;
use mpi_programs::random::{Generator, combine};
use mpi_programs::topology::Topology;
use rustcoll::algorithms::Cut;

use crate::case::Case;
use crate::progress::Progress;
use crate::report::Report;
use crate::{Session, plan, run, scenarios};

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
    let (single, double) = (cases_of_one_group(session), cases_of_two_groups(session));
    let mut resident = Vec::new();
    let mut done = 0;
    for generation in 1..=COMMUNICATORS {
        // Every fourth one has two groups, if ranks suffice.
        let is_double = generation % 4 == 0 && !double.is_empty();
        let communicator = match is_double {
            true => session.world.parted(split(session), component::NAME)?,
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

/// By subject. Neighbourhood collectives run on the ring that [`scenarios::tested`] makes.
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

/// The first rank of the second group.
fn split(session: &Session) -> usize {
    session.world.size().div_ceil(2)
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
