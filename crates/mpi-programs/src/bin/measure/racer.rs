//! A contestant and how it calls a collective.

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

/// A contestant, ready to call.
#[derive(Debug)]
pub struct Racer {
    /// Who it is.
    pub contestant: Contestant,
    /// Its place among those who race.
    number: usize,
    form: Form,
    /// What its variables must be while it calls.
    pub values: Values,
    means: Means,
    /// Whether another one's calls come between its own on its communicator, so that the component plans them anew.
    shares_communicator: bool,
}

/// What a contestant does when it is its turn.
#[derive(Clone, Debug)]
enum Means {
    /// Copies, and calls nobody.
    Copy,
    /// Calls the collective on a communicator on which its component comes first.
    Collective(Rc<Communicator>),
    /// Makes the calls of a mock-up on such a communicator.
    MockUp(&'static Algorithm, Rc<Communicator>),
}

impl Racer {
    /// Those who race in a series, each on a communicator like `model`. Fails if one is not there, which all ranks find alike.
    pub fn all(
        series: &Series,
        contestants: &[Contestant],
        variables: &mut Variables,
        model: &Communicator,
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
                    // Some components look at their variables when a communicator is made.
                    variables.apply(&values).map_err(refuse)?;
                    Means::of(contestant, model).map_err(refuse)?
                }
            };
            let (contestant, form) = (contestant.clone(), series.operation.form);
            racers.push(Racer { contestant, number, form, values, means, shares_communicator });
        }
        Ok(racers)
    }

    /// Whether the first call of a turn takes longer than the next ones would: on a communicator that others use, or with a
    /// request that is new.
    pub fn needs_warming_up(&self) -> bool {
        self.shares_communicator || self.form == Form::Persistent
    }

    /// Prepares for calls with the variables as they are: makes the persistent request, if its form has one.
    pub fn prepare(&self, cell: &mut Cell) -> Result<(), Error> {
        match &self.means {
            Means::Collective(communicator) if self.form == Form::Persistent => {
                cell.make_request(self.number, communicator)
            }
            _ => Ok(()),
        }
    }

    /// Calls once, after [`Racer::prepare`], and computes meanwhile.
    pub fn perform(&self, cell: &mut Cell, computing: Computing) -> Result<(), Error> {
        match &self.means {
            Means::Collective(communicator) => cell.perform(self.form, communicator, computing),
            Means::MockUp(algorithm, communicator) => cell.perform_by(algorithm, communicator),
            Means::Copy => {
                cell.copy.perform();
                Ok(())
            }
        }
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

    fn on(communicator: Rc<Communicator>, contestant: &Contestant) -> Means {
        match contestant.mock_up() {
            Some(algorithm) => Means::MockUp(algorithm, communicator),
            None => Means::Collective(communicator),
        }
    }

    /// What another contestant does on the same communicator, if there is one.
    fn turned_to(&self, contestant: &Contestant) -> Means {
        match self {
            Means::Copy => Means::Copy,
            Means::Collective(communicator) | Means::MockUp(_, communicator) => {
                Means::on(Rc::clone(communicator), contestant)
            }
        }
    }
}

/// What the variables of contestants must be. Fails if one is not there.
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

/// Whether two contestants differ in nothing that counts when a communicator is made: MPI has not many of them, and they take
/// time and memory. Of rustcoll it is known that it looks at its variables in every call; others may not have any.
fn can_share(one: &Contestant, other: &Contestant) -> bool {
    let has_no_variables = |contestant: &Contestant| contestant.is_plain() || contestant.mock_up().is_some();
    let is_alike = one.component == other.component && one.rules == other.rules && !one.is_copy();
    is_alike && (one.is_own() || (has_no_variables(one) && has_no_variables(other)))
}

/// A component that cannot serve a communicator leaves it to the others: rustcoll must not be one of them.
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
