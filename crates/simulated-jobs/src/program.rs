//! Draws the program of a history.

use expected_results::arithmetic::Arithmetic;
use rustcoll::algorithms::{Collective, Cut};

use crate::draw::Draw;
use crate::history::{Call, Deed, History, Setting, Step, Unit};
use crate::parameters::Parameter;

/// The most deeds of a program, beside those that set parameters, make and free communicators, or repeat a call.
const MOST_DEEDS: usize = 18;

/// A call is repeated fewer times than this. Repetitions let rustcoll try algorithms.
const MOST_REPETITIONS: usize = 24;

/// The most repetitions of all calls of a program together.
const MOST_REPETITIONS_OF_ALL: usize = 130;

/// The most persistent operations that are started in a row.
const MOST_STARTS: usize = 3;

/// Parameters whose values may differ between ranks.
const OWN: [&str; 2] = ["scratch_kept", "shared_memory_limit"];

/// The fewest persistent operations on a communicator where there are many: rustcoll has places in memory for eight.
const MANY: usize = 9;

/// Returns the steps of a history that has everything else. `repeats_calls`: whether it repeats blocking calls. `prepares_many`: whether it
/// makes many persistent operations on one communicator.
pub fn steps(
    draw: Draw,
    history: &History,
    parameters: &[Parameter],
    repeats_calls: bool,
    prepares_many: bool,
) -> Vec<Step> {
    let mut program = Program {
        draw,
        history,
        parameters,
        steps: Vec::new(),
        exist: vec![false; history.communicators.len()],
        prepared: Vec::new(),
        theme: Vec::new(),
        cuts_finely: false,
        repetitions: if repeats_calls { MOST_REPETITIONS_OF_ALL } else { 0 },
    };
    program.cuts_finely = program.draw.one_in(2);
    program.theme = (0..1 + program.draw.below(3)).map(|_| program.draw.one_of(&Collective::ALL)).collect();
    program.begin();
    program.go_on();
    if prepares_many {
        program.prepare_many();
    }
    program.steps
}

struct Program<'a> {
    draw: Draw,
    history: &'a History,
    parameters: &'a [Parameter],
    steps: Vec<Step>,
    /// Whether each communicator is made and not freed.
    exist: Vec<bool>,
    /// The persistent operations that can be started: the number of the step that made each, and its communicator.
    prepared: Vec<(u64, usize)>,
    /// The most frequent collectives.
    theme: Vec<Collective>,
    /// Whether vectors are cut into segments or stripes of a few bytes. Then vectors are short, because long ones
    /// would need thousands of them.
    cuts_finely: bool,
    /// How many repetitions of calls are left.
    repetitions: usize,
}

