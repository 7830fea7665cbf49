//! The profiles of PGMPITuneLib: for a collective and a number of ranks, ranges of message sizes with an
//! algorithm for each. The algorithms are mock-ups, that is, collectives made of other collectives.
//!
//! ```text
//! # comments have lines of their own, or follow what a line says
//! MPI_Allgather
//! 4                          # ranks
//! 2                          # number of algorithms
//! 1 allgather_as_alltoall
//! 2 allgather_as_gather_bcast
//! 1                          # number of ranges
//! 1024 2048 2                # first and last bytes, algorithm
//! ```

use super::super::nearest::unknown;
use super::super::quantity::number;
use super::super::ranges::Ranges;
use super::super::reading::MOST_RULES;
use super::{Conditions, Entry, Fault, Lists, Provenance, Written, capitalised, words};
use crate::algorithms::Collective;
use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};

/// PGMPITuneLib's algorithms by name, with a line of equivalent rules; empty if there are none. A mock-up
/// cannot serve calls that do not block or need too much memory. PGMPITuneLib leaves such calls to MPI.
pub const ALGORITHMS: [(&str, &str); 45] = [
    ("allgather_as_allgather_circulant", "-> circulant radix=2"),
    ("allgather_as_allgather_hier", ""),
    ("allgather_as_allgather_lane", ""),
    ("allgather_as_allgather_lane_zero", ""),
    ("allgather_as_allgatherv", "-> allgather_as_allgatherv; groups=1 -> below"),
    ("allgather_as_allreduce", "-> allgather_as_allreduce; groups=1 -> below"),
    ("allgather_as_alltoall", "-> allgather_as_alltoall; groups=1 -> below"),
    ("allgather_as_gather_bcast", "-> allgather_as_gather_bcast; groups=1 -> below"),
    ("allreduce_as_allreduce_circulant", "-> circulant radix=2"),
    ("allreduce_as_allreduce_hier", ""),
    ("allreduce_as_allreduce_lane", ""),
    ("allreduce_as_allreduce_redscatter_allgatherv_circulant", "-> circulant radix=2"),
    ("allreduce_as_reduce_bcast", "-> allreduce_as_reduce_bcast; groups=1 -> below"),
    ("allreduce_as_reducescatter_allgatherv", "-> allreduce_as_reducescatter_allgatherv; groups=1 -> below"),
    (
        "allreduce_as_reducescatterblock_allgather",
        "-> allreduce_as_reducescatterblock_allgather; groups=1 -> below",
    ),
    ("alltoall_as_alltoall_lane", ""),
    ("alltoall_as_alltoallv", "-> alltoall_as_alltoallv; groups=1 -> below"),
    ("bcast_as_allgatherv", "-> bcast_as_allgatherv; groups=1 -> below"),
    ("bcast_as_bcast_hier", "-> node_aware"),
    ("bcast_as_bcast_lane", ""),
    ("bcast_as_scatter_allgather", "-> bcast_as_scatter_allgather; groups=1 -> below"),
    ("bcast_as_schedule_bcast", ""),
    ("default", "groups=1 -> below"),
    ("gather_as_allgather", "-> gather_as_allgather; groups=1 -> below"),
    ("gather_as_gather_hier", ""),
    ("gather_as_gather_lane", ""),
    ("gather_as_gatherv", "-> gather_as_gatherv; groups=1 -> below"),
    ("gather_as_reduce", "-> gather_as_reduce; groups=1 -> below"),
    ("reduce_as_allreduce", "-> reduce_as_allreduce; groups=1 -> below"),
    ("reduce_as_reduce_circulant", "-> circulant_pipelined"),
    ("reduce_as_reduce_hier", ""),
    ("reduce_as_reduce_lane", ""),
    ("reduce_as_reduce_scatter_circulant", ""),
    ("reduce_as_reducescatter", ""),
    ("reduce_as_reducescatter_gatherv", "-> reduce_as_reducescatter_gatherv; groups=1 -> below"),
    ("reduce_as_reducescatterblock_gather", "-> reduce_as_reducescatterblock_gather; groups=1 -> below"),
    ("reducescatterblock_as_allreduce", "-> reducescatterblock_as_allreduce; groups=1 -> below"),
    ("reducescatterblock_as_reduce_scatter", "-> reducescatterblock_as_reduce_scatter; groups=1 -> below"),
    ("reducescatterblock_as_reducescatter", "-> reducescatterblock_as_reducescatter; groups=1 -> below"),
    ("reducescatterblock_as_reducescatterblock_circulant", "-> circulant radix=2"),
    ("reducescatterblock_as_reducescatterblock_hier", ""),
    ("reducescatterblock_as_reducescatterblock_lane", ""),
    ("scan_as_exscan_reducelocal", "-> scan_as_exscan_reducelocal; groups=1 -> below"),
    ("scatter_as_bcast", "-> scatter_as_bcast; groups=1 -> below"),
    ("scatter_as_scatterv", "-> scatter_as_scatterv; groups=1 -> below"),
];

