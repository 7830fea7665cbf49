//! Tests the engine itself, with all ranks in one process: every registered algorithm, random delivery orders, both
//! send semantics, and all kinds of buffers: datatypes with gaps, negative lower bounds and extents, blocks in
//! disorder.
//! Compares the results with locally computed ones. On up to 5 ranks, tests all of the verifier's problems. On more,
//! tests some roots and radices, including the extreme ones; `make check-long` tests all.

use rustcoll::algorithms::{Algorithm, Collective, Cut, Edge, Problem, REGISTRY, default_radix};
use rustcoll::engine::in_process::{Area, Areas, Call, ElementType, Semantics, run, run_all};
use rustcoll::engine::{
    Binding, DataPlan, Journey, LengthExchange, Memory as RegionMemory, Plan, Region, SlotBounds, Slots,
};
use rustcoll::engine::{Counts, bind, bind_two_groups};
use rustcoll::schedule::{Buffer, Schedule, SlotKind};
use rustcoll::verify::problems;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

const SIZES: [usize; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16];

/// With up to so many ranks, all problems are tested.
const EVERY_PROBLEM: usize = 5;

/// The content of memory that nothing has written.
const UNTOUCHED: u8 = 0xa5;

/// Counts are in units of so many bytes of data, because ranks may use elements of different sizes.
const UNIT: usize = 8;

/// The most bytes of a reduction's element.
const EXTENT: usize = 24;

/// No block has so many units.
const LONGEST: usize = 64;

/// Element types of one unit.
fn whole_types() -> Vec<ElementType> {
    vec![
        ElementType::contiguous(8),
        ElementType { pieces: vec![(0, 4), (12, 4)], extent: 20 },
        ElementType { pieces: vec![(-8, 3), (2, 5)], extent: 16 },
        ElementType { pieces: vec![(0, 8)], extent: -24 },
        ElementType { pieces: vec![(6, 6), (0, 2)], extent: 12 },
    ]
}

/// Element types of half a unit.
fn half_types() -> Vec<ElementType> {
    vec![ElementType::contiguous(4), ElementType { pieces: vec![(3, 1), (-2, 3)], extent: -9 }]
}

/// Composition of affine maps x → a·x + b modulo a prime: associative, not commutative.
fn compose(left: &[u8], right: &[u8]) -> Vec<u8> {
    let number = |bytes: &[u8]| u64::from(u32::from_le_bytes(bytes.try_into().unwrap()));
    let ((a, b), (c, d)) =
        ((number(&left[..4]), number(&left[4..])), (number(&right[..4]), number(&right[4..])));
    let prime = 1_000_003;
    let pair = [a * c % prime, (b * c + d) % prime];
    pair.iter().flat_map(|&value| (value as u32).to_le_bytes()).collect()
}

/// Wrapping sum: commutative.
fn sum(left: &[u8], right: &[u8]) -> Vec<u8> {
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    number(left).wrapping_add(number(right)).to_le_bytes().to_vec()
}

/// Returns a rank's data at a position: distinct, and below the prime in both halves.
fn value(rank: usize, position: usize) -> [u8; UNIT] {
    let halves = [rank * 7919 + position * 31 + 2, rank * 104_729 % 65_521 + position + 1];
    let [low, high] = halves.map(|half| half as u64);
    (low | high << 32).to_le_bytes()
}

/// How a buffer's blocks lie in memory.
enum Form {
    /// The whole vector is one block.
    Vector,
    /// The rank's own block only.
    Own,
    /// Blocks of equal lengths.
    Equal,
    /// Blocks of different lengths, one after another.
    Consecutive,
    /// Blocks of different lengths at any places.
    Placed,
    /// Blocks of different datatypes at any places.
    Typed,
}

/// Returns the forms of the send and the receive buffer.
fn forms(collective: Collective) -> (Form, Form) {
    match collective {
        Collective::Allreduce
        | Collective::Barrier
        | Collective::Bcast
        | Collective::Exscan
        | Collective::Reduce
        | Collective::Scan => (Form::Vector, Form::Vector),
        Collective::Allgather | Collective::Gather => (Form::Own, Form::Equal),
        Collective::Allgatherv | Collective::Gatherv => (Form::Own, Form::Placed),
        Collective::Alltoall | Collective::NeighborAllgather | Collective::NeighborAlltoall => {
            (Form::Equal, Form::Equal)
        }
        Collective::NeighborAllgatherv => (Form::Equal, Form::Placed),
        Collective::Alltoallv | Collective::NeighborAlltoallv => (Form::Placed, Form::Placed),
        Collective::Alltoallw | Collective::NeighborAlltoallw => (Form::Typed, Form::Typed),
        Collective::ReduceScatter => (Form::Consecutive, Form::Own),
        Collective::ReduceScatterBlock | Collective::Scatter => (Form::Equal, Form::Own),
        Collective::Scatterv => (Form::Placed, Form::Own),
    }
}

