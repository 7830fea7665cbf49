//! `rustcoll validate`

mod plot;
mod regret;

use crate::command_line::ValidateOptions;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::measured::left_out::{self, LeftOut};
use crate::measured::{self, Row};
use crate::rules::in_order;
use crate::table;
use crate::words::{counted, given_percent};
use regret::Chooser;
use rustcoll::cost::Machine;
use rustcoll::cost::simulation::MOST_POSTS;
use rustcoll::parallel;
use std::convert::Infallible;
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
    let (compared, left_out) = compare(rows, &machine);
    if compared.is_empty() {
        return Err(left_out::nothing_left(&options.measured, "compared", &left_out));
    }
    write_table(&compared, output)?;
    let share = share_within(&compared, options.within);
    writeln!(output, "\n{}", summary(&compared, options.within))?;
    output.write_all(left_out::lines(&left_out).as_bytes())?;
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

/// Predicts the rows. Those without a price are left out.
pub fn compare(rows: Vec<Row>, machine: &Machine) -> (Vec<Compared>, Vec<LeftOut>) {
    let predicted = Mutex::new(vec![Ok(0.0); rows.len()]);
    let Ok(()) = parallel::for_each(&measured::alike(&rows), |alike| {
        let simulation = rows[alike[0]].simulation(machine);
        let mut simulation = simulation.map(|simulation| simulation.keeping(MOST_POSTS));
        for &number in alike {
            let seconds = match &mut simulation {
                Ok(simulation) => rows[number].predicted(simulation),
                Err(error) => Err(error.clone()),
            };
            predicted.lock().expect("nobody panics")[number] = seconds;
        }
        Ok::<_, Infallible>(())
    });
    let predicted = predicted.into_inner().expect("nobody panics");
    let (mut compared, mut left_out) = (Vec::new(), Vec::new());
    for (row, predicted) in rows.into_iter().zip(predicted) {
        match predicted {
            Ok(predicted) => compared.push(Compared { row, predicted }),
            Err(error) => left_out.push(LeftOut { row, why: left_out::without_price(&error) }),
        }
    }
    (compared, left_out)
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

/// Returns the error, in percent, within which at least so many percent of the predictions are.
fn quantile(compared: &[Compared], percent: usize) -> f64 {
    let mut errors: Vec<f64> = compared.iter().map(|compared| 100.0 * compared.error().abs()).collect();
    errors.sort_by(f64::total_cmp);
    errors[(percent * errors.len()).div_ceil(100) - 1]
}

/// Returns how many predictions are good, and how large errors are.
pub fn summary(compared: &[Compared], limit: f64) -> String {
    format!(
        "{:.1} % of {} are within {}; half of them within {:.1} %, nine of ten within {:.1} %, all within {:.1} %",
        100.0 * share_within(compared, limit),
        counted(compared.len(), "prediction"),
        given_percent(limit),
        quantile(compared, 50),
        quantile(compared, 90),
        quantile(compared, 100)
    )
}
