//! Collectives between the two groups of an inter-communicator.

use std::error::Error;
use std::time::Instant;

use expected_results::random::combine;
use mpi_programs::communicator::Communicator;
use mpi_programs::component;
use rustcoll::algorithms::{Algorithm, Collective};

use crate::case::Case;
use crate::options::Options;
use crate::plan;
use crate::progress::Progress;
use crate::report::Report;
use crate::run;
use crate::{CASES_PER_LOOK, Session, Subject, is_called};

/// Returns the algorithms for two groups. Their ranks do not learn nodes.
pub fn subjects(options: &Options) -> Vec<Subject> {
    let collectives =
        Collective::ALL.into_iter().filter(|&one| options.collective.is_none_or(|it| it == one));
    let algorithms = collectives.flat_map(|one| one.algorithms().map(move |algorithm| (one, algorithm)));
    algorithms
        .filter(|(_, algorithm)| algorithm.is_for_two_groups())
        .filter(|_| !options.reference && options.ranks_on_node.is_none())
        .map(|(collective, algorithm)| (collective, Some(algorithm)))
        .filter(|subject| options.algorithm.as_deref().is_none_or(|name| is_called(subject, name)))
        .collect()
}

/// Returns the sizes of the first group to test: 1, about half of the ranks, and all ranks but one.
pub fn splits(ranks: usize) -> Vec<usize> {
    let mut splits = vec![1, ranks / 2, ranks.saturating_sub(1)];
    splits.retain(|at| (1..ranks).contains(at));
    splits.dedup();
    splits
}

/// Tests all algorithms for two groups on all ranks, divided at each of [`splits`].
pub fn all(session: &Session, progress: &mut Progress, report: &mut Report) -> Result<(), Box<dyn Error>> {
    if session.between.is_empty() {
        return Ok(());
    }
    let control = session.world.dup_for("tuned")?;
    for at in splits(session.world.size()) {
        let tested = session.world.parted(at)?.dup_for(component::NAME)?;
        for &subject in &session.between {
            test(session, subject, &tested, at, &control, progress)?;
        }
        progress.rest();
        let sizes = format!("{at}+{}", session.world.size() - at);
        report.line("between groups", "all collectives", &sizes, progress)?;
    }
    Ok(())
}

fn test(
    session: &Session,
    (collective, algorithm): Subject,
    tested: &Communicator,
    at: usize,
    control: &Communicator,
    progress: &mut Progress,
) -> Result<(), Box<dyn Error>> {
    let variables = session.variables(collective);
    let size = session.world.size();
    let simple = |algorithm: Option<&'static Algorithm>| Case {
        remote: size - at,
        ..Case::simple(collective, algorithm, size)
    };
    let plan = plan::draw(&simple(algorithm), &session.options);
    let start = Instant::now();
    for (index, case) in plan.cases.iter().enumerate() {
        let looks = index >= plan.indispensable && index % CASES_PER_LOOK == 0;
        if looks && !control.told_by(0, start.elapsed() < session.share())? {
            break;
        }
        run::run(case, tested, variables, combine(&[session.options.seed, index as u64]), progress)?;
    }
    // Neither the component's choice nor an algorithm forced for one group may change what runs here.
    for other in [None, collective.algorithms().next()] {
        run::run(&simple(other), tested, variables, session.options.seed, progress)?;
    }
    if let Some(variables) = variables {
        variables.reset()?;
    }
    Ok(())
}
