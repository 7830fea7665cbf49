//! Schedule files as JSON, for other programs. The JSON has the same head, programs and steps.
//!
//! JSON is first converted to the text of a schedule file, so there is one parser and one verifier.

use msccl::{Imported, Refusal, proved};
use rustcoll::algorithms::Root as Roots;
use rustcoll::schedule::{self, Message, ProgramPart, Schedule, SlotKind};
use rustcoll::schedule_file::{FIRST_LINE, Misread, ScheduleFile};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};

/// The version of [`FIRST_LINE`].
const VERSION: u32 = 1;

/// A schedule file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    collective: String,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    root: Option<Root>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    needs: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    programs: Vec<Program>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected the number of a rank, or \"any\"")]
enum Root {
    Rank(u32),
    Any(String),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    rank: u32,
    ranks: u32,
    blocks: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    slots: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    slots_together: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    slots_lent: bool,
    steps: Vec<Step>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Step {
    Send { post: u32, to: u32, from: Vec<Run> },
    Receive { post: u32, from: u32, into: Vec<Run> },
    Wait { posts: Vec<u32> },
    Copy { from: Run, to: Run },
    Reduce { into: Run, left: Run, right: Run },
    Notify { slot: u32 },
    Await { slot: u32, rank: u32, times: u32 },
    Repeat { times: u32, steps: Vec<Repeated> },
}

/// A step of a loop.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Repeated {
    step: Step,
    #[serde(default, skip_serializing_if = "is_default")]
    each_time: Change,
}

#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Change {
    #[serde(skip_serializing_if = "is_default")]
    rank: i64,
    #[serde(skip_serializing_if = "is_default")]
    slot: i64,
    #[serde(skip_serializing_if = "is_default")]
    blocks: Vec<i64>,
}

/// Consecutive blocks.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    buffer: Buffer,
    first: u32,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    count: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Buffer {
    Send,
    Recv,
    Scratch,
    Shared(u32),
}

fn one() -> u32 {
    1
}

fn is_one(&count: &u32) -> bool {
    count == 1
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Whether a text looks like JSON.
pub fn is_begun(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Converts JSON to a schedule file. `name` replaces the algorithm's own name.
pub fn import(json: &str, name: Option<&str>) -> Result<Imported, Refusal> {
    let lines = lines(json, name).map_err(Refusal::Inexpressible)?;
    let text: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
    let located = |Misread { line, message, .. }: Misread| match lines.get(line - 1) {
        Some((place, line)) => format!("{place} ({line}): {message}"),
        None => message,
    };
    proved(text, 1, located, |place| lines[place.line - 1].0.clone())
}

/// Returns the lines of the schedule file, each with its place in the JSON. Fails with the reason if there are none.
fn lines(json: &str, name: Option<&str>) -> Result<Vec<(String, String)>, String> {
    let mut file: File = serde_json::from_str(json).map_err(|error| error.to_string())?;
    if let Some(name) = name {
        file.name = name.to_owned();
    }
    match file.version {
        VERSION => file.lines(),
        version => Err(format!("version {version} is not known: this reads version {VERSION}")),
    }
}

impl File {
    fn lines(&self) -> Result<Vec<(String, String)>, String> {
        let root = self.root.as_ref().map(Root::to_string);
        let head = [
            ("collective", Some(&self.collective)),
            ("name", Some(&self.name)),
            ("root", root.as_ref()),
            ("needs", self.needs.as_ref()),
            ("source", self.source.as_ref()),
        ];
        let mut lines = vec![("version".to_owned(), FIRST_LINE.to_owned())];
        for (key, value) in head {
            let Some(value) = value else { continue };
            if value.contains(['\n', '\r', '#']) {
                return Err(format!("{key}: expected one line without #, found {value:?}"));
            }
            lines.push((key.to_owned(), format!("{key} {value}")));
        }
        if self.programs.is_empty() {
            return Err("programs: expected at least one program".into());
        }
        for (program, number) in self.programs.iter().zip(0..) {
            let place = format!("programs[{number}]");
            lines.push((place.clone(), program.to_string()));
            for (step, number) in program.steps.iter().zip(0..) {
                push_step(&mut lines, format!("{place}.steps[{number}]"), step, &Change::default());
            }
        }
        Ok(lines)
    }
}

/// Adds the lines of a step, with `change`: what changes each time that a loop repeats the step.
fn push_step(lines: &mut Vec<(String, String)>, place: String, step: &Step, change: &Change) {
    lines.push((place.clone(), format!("{step}{change}")));
    if let Step::Repeat { steps, .. } = step {
        for (Repeated { step, each_time }, number) in steps.iter().zip(0..) {
            push_step(lines, format!("{place}.repeat.steps[{number}]"), step, each_time);
        }
        lines.push((place, "end".into()));
    }
}

/// Returns a schedule file as JSON.
pub fn json(file: &ScheduleFile) -> String {
    let root = match file.listed.root {
        Roots::Any => Some(Root::Any("any".into())),
        Roots::Only(rank) => file.listed.collective.is_rooted().then_some(Root::Rank(rank as u32)),
    };
    let file = File {
        version: VERSION,
        collective: file.listed.collective.name().into(),
        name: file.name.clone(),
        root,
        needs: file.needs_commutative.then(|| "commutative".into()),
        source: file.source.clone(),
        programs: file.listed.programs.values().flatten().map(Program::of).collect(),
    };
    serde_json::to_string_pretty(&file).expect("it is made of texts and numbers")
}

impl Program {
    fn of(schedule: &Schedule) -> Program {
        let steps = schedule.parts().flat_map(|part| match part {
            ProgramPart::Once(steps) => steps.iter().map(Step::of).collect(),
            ProgramPart::Repeat(repeat) => vec![Step::of_repeat(schedule, repeat)],
        });
        Program {
            rank: schedule.rank as u32,
            ranks: schedule.size as u32,
            blocks: schedule.blocks as u32,
            slots: schedule.slots as u32,
            slots_together: schedule.slot_kind == SlotKind::Together,
            slots_lent: schedule.slot_kind == SlotKind::Lent,
            steps: steps.collect(),
        }
    }
}

impl Step {
    fn of(step: &schedule::Step) -> Step {
        match *step {
            schedule::Step::Send { post, peer, ref message } => {
                Step::Send { post, to: peer, from: runs(message) }
            }
            schedule::Step::Receive { post, peer, ref message } => {
                Step::Receive { post, from: peer, into: runs(message) }
            }
            schedule::Step::Wait { ref posts } => Step::Wait { posts: posts.clone() },
            schedule::Step::Copy { source, target } => {
                Step::Copy { from: Run::of(source), to: Run::of(target) }
            }
            schedule::Step::Reduce { left, right, target } => {
                Step::Reduce { into: Run::of(target), left: Run::of(left), right: Run::of(right) }
            }
            schedule::Step::Notify { slot } => Step::Notify { slot },
            schedule::Step::Await { rank, slot, times } => Step::Await { slot, rank, times },
        }
    }

    fn of_repeat(schedule: &Schedule, repeat: &schedule::Repeat) -> Step {
        let steps = schedule.steps[repeat.steps.clone()].iter().zip(&repeat.moves);
        let repeated = |(step, by)| {
            let schedule::Change { rank, slot, blocks } = schedule::Change::of(step, by, schedule.moduli());
            Repeated { step: Step::of(step), each_time: Change { rank, slot, blocks } }
        };
        Step::Repeat { times: repeat.times, steps: steps.map(repeated).collect() }
    }
}

fn runs(message: &Message) -> Vec<Run> {
    message.runs().map(Run::of).collect()
}

impl Run {
    fn of(run: schedule::Run) -> Run {
        let buffer = match run.buffer {
            schedule::Buffer::Send => Buffer::Send,
            schedule::Buffer::Recv => Buffer::Recv,
            schedule::Buffer::Scratch => Buffer::Scratch,
            schedule::Buffer::Shared(rank) => Buffer::Shared(rank),
        };
        Run { buffer, first: run.first, count: run.count }
    }
}

impl Display for Root {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Root::Rank(rank) => rank.fmt(formatter),
            Root::Any(any) => any.fmt(formatter),
        }
    }
}

