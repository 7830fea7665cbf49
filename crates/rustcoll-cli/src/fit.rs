//! `rustcoll fit`

mod contradictions;
mod descent;
mod guess;
mod observed;
mod parameters;
mod writing;

use crate::command_line::{FitOptions, MachineOption};
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::measured::left_out::{self, LeftOut};
use crate::measured::{self, Row};
use crate::progress::Progress;
use crate::table;
use crate::validate::{compare, summary, write_table};
use crate::words::counted;
use descent::{Certainty, MOST_SIMULATIONS, Start, certainties, descend};
use observed::{Observed, Unfit, unfit};
use rustcoll::cost::Machine;
use rustcoll::random;
use std::cell::Cell;
use std::collections::HashMap;
use std::io::Write;

/// The summary calls a prediction good up to this relative error.
const GOOD: f64 = 0.15;

/// How far a machine's parameters are likely to be from the user's, and from a guess, as differences of logarithms.
const FROM_KNOWN: f64 = 1.5;
const FROM_GUESS: f64 = 6.0;

/// Finds the machine that predicts the measured times best, and prints the remaining errors.
pub fn run(options: &FitOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let rows = measured::read(&options.measured, options.placement.as_deref())?;
    let named = options.machine.clone().map(|machine| MachineOption { machine, ranks_per_node: None }.read());
    let named = named.transpose()?;
    let first = start(named.as_ref(), &rows);
    measured::check_placement(options.placement.as_deref(), &first.machine)?;
    let unfit = unfit(&rows, &first.machine);
    let only = |is_wanted: fn(&Option<Unfit>) -> bool| {
        let wanted = rows.iter().zip(&unfit).filter(|(_, unfit)| is_wanted(unfit));
        wanted.map(|(row, _)| row.clone()).collect::<Vec<Row>>()
    };
    let left_out = rows.iter().zip(&unfit).filter_map(|(row, unfit)| {
        unfit.as_ref().map(|unfit| LeftOut { row: row.clone(), why: unfit.to_string() })
    });
    let left_out: Vec<LeftOut> = left_out.collect();
    let kept = only(Option::is_none);
    if kept.is_empty() {
        return Err(left_out::nothing_left(&options.measured, "fitted", &left_out));
    }
    let start = start(named.as_ref(), &only(|unfit| *unfit != Some(Unfit::Idle)));
    let (fitted, held_out) = parted(&kept, options.one_of as usize)?;
    let (machine, certainties) = fit(&fitted, &start)?;
    let others = rows.len() - fitted.len();
    let file = format!("{}{}", head(options, fitted.len(), others), writing::to_toml(&machine));
    report("Fitted", fitted, &machine, output)?;
    write_certainties(&certainties, output)?;
    output.write_all(contradictions::lines(&kept).as_bytes())?;
    output.write_all(left_out::lines(&left_out).as_bytes())?;
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

/// Returns where the search begins: at the machine that the user names, otherwise at a guess from the rows.
fn start(named: Option<&Machine>, rows: &[Row]) -> Start {
    let (machine, distance) = match named {
        Some(machine) => {
            let ranks_per_node = full_nodes(rows).unwrap_or(machine.ranks_per_node);
            (Machine { ranks_per_node, ..machine.clone() }, FROM_KNOWN)
        }
        None => (guess::machine(rows), FROM_GUESS),
    };
    Start { machine: with_shared_memory(machine, rows), distance }
}

/// Returns how many ranks the fullest nodes have; `None` if the rows have no node with several ranks.
fn full_nodes(rows: &[Row]) -> Option<usize> {
    rows.iter().filter_map(|row| row.ranks_per_node).max().filter(|&most| most > 1)
}

/// Returns the machine with times of shared memory, if it states none and rows depend on them.
fn with_shared_memory(machine: Machine, rows: &[Row]) -> Machine {
    match machine.shared {
        None if rows.iter().any(|row| row.candidate.algorithm.takes_shared_memory()) => {
            Machine { shared: Some(machine.shared()), ..machine }
        }
        _ => machine,
    }
}

/// Returns the rows of one in `one_of` cells, chosen by a hash, and the other rows. Fails if no row is chosen.
fn parted(rows: &[Row], one_of: usize) -> Result<(Vec<Row>, Vec<Row>), Failure> {
    let mut numbers = HashMap::new();
    let (fitted, held_out): (Vec<Row>, Vec<Row>) = rows.iter().cloned().partition(|row| {
        let next = numbers.len();
        let number = *numbers.entry(row.cell()).or_insert(next);
        is_chosen(number, one_of)
    });
    match fitted.is_empty() {
        true => Err(Failure::Usage(none_chosen(one_of, numbers.len()))),
        false => Ok((fitted, held_out)),
    }
}

/// Whether the machine is fitted to the cell of this number.
fn is_chosen(number: usize, one_of: usize) -> bool {
    random::nth(0, number as u64).is_multiple_of(one_of as u64)
}

fn none_chosen(one_of: usize, cells: usize) -> String {
    let chooses = |one_of: &usize| (0..cells).any(|number| is_chosen(number, *one_of));
    let right = (1..one_of).rev().find(chooses).unwrap_or(1);
    let cells = counted(cells, "cell");
    format!(
        "--one-of {one_of}: that chooses none of {cells}; the next lower number that chooses one is {right}"
    )
}

fn report(what: &str, rows: Vec<Row>, machine: &Machine, output: &mut impl Write) -> Result<(), Failure> {
    let (compared, left_out) = compare(rows, machine);
    write_table(&compared, output)?;
    writeln!(output, "{what}: {}", summary(&compared, GOOD))?;
    output.write_all(left_out::lines(&left_out).as_bytes())?;
    Ok(())
}

fn head(options: &FitOptions, fitted: usize, others: usize) -> String {
    format!(
        "# Found by `rustcoll fit` as what predicts {fitted} measured times of {} best. Differences of\n\
         # logarithms count, those that are far off less; {others} others were not looked at.\n\n",
        files::name(&options.measured).escape_debug(),
    )
}

/// Returns the machine that predicts these times best, and how well the rows determine its parameters.
fn fit(rows: &[Row], start: &Start) -> Result<(Machine, Vec<Certainty>), Failure> {
    let observed = Observed::new(rows, &start.machine)?;
    let progress = Progress::new("fit");
    let steps = Cell::new(0);
    let observe = || {
        steps.set(steps.get() + 1);
        progress.show(f64::from(steps.get()) / f64::from(MOST_SIMULATIONS));
    };
    let fitted = descend(&observed, start, &observe)?;
    let certainties = certainties(&observed, start, &fitted);
    Ok((fitted.machine, certainties))
}

/// Writes how wrong each parameter may be, and which parameters the rows do not determine.
fn write_certainties(certainties: &[Certainty], output: &mut impl Write) -> Result<(), Failure> {
    let known = certainties.iter().filter_map(|Certainty { parameter, deviation }| {
        deviation.map(|deviation| [parameter.to_string(), format!("{:.0} %", 100.0 * deviation)])
    });
    writeln!(output)?;
    table::write(["parameter", "may be wrong by"], &known.collect::<Vec<_>>(), output)?;
    let is_unknown = |certainty: &&Certainty| certainty.deviation.is_none();
    let unknown = certainties.iter().filter(is_unknown).map(|certainty| certainty.parameter.to_string());
    let unknown: Vec<String> = unknown.collect();
    if !unknown.is_empty() {
        writeln!(output, "not determined by these times: {}", unknown.join(", "))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::for_fit::calls;
    use crate::bench::placement::Placement;
    use rustcoll::algorithms::Collective;
    use rustcoll::atlas::Candidate;
    use rustcoll::cost::{ByteTime, Link, Processor, Shared};

    /// Returns the times of some collectives as if they had been measured on a machine.
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
                    let placement = Placement { ranks, ranks_per_host: ranks_per_node };
                    rows.push(timed(Row::of(candidate, placement, bytes, 1.0), machine));
                }
            }
        }
        rows
    }

    fn found_in(rows: &[Row]) -> Machine {
        fit(rows, &Start { machine: guess::machine(rows), distance: FROM_GUESS }).unwrap().0
    }

    fn assert_close(found: f64, expected: f64, what: &str) {
        assert!((found - expected).abs() <= 0.02 * expected, "{what}: {found}, not {expected}");
    }

    fn assert_link(found: &Link, expected: &Link) {
        assert_close(found.latency, expected.latency, "latency");
        assert_close(found.byte_time.at(1.0), expected.byte_time.at(1.0), "time for a byte");
        assert_close(found.overhead, expected.overhead, "overhead");
    }

    #[test]
    fn the_parameters_are_found_of_a_machine_that_was_simulated() {
        let hockney = Machine::hockney(1e-4, 1e-9, 2e-9);
        let machine = Machine {
            between: Link { overhead: 2e-5, ..hockney.between },
            processor: Processor { copy_time: 5e-10.into(), ..hockney.processor },
            ..hockney
        };
        let found = found_in(&measured_on(&machine, &[1]));
        assert_link(&found.between, &machine.between);
        assert_close(found.processor.reduce_time.at(1.0), 2e-9, "reduction");
        assert_close(found.processor.copy_time.at(1.0), 5e-10, "copy");
        let text = writing::to_toml(&found);
        let read = Machine::parse("found", &text).unwrap();
        assert_link(&read.between, &machine.between);
        assert_eq!(read.ranks_per_node, 1);
    }

    #[test]
    fn ranks_of_one_node_have_parameters_of_their_own() {
        let hockney = Machine::hockney(1e-4, 1e-8, 2e-9);
        let within = Link { latency: 1e-5, byte_time: 1e-9.into(), overhead: 4e-6, ..hockney.within };
        let between = Link { overhead: 2e-5, ..hockney.between };
        let machine = Machine { ranks_per_node: 4, within, between, ..hockney };
        let found = found_in(&measured_on(&machine, &[1, 4]));
        assert_link(&found.between, &machine.between);
        assert_link(&found.within, &machine.within);
        let text = writing::to_toml(&found);
        assert_link(&Machine::parse("found", &text).unwrap().within, &machine.within);
    }

    #[test]
    fn shared_memory_has_parameters_too() {
        let hockney = Machine { ranks_per_node: 8, ..Machine::hockney(1e-4, 1e-9, 2e-9) };
        let shared = |latency: f64, overhead: f64, byte_time: f64, single_copy_time: f64| {
            let single_copy_time = Some(single_copy_time.into());
            Some(Shared { overhead, single_copy_time, ..Shared::copying_twice(latency, byte_time.into()) })
        };
        let machine = Machine { shared: shared(3e-7, 1e-7, 1e-10, 3e-10), ..hockney.clone() };
        let mut rows = Vec::new();
        for (collective, name) in [
            (Collective::Bcast, "shared"),
            (Collective::Allreduce, "shared_flat"),
            (Collective::Allgather, "shared"),
            (Collective::Allgather, "single_copy"),
        ] {
            for (ranks, bytes) in [(2, 8), (3, 1 << 16), (5, 8), (8, 1 << 10), (8, 1 << 18)] {
                let algorithm = collective.algorithm(name).unwrap();
                let candidate = Candidate { collective, algorithm, parameters: Default::default() };
                let placement = Placement { ranks, ranks_per_host: 8 };
                rows.push(timed(Row::of(candidate, placement, bytes, 1.0), &machine));
            }
        }
        let start = Machine { shared: shared(1e-7, 3e-7, 2e-10, 2e-10), ..hockney };
        let (found, _) = fit(&rows, &Start { machine: start, distance: FROM_GUESS }).unwrap();
        let read = Machine::parse("found", &writing::to_toml(&found)).unwrap();
        let [found, expected] = [read, machine].map(|machine| machine.shared.unwrap());
        assert_close(found.latency, expected.latency, "latency");
        assert_close(found.overhead, expected.overhead, "overhead");
        assert_close(found.byte_time.at(1.0), expected.byte_time.at(1.0), "reading");
        let single_copy = |shared: Shared| shared.time_of_single_copies().at(1.0);
        assert_close(single_copy(found), single_copy(expected), "single copy");
    }

    /// Returns what `rustcoll bench --for-fit` measures, as if on this machine.
    fn measured_for_fit_on(machine: &Machine, all: Placement) -> Vec<Row> {
        let mut rows = Vec::new();
        for (placement, calls) in calls::jobs(all) {
            for calls in calls {
                let row = |&bytes: &usize| Row::of(calls.candidate(), placement, bytes, 1.0);
                rows.extend(calls.bytes.iter().map(row).map(|row| timed(row, machine)));
            }
        }
        rows
    }

    /// Returns the row with its time on this machine.
    fn timed(row: Row, machine: &Machine) -> Row {
        Row { seconds: row.predicted(&mut row.simulation(machine).unwrap()).unwrap(), ..row }
    }

    #[test]
    fn what_is_measured_for_a_fit_determines_every_parameter() {
        let text = include_str!("../../../machines/cray-xc40-aries.toml");
        let machine = Machine::parse("cray-xc40-aries", text).unwrap();
        let between = Link { gap: 1e-7, eager_limit: usize::MAX, ..machine.between };
        let byte_time = (1.0 / 6e9).into();
        let node_byte_time = ByteTime::NONE;
        let within =
            Link { overhead: 1e-7, byte_time, node_byte_time, eager_limit: usize::MAX, ..machine.within };
        let byte_time = (1.0 / 9e9).into();
        let shared = Some(Shared { overhead: 1.4e-7, ..Shared::copying_twice(3e-7, byte_time) });
        let [reduce_time, copy_time] = [4e9, 8e9].map(|bandwidth| (1.0 / bandwidth).into());
        let processor = Processor { reduce_time, copy_time, ..machine.processor };
        let machine = Machine { ranks_per_node: 8, between, within, shared, processor, ..machine };
        let rows = measured_for_fit_on(&machine, Placement { ranks: 64, ranks_per_host: 8 });
        let guess = with_shared_memory(guess::machine(&rows), &rows);
        let between = Link { gap: 1e-8, ..guess.between };
        let start = Start { machine: Machine { between, ..guess }, distance: FROM_GUESS };
        let (found, certainties) = fit(&rows, &start).unwrap();
        assert_eq!(certainties.len(), 12);
        for Certainty { parameter, deviation } in certainties {
            assert!(deviation.is_some(), "{parameter} is not determined");
            let (found, expected) = (parameter.value(&found), parameter.value(&machine));
            assert!((found / expected - 1.0).abs() < 0.05, "{parameter}: {found}, not {expected}");
        }
    }

    #[test]
    fn one_cell_of_so_many_is_fitted() {
        let rows = measured_on(&Machine::hockney(1.0, 1.0, 1.0), &[1, 2, 4]);
        let (fitted, held_out) = parted(&rows, 4).unwrap();
        assert_eq!(fitted.len() + held_out.len(), rows.len());
        assert!(fitted.len() * 2 < held_out.len(), "{} of {}", fitted.len(), rows.len());
        assert!(fitted.iter().all(|row| held_out.iter().all(|other| row.cell() != other.cell())));
        assert!(parted(&rows, 1).unwrap().1.is_empty());
    }
}
