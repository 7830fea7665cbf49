//! Rule files of other libraries, recognised by their content and read into the same entries as rustcoll's own files.
//!
//! A foreign rule may become several rules of rustcoll, which are checked like all others. If a rule cannot be
//! taken over, this is noted, and the component below rustcoll serves its calls, so that no later rule takes them.

mod json;
mod mpich;
mod open_mpi;
mod pgmpi;
mod tuned;
pub(super) mod tuned_algorithms;
mod tuned_rule;
mod words;

use super::condition::Condition;
use super::entry::{ALGORITHM, BELOW, Entry, Item, Provenance, Word, Written};
use super::error::Fault;
use super::ranges::Ranges;
use super::{file, line};
use crate::algorithms::Collective;
use std::fmt::Display;
use std::ops::{Range, RangeInclusive};

/// The library whose format a rule file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// rustcoll's own, in TOML.
    Native,
    /// Open MPI's tuned component, in numbers.
    Tuned,
    /// Open MPI's tuned component from Open MPI 6 on, in JSON.
    OpenMpi,
    /// MPICH, in JSON.
    Mpich,
    /// PGMPITuneLib's profiles.
    Pgmpi,
}

impl Format {
    pub const ALL: [Format; 5] =
        [Format::Native, Format::Tuned, Format::OpenMpi, Format::Mpich, Format::Pgmpi];

    /// Recognises the format of a text. Anything unknown counts as [`Format::Native`].
    pub fn of(text: &str) -> Format {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let Some(line) = lines.next() else { return Format::Native };
        let is_number = |text: &str| text.starts_with(|character: char| character.is_ascii_digit());
        let numbers = line.split('#').next().unwrap_or_default().split_whitespace();
        match line {
            _ if line.starts_with("MPI_") => Format::Pgmpi,
            _ if line.starts_with(['{', '/']) && open_mpi::is_its(text) => Format::OpenMpi,
            _ if line.starts_with(['{', '/']) => Format::Mpich,
            _ if line.starts_with(tuned::VERSION) || numbers.clone().all(is_number) => Format::Tuned,
            _ => Format::Native,
        }
    }

    /// Reads a text of this format. Parts that cannot be read are left out and reported.
    pub fn read(self, text: &str, faults: &mut Vec<Fault>) -> Written {
        match self {
            Format::Native => file::read(text, faults),
            Format::Tuned => tuned::read(text, faults),
            Format::OpenMpi => open_mpi::read(text, faults),
            Format::Mpich => mpich::read(text, faults),
            Format::Pgmpi => pgmpi::read(text, faults),
        }
    }
}

/// Conditions collected for a rule of rustcoll, each with its place in the foreign file.
#[derive(Clone, Debug, Default)]
struct Conditions(Vec<Item>);

impl Conditions {
    fn add(&mut self, key: &str, value: impl Display, place: &Range<usize>) {
        self.0.push(item(key, value, place));
    }

    /// Adds that a quantity is in a range, unless the range has all numbers.
    fn add_range(&mut self, key: &str, range: RangeInclusive<usize>, place: &Range<usize>) {
        if range != (0..=usize::MAX) {
            self.add(key, Ranges::new([range]), place);
        }
    }

    /// Adds that the bytes times the ranks are in a range. If the number of ranks is known, the condition is
    /// a range of bytes. Returns false, and adds nothing, if this range is empty.
    fn add_total(
        &mut self,
        total: RangeInclusive<usize>,
        ranks: Option<usize>,
        place: &Range<usize>,
    ) -> bool {
        let (first, last) = (*total.start(), *total.end());
        if let Some(ranks) = ranks {
            let bytes = first.div_ceil(ranks)..=if last == usize::MAX { last } else { last / ranks };
            let is_meant = !bytes.is_empty();
            if is_meant {
                self.add_range("bytes", bytes, place);
            }
            return is_meant;
        }
        if first > 0 {
            self.add(Condition::WHEN, format_args!("bytes * ranks >= {first}"), place);
        }
        if last < usize::MAX {
            self.add(Condition::WHEN, format_args!("bytes * ranks <= {last}"), place);
        }
        true
    }

    /// Returns a rule that leaves these calls to the component below. Without a condition on groups, the rule
    /// is for intra-communicators.
    fn below(&self, place: &Range<usize>, provenance: Provenance) -> Entry {
        let mut conditions = self.clone();
        if !self.0.iter().any(|item| item.key.text == "groups") {
            conditions.add("groups", 1, place);
        }
        conditions.0.push(item(ALGORITHM, BELOW, place));
        Entry { place: place.clone(), items: conditions.0, provenance }
    }

    /// Returns the rules of a line under these conditions. If the line has several rules, they complete each
    /// other, and one of them need not decide any call.
    fn lead_to(&self, rules: &str, place: &Range<usize>, named: &Range<usize>) -> Vec<Entry> {
        let mut faults = Vec::new();
        let entries = line::read(rules, &mut faults);
        debug_assert!(faults.is_empty(), "{rules}: {faults:?}");
        let provenance = if entries.len() == 1 { Provenance::Translated } else { Provenance::Implied };
        let entry = |entry: Entry| {
            let theirs = entry.items.into_iter().map(|item| moved(item, named));
            let items = self.0.iter().cloned().chain(theirs).collect();
            Entry { place: place.clone(), items, provenance }
        };
        entries.into_iter().map(entry).collect()
    }
}

