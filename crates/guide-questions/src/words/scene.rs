//! Queries about a step of a run.

use crate::trace::Subjects;
use rustcoll::algorithms::{Collective, Problem};
use rustcoll::schedule::{Buffer, Message, SlotKind, Step};
use rustcoll::trace::{BlockAddress, Event, Moment, Trace, Travel, ValueNumber};

/// A step of a run.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The schedules that run.
    pub subjects: &'a Subjects<'a>,
    pub trace: &'a Trace,
    /// Index in [`Trace::steps`].
    pub step: usize,
}

impl<'a> Scene<'a> {
    pub fn problem(&self) -> &'a Problem {
        self.subjects.problem
    }

    pub fn collective(&self) -> Collective {
        self.subjects.collective
    }

    pub fn size(&self) -> usize {
        self.subjects.problem.size
    }

    /// Returns the root; without one rank 0, the root of the rooted collectives that an algorithm is composed of.
    pub fn root(&self) -> usize {
        if self.collective().is_rooted() { self.problem().root } else { 0 }
    }

    /// Returns a rank's number when counted from the root.
    pub fn relative(&self, rank: usize) -> usize {
        (rank + self.size() - self.root()) % self.size()
    }

    pub fn moment(&self) -> &'a Moment {
        &self.trace.steps[self.step]
    }

    /// Returns how many rounds of messages there are before this step.
    pub fn round(&self) -> usize {
        self.earlier().filter(|travels| !travels.is_empty()).count()
    }

    pub fn travels(&self) -> &'a [Travel] {
        travels(self.moment())
    }

    /// Returns the messages of each earlier step, in the order of steps.
    pub fn earlier(&self) -> impl DoubleEndedIterator<Item = &'a [Travel]> {
        self.trace.steps[..self.step].iter().map(travels)
    }

    /// Returns the messages of each step of the run.
    pub fn all(&self) -> impl Iterator<Item = &'a [Travel]> {
        self.trace.steps.iter().map(travels)
    }

    /// Whether ranks publish the addresses of their blocks, instead of writing the blocks to slots.
    pub fn lends(&self) -> bool {
        self.subjects.schedules.iter().any(|schedule| schedule.slot_kind == SlotKind::Lent)
    }

    /// Returns what ranks do on their own in this step, each with its rank.
    pub fn acts(&self) -> Vec<(usize, &'a Step)> {
        match &self.moment().event {
            Event::Messages(_) => Vec::new(),
            Event::Work(acts) => acts
                .iter()
                .map(|&(rank, position)| (rank, &self.subjects.schedules[rank].steps[position]))
                .collect(),
        }
    }

    /// Returns what a block holds after this step; none if the step does not write the block.
    pub fn written(&self, place: BlockAddress) -> Option<ValueNumber> {
        self.moment().writes.iter().find(|write| write.place == place)?.value
    }

    /// Returns the values that a message of this step brings, without blocks that held nothing.
    pub fn brought(&self, travel: &Travel) -> Vec<ValueNumber> {
        let places =
            blocks(&travel.into).map(|(buffer, block)| BlockAddress { rank: travel.target, buffer, block });
        places.filter_map(|place| self.written(place)).collect()
    }

    /// Returns how many ranks contributed to each block of a message of this step; none if blocks differ.
    pub fn contributors(&self, travel: &Travel) -> Option<usize> {
        let counts: Vec<usize> = self
            .brought(travel)
            .into_iter()
            .map(|value| self.trace.values.contributors(value).len())
            .collect();
        let first = counts.first().copied()?;
        counts.iter().all(|&count| count == first).then_some(first)
    }

    /// Returns how many blocks vectors are cut into.
    pub fn blocks(&self) -> usize {
        self.subjects.schedules[0].blocks
    }
}

fn travels(moment: &Moment) -> &[Travel] {
    match &moment.event {
        Event::Messages(travels) => travels,
        Event::Work(_) => &[],
    }
}

/// Returns the blocks of a message in the order in which they travel.
pub fn blocks(message: &Message) -> impl Iterator<Item = (Buffer, usize)> {
    message.runs().flat_map(|run| run.indices().map(move |block| (run.buffer, block)))
}

/// Returns the phrase for a buffer of one rank.
pub fn buffer(of: Buffer) -> &'static str {
    match of {
        Buffer::Send => "its send buffer",
        Buffer::Recv => "its receive buffer",
        Buffer::Scratch => "scratch",
        Buffer::Shared(_) => "shared memory",
    }
}

/// Returns the phrase for a buffer of several ranks.
pub fn buffer_of_several(of: Buffer) -> &'static str {
    match of {
        Buffer::Send => "their send buffers",
        Buffer::Recv => "their receive buffers",
        Buffer::Scratch | Buffer::Shared(_) => buffer(of),
    }
}
