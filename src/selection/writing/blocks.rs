//! The decisions of rules in the terms of Open MPI's tuned component: for each range of numbers of ranks, the
//! message sizes from which each algorithm is used.

use super::super::condition::{Condition, Property, Quantity};
use super::super::foreign::tuned_algorithms::{Fan, TunedAlgorithm, TunedMeasure, algorithms};
use super::super::{Call, Choice, DecidedBytes, Note, Origin, Parameters, Rules};
use crate::algorithms::{Collective, Parameter, default_radix, legal_radix};
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

/// The series of Open MPI that a file is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Series {
    /// Open MPI 4.1 and later, without a number of requests.
    Classic,
    /// Open MPI 6.
    Six,
}

/// An algorithm of the tuned component with its options; 0 means that an option is not set.
#[derive(Clone, Copy, Debug)]
pub struct Tuned {
    pub algorithm: &'static TunedAlgorithm,
    pub fan: usize,
    pub segment: usize,
    pub requests: usize,
}

/// The decision from some message size on.
#[derive(Clone, Debug)]
pub struct Threshold {
    /// Any of these numbers can be the size.
    start: RangeInclusive<usize>,
    /// Any of these algorithms can be written. Some of them fall back to others if they cannot serve a call.
    tuned: Vec<Tuned>,
    /// The rule that decides.
    origin: Option<Origin>,
}

/// The decisions for a range of numbers of ranks, by ascending message size.
#[derive(Clone, Debug)]
pub struct Block {
    pub ranks: RangeInclusive<usize>,
    pub thresholds: Vec<Threshold>,
}

/// Algorithm 0, which leaves the decision to the tuned component.
fn ignored(collective: Collective) -> Tuned {
    Tuned { algorithm: &algorithms(collective)[0], fan: 0, segment: 0, requests: 0 }
}

impl PartialEq for Tuned {
    fn eq(&self, other: &Tuned) -> bool {
        let key = |tuned: &Tuned| (tuned.algorithm.number, tuned.fan, tuned.segment, tuned.requests);
        key(self) == key(other)
    }
}

impl Threshold {
    /// Returns the first of the possible algorithms.
    pub fn tuned(&self) -> Tuned {
        self.tuned[0]
    }

    /// Returns the roundest of the possible sizes.
    pub fn start(&self) -> usize {
        let (first, last) = (*self.start.start(), *self.start.end());
        let rounded = (0..usize::BITS).rev().map(|bits| last >> bits << bits);
        rounded.into_iter().find(|&round| round >= first).unwrap_or(last)
    }
}

/// Returns the blocks of each collective that the rules decide, and notes on what they cannot express.
pub fn blocks(
    rules: &Rules,
    most_ranks: usize,
    series: Series,
) -> (Vec<(Collective, Vec<Block>)>, Vec<Note>) {
    let mut all = Vec::new();
    let mut notes = Vec::new();
    for collective in Collective::ALL.into_iter().filter(|collective| !rules.of(*collective).is_empty()) {
        if algorithms(collective).is_empty() {
            let origin = rules.of(collective)[0].origin.clone();
            let message = format!("Open MPI's tuned component does not serve {}", collective.name());
            notes.push(Note { origin, message });
            continue;
        }
        note_conditions(rules, collective, &mut notes);
        note_ranks(rules, collective, most_ranks, &mut notes);
        let mut blocks = Writer::new(collective, series, &mut notes).blocks(rules, most_ranks);
        blocks.iter_mut().for_each(|block| join(&mut block.thresholds));
        let last = blocks.last().map_or(&[][..], |block| &block.thresholds);
        note_beyond(rules, collective, most_ranks, series, last, &mut notes);
        let says_nothing = |threshold: &Threshold| threshold.tuned() == ignored(collective);
        if !blocks.iter().flat_map(|block| &block.thresholds).all(says_nothing) {
            all.push((collective, blocks));
        }
    }
    notes.sort_by_key(|Note { origin, .. }| (origin.file.clone(), origin.line, origin.column));
    (all, notes)
}

