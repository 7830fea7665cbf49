//! The variables of the component `rustcoll`.

use std::fmt;

use rustcoll::algorithms::{Algorithm, Collective, Parameter};

use crate::environment::Error;
use crate::preloaded;
use crate::tools::{ControlVariable, PerformanceVariable};

/// The component's name.
pub const NAME: &str = "rustcoll";

/// Whether no other component is loaded, so rustcoll cannot fall back.
pub fn is_alone() -> bool {
    let says = |variable, text| std::env::var(variable).is_ok_and(|value| value == text);
    says("OMPI_MCA_coll", NAME) || says("RUSTCOLL_ALONE", "on")
}

/// A variable that the component should have, but the MPI library does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing(String);

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(
            formatter,
            "the component {NAME} is not loaded, or not in this version: MPI knows no variable {}",
            self.0
        )
    }
}

impl std::error::Error for Missing {}

/// The component's variables for one collective.
#[derive(Debug)]
pub struct CollectiveVariables {
    pub collective: Collective,
    pub algorithm: ControlVariable,
    pub parameters: Vec<(Parameter, ControlVariable)>,
    /// The algorithm that served this process's last call.
    pub ran: PerformanceVariable,
}

/// Returns the full name of a variable in MPI or the preloaded library.
fn full_name(name: &str) -> String {
    if preloaded::is_loaded() { name.to_owned() } else { format!("coll_{NAME}_{name}") }
}

fn control(name: &str) -> Result<ControlVariable, Missing> {
    let name = full_name(name);
    ControlVariable::find(&name).ok_or(Missing(name))
}

impl CollectiveVariables {
    fn find(collective: Collective) -> Result<Self, Missing> {
        let of_collective = |what: &str| format!("{}_{what}", collective.name());
        let control = |what: &str| control(&of_collective(what));
        let ran = full_name(&of_collective("ran"));
        let parameters = collective.parameters();
        Ok(CollectiveVariables {
            collective,
            algorithm: control("algorithm")?,
            parameters: parameters
                .map(|parameter| Ok((parameter, control(parameter.name())?)))
                .collect::<Result<_, _>>()?,
            ran: PerformanceVariable::find(&ran).ok_or(Missing(ran))?,
        })
    }

    /// Returns the name of an algorithm's number in the variable `ran`. The component also knows algorithms from
    /// files.
    pub fn name(&self, ran: i32) -> String {
        let named = self.algorithm.names().into_iter().find(|(number, _)| *number == ran && ran != BELOW);
        named.map_or_else(|| name_of(self.collective, ran).to_owned(), |(_, name)| name)
    }

    /// Chooses an algorithm for the next calls, or leaves the choice to the component (`None`).
    pub fn choose(&self, algorithm: Option<&Algorithm>) -> Result<(), Error> {
        self.algorithm.write(algorithm.map_or(AUTO, |algorithm| number(self.collective, algorithm)))
    }

    /// Sets a parameter for the next calls; 0 means its default.
    pub fn set(&self, parameter: Parameter, value: i32) -> Result<(), Error> {
        let variable = self.parameters.iter().find(|(known, _)| *known == parameter);
        variable.map_or(Ok(()), |(_, variable)| variable.write(value))
    }

    /// Leaves all choices to the component again. All ranks of a communicator must choose alike, even those
    /// that took no part in the last calls.
    pub fn reset(&self) -> Result<(), Error> {
        self.choose(None)?;
        self.parameters.iter().try_for_each(|(_, variable)| variable.write(0))
    }
}

/// The value of an algorithm variable that leaves the choice to the component.
pub const AUTO: i32 = 0;
/// The value of `ran` if a call fell back to the component below.
pub const BELOW: i32 = 0;

/// Returns an algorithm's number in the variables of its collective.
pub fn number(collective: Collective, algorithm: &Algorithm) -> i32 {
    let place = collective.algorithms().position(|other| other.name == algorithm.name);
    place.expect("every algorithm is registered") as i32 + 1
}

/// Returns the name of an algorithm's number in the variable `ran`, for built-in algorithms.
pub fn name_of(collective: Collective, number: i32) -> &'static str {
    match (number, collective.algorithms().nth((number - 1).max(0) as usize)) {
        (BELOW, _) => "below",
        (1.., Some(algorithm)) => algorithm.name,
        _ => "?",
    }
}

/// All variables of the component.
#[derive(Debug)]
pub struct Component {
    of_collectives: Vec<CollectiveVariables>,
    shared_memory_from: ControlVariable,
    no_idle_neighbours: ControlVariable,
}

impl Component {
    /// Finds the component's variables in this process.
    pub fn find() -> Result<Self, Missing> {
        let of_collectives = Collective::ALL.into_iter().map(CollectiveVariables::find);
        Ok(Component {
            of_collectives: of_collectives.collect::<Result<_, _>>()?,
            shared_memory_from: control("shared_memory_from")?,
            no_idle_neighbours: control("no_idle_neighbours")?,
        })
    }

    /// Returns the variables of one collective.
    pub fn variables(&self, collective: Collective) -> &CollectiveVariables {
        let found = self.of_collectives.iter().find(|variables| variables.collective == collective);
        found.expect("there are variables for every collective")
    }

    /// Promises that in each neighbourhood collective all ranks have something to send or receive, or none has.
    pub fn promise_no_idle_neighbours(&self) -> Result<(), Error> {
        self.no_idle_neighbours.write(1)
    }

    /// Makes a communicator share memory from its first collective on, unless the user has set when.
    pub fn share_memory_at_once(&self) -> Result<(), Error> {
        match self.shared_memory_from.read()? {
            0 => self.shared_memory_from.write(1),
            _ => Ok(()),
        }
    }
}
