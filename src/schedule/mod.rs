//! A collective algorithm as data: the program of one rank, without branches.
//!
//! A [`Schedule`] posts sends and receives of numbered blocks, waits for named posts, copies and reduces. It holds no
//! pointer, datatype, count or clock; a [`Layout`] says which elements a block stands for when it is executed.

#![forbid(unsafe_code)]

mod blocks;
mod builder;
mod combine;
mod extents;
mod layout;
mod line;
mod overlap;
mod repeat;
mod text;

pub use blocks::{Buffer, Message, Run, Strided};
pub use builder::Builder;
pub use extents::Extents;
pub use layout::Layout;
pub use line::ParseError;
pub(crate) use line::{Line, content};
pub use repeat::{Moduli, Move, ProgramPart, Repeat};
pub use text::{Change, Lines, Listing};

/// The most times that a flag can be raised in one schedule.
pub const MOST_TIMES: u32 = u16::MAX as u32;

/// Number of a post (a send or a receive) within its schedule, from 0 in program order.
pub type Post = u32;

/// One step of a rank's program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Starts sending a message. Its blocks must not be written before a wait for the post.
    Send {
        post: Post,
        /// The receiving rank.
        peer: u32,
        message: Message,
    },
    /// Starts receiving a message. Its blocks must be neither read nor written before a wait for the post.
    /// Messages between two ranks arrive in the order in which they were sent.
    Receive {
        post: Post,
        /// The sending rank.
        peer: u32,
        /// Where the blocks go, in the order of the sender's message.
        message: Message,
    },
    /// Waits until each of the posts is complete.
    Wait { posts: Vec<Post> },
    /// Copies blocks within the rank.
    Copy {
        source: Run,
        /// As many blocks as `source`.
        target: Run,
    },
    /// `target = left ⊕ right`, block by block. The target may be one of the operands.
    Reduce {
        /// The operand of the lower ranks.
        left: Run,
        /// The operand of the higher ranks.
        right: Run,
        target: Run,
    },
    /// Raises the flag of one of the rank's own slots. Ranks that await the flag can then read what this rank
    /// has written.
    Notify { slot: u32 },
    /// Waits until a rank of the same node has raised the flag of one of its slots.
    Await {
        /// The rank that raises it.
        rank: u32,
        slot: u32,
        /// How many times the flag must have been raised in this schedule.
        times: u32,
    },
}

/// What a slot holds of a block that its rank shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SlotKind {
    /// A copy of any block. No two slots share a cache line.
    #[default]
    Apart,
    /// A copy. The slots of a rank lie together: each has the number of a block and lies where that block
    /// does in a vector. So adjacent blocks are copied and reduced as one.
    Together,
    /// The place of any block in the memory of its rank. Others copy it from there, and at the end the rank
    /// waits until all have done so.
    Lent,
}

impl SlotKind {
    /// Returns its name in texts; `None` for slots apart.
    pub fn name(self) -> Option<&'static str> {
        match self {
            SlotKind::Apart => None,
            SlotKind::Together => Some("together"),
            SlotKind::Lent => Some("lent"),
        }
    }

    /// Returns the text of so many slots of this kind, as in `8 slots together`.
    pub fn slots(self, number: usize) -> String {
        self.name().map_or_else(|| format!("{number} slots"), |name| format!("{number} slots {name}"))
    }
}

/// The program of one rank in one collective.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// The rank that runs it.
    pub rank: usize,
    /// Number of ranks.
    pub size: usize,
    /// How many blocks a buffer is cut into.
    pub blocks: usize,
    /// How many slots each rank has that its node can read; the same on all ranks.
    pub slots: usize,
    /// What a slot holds; the same on all ranks.
    pub slot_kind: SlotKind,
    /// The steps in program order; those of a loop as they are the first time.
    pub steps: Vec<Step>,
    /// The loops, in program order.
    pub repeats: Vec<Repeat>,
}

impl Schedule {
    /// Returns how many sends and receives are posted.
    pub fn posts(&self) -> usize {
        self.total(|step| usize::from(step.is_post()))
    }