/// A buffer of one rank.
#[derive(Clone)]
struct Memory {
    counts: Counts,
    area: Area,
    /// The number of the first block.
    first: usize,
    /// Offset and number of elements of each block.
    places: Vec<(usize, usize)>,
}

impl Memory {
    fn none() -> Self {
        let area = Area::filled(&ElementType::contiguous(1), 0, UNTOUCHED);
        Memory { counts: Counts::NONE, area, first: 0, places: Vec::new() }
    }

    /// Makes blocks with equal numbers of elements.
    fn equal(element: &ElementType, blocks: Range<usize>, count: usize) -> Self {
        let area = Area::filled(element, blocks.len() * count, UNTOUCHED);
        let places = (0..blocks.len()).map(|index| (index * count, count)).collect();
        Memory { counts: Counts::One { count, bytes: element.bytes() }, area, first: blocks.start, places }
    }

    fn placed(element: &ElementType, places: Vec<(usize, usize)>) -> Self {
        let end = places.iter().map(|(offset, elements)| offset + elements).max().unwrap_or(0);
        let area = Area::filled(element, end, UNTOUCHED);
        let counts = Counts::Each { places: places.as_slice().into(), bytes: element.bytes() };
        Memory { counts, area, first: 0, places }
    }

    /// Makes blocks of one element each, in descending order and with gaps.
    fn typed(elements: &[ElementType]) -> Self {
        let mut address = 0;
        let placed = elements.iter().map(|element| {
            let starts = element.pieces.iter().map(|piece| piece.0);
            let ends = element.pieces.iter().map(|&(offset, length)| offset + length as isize);
            address -= ends.max().unwrap_or(0) + 3;
            let placed = (address, element);
            address += starts.min().unwrap_or(0);
            placed
        });
        let area = Area::placed(placed, UNTOUCHED);
        let counts = Counts::Typed { bytes: elements.iter().map(ElementType::bytes).collect() };
        Memory { counts, area, first: 0, places: (0..elements.len()).map(|block| (block, 1)).collect() }
    }

    fn read(&self, block: usize) -> Vec<u8> {
        let (offset, elements) = self.places[block - self.first];
        self.area.gather(offset, elements)
    }

    fn write(&mut self, block: usize, data: &[u8]) {
        self.area.scatter(self.places[block - self.first].0, data);
    }
}

/// Returns the number of a private buffer.
fn place(buffer: Buffer) -> usize {
    buffer.private().expect("slots are no buffer of a call")
}

/// Returns places of blocks that follow each other.
fn consecutive(lengths: &[usize]) -> Vec<(usize, usize)> {
    let starts = lengths.iter().scan(0, |end, length| {
        *end += length;
        Some(*end - length)
    });
    starts.zip(lengths.iter().copied()).collect()
}

/// Returns places of blocks in which the second half precedes the first. Some blocks touch, others have gaps.
fn in_disorder(lengths: &[usize]) -> Vec<(usize, usize)> {
    let mut places: Vec<(usize, usize)> = lengths.iter().map(|&length| (0, length)).collect();
    let mut end = 1;
    for index in 0..lengths.len() {
        let block = (index + lengths.len() / 2) % lengths.len();
        places[block].0 = end;
        end += lengths[block] + usize::from(index % 3 == 1);
    }
    places
}

/// One run: the problem, the size of the data and its layout.
struct Case<'a> {
    algorithm: &'a Algorithm,
    problem: &'a Problem,
    /// Units of the vector or of a block; if blocks differ, about their average.
    count: usize,
    semantics: Semantics,
    /// Selects element types, different counts and the order of delivery.
    seed: usize,
}

/// Names the case even if the tested code panics.
impl Drop for Case<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Case { algorithm, problem, count, semantics, seed } = self;
            let collective = algorithm.contract().name();
            let name = algorithm.name;
            eprintln!("in {collective} {name}, {problem:?}, count {count}, {semantics:?}, seed {seed}");
        }
    }
}

