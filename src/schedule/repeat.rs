//! Loops: steps that a rank carries out several times, each time with other peers and blocks.

use super::{Buffer, Post, Run, Schedule, Step};
use std::borrow::Cow;
use std::ops::Range;

/// A loop. The program has its steps as they are the first time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Repeat {
    /// The positions of the steps. Loops have no steps in common.
    pub steps: Range<usize>,
    /// How often the steps are carried out.
    pub times: u32,
    /// For each step, what changes from one time to the next. Posts get the next numbers.
    pub moves: Vec<Move>,
}

/// How a step changes from one time to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Move {
    /// Added to the rank that the step names, modulo the number of ranks: its peer, the rank whose flag it
    /// awaits, or whose slots it reads.
    pub rank: u32,
    /// Added to the slot whose flag the step raises or awaits, modulo the number of blocks, as in `runs`.
    pub slot: u32,
    /// Added to the first block of each of [`Step::runs`], modulo the number of blocks. Scratch blocks and
    /// slots stay within their copy of a vector.
    pub runs: Vec<u32>,
}

impl Repeat {
    /// Changes the steps from one time to the next.
    pub fn advance(&self, steps: &mut [Step], moduli: Moduli) {
        let posts = posts(steps);
        for (step, by) in steps.iter_mut().zip(&self.moves) {
            by.advance(step, 1, posts, moduli);
        }
    }
}

/// The moduli of moves: the numbers of ranks and of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moduli {
    pub size: u32,
    pub blocks: u32,
}

/// A piece of a program.
#[derive(Clone, Copy, Debug)]
pub enum ProgramPart<'schedule> {
    /// Steps outside loops.
    Once(&'schedule [Step]),
    Repeat(&'schedule Repeat),
}

impl Schedule {
    /// Returns the moduli of its loops.
    pub fn moduli(&self) -> Moduli {
        Moduli { size: self.size as u32, blocks: self.blocks as u32 }
    }

    /// Returns the pieces of the program, in their order.
    pub fn parts(&self) -> impl Iterator<Item = ProgramPart<'_>> {
        let mut next = 0;
        let loops = self.repeats.iter().map(|repeat| (repeat.steps.clone(), Some(repeat)));
        let end = self.steps.len()..self.steps.len();
        loops.chain([(end, None)]).flat_map(move |(steps, repeat)| {
            let before = &self.steps[next..steps.start];
            next = steps.end;
            [Some(ProgramPart::Once(before)), repeat.map(ProgramPart::Repeat)].into_iter().flatten()
        })
    }

    /// Returns each step with the number of times that it is carried out.
    pub(super) fn times(&self) -> impl Iterator<Item = (&Step, usize)> {
        self.parts().flat_map(|part| {
            let (steps, times) = match part {
                ProgramPart::Once(steps) => (steps, 1),
                ProgramPart::Repeat(repeat) => (&self.steps[repeat.steps.clone()], repeat.times as usize),
            };
            steps.iter().map(move |step| (step, times))
        })
    }

    /// Returns the steps of a loop as they are at a time, counted from 0.
    pub fn steps_at(&self, repeat: &Repeat, time: u32) -> impl Iterator<Item = Step> {
        let (moduli, steps) = (self.moduli(), &self.steps[repeat.steps.clone()]);
        let first_post = time * posts(steps);
        steps.iter().zip(&repeat.moves).map(move |(step, by)| by.applied(step, time, first_post, moduli))
    }

    /// Inserts a step before the one at `place`, which must not be inside a loop.
    pub fn insert(&mut self, place: usize, step: Step) {
        self.steps.insert(place, step);
        for repeat in self.repeats.iter_mut().filter(|repeat| repeat.steps.start >= place) {
            repeat.steps = repeat.steps.start + 1..repeat.steps.end + 1;
        }
    }

    /// Returns the program without loops.
    pub fn unrolled(self) -> Schedule {
        if self.repeats.is_empty() {
            return self;
        }
        Schedule { steps: self.carried_out().collect(), repeats: Vec::new(), ..self }
    }

    /// Returns the steps as they are carried out, one after the other.
    pub fn carried_out(&self) -> impl Iterator<Item = Step> {
        self.parts().flat_map(move |part| {
            let (once, repeat) = match part {
                ProgramPart::Once(steps) => (steps, None),
                ProgramPart::Repeat(repeat) => (&[][..], Some(repeat)),
            };
            let repeated = repeat
                .into_iter()
                .flat_map(move |repeat| (0..repeat.times).flat_map(move |time| self.steps_at(repeat, time)));
            once.iter().cloned().chain(repeated)
        })
    }

    /// Returns the position in `steps` of the step that is at a position of the program without loops.
    pub fn origin(&self, mut position: usize) -> usize {
        let mut start = 0;
        for part in self.parts() {
            let (steps, times) = match part {
                ProgramPart::Once(steps) => (steps.len(), 1),
                ProgramPart::Repeat(repeat) => (repeat.steps.len(), repeat.times as usize),
            };
            if position < steps * times {
                return start + position % steps;
            }
            position -= steps * times;
            start += steps;
        }
        start + position
    }

    /// Returns the programs without loops.
    pub fn all_unrolled(programs: &[Schedule]) -> Cow<'_, [Schedule]> {
        match programs.iter().all(|program| program.repeats.is_empty()) {
            true => Cow::Borrowed(programs),
            false => programs.iter().cloned().map(Schedule::unrolled).collect(),
        }
    }

    /// Returns the program with each step mapped, for these numbers of ranks and blocks. Loops remain if the
    /// mapped steps of all loops move evenly; otherwise all loops are unrolled.
    pub(super) fn map_steps(self, moduli: Moduli, look: Look, map: &dyn Fn(Step) -> Step) -> Schedule {
        let moves = |repeat: &Repeat| {
            let at = |time| self.steps_at(repeat, time).map(map).collect();
            loop_of(repeat.times, moduli, look, &at).map(|moves| Repeat { moves, ..repeat.clone() })
        };
        match self.repeats.iter().map(moves).collect::<Option<Vec<Repeat>>>() {
            Some(repeats) => {
                let steps = self.steps.into_iter().map(map).collect();
                Schedule { steps, repeats, ..self }
            }
            None => self.unrolled().map_steps(moduli, look, map),
        }
    }
}

