//! Calls in two stages: before the data can move, the ranks tell each other lengths of blocks.
//!
//! The first stage is a plan like any other, over numbers. The lengths of all blocks travel by the very schedule that is
//! to bring the blocks, so that each number comes to lie where its block will; the longest block is found by an allreduce.
//! What the first stage leaves behind completes the binding of the second.
//!
//! In slots, short blocks travel with their lengths. If the blocks of all ranks are short, the call has no second stage.

use super::{Binding, Memory, Plan, Region, SlotBounds, View};
use crate::algorithms::{Algorithm, Problem, Requirement};
use crate::schedule::{Buffer, Builder, Layout, Run, Schedule, SlotKind, Step};
use std::iter;
use std::sync::{Arc, Mutex};

/// The first stage of one rank's calls of one shape, and what the second is planned from.
///
/// Schedules of both stages are verified, each for itself. They need no more tags than one: a rank begins the second stage
/// when its first is complete, so between two ranks all messages of the first precede those of the second.
#[derive(Debug)]
pub struct LengthExchange {
    /// The first stage. It touches nothing but its receive buffer, of 64-bit numbers; its operator is the maximum.
    pub plan: Plan,
    /// What that buffer holds before, in bytes: the lengths of all blocks of the send buffer, of scratch memory and of the
    /// receive buffer as far as the rank knows them, in slots each with the longest one that the rank sends and room for the
    /// block; or only, in the last place, the length of its longest block.
    pub numbers: Vec<u64>,
    /// The blocks that this rank writes into its slots with their lengths; empty if one of them is too long.
    pub carried: Vec<Carried>,
    /// Where this rank expects the blocks that arrive with their lengths.
    pub delivered: Vec<Carried>,
    /// How many numbers there are of each block.
    width: usize,
    /// Of the second stage.
    schedule: Arc<Schedule>,
    /// What the call's arguments say.
    binding: Binding,
    use_of_lengths: UseOfLengths,
    /// The last answer. Programs repeat themselves.
    last: Mutex<Option<Arc<DataPlan>>>,
}

/// A block that travels with its length.
#[derive(Debug)]
pub struct Carried {
    /// Where its length is among the numbers.
    pub length: usize,
    /// Where it is in the caller's buffer.
    pub region: Region,
}

impl Carried {
    /// Where its bytes begin among the numbers.
    pub fn data(&self) -> usize {
        self.length + LENGTHS_IN_SLOTS
    }
}

/// What lengths are exchanged for.
#[derive(Debug)]
enum UseOfLengths {
    /// Blocks in scratch memory are as long as what passes through.
    OfScratch,
    /// Blocks in scratch memory are as long as the longest block.
    Padding,
    /// All ranks cut blocks alike, in slots of these bounds. The binding counts in bytes; so does every plan, if it must.
    Stripes { bounds: SlotBounds, bytes: Binding, counts_bytes: bool },
}

/// The second stage.
#[derive(Debug)]
pub struct DataPlan {
    /// The lengths that the first stage left in its receive buffer.
    learnt: Vec<u64>,
    /// What moves the data.
    pub plan: Plan,
    /// Whether a block is longer than its place in the receive buffer, so that only its beginning is delivered.
    pub is_truncated: bool,
}

/// In slots each length comes with the longest block of who shows it.
const LENGTHS_IN_SLOTS: usize = 2;

impl LengthExchange {
    /// The exchange that must precede a schedule of the algorithm, if any; `binding` is what the arguments say.
    pub fn new(
        algorithm: &Algorithm,
        problem: &Problem,
        schedule: &Arc<Schedule>,
        binding: &Binding,
    ) -> Option<LengthExchange> {
        let exchange = algorithm.exchange_of_lengths(problem, schedule.rank)?;
        let (sent, received) =
            (lengths(schedule, binding, Buffer::Send), lengths(schedule, binding, Buffer::Recv));
        let (use_of_lengths, sent, received) = match algorithm.requires.contains(&Requirement::LongestBlock) {
            true => {
                let longest = sent.into_iter().chain(received).max().unwrap_or(0);
                (UseOfLengths::Padding, vec![0], vec![longest])
            }
            false => (UseOfLengths::OfScratch, sent, received),
        };
        let (moved, numbers) = over_numbers(exchange, sent, received, 1);
        Some(LengthExchange {
            plan: Plan::new(&moved, &numbers_of_blocks(1)),
            numbers,
            carried: Vec::new(),
            delivered: Vec::new(),
            width: 1,
            schedule: Arc::clone(schedule),
            binding: binding.clone(),
            use_of_lengths,
            last: Mutex::default(),
        })
    }

