//! `rustcoll rules derive`

use super::can_be_derived;
use crate::atlas::priced_atlas;
use crate::command_line::DeriveOptions;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::predict::priced;
use crate::words::{counted, given_percent};
use rustcoll::algorithms::Collective;
use rustcoll::atlas::{
    Candidate, Derived, Sweep, derive, numbers_of_bytes, sampled_numbers_of_ranks, to_native,
};
use rustcoll::selection::quantity;
use std::io::Write;

/// Predictions are made for one number of bytes out of this many powers of two.
const POWERS_OF_BYTES: usize = 2;

/// Derives rules from the predictions for a machine.
pub fn run(options: &DeriveOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let machine = options.machine.read()?;
    let full_node = machine.ranks_per_node;
    let ranks = sampled_numbers_of_ranks(options.ranks.clone(), machine.ranks_per_node);
    let bytes = numbers_of_bytes(options.bytes.clone(), POWERS_OF_BYTES);
    let mut rules: Vec<Derived> = Vec::new();
    for collective in collectives(options)? {
        let mut candidates = Candidate::all(collective, Sweep::Parameters);
        candidates.retain(|candidate| full_node > 1 || !candidate.algorithm.takes_shared_memory());
        let (ranks, bytes) = (ranks.clone(), bytes.clone());
        let atlas = priced_atlas(candidates, &machine, ranks, bytes, 1.0 + options.regret, &|_, _, _| false)?;
        rules.append(&mut derive(&atlas, options.regret, full_node));
    }
    let text = head(options, rules.len()) + &to_native(&rules);
    files::write(options.output.as_deref(), text.as_bytes(), output)?;
    Ok(Outcome::Right)
}

/// Returns the collectives that the user names, or all for which rules can ask for bytes, and barrier.
fn collectives(options: &DeriveOptions) -> Result<Vec<Collective>, Failure> {
    if options.collective.is_empty() {
        return Ok(Collective::ALL.into_iter().filter(|&collective| can_be_derived(collective)).collect());
    }
    let checked = options.collective.iter().map(|&collective| match can_be_derived(priced(collective)?) {
        true => Ok(collective),
        false => {
            let message = format!("--collective {}: rules cannot ask for its bytes", collective.name());
            Err(Failure::Usage(message))
        }
    });
    checked.collect()
}

fn head(options: &DeriveOptions, rules: usize) -> String {
    let (ranks, bytes) = (&options.ranks, &options.bytes);
    format!(
        "# {} derived from predictions for {} by `rustcoll rules derive`, for {} to {} ranks and {} to {} bytes.\n\
         # They choose what takes at most {} longer than the fastest, by the predictions for some of these numbers, and\n\
         # hold for fewer and for more as well. Calls between two groups are left to the rules that come after these.\n",
        counted(rules, "rule"),
        options.machine.machine.escape_debug(),
        ranks.start(),
        ranks.end(),
        quantity::in_units(*bytes.start()),
        quantity::in_units(*bytes.end()),
        given_percent(options.regret),
    )
}
