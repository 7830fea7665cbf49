//! A contestant and how it calls a collective.

use std::num::NonZeroU32;
use std::rc::Rc;

use measurements::{Contestant, Series};
use mpi_programs::communicator::Communicator;
use mpi_programs::environment::Error;
use mpi_programs::invocation::Form;
use rustcoll::algorithms::Algorithm;

use crate::cell::Cell;
use crate::compute::Computing;
use crate::rule_files;
use crate::variables::{Values, Variables};

#[derive(Debug)]
pub struct Racer {
    pub contestant: Contestant,
    /// Its place among the racers.
    number: usize,
    form: Form,
    /// Values of its variables during its calls.
    pub values: Values,
    means: Means,
    /// Whether other racers use its communicator between its turns, so the component plans its calls anew.
    shares_communicator: bool,
    /// How often it calls on each communicator, if it duplicates its communicator in each repetition.
    short_lived: Option<NonZeroU32>,
}

/// What a contestant does in its turn.
#[derive(Clone, Debug)]
enum Means {
    /// Copies, without a call.
    Copy,
    /// Calls the collective on a communicator that prefers the contestant's component.
    Collective(Rc<Communicator>),
    /// Makes a mock-up's calls on such a communicator.
    MockUp(&'static Algorithm, Rc<Communicator>),
}

impl Racer {
    /// Returns the racers of a series, each on a communicator like `model`. Fails if one does not exist; all ranks
    /// find the same fault.
    pub fn all(
        series: &Series,
        contestants: &[Contestant],
        variables: &mut Variables,
        model: &Communicator,
        short_lived: Option<NonZeroU32>,
    ) -> Result<Vec<Racer>, String> {
        let mut racers: Vec<Racer> = Vec::new();
        let all_values = values(series, contestants, variables)?;
        for (number, (contestant, values)) in contestants.iter().zip(all_values).enumerate() {
            let refuse = |error: Error| format!("the contestant {contestant}: {error}");
            let companion = racers.iter_mut().find(|other| can_share(&other.contestant, contestant));
            let shares_communicator = companion.is_some();
            let means = match companion {
                Some(companion) => {
                    companion.shares_communicator = true;
                    companion.means.turned_to(contestant)
                }
                None => {
                    // Some components read their variables when a communicator is made.
                    variables.apply(&values).map_err(refuse)?;
                    let means = Means::of(contestant, model).map_err(refuse)?;
                    means.begin().map_err(refuse)?;
                    means
                }
            };
            let (contestant, form) = (contestant.clone(), series.operation.form);
            racers.push(Racer { contestant, number, form, values, means, shares_communicator, short_lived });
        }
        Ok(racers)
    }

    /// Whether the first call of a turn takes longer than later ones: other racers use the communicator, or
    /// the request is new.
    pub fn needs_warming_up(&self) -> bool {
        self.shares_communicator || self.form == Form::Persistent
    }

    /// Prepares for calls with the current variables: makes the persistent request if the form needs one.
    pub fn prepare(&self, cell: &mut Cell) -> Result<(), Error> {
        match &self.means {
            Means::Collective(communicator) if self.form == Form::Persistent => {
                cell.make_request(self.number, communicator)
            }
            _ => Ok(()),
        }
    }

    /// Performs a repetition, after [`Racer::prepare`]: calls once and computes in the meantime, or makes a
    /// communicator, calls on it, and frees it.
    pub fn perform(&self, cell: &mut Cell, computing: Computing) -> Result<(), Error> {
        let Some(calls) = self.short_lived else { return self.means.call(self.form, cell, computing) };
        let means = self.means.duplicate(&self.contestant)?;
        (0..calls.get()).try_for_each(|_| means.call(self.form, cell, computing))
    }
}

impl Means {
    fn of(contestant: &Contestant, model: &Communicator) -> Result<Means, Error> {
        if contestant.is_copy() {
            return Ok(Means::Copy);
        }
        let keys: Vec<_> = contestant.rules.iter().map(|file| (rule_files::KEY, &file[..])).collect();
        let communicator = Rc::new(model.dup_with(&preference(contestant), &keys)?);
        Ok(Means::on(communicator, contestant))
    }

