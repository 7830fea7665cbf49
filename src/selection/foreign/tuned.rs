//! The rule file of Open MPI's tuned component: numbers, and comments from `#` to the end of a line.
//!
//! ```text
//! rule-file-version-2   # may be left out
//! 1                     # number of collectives
//! 2                     # a collective
//! 1                     # number of communicator sizes
//! 8                     # a communicator size: from it on to the next one, the first also below
//! 2                     # number of message sizes
//! 0    3 0 0            # a message size: from it on; algorithm, fan-out, segment size
//! 4096 4 0 0 0          # and from version 2 on the number of requests
//! ```
//!
//! Open MPI drops a file with a fault without a word; here each is reported.

use super::super::error::shortened;
use super::super::reading::MOST_RULES;
use super::tuned_algorithms::{COLLECTIVES, TunedMeasure, algorithms};
use super::tuned_rule::{Number, TunedRule, no_measure};
use super::{Conditions, Entry, Fault, Lists, Standing, Written};
use crate::algorithms::Collective;
use std::ops::{Range, RangeInclusive};

/// What a file with a version begins with.
pub const VERSION: &str = "rule-file-version-";

/// Reads a file; what cannot be read is left out and reported.
pub fn read(text: &str, faults: &mut Vec<Fault>) -> Written {
    let mut reader = Reader { text, tokens: tokens(text), next: 0, version: 1, faults, notes: Vec::new() };
    let mut lists = Lists::default();
    reader.file(&mut lists);
    Written { priority: None, lists: lists.0, notes: reader.notes }
}

/// The places of what stands between spaces and outside comments.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split('#').next().unwrap_or_default();
        let words = code.split_whitespace().map(|word| {
            let place = start + (word.as_ptr() as usize - line.as_ptr() as usize);
            place..place + word.len()
        });
        tokens.extend(words);
        start += line.len();
    }
    tokens
}

struct Reader<'reader> {
    text: &'reader str,
    tokens: Vec<Range<usize>>,
    next: usize,
    version: usize,
    faults: &'reader mut Vec<Fault>,
    notes: Vec<Fault>,
}

/// A message size and what to do from it on.
struct Message {
    place: Range<usize>,
    size: Number,
    algorithm: Number,
    fan: Number,
    segment: Number,
    requests: Option<Number>,
}

/// A communicator size and its messages.
struct Communicator {
    size: Number,
    messages: Vec<Message>,
}

