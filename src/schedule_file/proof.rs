//! Proves that the programs of a file do what its head says. Proved files can be registered.

use super::ScheduleFile;
use crate::algorithms::{Algorithm, Body, Problem, Requirement, Root};
use crate::schedule::{Schedule, SlotKind};
use crate::verify::{self, Violation};

/// A file whose programs are right, proved by this process or by a certificate.
#[derive(Debug)]
pub struct Proved {
    file: ScheduleFile,
    /// For how many problems the programs were proved.
    pub problems: usize,
}

/// What is wrong with the programs of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disproof {
    /// The number of ranks.
    pub size: usize,
    /// The root, where the collective has one.
    pub root: Option<usize>,
    /// Whether the fault is in calls in place alone.
    pub in_place: bool,
    pub violation: Violation,
    /// The faulty steps, or the header of the faulty program. The first is that of the violation.
    pub lines: Vec<FaultyLine>,
}

/// A line of a file, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultyLine {
    /// The line's number, from 1.
    pub line: usize,
    /// The rank whose program it is in.
    pub rank: usize,
    /// The step there, with its number in the program without loops; `None` for a header.
    pub step: Option<(usize, String)>,
}

impl ScheduleFile {
    /// Proves the programs for all their numbers of ranks and roots, and for calls in place.
    pub fn prove(self) -> Result<Proved, Box<Disproof>> {
        self.problems().try_for_each(|problem| self.prove_for(&problem))?;
        Ok(Proved { problems: self.problems().count(), file: self })
    }

    /// Returns how many uses of blocks in steps the proof has to follow.
    pub fn effort(&self) -> usize {
        let of_size = |size| {
            let uses: usize = self.listed.programs[&size].iter().map(Schedule::uses).sum();
            uses.saturating_mul(self.problems_of(size).count())
        };
        self.sizes().map(of_size).fold(0, usize::saturating_add)
    }

    /// Returns all problems that the file claims to solve.
    fn problems(&self) -> impl Iterator<Item = Problem> {
        self.sizes().flat_map(|size| self.problems_of(size))
    }

    /// Returns those problems on `size` ranks, the lowest root first.
    fn problems_of(&self, size: usize) -> impl Iterator<Item = Problem> + use<> {
        let roots = match self.listed.root {
            Root::Any => 0..size,
            Root::Only(root) => root..root + 1,
        };
        let ways = if self.listed.collective.has_in_place() { &[false, true][..] } else { &[false] };
        roots.flat_map(move |root| {
            ways.iter().map(move |&in_place| Problem { root, in_place, ..Problem::new(size) })
        })
    }

    /// Trusts a certificate that the programs are right together. Still checks that each program by itself
    /// keeps to its blocks and waits for its posts: memory safety depends on it.
    pub fn trust(self, problems: usize) -> Result<Proved, Box<Disproof>> {
        for size in self.sizes() {
            let first = self.problems_of(size).next().expect("there is a root");
            for problem in self.problems_of(size).take_while(|problem| problem.root == first.root) {
                let programs = self.programs(&problem);
                let checked = verify::check_programs(self.listed.collective, &problem, &programs);
                checked.map_err(|violation| self.disproof(&problem, &programs, violation))?;
            }
        }
        Ok(Proved { file: self, problems })
    }

    fn programs(&self, problem: &Problem) -> Vec<Schedule> {
        (0..problem.size).map(|rank| self.listed.schedule(problem, rank)).collect()
    }

    fn prove_for(&self, problem: &Problem) -> Result<(), Box<Disproof>> {
        let programs = self.programs(problem);
        let verified =
            verify::verify_schedules(self.listed.collective, problem, self.keeps_order(), &programs);
        verified.map_err(|violation| self.disproof(problem, &programs, violation))
    }

