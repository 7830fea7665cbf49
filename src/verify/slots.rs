//! The slots that ranks share: their content, their uses, and what had happened before flags were raised.

use super::clock::{Clock, Moment};
use super::values::Value;
use super::violation::Fault;
use crate::schedule::Run;

/// The slots of all ranks.
pub struct Slots(Vec<Vec<Slot>>);

/// What was written to a slot.
#[derive(Clone, Copy)]
pub struct Content {
    pub value: Value,
    /// A block outside the slots that is as long.
    pub like: Run,
}

#[derive(Clone, Default)]
struct Slot {
    /// What it holds, and the step that wrote it.
    content: Option<(Content, Moment)>,
    /// The last read of each rank since that write.
    reads: Vec<Moment>,
    /// For each time that the flag was raised, what had happened before.
    notifications: Vec<Clock>,
}

impl Slots {
    /// Returns `slots` empty slots for each of `ranks` ranks.
    pub fn new(ranks: usize, slots: usize) -> Self {
        Slots(vec![vec![Slot::default(); slots]; ranks])
    }

    /// Reads a run of one slot. Its write must have happened before.
    pub fn read(&mut self, owner: u32, run: Run, moment: Moment, before: &Clock) -> Result<Content, Fault> {
        let slot = self.slot(owner, run.first);
        let (content, written) = slot.content.ok_or(Fault::Undefined(run))?;
        if !before.has_passed(written) {
            return Err(Fault::UnorderedRead(run, written.rank, written.step));
        }
        slot.reads.retain(|read| read.rank != moment.rank);
        slot.reads.push(moment);
        Ok(content)
    }

    /// Writes a run of one slot. All reads of its old content must have happened before.
    pub fn write(
        &mut self,
        owner: u32,
        run: Run,
        moment: Moment,
        before: &Clock,
        content: Content,
    ) -> Result<(), Fault> {
        let slot = self.slot(owner, run.first);
        if let Some(read) = slot.reads.iter().find(|&&read| !before.has_passed(read)) {
            return Err(Fault::UnorderedWrite(run, read.rank, read.step));
        }
        slot.reads.clear();
        slot.content = Some((content, moment));
        Ok(())
    }

    /// Raises the flag of a slot.
    pub fn notify(&mut self, owner: usize, slot: u32, before: &Clock) {
        self.slot(owner as u32, slot).notifications.push(before.clone());
    }

    /// Returns what had happened before the flag of a slot was raised for the given time, if it was.
    pub fn notification(&self, owner: u32, slot: u32, times: u32) -> Option<&Clock> {
        self.0[owner as usize][slot as usize].notifications.get(times as usize - 1)
    }

    fn slot(&mut self, owner: u32, slot: u32) -> &mut Slot {
        &mut self.0[owner as usize][slot as usize]
    }
}
