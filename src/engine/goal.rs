//! Plans in the language GOAL, which the simulators LogGOPSim and ATLAHS read (Hoefler, Siebert, Lumsdaine: "Group
//! Operation Assembly Language", 2009).
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//! l0: recv 8b from 1 tag 0
//! l1: send 8b to 1 tag 0
//! l2: calc 0
//! l2 requires l0
//! l2 requires l1
//! l3: calc 8
//! l3 requires l2
//! }
//! ```

use super::{Operation, Plan};
use crate::schedule::Schedule;
use std::collections::HashMap;
use std::fmt;

/// The plans of all ranks, with bytes as elements. Displays as a GOAL schedule; each plan is made when it is written.
///
/// The k-th message from one rank to another has the tag k, in whatever order a simulator starts the messages. A wait
/// is a `calc 0`. A copy or a reduction is a `calc` with one unit for each byte. Formatting fails at flags: check
/// [`is_expressible_in_goal`] first.
pub struct Goal<Planner> {
    pub ranks: usize,
    /// Returns the plan of a rank.
    pub plan: Planner,
}

/// Whether GOAL can express a schedule. GOAL has messages and local work, but no memory that ranks share.
pub fn is_expressible_in_goal(schedule: &Schedule) -> bool {
    schedule.slots == 0
}

impl<Planner: Fn(usize) -> Plan> fmt::Display for Goal<Planner> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        writeln!(formatter, "// calc n: n bytes are copied or reduced; calc 0: a wait")?;
        writeln!(formatter, "num_ranks {}", self.ranks)?;
        for rank in 0..self.ranks {
            writeln!(formatter, "rank {rank} {{")?;
            ProgramWriter { formatter, labels: 0, last: None, posts: HashMap::new(), tags: HashMap::new() }
                .plan(&(self.plan)(rank))?;
            writeln!(formatter, "}}")?;
        }
        Ok(())
    }
}

/// The program of a rank while it is written.
struct ProgramWriter<'a, 'formatter> {
    formatter: &'a mut fmt::Formatter<'formatter>,
    /// Number of labels so far.
    labels: usize,
    /// The label of the operation that must be done before anything that follows.
    last: Option<usize>,
    /// The labels of posts. Messages without data have none, because they are never started.
    posts: HashMap<u32, usize>,
    /// Number of messages so far to (true) or from (false) each peer.
    tags: HashMap<(bool, u32), u32>,
}

impl ProgramWriter<'_, '_> {
    fn plan(&mut self, plan: &Plan) -> fmt::Result {
        plan.operations.iter().try_for_each(|operation| match operation {
            Operation::Send { post, peer, region, .. } => self.post(*post, true, *peer, region.elements),
            Operation::Receive { post, peer, region, .. } => self.post(*post, false, *peer, region.elements),
            Operation::Wait { awaited } => self.wait(&plan.awaited[awaited.clone()]),
            Operation::Lend { .. }
            | Operation::Notify { .. }
            | Operation::Await { .. }
            | Operation::AwaitSlots
            | Operation::Repeat { .. }
            | Operation::EndStripe { .. } => Err(fmt::Error),
            Operation::Copy { source, rows, .. } => self.work(rows.number() * source.elements),
            Operation::Reduce { elements, rows, .. } => self.work(rows.number() * elements),
        })?;
        // LogGOPSim requires an operation of every rank.
        if self.labels == 0 { self.label(format_args!("calc 0")).map(drop) } else { Ok(()) }
    }

    fn post(&mut self, post: u32, sends: bool, peer: u32, bytes: usize) -> fmt::Result {
        let next = self.tags.entry((sends, peer)).or_default();
        let tag = *next;
        *next += 1;
        let (verb, preposition) = if sends { ("send", "to") } else { ("recv", "from") };
        let label = self.label(format_args!("{verb} {bytes}b {preposition} {peer} tag {tag}"))?;
        self.posts.insert(post, label);
        Ok(())
    }

