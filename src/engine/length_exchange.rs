//! Calls in two stages: before the data can move, the ranks exchange the lengths of blocks.
//!
//! The first stage is a plan over numbers. Block lengths travel by the same schedule that later moves the
//! blocks, so each number arrives where its block will. An allreduce finds the longest block. The results of
//! the first stage complete the binding of the second stage.
//!
//! In slots, short blocks travel with their lengths: very short ones in the same cache lines, others in short slots. If
//! the blocks of all ranks are short, the call has no second stage.

use super::{Binding, Memory, Plan, Region, SlotBounds, Slots, View};
use crate::algorithms::{Algorithm, Problem, Requirement};
use crate::schedule::{Buffer, Builder, Layout, Run, Schedule, SlotKind, Step};
use std::collections::BTreeSet;
use std::iter;
use std::sync::{Arc, Mutex};

/// The first stage of one rank's calls of one shape, and the inputs for planning the second stage.
///
/// The schedules of the two stages are verified separately. One tag is enough for both: a rank starts the second stage
/// when its first is complete. So between two ranks all messages of the first stage precede those of the second.
#[derive(Debug)]
pub struct LengthExchange {
    /// The first stage. It only accesses its receive buffer, of 64-bit numbers. Its operator is the maximum.
    pub plan: Plan,
    /// The initial content of that buffer, in bytes: the lengths of all blocks in the send buffer, scratch and receive
    /// buffer, as far as the rank knows them. In slots, the longest block that the rank sends and room for the block
    /// follow each length. If only the longest block matters, the last number is the length of the rank's longest one.
    pub numbers: Vec<u64>,
    /// The blocks that this rank writes behind their lengths. Empty if one of them is too long for that.
    pub carried: Vec<Carried>,
    /// The blocks that this rank writes to short slots, each with its slot. Empty if the first stage carries them, or
    /// if one of them is too long for a short slot.
    pub shown: Vec<[Region; 2]>,
    /// The blocks that stay with this rank, each with its target, if the first stage carries none and each is short.
    pub kept: Vec<[Region; 2]>,
    /// Where this rank expects the blocks that arrive with their lengths. The second region is where a block is that
    /// does not arrive behind its length: in a slot, or in the send buffer.
    pub delivered: Vec<(Carried, Region)>,
    /// The short slots.
    pub short_slots: Slots,
    /// Numbers for each block.
    width: usize,
    /// The schedule of the second stage.
    schedule: Arc<Schedule>,
    /// The binding by the call's arguments.
    binding: Binding,
    use_of_lengths: UseOfLengths,
    /// The last second stage, because programs repeat their calls.
    last: Mutex<Option<Arc<DataPlan>>>,
}

/// How the blocks of one rank, or of all, travel. The longest one decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Journey {
    /// With their lengths, in the same cache lines.
    BehindLengths,
    /// With their lengths, in short slots.
    InShortSlots,
    /// In the second stage.
    InSecondStage,
}

/// A block that travels with its length.
#[derive(Debug)]
pub struct Carried {
    /// The index of its length among the numbers.
    pub length: usize,
    /// Its place in the caller's buffer.
    pub region: Region,
}

impl Carried {
    /// Returns the index among the numbers at which its bytes start.
    pub fn data(&self) -> usize {
        self.length + LENGTHS_IN_SLOTS
    }
}

/// What the ranks need lengths for.
#[derive(Debug)]
enum UseOfLengths {
    /// A block in scratch memory is as long as the block that passes through it.
    OfScratch,
    /// A block in scratch memory is as long as the longest block of any rank.
    Padding,
    /// All ranks cut blocks alike. `bytes` is the binding in bytes; `counts_bytes` makes every plan use it.
    Stripes { bounds: SlotBounds, bytes: Binding, counts_bytes: bool },
}

/// The second stage.
#[derive(Debug)]
pub struct DataPlan {
    /// The lengths that the first stage left in its receive buffer.
    learnt: Vec<u64>,
    pub plan: Plan,
    /// Whether a block is longer than its place in the receive buffer. If so, only its beginning is delivered.
    pub is_truncated: bool,
}

/// Numbers in a slot before the block: its length, and the longest block of the rank that shows it.
const LENGTHS_IN_SLOTS: usize = 2;

