//! Online tuning: chooses algorithms while a job runs. On a communicator, the call's number decides which
//! candidate serves it, so all ranks agree without communication. After each round, the ranks combine their times.
//! All further decisions depend on the combined times and on numbers of calls, which are equal on all ranks.

use super::{Call, Choice, Rules};
use crate::report::bytes_from;
use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The most kinds of calls of a communicator that are explored.
const MOST_KINDS: usize = 64;

/// The most candidates of a kind, besides the choice of the rules.
const MOST_OTHERS: usize = 3;

/// The most rounds of an exploration. Each round tries each hopeful candidate once.
const ROUNDS: usize = 5;

/// The part of the time of all calls of a kind that exploring may cost.
const COST: f64 = 0.05;

/// A candidate that takes more than this factor times the fastest candidate's time is not tried again.
const HOPELESS: f64 = 1.5;

/// A candidate replaces the serving one if it takes at most this part of its time.
const FASTER: f64 = 0.97;

/// Times may change, so the candidates are tried again when the number of calls has grown by this factor. It
/// happens later if exploring has cost too much by then.
const AGAIN: u64 = 2;

/// Counts the calls of a kind, including those that take the remembered choice of the call before.
#[derive(Debug)]
pub struct Counter {
    calls: AtomicU64,
    /// The number of the next call that needs a new decision.
    next: AtomicU64,
}

impl Counter {
    /// A counter that has counted `calls` calls. No call passes yet.
    fn from(calls: u64) -> Arc<Counter> {
        Arc::new(Counter { calls: AtomicU64::new(calls), next: AtomicU64::new(0) })
    }

    /// Counts a call and returns true, if it may take the same choice as the call before. Returns false, and
    /// does not count the call, if the call needs a new decision.
    #[inline]
    pub fn passes(&self) -> bool {
        let number = self.calls.load(Relaxed) + 1;
        let passes = number < self.next.load(Relaxed);
        if passes {
            self.calls.store(number, Relaxed);
        }
        passes
    }
}

/// A candidate, with its time in each round of the current exploration, in nanoseconds.
#[derive(Clone, Debug)]
struct Tried {
    choice: Choice,
    took: Vec<u64>,
}

/// A round of tries.
#[derive(Clone, Debug)]
struct Round {
    /// The numbers of the calls that are tries, each with its candidate.
    turns: Vec<(u64, usize)>,
    /// The times of the tries that this rank has done so far.
    own: Vec<u64>,
}

/// The exploration of a kind of calls.
#[derive(Debug)]
struct Trial {
    counter: Arc<Counter>,
    /// The choice of the rules comes first.
    candidates: Vec<Tried>,
    /// The index of the candidate that serves the calls.
    serving: usize,
    /// The current or next round; `None` if there is nothing to try.
    round: Option<Round>,
    /// The number of tries in earlier explorations.
    tried: usize,
    /// The cost of these tries, in nanoseconds.
    spent: u64,
}

/// The result of an exploration.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The choice that serves the calls from now on.
    pub choice: Choice,
    /// The choice that served the calls so far.
    pub before: Choice,
    /// The time of `choice` divided by the time of `before`; 1 if the choice stays.
    pub ratio: f64,
    /// The number of tries in all explorations so far.
    pub tried: usize,
    /// Whether `choice` is the choice of the rules.
    pub is_usual: bool,
}

/// What the next call must do. A choice of `None` stands for the choice of the rules.
#[derive(Debug)]
pub enum NextCall {
    /// The ranks must first combine their times.
    Gather,
    /// This choice serves the call, and the next calls as long as [`Counter::passes`] returns true.
    Serve(Option<Choice>, Arc<Counter>),
    /// This choice is tried for this call only.
    Try(Option<Choice>),
    /// The choice of the rules serves this call and all later ones.
    Usual,
}

/// All kinds of calls of a communicator.
#[derive(Debug)]
pub struct Online {
    /// The number of the first call of a kind that is a try.
    first: u64,
    kinds: HashMap<Call, Trial>,
}

