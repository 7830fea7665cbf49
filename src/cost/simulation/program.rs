//! What a rank does, as far as it takes time.

use super::charge::Charged;
use super::sizes::{Amount, Lengths, Sizes, Total};
use crate::algorithms::{Algorithm, Collective, Problem};
use crate::cost::machine::Company;
use crate::cost::{ByteTime, Machine, Processor};
use crate::engine::{CACHE_LINE, Memory, Operation, Plan, Region, SlotBounds, Slots, Stripes};
use crate::schedule::{Buffer, Schedule, SlotKind};
use std::collections::HashMap;
use std::ops::Range;

/// Bytes of a block's length, where ranks exchange lengths.
const LENGTH_BYTES: usize = size_of::<u64>();

/// Blocks of more stripes are priced with longer slots, so that there are no more: a program lists the
/// actions of all.
const MOST_STRIPES: usize = 256;

/// The most slots in all stripes together. In large jobs ranks have many slots.
const MOST_SLOTS_OF_STRIPES: usize = 1 << 18;

/// The program of one rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// What the rank does, in this order.
    pub actions: Vec<Action>,
    /// Sends and receives, in the order of the actions.
    pub posts: Vec<Post>,
    /// The posts that the waits await, one wait after the other.
    pub awaited: Vec<u32>,
    /// How many waits there are, for posts or for signals.
    pub waits: u32,
    /// The signals that the rank gives, in the order of the actions.
    pub given: Vec<Signal>,
    /// The signals that the rank waits for, in the order of the actions.
    pub expected: Vec<Signal>,
    /// Bytes that the rank reads in slots of other ranks.
    pub read: Total,
    /// Bytes of the rank's scratch memory.
    pub scratch: Total,
}

impl Program {
    /// Returns how many posts and signals have to be matched.
    pub fn posts_and_signals(&self) -> usize {
        self.posts.len() + self.given.len() + self.expected.len()
    }

    /// Returns the program's messages and signals alone.
    pub fn without_work(mut self) -> Program {
        self.actions.retain(|action| !matches!(action, Action::Work(_)));
        Program { read: Total::default(), ..self }
    }

    /// Returns the program's sends, its receives and its signals alone, each in their order, whenever the rank waits for them.
    pub fn without_order(mut self) -> Program {
        for post in &mut self.posts {
            (post.wait, post.company, post.repeats) = (u32::MAX, Company::OneWay, false);
        }
        self.posts.sort_by_key(|post| post.direction as usize);
        Program { actions: Vec::new(), awaited: Vec::new(), waits: 0, read: Total::default(), ..self }
    }
}

/// One step of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Starts the next post.
    Post,
    /// Waits for a range of [`Program::awaited`].
    Wait(Range<u32>),
    /// Keeps the processor busy with so many bytes.
    Work(Work),
    /// Gives the next signal.
    Give,
    /// Waits for the next signal.
    Expect,
}

/// Bytes that a processor works on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    pub copied: Amount,
    /// Results of reductions of operands in the rank's own memory.
    pub reduced: Amount,
    /// Results of reductions whose other operand is in a slot of another rank. It is read while the processor reduces.
    pub reduced_from_slots: Amount,
    /// Read in slots of other ranks.
    pub read: Amount,
    /// Copied from other ranks' own memory.
    pub copied_singly: Amount,
}

impl Work {
    /// Returns the amounts in the order of [`Work::times`].
    pub fn amounts(&self) -> [Amount; 5] {
        [self.copied, self.reduced, self.reduced_from_slots, self.read, self.copied_singly]
    }

    /// Returns what is read in slots of other ranks.
    pub fn in_slots(&self) -> [Amount; 2] {
        [self.reduced_from_slots, self.read]
    }

    /// Returns what each byte of work costs if a rank has `held` bytes in its call, and by which parameter of the machine.
    pub fn times(machine: &Machine, held: f64) -> [(Charged, f64); 5] {
        let (processor, shared) = (&machine.processor, machine.shared());
        let reading = (Charged::Reading, shared.byte_time.at(held));
        let reducing = (Charged::Reduction, processor.reduce_time.at(held));
        [
            (Charged::Copy, processor.copy_time.at(held)),
            reducing,
            if reading.1 > reducing.1 { reading } else { reducing },
            reading,
            (Charged::SingleCopy, shared.time_of_single_copies().at(held)),
        ]
    }
}