impl Case<'_> {
    fn collective(&self) -> Collective {
        self.algorithm.contract()
    }

    fn operator(&self) -> fn(&[u8], &[u8]) -> Vec<u8> {
        if self.algorithm.keeps_order() { compose } else { sum }
    }

    /// Returns how many blocks of contents a buffer has.
    fn blocks(&self) -> usize {
        if self.collective().cut() == Cut::Vector { 1 } else { self.problem.size }
    }

    /// Returns the origin of a block of a rank's receive buffer in a neighbourhood collective, if it has one.
    fn origin(&self, rank: usize, block: usize) -> Option<Edge> {
        self.problem.graph.origins(rank).get(block).copied().flatten()
    }

    /// Returns the send block whose contents a block of a rank's buffer has or will get. A block without an
    /// origin counts as the rank's own.
    fn sent(&self, rank: usize, buffer: Buffer, block: usize) -> Edge {
        let own = Edge { peer: rank, block };
        let origin = || self.origin(rank, block).unwrap_or(own);
        if buffer == Buffer::Send { own } else { origin() }
    }

    fn has(&self, rank: usize, buffer: Buffer) -> Range<usize> {
        match buffer {
            Buffer::Send => self.collective().send_blocks(self.problem, rank, self.blocks()),
            Buffer::Recv => self.collective().recv_blocks(self.problem, rank, self.blocks()),
            Buffer::Scratch | Buffer::Shared(_) => 0..0,
        }
    }

    /// Returns the units of a block of a rank's buffer.
    fn units(&self, rank: usize, buffer: Buffer, block: usize) -> usize {
        let (from, to) = if buffer == Buffer::Send { (rank, block) } else { (block, rank) };
        let varied = |number: usize| self.count * ((number + self.seed) % 4) / 2;
        match self.collective() {
            Collective::Alltoallv | Collective::Alltoallw if self.problem.in_place => varied(from + to),
            Collective::Alltoallv | Collective::Alltoallw => varied(from + 2 * to),
            Collective::NeighborAllgatherv => varied(self.sent(rank, buffer, block).peer),
            Collective::NeighborAlltoallv | Collective::NeighborAlltoallw => {
                let Edge { peer, block } = self.sent(rank, buffer, block);
                varied(peer + 2 * block)
            }
            Collective::ReduceScatter | Collective::ReduceScatterBlock if self.problem.remote > 0 => {
                self.units_between_groups(block)
            }
            // The two directions have different counts, and one may be empty.
            Collective::Allgather | Collective::Alltoall if from >= self.problem.local() => {
                self.count * (self.seed % 3) / 2
            }
            Collective::Allgatherv
            | Collective::Gatherv
            | Collective::ReduceScatter
            | Collective::Scatterv => varied(block),
            _ => self.count,
        }
    }

    /// Returns the units of a rank's part of the other group's reduction. Both groups get the same total.
    fn units_between_groups(&self, rank: usize) -> usize {
        let (group, others) = (self.problem.group(rank), self.problem.partners(rank));
        let scale = self.count % 3;
        if self.collective() == Collective::ReduceScatterBlock {
            return scale * others.len();
        }
        let varied = |rank: usize| scale * ((rank + self.seed) % 4) / 2;
        match rank + 1 == group.end {
            true => {
                let total = 3 * scale.min(1) * group.len().max(others.len());
                total - (group.start..rank).map(varied).sum::<usize>()
            }
            false => varied(rank),
        }
    }

    /// Returns a block of a rank's input.
    fn input(&self, rank: usize, block: usize) -> Vec<u8> {
        let units = 0..self.units(rank, Buffer::Send, block);
        units.flat_map(|unit| value(rank, block * LONGEST + unit)).collect()
    }

    fn reduced(&self, ranks: Range<usize>, block: usize) -> Option<Vec<u8>> {
        let inputs = ranks.map(|rank| self.input(rank, block));
        inputs.reduce(|left, right| {
            let operands = left.chunks(UNIT).zip(right.chunks(UNIT));
            operands.flat_map(|(left, right)| self.operator()(left, right)).collect()
        })
    }

    /// Returns the expected contents of a block of a rank's receive buffer, if any.
    fn result(&self, rank: usize, block: usize) -> Option<Vec<u8>> {
        match self.collective() {
            Collective::Allgather | Collective::Allgatherv | Collective::Gather | Collective::Gatherv => {
                Some(self.input(block, block))
            }
            Collective::Alltoall | Collective::Alltoallv | Collective::Alltoallw => {
                Some(self.input(block, rank))
            }
            Collective::NeighborAllgather | Collective::NeighborAllgatherv => {
                self.origin(rank, block).map(|edge| self.input(edge.peer, 0))
            }
            Collective::NeighborAlltoall | Collective::NeighborAlltoallv | Collective::NeighborAlltoallw => {
                self.origin(rank, block).map(|edge| self.input(edge.peer, edge.block))
            }
            Collective::Bcast | Collective::Scatter | Collective::Scatterv => {
                Some(self.input(self.problem.root, block))
            }
            Collective::Allreduce
            | Collective::Reduce
            | Collective::ReduceScatter
            | Collective::ReduceScatterBlock => self.reduced(self.problem.partners(rank), block),
            Collective::Scan => self.reduced(0..rank + 1, block),
            Collective::Exscan => self.reduced(0..rank, block),
            Collective::Barrier => None,
        }
    }

    /// Returns the element type of a buffer, or of one of its blocks. The buffers of a reduction have one
    /// type. Vectors are cut between elements, so their elements have one size on all ranks.
    fn element(&self, rank: usize, buffer: Buffer, block: usize) -> ElementType {
        let mut types = whole_types();
        let mut number = self.seed + rank;
        if !self.collective().reduces() && self.collective().cut() != Cut::Vector {
            types.extend(half_types());
            number += 3 * place(buffer) + block;
        }
        types.swap_remove(number % types.len())
    }

    /// Returns a buffer without the input.
    fn memory(&self, rank: usize, buffer: Buffer) -> Memory {
        let has = self.has(rank, buffer);
        // A rank without neighbours has a buffer without blocks.
        if has.is_empty() && self.collective().cut() != Cut::Edges {
            return Memory::none();
        }
        if self.collective() == Collective::Barrier {
            return Memory::equal(&ElementType::contiguous(1), 0..2, 1);
        }
        let element = self.element(rank, buffer, 0);
        let units = |block| self.units(rank, buffer, block);
        let count = |block| units(block) * UNIT / element.bytes();
        let counts = || has.clone().map(count).collect::<Vec<usize>>();
        let (send, recv) = forms(self.collective());
        let first = has.start;
        let memory = match if buffer == Buffer::Send { send } else { recv } {
            Form::Vector | Form::Own | Form::Equal => Memory::equal(&element, has.clone(), count(has.start)),
            Form::Consecutive => Memory::placed(&element, consecutive(&counts())),
            Form::Placed => Memory::placed(&element, in_disorder(&counts())),
            Form::Typed => {
                let element = |block| self.element(rank, buffer, block);
                let typed = |block| element(block).repeated(units(block) * UNIT / element(block).bytes());
                Memory::typed(&has.map(typed).collect::<Vec<ElementType>>())
            }
        };
        Memory { first, ..memory }
    }

    /// Returns the send and the receive buffer with the input.
    fn memories(&self, rank: usize) -> [Memory; 2] {
        let mut memories = [Buffer::Send, Buffer::Recv].map(|buffer| self.memory(rank, buffer));
        let input = self.collective().input(self.problem, rank, self.blocks());
        if let Some((buffer, blocks)) = input.filter(|_| self.collective() != Collective::Barrier) {
            blocks.for_each(|block| memories[place(buffer)].write(block, &self.input(rank, block)));
        }
        memories
    }

    fn bound(&self, rank: usize, [send, recv]: &[Memory; 2]) -> (Arc<Schedule>, Binding) {
        let schedule = Arc::new(self.algorithm.schedule(self.problem, rank));
        let binding = bind(self.collective(), rank, schedule.blocks, &send.counts, &recv.counts);
        (schedule, binding)
    }

    /// Returns how shared memory is divided, if the algorithm uses it. Vectors of several units pass through
    /// it in one piece or in several.
    fn bounds(&self) -> SlotBounds {
        let line = [0, 48, 48][self.seed % 3];
        let bank = [1 << 20, 4096][self.seed / 2 % 2];
        let stripe = [None, Some(64), Some(EXTENT), Some(200)][self.seed % 4];
        SlotBounds { line, bank, stripe, least_lent: [1, 1 << 20][self.seed % 2] }
    }

    /// All ranks cut vectors at the same places: between elements in reductions, between bytes in other collectives.
    fn plan_in_stripes(&self, schedule: &Schedule, [elements, bytes]: &[Binding; 2]) -> Plan {
        match self.collective() {
            collective if collective.reduces() => {
                Plan::in_stripes(schedule, elements, EXTENT, &self.bounds())
            }
            Collective::Bcast => {
                Plan { is_in_bytes: true, ..Plan::in_stripes(schedule, bytes, 1, &self.bounds()) }
            }
            _ => Plan::through_slots(schedule, elements, bytes, &self.bounds()),
        }
    }

    fn plans_in_stripes(&self, memories: &[[Memory; 2]]) -> Vec<Plan> {
        let bound = |(rank, [send, recv]): (usize, &[Memory; 2])| {
            let schedule = Arc::new(self.algorithm.schedule(self.problem, rank));
            let binding =
                |send: &Counts, recv: &Counts| bind(self.collective(), rank, schedule.blocks, send, recv);
            let (send, recv) = (&send.counts, &recv.counts);
            let bindings = [binding(send, recv), binding(&send.in_bytes(), &recv.in_bytes())];
            (schedule, bindings)
        };
        let bound: Vec<(Arc<Schedule>, [Binding; 2])> = memories.iter().enumerate().map(bound).collect();
        let exchange = |(schedule, bindings): &_| {
            LengthExchange::in_slots(self.algorithm, self.problem, schedule, bindings, false, self.bounds())
        };
        match bound.iter().map(exchange).collect::<Option<Vec<LengthExchange>>>() {
            None => {
                bound.iter().map(|(schedule, bindings)| self.plan_in_stripes(schedule, bindings)).collect()
            }
            Some(exchanges) => self.plans_after(&exchanges, memories),
        }
    }

    /// Returns the plans of all ranks, after the exchange of lengths if there is one.
    fn plans(&self, memories: &[[Memory; 2]]) -> Vec<Plan> {
        if self.algorithm.takes_shared_memory() {
            return self.plans_in_stripes(memories);
        }
        if self.problem.remote > 0 {
            let plan = |(rank, [send, recv]): (usize, &[Memory; 2])| {
                self.plan_of_two_groups(rank, &self.counts_of_input(rank, send), &recv.counts)
            };
            return memories.iter().enumerate().map(plan).collect();
        }
        let bound: Vec<(Arc<Schedule>, Binding)> =
            memories.iter().enumerate().map(|(rank, memories)| self.bound(rank, memories)).collect();
        let exchange =
            |(schedule, binding): &_| LengthExchange::new(self.algorithm, self.problem, schedule, binding);
        match bound.iter().map(exchange).collect::<Option<Vec<LengthExchange>>>() {
            None => bound.iter().map(|(schedule, binding)| self.plan(schedule, binding)).collect(),
            Some(exchanges) => self.plans_after(&exchanges, memories),
        }
    }

    /// In some runs the loops are bound at once, in others during execution.
    fn plan(&self, schedule: &Schedule, binding: &Binding) -> Plan {
        Plan::with_loops(schedule, binding, [usize::MAX, 0][self.seed % 2])
    }

    /// Returns the plans of the second stage. If the blocks arrived in the first one, checks them.
    fn plans_after(&self, exchanges: &[LengthExchange], memories: &[[Memory; 2]]) -> Vec<Plan> {
        let learnt = exchange_lengths(exchanges, memories, self.semantics, self.seed as u64);
        if exchanges[0].journey(&learnt[0]) != Journey::InSecondStage {
            for (rank, received) in delivered(exchanges, memories, &learnt).into_iter().enumerate() {
                self.check_received(rank, memories[rank][1].clone(), received);
            }
        }
        let stages: Vec<Arc<DataPlan>> = second_stages(exchanges, &learnt);
        assert!(stages.iter().all(|stage| !stage.is_truncated));
        stages.iter().map(|stage| stage.plan.clone()).collect()
    }

    /// A rank of the second group plans as if its group were the first. Only its messages have the true numbers.
    fn plan_of_two_groups(&self, rank: usize, send: &Counts, recv: &Counts) -> Plan {
        let first = self.problem.group(rank).start;
        let seen = if first == 0 { self.problem.clone() } else { self.problem.exchanged() };
        let schedule = self.algorithm.schedule(&seen, rank - first);
        let groups = (seen.local(), seen.remote);
        let binding = bind_two_groups(self.collective(), rank - first, groups, schedule.blocks, send, recv);
        self.plan(&schedule, &binding).relabel(first, seen.size)
    }

    /// Returns the caller's counts. For a reduce-scatter they are the parts of the caller's own group.
    fn counts_of_input(&self, rank: usize, send: &Memory) -> Counts {
        let bytes = self.element(rank, Buffer::Send, 0).bytes();
        let count = |rank: usize| self.units_between_groups(rank) * UNIT / bytes;
        let mut group = self.problem.group(rank).map(count);
        match self.collective() {
            Collective::ReduceScatter => {
                Counts::Each { places: consecutive(&group.collect::<Vec<_>>()).into(), bytes }
            }
            Collective::ReduceScatterBlock => Counts::One { count: group.next().unwrap(), bytes },
            _ => send.counts.clone(),
        }
    }

    fn areas(&self, rank: usize, plan: &Plan, [send, recv]: &[Memory; 2]) -> Areas {
        let moves_only = !self.collective().reduces() && self.collective() != Collective::Bcast;
        let scratch = match moves_only || plan.is_in_bytes {
            true => ElementType::contiguous(1),
            false => self.element(rank, Buffer::Scratch, 0),
        };
        let scratch = Area::filled(&scratch, plan.scratch_elements, UNTOUCHED);
        [send.area.clone(), recv.area.clone(), scratch]
    }

    fn check(&self) {
        let Prepared { memories, plans, mut areas } = self.prepared();
        run(&plans, &mut areas, &self.operator(), self.semantics, self.seed as u64)
            .unwrap_or_else(|failure| panic!("{failure}"));
        self.check_results(memories, areas);
    }

    fn prepared(&self) -> Prepared {
        let ranks = 0..self.problem.size;
        let memories: Vec<[Memory; 2]> = ranks.clone().map(|rank| self.memories(rank)).collect();
        let plans = self.plans(&memories);
        let areas = ranks.map(|rank| self.areas(rank, &plans[rank], &memories[rank])).collect();
        Prepared { memories, plans, areas }
    }

    fn check_results(&self, memories: Vec<[Memory; 2]>, areas: Vec<Areas>) {
        for (rank, ([send, recv], [sent, received, _])) in memories.into_iter().zip(areas).enumerate() {
            assert!(sent.bytes == send.area.bytes, "rank {rank}: the send buffer was written");
            self.check_received(rank, recv, received);
        }
    }

    fn check_received(&self, rank: usize, before: Memory, received: Area) {
        let found = Memory { area: received, ..before.clone() };
        let mut expected = before;
        for block in self.has(rank, Buffer::Recv) {
            let data = found.read(block);
            match self.result(rank, block) {
                Some(result) => {
                    assert!(data == result, "rank {rank}: block {block} is {data:x?} instead of {result:x?}");
                }
                // Nothing arrives from beyond a border.
                None if self.collective().cut() == Cut::Edges => continue,
                None => {}
            }
            expected.write(block, &data);
        }
        assert!(found.area.bytes == expected.area.bytes, "rank {rank}: a gap was written");
    }
}

