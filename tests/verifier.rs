//! The verifier must reject faults: hand-written ones of every kind, and every registered algorithm after a
//! change of any single step of any rank.

use rustcoll::algorithms::{Algorithm, Collective, Cut, Dimension, Graph, Problem, REGISTRY, Requirement};
use rustcoll::cost::Cost;
use rustcoll::schedule::{
    Buffer, Buffer::*, Builder, MOST_TIMES, Message, Post, Run, Schedule, SlotKind, Step,
};
use rustcoll::verify::{Fault, Violation, check_all, problems, verify_lengths, verify_schedules};

// Changed algorithms.

/// The programs of all ranks for one problem.
struct Case {
    algorithm: &'static Algorithm,
    problem: Problem,
    schedules: Vec<Schedule>,
}

impl Case {
    fn new(algorithm: &'static Algorithm, problem: Problem) -> Case {
        let schedules = algorithm.programs(&problem);
        Case { algorithm, problem, schedules }
    }

    fn is_ordered(&self) -> bool {
        self.algorithm.keeps_order()
    }

    fn verify(&self) -> Result<(), Violation> {
        verify_schedules(self.algorithm.contract(), &self.problem, self.is_ordered(), &self.schedules)
    }

    /// Verifies the programs with another program of one rank.
    fn verify_with(&mut self, rank: usize, steps: &[Step]) -> Result<(), Violation> {
        let original = std::mem::replace(&mut self.schedules[rank].steps, steps.to_vec());
        let verified = self.verify();
        self.schedules[rank].steps = original;
        verified
    }
}

/// Returns all algorithms with some roots and radices, on a power of two of ranks and on another number.
fn cases() -> impl Iterator<Item = Case> {
    let sizes = REGISTRY.iter().flat_map(|&algorithm| [5, 8].map(|size| (algorithm, size)));
    sizes.flat_map(|(algorithm, size)| {
        problems(algorithm, size)
            .into_iter()
            .filter(move |problem| [0, 3].contains(&problem.root) && [2, 3, size].contains(&problem.radix))
            .map(|problem| Case::new(algorithm, problem))
    })
}

/// Returns all ways to change one step of a program.
type Mutation = fn(&Case, &Schedule, usize) -> Vec<Vec<Step>>;

/// Whether a changed program is as good as the original. Arguments: the case, the original, the position of
/// the changed step, and the changed program.
type Excuse = fn(&Case, &Schedule, usize, &[Step]) -> bool;

fn no_excuse(_: &Case, _: &Schedule, _: usize, _: &[Step]) -> bool {
    false
}

fn assert_caught(mutation: Mutation, excuse: Excuse) {
    let mut caught = 0;
    for mut case in cases() {
        let context = format!("{} {:?}", case.algorithm.name, case.problem);
        assert_eq!(case.verify(), Ok(()), "{context}");
        for original in case.schedules.clone() {
            for position in 0..original.steps.len() {
                for steps in mutation(&case, &original, position) {
                    match case.verify_with(original.rank, &steps) {
                        Err(_) => caught += 1,
                        Ok(()) => assert!(
                            excuse(&case, &original, position, &steps),
                            "{context}: rank {}, step {position} became {:?}",
                            original.rank,
                            steps.get(position)
                        ),
                    }
                }
            }
        }
    }
    assert!(caught > 0, "nothing was changed");
}

#[test]
fn a_dropped_step_is_caught() {
    assert_caught(dropped, |case, original, position, _| restores_own_block(case, original, position));
}

#[test]
fn a_duplicated_step_is_caught() {
    assert_caught(duplicated, no_excuse);
}

#[test]
fn a_misdirected_message_is_caught() {
    assert_caught(misdirected, no_excuse);
}

#[test]
fn swapped_steps_are_caught() {
    assert_caught(swapped, |case, original, position, _| {
        let steps = &original.steps[position..position + 2];
        receives_alike(case, &steps[0]) || steps.iter().all(|step| combines_alone(case, step))
    });
}

#[test]
fn a_wrong_block_is_caught() {
    assert_caught(shifted, |case, original, position, steps| {
        receives_token(case, &original.steps[position])
            || copies_alike(case, original, position, steps)
            || restores_own_block(case, original, position)
                && source(&steps[position]) == source(&original.steps[position])
                && is_overwritten(steps, position)
    });
}

/// An algorithm that awaits unnecessary flags wastes time.
#[test]
fn no_algorithm_awaits_a_flag_in_vain() {
    let sharing = |algorithm: &&'static Algorithm| {
        let slots = |problem: &Problem| algorithm.program(problem, 0).slots;
        (1..=5).flat_map(|size| problems(algorithm, size)).any(|problem| slots(&problem) > 0)
    };
    let algorithms: Vec<_> = REGISTRY.iter().copied().filter(sharing).collect();
    let check = |algorithm: &'static Algorithm, problem: &Problem| {
        let mut case = Case::new(algorithm, problem.clone());
        without_each(
            &mut case.schedules,
            |step| matches!(step, Step::Await { .. }),
            |schedules, rank, step| {
                let verified =
                    verify_schedules(algorithm.contract(), problem, algorithm.keeps_order(), schedules);
                let vain =
                    || format!("{} {problem:?}: rank {rank}, step {step} waits in vain", algorithm.name);
                verified.is_err().then_some(()).ok_or_else(vain)
            },
        )
    };
    assert_eq!(check_all(&algorithms, 1..=5, |_| true, check), Ok(()));
}

/// Removes each selected step in turn, and calls `check` with the programs, and the step's rank and position.
fn without_each<Failure>(
    schedules: &mut [Schedule],
    selected: fn(&Step) -> bool,
    mut check: impl FnMut(&[Schedule], usize, usize) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for rank in 0..schedules.len() {
        for position in 0..schedules[rank].steps.len() {
            if selected(&schedules[rank].steps[position]) {
                let step = schedules[rank].steps.remove(position);
                check(schedules, rank, position)?;
                schedules[rank].steps.insert(position, step);
            }
        }
    }
    Ok(())
}

#[test]
fn exchanged_operands_are_caught() {
    assert_caught(exchanged, no_excuse);
}

/// Writing a block once more at the end does no harm, unless ranks must know its length from the first write.
#[test]
fn a_block_that_may_change_its_length_is_caught() {
    let mut caught = 0;
    for case in cases().filter(|case| case.algorithm.requires.contains(&Requirement::BlockLengths)) {
        for original in &case.schedules {
            let written = (0..original.steps.len()).flat_map(|position| match original.steps[position] {
                Step::Wait { .. } => Vec::new(),
                _ => accesses(&original.steps, position).1,
            });
            for run in written.filter(|run| run.buffer == Scratch) {
                let block = run.first as usize;
                let other = block + original.scratch_blocks().next_multiple_of(original.blocks);
                let mut schedules = case.schedules.clone();
                let steps = &mut schedules[original.rank].steps;
                steps.push(Step::Copy { source: Scratch.block(block), target: Scratch.block(other) });
                steps.push(Step::Copy { source: Scratch.block(other), target: Scratch.block(block) });
                verify_schedules(case.algorithm.contract(), &case.problem, true, &schedules).unwrap();
                let violation = verify_lengths(case.algorithm.requires, &schedules).unwrap_err();
                assert_eq!(violation.fault, Fault::WrittenTwice(Scratch.block(block)));
                caught += 1;
            }
        }
    }
    assert!(caught > 0, "nothing was changed");
}

