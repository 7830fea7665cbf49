//! `rustcoll synthesize`

use crate::command_line::SynthesizeOptions;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::progress::Progress;
use rustcoll::algorithms::{Collective, Graph};
use rustcoll::atlas::{Candidate, Sweep, prices};
use std::io::Write;
use synthesis::Search;

/// Searches for an algorithm, compares it with the fastest of rustcoll's own, and writes it if it is faster.
pub fn run(options: &SynthesizeOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let (machine, name) = (options.machine.read()?, options.machine.title());
    let (ranks, bytes) = (options.ranks as usize, options.bytes);
    let input = |error: rustcoll::cost::simulation::SimulationError| Failure::Input(error.to_string());
    let candidates = Candidate::all(Collective::Allgather, Sweep::Parameters);
    let own = prices(&candidates, &machine, (ranks, &Graph::default()), bytes, |_| {}).map_err(input)?;
    let fastest = own.first().expect("allgather has algorithms for all numbers of ranks");
    let progress = Progress::new("timetables");
    let search = Search { ranks, bytes, machine: (&machine, name), attempts: options.attempts as usize };
    let found = search.run(|part| progress.show(part)).map_err(input)?;
    drop(progress);
    let found = found.expect("there are at least two ranks");
    let ratio = found.time / fastest.time();
    writeln!(
        output,
        "the best of {} timetables: {:.2} us, {ratio:.3} times as long as {} of rustcoll's own, the fastest ({:.2} us)",
        options.attempts,
        found.time * 1e6,
        fastest.candidate,
        fastest.time() * 1e6
    )?;
    if ratio >= 1.0 {
        writeln!(output, "nothing is written")?;
        return Ok(Outcome::Wrong);
    }
    files::write(Some(&options.output), found.text.as_bytes(), output)?;
    writeln!(output, "{}: written, and proved", options.output.display())?;
    Ok(Outcome::Right)
}
