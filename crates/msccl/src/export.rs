//! Writes schedules in MSCCL's XML.
//!
//! A rank has a threadblock for each rank that it sends to, one for each rank that it receives from, and one
//! for its local steps. Each message can then wait by itself, like a post in a schedule. The chunks that
//! steps read and write decide which steps a step must wait for.

use crate::xml::{Chunk, ChunkBuffer};
use rustcoll::algorithms::Collective;
use rustcoll::schedule::{Buffer, Message, Run, Schedule, Step};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// Writes the programs of all ranks, without loops. Fails with the reason if MSCCL cannot express the programs.
pub fn export(name: &str, collective: Collective, programs: &[Schedule]) -> Result<String, String> {
    let Some(coll) = crate::xml::name(collective) else {
        return Err(format!(
            "MSCCL knows allgather, allreduce, alltoall and reduce_scatter (here reduce_scatter_block), not {}",
            collective.name()
        ));
    };
    if programs.iter().any(|program| program.slots > 0) {
        return Err("it uses shared memory, which MSCCL does not know".into());
    }
    let (ranks, blocks) = (programs.len(), programs[0].blocks);
    let mut text = format!(
        "<algo name=\"{name}\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"{blocks}\" ngpus=\"{ranks}\" coll=\"{coll}\" \
         inplace=\"0\" outofplace=\"1\" minBytes=\"0\" maxBytes=\"{}\">\n",
        i64::MAX
    );
    let [input, output] = match collective {
        Collective::Allgather => [1, blocks],
        Collective::ReduceScatterBlock => [blocks, 1],
        _ => [blocks; 2],
    };
    let pieces = pieces(programs);
    for program in programs {
        let (rank, scratch) = (program.rank, program.scratch_blocks());
        let _ = writeln!(
            text,
            "  <gpu id=\"{rank}\" i_chunks=\"{input}\" o_chunks=\"{output}\" s_chunks=\"{scratch}\">"
        );
        text.push_str(&Gpu::of(program, collective, &pieces).to_string());
        text.push_str("  </gpu>\n");
    }
    text.push_str("</algo>\n");
    Ok(text)
}

/// Blocks that travel together: consecutive blocks of the sender, and consecutive blocks of the receiver.
type Piece = (Run, Run);

/// Returns, by sender and receiver, the pieces of each message, in the order of the messages.
fn pieces(programs: &[Schedule]) -> HashMap<[usize; 2], Vec<Vec<Piece>>> {
    let mut ends: HashMap<[usize; 2], [Vec<&Message>; 2]> = HashMap::new();
    for program in programs {
        for step in &program.steps {
            match step {
                Step::Send { peer, message, .. } => {
                    ends.entry([program.rank, *peer as usize]).or_default()[0].push(message);
                }
                Step::Receive { peer, message, .. } => {
                    ends.entry([*peer as usize, program.rank]).or_default()[1].push(message);
                }
                _ => {}
            }
        }
    }
    let matched = |[sent, received]: [Vec<&Message>; 2]| {
        sent.into_iter().zip(received).map(|(sent, received)| cut(sent, received)).collect()
    };
    ends.into_iter().map(|(pair, messages)| (pair, matched(messages))).collect()
}

/// Cuts a message into pieces, given its blocks at the sender and at the receiver.
fn cut(sent: &Message, received: &Message) -> Vec<Piece> {
    let single = |message: &Message| {
        let blocks = message.runs().flat_map(|run| run.indices().map(move |index| run.buffer.block(index)));
        blocks.collect::<Vec<Run>>()
    };
    let mut pieces: Vec<Piece> = Vec::new();
    for (source, target) in single(sent).into_iter().zip(single(received)) {
        match pieces.last_mut() {
            Some((sources, targets)) if source.continues(*sources) && target.continues(*targets) => {
                (sources.count, targets.count) = (sources.count + 1, targets.count + 1);
            }
            _ => pieces.push((source, target)),
        }
    }
    pieces
}

