//! `rustcoll synthesize`

use crate::command_line::{MOST_RANKS_TO_SYNTHESIZE, SynthesizeOptions};
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::progress::Progress;
use crate::words::counted;
use rustcoll::algorithms::{Collective, Nodes, Problem};
use rustcoll::atlas::{Candidate, Sweep, prices};
use rustcoll::cost::Machine;
use std::io::Write;
use std::iter;
use synthesis::Search;

/// Searches for an algorithm, compares it with the fastest of rustcoll's own, and writes it if it is faster.
pub fn run(options: &SynthesizeOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let (machine, name) = (options.machine.read()?, options.machine.title());
    let (nodes, bytes) = (nodes(options, &machine)?, options.bytes);
    let ranks = nodes.len();
    let input = |error: rustcoll::cost::simulation::SimulationError| Failure::Input(error.to_string());
    let on = Problem { nodes, ..Problem::new(ranks) };
    let candidates = Candidate::all(Collective::Allgather, Sweep::Parameters);
    let own = prices(&candidates, &machine, &on, bytes, |_| {}).map_err(input)?;
    let fastest = own.first().expect("allgather has algorithms for all numbers of ranks");
    let progress = Progress::new("timetables");
    let search = Search { on, bytes, machine: (&machine, name), attempts: options.attempts as usize };
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

/// Returns the nodes of the ranks: the user's, or those on which the machine places the ranks.
fn nodes(options: &SynthesizeOptions, machine: &Machine) -> Result<Nodes, Failure> {
    if let Some(ranks) = options.ranks {
        return Ok(machine.nodes(ranks as usize));
    }
    let populations = options.nodes.iter().enumerate();
    let nodes: Vec<usize> =
        populations.flat_map(|(node, &ranks)| iter::repeat_n(node, ranks as usize)).collect();
    match nodes.len() {
        2..=MOST_RANKS_TO_SYNTHESIZE => Ok(Nodes::named(nodes)),
        ranks => Err(Failure::Usage(format!(
            "--nodes: these are {} in all; expected 2 to {MOST_RANKS_TO_SYNTHESIZE}",
            counted(ranks, "rank")
        ))),
    }
}
