//! The text form of a schedule: a header, then one step a line.
//!
//! ```text
//! rank 1 of 5, 5 blocks
//! 0: receive from 0 into recv[0], scratch[1..3]
//! 1: send to 2 from send[3], send[5..7]
//! wait 0 1
//! copy send[0..2] to recv[0..2]
//! reduce recv[0..2] = send[0..2] + scratch[0..2]
//! ```
//!
//! Where ranks share memory, the header ends with the number of slots that each has, and there are steps for them:
//!
//! ```text
//! rank 1 of 2, 1 blocks, 1 slots
//! copy send[0] to shared1[0]
//! notify 0
//! await 0 of 0, 1 times
//! reduce recv[0] = shared0[0] + send[0]
//! ```
//!
//! `8 slots together` in the header says that slots have the numbers of blocks and lie together as blocks do
//! in a vector. With `8 slots lent`, a slot holds the place of a block, and other ranks copy the block from
//! its rank's own memory. Otherwise any slot may hold a copy of any block.
//!
//! `repeat` and `end` enclose the steps of a loop, as they are the first time. A step ends with what changes
//! from one time to the next: the rank that it names, its slot, and the first block of each of its runs.
//! Ranks are counted modulo their number, blocks and slots modulo the number of blocks. Posts get the next
//! numbers.
//!
//! ```text
//! rank 1 of 5, 5 blocks
//! repeat 4 times
//! 0: receive from 0 into recv[0]; each time blocks -1
//! 1: send to 2 from recv[1]; each time blocks -1
//! wait 0 1
//! end
//! ```
//!
//! The parser skips blank lines and what follows a `#`. It checks the form only; the verifier checks whether
//! a program makes sense.

use super::line::{Line, ParseError};
use super::{Buffer, Extents, Message, Moduli, Move, ProgramPart, Repeat, Run, Schedule, SlotKind, Step};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

impl fmt::Display for Schedule {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Schedule { rank, size, blocks, slots, slot_kind, .. } = self;
        write!(formatter, "rank {rank} of {size}, {blocks} blocks")?;
        if *slots > 0 {
            write!(formatter, ", {}", slot_kind.slots(*slots))?;
        }
        writeln!(formatter)?;
        self.parts().try_for_each(|part| match part {
            ProgramPart::Once(steps) => steps.iter().try_for_each(|step| writeln!(formatter, "{step}")),
            ProgramPart::Repeat(repeat) => {
                writeln!(formatter, "repeat {} times", repeat.times)?;
                let steps = self.steps[repeat.steps.clone()].iter().zip(&repeat.moves);
                steps.into_iter().try_for_each(|(step, by)| {
                    writeln!(formatter, "{step}{}", Change::of(step, by, self.moduli()))
                })?;
                writeln!(formatter, "end")
            }
        })
    }
}

/// What changes from one time of a loop to the next, as in texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Added to the rank that the step names.
    pub rank: i64,
    /// Added to the slot whose flag the step raises or awaits.
    pub slot: i64,
    /// Added to the first block of each of its runs, in the order of the text. Empty if no block changes.
    pub blocks: Vec<i64>,
}

impl Change {
    /// Returns the change of a step.
    pub fn of(step: &Step, by: &Move, moduli: Moduli) -> Change {
        let mut blocks: Vec<i64> = by.runs.iter().map(|&run| signed(run, moduli.blocks)).collect();
        if is_target_first(step) {
            blocks.rotate_right(1);
        }
        if blocks.iter().all(|&run| run == 0) {
            blocks.clear();
        }
        Change { rank: signed(by.rank, moduli.size), slot: signed(by.slot, moduli.blocks), blocks }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Change { rank, slot, blocks } = self;
        let runs = || blocks.iter().map(|run| format!(" {run:+}")).collect::<String>();
        let rank = (*rank != 0).then(|| format!(" rank {rank:+}"));
        let slot = (*slot != 0).then(|| format!(" slot {slot:+}"));
        let blocks = (!blocks.is_empty()).then(|| format!(" blocks{}", runs()));
        let changes: Vec<String> = [rank, slot, blocks].into_iter().flatten().collect();
        if changes.is_empty() {
            return Ok(());
        }
        write!(formatter, "; each time{}", changes.join(","))
    }
}

/// Whether the text names the last of [`Step::runs`] first.
fn is_target_first(step: &Step) -> bool {
    matches!(step, Step::Reduce { .. })
}

