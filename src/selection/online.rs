//! Choosing while a job runs: on one communicator, candidates take turns by the number of the call, so all ranks agree without a word. After
//! each round the ranks bring their times together; what follows depends on these and on numbers of calls, which are equal on all ranks.

use super::{Call, Choice, Rules};
use crate::report::bytes_from;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// So many kinds of calls of a communicator are explored.
const MOST_KINDS: usize = 64;

/// So many candidates besides the one that the rules choose.
const MOST_OTHERS: usize = 3;

/// So often each candidate is tried.
const ROUNDS: usize = 5;

/// Exploring may cost this part of the time that calls of the kind took so far.
const COST: f64 = 0.05;

/// Who takes so many times as long as the fastest is not tried again.
const HOPELESS: f64 = 1.5;

/// Who takes no more than this part of the time of what the rules choose replaces it.
const FASTER: f64 = 0.97;

/// Counts the calls of a kind. Calls that are remembered are counted here, too.
#[derive(Debug)]
pub struct Counter {
    calls: AtomicU64,
    /// The number of the next call that is not like the one before.
    next: AtomicU64,
}

impl Counter {
    /// Counts a call that is like the one before; `false`: it is not, and was not counted.
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

/// A candidate, and how long it took in each round, in nanoseconds.
#[derive(Clone, Debug)]
struct Tried {
    choice: Choice,
    took: Vec<u64>,
}

/// The calls of a round that are tried.
#[derive(Clone, Debug)]
struct Round {
    /// The numbers of the calls, and which candidate each has.
    turns: Vec<(u64, usize)>,
    /// How long those took at this rank that it has carried out.
    own: Vec<u64>,
}

/// A kind of calls that is explored.
#[derive(Debug)]
struct Trial {
    counter: Arc<Counter>,
    /// What the rules choose comes first.
    candidates: Vec<Tried>,
    round: Round,
}

/// What is known of a kind of calls.
#[derive(Debug)]
enum Kind {
    Exploring(Trial),
    Settled(Settled),
}

/// What was found out.
#[derive(Clone, Debug)]
pub struct Settled {
    /// What serves the calls from now on.
    pub choice: Choice,
    /// What the rules choose.
    pub before: Choice,
    /// The time of the first by that of the second.
    pub ratio: f64,
    /// How many calls were tried.
    pub tried: usize,
}

/// What a call is to do.
#[derive(Debug)]
pub enum Turn {
    /// The ranks must bring their times together first.
    Gather,
    /// What the rules choose serves it, as it does the next calls until the counter says otherwise.
    Usual(Arc<Counter>),
    /// This is tried for this call alone, or what the rules choose is.
    Try(Option<Choice>),
    /// This serves it and all that follow, or what the rules choose does.
    Settled(Option<Choice>),
}

/// All kinds of calls of a communicator.
#[derive(Debug)]
pub struct Online {
    /// The number of the first call of a kind that is tried.
    first: u64,
    kinds: HashMap<Call, Kind>,
}

/// What is explored together: calls that differ in the root, or in their length by less than a factor of two.
pub fn kind(call: &Call) -> Call {
    Call { bytes: bytes_from(call.bytes) as usize, root: None, ..*call }
}

/// What may be faster than a choice: what the default rules choose for the call, and for shorter and longer ones.
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
    /// The number of the first call of a kind that is tried unless the user says otherwise.
    pub const FIRST: u64 = 32;

    /// Nothing was tried yet. The first call that is tried has that number, and in the first round it is twice as many as there are calls from one
    /// try to the next.
    pub fn new(first: u64) -> Online {
        Online { first, kinds: HashMap::new() }
    }

