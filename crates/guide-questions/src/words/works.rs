//! What ranks do on their own: copies, reductions, flags.

use super::Explained;
use super::numbers::{count, counts, listed};
use super::scene::{Scene, buffer, buffer_of_several};
use crate::trace::Sentence;
use rustcoll::algorithms::Collective;
use rustcoll::schedule::{Buffer, Run, Step};
use rustcoll::trace::{BlockAddress, Travel};

/// An activity of ranks, and the words for it.
struct Deed {
    /// The verb for one rank and for several.
    verb: [&'static str; 2],
    /// The noun of what is counted.
    what: &'static str,
    /// The end of the sentence, for one rank and for several.
    rest: [&'static str; 2],
    /// Whether a step of this rank is this activity.
    is_meant: fn(usize, &Step) -> bool,
}

const SHOW: Deed = Deed {
    verb: ["writes", "write"],
    what: "block",
    rest: [" into its own slots, where the node can read", " into their own slots, where the node can read"],
    is_meant: |rank, step| matches!(step, Step::Copy { target, .. } if is_slot_of(*target, rank)),
};
const LEND: Deed = Deed {
    verb: ["lends", "lend"],
    rest: [", for others to copy from its memory", ", for others to copy from their memory"],
    ..SHOW
};
const RAISE: Deed = Deed {
    verb: ["raises", "raise"],
    what: "flag",
    rest: [" for what others may now read"; 2],
    is_meant: |_, step| matches!(step, Step::Notify { .. }),
};
const SEE: Deed = Deed {
    verb: ["sees", "see"],
    what: "flag",
    rest: [" that others have raised"; 2],
    is_meant: |_, step| matches!(step, Step::Await { .. }),
};
const READ: Deed = Deed {
    verb: ["copies", "copy"],
    what: "block",
    rest: [" out of slots of others"; 2],
    is_meant: |rank, step| {
        matches!(step, Step::Copy { source, target }
            if is_slot_of_other(*source, rank) && !is_slot_of(*target, rank))
    },
};
const READ_LENT: Deed = Deed { rest: [" from the memory of others"; 2], ..READ };
const REDUCE: Deed = Deed {
    verb: ["reduces", "reduce"],
    what: "block",
    rest: [""; 2],
    is_meant: |_, step| matches!(step, Step::Reduce { .. }),
};
const COPY: Deed = Deed {
    verb: ["copies", "copy"],
    what: "block",
    rest: [""; 2],
    is_meant: |rank, step| {
        matches!(step, Step::Copy { source, target }
            if !is_slot_of_other(*source, rank) && !is_slot_of(*target, rank))
    },
};

/// Explains a step from its works alone.
pub fn explain(scene: &Scene) -> Explained {
    let acts = scene.acts();
    let is_barrier = scene.collective() == Collective::Barrier;
    let raise = if is_barrier { Deed { rest: [""; 2], ..RAISE } } else { RAISE };
    let [show, read] = if scene.lends() { [LEND, READ_LENT] } else { [SHOW, READ] };
    let [shown, raised, seen, read] = [show, raise, SEE, read].map(|deed| said(scene, &acts, &deed, [""; 2]));
    let (reduced, copied) = (said(scene, &acts, &REDUCE, [""; 2]), copies(scene, &acts));
    let is_shared = acts.iter().any(|(_, step)| is_shared(step));
    let title = match (is_shared, reduced.is_some(), copied.is_some()) {
        (true, false, _) => "Shared memory",
        (true, true, _) => "Reduction in shared memory",
        (false, true, false) => "Reduction",
        (false, true, true) => "Reduction and copies",
        (false, false, _) => "Copies",
    };
    let sample = acts.iter().find_map(|&(rank, step)| reduction(scene, rank, step));
    let sentences = [shown, raised, seen, read, reduced, sample, copied].into_iter().flatten().collect();
    Explained { title: title.into(), sentences }
}

/// Whether a step uses the memory that a node shares.
fn is_shared(step: &Step) -> bool {
    let is_slot = |run: &Run| matches!(run.buffer, Buffer::Shared(_));
    matches!(step, Step::Notify { .. } | Step::Await { .. }) || step.runs().iter().any(is_slot)
}

fn is_slot_of(run: Run, rank: usize) -> bool {
    run.buffer == Buffer::of_rank(rank)
}

fn is_slot_of_other(run: Run, rank: usize) -> bool {
    matches!(run.buffer, Buffer::Shared(_)) && !is_slot_of(run, rank)
}

/// Returns a sentence such as `Ranks 0–2 copy 4 blocks each`; none if no rank has this activity.
fn said(scene: &Scene, acts: &[(usize, &Step)], deed: &Deed, also: [&str; 2]) -> Option<Sentence> {
    let (ranks, amounts): (Vec<usize>, Vec<usize>) = amounts(acts, deed).into_iter().unzip();
    let ([one, several], amount) =
        (deed.verb, counts(amounts.get(..).filter(|all| !all.is_empty())?, deed.what));
    let [rest_of_one, rest_of_several] =
        [0, 1].map(|number| format!("{}{}", deed.rest[number], also[number]));
    Some(Sentence::plain(match &ranks[..] {
        [rank] => format!("Rank {rank} {one} {amount}{rest_of_one}."),
        all if all.len() == scene.size() => format!("Every rank {one} {amount}{rest_of_one}."),
        some => format!("Ranks {} {several} {amount} each{rest_of_several}.", listed(some)),
    }))
}

/// Returns the number of blocks or flags of each rank that has this activity.
fn amounts(acts: &[(usize, &Step)], deed: &Deed) -> Vec<(usize, usize)> {
    let mut amounts: Vec<(usize, usize)> = Vec::new();
    for (rank, step) in acts.iter().filter(|(rank, step)| (deed.is_meant)(*rank, step)) {
        let amount = step.runs().last().map_or(1, |target| target.count as usize);
        match amounts.iter_mut().find(|(known, _)| known == rank) {
            Some((_, sum)) => *sum += amount,
            None => amounts.push((*rank, amount)),
        }
    }
    amounts
}

/// Describes copies within a rank. Names the buffers, if they are the same for all copies.
fn copies(scene: &Scene, acts: &[(usize, &Step)]) -> Option<Sentence> {
    let way = |(rank, step): &(usize, &Step)| match step {
        Step::Copy { source, target } if (COPY.is_meant)(*rank, step) => Some((source.buffer, target.buffer)),
        _ => None,
    };
    let ways: Vec<(Buffer, Buffer)> = acts.iter().filter_map(way).collect();
    let first = ways.first().filter(|first| ways.iter().all(|way| way == *first));
    let text = |name: fn(Buffer) -> &'static str| {
        first.map_or(String::new(), |&(from, to)| format!(" from {} to {}", name(from), name(to)))
    };
    let texts = [text(buffer), text(buffer_of_several)];
    said(scene, acts, &COPY, texts.each_ref().map(String::as_str))
}

/// Describes a reduction and its operands.
fn reduction(scene: &Scene, rank: usize, step: &Step) -> Option<Sentence> {
    let Step::Reduce { left, right, target } = step else { return None };
    let sender = scene.earlier().rev().find(|travels| !travels.is_empty()).and_then(|travels| {
        let brought = |travel: &&Travel| {
            travel.target == rank && travel.into.runs().any(|run| run.overlaps(*left) || run.overlaps(*right))
        };
        travels.iter().find(brought).map(|travel| travel.source)
    });
    let owner = if let Buffer::Shared(owner) = target.buffer { owner as usize } else { rank };
    let place = BlockAddress { rank: owner, buffer: target.buffer, block: target.first as usize };
    let value = scene.written(place)?;
    let text = match sender {
        Some(sender) => format!("Rank {rank} combines what rank {sender} sent with what it has."),
        None => {
            let contributors = scene.trace.values.contributors(value).len();
            format!("Rank {rank} combines what {} have contributed.", count(contributors, "rank"))
        }
    };
    Some(Sentence::with(text, scene.trace.values.text(value)))
}

#[cfg(test)]
mod tests {
    use super::super::families::testing::step;
    use super::*;
    use rustcoll::algorithms::Problem;

    #[test]
    fn who_reads_a_slot_has_to_do_with_shared_memory() {
        let [slot, scratch, recv] =
            [Buffer::of_rank(1), Buffer::Scratch, Buffer::Recv].map(|buffer| buffer.blocks(0..1));
        assert!(is_shared(&Step::Copy { source: slot, target: recv }));
        assert!(!is_shared(&Step::Copy { source: scratch, target: recv }));
    }

    #[test]
    fn who_lends_does_not_write_slots() {
        let said = |number| step(Collective::Bcast, "single_copy", &Problem::new(3), number).join(" ");
        let all = [0, 1].map(said).join(" ");
        assert!(all.contains("Rank 0 lends 1 block, for others to copy from its memory."), "{all}");
        assert!(all.contains("copy 1 block each from the memory of others."), "{all}");
    }
}