impl Reader<'_> {
    fn fault(&mut self, place: &Range<usize>, message: impl Into<String>) {
        self.faults.push(Fault { place: place.clone(), message: message.into() });
    }

    /// None if the file ends too early; that is reported.
    fn file(&mut self, lists: &mut Lists) -> Option<()> {
        self.read_version();
        let count = self.number("the number of collectives")?;
        let mut seen = Vec::new();
        for _ in 0..count.value {
            let id = self.number("a collective")?;
            let collective = COLLECTIVES.get(id.value).copied();
            match collective {
                None => {
                    self.fault(&id.place, format!("there is no collective {}: they are 0 to 21", id.value))
                }
                Some(collective) if seen.contains(&collective) => {
                    self.fault(&id.place, format!("{} stands twice", collective.name()));
                }
                Some(collective) => seen.push(collective),
            }
            let communicators = self.communicators()?;
            if let Some(collective) = collective {
                let entries = self.entries(collective, &id, &communicators);
                lists.of(collective).extend(entries);
            }
        }
        if let Some(place) = self.tokens.get(self.next).cloned() {
            let message = format!(
                "Open MPI does not read what follows: by its first number the file ends here, after {} collectives",
                count.value
            );
            self.fault(&(place.start..self.text.trim_end().len()), message);
        }
        Some(())
    }

    fn read_version(&mut self) {
        let Some(place) = self.tokens.first().cloned() else { return };
        let Some(version) = self.text[place.clone()].strip_prefix(VERSION) else { return };
        self.next = 1;
        match version.parse() {
            Ok(version) if version > 0 => self.version = version,
            _ => self.fault(&place, format!("`{}` is not a version", shortened(version))),
        }
        if place.start > 0 {
            self.fault(&place, "Open MPI finds the version only at the very beginning of the file");
        }
    }

    /// The next number. What is none is reported and skipped.
    fn number(&mut self, what: &str) -> Option<Number> {
        while let Some(place) = self.tokens.get(self.next).cloned() {
            self.next += 1;
            match number(&self.text[place.clone()]) {
                Ok(value) => return Some(Number { value, place }),
                Err((value, message)) => {
                    self.fault(&place, message);
                    if let Some(value) = value {
                        return Some(Number { value, place });
                    }
                }
            }
        }
        let end = self.text.len();
        self.fault(&(end..end), format!("expected {what}, found the end"));
        None
    }

    fn communicators(&mut self) -> Option<Vec<Communicator>> {
        let count = self.number("the number of communicator sizes")?;
        let mut communicators: Vec<Communicator> = Vec::new();
        for _ in 0..count.value {
            let size = self.number("a communicator size")?;
            if let Some(before) = communicators.last().filter(|before| before.size.value >= size.value) {
                let message = format!(
                    "communicator sizes must ascend: {} comes after {}",
                    size.value, before.size.value
                );
                self.fault(&size.place, message);
            }
            let messages = self.messages()?;
            communicators.push(Communicator { size, messages });
        }
        Some(communicators)
    }

    fn messages(&mut self) -> Option<Vec<Message>> {
        let count = self.number("the number of message sizes")?;
        let mut messages: Vec<Message> = Vec::new();
        for _ in 0..count.value {
            let message = self.message()?;
            let (size, place) = (message.size.value, message.size.place.clone());
            match messages.last() {
                None if size > 0 => {
                    let message = format!(
                        "the first message size is {size}, not 0: because of it Open MPI ignores the whole file without a word"
                    );
                    self.fault(&place, message);
                }
                Some(before) if before.size.value >= size => {
                    let message =
                        format!("message sizes must ascend: {size} comes after {}", before.size.value);
                    self.fault(&place, message);
                }
                _ => {}
            }
            messages.push(message);
        }
        Some(messages)
    }

    fn message(&mut self) -> Option<Message> {
        let size = self.number("a message size")?;
        let algorithm = self.number("an algorithm")?;
        let fan = self.number("a fan-out")?;
        let segment = self.number("a segment size")?;
        let requests = if self.is_another_in_line(&segment.place) { self.fifth(&size)? } else { None };
        let end = requests.as_ref().unwrap_or(&segment).place.end;
        Some(Message { place: size.place.start..end, size, algorithm, fan, segment, requests })
    }

    /// Whether the next token stands in the same line as what ends here.
    fn is_another_in_line(&self, place: &Range<usize>) -> bool {
        let next = self.tokens.get(self.next);
        next.is_some_and(|next| !self.text[place.end..next.start].contains('\n'))
    }

    /// The number of requests, if the version has one; None outside if it cannot be read.
    fn fifth(&mut self, first: &Number) -> Option<Option<Number>> {
        if self.version > 1 {
            return self.number("a number of requests").map(Some);
        }
        // Rules may stand side by side; five numbers in a line are a mistake.
        let place = self.tokens[self.next].clone();
        let position = self.tokens.partition_point(|token| token.start < first.place.start);
        let before = position.checked_sub(1).map_or(0, |before| self.tokens[before].end);
        let is_first = position + 4 == self.next && self.text[before..first.place.start].contains('\n');
        self.next += 1;
        if is_first && !self.is_another_in_line(&place) {
            self.fault(
                &place,
                format!("Open MPI reads a fifth number only if the file begins with `{VERSION}2`"),
            );
        } else {
            self.next -= 1;
        }
        Some(None)
    }

    fn entries(&mut self, collective: Collective, id: &Number, communicators: &[Communicator]) -> Vec<Entry> {
        if algorithms(collective).is_empty() {
            let message = format!(
                "Open MPI's tuned component leaves {} to others: these rules mean nothing",
                collective.name()
            );
            self.notes.push(Fault { place: id.place.clone(), message });
            return Vec::new();
        }
        let mut entries = Vec::new();
        for (position, communicator) in communicators.iter().enumerate() {
            // What is beyond is refused, and may be long.
            if entries.len() > MOST_RULES {
                break;
            }
            let first = if position == 0 { 0 } else { communicator.size.value };
            let next = communicators.get(position + 1).map(|next| next.size.value.saturating_sub(1));
            let ranks = first..=next.unwrap_or(usize::MAX);
            let mut rules: Vec<TunedRule> = Vec::new();
            for (position, message) in communicator.messages.iter().enumerate() {
                let next =
                    communicator.messages.get(position + 1).map(|next| next.size.value.saturating_sub(1));
                let messages = message.size.value..=next.unwrap_or(usize::MAX);
                let rule = self.rule(collective, message, ranks.clone(), &communicator.size.place);
                rules
                    .extend(rule.filter(|_| !messages.is_empty()).map(|rule| TunedRule { messages, ..rule }));
            }
            // What does not ascend has been reported.
            if !ranks.is_empty() {
                entries.extend(self.of_communicator(collective, &communicator.size, ranks, &rules));
            }
        }
        entries
    }

    fn of_communicator(
        &mut self,
        collective: Collective,
        size: &Number,
        ranks: RangeInclusive<usize>,
        rules: &[TunedRule],
    ) -> Vec<Entry> {
        let mut conditions = Conditions::default();
        if TunedMeasure::of(collective) == TunedMeasure::Element && rules.len() > 1 {
            self.notes.push(no_measure(collective, &rules[1].place));
            conditions.add_range("ranks", ranks, &size.place);
            return vec![conditions.below(&size.place, Standing::Translated)];
        }
        if rules.is_empty() {
            conditions.add_range("ranks", ranks, &size.place);
            return vec![conditions.below(&size.place, Standing::Translated)];
        }
        let entries = rules.iter().flat_map(|rule| rule.entries(&conditions, &mut self.notes));
        entries.take(MOST_RULES + 1).collect()
    }

    fn rule(
        &mut self,
        collective: Collective,
        message: &Message,
        ranks: RangeInclusive<usize>,
        ranks_place: &Range<usize>,
    ) -> Option<TunedRule> {
        let known = algorithms(collective);
        let Some(algorithm) = known.get(message.algorithm.value) else {
            let message_text = format!(
                "{} has no algorithm {}: they are 0 to {}",
                collective.name(),
                message.algorithm.value,
                known.len() - 1
            );
            self.fault(&message.algorithm.place, message_text);
            return None;
        };
        // Before Open MPI 6, which knows other files, the radix of an allgather is 2 whatever the file says.
        let fan = (collective != Collective::Allgather).then(|| message.fan.clone());
        Some(TunedRule {
            place: message.place.clone(),
            collective,
            ranks,
            ranks_place: ranks_place.clone(),
            messages: 0..=usize::MAX,
            messages_place: message.size.place.clone(),
            algorithm,
            named: message.algorithm.place.clone(),
            fan,
            segment: Some(message.segment.clone()),
            requests: message.requests.clone(),
        })
    }
}

