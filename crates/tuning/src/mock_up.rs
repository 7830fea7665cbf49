//! Mock-ups: collectives made of others, by the names that PGMPITuneLib gives them (Hunold and Carpen-Amarie 2018).

use rustcoll::algorithms::Collective;

/// What is between a collective's name and those of what it is made of.
const AS: &str = "_as_";

/// A collective made of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MockUp {
    /// What it computes.
    pub collective: Collective,
    /// `allreduce_as_reduce_bcast`.
    pub name: &'static str,
}

impl MockUp {
    /// Those of a collective that are registered as its algorithms.
    pub fn all(collective: Collective) -> impl Iterator<Item = MockUp> {
        let registered = collective.algorithms().filter(|algorithm| algorithm.is_mock_up());
        registered.map(move |algorithm| MockUp { collective, name: algorithm.name })
    }

    /// What an algorithm's name says; `None` if it is not made of other collectives.
    pub fn named(collective: Collective, name: &str) -> Option<MockUp> {
        MockUp::all(collective).find(|mock_up| mock_up.name == name)
    }

    /// The guideline that is violated where it is faster: `allreduce <= reduce + bcast`.
    pub fn guideline(&self) -> String {
        let parts = self.name.split_once(AS).map_or("", |(_, parts)| parts);
        let parts: Vec<&str> = parts.split('_').map(in_full).collect();
        format!("{} <= {}", self.collective.name(), parts.join(" + "))
    }
}

fn without_underscores(collective: Collective) -> String {
    collective.name().replace('_', "")
}

/// A collective's name as it stands everywhere else.
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