fn dropped(_: &Case, original: &Schedule, position: usize) -> Vec<Vec<Step>> {
    let mut steps = original.steps.clone();
    let removed = post(&steps.remove(position));
    for step in &mut steps {
        if let Step::Wait { posts } = step {
            posts.retain(|&post| Some(post) != removed);
        }
    }
    vec![renumbered(steps)]
}

/// Some duplicates are harmless, so there are none of these: a second copy, a second reduction to a third
/// place, a flag that is raised or awaited once more.
fn duplicated(_: &Case, original: &Schedule, position: usize) -> Vec<Vec<Step>> {
    const NEW: Post = Post::MAX;
    let mut steps = original.steps.clone();
    let mut duplicate = steps[position].clone();
    match &mut duplicate {
        Step::Copy { .. } | Step::Notify { .. } | Step::Await { .. } => return Vec::new(),
        Step::Reduce { left, right, target } if target != left && target != right => return Vec::new(),
        Step::Reduce { .. } | Step::Wait { .. } => {}
        Step::Send { post, .. } | Step::Receive { post, .. } => {
            for step in &mut steps {
                match step {
                    Step::Wait { posts } if posts.contains(post) => posts.push(NEW),
                    _ => {}
                }
            }
            *post = NEW;
        }
    }
    steps.insert(position + 1, duplicate);
    vec![renumbered(steps)]
}

/// Directs a message to each other rank, to the rank itself, and to a rank that does not exist.
fn misdirected(case: &Case, original: &Schedule, position: usize) -> Vec<Vec<Step>> {
    let mut mutants = Vec::new();
    for wrong in 0..=case.problem.size as u32 {
        let mut steps = original.steps.clone();
        match &mut steps[position] {
            Step::Send { peer, .. } | Step::Receive { peer, .. } if *peer != wrong => *peer = wrong,
            // Another rank's flag may be as good, if that rank has learned of the right flag.
            Step::Await { rank, .. } if !is_another(case, original, wrong) => *rank = wrong,
            _ => continue,
        }
        mutants.push(steps);
    }
    mutants
}

fn is_another(case: &Case, original: &Schedule, rank: u32) -> bool {
    rank as usize != original.rank && (rank as usize) < case.problem.size
}

fn swapped(_: &Case, original: &Schedule, position: usize) -> Vec<Vec<Step>> {
    if position + 1 == original.steps.len() || !depend(&original.steps, position, position + 1) {
        return Vec::new();
    }
    let mut steps = original.steps.clone();
    steps.swap(position, position + 1);
    vec![renumbered(steps)]
}

/// Shifts each run of a step by one block in both directions.
fn shifted(_: &Case, original: &Schedule, position: usize) -> Vec<Vec<Step>> {
    let runs = original.steps[position].runs();
    let mut mutants = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        for first in [run.first.checked_add(1), run.first.checked_sub(1)].into_iter().flatten() {
            let mut wrong = runs.clone();
            wrong[index].first = first;
            let mut steps = original.steps.clone();
            set_runs(&mut steps[position], &wrong);
            mutants.push(steps);
        }
    }
    mutants
}

/// Exchanges the operands of a reduction, if their order matters.
fn exchanged(case: &Case, original: &Schedule, position: usize) -> Vec<Vec<Step>> {
    let mut steps = original.steps.clone();
    match &mut steps[position] {
        Step::Reduce { left, right, .. } if case.is_ordered() => std::mem::swap(left, right),
        _ => return Vec::new(),
    }
    vec![steps]
}

fn post(step: &Step) -> Option<Post> {
    match step {
        Step::Send { post, .. } | Step::Receive { post, .. } => Some(*post),
        _ => None,
    }
}

/// Numbers the posts in program order, also in waits.
fn renumbered(mut steps: Vec<Step>) -> Vec<Step> {
    let order: Vec<Post> = steps.iter().filter_map(post).collect();
    let number = |old: &mut Post| *old = order.iter().position(|post| post == old).unwrap() as Post;
    for step in &mut steps {
        match step {
            Step::Send { post, .. } | Step::Receive { post, .. } => number(post),
            Step::Wait { posts } => posts.iter_mut().for_each(number),
            _ => {}
        }
    }
    steps
}

/// Replaces the runs of a step, the inverse of [`Step::runs`].
fn set_runs(step: &mut Step, runs: &[Run]) {
    match step {
        Step::Send { message, .. } | Step::Receive { message, .. } => {
            *message = runs.iter().copied().collect::<Message>();
        }
        Step::Wait { .. } | Step::Notify { .. } | Step::Await { .. } => {}
        Step::Copy { source, target } => (*source, *target) = (runs[0], runs[1]),
        Step::Reduce { left, right, target } => (*left, *right, *target) = (runs[0], runs[1], runs[2]),
    }
}

fn source(step: &Step) -> Option<Run> {
    if let Step::Copy { source, .. } = step { Some(*source) } else { None }
}

/// Returns the runs that a step reads, and those that it writes. A wait reads what its sends send, and writes what its
/// receives receive.
fn accesses(steps: &[Step], position: usize) -> (Vec<Run>, Vec<Run>) {
    match &steps[position] {
        Step::Send { message, .. } => (message.runs().collect(), Vec::new()),
        Step::Receive { message, .. } => (Vec::new(), message.runs().collect()),
        Step::Notify { .. } | Step::Await { .. } => (Vec::new(), Vec::new()),
        Step::Wait { posts } => {
            let waited = (0..steps.len())
                .filter(|&other| post(&steps[other]).is_some_and(|post| posts.contains(&post)));
            let (reads, writes): (Vec<_>, Vec<_>) = waited.map(|other| accesses(steps, other)).unzip();
            (reads.concat(), writes.concat())
        }
        Step::Copy { source, target } => (vec![*source], vec![*target]),
        Step::Reduce { left, right, target } if target == left => {
            (vec![*left, *right], vec![*target, *right])
        }
        Step::Reduce { left, right, target } => (vec![*left, *right], vec![*target]),
    }
}

fn overlap(some: &[Run], others: &[Run]) -> bool {
    some.iter().any(|run| others.iter().any(|other| run.overlaps(*other)))
}

/// Whether a step must precede the next one. That is so if one writes what the other accesses, or the second waits for
/// the first. It is also so for different messages of one channel, and for a flag and an access to its slot.
fn depend(steps: &[Step], first: usize, second: usize) -> bool {
    let ((reads, writes), (next_reads, next_writes)) = (accesses(steps, first), accesses(steps, second));
    let conflict =
        overlap(&writes, &next_reads) || overlap(&writes, &next_writes) || overlap(&reads, &next_writes);
    conflict
        || match (&steps[first], &steps[second]) {
            (Step::Send { peer, message, .. }, Step::Send { peer: next_peer, message: next, .. })
            | (Step::Receive { peer, message, .. }, Step::Receive { peer: next_peer, message: next, .. }) => {
                peer == next_peer && message != next
            }
            (step, Step::Wait { posts }) => post(step).is_some_and(|post| posts.contains(&post)),
            (_, Step::Notify { slot }) => writes.iter().any(|run| is_slot(*run, *slot)),
            (Step::Await { rank, slot, .. }, _) => {
                next_reads.iter().any(|run| run.buffer == Shared(*rank) && is_slot(*run, *slot))
            }
            _ => false,
        }
}

fn is_slot(run: Run, slot: u32) -> bool {
    matches!(run.buffer, Shared(_)) && run.indices().contains(&(slot as usize))
}

