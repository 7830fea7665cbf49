//! The blocks of all ranks while a trace follows programs.

use super::{BlockAddress, Event, How, Moment, Travel, ValueNumber, Values, Write};
use crate::algorithms::{Collective, Problem};
use crate::cost::one_port::Beat;
use crate::schedule::{Schedule, Step};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What blocks hold.
#[derive(Default)]
pub struct BlockContents {
    values: Values,
    blocks: HashMap<BlockAddress, ValueNumber>,
}

/// What a step reads and writes.
#[derive(Default)]
struct Touched {
    reads: BTreeSet<BlockAddress>,
    writes: BTreeMap<BlockAddress, Write>,
}

impl BlockContents {
    /// Gives the ranks their inputs. Returns what that writes.
    pub fn fill(&mut self, collective: Collective, problem: &Problem, schedules: &[Schedule]) -> Vec<Write> {
        let mut given = Touched::default();
        for schedule in schedules {
            let rank = schedule.rank;
            let input = collective.input(problem, rank, schedule.blocks);
            for place in
                input.into_iter().flat_map(|(buffer, blocks)| BlockAddress::of(rank, buffer.blocks(blocks)))
            {
                let value = self.values.input(rank, place.block);
                self.write(place, Some(value), How::Given, &mut given);
            }
        }
        given.writes.into_values().collect()
    }

    /// Carries out what the ranks do up to their next waits; `None` if they only post and wait.
    pub fn work(&mut self, schedules: &[Schedule], beat: &Beat) -> Option<Moment> {
        let mut touched = Touched::default();
        let mut acts = Vec::new();
        for (schedule, positions) in schedules.iter().zip(&beat.carried_out) {
            for position in positions.clone() {
                if self.carry_out(schedule.rank, &schedule.steps[position], &mut touched) {
                    acts.push((schedule.rank, position));
                }
            }
        }
        (!acts.is_empty()).then(|| touched.moment(Event::Work(acts)))
    }

    /// Lets messages travel; `None` if there are none.
    pub fn travel(&mut self, travels: Vec<Travel>) -> Option<Moment> {
        let mut touched = Touched::default();
        // All messages leave before any arrives: a rank may receive into a block that it sends.
        let mut arriving = Vec::new();
        for Travel { source, target, from, into } in &travels {
            for (from, into) in
                BlockAddress::of_message(*source, from).zip(BlockAddress::of_message(*target, into))
            {
                arriving.push((into, self.read(from, &mut touched)));
            }
        }
        for (place, value) in arriving {
            self.write(place, value, How::Moved, &mut touched);
        }
        (!travels.is_empty()).then(|| touched.moment(Event::Messages(travels)))
    }

    pub fn into_values(self) -> Values {
        self.values
    }

    /// Carries out a step, unless it is a post or a wait for posts. Returns whether it did.
    fn carry_out(&mut self, rank: usize, step: &Step, touched: &mut Touched) -> bool {
        match step {
            Step::Send { .. } | Step::Receive { .. } | Step::Wait { .. } => return false,
            Step::Notify { .. } | Step::Await { .. } => {}
            Step::Copy { source, target } => {
                for (source, target) in BlockAddress::of(rank, *source).zip(BlockAddress::of(rank, *target)) {
                    let value = self.read(source, touched);
                    self.write(target, value, How::Copied, touched);
                }
            }
            Step::Reduce { left, right, target } => {
                let operands = BlockAddress::of(rank, *left).zip(BlockAddress::of(rank, *right));
                for ((left, right), target) in operands.zip(BlockAddress::of(rank, *target)) {
                    let operands = self.read(left, touched).zip(self.read(right, touched));
                    let value = operands.map(|(left, right)| self.values.combine(left, right));
                    self.write(target, value, How::Reduced, touched);
                }
            }
        }
        true
    }

    fn read(&self, place: BlockAddress, touched: &mut Touched) -> Option<ValueNumber> {
        let value = self.blocks.get(&place).copied();
        // What this very step has written was not visible before.
        if value.is_some() && !touched.writes.contains_key(&place) {
            touched.reads.insert(place);
        }
        value
    }

    fn write(&mut self, place: BlockAddress, value: Option<ValueNumber>, how: How, touched: &mut Touched) {
        match value {
            Some(value) => self.blocks.insert(place, value),
            None => self.blocks.remove(&place),
        };
        touched.writes.insert(place, Write { place, value, how });
    }
}

impl Touched {
    fn moment(self, event: Event) -> Moment {
        Moment { event, reads: self.reads.into_iter().collect(), writes: self.writes.into_values().collect() }
    }
}