    fn disproof(&self, problem: &Problem, programs: &[Schedule], violation: Violation) -> Box<Disproof> {
        let others = violation.fault.others().into_iter().map(|(rank, step)| (rank, Some(step)));
        let steps = [(violation.rank, violation.step)].into_iter().chain(others);
        let lines = steps.map(|(rank, step)| self.line(problem, &programs[rank], rank, step)).collect();
        let root = self.listed.collective.is_rooted().then_some(problem.root);
        let (size, in_place) = (problem.size, problem.in_place);
        Box::new(Disproof { size, root, in_place, violation, lines })
    }

    /// Returns where a step of the program of `rank` is. A program for another root or for a call in place may
    /// have other steps: then returns the header of the program.
    pub fn line(
        &self,
        problem: &Problem,
        program: &Schedule,
        rank: usize,
        step: Option<usize>,
    ) -> FaultyLine {
        let origin = self.listed.origin(problem, rank);
        let listed = &self.listed.programs[&problem.size][origin];
        let lines = &self.lines[&problem.size][origin];
        let step = step.filter(|_| program.length() == listed.length());
        let text =
            |step: usize| program.carried_out().nth(step).expect("the violation names a step").to_string();
        FaultyLine { line: lines.of(listed, step), rank, step: step.map(|step| (step, text(step))) }
    }
}

impl Proved {
    pub fn file(&self) -> &ScheduleFile {
        &self.file
    }

    /// Returns the file as an algorithm beside the registered ones, which lives as long as the process. Fails
    /// with the reason if it serves one root only.
    pub fn algorithm(self, path: &str) -> Result<&'static Algorithm, String> {
        let ScheduleFile { name, source, needs_commutative, listed, .. } = self.file;
        let collective = listed.collective;
        if collective.is_rooted() && listed.root != Root::Any {
            let collective = collective.name();
            return Err(format!(
                "{collective} {name} is for one root alone: it is proved, but to be used it has to say \"root any\""
            ));
        }
        let has_program = |is_so: fn(&Schedule) -> bool| listed.programs.values().flatten().any(is_so);
        let shares = has_program(|program| program.slots > 0);
        let lends = has_program(|program| program.slot_kind == SlotKind::Lent);
        // Slots hold elements that are alike on all ranks.
        let combines_in_slots = shares && collective.reduces();
        let requires = [
            combines_in_slots.then_some(Requirement::Predefined),
            needs_commutative.then_some(Requirement::Commutative),
            shares.then_some(Requirement::OneNode),
            shares.then_some(Requirement::SharedMemory),
            lends.then_some(Requirement::SingleCopy),
        ];
        let lasting = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        Ok(Box::leak(Box::new(Algorithm {
            collectives: Box::leak(Box::new([collective])),
            name: lasting(name),
            aliases: &[],
            source: lasting(source.unwrap_or_else(|| "the file does not say".into())),
            idea: lasting(format!("What {path} says.")),
            avoid_when: "the number of ranks is not one of its file.",
            parameters: &[],
            requires: Vec::leak(requires.into_iter().flatten().collect()),
            body: Body::Listed(Box::leak(Box::new(listed))),
        })))
    }
}

impl Disproof {
    /// Returns what is wrong with the algorithm `title`, in lines. The first line begins with `begin`, the
    /// others with what `at` returns for their places.
    pub fn told(&self, begin: &str, title: &str, at: impl Fn(&FaultyLine) -> String) -> String {
        let Disproof { size, root, in_place, violation, lines } = self;
        let root = root.map_or(String::new(), |root| format!(", root {root}"));
        let in_place = if *in_place { ", in place" } else { "" };
        let told = |line: &FaultyLine| match &line.step {
            Some((step, text)) => format!("\n  {} (rank {}, step {step}): {text}", at(line), line.rank),
            None => format!("\n  {}: the program of rank {}", at(line), line.rank),
        };
        let lines: String = lines.iter().map(told).collect();
        format!("{begin}: {title} on {size} ranks{root}{in_place}: {violation}{lines}")
    }
}
