//! The algorithms of MPICH by collective, with the equivalent rules of rustcoll.

use super::super::super::nearest::unknown;
use super::super::capitalised;
use crate::algorithms::Collective;

/// MPICH's algorithms, named without the collective, with a line of equivalent rules; empty if there are
/// none. `radix` and `segment` without a value get the algorithm's `k` and `chunk_size`.
pub const ALGORITHMS: [(Collective, &[(&str, &str)]); 22] = [
    (
        Collective::Allgather,
        &[
            ("intra_brucks", "-> bruck radix=2"),
            ("intra_k_brucks", "-> bruck radix"),
            ("intra_recursive_doubling", "-> recursive_doubling"),
            ("intra_ring", "-> ring"),
            ("intra_circ_graph", "-> circulant radix=2"),
            ("intra_recexch_doubling", ""),
            ("intra_recexch_halving", ""),
            ("inter_local_gather_remote_bcast", "-> inter_leaders"),
            ("allcomm_nb", ""),
        ],
    ),
    (
        Collective::Allgatherv,
        &[
            ("intra_brucks", "-> bruck radix=2"),
            ("intra_recursive_doubling", "-> recursive_doubling"),
            ("intra_ring", "-> ring"),
            ("inter_remote_gather_local_bcast", "-> inter_leaders"),
            ("allcomm_nb", ""),
        ],
    ),
    (
        Collective::Allreduce,
        &[
            ("intra_recursive_doubling", "-> recursive_doubling"),
            ("intra_recursive_multiplying", "-> recursive_multiplying radix"),
            ("intra_reduce_scatter_allgather", "-> rabenseifner"),
            ("intra_ring", "-> ring"),
            ("intra_smp", ""),
            ("intra_tree", ""),
            ("intra_recexch", ""),
            ("intra_k_reduce_scatter_allgather", ""),
            ("intra_ccl", ""),
            ("inter_reduce_exchange_bcast", "-> inter_leaders"),
            ("allcomm_nb", ""),
        ],
    ),
    (
        Collective::Alltoall,
        &[
            ("intra_brucks", "-> bruck radix=2"),
            ("intra_k_brucks", "-> bruck radix"),
            ("intra_pairwise", "-> pairwise"),
            ("intra_pairwise_sendrecv_replace", "-> pairwise"),
            ("intra_scattered", "-> spread_out"),
            ("inter_pairwise_exchange", ""),
            ("allcomm_nb", ""),
        ],
    ),
    (Collective::Alltoallv, UNEVEN_ALLTOALL),
    (Collective::Alltoallw, UNEVEN_ALLTOALL),
    (
        Collective::Barrier,
        &[
            ("intra_k_dissemination", "-> dissemination radix"),
            ("intra_recexch", ""),
            ("intra_smp", ""),
            ("inter_bcast", "-> inter_leaders"),
            ("allcomm_nb", ""),
        ],
    ),
    (
        Collective::Bcast,
        &[
            ("intra_binomial", "-> binomial"),
            ("intra_scatter_recursive_doubling_allgather", "-> scatter_recursive_doubling_allgather"),
            ("intra_scatter_ring_allgather", "-> scatter_ring_allgather"),
            ("intra_circ_graph", "-> circulant_pipelined segment"),
            ("intra_smp", "-> node_aware"),
            ("intra_tree", "-> knomial radix"),
            ("intra_pipelined_tree", ""),
            ("inter_remote_send_local_bcast", "-> inter_leaders"),
            ("allcomm_nb", ""),
        ],
    ),
    (Collective::Exscan, &[("intra_recursive_doubling", "-> recursive_doubling"), ("allcomm_nb", "")]),
    (
        Collective::Gather,
        &[
            ("intra_binomial", "-> binomial"),
            ("inter_linear", "-> inter_linear"),
            ("inter_local_gather_remote_send", "-> inter_leaders"),
            ("allcomm_nb", ""),
        ],
    ),
    (Collective::Gatherv, &[("allcomm_linear", "-> linear; -> inter_linear"), ("allcomm_nb", "")]),
    (Collective::NeighborAllgather, NEIGHBOURS),
    (Collective::NeighborAllgatherv, NEIGHBOURS),
    (Collective::NeighborAlltoall, NEIGHBOURS),
    (Collective::NeighborAlltoallv, NEIGHBOURS),
    (Collective::NeighborAlltoallw, NEIGHBOURS),
    (
        Collective::Reduce,
        &[
            ("intra_binomial", "-> binomial; -> binomial_in_order"),
            ("intra_reduce_scatter_gather", "-> rabenseifner"),
            ("intra_circ_graph", "-> circulant_pipelined segment"),
            ("intra_smp", ""),
            ("inter_local_reduce_remote_send", "-> inter_leaders"),
            ("allcomm_nb", ""),
        ],
    ),
    (Collective::ReduceScatter, REDUCE_SCATTER),
    (Collective::ReduceScatterBlock, REDUCE_SCATTER),
    (
        Collective::Scan,
        &[("intra_recursive_doubling", "-> recursive_doubling"), ("intra_smp", ""), ("allcomm_nb", "")],
    ),
    (
        Collective::Scatter,
        &[
            ("intra_binomial", "-> binomial"),
            ("inter_linear", "-> inter_linear"),
            ("inter_remote_send_local_scatter", "-> inter_leaders"),
            ("allcomm_nb", ""),
        ],
    ),
    (Collective::Scatterv, &[("allcomm_linear", "-> linear; -> inter_linear"), ("allcomm_nb", "")]),
];