    /// The same for a schedule that uses slots of these bounds. The bindings are what the arguments say, in elements and in bytes.
    /// `counts_bytes`: whether the elements of buffers are bytes, however short blocks are.
    pub fn in_slots(
        algorithm: &Algorithm,
        problem: &Problem,
        schedule: &Arc<Schedule>,
        [elements, bytes]: &[Binding; 2],
        counts_bytes: bool,
        bounds: SlotBounds,
    ) -> Option<LengthExchange> {
        let exchange = algorithm.exchange_of_lengths(problem, schedule.rank)?;
        let exchange = Schedule { slot_kind: SlotKind::Apart, ..exchange };
        // All the room in a cache line beside the flag.
        let width = (bounds.line / size_of::<u64>()).max(LENGTHS_IN_SLOTS);
        let shown = if shows_results(schedule) { Buffer::Recv } else { Buffer::Send };
        let longest = lengths(schedule, elements, shown).into_iter().max().unwrap_or(0);
        let numbers = |buffer| {
            let known =
                if buffer == shown { lengths(schedule, elements, buffer) } else { vec![0; schedule.blocks] };
            let of_block = |length| {
                let lengths = [length, if buffer == shown { longest } else { 0 }];
                lengths.into_iter().chain(iter::repeat_n(0, width - LENGTHS_IN_SLOTS))
            };
            known.into_iter().flat_map(of_block).collect()
        };
        let (moved, numbers) = over_numbers(exchange, numbers(Buffer::Send), numbers(Buffer::Recv), width);
        let results = numbers.len() - schedule.blocks * width;
        let carried = |buffer, block| Carried {
            length: if buffer == Buffer::Recv { results } else { 0 } + block * width,
            region: elements.piece(buffer, block).map_or(NO_DATA, |piece| piece.region),
        };
        let goes_along = longest <= bytes_that_go_along(width);
        Some(LengthExchange {
            plan: Plan::in_stripes(&moved, &numbers_of_blocks(width), size_of::<u64>(), &bounds),
            carried: (0..if goes_along { schedule.blocks } else { 0 })
                .map(|block| carried(shown, block))
                .filter(|carried| carried.region.elements > 0)
                .collect(),
            delivered: written_results(schedule).map(|block| carried(Buffer::Recv, block)).collect(),
            numbers,
            width,
            schedule: Arc::clone(schedule),
            binding: elements.clone(),
            use_of_lengths: UseOfLengths::Stripes { bounds, bytes: bytes.clone(), counts_bytes },
            last: Mutex::default(),
        })
    }

    /// Whether all blocks have arrived with their lengths; all ranks get the same answer. `numbers`: the receive buffer after the first stage.
    pub fn have_gone_along(&self, numbers: &[u64]) -> bool {
        matches!(self.use_of_lengths, UseOfLengths::Stripes { .. })
            && self.longest_of(numbers) <= bytes_that_go_along(self.width)
    }

    /// The lengths in the receive buffer of the first stage.
    pub fn lengths(&self, numbers: &[u64]) -> impl Iterator<Item = u64> {
        numbers.chunks_exact(self.width).flat_map(|block| block.iter().copied().take(LENGTHS_IN_SLOTS))
    }

    /// The second stage, from what the first left in its receive buffer.
    pub fn data(&self, numbers: &[u64]) -> Arc<DataPlan> {
        let mut last = self.last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match &*last {
            Some(known) if self.is_known(known, numbers) => Arc::clone(known),
            _ => {
                let (plan, is_truncated) = self.planned(numbers);
                let learnt = self.lengths(numbers).collect();
                let planned = Arc::new(DataPlan { learnt, plan, is_truncated });
                Arc::clone(last.insert(planned))
            }
        }
    }

    /// Whether a second stage was planned from the same lengths.
    pub fn is_known(&self, stage: &DataPlan, numbers: &[u64]) -> bool {
        self.lengths(numbers).eq(stage.learnt.iter().copied())
    }

    /// The longest block of any rank.
    fn longest_of(&self, numbers: &[u64]) -> u64 {
        // The root of a scatter receives no lengths, so it takes its own.
        let own = self.numbers.chunks_exact(self.width);
        self.told(numbers).chain(own).map(|of_block| of_block[1]).max().unwrap_or(0)
    }

