//! The interpreter: carries out one rank's plan, operation by operation, and can resume at every wait.

use super::repetition::Time;
use super::{Loop, Operation, Plan, Region, Transport};

/// How far a plan has been carried out.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    position: usize,
    /// Number of ended stripes of the present kind.
    ended: usize,
    /// By how many elements accesses to the caller's buffers are shifted from those in the plan.
    shift: usize,
    /// The loop in progress.
    inner: Option<Box<(Time, Execution)>>,
}

impl Execution {
    /// Goes back to the beginning.
    #[inline]
    pub fn restart(&mut self) {
        (self.position, self.ended, self.shift) = (0, 0, 0);
        if self.inner.is_some() {
            self.inner = None;
        }
    }

    /// Continues to the end of a plan and blocks in waits. After an error, posts may be outstanding.
    pub fn finish<T: Transport>(&mut self, plan: &Plan, transport: &mut T) -> Result<(), T::Error> {
        self.drive::<T, true>(plan, transport)?;
        Ok(())
    }

    /// Continues to the end, or to a wait whose posts are incomplete. Returns whether the end was reached.
    pub fn advance<T: Transport>(&mut self, plan: &Plan, transport: &mut T) -> Result<bool, T::Error> {
        self.drive::<T, false>(plan, transport)
    }

    #[inline]
    fn drive<T: Transport, const BLOCKS: bool>(
        &mut self,
        plan: &Plan,
        transport: &mut T,
    ) -> Result<bool, T::Error> {
        while let Some(operation) = plan.operations.get(self.position) {
            let at = |region: Region| region.shifted(self.shift);
            match operation {
                Operation::Send { post, peer, region, is_awaited_next } => match BLOCKS && *is_awaited_next {
                    true => transport.send_and_wait(*post, *peer, at(*region))?,
                    false => transport.send(*post, *peer, at(*region))?,
                },
                Operation::Receive { post, peer, region, is_awaited_next } => {
                    match BLOCKS && *is_awaited_next {
                        true => transport.receive_and_wait(*post, *peer, at(*region))?,
                        false => transport.receive(*post, *peer, at(*region))?,
                    }
                }
                Operation::Wait { awaited } if BLOCKS => transport.wait(&plan.awaited[awaited.clone()])?,
                Operation::Wait { awaited } => {
                    if !transport.test(&plan.awaited[awaited.clone()])? {
                        return Ok(false);
                    }
                }
                Operation::Lend { region, slot, copy } => transport.lend(at(*region), *slot, *copy)?,
                Operation::Notify { slot } => transport.notify(*slot)?,
                Operation::Await { rank, slot, times } if BLOCKS => {
                    transport.await_notification(*rank, *slot, *times)?
                }
                Operation::Await { rank, slot, times } => {
                    if !transport.is_notified(*rank, *slot, *times)? {
                        return Ok(false);
                    }
                }
                Operation::AwaitSlots if BLOCKS => transport.await_free_slots()?,
                Operation::AwaitSlots => {
                    if !transport.are_slots_free()? {
                        return Ok(false);
                    }
                }
                Operation::Repeat { number } => {
                    if !self.repeat::<T, BLOCKS>(&plan.loops[*number], transport)? {
                        return Ok(false);
                    }
                }
                Operation::EndStripe { first, times, step } => {
                    transport.end_stripe();
                    self.ended += 1;
                    if self.ended < *times {
                        self.shift += step;
                        self.position = *first;
                        continue;
                    }
                    (self.ended, self.shift) = (0, 0);
                }
                Operation::Copy { source, target, rows } => {
                    for [source, target] in rows.each([at(*source), at(*target)]) {
                        transport.copy(source, target)?;
                    }
                }
                Operation::Reduce { left, right, target, elements, rows } => {
                    let first = [left, right, target].map(|place| at(place.region(*elements)));
                    for [left, right, target] in rows.each(first) {
                        transport.reduce(left, right, target)?;
                    }
                }
            }
            self.position += 1;
        }
        Ok(true)
    }

    /// Continues with a loop. Each iteration is bound when its turn comes.
    #[inline(never)]
    fn repeat<T: Transport, const BLOCKS: bool>(
        &mut self,
        repeated: &Loop,
        transport: &mut T,
    ) -> Result<bool, T::Error> {
        let inner = self.inner.get_or_insert_with(|| Box::new((repeated.first(), Execution::default())));
        let (time, execution) = &mut **inner;
        while execution.drive::<T, BLOCKS>(&time.plan, transport)? {
            if !repeated.advance(time) {
                self.inner = None;
                return Ok(true);
            }
            *execution = Execution::default();
        }
        Ok(false)
    }
}
