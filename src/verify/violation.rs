//! What can be wrong with a set of schedules.

use crate::algorithms::Collective;
use crate::schedule::{MOST_TIMES, Message, Post, Run, SlotKind, Step};
use std::fmt;
use std::ops::Range;

/// A proof that a set of schedules is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rank whose program is at fault.
    pub rank: usize,
    /// Position of the faulty step in its program; `None` if the program as a whole is at fault.
    pub step: Option<usize>,
    pub fault: Fault,
}

/// A fault of one program, or of several together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There are so many schedules instead of one for each rank.
    ScheduleCount(usize),
    /// The header of a schedule has this rank and this number of ranks, which are wrong.
    Identity(usize, usize),
    /// The number of blocks of the buffers: found, expected.
    Blocks(usize, usize),
    /// The number of slots of each rank and their kind: found, expected.
    Slots((usize, SlotKind), (usize, SlotKind)),
    /// The number of slots of each rank, and the most that the engine has for so many ranks.
    TooManySlots(usize, usize),
    /// Slots in an inter-communicator, whose two groups share no memory.
    SlotsOfTwoGroups,
    /// Slots in a program whose ranks learn lengths of blocks first.
    SlotsOfUnknownLengths,
    /// Scratch blocks or slots, in a collective in which each rank knows only the lengths of its own blocks.
    OnlyOwnLengths(Collective),
    /// A block takes another way than from its sender to its receiver, in a collective in which only these know its length.
    ByAnotherWay(Collective),
    /// There is no slot of this number; there are so many.
    NoSlot(u32, usize),
    /// The rank is on another node, so its slots are not visible.
    OtherNode(usize),
    /// A flag cannot be raised or awaited so many times.
    Times(u32),
    /// Slots cannot be sent or received.
    SlotInMessage(Run),
    /// What lies in the memory of another rank can be copied, but not reduced.
    LentReduced(Run),
    /// A step has slots only, so nothing tells how long they are.
    OnlySlots(Run),
    /// The slots of another rank must not be written.
    NotOwner(Run),
    /// What a slot holds does not fit.
    SlotMisfit(Run, Misfit),
    /// A slot is read that this rank writes in this step, but nothing orders the write before the read.
    UnorderedRead(Run, usize, usize),
    /// A slot is written that this rank reads in this step, but nothing orders the read before the write.
    UnorderedWrite(Run, usize, usize),
    /// The number of a post: found, expected.
    PostNumber(Post, Post),
    /// This rank cannot be a peer; there are so many ranks.
    Peer(u32, usize),
    /// A wait for a post that is not yet posted.
    NotPosted(Post),
    /// A second wait for the same post.
    WaitedTwice(Post),
    /// No step waits for this post.
    NeverWaited(Post),
    /// There is no send buffer.
    NoSendBuffer(Run),
    /// The send buffer must not be written.
    SendBufferWritten(Run),
    /// These blocks do not exist; those of the range do.
    OutOfRange(Run, Range<usize>),
    /// A rank knows the length of these blocks only together with others.
    Parted(Run),
    /// These runs must not overlap.
    Overlap(Run, Run),
    /// Source and target of a copy, or operand and target of a reduction, do not fit.
    Misfit(Misfit),
    /// The message that this rank sends in this step does not fit its receive.
    MessageMisfit(usize, usize, Misfit),
    /// A reduction in a collective that has no operator.
    NoOperator,
    /// The peer does not post the other half of this send or receive.
    Unmatched(Step),
    /// These ranks wait, in these steps, for these posts or flags, none of which will complete or be raised.
    Deadlock(Vec<(usize, usize, Vec<Step>)>),
    /// A block is read that was never written.
    Undefined(Run),
    /// A block is read while it is received.
    ReadWhileReceived(Run, Post),
    /// A block is written while it is received.
    WrittenWhileReceived(Run, Post),
    /// A block is written while it is sent.
    WrittenWhileSent(Run),
    /// One receive has the same block twice.
    ReceivedTwice(Run),
    /// A block is written a second time, so that its length may change.
    WrittenTwice(Run),
    /// A block of the receive buffer is read after it was written, although it may not hold all of the data.
    ResultRead(Run),
    /// A message holds these blocks, which are not padded.
    Unpadded(Run),
    /// A rank leaves the barrier without having heard of this rank.
    Unheard(usize),
    /// The left and the right operand have a contribution in common, or are of different blocks.
    CannotCombine(Run, String, String),
    /// What a block holds at the end: found, expected.
    Result(Run, String, String),
    /// At the end a block holds contributions combined in another order than that of the ranks.
    Order(Run, String),
    /// What a block holds at the end, and what it holds on the first rank of the group. The expressions
    /// differ, so rounding may give different results.
    Association(Run, String, String),
}

