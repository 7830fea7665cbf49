//! Proves that rustcoll serves none of another component's calls. A component that cannot serve a
//! communicator leaves its calls to others.

use mpi_programs::component::{CollectiveVariables, Component, number};
use mpi_programs::environment::Error;
use rustcoll::algorithms::{Algorithm, Collective};

/// rustcoll, if it is loaded.
#[derive(Debug)]
pub struct Bystander(Option<Component>);

impl Bystander {
    /// Finds rustcoll in this process.
    pub fn find() -> Self {
        Bystander(Component::find().ok())
    }

    /// Has communicators share memory from the first call on, so later calls do not differ.
    pub fn share_memory_at_once(&self) -> Result<(), Error> {
        self.0.iter().try_for_each(Component::share_memory_at_once)
    }

    /// Returns the component's variables for a collective, if it is loaded.
    pub fn variables(&self, collective: Collective) -> Option<&CollectiveVariables> {
        self.0.as_ref().map(|component| component.variables(collective))
    }

    /// Makes a call; returns whether the component served no part of it, not even another collective that the call
    /// uses. If the component served a part, `ran` would change, because every collective's choice is now another
    /// algorithm.
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

/// Returns an algorithm for one group that did not run, if possible one that serves all calls.
fn other_than(collective: Collective, ran: i32) -> Option<&'static Algorithm> {
    let others = || {
        collective
            .algorithms()
            .filter(|algorithm| !algorithm.is_for_two_groups() && number(collective, algorithm) != ran)
    };
    others().find(|algorithm| algorithm.requires.is_empty()).or_else(|| others().next())
}