/// Returns the number nearest to 0 that is equal modulo `modulus`.
fn signed(number: u32, modulus: u32) -> i64 {
    let (number, modulus) = (i64::from(number), i64::from(modulus));
    if 2 * number > modulus { number - modulus } else { number }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Step::Send { post, peer, message } => write!(formatter, "{post}: send to {peer} from {message}"),
            Step::Receive { post, peer, message } => {
                write!(formatter, "{post}: receive from {peer} into {message}")
            }
            Step::Wait { posts } => {
                formatter.write_str("wait")?;
                posts.iter().try_for_each(|post| write!(formatter, " {post}"))
            }
            Step::Copy { source, target } => write!(formatter, "copy {source} to {target}"),
            Step::Reduce { left, right, target } => write!(formatter, "reduce {target} = {left} + {right}"),
            Step::Notify { slot } => write!(formatter, "notify {slot}"),
            Step::Await { rank, slot, times } => write!(formatter, "await {slot} of {rank}, {times} times"),
        }
    }
}

impl FromStr for Schedule {
    type Err = ParseError;

    /// Reads one schedule. A second header is an error.
    fn from_str(text: &str) -> Result<Schedule, ParseError> {
        let mut listings = read(text, |_, before| before.is_empty())?;
        Ok(listings.remove(0).schedule)
    }
}

/// A schedule, and where it is in a text.
#[derive(Clone, Debug)]
pub struct Listing {
    pub schedule: Schedule,
    pub lines: Lines,
}

/// Where a schedule is in a text: numbers of lines, from 1.
#[derive(Clone, Debug)]
pub struct Lines {
    pub header: usize,
    /// The line of each step.
    pub steps: Vec<usize>,
}

impl Lines {
    pub fn new(header: usize) -> Lines {
        Lines { header, steps: Vec::new() }
    }

    /// Returns the line of a step, given its position in `schedule` without loops, or of the header.
    pub fn of(&self, schedule: &Schedule, step: Option<usize>) -> usize {
        step.map_or(self.header, |step| self.steps[schedule.origin(step)])
    }
}

impl Listing {
    /// Reads one schedule or several, each from its header on.
    pub fn parse_all(text: &str) -> Result<Vec<Listing>, ParseError> {
        read(text, |line, before| before.is_empty() || line.rest.starts_with("rank"))
    }
}

/// Reads at least one schedule. `is_header` decides whether a line is a header, given the schedules before
/// it.
fn read(text: &str, is_header: impl Fn(&Line, &[Listing]) -> bool) -> Result<Vec<Listing>, ParseError> {
    let mut listings: Vec<Listing> = Vec::new();
    // The line at which the loop that is being read begins.
    let mut open: Option<Line> = None;
    // What the loops of the program hold so far.
    let mut looped = Extents::default();
    let lines = text.lines().zip(1..).map(|(text, number)| Line::new(number, text));
    for line in lines.filter(|line| !line.at_end()) {
        if is_header(&line, &listings) && open.is_none() {
            let lines = Lines::new(line.number);
            listings.push(Listing { schedule: line.header()?, lines });
            looped = Extents::default();
            continue;
        }
        let Some(Listing { schedule, lines }) = listings.last_mut() else { continue };
        match line.token() {
            "repeat" if open.is_none() => {
                open = Some(line);
                schedule.repeats.push(line.repeat(schedule)?);
            }
            "end" if open.is_some() => {
                let repeat = schedule.repeats.last().expect("a loop is open");
                if repeat.steps.is_empty() {
                    return Err(line.error_at_start("a step of the loop"));
                }
                line.end_repeat()?;
                let steps = schedule.steps[repeat.steps.clone()].iter();
                steps.for_each(|step| looped.add_step(step, repeat.times as usize));
                if let (Some(start), Some((_, things))) = (open.take(), looped.beyond(MOST_STEPS)) {
                    return Err(
                        start.error_at_start(format!("loops of at most {MOST_STEPS} {things} together"))
                    );
                }
            }
            _ => {
                schedule.push(line, open.is_some())?;
                lines.steps.push(line.number);
            }
        }
    }
    match open {
        Some(line) => return Err(line.error_at_start("a loop that has an \"end\"")),
        // A header is missing, behind the last line.
        None if listings.is_empty() => drop(Line::new(text.lines().count() + 1, "").header()?),
        None => {}
    }
    Ok(listings)
}

