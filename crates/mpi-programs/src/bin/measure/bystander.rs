//! Proof that rustcoll serves none of another component's calls: a component that cannot serve a communicator leaves its calls
//! to others.

use mpi_programs::component::{CollectiveVariables, Component, number};
use mpi_programs::environment::Error;
use rustcoll::algorithms::{Algorithm, Collective};

/// rustcoll, if it is loaded.
#[derive(Debug)]
pub struct Bystander(Option<Component>);

impl Bystander {
    /// Looks for it in this process. What is measured is how calls on a communicator go on, not how its first ones go.
    pub fn find() -> Result<Self, Error> {
        let component = Component::find().ok();
        component.iter().try_for_each(Component::share_memory_at_once)?;
        Ok(Bystander(component))
    }

    /// The component's variables for a collective, if it is loaded.
    pub fn variables(&self, collective: Collective) -> Option<&CollectiveVariables> {
        self.0.as_ref().map(|component| component.variables(collective))
    }

    /// Calls something; returns whether the component served nothing of it, be it another collective of which this one is
    /// made. Were it to serve a call, other algorithms would run than the last time.
    pub fn stays_away_from(&self, call: impl FnOnce() -> Result<(), Error>) -> Result<bool, Error> {
        let all = || Collective::ALL.into_iter().filter_map(|collective| self.variables(collective));
        let mut choices = Vec::new();
        for variables in all() {
            let (choice, ran) = (variables.algorithm.read()?, variables.ran.read()?);
            variables.choose(other_than(variables.collective, ran))?;
            choices.push((variables, choice, ran));
        }
        call()?;
        let mut stayed_away = true;
        for (variables, choice, ran) in choices {
            stayed_away &= variables.ran.read()? == ran;
            variables.algorithm.write(choice)?;
        }
        Ok(stayed_away)
    }
}

/// An algorithm for one group that did not run, one that serves all calls if possible.
fn other_than(collective: Collective, ran: i32) -> Option<&'static Algorithm> {
    let others = || {
        collective
            .algorithms()
            .filter(|algorithm| !algorithm.is_for_two_groups() && number(collective, algorithm) != ran)
    };
    others().find(|algorithm| algorithm.requires.is_empty()).or_else(|| others().next())
}