const UNEVEN_ALLTOALL: &[(&str, &str)] = &[
    ("intra_scattered", "-> spread_out"),
    ("intra_pairwise_sendrecv_replace", "-> pairwise"),
    ("inter_pairwise_exchange", ""),
    ("allcomm_nb", ""),
];

const REDUCE_SCATTER: &[(&str, &str)] = &[
    ("intra_noncommutative", ""),
    ("intra_pairwise", "-> pairwise"),
    ("intra_recursive_doubling", "-> recursive_doubling"),
    ("intra_recursive_halving", "-> recursive_halving"),
    ("inter_remote_reduce_local_scatter", "-> inter_leaders"),
    ("allcomm_nb", ""),
];

const NEIGHBOURS: &[(&str, &str)] = &[("allcomm_nb", "-> linear")];

/// Returns the rules equivalent to a leaf of the tree; `None` if there are none. Fails if MPICH has no such algorithm.
pub fn rules(collective: Collective, leaf: &str) -> Result<Option<&'static str>, String> {
    let (kind, name) = leaf.split_once('=').unwrap_or_default();
    if kind == "composition" || name.starts_with("MPIDI_") {
        return Ok(None);
    }
    let prefix = prefix(collective);
    let known = ALGORITHMS.iter().find(|(known, _)| *known == collective).map_or(&[][..], |(_, known)| known);
    match known.iter().find(|(known, _)| name.strip_prefix(&prefix[..]) == Some(known)) {
        Some((_, "")) => Ok(None),
        Some((_, ours)) => Ok(Some(ours)),
        None => {
            let names: Vec<_> = known.iter().map(|(known, _)| format!("{prefix}{known}")).collect();
            let what = format!("{} algorithm of MPICH", collective.name());
            Err(unknown(&what, name, names.iter().map(String::as_str)))
        }
    }
}

/// Returns the prefix of the names of a collective's algorithms.
fn prefix(collective: Collective) -> String {
    format!("MPIR_{}_", capitalised(collective))
}

#[cfg(test)]
mod tests {
    use super::super::super::with_options;
    use super::*;
    use crate::selection::Rules;

    #[test]
    fn the_table_names_rules_that_can_be_read() {
        for (collective, algorithms) in ALGORITHMS {
            for (name, ours) in algorithms {
                if !ours.is_empty() {
                    let ours = with_options(ours, 3, 4096, 0);
                    Rules::parse_line(name, collective, &ours).unwrap_or_else(|errors| panic!("{errors}"));
                }
            }
        }
    }
}