/// The data of all ranks before a call.
struct Prepared {
    memories: Vec<[Memory; 2]>,
    plans: Vec<Plan>,
    areas: Vec<Areas>,
}

/// Carries out calls in sequence. Ranks need not wait for each other between the calls.
fn check_in_sequence(cases: &[Case]) {
    let mut prepared: Vec<Prepared> = cases.iter().map(Case::prepared).collect();
    let operators: Vec<_> = cases.iter().map(Case::operator).collect();
    let call = |(prepared, operator)| {
        let Prepared { plans, areas, .. }: &mut Prepared = prepared;
        Call { plans, areas, operator }
    };
    let operators = operators.iter().map(|operator| operator as _);
    let mut calls: Vec<Call> = prepared.iter_mut().zip(operators).map(call).collect();
    let Case { semantics, seed, .. } = cases[0];
    run_all(&mut calls, semantics, seed as u64).unwrap_or_else(|failure| panic!("{failure}"));
    for (case, Prepared { memories, areas, .. }) in cases.iter().zip(prepared) {
        case.check_results(memories, areas);
    }
}

/// Carries out the first stage of all ranks. Returns the numbers that it leaves.
fn exchange_lengths(
    exchanges: &[LengthExchange],
    memories: &[[Memory; 2]],
    semantics: Semantics,
    seed: u64,
) -> Vec<Vec<u64>> {
    let number = ElementType::contiguous(size_of::<u64>());
    let none = Area::filled(&number, 0, UNTOUCHED);
    let numbers = |(exchange, memories): (&LengthExchange, &[Memory; 2])| {
        let mut area = Area::filled(&number, exchange.numbers.len(), UNTOUCHED);
        area.scatter(0, &exchange.numbers.iter().copied().flat_map(u64::to_ne_bytes).collect::<Vec<u8>>());
        for carried in &exchange.carried {
            area.scatter(carried.data(), &content(memories, carried.region));
        }
        [none.clone(), area, none.clone()]
    };
    let mut areas: Vec<Areas> = exchanges.iter().zip(memories).map(numbers).collect();
    let plans: Vec<Plan> = exchanges.iter().map(|exchange| exchange.plan.clone()).collect();
    let value = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap());
    let maximum = |left: &[u8], right: &[u8]| value(left).max(value(right)).to_ne_bytes().to_vec();
    run(&plans, &mut areas, &maximum, semantics, seed).unwrap_or_else(|failure| panic!("lengths: {failure}"));
    let learnt = areas.iter().map(|[_, area, _]| area.bytes.chunks(size_of::<u64>()).map(value).collect());
    let learnt: Vec<Vec<u64>> = learnt.collect();
    let journey = |rank: usize| exchanges[rank].journey(&learnt[rank]);
    assert!(
        (1..learnt.len()).all(|rank| journey(rank) == journey(0)),
        "all ranks know alike whether there is a second stage"
    );
    learnt
}