    /// For each block that this rank receives: its length, the longest block of its sender, and room for the block.
    fn told<'a>(&self, numbers: &'a [u64]) -> std::slice::ChunksExact<'a, u64> {
        numbers[numbers.len() - self.schedule.blocks * self.width..].chunks_exact(self.width)
    }

    /// The plan of the second stage, and whether it delivers only the beginning of a block.
    fn planned(&self, numbers: &[u64]) -> (Plan, bool) {
        match &self.use_of_lengths {
            UseOfLengths::OfScratch => self.planned_with_lengths(numbers),
            UseOfLengths::Padding => {
                let longest = numbers.last().map_or(0, |&longest| longest as usize);
                (self.plan_with(&self.schedule, Layout::Uniform { elements: longest }), false)
            }
            UseOfLengths::Stripes { bounds, bytes, counts_bytes } => {
                self.planned_in_slots(numbers, bounds, bytes, *counts_bytes)
            }
        }
    }

    fn planned_with_lengths(&self, numbers: &[u64]) -> (Plan, bool) {
        // After the lengths of scratch blocks, those of what arrives, for the case that it has to go to scratch as well.
        let blocks = self.schedule.blocks;
        let scratch = Layout::packed(numbers[blocks..].iter().map(|&length| length as usize));
        let [arriving, expected] = [numbers, &self.numbers].map(|numbers| &numbers[numbers.len() - blocks..]);
        let plan = match arriving == expected {
            true => self.plan_with(&self.schedule, scratch),
            false => self.plan_with(&with_results_in_scratch(Schedule::clone(&self.schedule)), scratch),
        };
        let is_truncated = arriving.iter().zip(expected).any(|(arriving, expected)| arriving > expected);
        (plan, is_truncated)
    }

    /// A plan with bytes in scratch memory.
    fn plan_with(&self, schedule: &Schedule, scratch: Layout) -> Plan {
        Plan::new(schedule, &Binding { scratch: View::new(scratch, 1), ..self.binding.clone() })
    }

    /// Who receives a block of another length than it expects takes no more of a slot than was shown.
    fn planned_in_slots(
        &self,
        numbers: &[u64],
        bounds: &SlotBounds,
        bytes: &Binding,
        counts_bytes: bool,
    ) -> (Plan, bool) {
        let longest = self.longest_of(numbers) as usize;
        let are_shown = self.schedule.slot_kind == SlotKind::Lent && longest < bounds.least_lent;
        let schedule = match are_shown {
            true => &Schedule { slot_kind: SlotKind::Apart, ..Schedule::clone(&self.schedule) },
            false => &*self.schedule,
        };
        let arriving: Vec<usize> = self.told(numbers).map(|of_block| of_block[0] as usize).collect();
        let scratch = View::new(Layout::Uniform { elements: longest }, 1);
        let mut is_truncated = false;
        let mut is_expected = true;
        for block in written_results(schedule) {
            let expected = self.binding.bytes(Buffer::Recv.block(block));
            is_truncated |= arriving[block] > expected;
            is_expected &= arriving[block] == expected;
        }
        let bytes = Binding { scratch: scratch.clone(), ..bytes.clone() };
        // Who copies what is lent sees how long it is.
        let is_expected = is_expected || schedule.slot_kind == SlotKind::Lent;
        let plan = match is_expected && !counts_bytes {
            true => {
                let elements = Binding { scratch, ..self.binding.clone() };
                Plan::through_slots(schedule, &elements, &bytes, bounds)
            }
            false => {
                let recv = cut_to(&bytes.recv, &arriving);
                let send = cut_to(&bytes.send, &most_taken(schedule, &bytes));
                let plan = Plan::in_stripes(schedule, &Binding { send, recv, ..bytes }, 1, bounds);
                Plan { is_in_bytes: true, ..plan }
            }
        };
        (plan, is_truncated)
    }
}

const NO_DATA: Region = Region { offset: 0, memory: Memory::Buffer(Buffer::Recv), elements: 0 };

/// The longest block that travels with its length, in bytes. `width`: the numbers for each block.
fn bytes_that_go_along(width: usize) -> u64 {
    ((width - LENGTHS_IN_SLOTS) * size_of::<u64>()) as u64
}

/// The bytes of the blocks of a buffer, as far as the arguments say.
fn lengths(schedule: &Schedule, binding: &Binding, buffer: Buffer) -> Vec<u64> {
    (0..schedule.blocks).map(|block| binding.bytes(buffer.block(block)) as u64).collect()
}