/// At which times the steps of a loop are compared, to see whether they move evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// At each one: ranks or blocks are mapped by a list, such as that of the ranks on nodes.
    Always,
    /// At some, if there are many: the mapping is computed, so that uneven moves show in short loops too, or
    /// at the end of long ones.
    Sometimes,
}

/// Returns how the steps of a loop move, given the steps at each time; `None` if they do not move evenly.
pub(super) fn loop_of(
    times: u32,
    moduli: Moduli,
    look: Look,
    at: &dyn Fn(u32) -> Vec<Step>,
) -> Option<Vec<Move>> {
    let [first, second] = [0, 1].map(at);
    if first.len() != second.len() {
        return None;
    }
    let pairs = first.iter().zip(&second);
    let moves: Vec<Move> =
        pairs.map(|(first, second)| Move::between(first, second, moduli)).collect::<Option<_>>()?;
    let each_time = posts(&first);
    let is_even = |time: &u32| {
        let moved =
            first.iter().zip(&moves).map(|(step, by)| by.applied(step, *time, time * each_time, moduli));
        moved.eq(at(*time))
    };
    looked_at(times, look).iter().all(is_even).then_some(moves)
}

/// Returns the times that are compared.
fn looked_at(times: u32, look: Look) -> Vec<u32> {
    const ALL: u32 = 64;
    if look == Look::Always || times <= ALL { (1..times).collect() } else { vec![1, 2, times / 2, times - 1] }
}

/// Returns how many of the steps are posts.
pub(super) fn posts(steps: &[Step]) -> Post {
    steps.iter().filter(|step| step.is_post()).count() as Post
}

impl Move {
    /// Returns what moves one step to another; `None` if they have different numbers of runs.
    fn between(first: &Step, second: &Step, moduli: Moduli) -> Option<Move> {
        let further =
            |first: u32, second: u32, modulus: u32| (second % modulus + modulus - first % modulus) % modulus;
        let within = |first: u32, second: u32| further(first, second, moduli.blocks.max(1));
        let rank = match (first.named_rank(), second.named_rank()) {
            (Some(first), Some(second)) => further(first, second, moduli.size.max(1)),
            _ => 0,
        };
        let slot = match (first.slot(), second.slot()) {
            (Some(first), Some(second)) => within(first, second),
            _ => 0,
        };
        let (runs, others) = (first.runs(), second.runs());
        let by = |(first, second): (&Run, &Run)| within(first.first, second.first);
        Some(Move { rank, slot, runs: runs.iter().zip(&others).map(by).collect() })
            .filter(|_| runs.len() == others.len())
    }

    /// Moves a step by so many times, in which `posts` posts are made.
    fn advance(&self, step: &mut Step, times: u32, posts: Post, moduli: Moduli) {
        // The first time, a step is executed as it stands, even if it names a rank that does not exist.
        if times == 0 {
            return;
        }
        let blocks = moduli.blocks.max(1);
        let within =
            |number: u32, by: u32| number / blocks * blocks + add(number % blocks, by, times, blocks);
        let on = |run: &mut Run, by: u32| run.first = within(run.first, by);
        let to_rank = |rank: &mut u32| *rank = add(*rank, self.rank, times, moduli.size);
        let to_owner = |run: &mut Run| {
            if let Buffer::Shared(owner) = &mut run.buffer {
                to_rank(owner);
            }
        };
        match step {
            Step::Send { post, peer, message } | Step::Receive { post, peer, message } => {
                *post = post.wrapping_add(posts);
                to_rank(peer);
                let mut by = self.runs.iter();
                message.move_runs(|mut run| {
                    by.next().into_iter().for_each(|&by| on(&mut run, by));
                    run
                });
            }
            Step::Wait { posts: waited } => {
                waited.iter_mut().for_each(|post| *post = post.wrapping_add(posts));
            }
            Step::Copy { source, target } => {
                to_owner(source);
                [source, target].into_iter().zip(&self.runs).for_each(|(run, &by)| on(run, by));
            }
            Step::Reduce { left, right, target } => {
                [&mut *left, &mut *right].into_iter().for_each(to_owner);
                [left, right, target].into_iter().zip(&self.runs).for_each(|(run, &by)| on(run, by));
            }
            Step::Notify { slot } => *slot = within(*slot, self.slot),
            Step::Await { rank, slot, .. } => {
                to_rank(rank);
                *slot = within(*slot, self.slot);
            }
        }
    }

    fn applied(&self, step: &Step, time: u32, posts: Post, moduli: Moduli) -> Step {
        let mut later = step.clone();
        self.advance(&mut later, time, posts, moduli);
        later
    }
}

/// `number + time · by`, modulo.
fn add(number: u32, by: u32, time: u32, modulus: u32) -> u32 {
    ((u64::from(number) + u64::from(time) * u64::from(by)) % u64::from(modulus.max(1))) as u32
}