/// Notes the conditions that the tuned component does not know.
fn note_conditions(rules: &Rules, collective: Collective, notes: &mut Vec<Note>) {
    for rule in rules.of(collective) {
        let origin = rule.origin.clone();
        if rule.choice.algorithm().is_some_and(|algorithm| algorithm.is_for_two_groups()) {
            let message = "Open MPI's tuned component does not serve inter-communicators".to_owned();
            notes.push(Note { origin, message });
            continue;
        }
        if let Some(condition) = rule.conditions.iter().find(|condition| !is_expressible(condition)) {
            let message = format!(
                "the file cannot say {condition}: it says what holds for operators that commute, a call that is not in place, \
                 and nodes and roots that are not known"
            );
            notes.push(Note { origin, message });
        }
    }
}

/// The common words of all notes on larger communicators than the file has.
const BEYOND: &str = "and the same beyond";

fn says_beyond(most_ranks: usize) -> String {
    format!("the file says what holds on up to {most_ranks} ranks, {BEYOND}")
}

/// Notes the rules that change at a larger number of ranks than the file has.
fn note_ranks(rules: &Rules, collective: Collective, most_ranks: usize, notes: &mut Vec<Note>) {
    for rule in rules.of(collective).iter().filter(|rule| rule.last_change_of_ranks() > most_ranks) {
        let message = format!(
            "{}; for this rule set --most-ranks {}",
            says_beyond(most_ranks),
            rule.last_change_of_ranks()
        );
        notes.push(Note { origin: rule.origin.clone(), message });
    }
}

/// Returns sample numbers of ranks above `most_ranks`, to test whether other decisions apply there.
fn beyond(most_ranks: usize) -> impl Iterator<Item = usize> {
    let powers = (1..20).map(|bits| 1 << bits).filter(move |power| *power > most_ranks);
    [most_ranks + 1, most_ranks + 2].into_iter().chain(powers.flat_map(|power| [power, power + 1]))
}

/// Notes the rules that decide differently on larger communicators than the file has.
fn note_beyond(
    rules: &Rules,
    collective: Collective,
    most_ranks: usize,
    series: Series,
    last: &[Threshold],
    notes: &mut Vec<Note>,
) {
    let message =
        format!("{}, where this rule decides otherwise; --most-ranks writes more", says_beyond(most_ranks));
    for ranks in beyond(most_ranks) {
        let mut unheeded = Vec::new();
        let mut writer = Writer::new(collective, series, &mut unheeded);
        let pieces = rules.decisions(&Call::new(collective, ranks, 0));
        let measure = TunedMeasure::of(collective);
        let changes = last.iter().filter_map(|threshold| measure.first_bytes(threshold.start(), ranks));
        let bytes: Vec<usize> = pieces.iter().map(|piece| *piece.bytes.start()).chain(changes).collect();
        for bytes in bytes {
            let Some(size) = measure.size(bytes, ranks) else { continue };
            let piece = pieces.iter().find(|piece| piece.bytes.contains(&bytes));
            let held = last.iter().rfind(|threshold| threshold.start() <= size);
            let (Some(piece), Some(held)) = (piece, held) else { continue };
            let wanted = writer.tuned(piece, ranks);
            if held.tuned.iter().any(|one| wanted.contains(one)) {
                continue;
            }
            let Some(origin) = piece.decision.origin.clone().or_else(|| held.origin.clone()) else {
                continue;
            };
            if !notes.iter().any(|note| note.origin == origin && note.message.contains(BEYOND)) {
                notes.push(Note { origin, message: message.clone() });
            }
        }
    }
}

/// Merges neighbouring thresholds with the same algorithm.
fn join(thresholds: &mut Vec<Threshold>) {
    thresholds.dedup_by(|next, before| next.tuned() == before.tuned());
}