/// Signals between ranks of a node through the memory that they share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// A rank has raised the flag of a slot `times` times in a stripe.
    Flag { rank: u32, stripe: u32, slot: u32, times: u32 },
    /// All ranks of the node have ended a stripe.
    End { stripe: u32 },
}

/// A send or a receive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Post {
    /// The rank at the other end.
    pub peer: u32,
    /// Bytes of the message.
    pub bytes: Amount,
    pub direction: Direction,
    /// The first wait that waits for it; `u32::MAX` if none does.
    pub wait: u32,
    /// What that wait waits for besides.
    pub company: Company,
    /// Whether it is a send to the rank to which the rank's send before was.
    pub repeats: bool,
}

/// Whether a message goes or comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    Send,
    Receive,
}

/// Writes the programs of ranks.
pub struct Compiler<'job> {
    pub algorithm: &'job Algorithm,
    pub collective: Collective,
    pub problem: &'job Problem,
    /// The most bytes of a block in its slot, if limited.
    pub stripe: Option<usize>,
    pub lengths: Lengths,
    pub machine: &'job Machine,
}

impl Compiler<'_> {
    /// Returns the program of a rank. If its algorithm needs lengths of blocks that only other ranks know,
    /// the program exchanges them first. In slots, short blocks travel with them.
    pub fn program(&self, rank: usize) -> Program {
        let schedule = self.algorithm.program(self.problem, rank);
        let sizes = Sizes::of(self.collective, self.problem, schedule.blocks, self.lengths);
        let mut writer = Writer { stripe: self.stripe, ..Writer::new(self.machine) };
        if let Some(exchange) = self.algorithm.exchange_of_lengths(self.problem, rank) {
            let exchange = Schedule { slot_kind: SlotKind::Apart, ..exchange };
            let longest = sizes.binding.scratch.layout.longest(schedule.blocks);
            if go_with_lengths(schedule.slots, self.stripe, longest) {
                writer.append(&exchange, &sizes);
                return writer.program;
            }
            writer.append(&exchange, &Sizes::each(LENGTH_BYTES));
        }
        writer.append(&schedule, &sizes);
        writer.program
    }
}

/// Writes schedules as one program, one after the other.
pub struct Writer<'job> {
    pub program: Program,
    machine: &'job Machine,
    /// The most bytes of a block in its slot, if limited.
    pub stripe: Option<usize>,
    /// How many stripes have been written, of all schedules together.
    stripes: usize,
    /// To which rank the last send is.
    last_target: Option<u32>,
    since: Elements,
}

/// Elements that the rank works on, not yet written as an action.
#[derive(Default)]
struct Elements {
    copied: usize,
    reduced: usize,
    reduced_from_slots: usize,
    /// In slots of other ranks.
    read: usize,
    /// From other ranks' own memory.
    copied_singly: usize,
}

impl<'job> Writer<'job> {
    pub fn new(machine: &'job Machine) -> Self {
        let (program, since) = Default::default();
        Writer { program, machine, stripe: None, stripes: 0, last_target: None, since }
    }

    pub fn append(&mut self, schedule: &Schedule, sizes: &Sizes) {
        if schedule.slots == 0 {
            let plan = Plan::new(schedule, &sizes.binding);
            self.note_scratch(plan.scratch_elements, sizes);
            return self.append_operations(&plan, &plan.operations, Stripe::of(schedule.rank, 0, 1), sizes);
        }
        let longest = sizes.binding.scratch.layout.longest(schedule.blocks);
        let bounds = slot_bounds(schedule.slots, self.stripe, longest);
        let stripes = Stripes::new(schedule, &sizes.binding, 1, &bounds);
        let plan = stripes.all();
        self.note_scratch(plan.scratch_elements, sizes);
        for (operations, times) in plan.kinds_of_stripes() {
            for _ in 0..times {
                let stripe = Stripe::of(schedule.rank, self.stripes, stripes.slots.banks());
                self.append_operations(&plan, operations, stripe, sizes);
                self.stripes += 1;
            }
        }
        if plan.lent_bytes > 0 {
            self.expect(Signal::End { stripe: self.stripes as u32 - 1 });
        }
    }