fn second_stages(exchanges: &[LengthExchange], learnt: &[Vec<u64>]) -> Vec<Arc<DataPlan>> {
    exchanges.iter().zip(learnt).map(|(exchange, learnt)| exchange.data(learnt)).collect()
}

/// Returns the bytes of a region of a buffer.
fn content([send, recv]: &[Memory; 2], region: Region) -> Vec<u8> {
    let side = if region.memory == RegionMemory::Buffer(Buffer::Send) { send } else { recv };
    side.area.gather(region.offset, region.elements)
}

/// Returns the receive buffers after a call whose blocks travel with their lengths.
fn delivered(exchanges: &[LengthExchange], memories: &[[Memory; 2]], learnt: &[Vec<u64>]) -> Vec<Area> {
    let mut slots = HashMap::new();
    for (exchange, memories) in exchanges.iter().zip(memories) {
        for [block, slot] in &exchange.shown {
            let data = content(memories, *block);
            let Slots::Apart { stride, .. } = exchange.short_slots else { panic!("short slots lie apart") };
            assert!(data.len() <= stride && slots.insert((slot.memory, slot.offset), data).is_none());
        }
    }
    let received = |rank: usize| {
        let (exchange, learnt) = (&exchanges[rank], &learnt[rank]);
        let mut area = memories[rank][1].area.clone();
        for [block, target] in &exchange.kept {
            area.scatter(target.offset, &content(&memories[rank], *block));
        }
        for (carried, apart) in &exchange.delivered {
            let bytes = learnt[carried.length] as usize;
            let behind = || learnt[carried.data()..].iter().copied().flat_map(u64::to_ne_bytes);
            let data: Vec<u8> = match exchange.journey_of(carried, learnt) {
                Journey::BehindLengths => behind().take(bytes).collect(),
                _ if apart.memory == RegionMemory::Buffer(Buffer::Send) => continue,
                _ => slots.get(&(apart.memory, apart.offset)).cloned().unwrap_or_default(),
            };
            assert_eq!(data.len(), bytes);
            area.scatter(carried.region.offset, &data);
        }
        area
    };
    (0..memories.len()).map(received).collect()
}