fn is_expressible(condition: &Condition) -> bool {
    match condition {
        Condition::Quantity(quantity, _) => {
            matches!(quantity, Quantity::Ranks | Quantity::Bytes | Quantity::Groups)
        }
        Condition::Property(property, _) => matches!(property, Property::PowerOfTwo | Property::Even),
        Condition::When(_) => {
            use Quantity::*;
            ![Nodes, RanksPerNode, Root, Neighbours, Dimensions]
                .into_iter()
                .any(|quantity| condition.looks_at(quantity))
        }
    }
}

struct Writer<'writer> {
    collective: Collective,
    series: Series,
    notes: &'writer mut Vec<Note>,
    noted: HashSet<Note>,
    /// The results of earlier look-ups, by number of ranks and choice.
    known: HashMap<(usize, &'static str, Parameters), Vec<Tuned>>,
}

impl<'writer> Writer<'writer> {
    fn new(collective: Collective, series: Series, notes: &'writer mut Vec<Note>) -> Self {
        Writer { collective, series, notes, noted: HashSet::new(), known: HashMap::new() }
    }

    fn blocks(&mut self, rules: &Rules, most_ranks: usize) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        for ranks in 1..=most_ranks.max(1) {
            let call = Call::new(self.collective, ranks, 0);
            let thresholds = self.thresholds(rules.decisions(&call), ranks);
            let widened = blocks.last().and_then(|last| common(&last.thresholds, &thresholds));
            match (blocks.last_mut(), widened) {
                (Some(last), Some(thresholds)) => {
                    *last = Block { ranks: *last.ranks.start()..=ranks, thresholds }
                }
                _ => blocks.push(Block { ranks: ranks..=ranks, thresholds }),
            }
        }
        blocks
    }

    fn thresholds(&mut self, pieces: Vec<DecidedBytes>, ranks: usize) -> Vec<Threshold> {
        if TunedMeasure::of(self.collective) == TunedMeasure::Element && pieces.len() > 1 {
            for position in 0..pieces.len() {
                self.note(
                    &pieces[..=position],
                    "Open MPI does not measure these calls by their bytes, and decides them itself",
                );
            }
            return vec![Threshold { start: 0..=0, tuned: vec![ignored(self.collective)], origin: None }];
        }
        let mut thresholds: Vec<Threshold> = Vec::new();
        for (position, piece) in pieces.iter().enumerate() {
            let Some(start) = self.start(&pieces[..=position], ranks) else { break };
            let tuned = self.tuned(piece, ranks);
            // Bytes per rank are rounded, so a piece may become empty.
            if thresholds.last().is_some_and(|last| last.start.start() >= start.start()) {
                thresholds.pop();
            }
            thresholds.push(Threshold { start, tuned, origin: piece.decision.origin.clone() });
        }
        thresholds
    }

    /// Returns the possible message sizes, in Open MPI's measure, at which the last piece can begin; `None`
    /// if there are none.
    fn start(&mut self, pieces: &[DecidedBytes], ranks: usize) -> Option<RangeInclusive<usize>> {
        let bytes = *pieces.last()?.bytes.start();
        let start = match TunedMeasure::of(self.collective) {
            _ if bytes == 0 => 0..=0,
            TunedMeasure::BytesTimesRanks => {
                (bytes - 1).checked_mul(ranks)? + 1..=bytes.checked_mul(ranks)?
            }
            TunedMeasure::BytesPerRank => {
                if !bytes.is_multiple_of(ranks) {
                    self.note(
                        pieces,
                        "Open MPI compares the bytes divided by the ranks, so this bound is rounded up",
                    );
                }
                bytes.div_ceil(ranks)..=bytes.div_ceil(ranks)
            }
            _ => bytes..=bytes,
        };
        (*start.end() <= i64::MAX as usize).then_some(start)
    }

    /// Returns the algorithms that can serve a piece. If there are none, notes this and leaves the calls to Open MPI.
    fn tuned(&mut self, piece: &DecidedBytes, ranks: usize) -> Vec<Tuned> {
        let Choice::Use { algorithm, parameters } = piece.decision.choice else {
            return vec![ignored(self.collective)];
        };
        let key = (ranks, algorithm.name, parameters);
        if let Some(found) = self.known.get(&key) {
            return found.clone();
        }
        let mut found = self.look_up(piece.decision.choice, ranks);
        if found.is_empty() {
            let is_word = |text: &str| text.split(' ').any(|word| word == algorithm.name);
            let is_there = algorithms(self.collective).iter().any(|theirs| is_word(theirs.ours));
            let lack =
                if is_there { "is in Open MPI with other parameters only" } else { "is not in Open MPI" };
            let message = format!("`{}` {lack}; Open MPI decides these calls itself", algorithm.name);
            self.note(std::slice::from_ref(piece), &message);
            found.push(ignored(self.collective));
        } else {
            self.known.insert(key, found.clone());
        }
        found
    }

    /// Returns the algorithms that rustcoll's reader translates into this choice.
    fn look_up(&self, choice: Choice, ranks: usize) -> Vec<Tuned> {
        let value = |parameter| choice.parameters().get(parameter).unwrap_or(0);
        let radix = radix_on(choice, ranks);
        let requests = if self.series == Series::Six { value(Parameter::Window) } else { 0 };
        let of_series = |one: &&TunedAlgorithm| one.is_in_4_1 || self.series == Series::Six;
        let candidates = algorithms(self.collective).iter().skip(1).filter(of_series);
        let found = candidates.filter(|one| !one.ours.is_empty()).filter_map(|algorithm| {
            let fan = match algorithm.fan {
                Fan::Radix if self.series == Series::Six => radix,
                Fan::Chains => 1,
                _ => 0,
            };
            let segment = if algorithm.ours.contains("segment") { value(Parameter::Segment) } else { 0 };
            let requests = if algorithm.ours.contains("window") { requests } else { 0 };
            let read = algorithm.with_options(fan, segment, requests);
            let rules = Rules::parse_line("the table", self.collective, &read).ok()?;
            let theirs = rules.choose(&Call::new(self.collective, ranks, 0));
            is_same(theirs, choice, ranks).then_some(Tuned { algorithm, fan, segment, requests })
        });
        found.collect()
    }

    /// Adds a note, once, for the last of these pieces that a rule decides.
    fn note(&mut self, pieces: &[DecidedBytes], message: &str) {
        if let Some(origin) = pieces.iter().rev().find_map(|piece| piece.decision.origin.as_ref()) {
            let note = Note { origin: origin.clone(), message: message.to_owned() };
            if self.noted.insert(note.clone()) {
                self.notes.push(note);
            }
        }
    }
}