/// Returns the kind of a call. Calls of a kind are explored together: they may differ in the root, and in
/// their lengths by less than a factor of two.
pub fn kind(call: &Call) -> Call {
    let longest = call.longest.map(|bytes| bytes_from(bytes) as usize);
    Call { bytes: bytes_from(call.bytes) as usize, longest, root: None, ..*call }
}

/// Returns choices that may be faster than `usual`: those of the default rules for the call, and for shorter
/// and longer calls.
pub fn others(call: &Call, usual: Choice) -> Vec<Choice> {
    let mut found = vec![usual];
    for (times, part) in [(1, 1), (1, 16), (16, 1), (1, 4), (4, 1)] {
        let near = Call { bytes: call.bytes.saturating_mul(times) / part, ..*call };
        let choice = Rules::built_in().choose(&near);
        let serves = choice
            .algorithm()
            .is_some_and(|algorithm| !algorithm.is_mock_up() && call.is_served_by(algorithm).is_ok());
        if serves && !found.contains(&choice) && found.len() <= MOST_OTHERS {
            found.push(choice);
        }
    }
    found.split_off(1)
}

impl Online {
    /// The default number of the first call of a kind that is a try.
    pub const FIRST: u64 = 32;

    /// Starts without tries. The first try is call number `first`. In the first round, the distance between
    /// tries is half of `first`.
    pub fn new(first: u64) -> Online {
        Online { first, kinds: HashMap::new() }
    }

    /// Returns what the next call of a kind must do. `usual` is the choice of the rules, and `others` returns
    /// choices that may be faster. Does not count the call.
    pub fn turn(&mut self, kind: &Call, usual: Choice, others: impl FnOnce() -> Vec<Choice>) -> NextCall {
        if !self.kinds.contains_key(kind) {
            if self.kinds.len() == MOST_KINDS {
                return NextCall::Usual;
            }
            self.kinds.insert(*kind, Trial::new(usual, others(), self.first));
        }
        self.kinds[kind].turn()
    }

    /// Counts a call of a kind that runs now.
    pub fn count(&mut self, kind: &Call) {
        if let Some(Trial { counter, .. }) = self.kinds.get(kind) {
            counter.calls.fetch_add(1, Relaxed);
        }
    }

    /// Records the time of a try.
    pub fn note(&mut self, kind: &Call, nanoseconds: u64) {
        if let Some(round) = self.kinds.get_mut(kind).and_then(|trial| trial.round.as_mut()) {
            round.own.push(nanoseconds);
        }
    }

    /// Returns the times of the round's tries at this rank. All ranks return the same number of times.
    pub fn times(&self, kind: &Call) -> Vec<u64> {
        let Some(round) = self.kinds.get(kind).and_then(|trial| trial.round.as_ref()) else {
            return Vec::new();
        };
        // A call that failed here has no time; this rank's next calls fail as well.
        let mut times = round.own.clone();
        times.resize(round.turns.len(), u64::MAX / 2);
        times
    }

    /// Ends a round with the combined times, which are equal on all ranks. Returns the result if this round
    /// ends the exploration.
    pub fn go_on(&mut self, kind: &Call, times: &[u64]) -> Option<Settled> {
        let trial = self.kinds.get_mut(kind)?;
        trial.end_round(times);
        trial.round = trial.next_round();
        match trial.round {
            Some(_) => None,
            None => Some(trial.settle()),
        }
    }
}

impl Settled {
    /// Whether the choice has changed.
    pub fn replaces(&self) -> bool {
        self.choice != self.before
    }
}

impl Round {
    /// A round with one try in every `step` calls, from call number `first` on.
    fn of(candidates: impl IntoIterator<Item = usize>, first: u64, step: u64) -> Round {
        let turn = |(place, candidate): (usize, usize)| (first + step * place as u64, candidate);
        Round { turns: candidates.into_iter().enumerate().map(turn).collect(), own: Vec::new() }
    }
}

impl Trial {
    fn new(usual: Choice, others: Vec<Choice>, first: u64) -> Trial {
        let candidates: Vec<Tried> =
            [usual].into_iter().chain(others).map(|choice| Tried { choice, took: Vec::new() }).collect();
        let round = Round::of(0..candidates.len(), first, (first / 2).max(1));
        let round = (candidates.len() > 1).then_some(round);
        Trial { counter: Counter::from(0), candidates, serving: 0, round, tried: 0, spent: 0 }
    }

