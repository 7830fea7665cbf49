//! The forms of a collective: blocking, non-blocking and persistent.

use rustcoll::algorithms::Collective;
use rustcoll::selection::nearest;
use serde::Deserialize;

/// How a collective is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// The call returns after the operation has completed.
    Blocking,
    /// The call returns an active request.
    Nonblocking,
    /// The call returns a request that the program can start repeatedly.
    Persistent,
}

impl Form {
    pub const ALL: [Form; 3] = [Form::Blocking, Form::Nonblocking, Form::Persistent];

    /// Returns the name of a collective in this form: `allreduce`, `iallreduce`, `allreduce_init`.
    pub fn name(self, collective: Collective) -> String {
        let name = collective.name();
        match self {
            Form::Blocking => name.to_owned(),
            Form::Nonblocking => format!("i{name}"),
            Form::Persistent => format!("{name}_init"),
        }
    }

    /// Returns the collective and the form with this name. The error names the nearest known name.
    pub fn parse(name: &str) -> Result<(Collective, Form), String> {
        let known = Self::named().find(|(known, _)| known == name).map(|(_, called)| called);
        known.ok_or_else(|| {
            let names: Vec<String> = Self::named().map(|(name, _)| name).collect();
            nearest::unknown("collective", name, names.iter().map(String::as_str))
        })
    }

    /// Returns all names with their meanings. Blocking forms come first, so that `nearest` prefers them among
    /// equally near names.
    fn named() -> impl Iterator<Item = (String, (Collective, Form))> {
        let of_form = |form: Form| {
            Collective::ALL.into_iter().map(move |collective| (form.name(collective), (collective, form)))
        };
        Self::ALL.into_iter().flat_map(of_form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_mpi_in_lower_case() {
        for (name, expected) in [
            ("allreduce", (Collective::Allreduce, Form::Blocking)),
            ("iallreduce", (Collective::Allreduce, Form::Nonblocking)),
            ("allreduce_init", (Collective::Allreduce, Form::Persistent)),
            ("ineighbor_alltoallw", (Collective::NeighborAlltoallw, Form::Nonblocking)),
            ("reduce_scatter_block_init", (Collective::ReduceScatterBlock, Form::Persistent)),
        ] {
            assert_eq!(Form::parse(name), Ok(expected));
            let (collective, form) = expected;
            assert_eq!(form.name(collective), name);
        }
    }

    #[test]
    fn each_name_means_one_thing() {
        for (name, called) in Form::named() {
            assert_eq!(Form::parse(&name), Ok(called), "{name}");
        }
    }

    #[test]
    fn the_nearest_name_of_all_forms_is_told() {
        for (name, nearest) in [("ibcst", "ibcast"), ("bcast_int", "bcast_init"), ("bcst", "bcast")] {
            let expected = format!("unknown collective `{name}`; the nearest known one is `{nearest}`");
            assert_eq!(Form::parse(name), Err(expected));
        }
    }
}
