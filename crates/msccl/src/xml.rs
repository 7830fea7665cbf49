//! Reads MSCCL's XML: an `algo` has `gpu`s, a `gpu` has threadblocks (`tb`), and a threadblock has `step`s.

use roxmltree::{Document, Node};
use rustcoll::algorithms::Collective;
use rustcoll::schedule_file::{MOST_STEPS, Misread};

/// The most ranks: the programs of all ranks are in memory at once.
const MOST_RANKS: usize = 1024;

/// The most chunks of a buffer.
const MOST_CHUNKS: usize = 1 << 16;

/// The content of a text.
#[derive(Debug)]
pub struct Algorithm {
    pub name: String,
    pub collective: Collective,
    /// Whether input and output share their memory.
    pub is_in_place: bool,
    /// The number of chunks of the whole vector, or of the blocks of all ranks together.
    pub chunks: usize,
    pub gpus: Vec<Vec<Threadblock>>,
}

#[derive(Debug)]
pub struct Threadblock {
    pub to: Option<usize>,
    pub from: Option<usize>,
    /// Messages between two GPUs keep their order if they use the same channel.
    pub channel: usize,
    pub steps: Vec<XmlStep>,
}

#[derive(Debug)]
pub struct XmlStep {
    pub kind: Kind,
    pub source: Chunk,
    pub target: Chunk,
    /// The number of consecutive chunks, from `source` and from `target` on.
    pub count: usize,
    /// The threadblock and its step that must end before this step.
    pub after: Option<(usize, usize)>,
    /// The line of the step in the text.
    pub line: usize,
}

/// The actions of a step, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub receives: bool,
    /// Combines received data with the source; without a message, the source with the target.
    pub reduces: bool,
    /// Stores the result in the target.
    pub stores: bool,
    /// Sends the result.
    pub sends: bool,
}

/// A place for a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Chunk {
    pub memory: ChunkBuffer,
    pub number: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChunkBuffer {
    Input,
    Output,
    Scratch,
}

impl Kind {
    const fn new(receives: bool, reduces: bool, stores: bool, sends: bool) -> Kind {
        Kind { receives, reduces, stores, sends }
    }

    fn is_idle(self) -> bool {
        self == Kind::new(false, false, false, false)
    }
}

/// The names and kinds of steps.
const KINDS: [(&str, Kind); 9] = [
    ("s", Kind::new(false, false, false, true)),
    ("r", Kind::new(true, false, true, false)),
    ("rcs", Kind::new(true, false, true, true)),
    ("rrc", Kind::new(true, true, true, false)),
    ("rrs", Kind::new(true, true, false, true)),
    ("rrcs", Kind::new(true, true, true, true)),
    ("cpy", Kind::new(false, false, true, false)),
    ("re", Kind::new(false, true, true, false)),
    ("nop", Kind::new(false, false, false, false)),
];

impl Algorithm {
    /// Reads a text.
    pub fn read(text: &str) -> Result<Algorithm, Misread> {
        let document = Document::parse(text).map_err(|error| {
            let place = error.pos();
            Misread { line: place.row as usize, column: place.col as usize, message: error.to_string() }
        })?;
        let algo = Element(document.root_element());
        if !algo.0.has_tag_name("algo") {
            return Err(algo.fault("expected `<algo ...>`, the outermost element of an algorithm of MSCCL"));
        }
        let ranks = algo.number("ngpus", MOST_RANKS)?;
        let collective = collective(&algo)?;
        let is_in_place = algo.flag("inplace") && !algo.flag("outofplace");
        let gpus: Vec<Element> = algo.children("gpu").collect();
        if gpus.len() != ranks || ranks == 0 {
            return Err(
                algo.fault(format!("`ngpus` says {ranks}, but there are {} elements `gpu`", gpus.len()))
            );
        }
        let chunks = chunks(collective, is_in_place, &gpus)?;
        for (rank, gpu) in gpus.iter().enumerate() {
            if gpu.number("id", ranks)? != rank {
                return Err(gpu.fault(format!("expected the GPU with the id {rank}")));
            }
        }
        let gpus = gpus.iter().map(|gpu| threadblocks(gpu, ranks)).collect::<Result<_, _>>()?;
        let name = algo.0.attribute("name").unwrap_or("algorithm").to_owned();
        let algorithm = Algorithm { name, collective, is_in_place, chunks, gpus };
        algorithm.check()?;
        Ok(algorithm)
    }

    /// Whether the data are a vector, which the algorithm may cut as it likes. Otherwise each rank has a block.
    pub fn is_of_vectors(&self) -> bool {
        self.collective == Collective::Allreduce
    }

    /// Returns the number of parts of each rank's block. In a vector each chunk is a block, so a block has one part.
    pub fn parts(&self) -> usize {
        if self.is_of_vectors() { 1 } else { self.chunks / self.gpus.len() }
    }