/// In an alltoall in place, the rank's own block is in its place from the start. If no other step writes that
/// place, the block need not be copied back.
fn restores_own_block(case: &Case, original: &Schedule, position: usize) -> bool {
    let own = Recv.block(original.rank);
    let writes_own = |&other: &usize| overlap(&accesses(&original.steps, other).1, &[own]);
    case.algorithm.contract().cut() == Cut::Pairs
        && case.problem.in_place
        && source(&original.steps[position]).is_some()
        && (0..original.steps.len()).filter(writes_own).eq([position])
}

/// A barrier's token must arrive, but no rank reads it, so its place does not matter.
fn receives_token(case: &Case, step: &Step) -> bool {
    case.algorithm.contract() == Collective::Barrier && matches!(step, Step::Receive { .. })
}

/// Contributions may be combined in any order if the operator commutes, and no other rank needs an identical result.
fn combines_alone(case: &Case, step: &Step) -> bool {
    !case.is_ordered()
        && case.algorithm.contract() != Collective::Allreduce
        && matches!(step, Step::Reduce { .. })
}

/// In a neighbourhood allgather, a neighbour that is a source twice sends equal blocks, so either may be copied.
fn copies_alike(case: &Case, original: &Schedule, position: usize, steps: &[Step]) -> bool {
    let origins = case.problem.graph.origins(original.rank);
    let peer = |step: &Step| match step {
        Step::Copy { source, .. } if source.buffer == Recv => {
            origins[source.first as usize].map(|edge| edge.peer)
        }
        _ => None,
    };
    let [before, after] = [&original.steps[..], steps].map(|steps| peer(&steps[position]));
    case.algorithm.contract() == Collective::NeighborAllgather && before.is_some() && before == after
}

/// In a neighbourhood allgather, a neighbour that is a source twice sends the same block twice.
fn receives_alike(case: &Case, step: &Step) -> bool {
    matches!(case.algorithm.contract(), Collective::NeighborAllgather | Collective::NeighborAllgatherv)
        && matches!(step, Step::Receive { .. })
}

/// Whether the blocks that a step writes are written again before they are read.
fn is_overwritten(steps: &[Step], position: usize) -> bool {
    let (_, written) = accesses(steps, position);
    let mut later = (position + 1..steps.len()).map(|other| accesses(steps, other));
    later
        .find(|(reads, writes)| overlap(reads, &written) || overlap(writes, &written))
        .is_some_and(|(reads, writes)| !overlap(&reads, &written) && overlap(&writes, &written))
}

// Hand-written faults.

/// Returns the programs of all ranks. The same function writes each of them.
fn programs(size: usize, blocks: usize, write: impl Fn(usize, &mut Builder)) -> Vec<Schedule> {
    sharing_programs(size, blocks, 0, write)
}

/// Returns the programs of all ranks, with so many slots each.
fn sharing_programs(
    size: usize,
    blocks: usize,
    slots: usize,
    write: impl Fn(usize, &mut Builder),
) -> Vec<Schedule> {
    let program = |rank| {
        let mut program = Builder::new(rank, size, blocks).slots(slots);
        write(rank, &mut program);
        program.build()
    };
    (0..size).map(program).collect()
}

/// Returns the violation of programs that keep operands in order and have a send buffer.
fn violation(collective: Collective, schedules: &[Schedule]) -> Violation {
    verify_schedules(collective, &Problem::new(schedules.len()), true, schedules).unwrap_err()
}

fn fault(collective: Collective, schedules: &[Schedule]) -> Fault {
    violation(collective, schedules).fault
}

/// Returns the fault of one rank's program for an allreduce of two blocks.
fn fault_alone(steps: Vec<Step>) -> Fault {
    fault(Collective::Allreduce, &[Schedule { steps, ..Schedule::idle(0, 1, 2) }])
}

/// Returns a broadcast of two blocks from rank 0 to rank 1.
fn broadcast() -> Vec<Schedule> {
    programs(2, 2, |rank, program| {
        match rank {
            0 => program.send(1, Recv.blocks(0..2)),
            _ => program.receive(0, Recv.blocks(0..2)),
        };
    })
}

/// Every rank collects the contributions of all ranks in its scratch blocks, and then combines them locally.
fn gather_and_combine(size: usize, combine: impl Fn(usize, &mut Builder)) -> Vec<Schedule> {
    programs(size, 1, |rank, program| {
        for peer in (0..size).filter(|&peer| peer != rank) {
            program.receive(peer, Scratch.block(peer));
            program.send(peer, Send.block(0));
        }
        program.end_round();
        program.copy(Send.block(0), Scratch.block(rank));
        combine(rank, program);
    })
}

/// Combines three gathered contributions in the given order, from the left.
fn combine_from_left(program: &mut Builder, [first, second, third]: [usize; 3]) {
    program.reduce(Scratch.block(first), Scratch.block(second), Recv.block(0));
    program.reduce(Recv.block(0), Scratch.block(third), Recv.block(0));
}

fn combine_from_right(program: &mut Builder, [first, second, third]: [usize; 3]) {
    program.reduce(Scratch.block(second), Scratch.block(third), Recv.block(0));
    program.reduce(Scratch.block(first), Recv.block(0), Recv.block(0));
}

fn send(post: Post, peer: u32, run: Run) -> Step {
    Step::Send { post, peer, message: run.into() }
}

fn receive(post: Post, peer: u32, run: Run) -> Step {
    Step::Receive { post, peer, message: run.into() }
}

fn wait(posts: &[Post]) -> Step {
    Step::Wait { posts: posts.to_vec() }
}

/// Excludes barriers. There a message's time of sending matters, which no block shows.
#[test]
fn overlapped_programs_are_as_right_as_their_originals() {
    let algorithms: Vec<_> =
        REGISTRY.iter().copied().filter(|algorithm| algorithm.contract() != Collective::Barrier).collect();
    let check = |algorithm: &'static Algorithm, problem: &Problem| {
        [1, 4].into_iter().try_for_each(|ahead| {
            let schedules: Vec<Schedule> =
                (0..problem.size).map(|rank| algorithm.program(problem, rank).overlapped(ahead)).collect();
            verify_schedules(algorithm.contract(), problem, algorithm.keeps_order(), &schedules)
                .and_then(|()| verify_lengths(algorithm.requires, &schedules))
                .map_err(|violation| format!("{} {problem:?}, {ahead} ahead: {violation}", algorithm.name))
        })
    };
    let is_selected =
        |problem: &Problem| problem.root <= 1 && [2, 3, 5, problem.size].contains(&problem.radix);
    assert_eq!(check_all(&algorithms, 1..=16, is_selected, check), Ok(()));
}

#[test]
fn correct_programs_pass() {
    verify_schedules(Collective::Bcast, &Problem::new(2), true, &broadcast()).unwrap();
    let sum = gather_and_combine(3, |_, program| combine_from_left(program, [0, 1, 2]));
    verify_schedules(Collective::Allreduce, &Problem::new(3), true, &sum).unwrap();
}

#[test]
fn a_violation_says_where_and_what() {
    let schedules = programs(2, 2, |rank, program| {
        match rank {
            0 => program.send(1, Recv.blocks(0..2)),
            _ => program.receive(0, Recv.block(1)),
        };
    });
    assert_eq!(
        violation(Collective::Bcast, &schedules).to_string(),
        "rank 1, step 0: message of rank 0, step 0: recv[0..2] has 2 blocks, recv[1] has 1"
    );
}