impl Schedule {
    /// Reads a step and appends it to the open loop or to the program.
    fn push(&mut self, line: Line, is_in_loop: bool) -> Result<(), ParseError> {
        let moduli = self.moduli();
        let repeat = if is_in_loop { self.repeats.last_mut() } else { None };
        let (step, by) = line.step(repeat.is_some().then_some(moduli))?;
        self.steps.push(step);
        if let Some(repeat) = repeat {
            repeat.steps.end += 1;
            repeat.moves.push(by);
        }
        Ok(())
    }
}

/// The most steps of all loops of a program in a text, so that it can be unrolled; also the most of what these hold.
const MOST_STEPS: usize = 1 << 20;

/// Blocks from this number on do not move in loops, so that numbers of blocks stay below 2^32.
const MOST_MOVED: usize = 1 << 31;

const ANY: RangeInclusive<u32> = 0..=u32::MAX;

impl Line<'_> {
    fn header(mut self) -> Result<Schedule, ParseError> {
        self.expect("rank")?;
        let rank = self.number("a rank", ANY)? as usize;
        self.expect("of")?;
        let size = self.number("a number of ranks", ANY)? as usize;
        self.expect(",")?;
        let blocks = self.number("a number of blocks", ANY)? as usize;
        self.expect("blocks")?;
        let mut schedule = Schedule::idle(rank, size, blocks);
        if self.accept(",") {
            schedule.slots = self.number("a number of slots", ANY)? as usize;
            self.expect("slots")?;
            let kinds = [SlotKind::Together, SlotKind::Lent];
            let named = kinds.into_iter().find(|kind| kind.name().is_some_and(|name| self.accept(name)));
            schedule.slot_kind = named.filter(|_| schedule.slots > 0).unwrap_or_default();
        }
        self.end(schedule)
    }

    fn repeat(mut self, schedule: &Schedule) -> Result<Repeat, ParseError> {
        self.expect("repeat")?;
        let times = self.number("a number of times", 1..=u32::MAX)?;
        self.expect("times")?;
        let here = schedule.steps.len();
        self.end(Repeat { steps: here..here, times, moves: Vec::new() })
    }

    fn end_repeat(mut self) -> Result<(), ParseError> {
        self.expect("end")?;
        self.end(())
    }

    /// Reads a step and, in a loop, how it moves.
    fn step(mut self, moduli: Option<Moduli>) -> Result<(Step, Move), ParseError> {
        let step = match self.token() {
            "wait" => self.wait()?,
            "copy" => self.copy()?,
            "reduce" => self.reduce()?,
            "notify" => self.notify()?,
            "await" => self.await_slot()?,
            token if token.starts_with(|first: char| first.is_ascii_digit()) => {
                self.post(moduli.is_some())?
            }
            _ => {
                let last = if moduli.is_some() { "end" } else { "repeat" };
                return Err(self.error(format!(
                    "a post, \"wait\", \"copy\", \"reduce\", \"notify\", \"await\" or \"{last}\""
                )));
            }
        };
        let still = Move { runs: vec![0; step.runs().len()], ..Move::default() };
        let by = match moduli {
            Some(moduli) if self.accept(";") => self.moves(&step, still, moduli)?,
            _ => still,
        };
        self.end((step, by))
    }

    fn moves(&mut self, step: &Step, mut by: Move, moduli: Moduli) -> Result<Move, ParseError> {
        let ends = step.runs().into_iter().map(|run| run.indices().end);
        let ends = ends.chain(step.slot().map(|slot| slot as usize));
        if ends.chain([moduli.blocks as usize]).any(|end| end > MOST_MOVED) {
            return Err(self.error(format!(
                "the end of the line, for block {MOST_MOVED} and those after it do not move"
            )));
        }
        self.expect("each")?;
        self.expect("time")?;
        let moves_rank = step.named_rank().is_some() && self.accept("rank");
        if moves_rank {
            by.rank = self.change(moduli.size)?;
        }
        let moves_others = !moves_rank || self.accept(",");
        if moves_others && step.slot().is_some() {
            self.expect("slot")?;
            by.slot = self.change(moduli.blocks)?;
        } else if moves_others {
            self.expect("blocks")?;
            for run in &mut by.runs {
                *run = self.change(moduli.blocks)?;
            }
        }
        if is_target_first(step) {
            by.runs.rotate_left(1);
        }
        Ok(by)
    }

    /// Reads a number with its sign, modulo `modulus`.
    fn change(&mut self, modulus: u32) -> Result<u32, ParseError> {
        let is_negative = self.accept("-");
        if !is_negative {
            self.expect("+")?;
        }
        let number =
            self.number("a number smaller than what it is counted modulo", 0..=modulus.saturating_sub(1))?;
        Ok(if is_negative && number > 0 { modulus - number } else { number })
    }

    fn post(&mut self, is_in_loop: bool) -> Result<Step, ParseError> {
        let post = self.number("a post", ANY)?;
        self.expect(":")?;
        if self.accept("send") {
            self.expect("to")?;
            let peer = self.number("a rank", ANY)?;
            self.expect("from")?;
            Ok(Step::Send { post, peer, message: self.message(is_in_loop)? })
        } else if self.accept("receive") {
            self.expect("from")?;
            let peer = self.number("a rank", ANY)?;
            self.expect("into")?;
            Ok(Step::Receive { post, peer, message: self.message(is_in_loop)? })
        } else {
            Err(self.error("\"send\" or \"receive\""))
        }
    }

    fn wait(&mut self) -> Result<Step, ParseError> {
        self.expect("wait")?;
        let mut posts = vec![self.number("a post", ANY)?];
        while !self.at_end() && self.token() != ";" {
            posts.push(self.number("a post", ANY)?);
        }
        Ok(Step::Wait { posts })
    }

    fn copy(&mut self) -> Result<Step, ParseError> {
        self.expect("copy")?;
        let source = self.run()?;
        self.expect("to")?;
        Ok(Step::Copy { source, target: self.run()? })
    }

    fn reduce(&mut self) -> Result<Step, ParseError> {
        self.expect("reduce")?;
        let target = self.run()?;
        self.expect("=")?;
        let left = self.run()?;
        self.expect("+")?;
        Ok(Step::Reduce { left, right: self.run()?, target })
    }

    fn notify(&mut self) -> Result<Step, ParseError> {
        self.expect("notify")?;
        Ok(Step::Notify { slot: self.number("a slot", ANY)? })
    }

    fn await_slot(&mut self) -> Result<Step, ParseError> {
        self.expect("await")?;
        let slot = self.number("a slot", ANY)?;
        self.expect("of")?;
        let rank = self.number("a rank", ANY)?;
        self.expect(",")?;
        let times = self.number("a number of times", ANY)?;
        self.expect("times")?;
        Ok(Step::Await { rank, slot, times })
    }

    fn message(&mut self, is_in_loop: bool) -> Result<Message, ParseError> {
        let mut runs = vec![self.run()?];
        while self.accept(",") {
            runs.push(self.run()?);
        }
        // In a loop, each run moves by itself.
        Ok(if is_in_loop { Message::of_separate(runs) } else { runs.into_iter().collect() })
    }

    fn run(&mut self) -> Result<Run, ParseError> {
        let buffer = self.buffer()?;
        self.expect("[")?;
        // The end of a run must fit in 32 bits as well.
        let first = self.number("a block", 0..=u32::MAX - 1)?;
        let end = if self.accept("..") { self.number("a block", first + 1..=u32::MAX)? } else { first + 1 };
        self.expect("]")?;
        Ok(Run { buffer, first, count: end - first })
    }

    fn buffer(&mut self) -> Result<Buffer, ParseError> {
        let token = self.token();
        let owner = token.strip_prefix("shared").and_then(|rank| rank.parse().ok()).map(Buffer::Shared);
        let private = Buffer::PRIVATE.into_iter().find(|buffer| buffer.to_string() == token);
        let named = private.or(owner);
        named
            .inspect(|_| self.skip(token))
            .ok_or_else(|| self.error("\"send\", \"recv\", \"scratch\" or \"shared\" with a rank"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Dimension, Graph, Problem, REGISTRY};
    use crate::random::{Random, mutate};

    const EXAMPLE: &str = "\
rank 1 of 5, 5 blocks
0: receive from 0 into recv[0], scratch[1..3]
1: send to 2 from send[3], send[5..7]
wait 0 1
copy send[0..2] to recv[0..2]
reduce recv[0..2] = send[0..2] + scratch[0..2]
";

    /// Every rank's schedule by every algorithm for up to nine ranks.
    fn schedules() -> Vec<Schedule> {
        let mut schedules = Vec::new();
        for size in 1..=9 {
            for (radix, segments, root, in_place) in
                [(2, 1, 0, false), (3, 2, size - 1, true), (size, 5, size / 2, false)]
            {
                let radix = radix.clamp(2, size.max(2));
                let graph = Graph::grid(&[Dimension { length: size, periodic: true }]);
                let problem = Problem { root, in_place, radix, segments, graph, ..Problem::new(size) };
                for algorithm in
                    REGISTRY.iter().filter(|algorithm| size > 1 || !algorithm.is_for_two_groups())
                {
                    let remote = if algorithm.is_for_two_groups() { size / 2 } else { 0 };
                    let problem = Problem { remote, ..problem.clone() };
                    let of_rank = |rank| algorithm.program_with_loops(&problem, rank);
                    schedules.extend((0..size).map(of_rank));
                }
            }
        }
        schedules
    }

    #[test]
    fn a_loop_is_read_as_it_is_written() {
        let text = "rank 1 of 5, 5 blocks\n\
                    repeat 4 times\n\
                    0: receive from 0 into recv[0]; each time blocks -1\n\
                    1: send to 2 from send[2]; each time rank +1, blocks +1\n\
                    wait 0 1\n\
                    reduce recv[4] = recv[4] + scratch[7]; each time blocks +0 +0 -2\n\
                    end\n\
                    8: send to 3 from recv[1]\n\
                    wait 8\n";
        let schedule: Schedule = text.parse().unwrap();
        assert_eq!(schedule.to_string(), text);
        assert_eq!((schedule.posts(), schedule.scratch_blocks(), schedule.length()), (9, 10, 18));
        let unrolled = schedule.unrolled().to_string();
        let third = "4: receive from 0 into recv[3]\n\
                     5: send to 4 from send[4]\n\
                     wait 4 5\n\
                     reduce recv[4] = recv[4] + scratch[8]\n\
                     6: receive from 0 into recv[2]\n\
                     7: send to 0 from send[0]\n";
        assert!(unrolled.contains(third), "{unrolled}");
    }

    #[test]
    fn a_loop_is_as_long_for_any_number_of_ranks() {
        for name in ["ring", "linear"] {
            let algorithm = crate::algorithms::Collective::Allgather.algorithm(name).unwrap();
            let [few, many] = [8, 1000].map(|size| algorithm.schedule(&Problem::new(size), size / 2));
            assert_eq!(many.steps.len(), few.steps.len());
            assert!(many.length() > 100 * few.steps.len());
        }
        let ring = crate::algorithms::Collective::Allgather.algorithm("ring").unwrap();
        let lines = |size| ring.schedule(&Problem::new(size), size / 2).to_string().lines().count();
        assert_eq!(lines(1000), lines(8));
    }

    #[test]
    fn faults_in_loops() {
        let fault = |lines: &str| error(&format!("rank 0 of 4, 4 blocks\n{lines}"));
        for (lines, expected) in [
            ("repeat", "line 2, column 7: expected a number of times, found the end of the line"),
            (
                "repeat 0 times",
                "line 2, column 8: expected a number of times from 1 to 4294967295, found \"0\"",
            ),
            ("repeat 3 times\nend", "line 3, column 1: expected a step of the loop, found \"end\""),
            ("repeat 3", "line 2, column 9: expected \"times\", found the end of the line"),
            (
                "repeat 3 times\nwait 0",
                "line 2, column 1: expected a loop that has an \"end\", found \"repeat\"",
            ),
            (
                "repeat 3 times\nrepeat 3 times",
                "line 3, column 1: expected a post, \"wait\", \"copy\", \"reduce\", \"notify\", \"await\" or \"end\", \
                 found \"repeat\"",
            ),
            (
                "repeat 1048577 times\nwait 0\nend",
                "line 2, column 1: expected loops of at most 1048576 steps together, found \"repeat\"",
            ),
            (
                "repeat 1048576 times\n0: send to 1 from send[0], send[2]\nend",
                "line 2, column 1: expected loops of at most 1048576 ranges of blocks in messages together, found \"repeat\"",
            ),
            (
                "repeat 600000 times\nwait 0 1\nend",
                "line 2, column 1: expected loops of at most 1048576 posts to wait for together, found \"repeat\"",
            ),
            (
                "repeat 3 times\nwait 0; each time rank +1",
                "line 3, column 19: expected \"blocks\", found \"rank\"",
            ),
            (
                "repeat 3 times\ncopy send[0] to recv[0]; each time blocks +1",
                "line 3, column 45: expected \"+\", found the end of the line",
            ),
            (
                "repeat 3 times\ncopy send[0] to recv[0]; each time blocks +4 +1",
                "line 3, column 44: expected a number smaller than what it is counted modulo from 0 to 3, found \"4\"",
            ),
            ("wait 0; each time blocks", "line 2, column 7: expected the end of the line, found \";\""),
        ] {
            assert_eq!(fault(lines), expected, "{lines}");
        }
    }

    #[test]
    fn adjacent_runs_of_a_loop_move_one_by_one() {
        let text = "rank 0 of 2, 4 blocks\n\
                    repeat 2 times\n\
                    0: send to 1 from recv[0], recv[1]; each time blocks +1 +2\n\
                    wait 0\n\
                    end\n";
        let schedule: Schedule = text.parse().unwrap();
        assert_eq!(schedule.to_string(), text);
        assert_eq!(schedule.unrolled().steps[2].to_string(), "1: send to 1 from recv[1], recv[3]");
    }

    fn error(text: &str) -> String {
        text.parse::<Schedule>().unwrap_err().to_string()
    }

    fn error_in_step(step: &str) -> String {
        error(&format!("rank 0 of 1, 1 blocks\n{step}"))
    }

    #[test]
    fn several_schedules_stand_one_after_the_other() {
        let text = "\n# two ranks\nrank 0 of 2, 1 blocks\n0: send to 1 from send[0]\nwait 0\n\nrank 1 of 2, 1 blocks # idle\n";
        let listings = Listing::parse_all(text).unwrap();
        let Listing { schedule, lines } = &listings[0];
        assert_eq!([None, Some(0), Some(1)].map(|step| lines.of(schedule, step)), [3, 4, 5]);
        assert_eq!(listings[1].schedule, Schedule::idle(1, 2, 1));
        let fault = |text: &str| Listing::parse_all(text).unwrap_err().to_string();
        assert_eq!(fault(" # nothing\n"), r#"line 2, column 1: expected "rank", found the end of the line"#);
        assert_eq!(fault("wait 0"), r#"line 1, column 1: expected "rank", found "wait""#);
        assert_eq!(
            fault("rank 0 of 1, 1 blocks\nrank 1"),
            r#"line 2, column 7: expected "of", found the end of the line"#
        );
        let second = "rank 0 of 1, 1 blocks\nrank 0 of 1, 1 blocks".parse::<Schedule>().unwrap_err();
        assert_eq!((second.line, second.column), (2, 1));
    }

    #[test]
    fn the_example_has_every_step() {
        let schedule: Schedule = EXAMPLE.parse().unwrap();
        assert_eq!((schedule.rank, schedule.size, schedule.blocks), (1, 5, 5));
        let message: Message = [Buffer::Recv.block(0), Buffer::Scratch.blocks(1..3)].into_iter().collect();
        assert_eq!(schedule.steps[0], Step::Receive { post: 0, peer: 0, message });
        let message: Message = [Buffer::Send.block(3), Buffer::Send.blocks(5..7)].into_iter().collect();
        assert_eq!(schedule.steps[1], Step::Send { post: 1, peer: 2, message });
        assert_eq!(schedule.steps[2], Step::Wait { posts: vec![0, 1] });
        let [send, recv, scratch] = Buffer::PRIVATE.map(|buffer| buffer.blocks(0..2));
        assert_eq!(schedule.steps[3], Step::Copy { source: send, target: recv });
        assert_eq!(schedule.steps[4], Step::Reduce { left: send, right: scratch, target: recv });
        assert_eq!(schedule.to_string(), EXAMPLE);
    }

    #[test]
    fn the_header_says_that_slots_lie_together() {
        let text = "rank 1 of 2, 8 blocks, 8 slots together\n\
                    copy send[0..8] to shared1[0..8]\n";
        let schedule: Schedule = text.parse().unwrap();
        assert_eq!((schedule.slots, schedule.slot_kind), (8, SlotKind::Together));
        assert_eq!(schedule.to_string(), text);
        for (name, kind) in [("", SlotKind::Apart), (" lent", SlotKind::Lent)] {
            let text = text.replace(" together", name);
            let schedule: Schedule = text.parse().unwrap();
            assert_eq!((schedule.slot_kind, schedule.to_string()), (kind, text));
        }
    }

    #[test]
    fn in_loops_ranks_and_slots_move_as_well() {
        let text = "rank 0 of 9, 9 blocks, 9 slots together\n\
                    repeat 8 times\n\
                    await 1 of 1, 1 times; each time rank +1, slot +1\n\
                    copy shared1[1] to recv[1]; each time rank +1, blocks +1 +1\n\
                    end\n\
                    repeat 3 times\n\
                    notify 8; each time slot -2\n\
                    await 0 of 3, 1 times; each time rank -1\n\
                    reduce recv[0] = shared3[0] + recv[0]; each time rank -1\n\
                    end\n";
        let schedule: Schedule = text.parse().unwrap();
        assert_eq!(schedule.to_string(), text);
        let straight = schedule.unrolled();
        let found: Vec<String> = straight.steps.iter().map(Step::to_string).collect();
        assert_eq!(found[14..16], ["await 8 of 8, 1 times", "copy shared8[8] to recv[8]"]);
        let last = ["notify 4", "await 0 of 1, 1 times", "reduce recv[0] = shared1[0] + recv[0]"];
        assert_eq!(found[22..], last);
    }

    #[test]
    fn the_example_of_slots_has_every_step() {
        let text = "rank 1 of 2, 1 blocks, 1 slots\n\
                    copy send[0] to shared1[0]\n\
                    notify 0\n\
                    await 0 of 0, 1 times\n\
                    reduce recv[0] = shared0[0] + send[0]\n";
        let schedule: Schedule = text.parse().unwrap();
        assert_eq!((schedule.rank, schedule.size, schedule.blocks, schedule.slots), (1, 2, 1, 1));
        let [send, recv, own, other] =
            [Buffer::Send, Buffer::Recv, Buffer::Shared(1), Buffer::Shared(0)].map(|buffer| buffer.block(0));
        assert_eq!(
            schedule.steps,
            [
                Step::Copy { source: send, target: own },
                Step::Notify { slot: 0 },
                Step::Await { rank: 0, slot: 0, times: 1 },
                Step::Reduce { left: other, right: send, target: recv },
            ]
        );
        assert_eq!(schedule.to_string(), text);
    }

    #[test]
    fn faults_in_what_is_said_of_slots() {
        assert_eq!(
            error("rank 0 of 2, 1 blocks, x"),
            "line 1, column 24: expected a number of slots, found \"x\""
        );
        assert_eq!(
            error("rank 0 of 2, 1 blocks, 1 slot"),
            "line 1, column 26: expected \"slots\", found \"slot\""
        );
        for (step, expected) in [
            ("notify", "column 7: expected a slot, found the end of the line"),
            ("notify x", "column 8: expected a slot, found \"x\""),
            ("await 0 from 1", "column 9: expected \"of\", found \"from\""),
            ("await 0 of x", "column 12: expected a rank, found \"x\""),
            ("await 0 of 1", "column 13: expected \",\", found the end of the line"),
            (
                "copy shared[0] to recv[0]",
                "column 6: expected \"send\", \"recv\", \"scratch\" or \"shared\" with a rank, found \"shared\"",
            ),
        ] {
            assert_eq!(error_in_step(step), format!("line 2, {expected}"), "{step}");
        }
    }

    #[test]
    fn every_schedule_is_read_as_it_was_printed() {
        for schedule in schedules() {
            assert_eq!(schedule.to_string().parse(), Ok(schedule));
        }
    }

    #[test]
    fn comments_blank_lines_and_spaces_do_not_matter() {
        let spaced = "# a comment\r\n\n  rank 0  of 2 ,1 blocks # two ranks\r\n\t\nwait 0\n  # the end";
        assert_eq!(spaced.parse::<Schedule>().unwrap().to_string(), "rank 0 of 2, 1 blocks\nwait 0\n");
    }

    #[test]
    fn adjacent_runs_are_merged() {
        let schedule: Schedule =
            "rank 0 of 2, 4 blocks\n0: send to 1 from send[0], send[1..3]".parse().unwrap();
        assert_eq!(schedule.steps[0].to_string(), "0: send to 1 from send[0..3]");
    }

    #[test]
    fn faults_in_the_header() {
        assert_eq!(error(""), "line 1, column 1: expected \"rank\", found the end of the line");
        assert_eq!(error("# nothing\n\n"), "line 3, column 1: expected \"rank\", found the end of the line");
        assert_eq!(error("\n wait 0"), "line 2, column 2: expected \"rank\", found \"wait\"");
        assert_eq!(error("rank x of 5, 5 blocks"), "line 1, column 6: expected a rank, found \"x\"");
        assert_eq!(error("rank -1 of 5, 5 blocks"), "line 1, column 6: expected a rank, found \"-\"");
        assert_eq!(error("rank 1 or 5, 5 blocks"), "line 1, column 8: expected \"of\", found \"or\"");
        assert_eq!(error("rank 1 of , 5"), "line 1, column 11: expected a number of ranks, found \",\"");
        assert_eq!(error("rank 1 of 5 5"), "line 1, column 13: expected \",\", found \"5\"");
        assert_eq!(
            error("rank 1 of 5, many"),
            "line 1, column 14: expected a number of blocks, found \"many\""
        );
        assert_eq!(
            error("rank 1 of 5, 5 blocks."),
            "line 1, column 22: expected the end of the line, found \".\""
        );
    }

    #[test]
    fn faults_in_steps() {
        for (step, expected) in [
            (
                "recieve",
                "column 1: expected a post, \"wait\", \"copy\", \"reduce\", \"notify\", \"await\" or \"repeat\", found \"recieve\"",
            ),
            ("0 send to 1", "column 3: expected \":\", found \"send\""),
            ("0x: send to 1", "column 1: expected a post, found \"0x\""),
            ("0: bring", "column 4: expected \"send\" or \"receive\", found \"bring\""),
            ("0: send from 1", "column 9: expected \"to\", found \"from\""),
            ("0: send to x from", "column 12: expected a rank, found \"x\""),
            ("0: receive from 1 from", "column 19: expected \"into\", found \"from\""),
            (
                "0: send to 1 from ",
                "column 18: expected \"send\", \"recv\", \"scratch\" or \"shared\" with a rank, found the end of the line",
            ),
            (
                "0: send to 1 from é[0]",
                "column 19: expected \"send\", \"recv\", \"scratch\" or \"shared\" with a rank, found \"é\"",
            ),
            ("0: send to 1 from send[0] send[1]", "column 27: expected the end of the line, found \"send\""),
            ("wait", "column 5: expected a post, found the end of the line"),
            ("wait 0, 1", "column 7: expected a post, found \",\""),
            ("copy send[0] recv[0]", "column 14: expected \"to\", found \"recv\""),
            ("copy send(0) to recv[0]", "column 10: expected \"[\", found \"(\""),
            ("copy send[0.2]", "column 12: expected \"]\", found \".\""),
            ("copy send[0..] to recv[0]", "column 14: expected a block, found \"]\""),
            ("reduce recv[0] send[0]", "column 16: expected \"=\", found \"send\""),
            ("reduce recv[0] = send[0] * recv[0]", "column 26: expected \"+\", found \"*\""),
        ] {
            assert_eq!(error_in_step(step), format!("line 2, {expected}"), "{step}");
        }
    }

    #[test]
    fn ranges_are_neither_empty_nor_reversed() {
        for range in ["3..3", "3..1"] {
            let found = &range[3..];
            assert_eq!(
                error_in_step(&format!("copy send[{range}] to recv[0]")),
                format!("line 2, column 14: expected a block from 4 to 4294967295, found \"{found}\"")
            );
        }
    }

    #[test]
    fn numbers_are_bounded() {
        assert_eq!(
            error("rank 4294967296 of 5, 5 blocks"),
            "line 1, column 6: expected a rank from 0 to 4294967295, found \"4294967296\""
        );
        assert_eq!(
            error_in_step("wait 99999999999999999999999999"),
            "line 2, column 6: expected a post from 0 to 4294967295, found \"99999999999999999999999999\""
        );
        assert_eq!(
            error_in_step("copy send[4294967295] to recv[0]"),
            "line 2, column 11: expected a block from 0 to 4294967294, found \"4294967295\""
        );
        let largest = "rank 4294967295 of 4294967295, 4294967295 blocks\n\
                       0: send to 4294967295 from send[0..4294967295], recv[4294967294]\n";
        assert_eq!(largest.parse::<Schedule>().unwrap().to_string(), largest);
    }

    #[test]
    fn mutated_texts_are_refused_or_read_but_never_panic() {
        let mut random = Random(0x5eed);
        let (mut read, mut refused) = (0, 0);
        for schedule in schedules() {
            let mut text = schedule.to_string().into_bytes();
            for _ in 0..8 {
                mutate(&mut text, b"0123456789,:.[]=+-;#\n ", &mut random);
                match String::from_utf8_lossy(&text).parse::<Schedule>() {
                    Ok(schedule) => {
                        read += 1;
                        assert_eq!(schedule.to_string().parse(), Ok(schedule));
                    }
                    Err(error) => {
                        refused += 1;
                        assert!(error.line > 0 && error.column > 0, "{error}");
                    }
                }
            }
        }
        assert!(read > 100 && refused > 1000, "{read} read, {refused} refused");
    }
}
