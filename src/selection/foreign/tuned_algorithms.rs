//! The algorithms of Open MPI's tuned component by collective and number, with the equivalent rules of rustcoll.

use super::with_options;
use crate::algorithms::Collective;

/// An algorithm of the tuned component.
#[derive(Debug)]
pub struct TunedAlgorithm {
    /// The number in rule files, which is also the index in the table.
    pub number: usize,
    /// The names; the last one is Open MPI 6's.
    pub names: &'static [&'static str],
    /// A line of equivalent rules; empty if there are none. `segment`, `radix` and `window` without a value
    /// get the values of the foreign rule.
    pub ours: &'static str,
    pub fan: Fan,
    /// Whether Open MPI 4.1 has the algorithm.
    pub is_in_4_1: bool,
}

impl TunedAlgorithm {
    const fn newer(self) -> TunedAlgorithm {
        TunedAlgorithm { is_in_4_1: false, ..self }
    }

    const fn with_fan(self, fan: Fan) -> TunedAlgorithm {
        TunedAlgorithm { fan, ..self }
    }

    /// Whether Open MPI 6 recognises the algorithm by this text: a name in upper or lower case, or the number.
    pub fn is_called(&self, text: &str) -> bool {
        text.parse() == Ok(self.number) || self.names.iter().any(|name| name.eq_ignore_ascii_case(text))
    }

    /// Returns the equivalent rules with the values of the options; 0 stands for none.
    pub fn with_options(&self, fan: usize, segment: usize, requests: usize) -> String {
        with_options(self.ours, fan, segment, requests)
    }
}

/// The meaning of the fan-in or fan-out for an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fan {
    Ignored,
    Radix,
    /// The number of chains; rustcoll always has one.
    Chains,
}

/// The collectives in the order of their numbers.
pub const COLLECTIVES: [Collective; 22] = [
    Collective::Allgather,
    Collective::Allgatherv,
    Collective::Allreduce,
    Collective::Alltoall,
    Collective::Alltoallv,
    Collective::Alltoallw,
    Collective::Barrier,
    Collective::Bcast,
    Collective::Exscan,
    Collective::Gather,
    Collective::Gatherv,
    Collective::Reduce,
    Collective::ReduceScatter,
    Collective::ReduceScatterBlock,
    Collective::Scan,
    Collective::Scatter,
    Collective::Scatterv,
    Collective::NeighborAllgather,
    Collective::NeighborAllgatherv,
    Collective::NeighborAlltoall,
    Collective::NeighborAlltoallv,
    Collective::NeighborAlltoallw,
];

/// Returns the number of a collective in rule files.
pub fn number(collective: Collective) -> usize {
    COLLECTIVES.iter().position(|known| *known == collective).expect("all collectives are in the table")
}

/// The measure that the tuned component uses for the calls of a collective. "Bytes" means rustcoll's measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TunedMeasure {
    /// The bytes.
    Bytes,
    /// The bytes times the number of ranks.
    BytesTimesRanks,
    /// The bytes divided by the number of ranks, rounded down.
    BytesPerRank,
    /// No measure: every call has size 0.
    Zero,
    /// The bytes of one element times the number of ranks. rustcoll does not know this size.
    Element,
}

impl TunedMeasure {
    pub fn of(collective: Collective) -> TunedMeasure {
        match collective {
            Collective::Allgather
            | Collective::Alltoall
            | Collective::Gather
            | Collective::ReduceScatterBlock
            | Collective::Scatter => TunedMeasure::BytesTimesRanks,
            Collective::Allgatherv => TunedMeasure::BytesPerRank,
            Collective::Exscan | Collective::Scan => TunedMeasure::Element,
            Collective::Allreduce | Collective::Bcast | Collective::Reduce | Collective::ReduceScatter => {
                TunedMeasure::Bytes
            }
            _ => TunedMeasure::Zero,
        }
    }

    /// Returns the size of a message with this number of bytes. `None` if the size overflows or is not known.
    pub fn size(self, bytes: usize, ranks: usize) -> Option<usize> {
        match self {
            TunedMeasure::Bytes => Some(bytes),
            TunedMeasure::BytesTimesRanks => bytes.checked_mul(ranks),
            TunedMeasure::BytesPerRank => Some(bytes / ranks),
            TunedMeasure::Zero => Some(0),
            TunedMeasure::Element => None,
        }
    }