    /// Makes a call that blocks, as programs do on most communicators: by such calls, ranks learn their nodes.
    fn begin(&self) -> Result<(), Error> {
        match self {
            Means::Collective(communicator) | Means::MockUp(_, communicator) => communicator.barrier(),
            Means::Copy => Ok(()),
        }
    }

    /// Returns the same on a new communicator.
    fn duplicate(&self, contestant: &Contestant) -> Result<Means, Error> {
        match self {
            Means::Copy => Ok(Means::Copy),
            Means::Collective(communicator) | Means::MockUp(_, communicator) => {
                Means::of(contestant, communicator)
            }
        }
    }

    fn call(&self, form: Form, cell: &mut Cell, computing: Computing) -> Result<(), Error> {
        match self {
            Means::Collective(communicator) => cell.perform(form, communicator, computing),
            Means::MockUp(algorithm, communicator) => cell.perform_by(algorithm, communicator),
            Means::Copy => {
                cell.copy.perform();
                Ok(())
            }
        }
    }

    fn on(communicator: Rc<Communicator>, contestant: &Contestant) -> Means {
        match contestant.mock_up() {
            Some(algorithm) => Means::MockUp(algorithm, communicator),
            None => Means::Collective(communicator),
        }
    }

    /// Returns what another contestant does on the same communicator, if there is one.
    fn turned_to(&self, contestant: &Contestant) -> Means {
        match self {
            Means::Copy => Means::Copy,
            Means::Collective(communicator) | Means::MockUp(_, communicator) => {
                Means::on(Rc::clone(communicator), contestant)
            }
        }
    }
}

/// Returns the values of all contestants' variables. Fails if a contestant does not exist.
pub fn values(
    series: &Series,
    contestants: &[Contestant],
    variables: &mut Variables,
) -> Result<Vec<Values>, String> {
    let values = |contestant| {
        let values = variables.values(series, contestant);
        values.map_err(|reason| format!("the contestant {contestant}: {reason}"))
    };
    contestants.iter().map(values).collect()
}

/// Whether two contestants can use one communicator, because MPI has few of them and they take time and
/// memory. rustcoll reads its variables in every call. Contestants of other components must use no variables.
fn can_share(one: &Contestant, other: &Contestant) -> bool {
    let has_no_variables = |contestant: &Contestant| contestant.is_plain() || contestant.mock_up().is_some();
    let is_alike = one.component == other.component && one.rules == other.rules && !one.is_copy();
    is_alike && (one.is_own() || (has_no_variables(one) && has_no_variables(other)))
}

/// Returns the preferred component. A component that cannot serve a communicator leaves it to others, except rustcoll.
fn preference(contestant: &Contestant) -> String {
    match contestant.is_own() {
        true => contestant.component.clone(),
        false => format!("{},^{}", contestant.component, Contestant::OWN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contestants_share_a_communicator_if_only_variables_of_rustcoll_tell_them_apart() {
        let can_share = |one: &str, other: &str| can_share(&one.parse().unwrap(), &other.parse().unwrap());
        assert!(can_share("rustcoll", "rustcoll:ring"));
        assert!(can_share("rustcoll:bruck:radix=2", "rustcoll:bruck:radix=4"));
        assert!(!can_share("rustcoll", "rustcoll@rules.toml"));
        assert!(!can_share("tuned:2", "tuned:3"));
        assert!(can_share("tuned", "tuned:bcast_as_allgatherv"));
        assert!(!can_share("basic", "tuned:bcast_as_allgatherv"));
        assert!(!can_share("tuned:bcast_as_allgatherv", "tuned:3"));
        assert!(!can_share("copy", "rustcoll"));
    }
}
