//! The files and tables that a tuning writes at its end.

use crate::failure::Failure;
use crate::files::unwritable;
use crate::report_html;
use crate::words::counted;
use rustcoll::selection::quantity;
use rustcoll::text::{Alignment, columns};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tuning::{Decision, Demands, Gains, Limits, Tuning, open_mpi_rules, profiles, rules, tuned_rules, words};

const RULES: &str = "rules.toml";

/// The rules for Open MPI up to series 5, and from series 6 on.
const OTHERS: [&str; 2] = ["tuned.conf", "open-mpi.json"];

/// The folder of profiles for PGMPITuneLib.
const PROFILES: &str = "profiles";

/// The results for people.
const REPORT: &str = "report.html";

/// A verified cell is too slow if it takes more than this many times the default's time.
const WORST: f64 = 1.05;

const HEADINGS: [(&str, Alignment); 8] = [
    ("collective", Alignment::Left),
    ("ranks", Alignment::Right),
    ("bytes", Alignment::Right),
    ("default", Alignment::Left),
    ("time", Alignment::Right),
    ("chosen", Alignment::Left),
    ("time", Alignment::Right),
    ("gain", Alignment::Right),
];

/// Returns the path of the rule file.
pub fn rule_file(folder: &Path) -> PathBuf {
    folder.join(RULES)
}

/// Writes the report, and all files for rustcoll and other libraries. Removes earlier files that have no successor.
pub fn write(tuning: &Tuning, folder: &Path, demands: Demands) -> Result<(), Failure> {
    let limits = Limits { factor: 1.0 / (1.0 - demands.gain), significance: demands.significance };
    let report = report_html::page(tuning, limits).map_err(Failure::Input)?;
    save(&folder.join(REPORT), &report)?;
    write_profiles(tuning, &folder.join(PROFILES), limits)?;
    save(&rule_file(folder), &rules(tuning))?;
    if !tuning.has_rules() {
        return OTHERS.iter().try_for_each(|name| remove(&folder.join(name)));
    }
    let others = [tuned_rules(tuning), open_mpi_rules(tuning)];
    for (name, conversion) in OTHERS.iter().zip(others) {
        let conversion = conversion.map_err(|faults| Failure::Input(faults.to_string()))?;
        save(&folder.join(name), &conversion.text)?;
    }
    Ok(())
}

/// Writes profiles. First removes all earlier ones, because PGMPITuneLib would still read them.
fn write_profiles(tuning: &Tuning, folder: &Path, limits: Limits) -> Result<(), Failure> {
    let failed = |error: io::Error| unwritable(folder, &error);
    if folder.exists() {
        for file in fs::read_dir(folder).map_err(failed)? {
            let path = file.map_err(failed)?.path();
            if path.extension().is_some_and(|ending| ending == "prf") {
                remove(&path)?;
            }
        }
    }
    let profiles = profiles(tuning, limits);
    if !profiles.is_empty() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    profiles.iter().try_for_each(|profile| save(&folder.join(&profile.file), &profile.text))
}

fn save(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| unwritable(path, &error))
}

fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unwritable(path, &error)),
        _ => Ok(()),
    }
}

/// Prints the choices, and how to use them.
pub fn print(tuning: &Tuning, folder: &Path, output: &mut impl Write) -> io::Result<()> {
    let rows: Vec<_> = tuning.cells.iter().map(row).collect();
    output.write_all(columns(HEADINGS, &rows).as_bytes())?;
    writeln!(output)?;
    let chosen = tuning.cells.iter().filter(|cell| cell.chosen.is_some()).count();
    let cells = counted(tuning.cells.len(), "cell");
    write!(output, "{chosen} of {cells} have something faster than the default")?;
    match tuning.expected_gains().mean().filter(|_| tuning.has_rules()) {
        Some(mean) => writeln!(output, "; geometric-mean gain {}", words::percent(1.0 - mean))?,
        None => writeln!(output)?,
    }
    let skipped = format!("{:.0} s of measuring were saved by predictions", tuning.seconds_saved);
    writeln!(output, "{skipped}, as estimated")?;
    if !tuning.has_rules() {
        return writeln!(
            output,
            "There is nothing to write rules for: {RULES} has none, and jobs that name it run as by default. {REPORT} tells more."
        );
    }
    let files = tuning.provenance.rules.iter().cloned().chain([rule_file(folder).display().to_string()]);
    let files = files.collect::<Vec<_>>().join(",");
    writeln!(
        output,
        "\nTo use it:\n\n    mpirun --mca coll rustcoll,tuned,basic,libnbc,self,inter --mca coll_rustcoll_rules_file {files} ...\n"
    )?;
    writeln!(output, "{REPORT} beside it tells more; {} are for plain Open MPI.", OTHERS.join(" and "))
}

fn row(cell: &Decision) -> [String; 8] {
    let time = |seconds: Option<f64>| seconds.map_or(String::new(), words::time);
    let chosen = cell.chosen.as_ref().map(|chosen| (&cell.candidates[chosen.candidate], chosen.gain));
    let name = |tried: &tuning::Tried| {
        let text = tried.contestant.to_string();
        text.split_once(':').map_or(text.clone(), |(_, name)| name.to_owned())
    };
    [
        cell.collective.name().to_owned(),
        cell.ranks.to_string(),
        quantity::in_units(cell.bytes),
        cell.default.ran.clone(),
        time(cell.default.median()),
        chosen.map_or(String::new(), |(tried, _)| name(tried)),
        time(chosen.and_then(|(tried, _)| tried.median())),
        chosen.map_or(String::new(), |(_, gain)| words::percent(gain)),
    ]
}

const VERIFIED: [(&str, Alignment); 6] = [
    ("collective", Alignment::Left),
    ("ranks", Alignment::Right),
    ("bytes", Alignment::Right),
    ("default", Alignment::Right),
    ("tuned", Alignment::Right),
    ("ratio", Alignment::Right),
];

/// Prints what the rule file gained in the verification, if there was one. Returns whether no cell is too slow.
pub fn print_verified(tuning: &Tuning, output: &mut impl Write) -> io::Result<bool> {
    let gains: Gains = tuning.verified_gains();
    let (Some(mean), Some((worst, ratio))) = (gains.mean(), gains.worst()) else { return Ok(true) };
    let rows: Vec<_> = gains.cells.iter().map(|(cell, ratio)| verified_row(cell, *ratio)).collect();
    writeln!(output, "\nThe default and the rule file in the same jobs:\n")?;
    output.write_all(columns(VERIFIED, &rows).as_bytes())?;
    writeln!(
        output,
        "\nverified: geometric-mean gain {} in {}",
        words::percent(1.0 - mean),
        counted(rows.len(), "cell")
    )?;
    let (name, ranks, bytes) = (worst.collective.name(), worst.ranks, words::bytes(worst.bytes));
    writeln!(output, "worst cell: {name}, {ranks} ranks, {bytes}: {ratio:.3} of the default's time")?;
    Ok(ratio <= WORST)
}

fn verified_row(cell: &Decision, ratio: f64) -> [String; 6] {
    let times = cell.verified.as_ref().map(|both| both.each_ref().map(tuning::Tried::median));
    let [default, tuned] = times.unwrap_or_default().map(|time| time.map_or(String::new(), words::time));
    let (name, ranks) = (cell.collective.name().to_owned(), cell.ranks.to_string());
    [name, ranks, quantity::in_units(cell.bytes), default, tuned, format!("{ratio:.3}")]
}