    /// What the next call of a kind is to do, if the rules choose that for it, and these others may be faster. It is not counted yet.
    pub fn turn(&mut self, kind: &Call, usual: Choice, others: impl FnOnce() -> Vec<Choice>) -> Turn {
        if !self.kinds.contains_key(kind) {
            if self.kinds.len() == MOST_KINDS {
                return Turn::Settled(None);
            }
            self.kinds.insert(*kind, Kind::new(usual, others(), self.first));
        }
        match &self.kinds[kind] {
            Kind::Settled(settled) => Turn::Settled(settled.replaces().then_some(settled.choice)),
            Kind::Exploring(trial) => trial.turn(),
        }
    }

    /// Counts a call of a kind, which is carried out now.
    pub fn count(&mut self, kind: &Call) {
        if let Some(Kind::Exploring(Trial { counter, .. })) = self.kinds.get(kind) {
            counter.calls.fetch_add(1, Relaxed);
        }
    }

    /// Notes how long a call took that was tried.
    pub fn note(&mut self, kind: &Call, nanoseconds: u64) {
        if let Some(Kind::Exploring(trial)) = self.kinds.get_mut(kind) {
            trial.round.own.push(nanoseconds);
        }
    }

    /// How long the calls of the round took at this rank; the same number at all ranks.
    pub fn times(&self, kind: &Call) -> Vec<u64> {
        match self.kinds.get(kind) {
            Some(Kind::Exploring(Trial { round, .. })) => {
                // A call that failed here has no time; this rank's next calls fail as well.
                let mut times = round.own.clone();
                times.resize(round.turns.len(), u64::MAX / 2);
                times
            }
            _ => Vec::new(),
        }
    }

    /// Goes on with the times of the round that are the same at all ranks. Tells what is settled by them.
    pub fn go_on(&mut self, kind: &Call, times: &[u64]) -> Option<Settled> {
        let Some(Kind::Exploring(trial)) = self.kinds.get_mut(kind) else { return None };
        trial.end_round(times);
        let settled = match trial.next_round() {
            Some(round) => {
                trial.counter.next.store(round.turns[0].0, Relaxed);
                trial.round = round;
                return None;
            }
            None => trial.settled(),
        };
        // Whoever remembers a call of before asks anew.
        trial.counter.next.store(0, Relaxed);
        self.kinds.insert(*kind, Kind::Settled(settled.clone()));
        Some(settled)
    }

    /// What was found out so far.
    pub fn settled(&self) -> impl Iterator<Item = (&Call, &Settled)> {
        self.kinds.iter().filter_map(|(call, kind)| match kind {
            Kind::Settled(settled) => Some((call, settled)),
            Kind::Exploring(_) => None,
        })
    }
}

impl Settled {
    /// Whether something replaces what the rules choose.
    pub fn replaces(&self) -> bool {
        self.choice != self.before
    }
}

impl Kind {
    fn new(usual: Choice, others: Vec<Choice>, first: u64) -> Kind {
        if others.is_empty() {
            return Kind::Settled(Settled { choice: usual, before: usual, ratio: 1.0, tried: 0 });
        }
        let candidates: Vec<Tried> =
            [usual].into_iter().chain(others).map(|choice| Tried { choice, took: Vec::new() }).collect();
        let turns =
            (0..candidates.len()).map(|candidate| (first + (first / 2).max(1) * candidate as u64, candidate));
        let counter = Counter { calls: AtomicU64::new(0), next: AtomicU64::new(first) };
        let round = Round { turns: turns.collect(), own: Vec::new() };
        Kind::Exploring(Trial { counter: Arc::new(counter), candidates, round })
    }
}

impl Trial {
    fn turn(&self) -> Turn {
        let number = self.counter.calls.load(Relaxed) + 1;
        let Round { turns, .. } = &self.round;
        let next = turns.iter().find(|(turn, _)| *turn >= number);
        match next {
            None => Turn::Gather,
            Some(&(turn, candidate)) if turn == number => {
                Turn::Try((candidate > 0).then(|| self.candidates[candidate].choice))
            }
            Some(&(turn, _)) => {
                self.counter.next.store(turn, Relaxed);
                Turn::Usual(Arc::clone(&self.counter))
            }
        }
    }