/// The collectives that have profiles.
const COLLECTIVES: [Collective; 9] = [
    Collective::Allgather,
    Collective::Allreduce,
    Collective::Alltoall,
    Collective::Bcast,
    Collective::Gather,
    Collective::Reduce,
    Collective::ReduceScatterBlock,
    Collective::Scan,
    Collective::Scatter,
];

/// Reads a profile. Parts that cannot be read are left out and reported.
pub fn read(text: &str, faults: &mut Vec<Fault>) -> Written {
    let mut lists = Lists::default();
    let lines = words::lines(text).filter(|words| !words.is_empty());
    let mut reader = Reader { text, lines: lines.collect(), next: 0, faults, notes: Vec::new() };
    reader.profile(&mut lists);
    Written { lists: lists.0, notes: reader.notes, ..Written::default() }
}

/// The name of an algorithm of PGMPITuneLib, and the equivalent rules.
type Algorithm = (&'static str, &'static str);

/// A range of message sizes, and the number of its algorithm.
struct MessageRange {
    bytes: RangeInclusive<usize>,
    place: Range<usize>,
    number: usize,
    named: Range<usize>,
}

struct Reader<'reader> {
    text: &'reader str,
    lines: Vec<Vec<Range<usize>>>,
    next: usize,
    faults: &'reader mut Vec<Fault>,
    notes: Vec<Fault>,
}