/// The threadblock that does a step: the local one, or the one that sends to or receives from a rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worker {
    Alone,
    To(usize),
    From(usize),
}

/// A step: the number of its threadblock in the rank, and its number within the threadblock.
type StepNumber = (usize, usize);

/// The threadblocks of a rank.
struct Gpu<'a> {
    collective: Collective,
    rank: usize,
    pieces: &'a HashMap<[usize; 2], Vec<Vec<Piece>>>,
    /// The number of messages so far to and from each rank.
    messages: BTreeMap<Worker, usize>,
    workers: Vec<(Worker, Vec<WrittenStep>)>,
    /// By chunk: the last step that wrote it, and in `read` the steps that have read it since.
    written: HashMap<Chunk, StepNumber>,
    read: HashMap<Chunk, Vec<StepNumber>>,
}

/// A step of the XML.
struct WrittenStep {
    kind: &'static str,
    source: Chunk,
    target: Chunk,
    count: usize,
    after: Option<StepNumber>,
    /// Whether another step waits for this one.
    is_awaited: bool,
}

impl<'a> Gpu<'a> {
    fn of(
        program: &Schedule,
        collective: Collective,
        pieces: &'a HashMap<[usize; 2], Vec<Vec<Piece>>>,
    ) -> Gpu<'a> {
        let mut gpu = Gpu {
            collective,
            rank: program.rank,
            pieces,
            messages: BTreeMap::new(),
            workers: Vec::new(),
            written: HashMap::new(),
            read: HashMap::new(),
        };
        for step in &program.steps {
            match *step {
                Step::Send { peer, .. } => gpu.message("s", Worker::To(peer as usize)),
                Step::Receive { peer, .. } => gpu.message("r", Worker::From(peer as usize)),
                Step::Copy { source, target } => {
                    gpu.step("cpy", Worker::Alone, (source, target), [&[source], &[target]])
                }
                Step::Reduce { left, right, target } => gpu.reduce(left, right, target),
                Step::Wait { .. } | Step::Notify { .. } | Step::Await { .. } => {}
            }
        }
        gpu
    }

    fn message(&mut self, kind: &'static str, worker: Worker) {
        let pair = match worker {
            Worker::From(peer) => [peer, self.rank],
            Worker::To(peer) => [self.rank, peer],
            Worker::Alone => unreachable!("a message has another end"),
        };
        let number = self.messages.entry(worker).or_default();
        let pieces = &self.pieces[&pair][*number];
        *number += 1;
        for &(source, target) in pieces {
            let own: [&[Run]; 2] = if kind == "s" { [&[source], &[]] } else { [&[], &[target]] };
            self.step(kind, worker, (source, target), own);
        }
    }

    /// MSCCL's `re` combines its source with its target, so the target must hold an operand before.
    fn reduce(&mut self, left: Run, right: Run, target: Run) {
        let source = match target {
            _ if target == left => right,
            _ if target == right => left,
            _ => {
                self.step("cpy", Worker::Alone, (left, target), [&[left], &[target]]);
                right
            }
        };
        self.step("re", Worker::Alone, (source, target), [&[source, target], &[target]]);
    }

    /// Adds a step that reads some of the rank's blocks and writes others.
    fn step(
        &mut self,
        kind: &'static str,
        worker: Worker,
        (source, target): Piece,
        [reads, writes]: [&[Run]; 2],
    ) {
        let [reads, writes] =
            [reads, writes].map(|runs| runs.iter().flat_map(|run| self.chunks(*run)).collect::<Vec<_>>());
        let before_reads = reads.iter().filter_map(|chunk| self.written.get(chunk));
        let before_writes = writes.iter().flat_map(|chunk| {
            self.written.get(chunk).into_iter().chain(self.read.get(chunk).into_iter().flatten())
        });
        // For each threadblock, only the last of its steps matters.
        let mut before: BTreeMap<usize, usize> = BTreeMap::new();
        for &(number, step) in before_reads.chain(before_writes) {
            let last = before.entry(number).or_default();
            *last = step.max(*last);
        }
        let number = self.number(worker);
        before.remove(&number);
        let count = source.count as usize;
        let (source, target) = (self.chunk(source, worker, true), self.chunk(target, worker, false));
        let nothing = WrittenStep { kind: "nop", source, target, count: 0, after: None, is_awaited: false };
        let mut waits: Vec<StepNumber> = before.into_iter().collect();
        for &(awaited, step) in &waits {
            self.workers[awaited].1[step].is_awaited = true;
        }
        let after = waits.pop();
        let lines = &mut self.workers[number].1;
        lines.extend(waits.into_iter().map(|place| WrittenStep { after: Some(place), ..nothing }));
        lines.push(WrittenStep { kind, count, after, ..nothing });
        let place = (number, lines.len() - 1);
        reads.into_iter().for_each(|chunk| self.read.entry(chunk).or_default().push(place));
        for chunk in writes {
            self.written.insert(chunk, place);
            self.read.remove(&chunk);
        }
    }

    fn number(&mut self, worker: Worker) -> usize {
        let known = self.workers.iter().position(|(known, _)| *known == worker);
        known.unwrap_or_else(|| {
            self.workers.push((worker, Vec::new()));
            self.workers.len() - 1
        })
    }

    fn chunks(&self, run: Run) -> impl Iterator<Item = Chunk> + use<> {
        let first = chunk(self.collective, self.rank, run);
        (first.number..first.number + run.count as usize).map(move |number| Chunk { number, ..first })
    }

    /// Returns the first chunk of a run, in the memory of its sender or of its receiver.
    fn chunk(&self, run: Run, worker: Worker, is_source: bool) -> Chunk {
        let owner = match worker {
            Worker::To(peer) if !is_source => peer,
            Worker::From(peer) if is_source => peer,
            _ => self.rank,
        };
        chunk(self.collective, owner, run)
    }
}

