//! Proves that algorithms made of calls perform their collective, if the collectives that they call do.
//!
//! Runs all ranks together, element by element. An element is the list of the inputs that were combined into
//! it, in their order; an element of zero bits is the empty list.

use crate::algorithms::{Algorithm, Area, Collective, Cut, Problem};
use crate::engine::mock_up::{AreaSpan, BoundBuffer, BoundCall, Deed, Deeds, Lengths};
use std::ops::Range;

/// A rank and the number of an element of its input.
type Input = (usize, usize);

/// What an element holds; `None` if it was never written.
type Value = Option<Vec<Input>>;

/// The memory of a rank, by areas.
struct Areas {
    areas: [Vec<Value>; 4],
    /// Whether the result of a reduce-scatter goes where its input is.
    is_shared: bool,
}

impl Areas {
    fn area(&mut self, area: Area) -> &mut Vec<Value> {
        let place = match area {
            Area::Recv if self.is_shared => Area::Send,
            area => area,
        };
        &mut self.areas[place as usize]
    }

    fn slice(&mut self, area: Area, range: Range<usize>) -> Result<&mut [Value], String> {
        let length = self.area(area).len();
        self.area(area)
            .get_mut(range.clone())
            .ok_or_else(|| format!("{area} ends at {length}, before {}", range.end))
    }

    fn read(&mut self, area: Area, range: Range<usize>) -> Result<Vec<Value>, String> {
        Ok(self.slice(area, range)?.to_vec())
    }

    fn write(&mut self, area: Area, first: usize, values: Vec<Value>) -> Result<(), String> {
        self.slice(area, first..first + values.len())?.clone_from_slice(&values);
        Ok(())
    }
}

fn range(span: &AreaSpan) -> Range<usize> {
    span.first..span.first + span.elements
}

/// In collectives that do not reduce, an element of the caller is so many units of the algorithm's own
/// memory, so that a length in one cannot pass for a length in the other.
const UNITS: usize = 3;

/// Verifies an algorithm made of calls. Its blocks, or its vector, have `elements` elements.
///
/// # Panics
/// If it is not made of calls.
pub fn verify_calls(algorithm: &Algorithm, problem: &Problem, elements: usize) -> Result<(), String> {
    let calls = algorithm.calls().expect("it is made of calls");
    let collective = algorithm.contract();
    let units = if collective.reduces() { 1 } else { UNITS };
    let lengths = Lengths { send: elements, recv: elements, own: units * elements };
    let deeds = |rank| in_units(Deeds::new(collective, calls, problem, rank, lengths), units);
    verify_deeds(collective, problem, units * elements, (0..problem.size).map(deeds).collect())
}

/// Returns the deeds with the caller's elements counted in units as well.
fn in_units(deeds: Deeds, units: usize) -> Deeds {
    let of = |area: Area| if matches!(area, Area::Send | Area::Recv) { units } else { 1 };
    let span = |span: AreaSpan| AreaSpan {
        first: of(span.area) * span.first,
        elements: of(span.area) * span.elements,
        ..span
    };
    let side = |side: BoundBuffer| {
        let unit = of(side.area);
        let scaled = |numbers: Vec<usize>| numbers.into_iter().map(|number| unit * number).collect();
        BoundBuffer {
            first: unit * side.first,
            elements: unit * side.elements,
            count: unit * side.count,
            varying: side.varying.map(|(counts, places)| (scaled(counts), scaled(places))),
            ..side
        }
    };
    let deed = |deed: Deed| match deed {
        Deed::Copy(from, to) => Deed::Copy(span(from), span(to)),
        Deed::Clear(cleared) => Deed::Clear(span(cleared)),
        Deed::Reduce(left, right) => Deed::Reduce(span(left), span(right)),
        Deed::Call(call) => {
            Deed::Call(BoundCall { send: call.send.map(side), recv: call.recv.map(side), ..call })
        }
    };
    Deeds { deeds: deeds.deeds.into_iter().map(deed).collect(), ..deeds }
}