impl Program<'_> {
    fn push(&mut self, deed: Deed) {
        let number = self.steps.len() as u64;
        match &deed {
            Deed::Make(communicator) => self.exist[*communicator] = true,
            Deed::Free(communicator) => {
                self.exist[*communicator] = false;
                self.prepared.retain(|(_, of)| of != communicator);
            }
            Deed::Prepare(call) => self.prepared.push((number, call.communicator)),
            _ => {}
        }
        self.steps.push(Step { number, deed });
    }

    /// Makes communicators, and sets parameters before the first calls.
    fn begin(&mut self) {
        self.push(Deed::Make(0));
        let ranks = self.history.ranks;
        // Later changes have no effect: mock-ups obtain their memory once.
        if self.draw.one_in(4) {
            let bytes = self.draw.one_of(&[64, 4096]);
            self.push_setting("mockup_message_bytes", vec![bytes; ranks]);
        }
        // Few histories have enough calls to share memory later.
        if !self.draw.one_in(3) {
            self.push_setting("shared_memory_from", vec![1; ranks]);
        }
        for _ in 0..self.draw.below(4) {
            self.set();
        }
        for communicator in 1..self.exist.len() {
            if !self.draw.one_in(4) {
                self.push(Deed::Make(communicator));
            }
        }
    }

    fn go_on(&mut self) {
        for _ in 0..2 + self.draw.below(MOST_DEEDS - 1) {
            if self.draw.one_in(6) {
                self.set();
            }
            if self.draw.one_in(12) {
                self.make_or_free();
            }
            self.do_something();
        }
        if self.draw.one_in(3) {
            let freed = self.existing();
            self.push(Deed::Free(freed));
        }
    }

    /// Makes so many persistent operations on one communicator that not all have places in memory at a time.
    fn prepare_many(&mut self) {
        if !self.exist.contains(&true) {
            return;
        }
        let communicator = self.existing();
        let first = self.new_call(communicator);
        self.push(Deed::Block(first));
        for _ in 0..MANY + self.draw.below(MANY) {
            let call = self.new_call(communicator);
            self.prepare(call);
        }
    }

    /// Returns one of the communicators that exist. There is always one.
    fn existing(&mut self) -> usize {
        let existing: Vec<usize> = (0..self.exist.len()).filter(|&number| self.exist[number]).collect();
        self.draw.one_of(&existing)
    }

    /// Makes a communicator, or frees one, and perhaps makes it again at once.
    fn make_or_free(&mut self) {
        let communicator = self.draw.below(self.exist.len());
        let existed = self.exist[communicator];
        if existed {
            self.push(Deed::Free(communicator));
        }
        if !existed || self.draw.one_in(2) || !self.exist.contains(&true) {
            self.push(Deed::Make(communicator));
        }
    }

    /// Gives a parameter another value.
    fn set(&mut self) {
        let has_two_groups = self.history.communicators.iter().any(|communicator| communicator.remote > 0);
        if has_two_groups && self.draw.one_in(4) {
            return self.force_between_groups();
        }
        let name = match self.draw.one_in(3) {
            true => self.draw.one_of(&GENERAL).to_owned(),
            false => {
                let collective = self.favourite().name();
                let kind =
                    self.draw.one_of(&["algorithm", "algorithm", "algorithm", "segment", "radix", "window"]);
                format!("{collective}_{kind}")
            }
        };
        // The promise would be broken.
        if name == NO_IDLE_NEIGHBOURS && self.history.surroundings.ends_idle_calls {
            return;
        }
        let Some(parameter) = self.parameters.iter().find(|known| known.name == name) else { return };
        let is_own = OWN.contains(&&*name);
        let value = self.value(parameter);
        let ranks = 0..self.history.ranks;
        let values = ranks.map(|_| if is_own { self.value(parameter) } else { value }).collect();
        self.push_setting(&name, values);
    }

    /// Forces one of the few algorithms for two groups.
    fn force_between_groups(&mut self) {
        let collective = self.favourite();
        let algorithms = (1..).zip(collective.algorithms()).filter(|(_, one)| one.is_for_two_groups());
        let numbers: Vec<i32> = algorithms.map(|(number, _)| number).collect();
        if !numbers.is_empty() {
            let number = self.draw.one_of(&numbers);
            let name = format!("{}_algorithm", collective.name());
            self.push_setting(&name, vec![number; self.history.ranks]);
        }
    }

    fn push_setting(&mut self, name: &str, values: Vec<i32>) {
        self.push(Deed::Set(Setting { name: name.to_owned(), values }));
    }

    fn value(&mut self, parameter: &Parameter) -> i32 {
        match parameter.minimum {
            0 => self.draw.below(parameter.words) as i32,
            _ if self.draw.one_in(3) => 0,
            minimum if parameter.name.ends_with("segment") => {
                let segment = if self.cuts_finely { 24 } else { 1024 };
                self.draw.one_of(&[segment, 1024, 4096]).max(minimum)
            }
            _ if parameter.name == "shared_memory_size" && !self.cuts_finely => self.draw.one_of(&[64, 1024]),
            minimum => (minimum - 1) + self.draw.one_of(&[1, 2, 3, 8, 64]),
        }
    }

    fn favourite(&mut self) -> Collective {
        match self.draw.one_in(4) {
            true => self.draw.one_of(&Collective::ALL),
            false => self.draw.one_of(&self.theme),
        }
    }

    fn do_something(&mut self) {
        match self.draw.below(12) {
            0..6 => self.block(),
            6..8 => {
                let call = self.call();
                self.push(Deed::Begin(call));
            }
            8 => self.duplicate(),
            number if number == 9 || self.prepared.is_empty() => {
                let call = self.call();
                self.prepare(call);
            }
            _ => self.start(),
        }
    }

    /// Starts one of the persistent operations, or several in a row.
    fn start(&mut self) {
        let several = self.draw.one_in(2);
        let started = match several {
            true => self.prepared.iter().rev().take(MOST_STARTS).copied().collect(),
            false => vec![self.draw.one_of(&self.prepared)],
        };
        started.into_iter().for_each(|(number, _)| self.push(Deed::Start(number)));
    }

    fn block(&mut self) {
        let call = self.call();
        let times = self.draw.below(2) * self.draw.below(MOST_REPETITIONS);
        let times = times.min(self.repetitions);
        self.repetitions -= times;
        (0..1 + times).for_each(|_| self.push(Deed::Block(call.clone())));
    }

    /// The reductions by which MPI duplicates an inter-communicator run on other communicators.
    fn duplicate(&mut self) {
        let communicator = self.existing();
        if self.history.communicators[communicator].remote == 0 {
            self.push(Deed::Duplicate(communicator));
        }
    }

    fn prepare(&mut self, call: Call) {
        self.push(Deed::Prepare(call));
        if self.draw.one_in(2) {
            let (prepared, _) = self.prepared[self.prepared.len() - 1];
            self.push(Deed::Start(prepared));
        }
    }

    fn call(&mut self) -> Call {
        let communicator = self.existing();
        self.repeated(communicator).unwrap_or_else(|| self.new_call(communicator))
    }

    /// Returns an earlier call on a communicator. One of the ranks may describe it differently.
    fn repeated(&mut self, communicator: usize) -> Option<Call> {
        let call = |step: &Step| match &step.deed {
            Deed::Block(call) | Deed::Begin(call) => {
                (call.communicator == communicator).then(|| call.clone())
            }
            _ => None,
        };
        let earlier: Vec<Call> = self.steps.iter().filter_map(call).collect();
        if earlier.is_empty() || self.draw.one_in(2) {
            return None;
        }
        let mut call = earlier[self.draw.below(earlier.len())].clone();
        if self.draw.one_in(3) {
            let member = self.draw.below(self.history.communicators[communicator].members.len());
            call.other = Some((member, self.draw.below(1 << 30) as u64));
            call.in_place ^= call.collective.is_rooted() && self.has_in_place(&call);
        }
        // Whether a rank is in place is all in which reductions differ.
        call.other = call.other.filter(|_| !call.collective.reduces() || self.has_in_place(&call));
        Some(call)
    }

    fn new_call(&mut self, communicator: usize) -> Call {
        let made = &self.history.communicators[communicator];
        let size = made.members.len();
        let served: Vec<Collective> = Collective::ALL.into_iter().filter(|one| made.has(*one)).collect();
        let favourite = self.favourite();
        let collective = if served.contains(&favourite) { favourite } else { self.draw.one_of(&served) };
        let (unit, values) = self.values(collective, size);
        let mut call = Call {
            communicator,
            collective,
            root: if collective.is_rooted() { self.draw.below(size) } else { 0 },
            values,
            unit,
            in_place: false,
            arithmetic: self.draw.one_of(&[
                Arithmetic::Sum,
                Arithmetic::Sum,
                Arithmetic::Max,
                Arithmetic::Product,
                Arithmetic::Affine,
            ]),
            shape: self.draw.below(1 << 30) as u64,
            other: None,
        };
        call.in_place = self.has_in_place(&call) && self.draw.one_in(3);
        call
    }

    /// Returns the length of a call's vector or of its blocks. Some have an odd number of bytes, others of ints.
    fn values(&mut self, collective: Collective, size: usize) -> (Unit, usize) {
        let draw = &mut self.draw;
        let ints = match draw.below(40) {
            0..3 => 0,
            3..18 => 2 * (1 + draw.below(8)),
            18..34 => 2 * (1 + draw.below(150)),
            34..39 => 2 * (1 + draw.below(1500)),
            _ if self.cuts_finely => 2 * (1 + draw.below(1500)),
            _ => 2 * draw.below(20_000),
        };
        let ints = if collective.cut() == Cut::Vector { ints } else { ints / size / 2 * 2 };
        match draw.below(4) {
            0 if !collective.reduces() => {
                (Unit::Bytes, (size_of::<i32>() * ints).saturating_sub(draw.below(8)))
            }
            0 | 1 => (Unit::Ints, ints.saturating_sub(1)),
            _ => (Unit::Ints, ints),
        }
    }

    /// Whether MPI allows the call in place.
    fn has_in_place(&self, call: &Call) -> bool {
        let has_one_group = self.history.communicators[call.communicator].remote == 0;
        let has = !matches!(call.collective, Collective::Barrier | Collective::Bcast);
        has_one_group && has && call.collective.cut() != Cut::Edges
    }
}

