//! `rustcoll fit`

mod parameters;

use crate::command_line::FitOptions;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::measured::{self, Row};
use crate::progress::Progress;
use crate::validate::{Compared, compare, summary, write_table};
use argmin::core::{CostFunction, Error, Executor, State};
use argmin::solver::neldermead::NelderMead;
use parameters::Parameters;
use rustcoll::cost::Machine;
use std::cell::Cell;
use std::io::Write;

/// The error up to which the summary calls a prediction good.
const GOOD: f64 = 0.15;

/// How many times the search begins anew where it ended.
const SEARCHES: usize = 4;

/// How many steps a search takes at most.
const STEPS: u64 = 400;

/// A parameter whose absence makes the squares larger by no more than this part is left out.
const NO_DIFFERENCE: f64 = 0.01;

/// Finds a machine that predicts the measured times best, and prints what is left of the errors.
pub fn run(options: &FitOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let rows = measured::read(&options.measured)?;
    let (fitted, held_out) = parted(rows, options.one_of as usize);
    let machine = fit(&fitted)?;
    let file = format!("{}{}", head(options, fitted.len(), held_out.len()), parameters::to_toml(&machine));
    report("Fitted", fitted, &machine, output)?;
    if !held_out.is_empty() {
        writeln!(output)?;
        report("Held out", held_out, &machine, output)?;
    }
    if options.output.is_none() {
        writeln!(output)?;
    }
    files::write(options.output.as_deref(), file.as_bytes(), output)?;
    Ok(Outcome::Right)
}

/// The rows of two ranks and one of so many of the others, and what is left.
fn parted(rows: Vec<Row>, one_of: usize) -> (Vec<Row>, Vec<Row>) {
    let (mut fitted, others): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| row.ranks <= 2);
    let mut held_out = Vec::new();
    for (number, row) in others.into_iter().enumerate() {
        if number.is_multiple_of(one_of) { fitted.push(row) } else { held_out.push(row) }
    }
    (fitted, held_out)
}

fn report(what: &str, rows: Vec<Row>, machine: &Machine, output: &mut impl Write) -> Result<(), Failure> {
    let compared = compare(rows, machine)?;
    write_table(&compared, output)?;
    writeln!(output, "{what}: {}", summary(&compared, GOOD))?;
    Ok(())
}

fn head(options: &FitOptions, fitted: usize, held_out: usize) -> String {
    format!(
        "# Found by `rustcoll fit` as what predicts {fitted} measured times of {} best, by least squares of relative\n\
         # errors; {held_out} others were not looked at.\n\n",
        files::name(&options.measured).escape_debug(),
    )
}

/// The machine that predicts these times best.
fn fit(rows: &[Row]) -> Result<Machine, Failure> {
    let mut parameters = Parameters::guessed(rows);
    // All rows can be predicted, or none of the trials will do.
    compare(rows.to_vec(), &parameters.machine())?;
    let progress = Progress::new("fit");
    let (steps, all_steps) = (Cell::new(0), (SEARCHES + 1) as f64 * STEPS as f64);
    let observe = || {
        steps.set(steps.get() + 1);
        progress.show((f64::from(steps.get()) / all_steps).min(1.0));
    };
    for _ in 0..SEARCHES {
        parameters = search(rows, parameters, &observe)?;
    }
    parameters = without_the_idle(rows, parameters);
    parameters = search(rows, parameters, &observe)?;
    Ok(parameters.machine())
}

/// Without those that make no difference.
fn without_the_idle(rows: &[Row], mut parameters: Parameters) -> Parameters {
    let squares = squares(rows, &parameters);
    for position in parameters.optional() {
        let without = parameters.without(position);
        if self::squares(rows, &without) <= squares * (1.0 + NO_DIFFERENCE) {
            parameters = without;
        }
    }
    parameters
}

/// Sum of the squares of relative errors.
fn squares(rows: &[Row], parameters: &Parameters) -> f64 {
    let machine = parameters.machine();
    let square = |row: &Row| {
        let predicted = row.predicted(&machine).unwrap_or(f64::INFINITY);
        Compared { row: row.clone(), predicted }.error().powi(2)
    };
    rows.iter().map(square).sum()
}

struct Trial<'rows> {
    rows: &'rows [Row],
    start: &'rows Parameters,
    observe: &'rows dyn Fn(),
}

/// Over the logarithms of the parameters, which keeps them positive.
impl CostFunction for Trial<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, logarithms: &Vec<f64>) -> Result<f64, Error> {
        (self.observe)();
        Ok(squares(self.rows, &self.start.at(logarithms)))
    }
}