impl Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Program { rank, ranks, blocks, slots, slots_together, slots_lent, .. } = self;
        write!(formatter, "rank {rank} of {ranks}, {blocks} blocks")?;
        if *slots > 0 {
            write!(formatter, ", {slots} slots")?;
        }
        let kinds = [(slots_together, SlotKind::Together), (slots_lent, SlotKind::Lent)];
        let said = kinds.into_iter().filter_map(|(is_so, kind)| kind.name().filter(|_| *is_so));
        said.into_iter().try_for_each(|name| write!(formatter, " {name}"))
    }
}

impl Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Step::Send { post, to, from } => {
                write!(formatter, "{post}: send to {to} from {}", listed(from, ", "))
            }
            Step::Receive { post, from, into } => {
                write!(formatter, "{post}: receive from {from} into {}", listed(into, ", "))
            }
            Step::Wait { posts } => write!(formatter, "wait {}", listed(posts, " ")),
            Step::Copy { from, to } => write!(formatter, "copy {from} to {to}"),
            Step::Reduce { into, left, right } => write!(formatter, "reduce {into} = {left} + {right}"),
            Step::Notify { slot } => write!(formatter, "notify {slot}"),
            Step::Await { slot, rank, times } => write!(formatter, "await {slot} of {rank}, {times} times"),
            Step::Repeat { times, .. } => write!(formatter, "repeat {times} times"),
        }
    }
}

impl Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Change { rank, slot, blocks } = self.clone();
        schedule::Change { rank, slot, blocks }.fmt(formatter)
    }
}

impl Display for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Run { buffer, first, count } = self;
        match buffer {
            Buffer::Send => formatter.write_str("send"),
            Buffer::Recv => formatter.write_str("recv"),
            Buffer::Scratch => formatter.write_str("scratch"),
            Buffer::Shared(rank) => write!(formatter, "shared{rank}"),
        }?;
        match count {
            1 => write!(formatter, "[{first}]"),
            _ => write!(formatter, "[{first}..{}]", u64::from(*first) + u64::from(*count)),
        }
    }
}

fn listed<T: Display>(things: &[T], separator: &str) -> String {
    let things: Vec<String> = things.iter().map(T::to_string).collect();
    things.join(separator)
}

#[cfg(test)]
mod tests;
