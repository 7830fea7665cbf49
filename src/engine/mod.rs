//! Runs schedules: a [`Plan`] binds a schedule to elements, an [`Execution`] carries the plan out over a [`Transport`].
//!
//! Plans and executions have no pointers. The transport knows the memory, the datatypes, the operator and the network.

#![forbid(unsafe_code)]

mod binding;
mod even;
mod execution;
mod goal;
pub mod in_process;
mod length_exchange;
pub mod mock_up;
mod need;
mod operation;
mod packed_scratch;
mod plan;
mod planner;
mod repetition;
mod slots;
mod stripes;
pub mod turns;

pub use binding::{Binding, Counts, ElementBytes, Piece, View, bind, bind_two_groups};
pub use execution::Execution;
pub use goal::{Goal, is_expressible_in_goal};
pub use length_exchange::{Carried, DataPlan, Journey, LengthExchange};
pub use need::{InSlots, largest_need};
pub use operation::{Further, LentCopy, Operation, Rows};
pub use plan::Plan;
pub use repetition::Loop;
pub use slots::{CACHE_LINE, LINE_PAYLOAD, SlotBounds, Slots};
pub use stripes::Stripes;

use crate::schedule::{Buffer, Post};

/// Memory that a transport maps to addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// A buffer of the schedule.
    Buffer(Buffer),
    /// Bytes in which messages of several runs are packed.
    Staging,
}

/// Where elements of one memory start. In slots that lie apart, the offset is the slot's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    pub offset: usize,
    pub memory: Memory,
}

/// Consecutive elements of one memory. In [`Memory::Staging`] an element is a byte. In slots that lie apart,
/// the offset is the slot's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub offset: usize,
    pub memory: Memory,
    pub elements: usize,
}

impl Location {
    /// Returns the region of `elements` elements that starts here.
    #[inline]
    pub fn region(self, elements: usize) -> Region {
        let Location { offset, memory } = self;
        Region { offset, memory, elements }
    }
}

impl Region {
    pub fn location(self) -> Location {
        let Region { offset, memory, .. } = self;
        Location { offset, memory }
    }

    /// Shifts the region by `by` elements if it is in a buffer of the caller.
    #[inline]
    fn shifted(self, by: usize) -> Region {
        let by = if self.memory.is_the_callers() { by } else { 0 };
        Region { offset: self.offset + by, ..self }
    }
}

impl Memory {
    fn is_the_callers(self) -> bool {
        matches!(self, Memory::Buffer(Buffer::Send | Buffer::Recv))
    }
}

/// Moves bytes for one rank during one collective.
pub trait Transport {
    type Error;

    /// Starts sending a region. Messages to a peer must not overtake each other.
    fn send(&mut self, post: Post, peer: u32, region: Region) -> Result<(), Self::Error>;

    /// Starts receiving into a region.
    fn receive(&mut self, post: Post, peer: u32, region: Region) -> Result<(), Self::Error>;

    /// Sends a region and blocks until the post is complete.
    #[inline]
    fn send_and_wait(&mut self, post: Post, peer: u32, region: Region) -> Result<(), Self::Error> {
        self.send(post, peer, region)?;
        self.wait(&[post])
    }

    /// Receives into a region and blocks until the post is complete.
    #[inline]
    fn receive_and_wait(&mut self, post: Post, peer: u32, region: Region) -> Result<(), Self::Error> {
        self.receive(post, peer, region)?;
        self.wait(&[post])
    }

    /// Blocks until the posts are complete. A post that was awaited before, or was never started, counts as complete.
    fn wait(&mut self, posts: &[Post]) -> Result<(), Self::Error>;

    /// Whether the posts are complete. Makes progress, but does not block.
    fn test(&mut self, posts: &[Post]) -> Result<bool, Self::Error>;

    /// Copies a region to another that holds at least as many bytes of data. Converts between their element types.
    fn copy(&mut self, source: Region, target: Region) -> Result<(), Self::Error>;

    /// `target = left ⊕ right`, element by element. The target may be one of the operands.
    fn reduce(&mut self, left: Region, right: Region, target: Region) -> Result<(), Self::Error>;

    /// Publishes in one of the rank's own slots where a region lies, or a copy of it if `copy` says so or
    /// elements have gaps.
    fn lend(&mut self, region: Region, slot: u32, copy: LentCopy) -> Result<(), Self::Error>;

    /// Raises the flag of one of the rank's own slots. A rank that sees the flag raised also sees everything
    /// written before.
    fn notify(&mut self, slot: u32) -> Result<(), Self::Error>;

    /// Whether a rank has raised the flag of one of its slots `times` times in this stripe. Makes progress,
    /// but does not block.
    fn is_notified(&mut self, rank: u32, slot: u32, times: u32) -> Result<bool, Self::Error>;

    /// Blocks until a rank has raised the flag of one of its slots `times` times in this stripe.
    fn await_notification(&mut self, rank: u32, slot: u32, times: u32) -> Result<(), Self::Error>;

    /// Whether the rank's slots may be written in this stripe, because no peer reads their old content any
    /// more. Makes progress, but does not block.
    fn are_slots_free(&mut self) -> Result<bool, Self::Error>;

    /// Blocks until the rank's slots may be written in this stripe.
    fn await_free_slots(&mut self) -> Result<(), Self::Error>;

    /// Ends a stripe: the rank will not read anything of it any more.
    fn end_stripe(&mut self);
}