/// Selects every problem of few ranks, and some roots and radices of more ranks.
fn is_selected(problem: &Problem) -> bool {
    let Problem { size, root, radix, .. } = *problem;
    let roots = [0, size / 2 + 1, size - 1];
    let radices = [2, default_radix(size), size];
    size <= EVERY_PROBLEM || roots.contains(&root) && radices.contains(&radix)
}

fn check_algorithm(algorithm: &Algorithm, selected: fn(&Problem) -> bool) {
    let mut seed = 0;
    for size in SIZES {
        for problem in problems(algorithm, size).into_iter().filter(&selected) {
            for count in [0, 1, size - 1, size, size + 1, 37] {
                seed += 1;
                // Semantics and counts have different periods, so each count occurs with both semantics.
                let semantics = if seed % 7 < 4 { Semantics::Rendezvous } else { Semantics::Eager };
                Case { algorithm, problem: &problem, count, semantics, seed }.check();
            }
        }
    }
}

fn check_all(cut: Cut) {
    REGISTRY
        .iter()
        .filter(|algorithm| algorithm.contract().cut() == cut)
        .for_each(|algorithm| check_algorithm(algorithm, is_selected));
}

#[test]
#[ignore = "takes minutes"]
fn every_problem_over_random_networks() {
    REGISTRY.iter().for_each(|algorithm| check_algorithm(algorithm, |_| true));
}