#[test]
fn there_is_one_schedule_for_each_rank() {
    let mut schedules = broadcast();
    let problem = Problem::new(2);
    let short = verify_schedules(Collective::Bcast, &problem, true, &schedules[..1]).unwrap_err();
    assert_eq!(short.fault, Fault::ScheduleCount(1));
    schedules.swap(0, 1);
    assert_eq!(fault(Collective::Bcast, &schedules), Fault::Identity(1, 2));
}

#[test]
fn all_ranks_cut_alike() {
    let mut schedules = broadcast();
    schedules[1].blocks = 3;
    assert_eq!(fault(Collective::Bcast, &schedules), Fault::Blocks(3, 2));
    assert_eq!(fault(Collective::Alltoall, &programs(2, 3, |_, _| ())), Fault::Blocks(3, 2));
    assert_eq!(fault(Collective::Allreduce, &programs(1, 0, |_, _| ())), Fault::Blocks(0, 1));
}

#[test]
fn posts_are_numbered_in_program_order() {
    let mut schedules = broadcast();
    schedules[1].steps = vec![receive(1, 0, Recv.blocks(0..2)), wait(&[1])];
    assert_eq!(fault(Collective::Bcast, &schedules), Fault::PostNumber(1, 0));
}

#[test]
fn posts_are_waited_for_once() {
    let received = receive(0, 0, Recv.blocks(0..2));
    let faulty = |steps: &[Step]| {
        let mut schedules = broadcast();
        schedules[1].steps = steps.to_vec();
        fault(Collective::Bcast, &schedules)
    };
    assert_eq!(faulty(&[received.clone(), wait(&[0, 1])]), Fault::NotPosted(1));
    assert_eq!(faulty(&[wait(&[0]), received.clone()]), Fault::NotPosted(0));
    assert_eq!(faulty(&[received.clone(), wait(&[0]), wait(&[0])]), Fault::WaitedTwice(0));
    assert_eq!(faulty(&[received.clone(), wait(&[0, 0])]), Fault::WaitedTwice(0));
    assert_eq!(faulty(&[received]), Fault::NeverWaited(0));
}

#[test]
fn peers_are_other_ranks() {
    assert_eq!(fault_alone(vec![send(0, 0, Send.block(0)), wait(&[0])]), Fault::Peer(0, 1));
    assert_eq!(fault_alone(vec![receive(0, 1, Recv.block(0)), wait(&[0])]), Fault::Peer(1, 1));
    assert_eq!(Fault::Peer(0, 1).to_string(), "rank 0 cannot be its own peer");
    assert_eq!(Fault::Peer(4, 4).to_string(), "there is no rank 4 among 4 ranks");
}

#[test]
fn the_send_buffer_is_only_read_if_there_is_one() {
    let copy = |source: Run, target: Run| vec![Step::Copy { source, target }];
    let steps = copy(Recv.block(0), Send.block(0));
    assert_eq!(fault_alone(steps), Fault::SendBufferWritten(Send.block(0)));

    let schedules = [Schedule { steps: copy(Send.block(0), Recv.block(0)), ..Schedule::idle(0, 1, 1) }];
    assert_eq!(fault(Collective::Bcast, &schedules), Fault::NoSendBuffer(Send.block(0)));
    let in_place = Problem { in_place: true, ..Problem::new(1) };
    verify_schedules(Collective::Allreduce, &Problem::new(1), true, &schedules).unwrap();
    let violation = verify_schedules(Collective::Allreduce, &in_place, true, &schedules).unwrap_err();
    assert_eq!(violation.fault, Fault::NoSendBuffer(Send.block(0)));
}

#[test]
fn buffers_end() {
    let steps = vec![Step::Copy { source: Send.blocks(1..3), target: Recv.blocks(0..2) }];
    let fault = fault_alone(steps);
    assert_eq!(fault, Fault::OutOfRange(Send.blocks(1..3), 0..2));
    assert_eq!(fault.to_string(), "send[1..3] is out of range: here send has blocks 0 to 1");
    let told = |existing| Fault::OutOfRange(Recv.block(5), existing).to_string();
    assert_eq!(told(2..3), "recv[5] is out of range: here recv has block 2 alone");
    assert_eq!(told(0..0), "recv[5] is out of range: here recv has no blocks");
}

#[test]
fn a_barrier_reads_one_block() {
    let schedules = programs(2, 2, |rank, program| {
        program.exchange((1 - rank, Send.block(rank)), (1 - rank, Scratch.block(0)));
    });
    assert_eq!(fault(Collective::Barrier, &schedules), Fault::OutOfRange(Send.block(1), 0..1));
}

/// To MPI the first rank's receive buffer is not significant, and a call in place does not change it.
#[test]
fn an_exscan_leaves_the_receive_buffer_of_the_first_rank_alone() {
    let schedules = programs(2, 1, |rank, program| match rank {
        0 => {
            program.send(1, Send.block(0));
            program.copy(Send.block(0), Recv.block(0));
        }
        _ => drop(program.receive(0, Recv.block(0))),
    });
    assert_eq!(fault(Collective::Exscan, &schedules), Fault::OutOfRange(Recv.block(0), 0..0));

    let schedules = programs(2, 1, |rank, program| {
        program.exchange((1 - rank, Recv.block(0)), (1 - rank, Scratch.block(0)));
        program.copy(Scratch.block(0), Recv.block(0));
    });
    let in_place = Problem { in_place: true, ..Problem::new(2) };
    let violation = verify_schedules(Collective::Exscan, &in_place, true, &schedules).unwrap_err();
    assert!(matches!(violation, Violation { rank: 0, fault: Fault::Result(..), .. }), "{violation}");
}

#[test]
fn runs_do_not_overlap() {
    let copy = Step::Copy { source: Scratch.blocks(0..3), target: Scratch.blocks(2..5) };
    assert_eq!(fault_alone(vec![copy]), Fault::Overlap(Scratch.blocks(0..3), Scratch.blocks(2..5)));

    let target = Scratch.blocks(0..4);
    let partial = Step::Reduce { left: Scratch.blocks(2..6), right: Scratch.blocks(6..10), target };
    assert_eq!(fault_alone(vec![partial]), Fault::Overlap(Scratch.blocks(2..6), target));
    let equal = Step::Reduce { left: target, right: target, target: Scratch.blocks(4..8) };
    assert_eq!(fault_alone(vec![equal]), Fault::Overlap(target, target));
}

#[test]
fn blocks_move_to_blocks_of_their_size() {
    for (source, target) in [(Send.blocks(0..2), Recv.block(0)), (Send.block(0), Recv.block(1))] {
        let steps = vec![Step::Copy { source, target }];
        assert!(matches!(fault_alone(steps), Fault::Misfit(_)));
        let schedules = programs(2, 2, |rank, program| {
            match rank {
                0 => program.send(1, source),
                _ => program.receive(0, target),
            };
        });
        assert!(matches!(fault(Collective::Allreduce, &schedules), Fault::MessageMisfit(0, 0, _)));
    }
}

#[test]
fn only_reductions_reduce() {
    let schedules =
        programs(1, 1, |_, program| program.reduce(Send.block(0), Scratch.block(0), Recv.block(0)));
    assert_eq!(fault(Collective::Alltoall, &schedules), Fault::NoOperator);
}

