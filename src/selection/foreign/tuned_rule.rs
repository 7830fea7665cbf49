//! A rule of Open MPI's tuned component, from a file of either format.

use super::tuned_algorithms::{Fan, TunedAlgorithm, TunedMeasure};
use super::{Conditions, Entry, Fault, Provenance};
use crate::algorithms::Collective;
use std::ops::{Range, RangeInclusive};

/// A number and its place.
#[derive(Clone, Debug)]
pub struct Number {
    pub value: usize,
    pub place: Range<usize>,
}

/// A rule for some message sizes on some communicators.
pub struct TunedRule {
    /// The place of the whole rule.
    pub place: Range<usize>,
    pub collective: Collective,
    /// The numbers of ranks; `ranks_place` is their place in the file.
    pub ranks: RangeInclusive<usize>,
    pub ranks_place: Range<usize>,
    /// The sizes of messages, as the tuned component measures them; `messages_place` is their place in the file.
    pub messages: RangeInclusive<usize>,
    pub messages_place: Range<usize>,
    pub algorithm: &'static TunedAlgorithm,
    /// The place of the algorithm.
    pub named: Range<usize>,
    pub fan: Option<Number>,
    pub segment: Option<Number>,
    pub requests: Option<Number>,
}

/// Notes that the tuned component has no algorithms for a collective.
pub fn left_to_others(collective: Collective, place: &Range<usize>) -> Fault {
    let message = format!(
        "Open MPI's tuned component leaves {} to others: these rules mean nothing",
        collective.name()
    );
    Fault { place: place.clone(), message }
}

/// Notes that the rules compare sizes that only Open MPI knows.
pub fn no_measure(collective: Collective, place: &Range<usize>) -> Fault {
    let message = format!(
        "Open MPI compares an element's bytes times the ranks, which no rule here can ask for: these calls of {} are left to it",
        collective.name()
    );
    Fault { place: place.clone(), message }
}

impl TunedRule {
    /// Returns the equivalent rules of rustcoll, under further conditions. Empty if the rule applies to no call.
    pub fn entries(&self, conditions: &Conditions, notes: &mut Vec<Fault>) -> Vec<Entry> {
        let mut conditions = conditions.clone();
        conditions.add_range("ranks", self.ranks.clone(), &self.ranks_place);
        if !self.add_messages(&mut conditions, notes) {
            return Vec::new();
        }
        if let Some(lack) = self.lack() {
            let name = self.algorithm.names[0];
            let message = format!("{lack}: {} leaves these calls to Open MPI", self.collective.name());
            let message = message.replace("{name}", name);
            notes.push(Fault { place: self.named.clone(), message });
            return vec![conditions.below(&self.place, Provenance::Translated)];
        }
        self.note_options(notes);
        let ours = self.with_options();
        let mut entries = conditions.lead_to(&ours, &self.place, &self.named);
        if ours.starts_with("ranks=2") && self.ranks != (2..=2) {
            let message =
                format!("`{}` serves two ranks only: the others go to Open MPI", self.algorithm.names[0]);
            notes.push(Fault { place: self.named.clone(), message });
            entries.iter_mut().for_each(|entry| entry.provenance = Provenance::Implied);
            entries.push(conditions.below(&self.place, Provenance::Implied));
        }
        entries
    }

    /// Adds conditions for the message sizes, in rustcoll's measure. Returns false if no call has such a size.
    fn add_messages(&self, conditions: &mut Conditions, notes: &mut Vec<Fault>) -> bool {
        let (first, last) = (*self.messages.start(), *self.messages.end());
        let place = &self.messages_place;
        let only = Some(*self.ranks.end()).filter(|&ranks| ranks > 0 && ranks == *self.ranks.start());
        match TunedMeasure::of(self.collective) {
            TunedMeasure::Bytes => conditions.add_range("bytes", self.messages.clone(), place),
            TunedMeasure::BytesTimesRanks => return conditions.add_total(self.messages.clone(), only, place),
            TunedMeasure::BytesPerRank => {
                if first > 0 {
                    conditions.add("when", format_args!("bytes >= {first} * ranks"), place);
                }
                if let Some(next) = last.checked_add(1) {
                    conditions.add("when", format_args!("bytes < {next} * ranks"), place);
                }
            }
            TunedMeasure::Zero if first == 0 => {}
            TunedMeasure::Zero => {
                let message = format!(
                    "Open MPI counts every {} as 0 bytes and never comes here",
                    self.collective.name()
                );
                notes.push(Fault { place: self.place.clone(), message });
                return false;
            }
            // The readers do not make rules that compare messages by this measure.
            TunedMeasure::Element => {}
        }
        true
    }

    /// Returns why rustcoll has no equivalent, if it has none. `{name}` stands for the algorithm's name.
    fn lack(&self) -> Option<String> {
        let chains = self.fan.as_ref().map_or(0, |fan| fan.value);
        match self.algorithm {
            TunedAlgorithm { ours: "", .. } => Some("there is no `{name}` here".into()),
            TunedAlgorithm { fan: Fan::Chains, .. } if chains > 1 => {
                Some(format!("`{{name}}` has one chain here, not {chains}"))
            }
            _ => None,
        }
    }

    /// Notes the options that the tuned component uses and rustcoll ignores.
    fn note_options(&self, notes: &mut Vec<Fault>) {
        let name = self.algorithm.names[0];
        let mut note = |number: &Option<Number>, is_lost: bool, message: &str| {
            if let Some(number) = number.as_ref().filter(|number| is_lost && number.value > 0) {
                let message = format!("{message}: {} is left out", number.value);
                notes.push(Fault { place: number.place.clone(), message });
            }
        };
        note(&self.segment, name == "knomial", "`knomial` has no segments here");
        let is_bounded = self.collective == Collective::Reduce && self.algorithm.ours.contains("segment");
        note(&self.requests, is_bounded, "here the segments under way are not bounded");
    }

    /// Returns the equivalent rules with the values of the options.
    fn with_options(&self) -> String {
        let [fan, segment, requests] = [&self.fan, &self.segment, &self.requests]
            .map(|number| number.as_ref().map_or(0, |number| number.value));
        self.algorithm.with_options(fan, segment, requests)
    }
}