/// Whether two choices have the same effect on this number of ranks.
pub fn is_same(one: Choice, other: Choice, ranks: usize) -> bool {
    let key = |choice: Choice| {
        let parameters = choice.parameters();
        let [segment, window] =
            [Parameter::Segment, Parameter::Window].map(|parameter| parameters.get(parameter));
        (choice.algorithm().map(|algorithm| algorithm.name), radix_on(choice, ranks), segment, window)
    };
    key(one) == key(other)
}

/// Returns the radix of a choice on this number of ranks; 0 if its algorithm has none.
fn radix_on(choice: Choice, ranks: usize) -> usize {
    let has_radix =
        choice.algorithm().is_some_and(|algorithm| algorithm.parameters.contains(&Parameter::Radix));
    let radix = || choice.parameters().get(Parameter::Radix).unwrap_or_else(|| default_radix(ranks));
    if has_radix { legal_radix(radix(), ranks) } else { 0 }
}

/// Returns thresholds that are valid for both lists, if there are any.
fn common(ones: &[Threshold], others: &[Threshold]) -> Option<Vec<Threshold>> {
    let both = ones.iter().zip(others).map(|(one, other)| {
        let start = *one.start.start().max(other.start.start())..=*one.start.end().min(other.start.end());
        let tuned: Vec<_> = one.tuned.iter().copied().filter(|tuned| other.tuned.contains(tuned)).collect();
        let origin = one.origin.clone();
        (!tuned.is_empty() && !start.is_empty()).then_some(Threshold { start, tuned, origin })
    });
    if ones.len() == others.len() { both.collect() } else { None }
}
