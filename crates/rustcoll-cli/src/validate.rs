//! `rustcoll validate`

mod plot;
mod regret;

use crate::command_line::ValidateOptions;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::measured::{self, Row};
use crate::rules::in_order;
use crate::table;
use crate::words::counted;
use regret::Chooser;
use rustcoll::cost::Machine;
use rustcoll::cost::simulation::MOST_POSTS;
use rustcoll::parallel;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;

/// A measured time and its prediction.
#[derive(Clone, Debug)]
pub struct Compared {
    pub row: Row,
    /// In seconds.
    pub predicted: f64,
}

/// Prints measured times with predictions, and how far they differ.
pub fn run(options: &ValidateOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    options.plot.as_deref().map_or(Ok(()), plot::check_name)?;
    let machine = options.machine.read()?;
    measured::check_placement(options.placement.as_deref(), &machine)?;
    let mut rows = measured::read(&options.measured, options.placement.as_deref())?;
    if let Some(ranks) = &options.ranks {
        rows.retain(|row| ranks.contains(&row.ranks));
    }
    if rows.is_empty() {
        return Err(Failure::Usage("--ranks: there are no measured times of these numbers of ranks".into()));
    }
    let choosers = choosers(&options.rules)?;
    let compared = compare(rows, &machine)?;
    write_table(&compared, output)?;
    let share = share_within(&compared, options.within);
    writeln!(output, "\n{}", summary(&compared, options.within))?;
    for chooser in &choosers {
        regret::write(&compared, chooser, &machine, output)?;
    }
    if let Some(path) = &options.plot {
        let picture = plot::draw(&compared, options.machine.title(), options.within);
        files::write(Some(path), picture.map_err(Failure::Input)?.as_bytes(), output)?;
    }
    Ok(if options.share.is_some_and(|wanted| share < wanted) { Outcome::Wrong } else { Outcome::Right })
}

/// Returns the choosers: prediction, and the rules of each file.
fn choosers(files: &[PathBuf]) -> Result<Vec<Chooser>, Failure> {
    let mut choosers = vec![Chooser::Prediction];
    for file in files {
        choosers.push(Chooser::Rules(files::name(file), in_order([file.as_path()].into_iter())?));
    }
    Ok(choosers)
}

/// Predicts all rows.
pub fn compare(rows: Vec<Row>, machine: &Machine) -> Result<Vec<Compared>, Failure> {
    let predicted = Mutex::new(vec![0.0; rows.len()]);
    parallel::for_each(&measured::alike(&rows), |alike| {
        let mut simulation = rows[alike[0]].simulation(machine)?.keeping(MOST_POSTS);
        for &number in alike {
            let seconds = rows[number].predicted(&mut simulation)?;
            predicted.lock().expect("nobody panics")[number] = seconds;
        }
        Ok(())
    })
    .map_err(Failure::Input)?;
    let predicted = predicted.into_inner().expect("nobody panics");
    Ok(rows.into_iter().zip(predicted).map(|(row, predicted)| Compared { row, predicted }).collect())
}

impl Compared {
    /// Returns by which part of the measured time the prediction is too long; negative if too short.
    pub fn error(&self) -> f64 {
        self.predicted / self.row.seconds - 1.0
    }
}

/// Writes measured times, predictions and errors.
pub fn write_table(compared: &[Compared], output: &mut impl Write) -> io::Result<()> {
    let head = ["collective", "algorithm", "ranks", "bytes", "measured/us", "predicted/us", "error"];
    let row = |compared: &Compared| {
        let [collective, algorithm, ranks, bytes] = compared.row.described();
        let [measured, predicted] =
            [compared.row.seconds, compared.predicted].map(|seconds| format!("{:.1}", 1e6 * seconds));
        let error = format!("{:+.1} %", 100.0 * compared.error());
        [collective, algorithm, ranks, bytes, measured, predicted, error]
    };
    table::write(head, &compared.iter().map(row).collect::<Vec<_>>(), output)
}

fn share_within(compared: &[Compared], limit: f64) -> f64 {
    let good = compared.iter().filter(|compared| compared.error().abs() <= limit).count();
    good as f64 / compared.len() as f64
}

/// Returns the error, in percent, within which `part` of the predictions are.
fn quantile(compared: &[Compared], part: f64) -> f64 {
    let mut errors: Vec<f64> = compared.iter().map(|compared| 100.0 * compared.error().abs()).collect();
    errors.sort_by(f64::total_cmp);
    errors[((errors.len() - 1) as f64 * part).round() as usize]
}

/// Returns how many predictions are good, and how large errors are.
pub fn summary(compared: &[Compared], limit: f64) -> String {
    format!(
        "{:.1} % of {} are within {} %; half of them within {:.1} %, nine of ten within {:.1} %, all within {:.1} %",
        100.0 * share_within(compared, limit),
        counted(compared.len(), "prediction"),
        100.0 * limit,
        quantile(compared, 0.5),
        quantile(compared, 0.9),
        quantile(compared, 1.0)
    )
}
