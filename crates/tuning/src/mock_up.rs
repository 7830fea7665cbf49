//! Mock-ups: collectives made of others, by the names that PGMPITuneLib gives them (Hunold and Carpen-Amarie 2018).

use rustcoll::algorithms::Collective;

/// What is between a collective's name and those of what it is made of.
const AS: &str = "_as_";

/// A collective made of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MockUp<'name> {
    /// What it computes.
    pub collective: Collective,
    /// `allreduce_as_reduce_bcast`.
    pub name: &'name str,
}

impl<'name> MockUp<'name> {
    /// What an algorithm's name says; `None` if it is not made of other collectives.
    pub fn named(collective: Collective, name: &'name str) -> Option<Self> {
        let computed = name.split_once(AS)?.0;
        (computed == without_underscores(collective)).then_some(MockUp { collective, name })
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
        assert_eq!(MockUp::named(Collective::Allgather, "gather_bcast"), None);
        assert_eq!(MockUp::named(Collective::Reduce, "allreduce_as_reduce_bcast"), None);
    }
}
