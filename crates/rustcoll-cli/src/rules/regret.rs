//! `rustcoll rules regret`

use super::{can_be_derived, in_order};
use crate::atlas::priced_atlas;
use crate::command_line::RegretOptions;
use crate::failure::{Failure, Outcome};
use crate::predict::{call_on, priced};
use crate::table;
use crate::words::percent;
use rustcoll::algorithms::Collective;
use rustcoll::atlas::{Candidate, Sweep, numbers_of_bytes, sampled_numbers_of_ranks};
use rustcoll::cost::Machine;
use rustcoll::selection::{Choice, Rules, quantity};
use std::io::Write;

/// Predictions are made for one number of bytes out of this many powers of two.
const POWERS_OF_BYTES: usize = 2;

/// What the rules' choices lose against the fastest algorithms.
#[derive(Default)]
struct Regrets {
    /// The points at which the choice has a price.
    known: Vec<Regret>,
    /// The number of points at which the choice is too large to simulate.
    unknown: usize,
    /// The number of points at which the rules choose no algorithm that has a price of its own.
    elsewhere: usize,
}

/// What the rules' choice loses at one point.
struct Regret {
    ranks: usize,
    bytes: usize,
    chosen: Choice,
    fastest: Candidate,
    /// How much longer the choice takes, as a part of the fastest time.
    part: f64,
}

/// Prints how much longer the rules' choices take than the fastest algorithm, by the predictions for a machine.
pub fn run(options: &RegretOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let machine = options.machine.read()?;
    let rules = in_order(options.file.as_deref().into_iter())?;
    let mut rows = Vec::new();
    let mut is_within = true;
    for collective in collectives(options)? {
        let Regrets { known: mut regrets, unknown, elsewhere } =
            regrets(options, &machine, &rules, collective)?;
        regrets.sort_by(|one, other| other.part.total_cmp(&one.part));
        let logarithms: f64 = regrets.iter().map(|regret| regret.part.ln_1p()).sum();
        let points = regrets.len();
        let mean = (logarithms / points.max(1) as f64).exp_m1();
        let beyond = options.limit.map(|limit| regrets.iter().filter(|regret| regret.part > limit).count());
        // A limit holds for no choices that have no price.
        is_within &= beyond.is_none_or(|beyond| beyond == 0 && points > 0);
        let none = String::new;
        let mut summary = format!("mean of {points} points");
        for (more, what) in
            [(unknown, "have no price"), (elsewhere, "are left to the component below or to mock-ups")]
        {
            if more > 0 {
                summary += &format!("; {more} more {what}");
            }
        }
        rows.push([collective.name().into(), none(), none(), percent(mean), summary, none()]);
        rows.extend(regrets.iter().take(options.worst).map(|regret| row(collective, regret)));
    }
    table::write(["collective", "ranks", "bytes", "regret", "chosen", "fastest"], &rows, output)?;
    Ok(if is_within { Outcome::Right } else { Outcome::Wrong })
}

fn collectives(options: &RegretOptions) -> Result<Vec<Collective>, Failure> {
    if options.collective.is_empty() {
        return Ok(Collective::ALL.into_iter().filter(|&collective| can_be_derived(collective)).collect());
    }
    options.collective.iter().map(|&collective| priced(collective)).collect()
}

/// Returns what the choices lose at all points. It only counts calls for the component below and algorithms
/// that call other collectives, because they have no price.
fn regrets(
    options: &RegretOptions,
    machine: &Machine,
    rules: &Rules,
    collective: Collective,
) -> Result<Regrets, Failure> {
    let ranks = sampled_numbers_of_ranks(options.ranks.clone(), machine.ranks_per_node);
    let bytes = numbers_of_bytes(options.bytes.clone(), POWERS_OF_BYTES);
    let choose = |size: usize, bytes: usize| rules.choose(&call_on(machine, collective, size, bytes));
    let mut candidates = Candidate::all(collective, Sweep::Parameters);
    for choice in ranks.iter().flat_map(|&size| bytes.iter().map(move |&bytes| choose(size, bytes))) {
        if position(&candidates, choice).is_none()
            && let Choice::Use { algorithm, parameters } = choice
            && !algorithm.is_mock_up()
        {
            candidates.push(Candidate { collective, algorithm, parameters });
        }
    }
    // The atlas needs only the fastest and the chosen candidates.
    let is_chosen =
        |candidate: &Candidate, size: usize, bytes: usize| is_choice(candidate, choose(size, bytes));
    let atlas = priced_atlas(candidates, machine, ranks, bytes, 1.0, &is_chosen)?;
    let mut regrets = Regrets::default();
    for point in atlas.points() {
        let chosen = choose(atlas.ranks[point.ranks], atlas.bytes[point.bytes]);
        let Some(number) = position(&atlas.candidates, chosen) else {
            regrets.elsewhere += 1;
            continue;
        };
        let time = atlas.times(point)[number];
        match atlas.winner(point).filter(|_| time.is_finite()) {
            Some(winner) => regrets.known.push(Regret {
                ranks: atlas.ranks[point.ranks],
                bytes: atlas.bytes[point.bytes],
                chosen,
                fastest: atlas.candidates[winner],
                part: atlas.excess(point, time).max(0.0),
            }),
            None => regrets.unknown += 1,
        }
    }
    Ok(regrets)
}

/// Returns the index of the candidate that is chosen.
fn position(candidates: &[Candidate], choice: Choice) -> Option<usize> {
    candidates.iter().position(|candidate| is_choice(candidate, choice))
}

fn is_choice(&Candidate { algorithm, parameters, .. }: &Candidate, choice: Choice) -> bool {
    choice == Choice::Use { algorithm, parameters }
}

fn row(collective: Collective, regret: &Regret) -> [String; 6] {
    let Regret { ranks, bytes, chosen, fastest, part } = regret;
    let bytes = quantity::in_units(*bytes);
    [
        collective.name().into(),
        ranks.to_string(),
        bytes,
        percent(*part),
        chosen.to_string(),
        fastest.to_string(),
    ]
}