    /// Appends operations of a plan.
    fn append_operations(
        &mut self,
        plan: &Plan,
        operations: &[Operation],
        mut stripe: Stripe,
        sizes: &Sizes,
    ) {
        let own = stripe.rank;
        // The plan has no posts without data; their numbers stay `None`.
        let mut number_of = vec![None; plan.posts];
        for operation in operations {
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
                Operation::Lend { copy, .. } if copy.is_needed => self.since.copied += copy.bytes,
                Operation::Lend { .. } => {}
                Operation::Notify { slot } => {
                    self.end_work(sizes);
                    self.give(stripe.raised(*slot));
                }
                &Operation::Await { rank, slot, times } => {
                    self.end_work(sizes);
                    self.expect(Signal::Flag { rank, stripe: stripe.number, slot, times });
                }
                Operation::AwaitSlots => {
                    if let Some(stripe) = stripe.number.checked_sub(stripe.banks) {
                        self.end_work(sizes);
                        self.expect(Signal::End { stripe });
                    }
                }
                Operation::EndStripe { .. } => {
                    self.end_work(sizes);
                    self.give(Signal::End { stripe: stripe.number });
                }
                Operation::Repeat { .. } => unreachable!("the program of an algorithm has no loops"),
                Operation::Copy { source, rows, .. } => {
                    let is_lent = plan.slots == Some(Slots::Lent);
                    self.copy(together(*source, rows.number()), own, is_lent, sizes)
                }
                Operation::Reduce { left, right, target, elements, rows } => {
                    let [left, right, target] =
                        [left, right, target].map(|place| place.region(rows.number() * elements));
                    self.reduce(left, right, target, own, sizes);
                }
            }
        }
        self.end_work(sizes);
    }

    fn post(&mut self, direction: Direction, peer: u32, region: &Region, sizes: &Sizes) -> u32 {
        self.end_work(sizes);
        let bytes = sizes.element.times(region.elements as f64);
        self.program.actions.push(Action::Post);
        // [`Writer::wait`] sets `wait` and `company`.
        let company = Company::OneWay;
        let repeats = direction == Direction::Send && self.last_target.replace(peer) == Some(peer);
        self.program.posts.push(Post { peer, bytes, direction, wait: u32::MAX, company, repeats });
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
        let sends = awaited.iter().filter(|&&post| program.posts[post as usize].direction == Direction::Send);
        let sends = sends.count();
        let company = match (sends, awaited.len() - sends) {
            (0, _) | (_, 0) => Company::OneWay,
            (1, 1) => Company::Exchange,
            _ => Company::Others,
        };
        for &post in awaited {
            let post = &mut program.posts[post as usize];
            if post.wait == u32::MAX {
                (post.wait, post.company) = (program.waits, company);
            }
        }
        program.waits += 1;
        program.actions.push(Action::Wait(start as u32..program.awaited.len() as u32));
    }

    fn give(&mut self, signal: Signal) {
        self.program.given.push(signal);
        self.program.actions.push(Action::Give);
    }

    fn expect(&mut self, signal: Signal) {
        self.program.expected.push(signal);
        self.program.actions.push(Action::Expect);
        self.program.waits += 1;
    }

    fn copy(&mut self, source: Region, own: u32, is_lent: bool, sizes: &Sizes) {
        if is_of_others(source, own) {
            let read = if is_lent { &mut self.since.copied_singly } else { &mut self.since.read };
            *read += source.elements;
            self.note_read(source.elements, sizes);
        } else {
            self.since.copied += source.elements;
        }
    }

    /// MPI's operators leave the result where the right operand was, so that one may have to be copied first.
    fn reduce(&mut self, left: Region, right: Region, target: Region, own: u32, sizes: &Sizes) {
        let copies = copies_of_reduction(left, right, target);
        if copies > 0 {
            self.copy(right, own, false, sizes);
            self.since.copied += (copies - 1) * target.elements;
        }
        if is_of_others(left, own) {
            self.note_read(target.elements, sizes);
            self.since.reduced_from_slots += target.elements;
        } else {
            self.since.reduced += target.elements;
        }
    }

    fn note_scratch(&mut self, elements: usize, sizes: &Sizes) {
        self.program.scratch.add(sizes.element.times(elements as f64));
    }

    fn note_read(&mut self, elements: usize, sizes: &Sizes) {
        self.program.read.add(sizes.element.times(elements as f64));
    }

    fn end_work(&mut self, sizes: &Sizes) {
        let Processor { copy_time, reduce_time, .. } = self.machine.processor;
        let shared = self.machine.shared();
        let Elements { copied, reduced, reduced_from_slots, read, copied_singly } =
            std::mem::take(&mut self.since);
        // Work that takes no time is left out, so that ranks that differ only in such work are alike.
        let bytes = |elements: usize, times: &[ByteTime]| {
            sizes.element.times(if times.iter().all(ByteTime::is_none) { 0.0 } else { elements as f64 })
        };
        let work = Work {
            copied: bytes(copied, &[copy_time]),
            reduced: bytes(reduced, &[reduce_time]),
            reduced_from_slots: bytes(reduced_from_slots, &[reduce_time, shared.byte_time]),
            read: bytes(read, &[shared.byte_time]),
            copied_singly: bytes(copied_singly, &[shared.time_of_single_copies()]),
        };
        if work.amounts().iter().any(|amount| amount.with(1.0) > 0.0) {
            self.program.actions.push(Action::Work(work));
        }
    }
}

