//! Vectors of more than 2^31 bytes between two ranks.

use std::error::Error;

use mpi_programs::communicator::Communicator;
use mpi_programs::component::{self, number};
use mpi_programs::environment;
use mpi_programs::topology::Topology;
use rustcoll::algorithms::{Algorithm, Collective, Cut, Parameter, Problem, Requirement};
use rustcoll::schedule::Schedule;

use crate::case::Case;
use crate::progress::Progress;
use crate::report::Report;
use crate::shape::{Shape, Sides};
use crate::{Session, Subject, name, run, scenarios};

use Collective::*;

type Outcome = Result<(), Box<dyn Error>>;

/// Doubles in the longer buffer of each rank: more than 2^31 bytes.
const HUGE: usize = 270_000_000;
/// Doubles in a short block.
const FEW: usize = 1000;
/// The most doubles in the scratch memory of both ranks together. Buffers and their copies take twice as many.
const MOST_SCRATCH: usize = 3 * HUGE;

/// Tests huge vectors on one communicator, with gaps, and between groups.
pub fn huge(session: &Session, progress: &mut Progress, report: &mut Report) -> Outcome {
    if session.world.size() != 2 {
        return Err("this needs two ranks".into());
    }
    let ring = scenarios::tested(session)?;
    different_schedules(session, &ring, progress, report)?;
    with_gaps(session, &ring, progress, report)?;
    between_groups(session, progress, report)
}

/// Tests every collective by the component's own choice, then by every algorithm whose schedules for two
/// ranks differ from those that have run. Mock-ups are not eligible for such vectors.
fn different_schedules(
    session: &Session,
    ring: &Communicator,
    progress: &mut Progress,
    report: &mut Report,
) -> Outcome {
    let mut known: Vec<(Programs, &str)> = Vec::new();
    let is_tested = |&&(collective, algorithm): &&Subject| {
        is_tested(collective) && !algorithm.is_some_and(Algorithm::is_mock_up)
    };
    for &subject in session.subjects.iter().filter(is_tested) {
        let case = case(subject, ring.topology());
        let programs = case.algorithm.map(|algorithm| Programs::new(&case, algorithm));
        if let Some((_, same)) = known.iter().find(|(known, _)| Some(known) == programs.as_ref()) {
            let (collective, algorithm) = (case.collective.name(), name(case.algorithm));
            report.title(&format!("{collective:<20} {algorithm:<36} has the same schedules as {same}"));
            continue;
        }
        test(session, &case, ring, "2", progress, report)?;
        if let Some(algorithm) = ran(session, &case)? {
            known.push((Programs::new(&case, algorithm), name(case.algorithm)));
        }
    }
    Ok(())
}

/// Tests a broadcast of elements with gaps. If an algorithm cuts the vector, the component packs it whole.
fn with_gaps(
    session: &Session,
    ring: &Communicator,
    progress: &mut Progress,
    report: &mut Report,
) -> Outcome {
    let cuts = |subject: &&Subject| subject.0 == Bcast && name(subject.1) == "scatter_ring_allgather_opt";
    for &subject in session.subjects.iter().filter(cuts) {
        let sides = Sides(Shape::Vector, Shape::Vector);
        let case = Case { sides, count: HUGE / 2, ..case(subject, ring.topology()) };
        test(session, &case, ring, "2, gaps", progress, report)?;
    }
    Ok(())
}

fn between_groups(session: &Session, progress: &mut Progress, report: &mut Report) -> Outcome {
    let groups = session.world.parted(1)?.dup_for(component::NAME)?;
    for &subject in session.between.iter().filter(|subject| subject.0 == Allreduce) {
        let case = Case { remote: 1, in_place: false, ..case(subject, groups.topology()) };
        test(session, &case, &groups, "1+1", progress, report)?;
    }
    Ok(())
}

/// One neighbourhood collective is enough: the others have the same steps.
fn is_tested(collective: Collective) -> bool {
    collective != Barrier && (collective.cut() != Cut::Edges || collective == NeighborAllgatherv)
}

/// Returns a case with huge vectors or blocks of doubles, in place where that saves memory.
fn case((collective, algorithm): Subject, topology: &Topology) -> Case {
    let count = match collective {
        // The second block comes first in memory, so the first block's offset in bytes exceeds 2^31.
        Allgatherv | Alltoallv | Gatherv | NeighborAllgatherv | ReduceScatter | Scatterv => HUGE,
        // Displacements in bytes are ints, so all blocks have the same length.
        Alltoallw => HUGE / 2,
        _ if collective.cut() == Cut::Vector => HUGE,
        _ => HUGE / 2,
    };
    let case = Case {
        root: 0,
        count,
        length: if collective == Alltoallw { |count, _| count } else { second_is_long },
        in_place: collective.has_in_place(),
        sides: Sides(Shape::Double, Shape::Double),
        topology: topology.clone(),
        ..Case::simple(collective, algorithm, 2)
    };
    let scratch = algorithm.map_or(0, |algorithm| Programs::new(&case, algorithm).scratch(&case));
    // Algorithms with so much scratch memory exceed 2^31 bytes with a smaller count, too.
    Case { count: count / scratch.div_ceil(MOST_SCRATCH).max(1), ..case }
}

