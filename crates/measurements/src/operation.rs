//! Operations: a collective with its form and shape.

use crate::{Form, Shape};
use rustcoll::algorithms::Collective;
use rustcoll::selection::nearest;
use std::fmt;
use std::str::FromStr;

/// A collective with its form, its shape, and whether ranks compute before they wait for it: `allreduce`,
/// `iallreduce@overlap`, `alltoallv@sparse`, `neighbor_alltoall_init@stencil_5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    pub collective: Collective,
    pub form: Form,
    /// The lengths of the blocks, and the ranks that exchange them.
    pub shape: Shape,
    /// Whether each rank computes between the call and the wait, for as long as the call takes without computing.
    pub overlaps: bool,
}

const OVERLAP: &str = "overlap";

impl Operation {
    /// A blocking call in which every rank has the same share.
    pub fn blocking(collective: Collective) -> Operation {
        Operation { collective, form: Form::Blocking, shape: Shape::Even, overlaps: false }
    }

    /// Returns the name of MPI's function: `iallreduce` for `iallreduce@overlap`.
    pub fn function(&self) -> String {
        self.form.name(self.collective)
    }

    /// Whether the operation equals [`Operation::blocking`].
    pub fn is_plain(&self) -> bool {
        *self == Operation::blocking(self.collective)
    }

    /// Fails if MPI has no such call, or if a call that should overlap is not non-blocking.
    pub fn check(&self) -> Result<(), String> {
        let function = self.function();
        if self.overlaps && self.form != Form::Nonblocking {
            let nonblocking = Form::Nonblocking.name(self.collective);
            return Err(format!("{self}: only non-blocking calls overlap, as {nonblocking}@{OVERLAP}"));
        }
        if self.shape.suits(self.collective) {
            return Ok(());
        }
        let suitable = Shape::ALL.into_iter().filter(|shape| shape.suits(self.collective));
        let calls: Vec<String> =
            suitable.map(|shape| Operation { shape, overlaps: false, ..*self }.to_string()).collect();
        Err(match self.shape {
            Shape::Even => format!("{function} needs neighbours: it is {}", calls.join(" or ")),
            shape => format!("{function} has no shape `{}`: it is {}", shape.name(), calls.join(" or ")),
        })
    }

    /// Fails if the call needs a communicator that lives longer than a repetition.
    pub fn check_short_lived(&self) -> Result<(), String> {
        match self.form == Form::Persistent || self.overlaps {
            true => Err(format!(
                "{self}: calls on short-lived communicators have no persistent request and do not overlap"
            )),
            false => Ok(()),
        }
    }

    /// Fails if this number of ranks cannot make the call.
    pub fn check_ranks(&self, ranks: usize) -> Result<(), String> {
        match self.shape == Shape::Inter && !ranks.is_multiple_of(2) {
            true => Err(format!("{self} needs two groups of one size, and {ranks} ranks are odd")),
            false => Ok(()),
        }
    }
}

impl FromStr for Operation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split('@');
        let (collective, form) = Form::parse(parts.next().unwrap_or_default())?;
        let mut operation = Operation { form, ..Operation::blocking(collective) };
        for part in parts {
            match Shape::named(part) {
                Some(shape) if operation.shape == Shape::Even => operation.shape = shape,
                Some(_) => return Err(format!("{text}: a call has one shape")),
                None if part == OVERLAP => operation.overlaps = true,
                None => {
                    let known = Shape::ALL.iter().skip(1).map(|shape| shape.name()).chain([OVERLAP]);
                    return Err(format!("{text}: {}", nearest::unknown("shape", part, known)));
                }
            }
        }
        operation.check().map(|()| operation)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.function())?;
        if self.shape != Shape::Even {
            write!(formatter, "@{}", self.shape.name())?;
        }
        if self.overlaps { write!(formatter, "@{OVERLAP}") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_written_as_they_are_read() {
        for text in [
            "allreduce",
            "iallreduce@overlap",
            "alltoallv_init@sparse",
            "bcast@inter",
            "neighbor_alltoall@stencil_5",
            "ineighbor_alltoallw@random_8@overlap",
        ] {
            assert_eq!(text.parse::<Operation>().unwrap().to_string(), text);
        }
        assert_eq!("iallgatherv@linear".parse::<Operation>().unwrap().function(), "iallgatherv");
    }

    #[test]
    fn what_mpi_cannot_call_is_refused() {
        for (text, expected) in [
            ("alreduce", "unknown collective `alreduce`; the nearest known one is `allreduce`"),
            ("alltoallv@spars", "alltoallv@spars: unknown shape `spars`; the nearest known one is `sparse`"),
            ("alltoallv@sparse@linear", "alltoallv@sparse@linear: a call has one shape"),
            ("bcast@overlap", "bcast@overlap: only non-blocking calls overlap, as ibcast@overlap"),
            ("scan@inter", "scan has no shape `inter`: it is scan"),
            ("bcast@sparse", "bcast has no shape `sparse`: it is bcast or bcast@inter"),
            (
                "neighbor_alltoall",
                "neighbor_alltoall needs neighbours: it is neighbor_alltoall@stencil_5 or neighbor_alltoall@stencil_9 or \
                 neighbor_alltoall@random_8",
            ),
        ] {
            assert_eq!(text.parse::<Operation>().unwrap_err(), expected);
        }
    }

    #[test]
    fn persistent_requests_and_overlap_need_communicators_that_last() {
        let check = |text: &str| text.parse::<Operation>().unwrap().check_short_lived();
        assert_eq!(check("iscan"), Ok(()));
        for operation in ["scan_init", "iscan@overlap"] {
            let told = format!(
                "{operation}: calls on short-lived communicators have no persistent request and do not overlap"
            );
            assert_eq!(check(operation), Err(told));
        }
    }

    #[test]
    fn two_groups_are_of_one_size() {
        let check = |text: &str, ranks| text.parse::<Operation>().unwrap().check_ranks(ranks);
        assert_eq!(check("bcast@inter", 12), Ok(()));
        assert_eq!(check("bcast", 13), Ok(()));
        let told = "bcast@inter needs two groups of one size, and 13 ranks are odd";
        assert_eq!(check("bcast@inter", 13), Err(told.into()));
    }
}
