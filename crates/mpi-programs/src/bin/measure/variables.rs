//! The variables that control components.

use std::cell::Cell;
use std::collections::BTreeMap;

use measurements::{Contestant, Series};
use mpi_programs::environment::{Error, HAS_COMPONENTS};
use mpi_programs::tools::{self, ControlVariable};
use rustcoll::selection::nearest;

/// tuned reads its algorithm variables only if this variable is set.
const TUNED_LISTENS: &str = "coll_tuned_use_dynamic_rules";

/// A variable, its value before this program changed it, and its current value.
#[derive(Debug)]
struct Variable {
    control: ControlVariable,
    initial: i32,
    current: Cell<i32>,
}

#[derive(Debug, Default)]
pub struct Variables(BTreeMap<String, Variable>);

/// Values of a contestant's variables. Variables that are not named keep their initial values.
pub type Values = BTreeMap<String, i32>;

impl Variables {
    /// Returns the values of a contestant's variables; none if MPI has no components. Fails if there is no such
    /// component, variable or algorithm.
    pub fn values(&mut self, series: &Series, contestant: &Contestant) -> Result<Values, String> {
        let collective = series.operation.collective;
        if contestant.is_copy() {
            return Ok(Values::new());
        }
        if let Some(mock_up) = contestant.mock_up().filter(|mock_up| !mock_up.performs(collective)) {
            let (of, wanted) = (mock_up.contract().name(), collective.name());
            return Err(format!("{} is a mock-up of {of}, not of {wanted}", mock_up.name));
        }
        let has_no_variables = contestant.is_plain() || contestant.mock_up().is_some();
        if !HAS_COMPONENTS {
            return match has_no_variables {
                true => Ok(Values::new()),
                false => Err("this MPI has no components whose algorithms could be chosen".into()),
            };
        }
        let component = &contestant.component;
        if ControlVariable::find(&format!("coll_{component}_priority")).is_none() {
            return Err(format!("the component {component} is not loaded"));
        }
        if has_no_variables {
            return Ok(Values::new());
        }
        // rustcoll's variables serve all forms. Other components have variables for each form, as libnbc for
        // iallreduce. Those of tuned are for blocking calls only.
        let called =
            if contestant.is_own() { collective.name().to_owned() } else { series.operation.function() };
        let prefix = format!("coll_{component}_{called}");
        let mut values = Values::new();
        if let Some(algorithm) = &contestant.algorithm {
            // Without it, tuned has the variable but does not read it.
            if component == "tuned" && tools::is_set(TUNED_LISTENS) == Some(false) {
                return Err(format!("tuned chooses by itself unless {TUNED_LISTENS} is set"));
            }
            let name = self.find(&[format!("{prefix}_algorithm")])?;
            let number = self.0[&name].control.number_of(algorithm).map_err(|names| {
                let names = names.iter().map(String::as_str);
                nearest::unknown(&format!("{called} algorithm"), algorithm, names)
            })?;
            values.insert(name, number);
        }
        for (key, value) in &contestant.parameters {
            let name = self.find(&[format!("{prefix}_{key}"), format!("{prefix}_algorithm_{key}")])?;
            let value = i32::try_from(*value).map_err(|_| format!("{key}: {value} is too large"))?;
            values.insert(name, value);
        }
        Ok(values)
    }

    /// Returns the first of these names that a variable has.
    fn find(&mut self, names: &[String]) -> Result<String, String> {
        for name in names {
            if self.0.contains_key(name) {
                return Ok(name.clone());
            }
            if let Some(control) = ControlVariable::find(name) {
                let initial = control.read().map_err(|error| format!("{name} cannot be read: {error}"))?;
                self.0.insert(name.clone(), Variable { control, initial, current: Cell::new(initial) });
                return Ok(name.clone());
            }
        }
        Err(format!("MPI knows no variable {}", names.join(" and no ")))
    }

    /// Sets all variables to a contestant's values. No other contestant's choice may leak into its calls, not even
    /// through a component below its own. Does not write unchanged values, because components may prepare anew after a
    /// write.
    pub fn apply(&self, values: &Values) -> Result<(), Error> {
        for (name, variable) in &self.0 {
            let value = values.get(name).copied().unwrap_or(variable.initial);
            if value != variable.current.replace(value) {
                variable.control.write(value)?;
            }
        }
        Ok(())
    }
}

impl Drop for Variables {
    fn drop(&mut self) {
        // Errors are ignored: nothing can be done about them.
        let _ = self.apply(&Values::new());
    }
}