/// A number as the C library reads it; else what is wrong with it, and what it is meant to be if that is known.
fn number(text: &str) -> Result<usize, (Option<usize>, String)> {
    let shown = shortened(text);
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let value = match digits {
        Some(digits) if !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
            i64::from_str_radix(digits, 16)
        }
        _ if !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()) => text.parse(),
        _ if text.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|digit| digit.is_ascii_digit())) => {
            return Err((Some(0), format!("`{shown}` is negative")));
        }
        _ => {
            let message =
                format!("`{shown}` is not a number; Open MPI skips it without a word and takes the next one");
            return Err((None, message));
        }
    };
    match value {
        Err(_) => Err((Some(0), format!("`{shown}` is too large"))),
        Ok(value) if digits.is_none() && text.len() > 1 && text.starts_with('0') => {
            let message =
                format!("Open MPI takes `{shown}` for octal, because of the leading zero; leave it out");
            Err((Some(value as usize), message))
        }
        Ok(value) => Ok(value as usize),
    }
}

#[cfg(test)]
mod tests {
    use crate::algorithms::Collective::*;
    use crate::selection::{Call, Rules};

    fn read(text: &str) -> Rules {
        Rules::parse("file", text).unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn chosen(rules: &Rules, call: Call) -> &'static str {
        rules.choose(&call).algorithm().map_or("below", |algorithm| algorithm.name)
    }

    fn notes(rules: &Rules) -> Vec<String> {
        rules.notes().iter().map(|note| note.to_string()).collect()
    }

    fn errors(text: &str) -> String {
        Rules::parse("file", text).unwrap_err().to_string()
    }