#[test]
fn every_algorithm_of_vectors_over_random_networks() {
    check_all(Cut::Vector);
}

#[test]
fn every_algorithm_with_a_block_for_each_rank_over_random_networks() {
    check_all(Cut::Ranks);
}

#[test]
fn every_algorithm_with_a_block_for_each_neighbour_over_random_networks() {
    check_all(Cut::Edges);
}

#[test]
fn every_algorithm_with_a_block_for_each_pair_over_random_networks() {
    check_all(Cut::Pairs);
}

/// With more than 64 ranks, leaders show blocks of several ranks together.
#[test]
fn blocks_that_are_shown_together_over_random_networks() {
    let is_shown = |algorithm: &&&Algorithm| {
        algorithm.name == "shared_leaders" && algorithm.contract().cut() == Cut::Ranks
    };
    let algorithms: Vec<_> = REGISTRY.iter().filter(is_shown).collect();
    assert_eq!(algorithms.iter().map(|algorithm| algorithm.collectives.len()).sum::<usize>(), 4);
    for algorithm in algorithms {
        let places: [fn(u32) -> u32; 2] = [|rank| rank / 25, |rank| rank % 3];
        for place in places {
            let problem = Problem { nodes: (0..70).map(place).collect(), ..Problem::new(70) };
            assert!(algorithm.schedule(&problem, 1).slot_kind == SlotKind::Together);
            for (seed, count) in [0, 1, 5, 37].into_iter().enumerate() {
                Case { algorithm, problem: &problem, count, semantics: Semantics::Eager, seed }.check();
            }
        }
    }
}

/// Remains of a call in shared memory must not harm the next call. The next call may be another collective,
/// or shorter, or begin on some ranks before the first has ended on others.
#[test]
fn calls_over_shared_memory_need_nothing_between_them() {
    let sharing = REGISTRY.iter().copied().filter(|algorithm| algorithm.takes_shared_memory());
    let algorithms: Vec<&Algorithm> = sharing.collect();
    assert!(!algorithms.is_empty());
    for size in [2, 3, 5, 8] {
        for seed in 0..60 {
            let problems: Vec<(&Algorithm, Problem)> = (0..7)
                .map(|call| {
                    let algorithm = algorithms[(seed * 3 + call * (seed % 5)) % algorithms.len()];
                    let all = problems(algorithm, size);
                    (algorithm, all[(seed + 5 * call) % all.len()].clone())
                })
                .collect();
            let case = |(call, named)| {
                let (algorithm, problem): &(&Algorithm, Problem) = named;
                Case {
                    algorithm,
                    problem,
                    count: [37, 1, 2, 0, 64, 9][(seed + call) % 6],
                    semantics: Semantics::Eager,
                    seed: seed + call * 7,
                }
            };
            let cases: Vec<Case> = problems.iter().enumerate().map(case).collect();
            check_in_sequence(&cases);
        }
    }
}

