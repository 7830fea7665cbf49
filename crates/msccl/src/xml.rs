//! The text: an `algo` of `gpu`s, these of threadblocks (`tb`), and these of `step`s.

use roxmltree::{Document, Node};
use rustcoll::algorithms::Collective;
use rustcoll::schedule_file::Misread;

/// So many ranks at most: the programs of all are made at once.
const MOST_RANKS: usize = 1024;

/// A buffer is cut into so many chunks at most.
const MOST_CHUNKS: usize = 1 << 16;

/// What a text says.
#[derive(Debug)]
pub struct Algorithm {
    pub name: String,
    pub collective: Collective,
    /// Whether input and output are the same memory.
    pub is_in_place: bool,
    /// Into how many chunks all that a rank has of all ranks is cut.
    pub chunks: usize,
    pub gpus: Vec<Vec<Threadblock>>,
}

#[derive(Debug)]
pub struct Threadblock {
    pub to: Option<usize>,
    pub from: Option<usize>,
    /// Messages between two GPUs are in order if they have the same channel.
    pub channel: usize,
    pub steps: Vec<Step>,
}

#[derive(Debug)]
pub struct Step {
    pub kind: Kind,
    pub source: Chunk,
    pub target: Chunk,
    /// How many chunks, from those on.
    pub count: usize,
    /// Threadblock and step that must have ended before.
    pub after: Option<(usize, usize)>,
    /// Where it stands.
    pub line: usize,
}

/// What a step does, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Receives a message.
    pub receives: bool,
    /// Combines what was received, or the source, with what is there.
    pub reduces: bool,
    /// Puts what there is now into the target.
    pub stores: bool,
    /// Sends it.
    pub sends: bool,
}

/// A place for a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Chunk {
    pub memory: Memory,
    pub number: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Memory {
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

/// The kinds of steps, by their names.
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

    /// Whether what is moved is a vector, which is cut as the algorithm likes; else each rank has a block.
    pub fn is_of_vectors(&self) -> bool {
        self.collective == Collective::Allreduce
    }

    /// Into how many parts each rank's block is cut. A vector has as many blocks as it has chunks, and so blocks have one part.
    pub fn parts(&self) -> usize {
        if self.is_of_vectors() { 1 } else { self.chunks / self.gpus.len() }
    }

    /// What part of a block a chunk is; see [`crate::order::Held`].
    pub fn part(&self, chunk: usize) -> usize {
        if self.is_of_vectors() { chunk } else { chunk % self.parts() }
    }

    /// Into how many blocks a buffer is cut in the schedules.
    pub fn blocks(&self) -> usize {
        self.chunks / self.parts()
    }

    /// A name for its schedule file, which no registered algorithm has.
    pub fn own_name(&self) -> String {
        const LONGEST: usize = 40;
        let legal =
            |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
        format!("msccl_{}", self.name).chars().map(legal).take(LONGEST).collect()
    }

    /// How many chunks a memory of a rank has. What is in place has all of them.
    pub fn extent(&self, memory: Memory) -> usize {
        let own = self.chunks / self.gpus.len();
        match (memory, self.collective) {
            (Memory::Scratch, _) => MOST_CHUNKS,
            (Memory::Input, Collective::Allgather) | (Memory::Output, Collective::ReduceScatterBlock) => own,
            _ => self.chunks,
        }
    }

    /// Steps lie within their buffers and wait for steps that exist.
    fn check(&self) -> Result<(), Misread> {
        for threadblocks in &self.gpus {
            for (number, threadblock) in threadblocks.iter().enumerate() {
                for step in &threadblock.steps {
                    self.check_step(step, threadblock, threadblocks).map_err(|message| {
                        let message = format!("threadblock {number}: {message}");
                        Misread { line: step.line, column: 1, message }
                    })?;
                }
            }
        }
        Ok(())
    }

    fn check_step(&self, step: &Step, own: &Threadblock, all: &[Threadblock]) -> Result<(), String> {
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

impl Step {
    /// The places that it reads and writes, the first chunk of each.
    fn chunks(&self) -> impl Iterator<Item = Chunk> {
        let Kind { receives, reduces, stores, sends } = self.kind;
        let reads = reduces || (!receives && (stores || sends));
        reads.then_some(self.source).into_iter().chain(stores.then_some(self.target))
    }
}

impl Memory {
    pub fn name(self) -> &'static str {
        match self {
            Memory::Input => "i",
            Memory::Output => "o",
            Memory::Scratch => "s",
        }
    }
}

/// The collectives, by their names here.
const COLLECTIVES: [(&str, Collective); 5] = [
    ("allgather", Collective::Allgather),
    ("allreduce", Collective::Allreduce),
    ("alltoall", Collective::Alltoall),
    ("reduce_scatter", Collective::ReduceScatterBlock),
    ("reducescatter", Collective::ReduceScatterBlock),
];

/// The name of a collective, if it has one.
pub fn name(collective: Collective) -> Option<&'static str> {
    COLLECTIVES.iter().find(|(_, known)| *known == collective).map(|(name, _)| *name)
}

/// What the algorithm performs.
fn collective(algo: &Element) -> Result<Collective, Misread> {
    let named = algo.text("coll")?;
    let known = COLLECTIVES.iter().find(|(name, _)| *name == named);
    known.map(|(_, collective)| *collective).ok_or_else(|| {
        algo.fault(format!(
            "the collective \"{named}\" is not one of allgather, allreduce, alltoall and reduce_scatter"
        ))
    })
}

/// How many chunks there are of all ranks together.
fn chunks(collective: Collective, is_in_place: bool, gpus: &[Element]) -> Result<usize, Misread> {
    // In place, one of the two may have the number 0.
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

fn step(element: &Element, number: usize) -> Result<Step, Misread> {
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
        true => Ok(Chunk { memory: Memory::Scratch, number: 0 }),
        false => element.chunk(memory, number),
    };
    let count = if is_idle { 0 } else { element.number("cnt", MOST_CHUNKS)? };
    if !is_idle && count == 0 {
        return Err(element.fault("`cnt` is 0: this step is about no chunk"));
    }
    Ok(Step {
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

/// An element, whose attributes are asked for.
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

    /// A number up to a bound.
    fn number(&self, name: &str, most: usize) -> Result<usize, Misread> {
        let text = self.text(name)?;
        let number = text.parse().ok().filter(|number| *number <= most);
        number.ok_or_else(|| self.fault(format!("`{name}` is \"{text}\", not a number from 0 to {most}")))
    }

    /// A number below a bound, or -1 for none.
    fn peer(&self, name: &str, bound: usize) -> Result<Option<usize>, Misread> {
        if self.text(name)? == "-1" { Ok(None) } else { self.number(name, bound - 1).map(Some) }
    }

    fn chunk(&self, memory: &str, number: &str) -> Result<Chunk, Misread> {
        let memory = match self.text(memory)? {
            "i" => Memory::Input,
            "o" => Memory::Output,
            "s" => Memory::Scratch,
            other => return Err(self.fault(format!("the buffer \"{other}\" is not one of i, o and s"))),
        };
        Ok(Chunk { memory, number: self.number(number, MOST_CHUNKS)? })
    }
}