#[test]
fn every_post_has_its_other_half() {
    for silent in [0, 1] {
        let mut schedules = broadcast();
        let unmatched = schedules[1 - silent].steps[0].clone();
        schedules[silent].steps.clear();
        assert_eq!(fault(Collective::Bcast, &schedules), Fault::Unmatched(unmatched));
    }
}

/// Both ranks send before they receive. With `waits`, they wait for the send first.
fn send_then_receive(waits: bool) -> Vec<Schedule> {
    programs(2, 2, |rank, program| {
        program.copy(Send.block(rank), Recv.block(rank));
        program.send(1 - rank, Send.block(1 - rank));
        if waits {
            program.end_round();
        }
        program.receive(1 - rank, Recv.block(1 - rank));
    })
}

#[test]
fn sends_may_complete_only_when_received() {
    verify_schedules(Collective::Alltoall, &Problem::new(2), true, &send_then_receive(false)).unwrap();
    assert_eq!(
        violation(Collective::Alltoall, &send_then_receive(true)).to_string(),
        "rank 0, step 2: deadlock; rank 0, step 2 waits for send of send[1] to rank 1 (post 0); \
         rank 1, step 2 waits for send of send[0] to rank 0 (post 0)"
    );
}

#[test]
fn reads_come_after_writes() {
    let copy = Step::Copy { source: Scratch.block(1), target: Recv.block(1) };
    assert_eq!(fault_alone(vec![copy]), Fault::Undefined(Scratch.block(1)));
    assert_eq!(fault_alone(Vec::new()), Fault::Undefined(Recv.block(0)));
}

/// Returns the fault of two ranks that exchange block 0, and do something else during the exchange.
fn fault_during_exchange(meanwhile: impl Fn(&mut Builder)) -> Fault {
    let schedules = programs(2, 1, |rank, program| {
        program.copy(Send.block(0), Recv.block(0));
        program.receive(1 - rank, Scratch.block(0));
        program.send(1 - rank, Recv.block(0));
        meanwhile(program);
        program.end_round();
        program.reduce(Recv.block(0), Scratch.block(0), Recv.block(0));
    });
    fault(Collective::Allreduce, &schedules)
}

#[test]
fn blocks_in_flight_are_left_alone() {
    let (sent, received) = (Recv.block(0), Scratch.block(0));
    let read = fault_during_exchange(|program| program.copy(received, Scratch.block(1)));
    assert_eq!(read, Fault::ReadWhileReceived(received, 0));
    let written = fault_during_exchange(|program| program.copy(Send.block(0), received));
    assert_eq!(written, Fault::WrittenWhileReceived(received, 0));
    let written = fault_during_exchange(|program| program.copy(Send.block(0), sent));
    assert_eq!(written, Fault::WrittenWhileSent(sent));
    // Reading a block that is being sent is allowed. The exchange then ends with operands out of order on rank 1.
    let read = fault_during_exchange(|program| program.copy(sent, Scratch.block(1)));
    assert!(matches!(read, Fault::Order(..)));
}

#[test]
fn outstanding_receives_have_blocks_of_their_own() {
    let twice: Message = [Recv.block(0), Recv.block(0)].into_iter().collect();
    let schedules = programs(2, 1, |rank, program| {
        match rank {
            0 => program.send(1, twice.clone()),
            _ => program.receive(0, twice.clone()),
        };
    });
    assert_eq!(fault(Collective::Bcast, &schedules), Fault::ReceivedTwice(Recv.block(0)));

    let schedules = programs(2, 1, |rank, program| {
        for _ in 0..2 {
            match rank {
                0 => program.send(1, Recv.block(0)),
                _ => program.receive(0, Recv.block(0)),
            };
        }
    });
    assert_eq!(fault(Collective::Bcast, &schedules), Fault::WrittenWhileReceived(Recv.block(0), 0));
}

#[test]
fn contributions_enter_once() {
    let schedules = gather_and_combine(3, |_, program| {
        program.reduce(Scratch.block(0), Scratch.block(1), Recv.block(0));
        program.reduce(Scratch.block(1), Recv.block(0), Recv.block(0));
    });
    assert!(matches!(fault(Collective::Allreduce, &schedules), Fault::CannotCombine(..)));
}

#[test]
fn contributions_are_not_left_out() {
    let schedules = gather_and_combine(3, |_, program| {
        program.reduce(Scratch.block(0), Scratch.block(1), Recv.block(0));
    });
    assert!(matches!(fault(Collective::Allreduce, &schedules), Fault::Result(..)));
}

#[test]
fn blocks_reach_the_right_rank() {
    let schedules = programs(2, 2, |_, program| program.copy(Send.blocks(0..2), Recv.blocks(0..2)));
    let expected = Fault::Result(Buffer::Recv.block(1), "block 1 of 0".into(), "block 0 of 1".into());
    assert_eq!(fault(Collective::Alltoall, &schedules), expected);
}

/// Returns the fault of a registered algorithm on 8 ranks with radix 2, if ranks had to learn lengths first.
fn length_fault(name: &str, in_place: bool, requirement: Requirement) -> Fault {
    let problem = Problem { in_place, radix: 2, ..Problem::new(8) };
    let case = Case::new(Collective::Alltoall.algorithm(name).unwrap(), problem);
    verify_lengths(&[requirement], &case.schedules).unwrap_err().fault
}

#[test]
fn lengths_ask_for_blocks_that_are_written_once() {
    let fault = length_fault("bruck", false, Requirement::BlockLengths);
    assert_eq!(fault, Fault::WrittenTwice(Scratch.block(3)));
    // This algorithm uses receive blocks as intermediate places.
    let fault = length_fault("bruck_modified", false, Requirement::BlockLengths);
    assert!(matches!(fault, Fault::ResultRead(Run { buffer: Recv, .. })));
}

#[test]
fn only_scratch_blocks_are_padded() {
    for in_place in [false, true] {
        let fault = length_fault("bruck_modified", in_place, Requirement::LongestBlock);
        assert!(matches!(fault, Fault::Unpadded(_)));
    }
}

/// Returns a ring of two ranks, where both neighbours are the other rank. Each rank sends its blocks in this order.
fn exchange_on_ring(order: [usize; 2]) -> Vec<Schedule> {
    programs(2, 2, |rank, program| {
        for block in 0..2 {
            program.receive(1 - rank, Recv.block(block));
        }
        for block in order {
            program.send(1 - rank, Send.block(block));
        }
    })
}

/// Returns the fault of programs on a one-dimensional grid.
fn fault_on_grid(periodic: bool, schedules: &[Schedule]) -> Result<(), Fault> {
    let length = schedules.len();
    let problem = Problem { graph: Graph::grid(&[Dimension { length, periodic }]), ..Problem::new(length) };
    let verified = verify_schedules(Collective::NeighborAlltoall, &problem, true, schedules);
    verified.map_err(|violation| violation.fault)
}

#[test]
fn blocks_arrive_from_the_neighbour_for_whom_they_were() {
    assert_eq!(fault_on_grid(true, &exchange_on_ring([1, 0])), Ok(()));
    let expected = Fault::Result(Recv.block(0), "block 0 of 1".into(), "block 1 of 1".into());
    assert_eq!(fault_on_grid(true, &exchange_on_ring([0, 1])), Err(expected));
}