/// Blocks that cannot be moved to other blocks one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    pub source: Message,
    pub target: Message,
}

impl Violation {
    /// For `map_err`: locates a fault in a step.
    pub(super) fn at(rank: usize, step: usize) -> impl Fn(Fault) -> Violation {
        move |fault| Violation { rank, step: Some(step), fault }
    }

    /// Returns the deadlock of ranks that wait so; `None` if none waits.
    pub(crate) fn deadlock(waiting: Vec<(usize, usize, Vec<Step>)>) -> Option<Violation> {
        let &(rank, step, _) = waiting.first()?;
        Some(Violation::at(rank, step)(Fault::Deadlock(waiting)))
    }

    /// For `map_err`: locates a fault in a program as a whole.
    pub(super) fn of(rank: usize) -> impl Fn(Fault) -> Violation {
        move |fault| Violation { rank, step: None, fault }
    }
}

impl std::error::Error for Violation {}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self.step {
            Some(step) => write!(formatter, "rank {}, step {step}: {}", self.rank, self.fault),
            None => write!(formatter, "rank {}: {}", self.rank, self.fault),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Fault::ScheduleCount(count) => write!(formatter, "there are {count} schedules"),
            Fault::Identity(rank, size) => write!(formatter, "the schedule is that of rank {rank} of {size}"),
            Fault::Blocks(found, expected) => write!(formatter, "{found} blocks instead of {expected}"),
            Fault::Slots((found, kind), (expected, expected_kind)) => {
                write!(formatter, "{} instead of {}", kind.slots(*found), expected_kind.slots(*expected))
            }
            Fault::TooManySlots(found, most) => {
                write!(formatter, "{found} slots, but on so many ranks each has at most {most}")
            }
            Fault::SlotsOfTwoGroups => write!(formatter, "slots between two groups"),
            Fault::SlotsOfUnknownLengths => {
                write!(formatter, "slots, although lengths of blocks have to be learned first")
            }
            Fault::OnlyOwnLengths(collective) => {
                let collective = collective.name();
                write!(
                    formatter,
                    "this program has scratch blocks or slots, but in {collective} ranks know only how long their own blocks are"
                )
            }
            Fault::ByAnotherWay(collective) => {
                let collective = collective.name();
                write!(
                    formatter,
                    "this program moves a block by way of a third rank or of another block's place, but in {collective} only its \
                     sender and its receiver know how long it is"
                )
            }
            Fault::NoSlot(slot, slots) => write!(formatter, "slot {slot} is none of {slots}"),
            Fault::OtherNode(rank) => {
                write!(formatter, "rank {rank} is on another node: its slots are not seen")
            }
            Fault::Times(times) => {
                write!(formatter, "a flag is raised and awaited from 1 to {MOST_TIMES} times, not {times}")
            }
            Fault::SlotInMessage(run) => write!(formatter, "{run}: slots cannot be sent or received"),
            Fault::LentReduced(run) => {
                write!(formatter, "{run}: slots tell where blocks lie, which can be copied, but not reduced")
            }
            Fault::OnlySlots(run) => {
                write!(formatter, "nothing tells how long {run} is: it meets slots only")
            }
            Fault::NotOwner(run) => write!(formatter, "{run} must not be written but by its owner"),
            Fault::SlotMisfit(run, misfit) => write!(formatter, "{run} does not fit: {misfit}"),
            Fault::UnorderedRead(run, rank, step) => {
                write!(formatter, "{run} is read, but perhaps not after rank {rank}, step {step} writes it")
            }
            Fault::UnorderedWrite(run, rank, step) => {
                write!(formatter, "{run} is written, but perhaps not after rank {rank}, step {step} reads it")
            }
            Fault::PostNumber(found, expected) => {
                write!(formatter, "post {found} should have the number {expected}")
            }
            Fault::Peer(peer, size) if (*peer as usize) < *size => {
                write!(formatter, "rank {peer} cannot be its own peer")
            }
            Fault::Peer(peer, size) => write!(formatter, "there is no rank {peer} among {size} ranks"),
            Fault::NotPosted(post) => write!(formatter, "wait for post {post}, which is not posted"),
            Fault::WaitedTwice(post) => write!(formatter, "second wait for post {post}"),
            Fault::NeverWaited(post) => write!(formatter, "post {post} is never waited for"),
            Fault::NoSendBuffer(run) => write!(formatter, "{run}: there is no send buffer"),
            Fault::SendBufferWritten(run) => write!(formatter, "{run} must not be written"),
            Fault::OutOfRange(run, existing) => {
                write!(formatter, "{run} is out of range: here {} has ", run.buffer)?;
                write_blocks(formatter, existing)
            }
            Fault::Parted(run) => {
                write!(formatter, "{run} is part of blocks whose lengths are not known one by one")
            }
            Fault::Overlap(first, second) => write!(formatter, "{first} overlaps {second}"),
            Fault::Misfit(misfit) => misfit.fmt(formatter),
            Fault::MessageMisfit(rank, step, misfit) => {
                write!(formatter, "message of rank {rank}, step {step}: {misfit}")
            }
            Fault::NoOperator => write!(formatter, "reduction in a collective without an operator"),
            Fault::Unmatched(step) => write!(formatter, "unmatched {}", Posted(step)),
            Fault::Deadlock(waiting) => write_deadlock(formatter, waiting),
            Fault::Undefined(run) => write!(formatter, "{run} is read but holds nothing defined"),
            Fault::ReadWhileReceived(run, post) => {
                write!(formatter, "{run} is read while post {post} receives it")
            }
            Fault::WrittenWhileReceived(run, post) => {
                write!(formatter, "{run} is written while post {post} receives it")
            }
            Fault::WrittenWhileSent(run) => write!(formatter, "{run} is written while it is sent"),
            Fault::ReceivedTwice(run) => write!(formatter, "{run} stands twice in one receive"),
            Fault::WrittenTwice(run) => write!(formatter, "{run} is written twice: it may differ in length"),
            Fault::ResultRead(run) => write!(formatter, "{run} is read after its result was written"),
            Fault::Unpadded(run) => write!(formatter, "a message of {run}, which is not padded"),
            Fault::Unheard(rank) => {
                write!(formatter, "leaves the barrier without having heard of rank {rank}")
            }
            Fault::CannotCombine(run, left, right) => {
                write!(
                    formatter,
                    "{run}: {left} and {right} have a contribution in common, or are of different blocks"
                )
            }
            Fault::Result(run, found, expected) => {
                write!(formatter, "{run} holds {found} instead of {expected}")
            }
            Fault::Order(run, found) => write!(formatter, "{run} holds operands out of order: {found}"),
            Fault::Association(run, found, first) => {
                write!(formatter, "{run} holds {found}, but on the first rank {first}: rounding may differ")
            }
        }
    }
}