/// The simplex method of Nelder and Mead.
fn search(rows: &[Row], start: Parameters, observe: &dyn Fn()) -> Result<Parameters, Failure> {
    let first = start.logarithms();
    let moved = |position: usize| {
        let mut corner = first.clone();
        corner[position] += 0.5;
        corner
    };
    let corners = (0..first.len()).map(moved).chain([first.clone()]).collect();
    let trial = Trial { rows, start: &start, observe };
    let failed = |error: Error| Failure::Input(format!("no parameters can be found: {error}"));
    let solver = NelderMead::new(corners).with_sd_tolerance(1e-9).map_err(failed)?;
    let result =
        Executor::new(trial, solver).configure(|state| state.max_iters(STEPS)).run().map_err(failed)?;
    Ok(result.state().get_best_param().map_or_else(|| start.clone(), |best| start.at(best)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustcoll::algorithms::Collective;
    use rustcoll::atlas::Candidate;
    use rustcoll::cost::{Link, Processor};

    /// The times of some collectives as if they had been measured on a machine.
    fn measured_on(machine: &Machine, ranks_per_node: &[usize]) -> Vec<Row> {
        let mut rows = Vec::new();
        for &ranks_per_node in ranks_per_node {
            for (collective, name) in [
                (Collective::Bcast, "linear"),
                (Collective::Allreduce, "recursive_doubling"),
                (Collective::Allreduce, "rabenseifner"),
                (Collective::Alltoall, "bruck"),
                (Collective::Alltoall, "pairwise"),
            ] {
                for (ranks, bytes) in [(2, 8), (2, 1 << 20), (4, 8), (4, 1 << 14), (6, 1 << 10), (8, 1 << 17)]
                {
                    let algorithm = collective.algorithm(name).unwrap();
                    let candidate = Candidate { collective, algorithm, parameters: Default::default() };
                    let row =
                        Row { candidate, ranks, bytes, ranks_per_node: Some(ranks_per_node), seconds: 1.0 };
                    rows.push(Row { seconds: row.predicted(machine).unwrap(), ..row });
                }
            }
        }
        rows
    }

    fn assert_close(found: f64, expected: f64, what: &str) {
        assert!((found - expected).abs() <= 0.02 * expected, "{what}: {found}, not {expected}");
    }

    fn assert_link(found: &Link, expected: &Link) {
        assert_close(found.latency, expected.latency, "latency");
        assert_close(found.byte_time, expected.byte_time, "time for a byte");
        assert_close(found.overhead, expected.overhead, "overhead");
    }

    #[test]
    fn the_parameters_are_found_of_a_machine_that_was_simulated() {
        let hockney = Machine::hockney(1e-4, 1e-9, 2e-9);
        let machine = Machine {
            between: Link { overhead: 2e-5, ..hockney.between },
            processor: Processor { copy_time: 5e-10, ..hockney.processor },
            ..hockney
        };
        let found = fit(&measured_on(&machine, &[1])).unwrap();
        assert_link(&found.between, &machine.between);
        assert_close(found.processor.reduce_time, 2e-9, "reduction");
        assert_close(found.processor.copy_time, 5e-10, "copy");
        let text = parameters::to_toml(&found);
        let read = Machine::parse("found", &text).unwrap();
        assert_link(&read.between, &machine.between);
        assert_eq!(read.ranks_per_node, 1);
    }

    #[test]
    fn ranks_of_one_node_have_parameters_of_their_own() {
        let hockney = Machine::hockney(1e-4, 1e-8, 2e-9);
        let within = Link { latency: 1e-5, byte_time: 1e-9, overhead: 4e-6, ..hockney.within };
        let between = Link { overhead: 2e-5, ..hockney.between };
        let machine = Machine { ranks_per_node: 4, within, between, ..hockney };
        let found = fit(&measured_on(&machine, &[1, 4])).unwrap();
        assert_link(&found.between, &machine.between);
        assert_link(&found.within, &machine.within);
        let text = parameters::to_toml(&found);
        assert_link(&Machine::parse("found", &text).unwrap().within, &machine.within);
    }

    #[test]
    fn one_of_so_many_rows_is_fitted_and_all_of_two_ranks() {
        let rows = measured_on(&Machine::hockney(1.0, 1.0, 1.0), &[1]);
        let others = rows.iter().filter(|row| row.ranks > 2).count();
        let (fitted, held_out) = parted(rows.clone(), 4);
        assert_eq!(fitted.len() + held_out.len(), rows.len());
        assert_eq!(fitted.iter().filter(|row| row.ranks > 2).count(), others.div_ceil(4));
        assert!(held_out.iter().all(|row| row.ranks > 2));
        assert!(parted(rows, 1).1.is_empty());
    }
}