#[test]
fn beyond_a_border_nothing_is_received() {
    let exchange = |rank: usize, program: &mut Builder| {
        program.receive(1 - rank, Recv.block(1 - rank));
        program.send(1 - rank, Send.block(1 - rank));
    };
    assert_eq!(fault_on_grid(false, &programs(2, 2, exchange)), Ok(()));
    let written = programs(2, 2, |rank, program| {
        exchange(rank, program);
        program.copy(Send.block(rank), Recv.block(rank));
    });
    let expected = Fault::Result(Recv.block(0), "block 0 of 0".into(), "nothing".into());
    assert_eq!(fault_on_grid(false, &written), Err(expected));
}

#[test]
fn order_matters_if_the_operator_does_not_commute() {
    let schedules = gather_and_combine(3, |_, program| combine_from_left(program, [0, 2, 1]));
    let order = Fault::Order(Recv.block(0), "block 0 of (0 ⊕ 2) ⊕ 1".into());
    assert_eq!(fault(Collective::Allreduce, &schedules), order);
    verify_schedules(Collective::Allreduce, &Problem::new(3), false, &schedules).unwrap();
}

#[test]
fn all_ranks_round_alike() {
    let schedules = gather_and_combine(3, |rank, program| match rank {
        0 => combine_from_left(program, [0, 1, 2]),
        _ => combine_from_right(program, [0, 1, 2]),
    });
    assert!(matches!(fault(Collective::Allreduce, &schedules), Fault::Association(..)));

    let exchanged = gather_and_combine(3, |rank, program| match rank {
        0 => combine_from_left(program, [0, 1, 2]),
        _ => combine_from_right(program, [2, 1, 0]),
    });
    let violation = verify_schedules(Collective::Allreduce, &Problem::new(3), false, &exchanged).unwrap_err();
    assert!(matches!(violation.fault, Fault::Association(..)));
}

// Two groups.

/// Returns the fault of programs between a group of one rank and a group of two. The root, if any, is rank 0.
fn fault_between(collective: Collective, schedules: &[Schedule]) -> Fault {
    verify_schedules(collective, &Problem::between(1, 2), true, schedules).unwrap_err().fault
}

/// Ranks send their contributions to all ranks of the other group, and combine those that arrive.
fn exchange_and_combine(combine: impl Fn(usize, &mut Builder)) -> Vec<Schedule> {
    programs(3, 1, |rank, program| {
        for other in Problem::between(1, 2).partners(rank) {
            program.receive(other, Scratch.block(other));
            program.send(other, Send.block(0));
        }
        program.end_round();
        combine(rank, program);
    })
}

#[test]
fn a_group_gets_the_result_of_the_other() {
    let combine = |own: bool| {
        exchange_and_combine(move |rank, program| match rank {
            0 => program.reduce(Scratch.block(1), Scratch.block(2), Recv.block(0)),
            1 if own => program.copy(Send.block(0), Recv.block(0)),
            _ => program.copy(Scratch.block(0), Recv.block(0)),
        })
    };
    let problem = Problem::between(1, 2);
    verify_schedules(Collective::Allreduce, &problem, true, &combine(false)).unwrap();
    let expected = Fault::Result(Recv.block(0), "block 0 of 1".into(), "block 0 of ranks 0 to 0".into());
    assert_eq!(fault_between(Collective::Allreduce, &combine(true)), expected);
}

#[test]
fn all_ranks_of_a_group_round_alike() {
    let problem = Problem::between(3, 2);
    let schedules = programs(5, 1, |rank, program| {
        for other in problem.partners(rank) {
            program.receive(other, Scratch.block(other));
            program.send(other, Send.block(0));
        }
        program.end_round();
        match rank {
            0..3 => program.reduce(Scratch.block(3), Scratch.block(4), Recv.block(0)),
            3 => combine_from_left(program, [0, 1, 2]),
            _ => combine_from_right(program, [0, 1, 2]),
        }
    });
    let violation = verify_schedules(Collective::Allreduce, &problem, true, &schedules).unwrap_err();
    assert!(violation.rank == 4 && matches!(violation.fault, Fault::Association(..)));
}

#[test]
fn the_root_s_group_has_no_buffers_but_the_root() {
    let schedules = |with_last: bool| {
        programs(3, 1, |rank, program| match rank {
            0 => drop(program.send(1, Recv.block(0))),
            1 => {
                program.receive(0, Recv.block(0));
                program.end_round();
                program.send(2, Recv.block(0));
            }
            _ if with_last => drop(program.receive(1, Recv.block(0))),
            _ => drop(program.receive(1, Scratch.block(0))),
        })
    };
    verify_schedules(Collective::Bcast, &Problem::between(1, 2), true, &schedules(true)).unwrap();
    assert_eq!(fault_between(Collective::Bcast, &schedules(false)), Fault::Undefined(Recv.block(0)));
    let root_in_larger = Problem { root: 2, ..Problem::between(1, 2) };
    let fault =
        verify_schedules(Collective::Bcast, &root_in_larger, true, &schedules(true)).unwrap_err().fault;
    assert_eq!(fault, Fault::OutOfRange(Recv.block(0), 0..0));
}

#[test]
fn a_barrier_between_groups_waits_for_the_other_group() {
    let schedules = programs(3, 1, |rank, program| match rank {
        0 => program.exchange((1, Send.block(0)), (1, Scratch.block(0))),
        1 => program.exchange((0, Send.block(0)), (0, Scratch.block(0))),
        _ => {}
    });
    assert_eq!(fault_between(Collective::Barrier, &schedules), Fault::Unheard(2));
}

#[test]
fn blocks_of_unknown_lengths_stay_together() {
    let schedules = programs(3, 3, |rank, program| {
        if rank == 0 {
            program.send(1, Send.block(1));
        }
    });
    assert_eq!(fault_between(Collective::ReduceScatter, &schedules), Fault::Parted(Send.block(1)));
}

// Slots that ranks share.

/// Returns a broadcast of one block through a slot.
fn broadcast_through_slot(size: usize) -> Vec<Schedule> {
    sharing_programs(size, 1, 1, |rank, program| match rank {
        0 => program.publish(Recv.block(0), 0),
        _ => {
            let slot = program.await_slot(0, 0);
            program.copy(slot, Recv.block(0));
        }
    })
}

/// Every rank shows its contribution to all others, and combines all contributions locally.
fn allreduce_through_slots(size: usize) -> Vec<Schedule> {
    sharing_programs(size, 1, 1, |rank, program| {
        program.publish(Send.block(0), 0);
        let contribution = |program: &mut Builder, of: usize| match of == rank {
            true => Send.block(0),
            false => program.await_slot(of, 0),
        };
        let mut left = contribution(program, 0);
        for of in 1..size {
            let right = contribution(program, of);
            program.reduce(left, right, Recv.block(0));
            left = Recv.block(0);
        }
    })
}

/// Returns a broadcast of two blocks through one slot. The root writes the slot again after all ranks have read the
/// first block.
fn broadcast_through_slot_twice(size: usize) -> Vec<Schedule> {
    let mut schedules = sharing_programs(size, 2, 1, |rank, program| match rank {
        0 => {
            program.publish(Recv.block(0), 0);
            for reader in 1..size {
                program.await_slot(reader, 0);
            }
            program.publish(Recv.block(1), 0);
        }
        _ => {
            let slot = program.await_slot(0, 0);
            program.copy(slot, Recv.block(0));
            program.notify(0);
            let slot = program.await_slot(0, 0);
            program.copy(slot, Recv.block(1));
        }
    });
    for reader in &mut schedules[1..] {
        let Step::Await { times, .. } = &mut reader.steps[3] else { unreachable!("the second await") };
        *times = 2;
    }
    schedules
}