impl LengthExchange {
    /// Returns the exchange that must precede `schedule`, if any. `binding` comes from the call's arguments.
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
            shown: Vec::new(),
            kept: Vec::new(),
            delivered: Vec::new(),
            short_slots: Slots::Lines,
            width: 1,
            schedule: Arc::clone(schedule),
            binding: binding.clone(),
            use_of_lengths,
            last: Mutex::default(),
        })
    }

    /// Like [`LengthExchange::new`], for a schedule with slots. The bindings come from the call's arguments, in
    /// elements and in bytes. `counts_bytes`: whether the elements of buffers are bytes, however short blocks are.
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
        // A cache line has this much room beside the flag.
        let width = (bounds.line / size_of::<u64>()).max(LENGTHS_IN_SLOTS);
        let shown = if shows_results(schedule) { Buffer::Recv } else { Buffer::Send };
        // Not every block goes somewhere: a rank may have more sources than destinations, or a neighbour beyond a border.
        let given: BTreeSet<usize> =
            copies(schedule).filter_map(|[(buffer, block), _]| (buffer == shown).then_some(block)).collect();
        let longest =
            given.iter().map(|&block| elements.bytes_of_block(shown, block) as u64).max().unwrap_or(0);
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
        let place = |buffer, index| match buffer {
            Buffer::Shared(_) => Region { offset: index, memory: Memory::Buffer(buffer), elements: 0 },
            _ => elements.piece(buffer, index).map_or(NO_DATA, |piece| piece.region),
        };
        let delivered = copies(schedule).filter(|[_, target]| target.0 == Buffer::Recv);
        let mut exchange = LengthExchange {
            plan: Plan::in_stripes(&moved, &numbers_of_blocks(width), size_of::<u64>(), &bounds),
            carried: Vec::new(),
            shown: Vec::new(),
            kept: Vec::new(),
            delivered: delivered
                .map(|[(buffer, index), (_, block)]| (carried(Buffer::Recv, block), place(buffer, index)))
                .collect(),
            short_slots: bounds.short_slots(schedule.slots),
            numbers,
            width,
            schedule: Arc::clone(schedule),
            binding: elements.clone(),
            use_of_lengths: UseOfLengths::Stripes { bounds, bytes: bytes.clone(), counts_bytes },
            last: Mutex::default(),
        };
        let has_data = |region: &Region| region.elements > 0;
        match exchange.journey_with(longest) {
            // The packed data lie elsewhere. Their blocks are so long that those of all ranks go in the second stage.
            _ if counts_bytes => {}
            Journey::BehindLengths => {
                let blocks = given.into_iter().map(|block| carried(shown, block));
                exchange.carried = blocks.filter(|carried| has_data(&carried.region)).collect();
            }
            Journey::InShortSlots => {
                let own = copies(schedule).filter(|[source, _]| !matches!(source.0, Buffer::Shared(_)));
                let regions = own.map(|copy| copy.map(|(buffer, index)| place(buffer, index)));
                let is_kept = |copy: &[Region; 2]| copy[1].memory == Memory::Buffer(Buffer::Recv);
                (exchange.kept, exchange.shown) =
                    regions.filter(|[block, _]| has_data(block)).partition(is_kept);
            }
            Journey::InSecondStage => {}
        }
        Some(exchange)
    }

    /// Returns how the blocks of all ranks travel; all ranks agree. `numbers`: the result of the first stage.
    pub fn journey(&self, numbers: &[u64]) -> Journey {
        match self.use_of_lengths {
            UseOfLengths::Stripes { .. } => self.journey_with(self.longest_of(numbers)),
            UseOfLengths::OfScratch | UseOfLengths::Padding => Journey::InSecondStage,
        }
    }

    /// Returns how this rank was shown a block: as all that its sender shows. `numbers`: the result of the first stage.
    pub fn journey_of(&self, block: &Carried, numbers: &[u64]) -> Journey {
        self.journey_with(numbers[block.length + 1])
    }

    fn journey_with(&self, longest: u64) -> Journey {
        match self.short_slots {
            _ if longest <= bytes_that_go_along(self.width) => Journey::BehindLengths,
            Slots::Apart { stride, .. } if longest <= stride as u64 => Journey::InShortSlots,
            _ => Journey::InSecondStage,
        }
    }

    /// Returns the lengths in the receive buffer of the first stage.
    pub fn lengths(&self, numbers: &[u64]) -> impl Iterator<Item = u64> {
        numbers.chunks_exact(self.width).flat_map(|block| block.iter().copied().take(LENGTHS_IN_SLOTS))
    }

    /// Returns the second stage for the numbers that the first stage left in its receive buffer.
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

    /// Whether the second stage was planned from the same lengths.
    pub fn is_known(&self, stage: &DataPlan, numbers: &[u64]) -> bool {
        self.lengths(numbers).eq(stage.learnt.iter().copied())
    }

    /// Returns the length of the longest block of any rank.
    fn longest_of(&self, numbers: &[u64]) -> u64 {
        // Lengths of blocks for others arrive in scratch. The root of a scatter receives no lengths, so its own also count.
        let arrived = numbers[self.schedule.blocks * self.width..].chunks_exact(self.width);
        let own = self.numbers.chunks_exact(self.width);
        arrived.chain(own).map(|of_block| of_block[1]).max().unwrap_or(0)
    }

    /// Returns, for each block that this rank receives: its length, its sender's longest block, room for the block.
    fn told<'a>(&self, numbers: &'a [u64]) -> std::slice::ChunksExact<'a, u64> {
        numbers[numbers.len() - self.schedule.blocks * self.width..].chunks_exact(self.width)
    }

    /// Returns the plan of the second stage, and whether the plan delivers only the beginning of a block.
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
        // The lengths of arriving blocks follow, because arriving blocks may have to go to scratch as well.
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

    /// Returns a plan whose scratch memory has bytes as elements.
    fn plan_with(&self, schedule: &Schedule, scratch: Layout) -> Plan {
        Plan::new(schedule, &Binding { scratch: View::new(scratch, 1), ..self.binding.clone() })
    }

    /// A rank that receives a block of an unexpected length takes no more from a slot than its sender showed.
    fn planned_in_slots(
        &self,
        numbers: &[u64],
        bounds: &SlotBounds,
        bytes: &Binding,
        counts_bytes: bool,
    ) -> (Plan, bool) {
        let longest = self.longest_of(numbers) as usize;
        // A block with a datatype of its own is one element, which stripes do not cut.
        let is_typed = [&self.binding.send, &self.binding.recv].iter().any(|view| view.lists_blocks());
        let fits = !is_typed || longest <= bounds.longest_stripe(self.schedule.slots);
        let are_shown = self.schedule.slot_kind == SlotKind::Lent && longest < bounds.least_lent && fits;
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
        // A slot is copied to a block with a datatype of its own as a whole, so a shorter one is an error, too.
        is_truncated |= is_typed && are_shown && !is_expected;
        // A rank that copies a lent block sees its length.
        let is_expected = is_expected || is_typed || schedule.slot_kind == SlotKind::Lent;
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

/// Returns the longest block in bytes that can travel with its length. `width` is the numbers for each block.
fn bytes_that_go_along(width: usize) -> u64 {
    ((width - LENGTHS_IN_SLOTS) * size_of::<u64>()) as u64
}

/// Returns the bytes of a buffer's blocks, as far as the arguments say.
fn lengths(schedule: &Schedule, binding: &Binding, buffer: Buffer) -> Vec<u64> {
    (0..schedule.blocks).map(|block| binding.bytes_of_block(buffer, block) as u64).collect()
}

/// Whether a rank shows blocks of its receive buffer, because it has no others.
fn shows_results(schedule: &Schedule) -> bool {
    schedule.steps.iter().any(|step| {
        matches!(step, Step::Copy { source, target }
            if source.buffer == Buffer::Recv && matches!(target.buffer, Buffer::Shared(_)))
    })
}

/// A buffer and the index of a block or slot in it.
type Place = (Buffer, usize);

/// Returns source and target of each copied block.
fn copies(schedule: &Schedule) -> impl Iterator<Item = [Place; 2]> {
    let copied = schedule.steps.iter().filter_map(|step| match step {
        Step::Copy { source, target } => Some((*source, *target)),
        _ => None,
    });
    copied.flat_map(|(source, target)| {
        let blocks = source.indices().zip(target.indices());
        blocks.map(move |(from, to)| [(source.buffer, from), (target.buffer, to)])
    })
}

/// Returns the blocks of the receive buffer that copies write.
fn written_results(schedule: &Schedule) -> impl Iterator<Item = usize> {
    copies(schedule).filter(|[_, target]| target.0 == Buffer::Recv).map(|[_, (_, block)]| block)
}

/// Returns the most bytes to take of each send block: if it goes to the receive buffer, as many as fit there.
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

/// Returns a view of the same blocks, each cut to at most `most` elements. The view may have fewer blocks.
fn cut_to(view: &View, most: &[usize]) -> View {
    let cut = |(block, &most): (usize, &usize)| {
        let range = view.layout.block(block);
        (range.start, range.len().min(most))
    };
    let places = most.iter().enumerate().filter(|&(block, _)| view.has(block)).map(cut).collect();
    View { layout: Layout::Placed(places), ..view.clone() }
}

/// Returns a binding to blocks of `numbers` 64-bit numbers.
fn numbers_of_blocks(numbers: usize) -> Binding {
    Binding::uniform(View::new(Layout::Uniform { elements: numbers }, size_of::<u64>()))
}

/// Turns a schedule into one over a single buffer of numbers, `numbers` for each block. The send blocks are
/// followed by the scratch blocks, which start as zero, and the receive blocks.
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

/// Moves the results of a program to scratch blocks behind those that it uses, then copies them to the receive buffer.
/// So a block arrives with the sender's length, and its place in the receive buffer keeps the receiver's length.
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

/// Returns the same blocks in `buffer`, `start` blocks further on.
fn moved_to(run: Run, buffer: Buffer, start: usize) -> Run {
    buffer.blocks(start + run.indices().start..start + run.indices().end)
}
