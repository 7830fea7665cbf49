//! Mock-ups: collectives made of other collectives, under PGMPITuneLib's names (Hunold and Carpen-Amarie 2018).

use rustcoll::algorithms::Collective;

/// The separator between a collective's name and the names of its parts.
const AS: &str = "_as_";

/// A collective made of other collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MockUp {
    pub collective: Collective,
    /// For example `allreduce_as_reduce_bcast`.
    pub name: &'static str,
}

impl MockUp {
    /// Returns the mock-ups that are registered as algorithms of a collective.
    pub fn all(collective: Collective) -> impl Iterator<Item = MockUp> {
        let registered = collective.algorithms().filter(|algorithm| algorithm.is_mock_up());
        registered.map(move |algorithm| MockUp { collective, name: algorithm.name })
    }

    /// Returns the mock-up with this name; `None` if the algorithm is not a mock-up.
    pub fn named(collective: Collective, name: &str) -> Option<MockUp> {
        MockUp::all(collective).find(|mock_up| mock_up.name == name)
    }

    /// Returns the guideline that is violated if the mock-up is faster: `allreduce <= reduce + bcast`.
    pub fn guideline(&self) -> String {
        let parts = self.name.split_once(AS).map_or("", |(_, parts)| parts);
        let parts: Vec<&str> = parts.split('_').map(in_full).collect();
        format!("{} <= {}", self.collective.name(), parts.join(" + "))
    }
}

fn without_underscores(collective: Collective) -> String {
    collective.name().replace('_', "")
}

/// Returns the usual name, with underscores, of a part of a mock-up's name.
fn in_full(part: &str) -> &str {
    let found = Collective::ALL.into_iter().find(|collective| without_underscores(*collective) == part);
    match (found, part) {
        (Some(collective), _) => collective.name(),
        (None, "reducelocal") => "reduce_local",
        (None, other) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_guidelines() {
        for (collective, name, expected) in [
            (Collective::Allreduce, "allreduce_as_reduce_bcast", "allreduce <= reduce + bcast"),
            (
                Collective::Allreduce,
                "allreduce_as_reducescatterblock_allgather",
                "allreduce <= reduce_scatter_block + allgather",
            ),
            (
                Collective::ReduceScatterBlock,
                "reducescatterblock_as_reduce_scatter",
                "reduce_scatter_block <= reduce + scatter",
            ),
            (
                Collective::ReduceScatterBlock,
                "reducescatterblock_as_reducescatter",
                "reduce_scatter_block <= reduce_scatter",
            ),
            (Collective::Scan, "scan_as_exscan_reducelocal", "scan <= exscan + reduce_local"),
        ] {
            assert_eq!(MockUp::named(collective, name).unwrap().guideline(), expected);
        }
        let all = Collective::ALL.into_iter().flat_map(MockUp::all);
        let known = Collective::ALL.map(Collective::name);
        let is_known = |part: &str| known.contains(&part) || part == "reduce_local";
        let guidelines: Vec<String> = all.map(|mock_up| mock_up.guideline()).collect();
        assert_eq!(guidelines.len(), 22);
        assert!(
            guidelines
                .iter()
                .all(|text| text.split([' ', '<', '=', '+']).filter(|part| !part.is_empty()).all(is_known)),
            "{guidelines:?}"
        );
        assert_eq!(MockUp::named(Collective::Allgather, "gather_bcast"), None);
        assert_eq!(MockUp::named(Collective::Reduce, "allreduce_as_reduce_bcast"), None);
    }
}