    /// How many scratch blocks are used: one more than the highest block number.
    pub fn scratch_blocks(&self) -> usize {
        let end = |runs: Strided| if runs.buffer() == Buffer::Scratch { runs.end() } else { 0 };
        let once = self.steps.iter().flat_map(Step::strided).map(end);
        let moved = self.repeats.iter().flat_map(|repeat| {
            let steps = self.steps[repeat.steps.clone()].iter().zip(&repeat.moves);
            let runs = steps.flat_map(|(step, by)| step.each_run().zip(&by.runs));
            // A run that moves may begin with the last block of its copy of a vector.
            let blocks = self.blocks.max(1);
            let moved_end = move |run: Run| {
                let last_of_copy = (run.first as usize / blocks + 1) * blocks - 1;
                if run.buffer == Buffer::Scratch { last_of_copy + run.count as usize } else { 0 }
            };
            runs.filter(|(_, by)| **by > 0).map(move |(run, _)| moved_end(run))
        });
        once.chain(moved).max().unwrap_or(0)
    }

    /// How many messages this rank sends.
    pub fn messages_sent(&self) -> usize {
        self.total(|step| usize::from(matches!(step, Step::Send { .. })))
    }

    /// How many blocks this rank sends.
    pub fn blocks_sent(&self) -> usize {
        self.total(|step| if let Step::Send { message, .. } = step { message.blocks() } else { 0 })
    }

    /// How many blocks this rank reduces.
    pub fn blocks_reduced(&self) -> usize {
        self.total(|step| if let Step::Reduce { target, .. } = step { target.count as usize } else { 0 })
    }

    /// How many times this rank waits: its rounds, where each round ends with a single wait.
    pub fn rounds(&self) -> usize {
        self.total(|step| usize::from(matches!(step, Step::Wait { .. })))
    }

    /// Returns how often the rank's steps use a block; a step without blocks counts as one use.
    pub fn uses(&self) -> usize {
        self.total(|step| step.strided().map(Strided::blocks).sum::<usize>().max(1))
    }

    /// Returns how many steps the rank carries out.
    pub fn length(&self) -> usize {
        self.total(|_| 1)
    }

    /// Returns a sum over all steps, in which a step counts as often as it is carried out.
    fn total(&self, of: impl Fn(&Step) -> usize) -> usize {
        self.times().map(|(step, times)| times.saturating_mul(of(step))).fold(0, usize::saturating_add)
    }
}

impl Step {
    /// Whether it raises or awaits a flag.
    pub fn is_of_flags(&self) -> bool {
        matches!(self, Step::Notify { .. } | Step::Await { .. })
    }

    /// Whether it posts a send or a receive.
    pub fn is_post(&self) -> bool {
        matches!(self, Step::Send { .. } | Step::Receive { .. })
    }

    /// Whether it sends from the caller's buffers or receives into them.
    pub fn posts_own_blocks(&self) -> bool {
        self.is_post() && self.each_run().any(|run| run.buffer != Buffer::Scratch)
    }

    /// The rank at the other end of a message.
    pub fn peer(&self) -> Option<u32> {
        match self {
            Step::Send { peer, .. } | Step::Receive { peer, .. } => Some(*peer),
            _ => None,
        }
    }

    /// Returns the rank that a loop changes: the peer of a message, the rank whose flag is awaited, or whose
    /// slots are read.
    fn named_rank(&self) -> Option<u32> {
        let owner = |run: &Run| if let Buffer::Shared(owner) = run.buffer { Some(owner) } else { None };
        match self {
            Step::Await { rank, .. } => Some(*rank),
            Step::Copy { source, .. } => owner(source),
            Step::Reduce { left, right, .. } => owner(left).or(owner(right)),
            _ => self.peer(),
        }
    }

    /// Returns the slot whose flag it raises or awaits.
    fn slot(&self) -> Option<u32> {
        match self {
            Step::Notify { slot } | Step::Await { slot, .. } => Some(*slot),
            _ => None,
        }
    }

    /// Returns every run that the step reads or writes.
    pub fn runs(&self) -> Vec<Run> {
        self.each_run().collect()
    }

    /// As [`Step::runs`], one after the other.
    fn each_run(&self) -> impl Iterator<Item = Run> {
        self.strided().flat_map(|strided| strided.runs())
    }

    /// As [`Step::runs`], with runs at equal distances together.
    fn strided(&self) -> impl Iterator<Item = Strided> {
        let (message, others) = match self {
            Step::Send { message, .. } | Step::Receive { message, .. } => (message.strided(), [None; 3]),
            Step::Wait { .. } | Step::Notify { .. } | Step::Await { .. } => (&[][..], [None; 3]),
            Step::Copy { source, target } => (&[][..], [Some(*source), Some(*target), None]),
            Step::Reduce { left, right, target } => (&[][..], [left, right, target].map(|run| Some(*run))),
        };
        message.iter().copied().chain(others.into_iter().flatten().map(Strided::from))
    }
}