/// Whether a rank shows blocks of its receive buffer, for it has no others.
fn shows_results(schedule: &Schedule) -> bool {
    schedule.steps.iter().any(|step| {
        matches!(step, Step::Copy { source, target }
            if source.buffer == Buffer::Recv && matches!(target.buffer, Buffer::Shared(_)))
    })
}

/// The blocks of the receive buffer that copies write.
fn written_results(schedule: &Schedule) -> impl Iterator<Item = usize> {
    let written = |step: &Step| match step {
        Step::Copy { target, .. } if target.buffer == Buffer::Recv => target.indices(),
        _ => 0..0,
    };
    schedule.steps.iter().flat_map(written)
}

/// The most bytes that are taken of each block of the send buffer: of one that goes to the receive buffer, as many as are expected there.
fn most_taken(schedule: &Schedule, binding: &Binding) -> Vec<usize> {
    let mut most = vec![usize::MAX; schedule.blocks];
    for step in &schedule.steps {
        if let Step::Copy { source, target } = step
            && (source.buffer, target.buffer) == (Buffer::Send, Buffer::Recv)
        {
            most[source.first as usize] = binding.bytes(*target);
        }
    }
    most
}

/// A view of the same blocks, each of no more than so many elements.
fn cut_to(view: &View, most: &[usize]) -> View {
    let cut = |(block, &most): (usize, &usize)| {
        let range = view.layout.block(block);
        (range.start, range.len().min(most))
    };
    let places = most.iter().enumerate().map(cut).collect();
    View { layout: Layout::Placed(places), ..view.clone() }
}

/// Blocks of so many 64-bit numbers.
fn numbers_of_blocks(numbers: usize) -> Binding {
    Binding::uniform(View::new(Layout::Uniform { elements: numbers }, size_of::<u64>()))
}

/// A schedule over one buffer of numbers, so many of each block, in which the blocks of the send buffer are followed by those of scratch
/// memory, which are zero at first, and those of the receive buffer.
fn over_numbers(
    schedule: Schedule,
    mut sent: Vec<u64>,
    received: Vec<u64>,
    numbers: usize,
) -> (Schedule, Vec<u64>) {
    let (blocks, scratch) = (schedule.blocks, schedule.scratch_blocks());
    let moved = schedule.map_runs(|run| match run.buffer {
        Buffer::Send => moved_to(run, Buffer::Recv, 0),
        Buffer::Scratch => moved_to(run, Buffer::Recv, blocks),
        Buffer::Recv => moved_to(run, Buffer::Recv, blocks + scratch),
        Buffer::Shared(_) => run,
    });
    sent.resize(sent.len() + scratch * numbers, 0);
    sent.extend(received);
    (moved, sent)
}

/// The same program, which brings its results to scratch blocks behind those that it uses, and from there to the receive
/// buffer: whatever the sender says of a block, its place in the receive buffer is what the receiver says.
fn with_results_in_scratch(schedule: Schedule) -> Schedule {
    let mut schedule = schedule.unrolled();
    let first = schedule.scratch_blocks();
    let aside = |run: Run| match run.buffer {
        Buffer::Recv => moved_to(run, Buffer::Scratch, first),
        Buffer::Send | Buffer::Scratch | Buffer::Shared(_) => run,
    };
    let mut results = Builder::new(schedule.rank, schedule.size, schedule.blocks);
    let mut deliver = |run: Run| {
        for block in run.indices().filter(|_| run.buffer == Buffer::Recv) {
            results.copy(Buffer::Scratch.block(first + block), Buffer::Recv.block(block));
        }
    };
    for step in &mut schedule.steps {
        match step {
            Step::Receive { message, .. } => {
                message.runs().for_each(&mut deliver);
                *message = message.runs().map(aside).collect();
            }
            Step::Copy { target, .. } => {
                deliver(*target);
                *target = aside(*target);
            }
            Step::Send { .. }
            | Step::Wait { .. }
            | Step::Reduce { .. }
            | Step::Notify { .. }
            | Step::Await { .. } => {}
        }
    }
    schedule.then(results.build())
}

/// A run of as many blocks, so many further on in a buffer.
fn moved_to(run: Run, buffer: Buffer, start: usize) -> Run {
    buffer.blocks(start + run.indices().start..start + run.indices().end)
}
