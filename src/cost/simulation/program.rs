//! What a rank does, as far as it takes time.

use super::sizes::{Amount, Sizes};
use crate::algorithms::{Algorithm, Problem, RECURSIVE_DOUBLING_ALLREDUCE, Requirement};
use crate::cost::Machine;
use crate::engine::{Operation, Plan, Region};
use crate::schedule::Schedule;
use std::ops::Range;

/// Bytes of the number that tells a block's length.
const LENGTH_BYTES: usize = size_of::<u64>();

/// The program of one rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// What it does, in this order.
    pub steps: Vec<Step>,
    /// What it sends and receives, in the order of the steps.
    pub posts: Vec<Post>,
    /// The posts that the waits wait for, one wait after the other.
    pub awaited: Vec<u32>,
    /// How many waits there are.
    pub waits: u32,
}

/// A step of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Starts the next post.
    Post,
    /// Waits for a range of [`Program::awaited`].
    Wait(Range<u32>),
    /// Keeps the processor busy for so many seconds.
    Work(Amount),
}

/// A send or a receive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Post {
    /// The rank at the other end.
    pub peer: u32,
    /// Bytes of the message.
    pub bytes: Amount,
    pub direction: Direction,
    /// The first wait that waits for it.
    pub wait: u32,
    /// Whether the same wait waits for nothing in the other direction.
    pub is_alone: bool,
}

/// Whether a message goes or comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Send,
    Receive,
}

/// Writes the programs of ranks.
pub struct Compiler<'job> {
    pub algorithm: &'job Algorithm,
    pub problem: &'job Problem,
    /// Bytes of the call; none for blocks of any one length.
    pub bytes: Option<usize>,
    pub machine: &'job Machine,
}

impl Compiler<'_> {
    /// The program of a rank. If its algorithm needs lengths of blocks that only other ranks know, these are exchanged
    /// first.
    pub fn program(&self, rank: usize) -> Program {
        let schedule = self.algorithm.program(self.problem, rank);
        let requires = |requirement| self.algorithm.requires.contains(&requirement);
        let mut writer = Writer::new(self.machine);
        if requires(Requirement::BlockLengths) {
            writer.append(&schedule, &Sizes::each(LENGTH_BYTES));
        }
        if requires(Requirement::LongestBlock) {
            let problem = Problem { in_place: true, ..Problem::new(self.problem.size) };
            let allreduce = RECURSIVE_DOUBLING_ALLREDUCE.program(&problem, rank);
            writer.append(&allreduce, &Sizes::each(LENGTH_BYTES));
        }
        let collective = self.algorithm.collective;
        let sizes = Sizes::of(collective, self.problem, schedule.blocks, self.bytes);
        writer.append(&schedule, &sizes);
        writer.program
    }
}

/// Writes schedules down as a program, one after the other.
pub struct Writer<'job> {
    pub program: Program,
    machine: &'job Machine,
    /// Elements that were copied and reduced since the last other step.
    copied: usize,
    reduced: usize,
}

impl<'job> Writer<'job> {
    pub fn new(machine: &'job Machine) -> Self {
        Writer { program: Program::default(), machine, copied: 0, reduced: 0 }
    }

    pub fn append(&mut self, schedule: &Schedule, sizes: &Sizes) {
        let plan = Plan::new(schedule, &sizes.binding);
        // Posts without data are left out.
        let mut number_of = vec![None; plan.posts];
        for operation in &plan.operations {
            match operation {
                Operation::Send { post, peer, region, .. } => {
                    number_of[*post as usize] = Some(self.post(Direction::Send, *peer, region, sizes));
                }
                Operation::Receive { post, peer, region, .. } => {
                    number_of[*post as usize] = Some(self.post(Direction::Receive, *peer, region, sizes));
                }
                Operation::Wait { awaited } => {
                    self.end_work(sizes);
                    let posts = plan.awaited[awaited.clone()].iter();
                    self.wait(posts.filter_map(|&post| number_of[post as usize]));
                }
                Operation::Notify { .. }
                | Operation::Await { .. }
                | Operation::AwaitSlots
                | Operation::EndStripe => todo!(),
                Operation::Copy { source, .. } => self.copied += source.elements,
                Operation::Reduce { left, right, target } => {
                    self.reduced += target.elements;
                    self.copied += copies_of_reduction(*left, *right, *target) * target.elements;
                }
            }
        }
        self.end_work(sizes);
    }

    fn post(&mut self, direction: Direction, peer: u32, region: &Region, sizes: &Sizes) -> u32 {
        self.end_work(sizes);
        let bytes = sizes.element.times(region.elements as f64);
        self.program.steps.push(Step::Post);
        // Who is alone, and for which wait, shows when that is written.
        self.program.posts.push(Post { peer, bytes, direction, wait: u32::MAX, is_alone: true });
        self.program.posts.len() as u32 - 1
    }

    fn wait(&mut self, posts: impl Iterator<Item = u32>) {
        let program = &mut self.program;
        let start = program.awaited.len();
        program.awaited.extend(posts);
        let awaited = &program.awaited[start..];
        if awaited.is_empty() {
            return;
        }
        let has = |direction| awaited.iter().any(|&post| program.posts[post as usize].direction == direction);
        let is_alone = !(has(Direction::Send) && has(Direction::Receive));
        for &post in awaited {
            let post = &mut program.posts[post as usize];
            if post.wait == u32::MAX {
                (post.wait, post.is_alone) = (program.waits, is_alone);
            }
        }
        program.waits += 1;
        program.steps.push(Step::Wait(start as u32..program.awaited.len() as u32));
    }

    fn end_work(&mut self, sizes: &Sizes) {
        let processor = &self.machine.processor;
        let time = self.copied as f64 * processor.copy_time + self.reduced as f64 * processor.reduce_time;
        (self.copied, self.reduced) = (0, 0);
        if time > 0.0 {
            self.program.steps.push(Step::Work(sizes.element.times(time)));
        }
    }
}

/// MPI's operators leave the result where the right operand was.
fn copies_of_reduction(left: Region, right: Region, target: Region) -> usize {
    match target {
        _ if target == right => 0,
        _ if target == left => 2,
        _ => 1,
    }
}
