//! The run of an algorithm as the page draws it.

use crate::failure::Failure;
use crate::problem::{self, ShownProblem, Subject};
use crate::schedule::acts;
use crate::words::{self, Explained};
use rustcoll::algorithms::{Algorithm, Collective, Problem};
use rustcoll::cost;
use rustcoll::schedule::{Buffer, Schedule, Step};
use rustcoll::trace::{self, BlockAddress, Event, How, Moment, Value as TracedValue, ValueNumber};
use rustcoll::verify::{verify_calls, verify_programs};
use serde::Serialize;
use std::fmt::Display;
use std::ops::Range;
use ts_rs::TS;

/// A run on all ranks: the state and the steps that the page draws.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Trace {
    /// The problem with its defaults filled in.
    pub problem: ShownProblem,
    /// Whether messages carry data. Those of a barrier are tokens.
    pub has_data: bool,
    /// How many blocks a buffer is cut into.
    pub blocks: usize,
    /// The buffers of which some rank has a block.
    pub buffers: Vec<BufferView>,
    /// All values that blocks hold during the run.
    pub values: Vec<Value>,
    /// What the blocks hold before the first step.
    pub initial: Vec<Cell>,
    pub steps: Vec<StepView>,
    /// Whether all ranks reach the ends of their programs.
    pub has_ended: bool,
    /// Facts about the run as a whole.
    pub facts: Vec<String>,
    /// None if the run does not end.
    pub cost: Option<Cost>,
    pub verdict: Verdict,
    /// What each rank does, for an algorithm that calls other collectives. Such a trace has no steps.
    pub calls: Option<Vec<Vec<String>>>,
}

/// A buffer, and which of its blocks each rank has.
#[derive(Clone, Debug, Serialize, TS)]
pub struct BufferView {
    /// `send`, `recv`, `scratch` or `shared`.
    pub name: String,
    /// The name that the page shows.
    pub title: String,
    /// The blocks of each rank.
    pub ranges: Vec<Blocks>,
}

/// Consecutive blocks.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Blocks {
    pub first: usize,
    pub count: usize,
}

/// A value that a block can hold.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Value {
    /// The ranks that contributed, abbreviated: `3`, `0–3`, `0,2`.
    pub label: String,
    /// The value in words: `block 2 of rank 3`, `block 1 of (0 ⊕ 1) ⊕ 2`.
    pub text: String,
    /// Index of the block in the ranks' inputs.
    pub block: usize,
    /// The rank whose input the value is; none for the result of a reduction.
    pub origin: Option<usize>,
    /// The ranks that have contributed, from the leftmost operand to the rightmost, each once.
    pub ranks: Vec<usize>,
}

/// A block of a rank's buffer.
#[derive(Clone, Debug, Serialize, TS)]
pub struct BlockView {
    pub rank: usize,
    /// Index in [`Trace::buffers`].
    pub buffer: usize,
    pub block: usize,
}

/// A block and the value written to it.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Cell {
    pub rank: usize,
    /// Index in [`Trace::buffers`].
    pub buffer: usize,
    pub block: usize,
    /// Index in [`Trace::values`]; none if the source held nothing.
    pub value: Option<usize>,
    pub how: Means,
}

/// How a value gets into a block.
#[derive(Clone, Copy, Debug, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Means {
    Given,
    Moved,
    Copied,
    Reduced,
}

/// A step of all ranks: messages travel, or ranks work on their own.
#[derive(Clone, Debug, Serialize, TS)]
pub struct StepView {
    pub title: String,
    /// What happens, in words and formulas.
    pub explanation: Vec<Sentence>,
    pub transfers: Vec<Transfer>,
    /// What ranks do on their own.
    pub works: Vec<Work>,
    /// Blocks that the step reads. They hold what they held before the step.
    pub reads: Vec<BlockView>,
    /// What the step writes. These writes turn the state before the step into the state after it.
    pub writes: Vec<Cell>,
    /// Blocks of all messages of this step.
    pub blocks: usize,
    /// Messages up to this step, with those of this step.
    pub total_messages: usize,
    /// Blocks of messages up to this step, with those of this step.
    pub total_blocks: usize,
    /// Rounds of messages up to this step, with that of this step.
    pub round: usize,
}

/// A sentence and the formula that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
pub struct Sentence {
    pub text: String,
    /// The formula, with numbers put in.
    pub formula: Option<String>,
}

/// A message.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Transfer {
    /// The sending rank.
    pub source: usize,
    /// The receiving rank.
    pub target: usize,
    pub blocks: usize,
    /// The blocks that it carries, in the text form of schedules.
    pub from: String,
    /// Where the receiver puts the blocks, in the text form of schedules.
    pub into: String,
}

