//! Carries out a program for any number of ranks for one rank.

use super::super::Misread;
use super::General;
use super::expression::Expression;
use super::statement::{Blocks, Holder, Statement, Statements};
use crate::schedule::{Buffer, Lines, Listing, Message, Post, Run, Schedule, Step};
use crate::text::nearest::unknown;
use std::collections::BTreeMap;

/// The most statements that are carried out for all ranks together.
pub const MOST_STATEMENTS: usize = 1 << 22;

/// Returns the program of a rank. `left`: how many statements all ranks together may still carry out.
pub fn run(general: &General, rank: usize, size: usize, left: &mut usize) -> Result<Listing, Misread> {
    let values = [("rank".to_owned(), rank as i64), ("size".to_owned(), size as i64)].into();
    let listing = Listing { schedule: Schedule::idle(rank, size, 0), lines: Lines::new(general.header) };
    let mut running =
        Running { listing, values, posts: 0, outstanding: Vec::new(), left, line: general.header };
    running.listing.schedule.blocks = running.number("the number of blocks", &general.blocks)? as usize;
    if let Some(slots) = &general.slots {
        running.listing.schedule.slots = running.number("the number of slots", slots)? as usize;
    }
    running.block(&general.body)?;
    running.wait(|_| true);
    Ok(running.listing)
}

struct Running<'a> {
    listing: Listing,
    values: BTreeMap<String, i64>,
    posts: Post,
    /// Posts without a wait so far, with their labels.
    outstanding: Vec<(Post, Option<String>)>,
    /// How many more statements may be carried out.
    left: &'a mut usize,
    /// The line of the current statement.
    line: usize,
}

impl Running<'_> {
    fn block(&mut self, block: &Statements) -> Result<(), Misread> {
        for line in block {
            self.line = line.number;
            self.count()?;
            self.statement(&line.statement)?;
        }
        Ok(())
    }

    fn count(&mut self) -> Result<(), Misread> {
        let left = self.left.checked_sub(1);
        let none = || self.fault(format!("more than {MOST_STATEMENTS} lines are carried out"));
        *self.left = left.ok_or_else(none)?;
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Misread> {
        match statement {
            Statement::Let { name, value } => {
                let value = self.value(value)?;
                self.values.insert(name.clone(), value);
            }
            Statement::For { name, bounds, body } => {
                let [first, end] = [self.value(&bounds[0])?, self.value(&bounds[1])?];
                for number in first..end {
                    self.values.insert(name.clone(), number);
                    self.block(body)?;
                    self.count()?;
                }
            }
            Statement::While { condition, body } => {
                let line = self.line;
                while self.value(condition)? != 0 {
                    self.block(body)?;
                    self.line = line;
                    self.count()?;
                }
            }
            Statement::If { condition, then, otherwise } => {
                let is_true = self.value(condition)? != 0;
                self.block(if is_true { then } else { otherwise })?;
            }
            Statement::Send { label, peer, message } => {
                let (peer, message) = (self.number("the rank", peer)?, self.message(message)?);
                self.post(label, message, |post, message| Step::Send { post, peer, message });
            }
            Statement::Receive { label, peer, message } => {
                let (peer, message) = (self.number("the rank", peer)?, self.message(message)?);
                self.post(label, message, |post, message| Step::Receive { post, peer, message });
            }
            Statement::Wait { labels } => {
                self.wait(|label| labels.is_empty() || label.is_some_and(|label| labels.contains(label)));
            }
            Statement::Copy { source, target } => {
                let [source, target] = self.alike([source, target])?;
                self.step_about(target, Step::Copy { source, target });
            }
            Statement::Reduce { target, left, right } => {
                let [target, left, right] = self.alike([target, left, right])?;
                self.step_about(target, Step::Reduce { left, right, target });
            }
            Statement::Notify { slot } => {
                let slot = self.number("the slot", slot)?;
                self.step(Step::Notify { slot });
            }
            Statement::Await { slot, rank, times } => {
                let (slot, rank) = (self.number("the slot", slot)?, self.number("the rank", rank)?);
                let times = self.number("the number of times", times)?;
                self.step(Step::Await { rank, slot, times });
            }
        }
        Ok(())
    }

    /// Writes a post, unless its message has no blocks.
    fn post(&mut self, label: &Option<String>, message: Message, step: impl Fn(Post, Message) -> Step) {
        if message.blocks() == 0 {
            return;
        }
        self.outstanding.push((self.posts, label.clone()));
        self.step(step(self.posts, message));
        self.posts += 1;
    }

    /// Waits for all outstanding posts with such labels.
    fn wait(&mut self, is_meant: impl Fn(Option<&String>) -> bool) {
        let (meant, others) = std::mem::take(&mut self.outstanding)
            .into_iter()
            .partition(|(_, label)| is_meant(label.as_ref()));
        self.outstanding = others;
        let meant: Vec<_> = meant;
        if !meant.is_empty() {
            self.step(Step::Wait { posts: meant.into_iter().map(|(post, _)| post).collect() });
        }
    }

    fn step_about(&mut self, target: Run, step: Step) {
        if target.count > 0 {
            self.step(step);
        }
    }

    fn step(&mut self, step: Step) {
        self.listing.schedule.steps.push(step);
        self.listing.lines.steps.push(self.line);
    }

    fn message(&mut self, message: &[Blocks]) -> Result<Message, Misread> {
        // Each further range of blocks takes as long as a line.
        message.iter().skip(1).try_for_each(|_| self.count())?;
        message.iter().map(|blocks| self.run(blocks)).collect()
    }

    /// Returns the runs, which must have equally many blocks.
    fn alike<const N: usize>(&self, blocks: [&Blocks; N]) -> Result<[Run; N], Misread> {
        let mut runs = [Buffer::Send.blocks(0..0); N];
        for (run, blocks) in runs.iter_mut().zip(blocks) {
            *run = self.run(blocks)?;
        }
        match runs.iter().find(|run| run.count != runs[0].count) {
            Some(other) => Err(self.fault(format!("{} blocks and {} blocks", runs[0].count, other.count))),
            None => Ok(runs),
        }
    }

    fn run(&self, Blocks { buffer, first, end }: &Blocks) -> Result<Run, Misread> {
        let buffer = match buffer {
            Holder::Private(buffer) => *buffer,
            Holder::Shared(rank) => Buffer::Shared(self.number("the rank", rank)?),
        };
        let first = self.number("the block", first)?;
        let end = end.as_ref().map_or(Ok(first + 1), |end| self.number("the end of the blocks", end))?;
        Ok(Run { buffer, first, count: end.saturating_sub(first) })
    }

    /// Returns a value, which must be a number from 0 to 2^32 - 2.
    fn number(&self, what: &str, expression: &Expression) -> Result<u32, Misread> {
        // The number after it must fit in 32 bits, too.
        let value = self.value(expression)?;
        let number = u32::try_from(value).ok().filter(|number| *number < u32::MAX);
        number
            .ok_or_else(|| self.fault(format!("{what} is {value}, not a number from 0 to {}", u32::MAX - 1)))
    }

    fn value(&self, expression: &Expression) -> Result<i64, Misread> {
        let of = |name: &str| {
            let known = || unknown("name", name, self.values.keys().map(String::as_str));
            self.values.get(name).copied().ok_or_else(known)
        };
        expression.value(&of).map_err(|lack| self.fault(lack))
    }

    /// Returns an error about the current line.
    fn fault(&self, message: String) -> Misread {
        let Schedule { rank, size, .. } = self.listing.schedule;
        Misread { line: self.line, column: 1, message: format!("{message}, for rank {rank} of {size}") }
    }
}
