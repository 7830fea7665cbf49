//! A step of a run, and what can be asked about it.

use crate::trace::Subjects;
use rustcoll::algorithms::{Collective, Problem};
use rustcoll::schedule::{Buffer, Message, SlotKind, Step};
use rustcoll::trace::{BlockAddress, Event, Moment, Trace, Travel, ValueNumber};

/// A step of a run.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// Of what it is a step.
    pub subjects: &'a Subjects<'a>,
    /// The run.
    pub trace: &'a Trace,
    /// Number of the step.
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

    /// The root; rank 0 where there is none, for it is the root of what is composed of rooted collectives.
    pub fn root(&self) -> usize {
        if self.collective().is_rooted() { self.problem().root } else { 0 }
    }

    /// A rank's number when counted from the root.
    pub fn relative(&self, rank: usize) -> usize {
        (rank + self.size() - self.root()) % self.size()
    }

    pub fn moment(&self) -> &'a Moment {
        &self.trace.steps[self.step]
    }

    /// How many rounds of messages there were before.
    pub fn round(&self) -> usize {
        self.earlier().filter(|travels| !travels.is_empty()).count()
    }

    /// The messages of this step.
    pub fn travels(&self) -> &'a [Travel] {
        travels(self.moment())
    }

    /// The messages of each step before, those of the first one first.
    pub fn earlier(&self) -> impl DoubleEndedIterator<Item = &'a [Travel]> {
        self.trace.steps[..self.step].iter().map(travels)
    }

    /// The messages of each step of the run.
    pub fn all(&self) -> impl Iterator<Item = &'a [Travel]> {
        self.trace.steps.iter().map(travels)
    }

    /// Whether ranks tell where blocks lie, instead of writing them to slots.
    pub fn lends(&self) -> bool {
        self.subjects.schedules.iter().any(|schedule| schedule.slot_kind == SlotKind::Lent)
    }

    /// What ranks do on their own, each with its rank.
    pub fn acts(&self) -> Vec<(usize, &'a Step)> {
        match &self.moment().event {
            Event::Messages(_) => Vec::new(),
            Event::Work(acts) => acts
                .iter()
                .map(|&(rank, position)| (rank, &self.subjects.schedules[rank].steps[position]))
                .collect(),
        }
    }

    /// What a block holds after this step, if the step writes it.
    pub fn written(&self, place: BlockAddress) -> Option<ValueNumber> {
        self.moment().writes.iter().find(|write| write.place == place)?.value
    }

    /// What a message of this step brings; nothing of blocks that held nothing.
    pub fn brought(&self, travel: &Travel) -> Vec<ValueNumber> {
        let places =
            blocks(&travel.into).map(|(buffer, block)| BlockAddress { rank: travel.target, buffer, block });
        places.filter_map(|place| self.written(place)).collect()
    }

    /// How many ranks have contributed to what a message of this step brings, if it is as many for each block.
    pub fn contributors(&self, travel: &Travel) -> Option<usize> {
        let counts: Vec<usize> = self
            .brought(travel)
            .into_iter()
            .map(|value| self.trace.values.contributors(value).len())
            .collect();
        let first = counts.first().copied()?;
        counts.iter().all(|&count| count == first).then_some(first)
    }

    /// How many blocks vectors are cut into.
    pub fn blocks(&self) -> usize {
        self.subjects.schedules[0].blocks
    }
}

/// The messages of a step.
fn travels(moment: &Moment) -> &[Travel] {
    match &moment.event {
        Event::Messages(travels) => travels,
        Event::Work(_) => &[],
    }
}

/// The blocks of a message in the order in which they travel.
pub fn blocks(message: &Message) -> impl Iterator<Item = (Buffer, usize)> {
    message.runs().flat_map(|run| run.indices().map(move |block| (run.buffer, block)))
}

/// A buffer in a sentence, as that of the rank that is spoken of.
pub fn buffer(of: Buffer) -> &'static str {
    match of {
        Buffer::Send => "its send buffer",
        Buffer::Recv => "its receive buffer",
        Buffer::Scratch => "scratch",
        Buffer::Shared(_) => "shared memory",
    }
}

/// A buffer in a sentence, as that of the ranks that are spoken of.
pub fn buffer_of_several(of: Buffer) -> &'static str {
    match of {
        Buffer::Send => "their send buffers",
        Buffer::Recv => "their receive buffers",
        Buffer::Scratch | Buffer::Shared(_) => buffer(of),
    }
}