/// What a rank does on its own.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Work {
    pub rank: usize,
    /// The step of its schedule, in the text form.
    pub text: String,
}

/// The costs of the busiest ranks; see [`rustcoll::cost::Cost`].
#[derive(Clone, Debug, Serialize, TS)]
pub struct Cost {
    pub rounds: usize,
    pub messages: usize,
    pub blocks: usize,
    pub reduced: usize,
    pub read: usize,
}

/// The verifier's verdict on a run.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Verdict {
    /// Whether the schedules perform their collective.
    pub is_correct: bool,
    /// What is wrong; none if the schedules are correct.
    pub message: Option<String>,
    /// The line of a user's text that is at fault, from 1.
    pub line: Option<usize>,
}

/// A run to draw.
pub struct Subjects<'a> {
    pub collective: Collective,
    /// The algorithm; none, if a user has written the schedules.
    pub algorithm: Option<&'static Algorithm>,
    pub problem: &'a Problem,
    /// The schedules of all ranks, rank 0's first.
    pub schedules: &'a [Schedule],
}

/// The verifier follows this many elements through an algorithm that calls other collectives.
const ELEMENTS: usize = 7;

/// The buffers in the order in which they are drawn.
const BUFFERS: [(&str, &str); 4] =
    [("send", "Send buffer"), ("recv", "Receive buffer"), ("scratch", "Scratch"), ("shared", "Shared slots")];

impl Trace {
    /// Returns the run of an algorithm. Fails if the subject cannot be read.
    pub fn of(subject: &Subject) -> Result<Trace, Failure> {
        let (algorithm, problem) = subject.read()?;
        let collective = problem::collective(&subject.collective)?;
        let shown = subject.problem.shown(algorithm, &problem);
        if let Some(calls) = algorithm.calls() {
            let calls = acts(calls, &problem);
            let verdict = Verdict::of(verify_calls(algorithm, &problem, ELEMENTS));
            return Ok(Trace {
                calls: Some(calls),
                has_ended: true,
                ..Trace::empty(collective, shown, verdict)
            });
        }
        let schedules = algorithm.programs(&problem);
        let subjects =
            Subjects { collective, algorithm: Some(algorithm), problem: &problem, schedules: &schedules };
        Ok(Trace::drawn(&subjects, shown, Verdict::of(verify_programs(algorithm, &problem, &schedules))))
    }

    /// Returns the run of schedules as far as it gets; without steps, if a schedule makes no sense by itself.
    pub fn drawn(subjects: &Subjects, problem: ShownProblem, verdict: Verdict) -> Trace {
        let traced = trace::Trace::new(subjects.collective, subjects.problem, subjects.schedules);
        let Ok(traced) = traced else { return Trace::empty(subjects.collective, problem, verdict) };
        let buffers = buffers(subjects);
        let cell = |write: &trace::Write| cell(&buffers, write);
        let cost = traced.has_ended.then(|| Cost::of(subjects.schedules));
        Trace {
            problem,
            has_data: has_data(subjects.collective),
            blocks: subjects.schedules.iter().map(|schedule| schedule.blocks).max().unwrap_or(0),
            values: values(&traced.values),
            initial: traced.given.iter().map(cell).collect(),
            steps: steps(subjects, &traced, &buffers),
            has_ended: traced.has_ended,
            facts: words::facts(subjects, &traced),
            cost,
            verdict,
            calls: None,
            buffers,
        }
    }

    fn empty(collective: Collective, problem: ShownProblem, verdict: Verdict) -> Trace {
        Trace {
            problem,
            has_data: has_data(collective),
            blocks: 0,
            buffers: Vec::new(),
            values: Vec::new(),
            initial: Vec::new(),
            steps: Vec::new(),
            has_ended: false,
            facts: Vec::new(),
            cost: None,
            verdict,
            calls: None,
        }
    }
}

fn has_data(collective: Collective) -> bool {
    collective != Collective::Barrier
}

impl Verdict {
    /// Returns the verdict for a result of the verifier, without a line.
    pub fn of(result: Result<(), impl Display>) -> Verdict {
        let message = result.err().map(|fault| fault.to_string());
        Verdict { is_correct: message.is_none(), message, line: None }
    }
}

impl Cost {
    fn of(schedules: &[Schedule]) -> Cost {
        let cost::Cost { rounds, messages, blocks, reduced, read } = cost::Cost::count(schedules);
        Cost { rounds, messages, blocks, reduced, read }
    }
}