    fn end_round(&mut self, times: &[u64]) {
        let turns = self.round.turns.iter().zip(times);
        for (&(_, candidate), &time) in turns {
            self.candidates[candidate].took.push(time);
        }
    }

    /// What exploring costs, in nanoseconds, if the others are tried so many times more. That a call takes longer now and then is no cost of it: the
    /// least times count.
    fn cost(&self, more: usize) -> u64 {
        let usual = self.usual();
        let of_other = |tried: &Tried| {
            let longer = tried.least().saturating_sub(usual);
            let times = if self.has_hope(tried) { tried.took.len() + more } else { tried.took.len() };
            longer.saturating_mul(times as u64)
        };
        // To bring the times of a round together takes about as long as a call.
        let gathering = usual.saturating_mul((self.candidates[0].took.len() + more) as u64);
        self.candidates[1..].iter().map(of_other).fold(gathering, u64::saturating_add)
    }

    fn usual(&self) -> u64 {
        self.candidates[0].least().max(1)
    }

    fn has_hope(&self, tried: &Tried) -> bool {
        let fastest = self.candidates.iter().map(Tried::least).min().unwrap_or(0);
        tried.least() as f64 <= HOPELESS * fastest as f64
    }

    /// The calls of the next round; `None` if all is known.
    fn next_round(&self) -> Option<Round> {
        let others: Vec<usize> =
            (1..self.candidates.len()).filter(|&one| self.has_hope(&self.candidates[one])).collect();
        if others.is_empty() || self.candidates[0].took.len() == ROUNDS {
            return None;
        }
        // By then calls have taken so long that the cost is a small part of it.
        let earned = (self.cost(1) as f64 / (COST * self.usual() as f64)).min(1e15) as u64;
        let first = earned.max(self.counter.calls.load(Relaxed) + 2);
        let turns = [0].into_iter().chain(others).zip(first..).map(|(candidate, turn)| (turn, candidate));
        Some(Round { turns: turns.collect(), own: Vec::new() })
    }

    fn settled(&self) -> Settled {
        let before = &self.candidates[0];
        let fastest = self.candidates.iter().min_by_key(|tried| tried.median()).unwrap_or(before);
        let ratio = fastest.median() as f64 / before.median().max(1) as f64;
        let tried = self.candidates.iter().map(|tried| tried.took.len()).sum();
        match ratio <= FASTER {
            true => Settled { choice: fastest.choice, before: before.choice, ratio, tried },
            false => Settled { choice: before.choice, before: before.choice, ratio: 1.0, tried },
        }
    }
}

impl Tried {
    fn least(&self) -> u64 {
        self.took.iter().copied().min().unwrap_or(0)
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

    /// Carries calls out that take as long as a function says. Returns how long each took, and what is settled.
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
                    Turn::Gather => {
                        let times = online.times(&call());
                        settled = online.go_on(&call(), &times).or(settled);
                    }
                    Turn::Usual(counter) => {
                        remembered = Some((use_of("ring"), counter));
                        break use_of("ring");
                    }
                    Turn::Try(choice) => {
                        let choice = choice.unwrap_or(use_of("ring"));
                        online.note(&call(), time(choice));
                        break choice;
                    }
                    Turn::Settled(choice) => {
                        remembered = None;
                        break choice.unwrap_or(use_of("ring"));
                    }
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
        let Settled { choice, before, ratio, tried } = settled.unwrap();
        assert_eq!((choice, before, ratio), (use_of("recursive_doubling"), use_of("ring"), 0.2));
        assert_eq!(*took.last().unwrap(), 200);
        assert!(tried <= 15, "{tried}");
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
        let settled =
            Settled { choice: use_of("recursive_doubling"), before: use_of("ring"), ratio: 0.5, tried: 20 };
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