/// Ranks report to rank 0, which then releases all.
fn barrier_of_flags(size: usize) -> Vec<Schedule> {
    sharing_programs(size, 1, 1, |rank, program| match rank {
        0 => {
            for other in 1..size {
                program.await_slot(other, 0);
            }
            program.notify(0);
        }
        _ => {
            program.notify(0);
            program.await_slot(0, 0);
        }
    })
}

fn sharing_cases() -> Vec<(Collective, Vec<Schedule>)> {
    let of_size = |size| {
        [
            (Collective::Bcast, broadcast_through_slot(size)),
            (Collective::Bcast, broadcast_through_slot_twice(size)),
            (Collective::Allreduce, allreduce_through_slots(size)),
            (Collective::Barrier, barrier_of_flags(size)),
        ]
    };
    [2, 3, 4].into_iter().flat_map(of_size).collect()
}

#[test]
fn correct_programs_with_slots_pass() {
    for (collective, schedules) in sharing_cases() {
        verify_schedules(collective, &Problem::new(schedules.len()), true, &schedules).unwrap();
    }
}

#[test]
fn a_flag_that_is_not_raised_or_not_awaited_is_caught() {
    let mut caught = 0;
    for (collective, mut schedules) in sharing_cases() {
        without_each(&mut schedules, Step::is_of_flags, |schedules, _, _| {
            fault(collective, schedules);
            caught += 1;
            Ok::<(), ()>(())
        })
        .unwrap();
    }
    assert!(caught > 50);
}

/// What a flag announces must precede its notification. What needs the flag must follow the await.
#[test]
fn accesses_on_the_wrong_side_of_a_flag_are_caught() {
    let mut caught = 0;
    for (collective, original) in sharing_cases() {
        for rank in 0..original.len() {
            for first in 1..original[rank].steps.len() {
                let mut schedules = original.clone();
                let steps = &mut schedules[rank].steps;
                steps.swap(first - 1, first);
                if steps[first - 1].is_of_flags() != steps[first].is_of_flags()
                    && (matches!(steps[first - 1], Step::Notify { .. })
                        || matches!(steps[first], Step::Await { .. }))
                {
                    fault(collective, &schedules);
                    caught += 1;
                }
            }
        }
    }
    assert!(caught > 50);
}

#[test]
fn a_flag_that_is_awaited_too_few_times_is_caught() {
    let mut schedules = broadcast_through_slot_twice(3);
    schedules[2].steps[3] = Step::Await { rank: 0, slot: 0, times: 1 };
    assert!(matches!(fault(Collective::Bcast, &schedules), Fault::SlotMisfit(..)));
}

#[test]
fn slots_that_lie_together_hold_the_blocks_whose_numbers_they_bear() {
    let joined = |slots: [usize; 2]| {
        let mut schedules = sharing_programs(2, 2, 2, |rank, program| match rank {
            0 => program.publish(Recv.blocks(0..2), 0),
            _ => {
                program.await_slot(0, 0);
                for (block, slot) in slots.into_iter().enumerate() {
                    program.copy(Shared(0).block(slot), Recv.block(block));
                }
            }
        });
        schedules.iter_mut().for_each(|schedule| schedule.slot_kind = SlotKind::Together);
        schedules
    };
    let verified =
        |schedules: &[Schedule]| verify_schedules(Collective::Bcast, &Problem::new(2), true, schedules);
    assert_eq!(verified(&joined([0, 1])), Ok(()));
    assert!(matches!(fault(Collective::Bcast, &joined([1, 0])), Fault::Misfit(..)));
    let mut schedules = joined([0, 1]);
    schedules[1].slot_kind = SlotKind::Apart;
    assert_eq!(fault(Collective::Bcast, &schedules).to_string(), "2 slots instead of 2 slots together");
}

#[test]
fn what_lies_in_the_memory_of_another_rank_is_copied_and_not_reduced() {
    let mut schedules = sharing_programs(2, 1, 1, |rank, program| match rank {
        0 => {
            program.publish(Send.block(0), 0);
            program.copy(Send.block(0), Recv.block(0));
        }
        _ => {
            let slot = program.await_slot(0, 0);
            program.reduce(slot, Send.block(0), Recv.block(0));
        }
    });
    let scan = |schedules: &[Schedule]| verify_schedules(Collective::Scan, &Problem::new(2), true, schedules);
    assert_eq!(scan(&schedules), Ok(()));
    schedules.iter_mut().for_each(|schedule| schedule.slot_kind = SlotKind::Lent);
    assert_eq!(scan(&schedules).unwrap_err().fault, Fault::LentReduced(Shared(0).block(0)));
}

#[test]
fn a_slot_is_read_after_it_was_written() {
    let mut schedules = broadcast_through_slot(2);
    schedules[1].steps.remove(0);
    assert_eq!(
        violation(Collective::Bcast, &schedules).to_string(),
        "rank 1, step 0: shared0[0] is read, but perhaps not after rank 0, step 0 writes it"
    );
}

#[test]
fn a_slot_is_written_again_after_it_was_read_by_all() {
    let mut schedules = broadcast_through_slot_twice(3);
    schedules[0].steps.remove(3);
    assert_eq!(
        violation(Collective::Bcast, &schedules).to_string(),
        "rank 0, step 3: shared0[0] is written, but perhaps not after rank 2, step 1 reads it"
    );
}

#[test]
fn what_no_one_reads_again_may_be_overwritten() {
    let schedules = sharing_programs(2, 1, 1, |rank, program| match rank {
        0 => {
            program.copy(Recv.block(0), Shared(0).block(0));
            program.publish(Recv.block(0), 0);
        }
        _ => {
            let slot = program.await_slot(0, 0);
            program.copy(slot, Recv.block(0));
        }
    });
    verify_schedules(Collective::Bcast, &Problem::new(2), true, &schedules).unwrap();
}

/// Returns an allgather of two ranks: a message brings rank 1's block, and a slot rank 0's. With `answers`, a
/// message from rank 0 says that the slot was written.
fn allgather_through_slot(answers: bool) -> Vec<Schedule> {
    sharing_programs(2, 2, 1, |rank, program| match rank {
        0 => {
            program.copy(Send.block(0), Shared(0).block(0));
            program.copy(Send.block(0), Recv.block(0));
            program.receive(1, Recv.block(1));
            if answers {
                program.send(1, Send.block(0));
            }
        }
        _ => {
            program.copy(Send.block(1), Recv.block(1));
            program.send(0, Send.block(1));
            if answers {
                program.receive(0, Scratch.block(0));
            }
            program.end_round();
            program.copy(Shared(0).block(0), Recv.block(0));
        }
    })
}

/// A message whose blocks are empty is left out, so it does not tell its receiver what its sender knew.
#[test]
fn only_flags_order_what_ranks_do_in_slots() {
    for answers in [true, false] {
        let fault = fault(Collective::Allgather, &allgather_through_slot(answers));
        assert_eq!(fault, Fault::UnorderedRead(Shared(0).block(0), 0, 0));
    }
}

#[test]
fn who_awaits_a_flag_has_heard_of_what_its_owner_had_heard() {
    let mut schedules = barrier_of_flags(3);
    schedules[0].steps.swap(1, 2);
    assert_eq!(fault(Collective::Barrier, &schedules), Fault::Unheard(2));
}