    /// Returns the choice of a candidate; `None` for the choice of the rules.
    fn other(&self, candidate: usize) -> Option<Choice> {
        (candidate > 0).then(|| self.candidates[candidate].choice)
    }

    fn turn(&self) -> NextCall {
        let number = self.counter.calls.load(Relaxed) + 1;
        let serving = self.other(self.serving);
        let Some(Round { turns, .. }) = &self.round else {
            return NextCall::Serve(serving, self.until(u64::MAX));
        };
        match turns.iter().find(|(turn, _)| *turn >= number) {
            None => NextCall::Gather,
            Some(&(turn, candidate)) if turn == number => NextCall::Try(self.other(candidate)),
            Some(&(turn, _)) => NextCall::Serve(serving, self.until(turn)),
        }
    }

    /// Lets calls pass until call number `next`, and returns the counter.
    fn until(&self, next: u64) -> Arc<Counter> {
        self.counter.next.store(next, Relaxed);
        Arc::clone(&self.counter)
    }

    fn end_round(&mut self, times: &[u64]) {
        let turns = self.round.iter().flat_map(|round| &round.turns).zip(times);
        for (&(_, candidate), &time) in turns {
            self.candidates[candidate].took.push(time);
        }
    }

    /// Returns the cost of exploring in nanoseconds, if all hopeful candidates are tried `more` times. Only
    /// least times count, because exploring does not cause the occasional slow call.
    fn cost(&self, more: usize) -> u64 {
        let serving = self.least();
        let of_candidate = |tried: &Tried| {
            let longer = tried.least().saturating_sub(serving);
            let times = if self.has_hope(tried) { tried.took.len() + more } else { tried.took.len() };
            longer.saturating_mul(times as u64)
        };
        // Combining the times of a round takes about as long as a call.
        let gathering = serving.saturating_mul((self.rounds() + more) as u64);
        self.candidates
            .iter()
            .map(of_candidate)
            .fold(self.spent.saturating_add(gathering), u64::saturating_add)
    }

    /// Returns the number of rounds of this exploration. The serving candidate took part in each of them.
    fn rounds(&self) -> usize {
        self.candidates[self.serving].took.len()
    }

    /// Returns the least time of the serving candidate.
    fn least(&self) -> u64 {
        self.candidates[self.serving].least().max(1)
    }

    /// Whether a candidate is hopeful: it serves the calls, or is not much slower than the fastest. Only
    /// hopeful candidates are tried again.
    fn has_hope(&self, tried: &Tried) -> bool {
        let fastest = self.candidates.iter().map(Tried::least).min().unwrap_or(0);
        ptr::eq(tried, &self.candidates[self.serving]) || tried.least() as f64 <= HOPELESS * fastest as f64
    }

    /// Returns the candidates to try in the next round.
    fn hopeful(&self) -> Vec<usize> {
        (0..self.candidates.len()).filter(|&one| self.has_hope(&self.candidates[one])).collect()
    }

    /// Returns the number of the call at which this cost is only the part [`COST`] of the time of all calls.
    fn earned(&self, cost: u64) -> u64 {
        (cost as f64 / (COST * self.least() as f64)).min(1e15) as u64
    }

    /// Returns the next round; `None` if the exploration has ended.
    fn next_round(&self) -> Option<Round> {
        let hopeful = self.hopeful();
        let is_known = hopeful.len() == 1 || self.rounds() == ROUNDS;
        let calls = self.counter.calls.load(Relaxed);
        (!is_known).then(|| Round::of(hopeful, self.earned(self.cost(1)).max(calls + 2), 1))
    }