    #[test]
    fn sizes_hold_up_to_the_next_ones() {
        let rules = read(
            "1 # collectives\n2 # allreduce\n2 # sizes\n8 2\n 0 3 0 0\n 4096 4 0 0\n16 3\n 0 3 0 0\n 100 0 0 0\n \
             200 6 0 0\n",
        );
        for ((size, bytes), expected) in [
            // The first communicator size also holds below itself.
            ((2, 4095), "recursive_doubling"),
            ((8, 4096), "ring"),
            ((15, usize::MAX), "ring"),
            ((16, 99), "recursive_doubling"),
            ((16, 100), "below"),
            ((1000, 200), "rabenseifner"),
        ] {
            let call = Call::new(Allreduce, size, bytes);
            assert_eq!(chosen(&rules, call), expected, "p = {size}, {bytes} bytes");
        }
        assert_eq!(rules.of(Allreduce)[1].origin.to_string(), "file:6:2");
        // What the tuned component does not serve is none of its business.
        let between = Call { remote: 8, ..Call::new(Allreduce, 16, 100) };
        assert!(rules.explain(&between).iter().all(|one| one.verdict != crate::selection::Verdict::Matches));
        assert_eq!(notes(&rules), [""; 0]);
    }

    #[test]
    fn messages_are_measured_as_open_mpi_does() {
        let file = |collective: usize, size: usize| {
            let (first, second) = if collective == 7 { (6, 8) } else { (1, 2) };
            read(&format!("1 {collective} 1 {size} 2\n0 {first} 0 0\n1000 {second} 0 0\n"))
        };
        for (id, collective, names, first) in [
            (3, Alltoall, ["spread_out", "pairwise"], 143),
            (0, Allgather, ["gather_bcast", "bruck"], 143),
            (9, Gather, ["linear", "binomial"], 143),
            (15, Scatter, ["linear", "binomial"], 143),
            (13, ReduceScatterBlock, ["reduce_scatter_v", "recursive_doubling"], 143),
            (1, Allgatherv, ["gather_bcast", "bruck"], 7000),
            (7, Bcast, ["binomial", "scatter_recursive_doubling_allgather"], 1000),
            (12, ReduceScatter, ["reduce_scatter_v", "recursive_halving"], 1000),
        ] {
            let rules = file(id, 1);
            for (bytes, expected) in [(first - 1, names[0]), (first, names[1])] {
                assert_eq!(chosen(&rules, Call::new(collective, 7, bytes)), expected, "{bytes} bytes");
            }
        }
        // Here the bytes of a communicator are known.
        let rules = read("1 3 3 4 1 0 1 0 0 7 2 0 1 0 0 1000 2 0 0 8 1 0 1 0 0");
        assert_eq!(chosen(&rules, Call::new(Alltoall, 7, 142)), "spread_out");
        assert_eq!(chosen(&rules, Call::new(Alltoall, 7, 143)), "pairwise");
    }

    #[test]
    fn options_become_parameters() {
        let rules = read("1 7 1 1 4\n0 6 0 1024\n10 3 0 0\n20 2 1 64\n30 7 9 0\n");
        let native = rules.to_native();
        for expected in [
            "bytes = \"..9\"\nalgorithm = \"binomial\"\nsegment = 1024\n",
            "algorithm = \"chain\"\n\n",
            "algorithm = \"chain\"\nsegment = 64\n",
            "bytes = \"30..\"\nalgorithm = \"knomial\"\nradix = 4\n",
        ] {
            assert!(native.contains(expected), "{expected} in\n{native}");
        }
        let rules = read("rule-file-version-2\n1\n3 1 8 2\n0 4 0 0 5 # requests\n100 4 0 0\n");
        let native = rules.to_native();
        assert!(native.contains("algorithm = \"linear_window\"\nwindow = 5\n"), "{native}");
        assert!(native.contains("algorithm = \"spread_out\"\n"), "{native}");
    }

    #[test]
    fn what_falls_back_in_open_mpi_does_here() {
        let rules = read("1 0 1 1 2 0 3 0 0 1000 5 0 0");
        assert_eq!(chosen(&rules, Call::new(Allgather, 8, 1)), "recursive_doubling");
        assert_eq!(chosen(&rules, Call::new(Allgather, 6, 1)), "bruck");
        assert_eq!(chosen(&rules, Call::new(Allgather, 6, 1000)), "neighbor_exchange");
        assert_eq!(chosen(&rules, Call::new(Allgather, 7, 1000)), "ring");
    }