/// Gathers to rank 0, which is the root. `sent` and `room` are the bytes of each rank's block, and of the place for
/// it, with a gap behind each place. Returns the received blocks, and whether any block was too long.
fn gathered(algorithm: &str, sent: &[usize; 4], room: &[usize; 4]) -> (Vec<Vec<u8>>, bool) {
    let gatherv = Collective::Gatherv.algorithm(algorithm).unwrap();
    let (problem, byte) = (Problem::new(sent.len()), ElementType::contiguous(1));
    let starts = room.iter().scan(0, |end, length| {
        *end += length + 1;
        Some(*end - length - 1)
    });
    let places: Vec<(usize, usize)> = starts.zip(room.iter().copied()).collect();
    let memories = |rank: usize| {
        let mut own = Memory::equal(&byte, rank..rank + 1, sent[rank]);
        own.write(rank, &vec![rank as u8; sent[rank]]);
        [own, if rank == 0 { Memory::placed(&byte, places.clone()) } else { Memory::none() }]
    };
    let memories: Vec<[Memory; 2]> = (0..sent.len()).map(memories).collect();
    let exchange = |(rank, [send, recv]): (usize, &[Memory; 2])| {
        let schedule = Arc::new(gatherv.schedule(&problem, rank));
        let binding = bind(Collective::Gatherv, rank, schedule.blocks, &send.counts, &recv.counts);
        match gatherv.takes_shared_memory() {
            true => {
                let bounds = SlotBounds { stripe: Some(2), ..SlotBounds::DEFAULT };
                LengthExchange::in_slots(
                    gatherv,
                    &problem,
                    &schedule,
                    &[binding.clone(), binding],
                    false,
                    bounds,
                )
            }
            false => LengthExchange::new(gatherv, &problem, &schedule, &binding),
        }
        .unwrap()
    };
    let exchanges: Vec<LengthExchange> = memories.iter().enumerate().map(exchange).collect();
    let learnt = exchange_lengths(&exchanges, &memories, Semantics::Rendezvous, 1);
    let stages = second_stages(&exchanges, &learnt);
    assert!(stages[1..].iter().all(|stage| !stage.is_truncated));
    let plans: Vec<Plan> = stages.iter().map(|stage| stage.plan.clone()).collect();
    // Ranks 1 and 3 are leaves; rank 3 is the child of rank 2.
    let scratch: Vec<usize> = plans[1..].iter().map(|plan| plan.scratch_elements).collect();
    let passes_on = if algorithm == "binomial" { sent[2] + sent[3] } else { 0 };
    assert_eq!(scratch, [0, passes_on, 0]);
    let area = |(plan, [send, recv]): (&Plan, &[Memory; 2])| {
        [send.area.clone(), recv.area.clone(), Area::filled(&byte, plan.scratch_elements, UNTOUCHED)]
    };
    let mut areas: Vec<Areas> = plans.iter().zip(&memories).map(area).collect();
    run(&plans, &mut areas, &compose, Semantics::Rendezvous, 2).unwrap();
    let [_, received, _] = &areas[0];
    let blocks = places.iter().map(|&(start, length)| {
        assert!(received.bytes.get(start + length).is_none_or(|&gap| gap == UNTOUCHED));
        received.gather(start, length)
    });
    (blocks.collect(), stages[0].is_truncated)
}

#[test]
fn what_is_too_long_is_cut_and_all_ranks_come_to_their_ends() {
    let blocks =
        |lengths: [usize; 4]| (0..4).map(|rank| vec![rank as u8; lengths[rank]]).collect::<Vec<Vec<u8>>>();
    let mut short = blocks([2, 3, 4, 5]);
    short[2].push(UNTOUCHED);
    for algorithm in ["binomial", "shared"] {
        let gathered = |room| gathered(algorithm, &[2, 3, 4, 5], &room);
        assert_eq!(gathered([2, 3, 4, 5]), (blocks([2, 3, 4, 5]), false));
        assert_eq!(gathered([1, 3, 0, 4]), (blocks([1, 3, 0, 4]), true));
        assert_eq!(gathered([2, 3, 5, 5]), (short.clone(), false));
    }
}

#[test]
fn calls_that_repeat_themselves_are_planned_once() {
    let alltoallv = Collective::Alltoallv.algorithm("bruck_two_phase").unwrap();
    let schedule = Arc::new(alltoallv.schedule(&Problem::new(4), 1));
    let counts = Counts::Each { places: [(0, 1), (1, 2), (3, 3), (6, 4)].into(), bytes: 8 };
    let binding = bind(Collective::Alltoallv, 1, 4, &counts, &counts);
    let exchange = LengthExchange::new(alltoallv, &Problem::new(4), &schedule, &binding).unwrap();
    let (mut learnt, scratch) = (exchange.numbers.clone(), schedule.scratch_blocks());
    let first = exchange.data(&learnt);
    assert!(Arc::ptr_eq(&first, &exchange.data(&learnt)));
    learnt[4..4 + scratch].fill(100);
    assert_eq!(exchange.data(&learnt).plan.scratch_elements, 100 * scratch);
}