    /// Ends the exploration: the fastest candidate now serves the calls. Schedules the next exploration.
    fn settle(&mut self) -> Settled {
        let before = &self.candidates[self.serving];
        let fastest = (0..self.candidates.len()).min_by_key(|&one| self.candidates[one].median());
        let fastest = fastest.unwrap_or(self.serving);
        let ratio = self.candidates[fastest].median() as f64 / before.median().max(1) as f64;
        let (before, is_faster) = (before.choice, ratio <= FASTER);
        self.serving = if is_faster { fastest } else { self.serving };
        let calls = self.counter.calls.load(Relaxed);
        let again = self.earned(self.cost(1)).max(AGAIN * calls);
        let hopeful = self.hopeful();
        self.round = (hopeful.len() > 1).then(|| Round::of(hopeful, again, 1));
        self.spent = self.cost(0);
        self.tried += self.candidates.iter().map(|tried| tried.took.len()).sum::<usize>();
        self.candidates.iter_mut().for_each(|tried| tried.took.clear());
        // Calls that still remember the old counter can no longer pass it.
        self.counter.next.store(0, Relaxed);
        self.counter = Counter::from(calls);
        Settled {
            choice: self.candidates[self.serving].choice,
            before,
            ratio: if is_faster { ratio } else { 1.0 },
            tried: self.tried,
            is_usual: self.serving == 0,
        }
    }
}

impl Tried {
    /// Returns the least time; `u64::MAX` if the candidate was not tried.
    fn least(&self) -> u64 {
        self.took.iter().copied().min().unwrap_or(u64::MAX)
    }