    /// Returns the fewest bytes whose size is at least this one. `None` as for [`TunedMeasure::size`].
    pub fn first_bytes(self, size: usize, ranks: usize) -> Option<usize> {
        match self {
            TunedMeasure::Bytes => Some(size),
            TunedMeasure::BytesTimesRanks => Some(size.div_ceil(ranks)),
            TunedMeasure::BytesPerRank => size.checked_mul(ranks),
            TunedMeasure::Zero => Some(0),
            TunedMeasure::Element => None,
        }
    }

    /// Describes the measure for users.
    #[cfg(test)]
    pub fn description(self) -> &'static str {
        match self {
            TunedMeasure::Bytes => "that of our bytes",
            TunedMeasure::BytesTimesRanks => "our bytes times the ranks",
            TunedMeasure::BytesPerRank => "our bytes divided by the ranks, rounded down",
            TunedMeasure::Zero => "always 0",
            TunedMeasure::Element => "an element's bytes times the ranks",
        }
    }
}

const fn plain(number: usize, names: &'static [&'static str], ours: &'static str) -> TunedAlgorithm {
    TunedAlgorithm { number, names, ours, fan: Fan::Ignored, is_in_4_1: true }
}

const IGNORE: TunedAlgorithm = plain(0, &["ignore"], "groups=1 -> below");

/// Returns the algorithms of a collective by number. Empty if the tuned component does not serve the collective.
pub fn algorithms(collective: Collective) -> &'static [TunedAlgorithm] {
    match collective {
        Collective::Allgather => ALLGATHER,
        Collective::Allgatherv => ALLGATHERV,
        Collective::Allreduce => ALLREDUCE,
        Collective::Alltoall => ALLTOALL,
        Collective::Alltoallv => ALLTOALLV,
        Collective::Barrier => BARRIER,
        Collective::Bcast => BCAST,
        Collective::Exscan | Collective::Scan => SCAN,
        Collective::Gather => GATHER,
        Collective::Reduce => REDUCE,
        Collective::ReduceScatter => REDUCE_SCATTER,
        Collective::ReduceScatterBlock => REDUCE_SCATTER_BLOCK,
        Collective::Scatter => SCATTER,
        _ => &[],
    }
}

const ALLGATHER: &[TunedAlgorithm] = &[
    IGNORE,
    plain(1, &["linear"], "-> gather_bcast"),
    plain(2, &["bruck", "bruck-k-fanout"], "-> bruck radix").with_fan(Fan::Radix),
    plain(3, &["recursive_doubling"], "power_of_two -> recursive_doubling; -> bruck radix=2"),
    plain(4, &["ring"], "-> ring"),
    plain(5, &["neighbor"], "-> neighbor_exchange; -> ring"),
    plain(6, &["two_proc"], "ranks=2 -> recursive_doubling"),
    plain(7, &["sparbit"], "-> sparbit").newer(),
    plain(8, &["direct-messaging"], "-> linear").newer(),
];

const ALLGATHERV: &[TunedAlgorithm] = &[
    IGNORE,
    plain(1, &["default"], "-> gather_bcast"),
    plain(2, &["bruck"], "-> bruck radix=2"),
    plain(3, &["ring"], "-> ring"),
    plain(4, &["neighbor"], "-> neighbor_exchange; -> ring"),
    plain(5, &["two_proc"], "ranks=2 -> recursive_doubling"),
    plain(6, &["sparbit"], "-> sparbit").newer(),
];

const ALLREDUCE: &[TunedAlgorithm] = &[
    IGNORE,
    plain(1, &["basic_linear"], "-> linear"),
    plain(2, &["nonoverlapping"], "-> reduce_bcast"),
    plain(3, &["recursive_doubling"], "-> recursive_doubling"),
    plain(4, &["ring"], "-> ring"),
    plain(5, &["segmented_ring"], "-> ring_segmented segment"),
    plain(6, &["rabenseifner"], "-> rabenseifner"),
    plain(7, &["allgather_reduce"], "-> allgather_reduce").newer(),
];

const ALLTOALL: &[TunedAlgorithm] = &[
    IGNORE,
    plain(1, &["linear"], "-> spread_out"),
    plain(2, &["pairwise"], "-> pairwise"),
    plain(3, &["modified_bruck"], "-> bruck radix=2"),
    plain(4, &["linear_sync"], "-> linear_window window"),
    plain(5, &["two_proc"], "ranks=2 -> pairwise"),
];