fn verify_deeds(
    collective: Collective,
    problem: &Problem,
    elements: usize,
    mut all: Vec<Deeds>,
) -> Result<(), String> {
    let mut memories: Vec<Areas> = all
        .iter()
        .enumerate()
        .map(|(rank, deeds)| started(collective, problem, rank, elements, deeds))
        .collect();
    let mut queues: Vec<_> = all.iter_mut().map(|deeds| deeds.deeds.drain(..).peekable()).collect();
    loop {
        let mut calls = Vec::new();
        for (rank, (queue, memory)) in queues.iter_mut().zip(&mut memories).enumerate() {
            let of_rank = |reason| format!("rank {rank}: {reason}");
            while let Some(deed) = queue.next_if(|deed| !matches!(deed, Deed::Call(_))) {
                within_rank(memory, &deed).map_err(of_rank)?;
            }
            calls.extend(queue.next().map(|deed| match deed {
                Deed::Call(call) => call,
                _ => unreachable!("the others were done"),
            }));
        }
        match calls.len() {
            0 => break,
            made if made == problem.size => Called { calls: &calls, memories: &mut memories }.perform()?,
            made => return Err(format!("{made} of {} ranks make a call", problem.size)),
        }
    }
    check(collective, problem, elements, &mut memories)
}

/// Returns how many elements `blocks` blocks of a caller's buffer have together.
fn elements_of(collective: Collective, blocks: usize, elements: usize) -> usize {
    match collective.cut() {
        Cut::Vector => elements * usize::from(blocks > 0),
        _ => blocks * elements,
    }
}

fn started(collective: Collective, problem: &Problem, rank: usize, elements: usize, deeds: &Deeds) -> Areas {
    let is_scattered = collective == Collective::ReduceScatterBlock;
    let sides = Problem { in_place: problem.in_place && !is_scattered, ..problem.clone() };
    let blocks = problem.size;
    let send = collective.send_blocks(&sides, rank, blocks);
    let recv = collective.recv_blocks(&sides, rank, blocks);
    let [mut send, mut recv] =
        [&send, &recv].map(|blocks| vec![None; elements_of(collective, blocks.len(), elements)]);
    let own = |number| Some(vec![(rank, number)]);
    send.iter_mut().enumerate().for_each(|(number, value)| *value = own(number));
    let is_root = rank == problem.root;
    let is_in_place = problem.in_place && !is_scattered && (is_root || !collective.is_rooted());
    match collective {
        Collective::Bcast if is_root => recv = (0..elements).map(own).collect(),
        Collective::Allgather | Collective::Gather if is_in_place => {
            (0..elements).for_each(|number| recv[rank * elements + number] = own(number));
        }
        Collective::Allreduce | Collective::Alltoall | Collective::Reduce | Collective::Scan
            if is_in_place =>
        {
            recv.iter_mut().enumerate().for_each(|(number, value)| *value = own(number));
        }
        _ => {}
    }
    let [all, own] = deeds.memory.map(|elements| vec![None; elements]);
    Areas { areas: [send, recv, all, own], is_shared: problem.in_place && is_scattered }
}

fn within_rank(memory: &mut Areas, deed: &Deed) -> Result<(), String> {
    match deed {
        Deed::Copy(from, to) if from.elements != to.elements => {
            Err(format!("{} elements are copied to {}", from.elements, to.elements))
        }
        Deed::Copy(from, to) => {
            let values = memory.read(from.area, range(from))?;
            memory.write(to.area, to.first, values)
        }
        Deed::Clear(span) => memory.write(span.area, span.first, vec![Some(Vec::new()); span.elements]),
        Deed::Reduce(left, right) => {
            let operands = [memory.read(left.area, range(left))?, memory.read(right.area, range(right))?];
            memory.write(right.area, right.first, combined(&operands)?)
        }
        Deed::Call(_) => unreachable!("it is nothing within a rank"),
    }
}

/// Returns the operands combined in their order, element by element.
fn combined(operands: &[Vec<Value>]) -> Result<Vec<Value>, String> {
    let elements = operands.first().map_or(0, Vec::len);
    if operands.iter().any(|operand| operand.len() != elements) {
        return Err("operands of different lengths".into());
    }
    let element = |number: usize| -> Result<Value, String> {
        let parts = operands.iter().map(|operand| operand[number].clone());
        let whole: Option<Vec<Vec<Input>>> = parts.collect();
        Ok(Some(whole.ok_or("an operand was never written")?.concat()))
    };
    (0..elements).map(element).collect()
}

/// A call of all ranks.
struct Called<'run> {
    calls: &'run [BoundCall],
    memories: &'run mut [Areas],
}