    fn median(&self) -> u64 {
        let mut took = self.took.clone();
        took.sort_unstable();
        took.get(took.len() / 2).copied().unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::Collective;

    fn use_of(name: &str) -> Choice {
        let algorithm = Collective::Allreduce.algorithm(name).unwrap();
        Choice::Use { algorithm, parameters: Default::default() }
    }

    fn call() -> Call {
        Call::new(Collective::Allreduce, 8, 8)
    }

    /// Runs calls with the times that a function returns. Returns the time of each call, and the last result.
    fn carried_out(calls: u64, time: impl Fn(Choice) -> u64) -> (Vec<u64>, Option<Settled>) {
        let (mut online, mut settled, mut took) = (Online::new(Online::FIRST), None, Vec::new());
        let mut remembered: Option<(Choice, Arc<Counter>)> = None;
        for _ in 0..calls {
            if let Some((choice, counter)) = &remembered
                && counter.passes()
            {
                took.push(time(*choice));
                continue;
            }
            let choice = loop {
                let others = || vec![use_of("recursive_doubling"), use_of("rabenseifner")];
                match online.turn(&call(), use_of("ring"), others) {
                    NextCall::Gather => {
                        let times = online.times(&call());
                        settled = online.go_on(&call(), &times).or(settled);
                    }
                    NextCall::Serve(choice, counter) => {
                        let choice = choice.unwrap_or(use_of("ring"));
                        remembered = Some((choice, counter));
                        break choice;
                    }
                    NextCall::Try(choice) => {
                        let choice = choice.unwrap_or(use_of("ring"));
                        online.note(&call(), time(choice));
                        break choice;
                    }
                    NextCall::Usual => break use_of("ring"),
                }
            };
            online.count(&call());
            took.push(time(choice));
        }
        (took, settled)
    }

    fn times(ring: u64, doubling: u64, rabenseifner: u64) -> impl Fn(Choice) -> u64 {
        move |choice| match choice.algorithm().unwrap().name {
            "ring" => ring,
            "recursive_doubling" => doubling,
            _ => rabenseifner,
        }
    }

    #[test]
    fn a_faster_algorithm_is_found_within_200_calls() {
        let (took, settled) = carried_out(200, times(1000, 200, 700));
        let Settled { choice, before, ratio, tried, .. } = settled.unwrap();
        assert_eq!((choice, before, ratio), (use_of("recursive_doubling"), use_of("ring"), 0.2));
        assert_eq!(*took.last().unwrap(), 200);
        assert!(tried <= 15, "{tried}");
        let (took, _) = carried_out(100_000, times(1000, 200, 210));
        let slow = took.iter().rposition(|&took| took == 1000).unwrap();
        assert!(slow < 200, "the slow choice of the rules is tried in call {slow}");
        assert!(took[50_000..].contains(&210), "what had hope is tried again");
    }

    #[test]
    fn exploring_costs_no_more_than_a_twentieth() {
        for (ring, doubling, rabenseifner) in [(1000, 1300, 1400), (1000, 1001, 1450), (1000, 1600, 900)] {
            let (took, _) = carried_out(100_000, times(ring, doubling, rabenseifner));
            let (mut sum, mut cost) = (0, 0);
            for took in took {
                sum += took;
                cost += took.saturating_sub(ring);
                assert!(cost as f64 <= COST * sum as f64 || sum < 64 * ring, "{cost} of {sum}");
            }
        }
    }

    #[test]
    fn who_is_hopeless_is_tried_once_and_the_others_go_on_when_that_is_earned() {
        let (took, settled) = carried_out(100_000, times(1000, 100_000, 900));
        assert_eq!(took.iter().filter(|&&took| took == 100_000).count(), 1);
        assert_eq!(settled.unwrap().choice, use_of("rabenseifner"));
        let wait = took.iter().rposition(|&took| took == 1000).unwrap();
        assert!(wait > 1900, "the next try comes after 2,000 calls and not at {wait}");
    }

    #[test]
    fn what_serves_the_calls_changes_when_times_do() {
        let calls = std::cell::Cell::new(0);
        let time = |choice: Choice| {
            calls.set(calls.get() + 1);
            let is_late = calls.get() > 1000;
            match choice.algorithm().unwrap().name {
                "ring" => 1000,
                "recursive_doubling" => [700, 1300][usize::from(is_late)],
                _ => [1040, 800][usize::from(is_late)],
            }
        };
        let (took, settled) = carried_out(8_000, time);
        assert_eq!((took[900], *took.last().unwrap()), (700, 800));
        let Settled { choice, before, is_usual, .. } = settled.unwrap();
        assert_eq!((choice, is_usual), (use_of("rabenseifner"), false));
        assert!([use_of("rabenseifner"), use_of("recursive_doubling")].contains(&before), "{before:?}");
    }

    #[test]
    fn a_gain_that_may_be_noise_changes_nothing() {
        let (_, settled) = carried_out(2_000, times(1000, 990, 1200));
        let Settled { choice, ratio, .. } = settled.unwrap();
        assert_eq!((choice, ratio), (use_of("ring"), 1.0));
    }

    #[test]
    fn candidates_are_what_default_rules_choose_near_by() {
        let found = others(&call(), use_of("ring"));
        assert!(!found.is_empty() && found.len() <= MOST_OTHERS, "{found:?}");
        assert!(!found.contains(&use_of("ring")));
        assert!(found.contains(&Rules::built_in().choose(&call())), "{found:?}");
    }

    #[test]
    fn what_is_settled_is_a_rule() {
        let settled = Settled {
            choice: use_of("recursive_doubling"),
            before: use_of("ring"),
            ratio: 0.5,
            tried: 20,
            is_usual: false,
        };
        let call = Call::new(Collective::Allreduce, 6, 64);
        let rules = Rules::parse("learnt", &settled.rule(&call)).unwrap();
        for (bytes, is_learnt) in [(64, true), (127, true), (63, false), (128, false)] {
            assert_eq!(rules.choose(&Call { bytes, ..call }) == settled.choice, is_learnt, "{bytes}");
        }
        let barrier = Call::new(Collective::Barrier, 6, 0);
        let algorithm = Collective::Barrier.algorithm("dissemination").unwrap();
        let choice = Choice::Use { algorithm, parameters: Default::default() };
        let rules = Rules::parse("learnt", &Settled { choice, ..settled }.rule(&barrier)).unwrap();
        assert_eq!(rules.choose(&barrier), choice);
    }

    #[test]
    fn lengths_within_a_factor_of_two_and_all_roots_are_one_kind() {
        let bcast = |bytes, root| Call { root: Some(root), ..Call::new(Collective::Bcast, 8, bytes) };
        assert_eq!(kind(&bcast(5000, 3)), kind(&bcast(4096, 1)));
        assert_ne!(kind(&bcast(5000, 3)), kind(&bcast(2000, 3)));
    }
}