fn second_is_long(count: usize, number: usize) -> usize {
    if number == 1 { count } else { FEW }
}

fn test(
    session: &Session,
    case: &Case,
    communicator: &Communicator,
    sizes: &str,
    progress: &mut Progress,
    report: &mut Report,
) -> Outcome {
    let variables = session.variables(case.collective);
    run::run(case, communicator, variables, scenarios::seed(session, 0), progress)?;
    if let Some(variables) = variables {
        variables.choose(None)?;
    }
    progress.rest();
    report.line(case.collective.name(), name(case.algorithm), sizes, progress)?;
    Ok(())
}

/// Returns the algorithm that ran, unless the component chose one with segments, and may have cut the vector.
fn ran(session: &Session, case: &Case) -> Result<Option<&'static Algorithm>, environment::Error> {
    let Some(variables) = session.variables(case.collective).filter(|_| case.algorithm.is_none()) else {
        return Ok(case.algorithm);
    };
    let ran = variables.ran.read()?;
    let is_it = |algorithm: &&Algorithm| number(case.collective, algorithm) == ran;
    let found = case.collective.algorithms().find(is_it);
    Ok(found.filter(|algorithm| !algorithm.parameters.contains(&Parameter::Segment)))
}

/// The schedules of all ranks, and the algorithm's requirements on lengths.
#[derive(PartialEq, Eq)]
struct Programs {
    collective: Collective,
    schedules: Vec<Schedule>,
    lengths: Vec<Requirement>,
}

impl Programs {
    fn new(case: &Case, algorithm: &Algorithm) -> Self {
        let graph = case.topology.graph.clone();
        let problem = Problem { root: case.root, in_place: case.in_place, graph, ..Problem::new(case.size) };
        Programs {
            collective: case.collective,
            schedules: algorithm.programs(&problem),
            lengths: algorithm.requires.iter().filter(|one| one.is_of_lengths()).copied().collect(),
        }
    }
    /// Returns the number of values in the scratch memory of all ranks.
    fn scratch(&self, case: &Case) -> usize {
        let are_padded = self.lengths.contains(&Requirement::LongestBlock);
        let values = |schedule: &Schedule, block: usize| match self.collective.cut() {
            Cut::Vector => case.count / schedule.blocks,
            _ if are_padded => case.count,
            _ => case.share(schedule.rank, block % schedule.blocks),
        };
        let of_rank = |schedule: &Schedule| -> usize {
            (0..schedule.scratch_blocks()).map(|block| values(schedule, block)).sum()
        };
        self.schedules.iter().map(of_rank).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases() -> impl Iterator<Item = Case> {
        let ring = Topology::ring(2);
        let collectives = Collective::ALL.into_iter().filter(|&collective| is_tested(collective));
        let algorithms = collectives.flat_map(|one| one.algorithms().map(move |algorithm| (one, algorithm)));
        let of_one_group =
            algorithms.filter(|(_, algorithm)| !algorithm.is_for_two_groups() && !algorithm.is_mock_up());
        of_one_group.map(move |(one, algorithm)| case((one, Some(algorithm)), &ring))
    }

    #[test]
    fn a_buffer_or_its_scratch_memory_passes_2_gib_and_scratch_memory_has_a_limit() {
        for case in cases() {
            let blocks = if case.collective.cut() == Cut::Vector { 1 } else { 2 };
            let sent = (0..blocks).map(|to| case.share(0, to)).sum();
            let received = (0..blocks).map(|from| case.share(from, 0)).sum();
            let scratch = Programs::new(&case, case.algorithm.unwrap()).scratch(&case);
            let of_each = scratch / 2;
            assert!([sent, received, of_each].into_iter().max() > Some((1 << 31) / 8), "{case}");
            assert!(scratch <= MOST_SCRATCH, "{case}");
        }
    }

    #[test]
    fn algorithms_with_equal_schedules_differ_by_how_they_learn_lengths() {
        let programs = |collective: Collective, name| {
            let algorithm = collective.algorithm(name).unwrap();
            Programs::new(&case((collective, Some(algorithm)), &Topology::ring(2)), algorithm)
        };
        assert!(programs(Bcast, "binomial") == programs(Bcast, "linear"));
        assert!(programs(Alltoallv, "pairwise") == programs(Alltoallv, "spread_out"));
        assert!(programs(Gatherv, "binomial") != programs(Gatherv, "linear"));
        assert!(programs(Allreduce, "ring") != programs(Allreduce, "rabenseifner"));
    }
}