impl Called<'_> {
    fn perform(&mut self) -> Result<(), String> {
        use Collective::*;
        let BoundCall { collective, root, unites, .. } = self.calls[0];
        let is_alike =
            |call: &BoundCall| (call.collective, call.root, call.unites) == (collective, root, unites);
        if !self.calls.iter().all(is_alike) {
            return Err(format!("not all ranks call {} alike", collective.name()));
        }
        self.check_in_place(collective, root)?;
        let inputs: Vec<Vec<Value>> =
            (0..self.calls.len()).map(|rank| self.input(rank)).collect::<Result<_, _>>()?;
        let is_root = |rank: usize| !collective.is_rooted() || rank == root;
        for rank in 0..self.calls.len() {
            let Some(recv) = self.calls[rank]
                .recv
                .clone()
                .filter(|_| is_root(rank) || !matches!(collective, Gather | Gatherv | Reduce))
            else {
                continue;
            };
            let blocks: Vec<Vec<Value>> = match collective {
                Allgather | Allgatherv | Gather | Gatherv => inputs.clone(),
                Alltoall | Alltoallv => {
                    (0..inputs.len()).map(|from| self.block(from, rank, &inputs)).collect()
                }
                Bcast => vec![inputs[root].clone()],
                Scatter | Scatterv => vec![self.block(root, rank, &inputs)],
                Allreduce | Reduce => vec![combined(&inputs)?],
                Exscan if rank == 0 => continue,
                Exscan => vec![combined(&inputs[..rank])?],
                ReduceScatter | ReduceScatterBlock => {
                    let parts: Vec<_> =
                        (0..inputs.len()).map(|from| self.block(from, rank, &inputs)).collect();
                    vec![combined(&parts)?]
                }
                _ => return Err(format!("nothing is known of {}", collective.name())),
            };
            self.deliver(rank, &recv, blocks)?;
        }
        Ok(())
    }

    /// In MPI all ranks of a call are in place or none; where there is a root, only the root may be.
    fn check_in_place(&self, collective: Collective, root: usize) -> Result<(), String> {
        let in_place: Vec<bool> = self.calls.iter().map(|call| call.in_place).collect();
        let is_legal = match collective.is_rooted() {
            true => in_place.iter().enumerate().all(|(rank, &in_place)| rank == root || !in_place),
            false => in_place.iter().all(|&one| one == in_place[0]),
        };
        if is_legal { Ok(()) } else { Err(format!("{} is in place on some ranks", collective.name())) }
    }

    /// Returns what a rank contributes, block after block.
    fn input(&mut self, rank: usize) -> Result<Vec<Value>, String> {
        use Collective::*;
        let call = &self.calls[rank];
        let of_rank = |reason: String| format!("rank {rank} in {}: {reason}", call.collective.name());
        let is_root = rank == call.root;
        let side = match (call.collective, &call.send, &call.recv) {
            (Bcast, _, Some(recv)) if is_root => recv,
            (Bcast, ..) => return Ok(Vec::new()),
            (Scatter | Scatterv, _, _) if !is_root => return Ok(Vec::new()),
            (_, Some(send), recv) => {
                if let Some(recv) = recv.as_ref().filter(|_| !call.in_place) {
                    self.refuse_overlap(rank, send, recv).map_err(of_rank)?;
                }
                send
            }
            (Allgather | Allgatherv | Gather | Gatherv, None, Some(recv)) if call.in_place => {
                let (own, count) = match &recv.varying {
                    Some((counts, displacements)) => (displacements[rank], counts[rank]),
                    None => (rank * recv.count, recv.count),
                };
                let first = recv.first + own;
                return self.memories[rank].read(recv.area, first..first + count).map_err(of_rank);
            }
            (_, None, Some(recv)) if call.in_place => recv,
            _ => return Err(of_rank("it sends nothing".into())),
        };
        let (area, range) = (side.area, side.first..side.first + side.elements);
        self.memories[rank].read(area, range).map_err(of_rank)
    }

    fn refuse_overlap(&self, rank: usize, send: &BoundBuffer, recv: &BoundBuffer) -> Result<(), String> {
        let is_shared = self.memories[rank].is_shared;
        let own_area = |area| if is_shared && area == Area::Recv { Area::Send } else { area };
        let overlap = own_area(send.area) == own_area(recv.area)
            && send.first < recv.first + recv.elements
            && recv.first < send.first + send.elements;
        if overlap { Err("its buffers overlap".into()) } else { Ok(()) }
    }

    /// Returns the part of a rank's input that is for another rank.
    fn block(&self, from: usize, to: usize, inputs: &[Vec<Value>]) -> Vec<Value> {
        let call = &self.calls[from];
        let side = call.send.as_ref().or(call.recv.as_ref()).expect("it has sent");
        let (first, count) = match &side.varying {
            Some((counts, displacements)) => (displacements[to], counts[to]),
            None => {
                let count = match call.collective {
                    // The count is that of the result's block.
                    Collective::ReduceScatterBlock => side.elements / self.calls.len(),
                    _ => side.count,
                };
                (to * count, count)
            }
        };
        inputs[from][first..first + count].to_vec()
    }

    fn deliver(&mut self, rank: usize, recv: &BoundBuffer, blocks: Vec<Vec<Value>>) -> Result<(), String> {
        for (number, block) in blocks.into_iter().enumerate() {
            let (first, count) = match &recv.varying {
                Some((counts, displacements)) => (displacements[number], counts[number]),
                None => (number * recv.count, recv.count),
            };
            if block.len() != count {
                let name = self.calls[rank].collective.name();
                return Err(format!("rank {rank} in {name}: {} elements come for {count}", block.len()));
            }
            self.memories[rank].write(recv.area, recv.first + first, block)?;
        }
        Ok(())
    }
}