const NO_IDLE_NEIGHBOURS: &str = "no_idle_neighbours";

/// Parameters for memory, and for several collectives.
const GENERAL: [&str; 8] = [
    "shared_memory",
    "shared_memory_size",
    "shared_memory_limit",
    "shared_memory_from",
    "scratch_limit",
    "scratch_kept",
    "reproducible",
    NO_IDLE_NEIGHBOURS,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    fn histories() -> Vec<History> {
        let parameters = Parameter::all();
        (0..200).map(|seed| generate::history(seed, &parameters)).collect()
    }

    /// Whether in some history, between two steps that meet both conditions, there is another one that meets the third.
    fn is_between(
        histories: &[History],
        ends: impl Fn(&History, &Step, &Step) -> bool,
        is_it: impl Fn(&History, &Step, &Step) -> bool,
    ) -> bool {
        histories.iter().any(|history| {
            let steps = &history.steps;
            let pairs = (0..steps.len()).flat_map(|end| (0..end).map(move |start| (start, end)));
            pairs.filter(|&(start, end)| ends(history, &steps[start], &steps[end])).any(|(start, end)| {
                steps[start + 1..end].iter().any(|step| is_it(history, &steps[start], step))
            })
        })
    }

    fn are_starts_of_one_operation(_: &History, one: &Step, other: &Step) -> bool {
        matches!((&one.deed, &other.deed), (Deed::Start(one), Deed::Start(other)) if one == other)
    }

    fn make_one_communicator(_: &History, one: &Step, other: &Step) -> bool {
        matches!((&one.deed, &other.deed), (Deed::Make(one), Deed::Make(other)) if one == other)
    }

    /// Whether a step is a blocking call on the communicator of another one.
    fn blocks_there(history: &History, start: &Step, step: &Step) -> bool {
        matches!(step.deed, Deed::Block(_)) && step.communicator(history) == start.communicator(history)
    }

    #[test]
    fn every_step_of_a_program_can_be_carried_out() {
        for history in histories() {
            assert!(history.steps.len() <= crate::history::MOST_STEPS);
            assert_eq!(history.clone().without_strays().steps.len(), history.steps.len(), "{history}");
        }
    }

    #[test]
    fn persistent_operations_are_started_again_after_other_steps() {
        let histories = histories();
        assert!(is_between(&histories, are_starts_of_one_operation, blocks_there));
        let sets = |_: &History, _: &Step, step: &Step| matches!(step.deed, Deed::Set(_));
        assert!(is_between(&histories, are_starts_of_one_operation, sets));
    }

    #[test]
    fn communicators_are_made_and_freed_between_calls() {
        let histories = histories();
        assert!(is_between(&histories, make_one_communicator, blocks_there));
        let calls_elsewhere = |history: &History, one: &Step, other: &Step| {
            matches!((&one.deed, &other.deed), (Deed::Begin(_), Deed::Begin(_)))
                && one.communicator(history) == other.communicator(history)
        };
        let makes_or_frees =
            |_: &History, _: &Step, step: &Step| matches!(step.deed, Deed::Make(_) | Deed::Free(_));
        assert!(is_between(&histories, calls_elsewhere, makes_or_frees));
    }

    #[test]
    fn all_collectives_run_between_groups_and_lengths_are_odd() {
        let histories = histories();
        let calls = histories.iter().flat_map(|history| {
            history.steps.iter().filter_map(move |step| Some((history, history.call_of(step)?)))
        });
        let calls: Vec<_> =
            calls.map(|(history, call)| (&history.communicators[call.communicator], call)).collect();
        let two_groups = |collective: Collective| {
            calls.iter().any(|(communicator, call)| communicator.remote > 0 && call.collective == collective)
        };
        for collective in Collective::ALL {
            let one_group_only =
                matches!(collective, Collective::Scan | Collective::Exscan) || collective.cut() == Cut::Edges;
            assert_eq!(two_groups(collective), !one_group_only, "{}", collective.name());
        }
        for unit in [Unit::Bytes, Unit::Ints] {
            let is_odd = |call: &Call| call.unit == unit && call.values % 2 == 1;
            assert!(calls.iter().any(|(_, call)| is_odd(call)), "{unit}");
        }
    }

    #[test]
    fn the_promise_about_neighbours_changes_where_mpi_lets_it() {
        let sets =
            |step: &Step| matches!(&step.deed, Deed::Set(setting) if setting.name == NO_IDLE_NEIGHBOURS);
        let histories = histories();
        let setting = histories.iter().filter(|history| history.steps.iter().any(sets));
        let setting: Vec<&History> = setting.collect();
        assert!(!setting.is_empty());
        assert!(setting.iter().all(|history| !history.surroundings.ends_idle_calls));
    }
}