    /// Returns the number of a chunk's part; see [`crate::order::Held`].
    pub fn part(&self, chunk: usize) -> usize {
        if self.is_of_vectors() { chunk } else { chunk % self.parts() }
    }

    /// Returns the number of blocks of a buffer in the schedules.
    pub fn blocks(&self) -> usize {
        self.chunks / self.parts()
    }

    /// Returns a name for the schedule file. No registered algorithm has it.
    pub fn own_name(&self) -> String {
        const LONGEST: usize = 40;
        let legal =
            |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
        format!("msccl_{}", self.name).chars().map(legal).take(LONGEST).collect()
    }

    /// Returns the number of chunks in a memory of a rank.
    pub fn extent(&self, memory: ChunkBuffer) -> usize {
        let own = self.chunks / self.gpus.len();
        match (memory, self.collective) {
            (ChunkBuffer::Scratch, _) => MOST_CHUNKS,
            (ChunkBuffer::Input, Collective::Allgather)
            | (ChunkBuffer::Output, Collective::ReduceScatterBlock) => own,
            _ => self.chunks,
        }
    }

    /// Checks that steps stay within their buffers, wait only for steps that exist, and are not about too many chunks.
    fn check(&self) -> Result<(), Misread> {
        let mut chunks = 0;
        for threadblocks in &self.gpus {
            for (number, threadblock) in threadblocks.iter().enumerate() {
                for step in &threadblock.steps {
                    chunks += step.count;
                    if chunks > MOST_STEPS {
                        let message = format!("up to here the steps are about more than {MOST_STEPS} chunks");
                        return Err(Misread { line: step.line, column: 1, message });
                    }
                    self.check_step(step, threadblock, threadblocks).map_err(|message| {
                        let message = format!("threadblock {number}: {message}");
                        Misread { line: step.line, column: 1, message }
                    })?;
                }
            }
        }
        Ok(())
    }

    fn check_step(&self, step: &XmlStep, own: &Threadblock, all: &[Threadblock]) -> Result<(), String> {
        for (does, has, what) in [
            (step.kind.sends, own.to, "this step sends, but its `tb` says `send=\"-1\"`"),
            (step.kind.receives, own.from, "this step receives, but its `tb` says `recv=\"-1\"`"),
        ] {
            if does && has.is_none() {
                return Err(what.into());
            }
        }
        if let Some((threadblock, waited)) = step.after
            && all.get(threadblock).is_none_or(|other| waited >= other.steps.len())
        {
            return Err(format!(
                "it waits for step {waited} of threadblock {threadblock}, which there is not"
            ));
        }
        for chunk in step.chunks() {
            let (end, extent) = (chunk.number + step.count, self.extent(chunk.memory));
            if end > extent {
                let memory = chunk.memory.name();
                return Err(format!("chunk {} is beyond the {extent} chunks of buffer `{memory}`", end - 1));
            }
        }
        Ok(())
    }
}

impl XmlStep {
    /// Returns the first chunk that the step reads, and the first chunk that it writes.
    fn chunks(&self) -> impl Iterator<Item = Chunk> {
        let Kind { receives, reduces, stores, sends } = self.kind;
        let reads = reduces || (!receives && (stores || sends));
        reads.then_some(self.source).into_iter().chain(stores.then_some(self.target))
    }
}

impl ChunkBuffer {
    pub fn name(self) -> &'static str {
        match self {
            ChunkBuffer::Input => "i",
            ChunkBuffer::Output => "o",
            ChunkBuffer::Scratch => "s",
        }
    }
}

/// The collectives with MSCCL's names for them.
const COLLECTIVES: [(&str, Collective); 5] = [
    ("allgather", Collective::Allgather),
    ("allreduce", Collective::Allreduce),
    ("alltoall", Collective::Alltoall),
    ("reduce_scatter", Collective::ReduceScatterBlock),
    ("reducescatter", Collective::ReduceScatterBlock),
];

/// Returns MSCCL's name of a collective, if there is one.
pub fn name(collective: Collective) -> Option<&'static str> {
    COLLECTIVES.iter().find(|(_, known)| *known == collective).map(|(name, _)| *name)
}

/// Reads the collective of an algorithm.
fn collective(algo: &Element) -> Result<Collective, Misread> {
    let named = algo.text("coll")?;
    let known = COLLECTIVES.iter().find(|(name, _)| *name == named);
    known.map(|(_, collective)| *collective).ok_or_else(|| {
        algo.fault(format!(
            "the collective \"{named}\" is not one of allgather, allreduce, alltoall and reduce_scatter"
        ))
    })
}

