//! `rustcoll atlas`

use crate::command_line::AtlasOptions;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::pictures::{self, Format};
use crate::predict::priced;
use crate::problem::algorithm;
use crate::progress::Progress;
use rustcoll::algorithms::{Algorithm, Collective};
use rustcoll::atlas::{Atlas, Candidate, Sweep, numbers_of_bytes, numbers_of_ranks};
use rustcoll::cost::Machine;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

/// A candidate that takes this many times as long as the fastest one gets no time.
const SLOWEST: f64 = 4.0;

/// Draws which algorithm is the fastest.
pub fn run(options: &AtlasOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let format = options.output.as_deref().map(format).transpose()?.flatten();
    let machine = options.machine.read()?;
    let sweep = if options.sweep { Sweep::Parameters } else { Sweep::Defaults };
    let candidates = candidates(options, sweep)?;
    let bytes = numbers_of_bytes(options.bytes.clone(), 1);
    let ranks = numbers_of_ranks(options.ranks.clone(), machine.ranks_per_node);
    let atlas = priced_atlas(candidates, &machine, ranks, bytes, SLOWEST, &|_, _, _| false)?;
    let content = match format {
        None => as_csv(&atlas).into_bytes(),
        Some(format) => {
            let (collective, machine) = (atlas.collective.name(), options.machine.title());
            let title = format!("The fastest {collective} on {machine}");
            pictures::draw(&atlas, &title, format).map_err(Failure::Input)?
        }
    };
    files::write(options.output.as_deref(), &content, output)?;
    Ok(Outcome::Right)
}

/// Returns the kind of picture for a file name; none for comma-separated values.
fn format(path: &Path) -> Result<Option<Format>, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => Ok(Some(Format::Svg)),
        Some("png") => Ok(Some(Format::Png)),
        Some("csv") => Ok(None),
        _ => Err(Failure::Usage(format!(
            "{}: its name does not end as those of known formats do: .svg, .png or .csv",
            path.display()
        ))),
    }
}

fn candidates(options: &AtlasOptions, sweep: Sweep) -> Result<Vec<Candidate>, Failure> {
    let collective = priced(options.collective)?;
    let algorithms = one_group_algorithms(collective, &options.algorithms)?;
    Ok(algorithms.into_iter().flat_map(|algorithm| Candidate::of(collective, algorithm, sweep)).collect())
}

/// Returns the algorithms of these names. Without names, returns all that have prices.
pub fn one_group_algorithms(
    collective: Collective,
    names: &[String],
) -> Result<Vec<&'static Algorithm>, Failure> {
    match names.is_empty() {
        true => Ok(Candidate::algorithms(collective).collect()),
        false => names.iter().map(|name| one_group_algorithm(collective, name)).collect(),
    }
}

fn one_group_algorithm(collective: Collective, name: &str) -> Result<&'static Algorithm, Failure> {
    let algorithm = algorithm(collective, name)?;
    match algorithm.is_for_two_groups() {
        true => Err(Failure::Usage(format!("--algorithms: {name} is for communicators of two groups"))),
        false => Ok(algorithm),
    }
}

/// Returns an atlas, and shows a bar on the terminal meanwhile. It has times of candidates that take up to
/// `slowest` times as long as the fastest, and of those that `is_needed` for some ranks and bytes.
pub fn priced_atlas(
    candidates: Vec<Candidate>,
    machine: &Machine,
    ranks: Vec<usize>,
    bytes: Vec<usize>,
    slowest: f64,
    is_needed: &(dyn Fn(&Candidate, usize, usize) -> bool + Sync),
) -> Result<Atlas, Failure> {
    let collective = candidates[0].collective;
    let bytes = if collective == Collective::Barrier { vec![0] } else { bytes };
    let progress = Progress::new(collective.name());
    let atlas =
        Atlas::with(candidates, machine, ranks, bytes, slowest, is_needed, |part| progress.show(part))
            .map_err(|error| Failure::Input(error.to_string()))?;
    drop(progress);
    if !atlas.too_large.is_empty() {
        let from = atlas.too_large.iter().map(|(name, ranks)| format!("{name} from {ranks} ranks on"));
        let from = from.collect::<Vec<_>>().join(", ");
        eprintln!("rustcoll: {}: too large to be simulated: {from}", collective.name());
    }
    Ok(atlas)
}

/// Returns a line for each point, with each candidate's time in microseconds. What is not known is empty.
fn as_csv(atlas: &Atlas) -> String {
    let names: Vec<String> =
        atlas.candidates.iter().map(|candidate| candidate.to_string().replace(", ", " ")).collect();
    let mut text = format!("ranks,bytes,fastest,{}\n", names.join(","));
    for point in atlas.points() {
        let times = atlas.times(point).iter().map(|time| match time.is_finite() {
            true => format!("{}", 1e6 * time),
            false => String::new(),
        });
        let (ranks, bytes) = (atlas.ranks[point.ranks], atlas.bytes[point.bytes]);
        let times = times.collect::<Vec<_>>().join(",");
        let fastest = atlas.winner(point).map_or("", |winner| &names[winner]);
        writeln!(text, "{ranks},{bytes},{fastest},{times}").expect("a text takes everything");
    }
    text
}