    #[test]
    fn what_there_is_not_is_noted_and_left_to_open_mpi() {
        let rules = read(
            "6\n7 1 1 3\n0 4 0 0\n10 2 4 0\n20 7 0 64\n3 1 1 1\n0 5 0 0\n8 1 1 2\n0 1 0 0\n8 2 0 0\n5 1 1 1\n0 1 0 0\n\
             6 1 1 2\n0 6 0 0\n8 1 0 0\n14 1 1 1 0 2 0 0",
        );
        assert_eq!(
            notes(&rules),
            [
                "file:3:3: there is no `split_binary_tree` here: bcast leaves these calls to Open MPI",
                "file:4:4: `chain` has one chain here, not 4: bcast leaves these calls to Open MPI",
                "file:5:8: `knomial` has no segments here: 64 is left out",
                "file:7:3: `two_proc` serves two ranks only: the others go to Open MPI",
                "file:10:1: Open MPI compares an element's bytes times the ranks, which no rule here can ask for: these calls of \
                 exscan are left to it",
                "file:11:1: Open MPI's tuned component leaves alltoallw to others: these rules mean nothing",
                "file:15:1: Open MPI counts every barrier as 0 bytes and never comes here",
            ]
        );
        for (call, expected) in [
            (Call::new(Bcast, 4, 0), "below"),
            (Call::new(Bcast, 4, 10), "below"),
            (Call::new(Bcast, 4, 20), "knomial"),
            (Call::new(Alltoall, 2, 20), "pairwise"),
            (Call::new(Alltoall, 3, 20), "below"),
            (Call::new(Exscan, 3, 20), "below"),
            (Call::new(Scan, 3, 20), "recursive_doubling"),
            (Call::new(Barrier, 3, 0), "tree"),
        ] {
            assert_eq!(chosen(&rules, call), expected, "{call:?}");
        }
    }

    /// Open MPI's one word about such a file needs a debugging build.
    #[test]
    fn a_first_message_size_that_is_not_0_is_reported_with_its_line() {
        assert_eq!(
            errors("1 # collectives\n2 # allreduce\n1\n8 # ranks\n1\n512 3 0 0\n"),
            "file:6:1: the first message size is 512, not 0: because of it Open MPI ignores the whole file without a word"
        );
    }

    #[test]
    fn faults_have_places() {
        for (text, expected) in [
            ("1", "1:2: expected a collective, found the end"),
            (
                "1 2 1 8 1\n0 010 0 0\n",
                "2:3: Open MPI takes `010` for octal, because of the leading zero; leave it out",
            ),
            (
                "1 2 1 8 1\n0 0x3 0 0; \n",
                "2:9: `0;` is not a number; Open MPI skips it without a word and takes the next one",
            ),
            ("1 2 1 8 1\n0 -3 0 0\n", "2:3: `-3` is negative"),
            ("1 2 1 8 1\n0 99999999999999999999 0 0\n", "2:3: `99999999999999999999` is too large"),
            ("1 2 1 8 1\n0 8 0 0\n", "2:3: allreduce has no algorithm 8: they are 0 to 7"),
            ("1 22 1 8 1\n0 3 0 0\n", "1:3: there is no collective 22: they are 0 to 21"),
            ("2 2 1 8 1\n0 3 0 0\n2 1 8 1\n0 3 0 0\n", "3:1: allreduce stands twice"),
            ("1 2 1 8 2\n0 3 0 0\n0 4 0 0\n", "3:1: message sizes must ascend: 0 comes after 0"),
            ("1 2 2 8 1\n0 3 0 0\n4 1\n0 4 0 0\n", "3:1: communicator sizes must ascend: 4 comes after 8"),
            (
                "1 2 1 8 1\n0 3 0 0\n3 1\n",
                "3:1: Open MPI does not read what follows: by its first number the file ends here, after 1 collectives",
            ),
            (
                "1 3 1 8 1\n0 4 0 0 64\n",
                "2:9: Open MPI reads a fifth number only if the file begins with `rule-file-version-2`",
            ),
            ("rule-file-version-x\n1 2 1 8 1\n0 3 0 0\n", "1:1: `x` is not a version"),
            (
                "# mine\nrule-file-version-2\n1 2 1 8 1\n0 3 0 0\n",
                "2:1: Open MPI finds the version only at the very beginning of the file",
            ),
            ("0\n", "1:1: there are no rules"),
            ("4000000000 2 4000000000 3 4000000000\n", "2:1: expected a message size, found the end"),
        ] {
            let errors = errors(text);
            assert_eq!(errors.lines().next(), Some(&format!("file:{expected}")[..]), "{text}");
        }
    }
}