const ALLTOALLV: &[TunedAlgorithm] =
    &[IGNORE, plain(1, &["basic_linear"], "-> spread_out"), plain(2, &["pairwise"], "-> pairwise")];

const BARRIER: &[TunedAlgorithm] = &[
    IGNORE,
    plain(1, &["linear"], ""),
    plain(2, &["double_ring"], "-> ring"),
    plain(3, &["recursive_doubling"], "-> recursive_doubling"),
    plain(4, &["bruck"], "-> dissemination radix=2"),
    plain(5, &["two_proc"], "ranks=2 -> recursive_doubling"),
    plain(6, &["tree"], "-> tree"),
];

const BCAST: &[TunedAlgorithm] = &[
    IGNORE,
    plain(1, &["basic_linear"], "-> linear"),
    plain(2, &["chain"], "-> chain segment").with_fan(Fan::Chains),
    plain(3, &["pipeline"], "-> chain segment"),
    plain(4, &["split_binary_tree"], ""),
    plain(5, &["binary_tree"], "-> binary segment"),
    plain(6, &["binomial"], "-> binomial segment"),
    plain(7, &["knomial"], "-> knomial radix=4"),
    plain(8, &["scatter_allgather"], "-> scatter_recursive_doubling_allgather"),
    plain(9, &["scatter_allgather_ring"], "-> scatter_ring_allgather"),
];

const SCAN: &[TunedAlgorithm] =
    &[IGNORE, plain(1, &["linear"], "-> linear"), plain(2, &["recursive_doubling"], "-> recursive_doubling")];

const GATHER: &[TunedAlgorithm] = &[
    IGNORE,
    plain(1, &["basic_linear"], "-> linear"),
    plain(2, &["binomial"], "-> binomial"),
    plain(3, &["linear_sync"], ""),
];

const REDUCE: &[TunedAlgorithm] = &[
    IGNORE,
    plain(1, &["linear"], "-> linear"),
    plain(2, &["chain"], "-> chain segment").with_fan(Fan::Chains),
    plain(3, &["pipeline"], "-> chain segment"),
    plain(4, &["binary"], ""),
    plain(5, &["binomial"], "-> binomial segment; -> binomial_in_order segment"),
    plain(6, &["in-order_binary"], "-> binary_in_order segment"),
    plain(7, &["rabenseifner"], "-> rabenseifner"),
    plain(8, &["knomial"], "-> knomial radix").with_fan(Fan::Radix).newer(),
];

const REDUCE_SCATTER: &[TunedAlgorithm] = &[
    IGNORE,
    plain(1, &["non-overlapping"], "-> non_overlapping"),
    plain(2, &["recursive_halving"], "-> recursive_halving"),
    plain(3, &["ring"], "-> ring"),
    plain(4, &["butterfly"], "-> butterfly"),
];

const REDUCE_SCATTER_BLOCK: &[TunedAlgorithm] = &[
    IGNORE,
    plain(1, &["basic_linear"], "-> non_overlapping"),
    plain(2, &["recursive_doubling"], "-> recursive_doubling"),
    plain(3, &["recursive_halving"], "-> recursive_halving"),
    plain(4, &["butterfly"], "-> butterfly"),
];

const SCATTER: &[TunedAlgorithm] = &[
    IGNORE,
    plain(1, &["basic_linear"], "-> linear"),
    plain(2, &["binomial"], "-> binomial"),
    plain(3, &["linear_nb"], "-> linear"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::Rules;

    #[test]
    fn all_is_read_by_us_and_stands_at_its_number() {
        let mut seen = 0;
        for collective in Collective::ALL {
            assert_eq!(COLLECTIVES[number(collective)], collective);
            for (position, algorithm) in algorithms(collective).iter().enumerate() {
                assert_eq!(algorithm.number, position, "{} of {}", algorithm.names[0], collective.name());
                if !algorithm.ours.is_empty() {
                    let read = Rules::parse_line("table", collective, &algorithm.with_options(3, 4096, 5));
                    read.unwrap_or_else(|errors| panic!("{errors}"));
                    seen += 1;
                }
            }
        }
        assert!(seen > 60, "{seen}");
    }

    #[test]
    fn nothing_that_is_registered_is_called_absent() {
        for collective in Collective::ALL {
            for absent in algorithms(collective).iter().filter(|algorithm| algorithm.ours.is_empty()) {
                for name in absent.names {
                    assert!(collective.algorithm(name).is_none(), "{} {name}", collective.name());
                }
            }
        }
    }
}