impl Reader<'_> {
    fn fault(&mut self, place: Range<usize>, message: impl Into<String>) {
        self.faults.push(Fault { place, message: message.into() });
    }

    /// Returns the words of the next line. Reports a fault and returns `None` if there is no line or it has
    /// another number of words.
    fn line<const WORDS: usize>(&mut self, what: &str) -> Option<[Range<usize>; WORDS]> {
        let Some(line) = self.lines.get(self.next).cloned() else {
            let end = self.text.len();
            self.fault(end..end, format!("expected {what}, found the end"));
            return None;
        };
        self.next += 1;
        let whole = line.first()?.start..line.last()?.end;
        let words = line.try_into();
        words.map_err(|_| self.fault(whole, format!("expected {what}"))).ok()
    }

    fn number(&mut self, place: &Range<usize>) -> Option<usize> {
        number(&self.text[place.clone()]).map_err(|message| self.fault(place.clone(), message)).ok()
    }

    /// Reads the profile. Reports a fault and returns `None` if the profile cannot be read to its end.
    fn profile(&mut self, lists: &mut Lists) -> Option<()> {
        let [name] = self.line("the name of a collective")?;
        let collective = self.collective(&name);
        let [ranks] = self.line("the number of ranks")?;
        let size = self.number(&ranks)?;
        let algorithms = self.algorithms(collective)?;
        let [count] = self.line("the number of ranges")?;
        let mut entries = Vec::new();
        let mut named = Vec::new();
        for _ in 0..self.number(&count)? {
            let range = self.range()?;
            let of_range = self.entries(&range, (size, &ranks), &algorithms);
            named.push(range.bytes);
            // A list with more rules is refused later, so a very long rest is not stored.
            if entries.len() <= MOST_RULES {
                entries.extend(of_range);
            }
        }
        // PGMPITuneLib leaves sizes outside all ranges to MPI.
        let mut conditions = Conditions::default();
        conditions.add("ranks", size, &ranks);
        let others = Ranges::new(named).complement();
        if !others.is_empty() {
            conditions.add("bytes", others, &ranks);
            entries.push(conditions.below(&ranks, Provenance::Implied));
        }
        if let Some(collective) = collective {
            lists.of(collective).extend(entries);
        }
        if let Some(place) = self.lines.get(self.next).and_then(|line| line.first()).cloned() {
            self.fault(place.start..self.text.trim_end().len(), "nothing should follow the last range");
        }
        Some(())
    }

    /// Returns the algorithms by their numbers in the profile. An inner `None` stands for an unknown algorithm.
    fn algorithms(&mut self, collective: Option<Collective>) -> Option<HashMap<usize, Option<Algorithm>>> {
        let [count] = self.line("the number of algorithms")?;
        let mut algorithms = HashMap::new();
        for _ in 0..self.number(&count)? {
            let [number, name] = self.line("a number and the name of an algorithm")?;
            let algorithm = self.algorithm(&name, collective);
            algorithms.entry(self.number(&number)?).or_insert(algorithm);
        }
        Some(algorithms)
    }

    fn range(&mut self) -> Option<MessageRange> {
        let [first, last, named] =
            self.line("the first and the last bytes and the number of an algorithm")?;
        let bytes = self.number(&first)?..=self.number(&last)?;
        if bytes.is_empty() {
            self.fault(first.start..last.end, "the first bytes are more than the last ones");
        }
        Some(MessageRange { bytes, place: first.start..last.end, number: self.number(&named)?, named })
    }

    /// Returns the rules of a range; none if the range is faulty.
    fn entries(
        &mut self,
        range: &MessageRange,
        (size, ranks): (usize, &Range<usize>),
        algorithms: &HashMap<usize, Option<Algorithm>>,
    ) -> Vec<Entry> {
        let MessageRange { bytes, place, number, named } = range;
        let Some(algorithm) = algorithms.get(number) else {
            self.fault(named.clone(), format!("no algorithm has the number {number} above"));
            return Vec::new();
        };
        let Some((name, ours)) = algorithm.filter(|_| !bytes.is_empty()) else { return Vec::new() };
        let whole = place.start..named.end;
        let mut conditions = Conditions::default();
        conditions.add("ranks", size, ranks);
        conditions.add_range("bytes", bytes.clone(), place);
        if !ours.is_empty() {
            return conditions.lead_to(ours, &whole, named);
        }
        let message =
            format!("there is no `{name}` here: PGMPITuneLib's choice is left to the component below");
        self.notes.push(Fault { place: named.clone(), message });
        vec![conditions.below(&whole, Provenance::Translated)]
    }

    fn collective(&mut self, place: &Range<usize>) -> Option<Collective> {
        let name = &self.text[place.clone()];
        let found = name.strip_prefix("MPI_").and_then(|name| Collective::named(&name.to_ascii_lowercase()));
        let found = found.filter(|collective| COLLECTIVES.contains(collective));
        if found.is_none() {
            let mpi_names: Vec<_> = COLLECTIVES.iter().map(|known| mpi_name(*known)).collect();
            let message = unknown("collective", name, mpi_names.iter().map(String::as_str));
            self.fault(place.clone(), message);
        }
        found
    }

    fn algorithm(&mut self, place: &Range<usize>, collective: Option<Collective>) -> Option<Algorithm> {
        let name = &self.text[place.clone()];
        let collective = collective?;
        let prefix = format!("{}_as_", collective.name().replace('_', ""));
        let of_it =
            || ALGORITHMS.into_iter().filter(|(known, _)| known.starts_with(&prefix) || *known == "default");
        let found = of_it().find(|(known, _)| *known == name);
        if found.is_none() {
            let what = format!("algorithm of PGMPITuneLib for {}", collective.name());
            let message = unknown(&what, name, of_it().map(|(known, _)| known));
            self.fault(place.clone(), message);
        }
        found
    }
}