/// Compares the results of the ranks with what the collective promises.
fn check(
    collective: Collective,
    problem: &Problem,
    elements: usize,
    memories: &mut [Areas],
) -> Result<(), String> {
    use Collective::*;
    let Problem { size, root, in_place, .. } = *problem;
    let from_all = |number: usize, ranks: Range<usize>| ranks.map(|rank| (rank, number)).collect::<Vec<_>>();
    for (rank, memory) in memories.iter_mut().enumerate() {
        let has_result = match collective {
            Gather | Reduce => rank == root,
            Scatter => !(in_place && rank == root),
            _ => true,
        };
        let blocks = match collective {
            _ if !has_result => 0,
            Allgather | Alltoall | Gather => size,
            _ => 1,
        };
        for number in 0..blocks * elements {
            let (block, place) = (number / elements, number % elements);
            let expected = match collective {
                Allgather | Gather => vec![(block, place)],
                Alltoall => vec![(block, rank * elements + place)],
                Bcast => vec![(root, place)],
                Scatter => vec![(root, rank * elements + place)],
                Allreduce | Reduce => from_all(place, 0..size),
                Scan => from_all(place, 0..rank + 1),
                ReduceScatterBlock => from_all(rank * elements + place, 0..size),
                _ => return Err(format!("nothing is known of {}", collective.name())),
            };
            let found = memory.read(Area::Recv, number..number + 1)?.remove(0);
            if found.as_ref() != Some(&expected) {
                return Err(format!("rank {rank} ends with {found:?} in element {number}, not {expected:?}"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::MOCK_UPS;

    fn problems(algorithm: &Algorithm, size: usize) -> Vec<Problem> {
        let roots = if algorithm.contract().is_rooted() { 0..size } else { 0..1 };
        let places = if algorithm.contract() == Collective::Bcast { &[false][..] } else { &[false, true] };
        let with =
            |root| places.iter().map(move |&in_place| Problem { root, in_place, ..Problem::new(size) });
        roots.flat_map(with).collect()
    }

    #[test]
    fn every_mock_up_performs_its_collective() {
        for algorithm in MOCK_UPS {
            for size in 1..=13 {
                for problem in problems(algorithm, size) {
                    for elements in [0, 1, 2, size - 1, size, size + 1, 2 * size + 3] {
                        verify_calls(algorithm, &problem, elements).unwrap_or_else(|fault| {
                            panic!("{}, {elements} elements, {problem:?}: {fault}", algorithm.name)
                        });
                    }
                }
            }
        }
    }

    #[test]
    fn every_act_is_needed() {
        let problem = Problem::new(4);
        let lengths = Lengths { send: 3, recv: 3, own: 3 };
        for algorithm in MOCK_UPS {
            let calls = algorithm.calls().unwrap();
            let deeds = |rank| Deeds::new(algorithm.contract(), calls, &problem, rank, lengths);
            for place in 0..deeds(1).deeds.len() {
                let mut all: Vec<Deeds> = (0..problem.size).map(deeds).collect();
                let longer = all.iter_mut().filter(|one| place < one.deeds.len());
                longer.for_each(|one| drop(one.deeds.remove(place)));
                let fault = verify_deeds(algorithm.contract(), &problem, 3, all);
                assert!(fault.is_err(), "{} does without deed {place}", algorithm.name);
            }
        }
    }

    #[test]
    fn a_region_beyond_its_memory_is_found() {
        let mut memory = Areas { areas: [vec![], vec![None], vec![], vec![]], is_shared: false };
        assert_eq!(memory.read(Area::Recv, 0..2).unwrap_err(), "recv ends at 1, before 2");
    }
}