#[test]
fn awaits_that_are_never_met_are_in_the_report_of_a_deadlock() {
    let mut schedules = broadcast_through_slot(3);
    schedules[0].steps.clear();
    assert_eq!(
        violation(Collective::Bcast, &schedules).to_string(),
        "rank 1, step 0: deadlock; rank 1, step 0 waits for the flag of slot 0 of rank 0, raised 1 times; \
         rank 2, step 0 waits for the flag of slot 0 of rank 0, raised 1 times"
    );
}

#[test]
fn all_ranks_have_as_many_slots() {
    let mut schedules = broadcast_through_slot(2);
    schedules[1].slots = 2;
    let apart = |slots| (slots, SlotKind::Apart);
    assert_eq!(fault(Collective::Bcast, &schedules), Fault::Slots(apart(2), apart(1)));
}

/// Returns the fault if one of two ranks does something else instead of its part of a broadcast through a slot.
fn fault_with_slot(rank: usize, steps: Vec<Step>) -> Fault {
    let mut schedules = broadcast_through_slot(2);
    schedules[rank].steps = steps;
    fault(Collective::Bcast, &schedules)
}

#[test]
fn slots_and_flags_are_those_that_there_are() {
    let awaiting = |rank, slot, times| fault_with_slot(1, vec![Step::Await { rank, slot, times }]);
    assert_eq!(awaiting(1, 0, 1), Fault::Peer(1, 2));
    assert_eq!(awaiting(2, 0, 1), Fault::Peer(2, 2));
    assert_eq!(awaiting(0, 1, 1), Fault::NoSlot(1, 1));
    assert_eq!(awaiting(0, 0, 0), Fault::Times(0));
    assert_eq!(awaiting(0, 0, MOST_TIMES + 1), Fault::Times(MOST_TIMES + 1));
    assert_eq!(fault_with_slot(0, vec![Step::Notify { slot: 1 }]), Fault::NoSlot(1, 1));
    let often = vec![Step::Notify { slot: 0 }; MOST_TIMES as usize + 1];
    assert_eq!(fault_with_slot(0, often), Fault::Times(MOST_TIMES + 1));
    let reading = |source: Run| fault_with_slot(1, vec![Step::Copy { source, target: Recv.block(0) }]);
    assert_eq!(reading(Shared(0).block(1)), Fault::OutOfRange(Shared(0).block(1), 0..1));
    assert_eq!(reading(Shared(2).block(0)), Fault::Peer(2, 2));
}

#[test]
fn only_its_owner_writes_a_slot() {
    let copy = Step::Copy { source: Recv.block(0), target: Shared(0).block(0) };
    assert_eq!(fault_with_slot(1, vec![copy]), Fault::NotOwner(Shared(0).block(0)));
}

#[test]
fn slots_are_neither_sent_nor_copied_to_slots() {
    let slot = Shared(0).block(0);
    assert_eq!(fault_with_slot(0, vec![send(0, 1, slot), wait(&[0])]), Fault::SlotInMessage(slot));
    assert_eq!(fault_with_slot(0, vec![receive(0, 1, slot), wait(&[0])]), Fault::SlotInMessage(slot));
    let copy = Step::Copy { source: slot, target: Shared(1).block(0) };
    assert_eq!(fault_with_slot(1, vec![copy]), Fault::OnlySlots(slot));
}

#[test]
fn what_a_slot_holds_fits_where_it_goes() {
    let wrong = |slots, read: Run, target: Run| {
        let schedules = sharing_programs(2, 2, slots, |rank, program| match rank {
            0 => program.publish(Recv.block(0), 0),
            _ => {
                program.await_slot(0, 0);
                program.copy(read, target);
            }
        });
        fault(Collective::Bcast, &schedules)
    };
    assert_eq!(
        wrong(1, Shared(0).block(0), Recv.block(1)).to_string(),
        "shared0[0] does not fit: the blocks recv[0] and recv[1] differ in size"
    );
    assert!(matches!(wrong(2, Shared(0).blocks(0..2), Recv.block(1)), Fault::Misfit(_)));
    let operands = programs(1, 2, |_, program| {
        program.reduce(Send.block(0), Recv.block(1), Scratch.block(0));
    });
    assert!(matches!(fault(Collective::Allreduce, &operands), Fault::Misfit(_)));
}

#[test]
fn slots_are_seen_on_their_node_only() {
    let problem = Problem { nodes: [0, 0, 1].into(), ..Problem::new(3) };
    let of = |schedules: &[Schedule]| {
        verify_schedules(Collective::Bcast, &problem, true, schedules).unwrap_err().fault
    };
    let mut schedules = broadcast_through_slot(3);
    assert_eq!(of(&schedules), Fault::OtherNode(0));
    schedules[2].steps.remove(0);
    assert_eq!(of(&schedules), Fault::OtherNode(0));
    let together = Problem { nodes: [1, 1, 1].into(), ..Problem::new(3) };
    verify_schedules(Collective::Bcast, &together, true, &broadcast_through_slot(3)).unwrap();
}

#[test]
fn neither_two_groups_nor_unknown_lengths_go_with_slots() {
    let problem = Problem::between(1, 1);
    let fault = verify_schedules(Collective::Bcast, &problem, true, &broadcast_through_slot(2)).unwrap_err();
    assert_eq!(fault.fault, Fault::SlotsOfTwoGroups);
    let fault = verify_lengths(&[Requirement::BlockLengths], &broadcast_through_slot(2)).unwrap_err();
    assert_eq!(fault.fault, Fault::SlotsOfUnknownLengths);
    verify_lengths(&[Requirement::LongestBlock], &broadcast_through_slot(2)).unwrap();
}

/// Operators have two functions: one overwrites an operand with the result, the other has a separate target.
#[test]
fn all_ranks_combine_by_the_same_function() {
    let mut schedules = allreduce_through_slots(2);
    let slot = Shared(1).block(0);
    schedules[0].steps.pop();
    schedules[0].steps.extend([
        Step::Copy { source: slot, target: Recv.block(0) },
        Step::Reduce { left: Send.block(0), right: Recv.block(0), target: Recv.block(0) },
    ]);
    assert!(matches!(fault(Collective::Allreduce, &schedules), Fault::Association(..)));
}

#[test]
fn every_time_of_a_loop_is_verified() {
    let ring = Collective::Allgather.algorithm("ring").unwrap();
    let problem = Problem::new(7);
    let mut schedules: Vec<Schedule> = (0..7).map(|rank| ring.schedule(&problem, rank)).collect();
    assert!(schedules.iter().all(|schedule| schedule.repeats.len() == 1));
    assert_eq!(verify_schedules(Collective::Allgather, &problem, false, &schedules), Ok(()));
    assert_eq!(Cost::count(&schedules), Cost::count(&ring.programs(&problem)));
    schedules.iter_mut().for_each(|schedule| schedule.repeats[0].times -= 1);
    let fault = verify_schedules(Collective::Allgather, &problem, false, &schedules).unwrap_err().fault;
    assert!(matches!(fault, Fault::Undefined(run) if run.buffer == Recv), "{fault:?}");
}

#[test]
fn the_first_time_of_a_loop_is_verified_as_it_is_written() {
    let text = "rank 0 of 2, 1 blocks\nrepeat 2 times\n0: send to 3 from recv[0]\nwait 0\nend\n";
    let mut schedules = broadcast();
    schedules.iter_mut().for_each(|schedule| schedule.blocks = 1);
    schedules[0] = text.parse().unwrap();
    assert_eq!(fault(Collective::Bcast, &schedules), Fault::Peer(3, 2));
}