    fn work(&mut self, bytes: usize) -> fmt::Result {
        let done = self.label(format_args!("calc {bytes}"))?;
        self.last = Some(done);
        Ok(())
    }

    fn wait(&mut self, posts: &[u32]) -> fmt::Result {
        let awaited: Vec<usize> = posts.iter().filter_map(|post| self.posts.get(post).copied()).collect();
        if awaited.is_empty() {
            return Ok(());
        }
        let done = self.label(format_args!("calc 0"))?;
        for post in awaited {
            self.require(done, post)?;
        }
        self.last = Some(done);
        Ok(())
    }

    /// Writes an operation that starts when the last blocking operation is done. Returns its label.
    fn label(&mut self, operation: fmt::Arguments) -> Result<usize, fmt::Error> {
        let label = self.labels;
        self.labels += 1;
        writeln!(self.formatter, "l{label}: {operation}")?;
        if let Some(last) = self.last {
            self.require(label, last)?;
        }
        Ok(label)
    }

    fn require(&mut self, label: usize, earlier: usize) -> fmt::Result {
        writeln!(self.formatter, "l{label} requires l{earlier}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Collective, Problem, REGISTRY};
    use crate::verify::problems;
    use std::collections::HashSet;

    fn goal(plans: &[Plan]) -> String {
        Goal { ranks: plans.len(), plan: |rank: usize| plans[rank].clone() }.to_string()
    }

    /// A line of a rank's program.
    #[derive(Debug, PartialEq)]
    enum GoalLine {
        Operation { label: usize, words: Vec<String> },
        Requires(usize, usize),
    }

    fn label(word: &str) -> usize {
        word.strip_prefix('l').unwrap().parse().unwrap()
    }

    /// Reads the part of LogGOPSim's grammar that is used here.
    fn read(text: &str) -> Vec<Vec<GoalLine>> {
        let mut lines = text.lines().filter(|line| !line.starts_with("//"));
        let ranks: usize = lines.next().unwrap().strip_prefix("num_ranks ").unwrap().parse().unwrap();
        let programs = (0..ranks).map(|rank| {
            assert_eq!(lines.next(), Some(&format!("rank {rank} {{")[..]));
            lines.by_ref().take_while(|line| *line != "}").map(read_line).collect()
        });
        let programs: Vec<Vec<GoalLine>> = programs.collect();
        assert_eq!(lines.next(), None);
        programs
    }

    fn read_line(line: &str) -> GoalLine {
        match line.split_once(": ") {
            Some((name, operation)) => {
                let words = operation.split(' ').map(str::to_owned).collect();
                GoalLine::Operation { label: label(name), words }
            }
            None => {
                let (later, earlier) = line.split_once(" requires ").unwrap();
                GoalLine::Requires(label(later), label(earlier))
            }
        }
    }

    /// Returns the messages of a program, by its sends or its receives: from, to, tag, bytes.
    fn messages(programs: &[Vec<GoalLine>], verb: &str) -> HashSet<(usize, usize, usize, usize)> {
        let mut found = HashSet::new();
        for (rank, program) in programs.iter().enumerate() {
            for line in program {
                let GoalLine::Operation { words, .. } = line else { continue };
                let [found_verb, bytes, preposition, peer, _, tag] = &words[..] else { continue };
                if found_verb != verb {
                    continue;
                }
                assert_eq!(preposition, if verb == "send" { "to" } else { "from" });
                let (peer, tag) = (peer.parse().unwrap(), tag.parse().unwrap());
                let bytes = bytes.strip_suffix('b').unwrap().parse().unwrap();
                let (from, to) = if verb == "send" { (rank, peer) } else { (peer, rank) };
                assert!(found.insert((from, to, tag, bytes)), "rank {rank}: {line:?} stands twice");
            }
        }
        found
    }

    /// Runs the schedule. An operation is done once those that it requires are done, a receive once its
    /// message was sent. Fails if some operations can never be done.
    fn run_to_its_end(programs: &[Vec<GoalLine>]) {
        let mut sent = HashSet::new();
        let mut done: Vec<HashSet<usize>> = vec![HashSet::new(); programs.len()];
        let operations = programs.iter().flatten().filter(|line| matches!(line, GoalLine::Operation { .. }));
        let mut left = operations.count();
        while left > 0 {
            let before = left;
            for (rank, program) in programs.iter().enumerate() {
                for (place, line) in program.iter().enumerate() {
                    let GoalLine::Operation { label, words } = line else { continue };
                    let requirements = program[place + 1..].iter().map_while(|line| match line {
                        GoalLine::Requires(later, earlier) => Some((later, earlier)),
                        GoalLine::Operation { .. } => None,
                    });
                    let mut requirements = requirements.inspect(|(later, _)| assert_eq!(*later, label));
                    if done[rank].contains(label)
                        || !requirements.all(|(_, earlier)| done[rank].contains(earlier))
                    {
                        continue;
                    }
                    let place = |word: usize| words[word].parse::<usize>().unwrap();
                    match words[0].as_str() {
                        "send" => drop(sent.insert((rank, place(3), place(5)))),
                        "recv" if !sent.contains(&(place(3), rank, place(5))) => continue,
                        _ => {}
                    }
                    done[rank].insert(*label);
                    left -= 1;
                }
            }
            assert!(left < before, "{left} operations can never be done");
        }
    }

    #[test]
    fn every_send_has_its_receive_of_equal_bytes_and_all_come_to_their_end() {
        for algorithm in REGISTRY.iter().filter(|algorithm| !algorithm.takes_shared_memory()) {
            for size in [1, 2, 5, 8] {
                for problem in problems(algorithm, size) {
                    for bytes in [0, 3, 100] {
                        let plan = |rank| Plan::of_even_call(algorithm, &problem, rank, bytes);
                        let plans: Vec<Plan> = (0..size).map(plan).collect();
                        let programs = read(&goal(&plans));
                        let [sent, received] = ["send", "recv"].map(|verb| messages(&programs, verb));
                        let name = (algorithm.contract().name(), algorithm.name);
                        assert_eq!(sent, received, "{name:?}, {problem:?}, {bytes} bytes");
                        let moves = |operation: &&Operation| matches!(operation, Operation::Send { .. });
                        let sends = plans.iter().flat_map(|plan| &plan.operations).filter(moves).count();
                        assert_eq!(sent.len(), sends);
                        run_to_its_end(&programs);
                    }
                }
            }
        }
    }

    #[test]
    fn flags_cannot_be_said() {
        use crate::engine::{Binding, View};
        use crate::schedule::{Builder, Layout};
        use std::fmt::Write;
        let mut program = Builder::new(0, 1, 1).slots(1);
        assert!(is_expressible_in_goal(&Builder::new(0, 1, 1).build()));
        program.notify(0);
        let schedule = program.build();
        assert!(!is_expressible_in_goal(&schedule));
        let plan = Plan::new(&schedule, &Binding::uniform(View::new(Layout::Uniform { elements: 1 }, 1)));
        let goal = Goal { ranks: 1, plan: |_| plan.clone() };
        assert!(write!(String::new(), "{goal}").is_err());
    }

    #[test]
    fn what_follows_a_wait_requires_it() {
        let algorithm = Collective::Allreduce.algorithm("recursive_doubling").unwrap();
        let plans = [0, 1].map(|rank| Plan::of_even_call(algorithm, &Problem::new(2), rank, 8));
        let rank = |other: usize| {
            format!(
                "l0: send 8b to {other} tag 0\nl1: recv 8b from {other} tag 0\nl2: calc 0\nl2 requires l1\n\
                 l2 requires l0\nl3: calc 8\nl3 requires l2\n"
            )
        };
        let text = goal(&plans);
        let expected = format!("num_ranks 2\nrank 0 {{\n{}}}\nrank 1 {{\n{}}}\n", rank(1), rank(0));
        assert_eq!(text.split_once('\n').unwrap().1, expected);
    }
}