impl Sentence {
    pub fn plain(text: impl Into<String>) -> Sentence {
        Sentence { text: text.into(), formula: None }
    }

    pub fn with(text: impl Into<String>, formula: impl Into<String>) -> Sentence {
        Sentence { text: text.into(), formula: Some(formula.into()) }
    }
}

/// Returns the buffers of which some rank has a block.
fn buffers(subjects: &Subjects) -> Vec<BufferView> {
    let Subjects { collective, problem, schedules, .. } = subjects;
    let blocks = |rank: usize| schedules[rank].blocks;
    let ranges: [Vec<Range<usize>>; BUFFERS.len()] = [
        (0..problem.size).map(|rank| collective.send_blocks(problem, rank, blocks(rank))).collect(),
        (0..problem.size).map(|rank| collective.recv_blocks(problem, rank, blocks(rank))).collect(),
        schedules.iter().map(|schedule| 0..schedule.scratch_blocks()).collect(),
        schedules.iter().map(|schedule| 0..schedule.slots).collect(),
    ];
    let view = |((name, title), ranges): ((&str, &str), Vec<Range<usize>>)| BufferView {
        name: name.into(),
        title: title.into(),
        ranges: ranges.iter().map(|range| Blocks { first: range.start, count: range.len() }).collect(),
    };
    let has_blocks = |view: &BufferView| view.ranges.iter().any(|range| range.count > 0);
    BUFFERS.into_iter().zip(ranges).map(view).filter(has_blocks).collect()
}

fn steps(subjects: &Subjects, traced: &trace::Trace, buffers: &[BufferView]) -> Vec<StepView> {
    let (mut total_messages, mut total_blocks, mut round) = (0, 0, 0);
    let step = |(number, moment): (usize, &Moment)| {
        let (transfers, works) = happening(subjects, moment);
        let blocks = transfers.iter().map(|transfer| transfer.blocks).sum();
        total_messages += transfers.len();
        total_blocks += blocks;
        round += usize::from(!transfers.is_empty());
        let Explained { title, sentences } = words::explain(subjects, traced, number);
        StepView {
            title,
            explanation: sentences,
            transfers,
            works,
            reads: moment.reads.iter().map(|place| block_view(buffers, place)).collect(),
            writes: moment.writes.iter().map(|write| cell(buffers, write)).collect(),
            blocks,
            total_messages,
            total_blocks,
            round,
        }
    };
    traced.steps.iter().enumerate().map(step).collect()
}

fn happening(subjects: &Subjects, moment: &Moment) -> (Vec<Transfer>, Vec<Work>) {
    match &moment.event {
        Event::Messages(travels) => {
            let transfer = |travel: &trace::Travel| Transfer {
                source: travel.source,
                target: travel.target,
                blocks: travel.from.blocks(),
                from: travel.from.to_string(),
                into: travel.into.to_string(),
            };
            (travels.iter().map(transfer).collect(), Vec::new())
        }
        Event::Work(acts) => {
            let step = |rank: usize, position: usize| -> &Step { &subjects.schedules[rank].steps[position] };
            let work =
                |&(rank, position): &(usize, usize)| Work { rank, text: step(rank, position).to_string() };
            (Vec::new(), acts.iter().map(work).collect())
        }
    }
}

fn values(traced: &trace::Values) -> Vec<Value> {
    let value = |(number, value): (usize, &TracedValue)| {
        let number = ValueNumber(number);
        let ranks = traced.contributors(number);
        let origin = if let TracedValue::Input { rank, .. } = value { Some(*rank) } else { None };
        Value {
            label: words::ranges(ranks),
            text: traced.text(number),
            block: traced.block(number),
            origin,
            ranks: ranks.to_vec(),
        }
    };
    traced.all().iter().enumerate().map(value).collect()
}

fn cell(buffers: &[BufferView], write: &trace::Write) -> Cell {
    let BlockView { rank, buffer, block } = block_view(buffers, &write.place);
    let how = match write.how {
        How::Given => Means::Given,
        How::Moved => Means::Moved,
        How::Copied => Means::Copied,
        How::Reduced => Means::Reduced,
    };
    Cell { rank, buffer, block, value: write.value.map(|number| number.0), how }
}

fn block_view(buffers: &[BufferView], place: &BlockAddress) -> BlockView {
    let name = match place.buffer {
        Buffer::Send => "send",
        Buffer::Recv => "recv",
        Buffer::Scratch => "scratch",
        Buffer::Shared(_) => "shared",
    };
    let buffer = buffers.iter().position(|buffer| buffer.name == name).expect("it has the block");
    BlockView { rank: place.rank, buffer, block: place.block }
}