fn mpi_name(collective: Collective) -> String {
    format!("MPI_{}", capitalised(collective))
}

#[cfg(test)]
mod tests {
    use super::{ALGORITHMS, COLLECTIVES};
    use crate::algorithms::Collective::*;
    use crate::selection::{Call, Choice, Rules};

    const PROFILE: &str = "#\n# a profile\n#\nMPI_Allgather # collective\n4 # ranks\n2\n1 allgather_as_allgather_lane\n\
                           3 allgather_as_gather_bcast\n2 # ranges\n16 16 1\n1024 2048 3\n";

    #[test]
    fn the_table_names_rules_that_can_be_read() {
        for (name, ours) in ALGORITHMS.into_iter().filter(|(_, ours)| !ours.is_empty()) {
            let is_of = |collective: &&crate::algorithms::Collective| {
                name.starts_with(&format!("{}_as_", collective.name().replace('_', "")))
            };
            let collective = COLLECTIVES.iter().find(is_of).unwrap_or(&Allreduce);
            Rules::parse_line(name, *collective, ours).unwrap_or_else(|errors| panic!("{errors}"));
        }
    }

    #[test]
    fn ranges_hold_for_their_ranks_and_bytes() {
        let rules = Rules::parse("file", PROFILE).unwrap_or_else(|errors| panic!("{errors}"));
        let chosen = |size, bytes| {
            rules
                .explain(&Call::new(Allgather, size, bytes))
                .iter()
                .map(|one| one.verdict.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(chosen(4, 16)[0], "matches");
        assert_eq!(chosen(4, 1024)[1], "matches");
        assert_eq!(chosen(4, 2049)[1], "bytes=1024..2048 is not met: 2049");
        assert_eq!(chosen(5, 1024)[1], "ranks=4 is not met: 5");
        // Sizes outside all ranges are left to the component below rustcoll, as PGMPITuneLib leaves them to MPI.
        assert_eq!((&chosen(4, 2049)[3][..], &chosen(5, 2049)[3][..]), ("matches", "ranks=4 is not met: 5"));
        assert_eq!(rules.of(Allgather)[3].choice, Choice::Below);
        assert_eq!(rules.of(Allgather)[1].choice.algorithm().unwrap().name, "allgather_as_gather_bcast");
        let notes: Vec<_> = rules.notes().iter().map(|note| note.to_string()).collect();
        assert_eq!(
            notes,
            [
                "file:10:7: there is no `allgather_as_allgather_lane` here: PGMPITuneLib's choice is left to the component below"
            ]
        );
    }

    #[test]
    fn faults_have_places() {
        for (from, to, expected) in [
            (
                "MPI_Allgather",
                "MPI_Algather",
                "4:1: unknown collective `MPI_Algather`; the nearest known one is `MPI_Allgather`",
            ),
            (
                "MPI_Allgather",
                "MPI_Barrier",
                "4:1: unknown collective `MPI_Barrier`; the nearest known one is `MPI_Gather`",
            ),
            ("4 #", "four #", "5:1: `four` is not a number"),
            ("4 # ranks", "4 5", "5:1: expected the number of ranks"),
            (
                "allgather_as_gather_bcast",
                "allgather_as_gatherbcast",
                "8:3: unknown algorithm of PGMPITuneLib for allgather `allgather_as_gatherbcast`; the nearest known one is \
                 `allgather_as_gather_bcast`",
            ),
            ("16 16 1", "16 16 2", "10:7: no algorithm has the number 2 above"),
            ("4 # ranks", "  # four\n4 ranks", "6:1: expected the number of ranks"),
            ("16 16 1", "17 16 1", "10:1: the first bytes are more than the last ones"),
            (
                "2 # ranges",
                "3",
                "12:1: expected the first and the last bytes and the number of an algorithm, found the end",
            ),
            ("2 # ranges", "1", "11:1: nothing should follow the last range"),
        ] {
            let errors = Rules::parse("file", &PROFILE.replacen(from, to, 1)).unwrap_err().to_string();
            assert_eq!(errors.lines().next(), Some(&format!("file:{expected}")[..]), "{to}");
        }
    }
}