/// Returns the first chunk of a run in the memory of the rank `owner`.
fn chunk(collective: Collective, owner: usize, run: Run) -> Chunk {
    let first = run.first as usize;
    let (memory, number) = match (run.buffer, collective) {
        (Buffer::Send, Collective::Allgather) => (ChunkBuffer::Input, first - owner),
        (Buffer::Recv, Collective::ReduceScatterBlock) => (ChunkBuffer::Output, first - owner),
        (Buffer::Send, _) => (ChunkBuffer::Input, first),
        (Buffer::Recv, _) => (ChunkBuffer::Output, first),
        (Buffer::Scratch | Buffer::Shared(_), _) => (ChunkBuffer::Scratch, first),
    };
    Chunk { memory, number }
}

impl std::fmt::Display for Gpu<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        for (number, (worker, lines)) in self.workers.iter().enumerate() {
            let [send, recv] = match worker {
                Worker::Alone => [-1, -1],
                Worker::To(peer) => [*peer as i64, -1],
                Worker::From(peer) => [-1, *peer as i64],
            };
            writeln!(formatter, "    <tb id=\"{number}\" send=\"{send}\" recv=\"{recv}\" chan=\"0\">")?;
            for (step, line) in lines.iter().enumerate() {
                let WrittenStep { kind, source, target, count, after, is_awaited } = line;
                let [depid, deps] = after.map_or([-1, -1], |(number, step)| [number as i64, step as i64]);
                writeln!(
                    formatter,
                    "      <step s=\"{step}\" type=\"{kind}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" cnt=\"{count}\" \
                     depid=\"{depid}\" deps=\"{deps}\" hasdep=\"{}\"/>",
                    source.memory.name(),
                    source.number,
                    target.memory.name(),
                    target.number,
                    u8::from(*is_awaited)
                )?;
            }
            writeln!(formatter, "    </tb>")?;
        }
        Ok(())
    }
}