/// Returns the number of chunks of all ranks together; see [`Algorithm::chunks`].
fn chunks(collective: Collective, is_in_place: bool, gpus: &[Element]) -> Result<usize, Misread> {
    // In place, one of the two numbers may be 0.
    let (first, ranks) = (&gpus[0], gpus.len());
    let counts = [first.number("i_chunks", MOST_CHUNKS)?, first.number("o_chunks", MOST_CHUNKS)?];
    let chunks = match collective {
        Collective::Allgather => counts[1],
        Collective::Allreduce | Collective::Alltoall if is_in_place => counts[0].max(counts[1]),
        _ => counts[0],
    };
    if chunks == 0 || (collective != Collective::Allreduce && chunks % ranks != 0) {
        let message = format!("{chunks} chunks cannot be those of {ranks} ranks of {}", collective.name());
        return Err(first.fault(message));
    }
    Ok(chunks)
}

fn threadblocks(gpu: &Element, ranks: usize) -> Result<Vec<Threadblock>, Misread> {
    let mut threadblocks = Vec::new();
    for element in gpu.children("tb") {
        if element.number("id", MOST_CHUNKS)? != threadblocks.len() {
            return Err(element.fault(format!("expected the threadblock with the id {}", threadblocks.len())));
        }
        let steps = element.children("step").enumerate().map(|(number, element)| step(&element, number));
        threadblocks.push(Threadblock {
            to: element.peer("send", ranks)?,
            from: element.peer("recv", ranks)?,
            channel: element.number("chan", MOST_CHUNKS)?,
            steps: steps.collect::<Result<_, _>>()?,
        });
    }
    Ok(threadblocks)
}

fn step(element: &Element, number: usize) -> Result<XmlStep, Misread> {
    if element.number("s", MOST_CHUNKS)? != number {
        return Err(element.fault(format!("expected the step with the number {number}")));
    }
    let name = element.text("type")?;
    let known = KINDS.iter().find(|(known, _)| *known == name);
    let (_, kind) = *known.ok_or_else(|| {
        let names = KINDS.map(|(known, _)| known).join(", ");
        element.fault(format!("the type \"{name}\" is not one of {names}"))
    })?;
    let is_idle = kind.is_idle();
    let chunk = |memory: &str, number: &str| match is_idle {
        true => Ok(Chunk { memory: ChunkBuffer::Scratch, number: 0 }),
        false => element.chunk(memory, number),
    };
    let count = if is_idle { 0 } else { element.number("cnt", MOST_CHUNKS)? };
    if !is_idle && count == 0 {
        return Err(element.fault("`cnt` is 0: this step is about no chunk"));
    }
    Ok(XmlStep {
        kind,
        source: chunk("srcbuf", "srcoff")?,
        target: chunk("dstbuf", "dstoff")?,
        count,
        after: match element.peer("depid", MOST_CHUNKS)? {
            None => None,
            Some(threadblock) => element.peer("deps", MOST_CHUNKS)?.map(|step| (threadblock, step)),
        },
        line: element.place().0,
    })
}

/// An XML element, with functions that read its attributes.
struct Element<'a, 'input>(Node<'a, 'input>);

impl<'a, 'input> Element<'a, 'input> {
    fn children(&self, name: &'static str) -> impl Iterator<Item = Element<'a, 'input>> {
        self.0.children().filter(move |child| child.has_tag_name(name)).map(Element)
    }

    fn place(&self) -> (usize, usize) {
        let place = self.0.document().text_pos_at(self.0.range().start);
        (place.row as usize, place.col as usize)
    }

    fn fault(&self, message: impl Into<String>) -> Misread {
        let (line, column) = self.place();
        Misread { line, column, message: message.into() }
    }

    fn text(&self, name: &str) -> Result<&'a str, Misread> {
        let lack = || self.fault(format!("`{}` has no attribute `{name}`", self.0.tag_name().name()));
        self.0.attribute(name).ok_or_else(lack)
    }

    fn flag(&self, name: &str) -> bool {
        self.0.attribute(name) == Some("1")
    }

    /// Reads a number from 0 to `most`.
    fn number(&self, name: &str, most: usize) -> Result<usize, Misread> {
        let text = self.text(name)?;
        let number = text.parse().ok().filter(|number| *number <= most);
        number.ok_or_else(|| self.fault(format!("`{name}` is \"{text}\", not a number from 0 to {most}")))
    }

    /// Reads a number below `bound`; -1 stands for none.
    fn peer(&self, name: &str, bound: usize) -> Result<Option<usize>, Misread> {
        if self.text(name)? == "-1" { Ok(None) } else { self.number(name, bound - 1).map(Some) }
    }

    fn chunk(&self, memory: &str, number: &str) -> Result<Chunk, Misread> {
        let memory = match self.text(memory)? {
            "i" => ChunkBuffer::Input,
            "o" => ChunkBuffer::Output,
            "s" => ChunkBuffer::Scratch,
            other => return Err(self.fault(format!("the buffer \"{other}\" is not one of i, o and s"))),
        };
        Ok(Chunk { memory, number: self.number(number, MOST_CHUNKS)? })
    }
}