impl Fault {
    /// Returns the other steps that it is about, each with its rank.
    pub fn others(&self) -> Vec<(usize, usize)> {
        match self {
            Fault::UnorderedRead(_, rank, step)
            | Fault::UnorderedWrite(_, rank, step)
            | Fault::MessageMisfit(rank, step, _) => vec![(*rank, *step)],
            Fault::Deadlock(waiting) => waiting.iter().skip(1).map(|&(rank, step, _)| (rank, step)).collect(),
            _ => Vec::new(),
        }
    }
}

fn write_blocks(formatter: &mut fmt::Formatter, blocks: &Range<usize>) -> fmt::Result {
    match blocks.len() {
        0 => write!(formatter, "no blocks"),
        1 => write!(formatter, "block {} alone", blocks.start),
        _ => write!(formatter, "blocks {} to {}", blocks.start, blocks.end - 1),
    }
}

fn write_deadlock(formatter: &mut fmt::Formatter, waiting: &[(usize, usize, Vec<Step>)]) -> fmt::Result {
    write!(formatter, "deadlock")?;
    for (rank, step, posts) in waiting {
        let posts: Vec<String> = posts.iter().map(|post| Posted(post).to_string()).collect();
        write!(formatter, "; rank {rank}, step {step} waits for {}", posts.join(" and "))?;
    }
    Ok(())
}

/// A send, a receive or an await as it is written in messages.
struct Posted<'a>(&'a Step);

impl fmt::Display for Posted<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self.0 {
            Step::Send { post, peer, message } => {
                write!(formatter, "send of {message} to rank {peer} (post {post})")
            }
            Step::Receive { post, peer, message } => {
                write!(formatter, "receive of {message} from rank {peer} (post {post})")
            }
            Step::Await { rank, slot, times } => {
                write!(formatter, "the flag of slot {slot} of rank {rank}, raised {times} times")
            }
            Step::Wait { .. } | Step::Copy { .. } | Step::Reduce { .. } | Step::Notify { .. } => Ok(()),
        }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Misfit { source, target } = self;
        let (sent, expected) = (source.blocks(), target.blocks());
        match sent == expected {
            true => write!(formatter, "the blocks {source} and {target} differ in size"),
            false => write!(formatter, "{source} has {sent} blocks, {target} has {expected}"),
        }
    }
}