/// Whether blocks of up to `longest` bytes need no second stage, if the ranks exchange lengths in `slots` slots.
pub fn go_with_lengths(slots: usize, stripe: Option<usize>, longest: usize) -> bool {
    let bounds = SlotBounds { stripe, ..SlotBounds::DEFAULT };
    slots > 0 && longest <= bounds.longest_short_block(slots)
}

/// Returns the bounds of a rank's `slots` slots for blocks of up to `longest` bytes. `stripe` limits the
/// bytes of a block in its slot, if set.
pub fn slot_bounds(slots: usize, stripe: Option<usize>, longest: usize) -> SlotBounds {
    let most_stripes = (MOST_SLOTS_OF_STRIPES / slots).clamp(1, MOST_STRIPES);
    let least_slot = longest.div_ceil(most_stripes).next_multiple_of(CACHE_LINE);
    SlotBounds {
        bank: SlotBounds::DEFAULT.bank.max(least_slot * slots),
        stripe: stripe.map(|stripe| stripe.max(least_slot)),
        ..SlotBounds::DEFAULT
    }
}

/// The stripe of a rank that is being written, the number of banks of slots, and how many times each flag was
/// raised.
struct Stripe {
    rank: u32,
    number: u32,
    banks: u32,
    raised: HashMap<u32, u32>,
}

impl Stripe {
    fn of(rank: usize, number: usize, banks: usize) -> Stripe {
        Stripe { rank: rank as u32, number: number as u32, banks: banks as u32, raised: HashMap::new() }
    }

    fn raised(&mut self, slot: u32) -> Signal {
        let times = self.raised.entry(slot).or_default();
        *times += 1;
        Signal::Flag { rank: self.rank, stripe: self.number, slot, times: *times }
    }
}

fn is_of_others(region: Region, own: u32) -> bool {
    matches!(region.memory, Memory::Buffer(Buffer::Shared(rank)) if rank != own)
}

/// Returns several regions as one: it does not matter here where elements lie.
fn together(region: Region, number: usize) -> Region {
    Region { elements: number * region.elements, ..region }
}

/// Returns how many copies a reduction needs: MPI's operators leave the result where the right operand was.
fn copies_of_reduction(left: Region, right: Region, target: Region) -> usize {
    match target {
        _ if target == right => 0,
        _ if target == left => 2,
        _ => 1,
    }
}