/// Inserts values into the rules of a table, in which a rule may end with `segment`, `radix` or `window`
/// without a value. A value of 0 stands for none.
fn with_options(rules: &str, radix: usize, segment: usize, window: usize) -> String {
    let rules = rules.split("; ").map(|rule| match rule.rsplit_once(' ') {
        Some((rule, "segment")) if segment == 0 => rule.to_owned(),
        Some((rule, "segment")) => format!("{rule} segment={segment}"),
        // Without a window, all requests are in flight at once.
        Some((rule, "window")) if window == 0 => rule.replace("linear_window", "spread_out"),
        Some((rule, "window")) => format!("{rule} window={window}"),
        Some((rule, "radix")) => format!("{rule} radix={}", radix.max(2)),
        _ => rule.to_owned(),
    });
    rules.collect::<Vec<_>>().join("; ")
}

fn item(key: &str, value: impl Display, place: &Range<usize>) -> Item {
    let word = |text: String| Word { text, place: place.clone() };
    Item { key: word(key.to_owned()), values: vec![word(value.to_string())] }
}

fn moved(mut item: Item, place: &Range<usize>) -> Item {
    item.key.place = place.clone();
    item.values.iter_mut().for_each(|value| value.place = place.clone());
    item
}

/// The rules of each collective, collected in the order of a text.
#[derive(Default)]
struct Lists(Vec<(Collective, Vec<Entry>)>);

impl Lists {
    fn of(&mut self, collective: Collective) -> &mut Vec<Entry> {
        let known = self.0.iter().position(|(known, _)| *known == collective);
        let known = known.unwrap_or_else(|| {
            self.0.push((collective, Vec::new()));
            self.0.len() - 1
        });
        &mut self.0[known].1
    }
}

/// Returns a collective's name as in the names of MPI's functions.
fn capitalised(collective: Collective) -> String {
    let name = collective.name();
    format!("{}{}", name[..1].to_ascii_uppercase(), &name[1..])
}

#[cfg(test)]
mod tests {
    use super::tuned_algorithms::{TunedMeasure, algorithms, number};
    use super::*;
    use std::fmt::Write;
    use std::{env, fs};

    const DOCUMENTATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/foreign-rules.md");

    #[test]
    fn the_documentation_has_the_tables() {
        let mut text = String::from(
            "# What the algorithms of other libraries are here\n\n\
             This page is for users with rule files of Open MPI, MPICH or PGMPITuneLib. rustcoll reads these files; `rustcoll rules \
             check FILE` shows what it makes of one.\nThe tables say which algorithm of rustcoll stands for which of theirs.\n\n\
             The right column has rules as they are written in a line ([rules.md](rules.md)). Several rules complete each other. \
             Where there is no rule, rustcoll leaves the\ncalls to the component below and says so in a note. `segment`, `radix` \
             and `window` are the foreign rule's segment size, fan-out or k, and\nnumber of requests.\n\n## Open MPI\n",
        );
        for collective in Collective::ALL.into_iter().filter(|collective| !algorithms(*collective).is_empty())
        {
            let (name, measure) = (collective.name(), TunedMeasure::of(collective).description());
            writeln!(
                text,
                "\n{name} is collective {}. The size of a message is {measure}.\n",
                number(collective)
            )
            .unwrap();
            writeln!(text, "| Number | Name | Here |\n|---|---|---|").unwrap();
            for algorithm in algorithms(collective) {
                writeln!(
                    text,
                    "| {} | {} | {} |",
                    algorithm.number,
                    algorithm.names.join(", "),
                    code(algorithm.ours)
                )
                .unwrap();
            }
        }
        text.push_str("\n## MPICH\n\n| Collective | Name | Here |\n|---|---|---|\n");
        for (collective, algorithms) in mpich::ALGORITHMS {
            for (name, ours) in algorithms {
                writeln!(text, "| {} | {name} | {} |", collective.name(), code(ours)).unwrap();
            }
        }
        text.push_str("\n## PGMPITuneLib\n\n| Name | Here |\n|---|---|\n");
        for (name, ours) in pgmpi::ALGORITHMS {
            writeln!(text, "| {name} | {} |", code(ours)).unwrap();
        }
        if env::var_os("UPDATE_SNAPSHOTS").is_some_and(|value| value == "1") {
            fs::write(DOCUMENTATION, &text).unwrap();
        }
        let written = fs::read_to_string(DOCUMENTATION).unwrap_or_default();
        assert!(
            written == text,
            "{DOCUMENTATION} is not what the tables say; UPDATE_SNAPSHOTS=1 rewrites it"
        );
    }

    fn code(ours: &str) -> String {
        if ours.is_empty() { String::new() } else { format!("`{ours}`") }
    }

    #[test]
    fn formats_are_told_by_content() {
        for (text, expected) in [
            ("", Format::Native),
            ("# 1\n", Format::Native),
            ("[[bcast]]\nalgorithm = 'linear'", Format::Native),
            ("priority = 3", Format::Native),
            ("# a\n\n 1 # collective\n", Format::Tuned),
            ("rule-file-version-2\n1", Format::Tuned),
            ("1 0 1 2 x", Format::Native),
            ("{\"collectives\": {}}", Format::OpenMpi),
            ("// a\n{ \"$schema\": \"x\", \"collectives\": {}}", Format::OpenMpi),
            ("{\"module\": \"tuned\", \"colectives\": {}}", Format::OpenMpi),
            ("{\"collective=bcast\": {}}", Format::Mpich),
            ("{\"comm_type=intra\": {}}", Format::Mpich),
            ("#\nMPI_Bcast\n4\n", Format::Pgmpi),
        ] {
            assert_eq!(Format::of(text), expected, "{text}");
        }
    }
}
