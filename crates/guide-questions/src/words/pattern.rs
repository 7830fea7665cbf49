//! Says who sends what to whom, from the messages of a step alone.

use super::numbers::{count, counts, digits, listed, named};
use super::scene::{Scene, blocks, buffer};
use crate::trace::Sentence;
use rustcoll::algorithms::{Collective, Nodes};
use rustcoll::schedule::{Buffer, Message};
use rustcoll::trace::Travel;

/// A text names this many messages, or one more if that is all of them.
const MOST_NAMED: usize = 4;

/// The rank of examples, if it exists. It is small, but not so small that terms vanish.
const SAMPLE: usize = 3;

/// Returns the rank of examples.
pub fn sample_rank(size: usize) -> usize {
    SAMPLE.min(size - 1)
}

/// Says who sends to whom: by a rule that all messages share, otherwise by naming the first messages.
pub fn who(scene: &Scene, travels: &[Travel]) -> Sentence {
    let found = between_two(travels)
        .or_else(|| exchange_by_bits(scene, travels, Prefer::Shifts))
        .or_else(|| shift_of_all(scene, travels))
        .or_else(|| exchange_by_bits(scene, travels, Prefer::Exchanges))
        .or_else(|| shift_on_nodes(scene, travels))
        .or_else(|| shift_of_some(scene, travels))
        .or_else(|| in_pairs(travels));
    found.unwrap_or_else(|| {
        let messages = count(travels.len(), "message");
        Sentence::plain(format!("{messages} travel: {}.", arrows(&travels.iter().collect::<Vec<_>>())))
    })
}

/// Returns messages as arrows: `0 → 1, 1 → 2 and 3 others`.
pub fn arrows(travels: &[&Travel]) -> String {
    let arrow = |travel: &&Travel| format!("{} → {}", travel.source, travel.target);
    with_others(travels.iter().map(arrow).collect())
}

/// Returns the first things, and how many others there are.
pub fn with_others(things: Vec<String>) -> String {
    let named = if things.len() > MOST_NAMED + 1 { MOST_NAMED } else { things.len() };
    let rest =
        if things.len() > named { format!(" and {} others", things.len() - named) } else { String::new() };
    format!("{}{rest}", things[..named].join(", "))
}

/// Returns the message for examples: that of the highest source up to [`SAMPLE`], otherwise the first.
pub fn sample(travels: &[Travel]) -> &Travel {
    let small = travels.iter().filter(|travel| travel.source <= SAMPLE).max_by_key(|travel| travel.source);
    small.unwrap_or(&travels[0])
}

/// Returns the distance of a message, modulo the number of ranks.
pub fn distance(size: usize, travel: &Travel) -> usize {
    (travel.target + size - travel.source) % size
}

/// Returns a rank moved by a distance: `i + 2`, or `i − 1` if that is the shorter way round.
fn moved(rank: &str, distance: usize, size: usize) -> String {
    if 2 * distance <= size {
        format!("{rank} + {distance}")
    } else {
        format!("{rank} − {}", size - distance)
    }
}

/// Returns the distance of the messages, if all have the same.
fn common_distance(scene: &Scene, travels: &[Travel]) -> Option<usize> {
    let first = distance(scene.size(), &travels[0]);
    travels.iter().all(|travel| distance(scene.size(), travel) == first).then_some(first)
}

fn shift_of_all(scene: &Scene, travels: &[Travel]) -> Option<Sentence> {
    let size = scene.size();
    let distance = common_distance(scene, travels).filter(|_| travels.len() == size)?;
    let Travel { source, target, .. } = sample(travels);
    let (any, one) = (moved("i", distance, size), moved(&source.to_string(), distance, size));
    Some(Sentence::with(
        format!("Every rank i sends to rank ({any}) mod {size}."),
        format!("({any}) mod {size}; rank {source}: ({one}) mod {size} = {target}"),
    ))
}

/// For steps in which every rank sends to a rank of its node. All nodes have equally many ranks.
fn shift_on_nodes(scene: &Scene, travels: &[Travel]) -> Option<Sentence> {
    let nodes = &scene.problem().nodes;
    if nodes.is_empty() {
        return None;
    }
    let length = nodes.population(0);
    let is_block_placed = length > 1 && *nodes == Nodes::even(scene.size(), length, scene.size());
    if !is_block_placed || travels.len() != scene.size() || !scene.size().is_multiple_of(length) {
        return None;
    }
    let on_node = |travel: &Travel| {
        let is_on_one = travel.source / length == travel.target / length;
        is_on_one.then(|| (travel.target + length - travel.source) % length)
    };
    let distance = on_node(&travels[0])?;
    let Travel { source, target, .. } = sample(travels);
    let (any, one) = (moved("j", distance, length), moved(&(source % length).to_string(), distance, length));
    travels.iter().all(|travel| on_node(travel) == Some(distance)).then(|| {
        Sentence::with(
            format!("On every node rank number j of it sends to number ({any}) mod {length}."),
            format!(
                "rank {source} is number {}: ({one}) mod {length} = {}, which is rank {target}",
                source % length,
                target % length
            ),
        )
    })
}

/// For several ranks, but not all. Ranks are counted from the root, if the root is not rank 0.
fn shift_of_some(scene: &Scene, travels: &[Travel]) -> Option<Sentence> {
    let distance = common_distance(scene, travels).filter(|_| travels.len() > 1)?;
    let size = scene.size();
    let numbers = |travel: &Travel| (scene.relative(travel.source), scene.relative(travel.target));
    let goes_up = |travel: &Travel| numbers(travel).0 < numbers(travel).1;
    let ups = travels.iter().filter(|travel| goes_up(travel)).count();
    let to = |rank: &str| match ups {
        0 => format!("{rank} − {}", size - distance),
        all if all == travels.len() => format!("{rank} + {distance}"),
        _ => format!("({}) mod {size}", moved(rank, distance, size)),
    };
    let sample = sample(travels);
    let (Travel { source, target, .. }, (own, other)) = (sample, numbers(sample));
    let ranks = listed(&travels.iter().map(|travel| numbers(travel).0).collect::<Vec<_>>());
    Some(match scene.root() {
        0 => Sentence::with(
            format!("Ranks i = {ranks} send to rank {}.", to("i")),
            format!("{}; rank {source}: {} = {target}", to("i"), to(&source.to_string())),
        ),
        root => Sentence::with(
            format!("Counted from the root, ranks {ranks} send to {}.", to("r")),
            format!(
                "r = (i − {root}) mod {size}; rank {source}: r = {own}, sends to r = {other}, which is rank {target}"
            ),
        ),
    })
}

/// How to describe a step in which each half of the ranks sends to the other: it is both a shift and an exchange.
#[derive(Clone, Copy, PartialEq)]
enum Prefer {
    /// As an exchange, if another step of the run is an exchange but no shift.
    Shifts,
    /// As an exchange.
    Exchanges,
}

fn exchange_by_bits(scene: &Scene, travels: &[Travel], prefer: Prefer) -> Option<Sentence> {
    let mask = common_mask(travels)?;
    if prefer == Prefer::Shifts {
        let is_no_shift = |travels: &[Travel]| {
            !travels.is_empty() && common_mask(travels).is_some() && common_distance(scene, travels).is_none()
        };
        if !scene.all().any(is_no_shift) {
            return None;
        }
    }
    let ranks: Vec<usize> = travels.iter().map(|travel| travel.source).collect();
    let Travel { source, target, .. } = sample(travels);
    let width = digits(scene.size() - 1, 2, 1).len();
    let bits = |number| digits(number, 2, width);
    let whose = match ranks.len() == scene.size() {
        true => "Every rank i exchanges".to_string(),
        false => format!("Ranks i = {} exchange", listed(&ranks)),
    };
    Some(Sentence::with(
        format!("{whose} with rank i XOR {mask}."),
        format!(
            "i XOR {mask}; rank {source}: {} XOR {} = {} = {target}",
            bits(*source),
            bits(mask),
            bits(*target)
        ),
    ))
}

/// Returns the bit in which source and target of every message differ, if several pairs exchange.
fn common_mask(travels: &[Travel]) -> Option<usize> {
    let mask = travels[0].source ^ travels[0].target;
    let is_answered = |travel: &Travel| {
        travels.iter().any(|other| (other.source, other.target) == (travel.target, travel.source))
    };
    let is_common = travels.iter().all(|travel| travel.source ^ travel.target == mask && is_answered(travel));
    (mask.is_power_of_two() && travels.len() > 2 && is_common).then_some(mask)
}

/// For messages between two ranks only.
fn between_two(travels: &[Travel]) -> Option<Sentence> {
    match travels {
        [Travel { source, target, .. }] => {
            Some(Sentence::plain(format!("Rank {source} sends to rank {target}.")))
        }
        [one, other] if (one.source, one.target) == (other.target, other.source) => {
            let (low, high) = (one.source.min(one.target), one.source.max(one.target));
            Some(Sentence::plain(format!("Ranks {low} and {high} exchange messages.")))
        }
        _ => None,
    }
}

/// For steps in which no rank communicates with more than one other.
fn in_pairs(travels: &[Travel]) -> Option<Sentence> {
    let pair = |travel: &Travel| (travel.source.min(travel.target), travel.source.max(travel.target));
    let mut pairs: Vec<(usize, usize)> = travels.iter().map(pair).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut ranks: Vec<usize> = pairs.iter().flat_map(|&(one, other)| [one, other]).collect();
    ranks.sort_unstable();
    if ranks.windows(2).any(|ranks| ranks[0] == ranks[1]) {
        return None;
    }
    let sends =
        |source, target| travels.iter().any(|travel| (travel.source, travel.target) == (source, target));
    let arrow = |&(one, other): &(usize, usize)| match (sends(one, other), sends(other, one)) {
        (true, true) => format!("{one} ↔ {other}"),
        (true, false) => format!("{one} → {other}"),
        _ => format!("{other} → {one}"),
    };
    let arrows = with_others(pairs.iter().map(arrow).collect());
    Some(Sentence::plain(format!("Ranks communicate in pairs: {arrows}.")))
}

/// Says how many blocks the messages have. For one message it also says which blocks, and what they hold.
pub fn what(scene: &Scene, travels: &[Travel]) -> Sentence {
    if scene.collective() == Collective::Barrier {
        return Sentence::plain("A message is a token: only that it comes matters.");
    }
    let numbers: Vec<usize> = travels.iter().map(|travel| travel.from.blocks()).collect();
    let each = match (travels, &numbers[..]) {
        ([_], _) => format!("The message has {}", counts(&numbers, "block")),
        (_, [first, rest @ ..]) if rest.iter().all(|number| number == first) => {
            format!("Each message has {}", counts(&numbers, "block"))
        }
        _ => format!("Messages have {}", counts(&numbers, "block")),
    };
    let sample = sample(travels);
    let text = format!("{each}; rank {} sends {}.", sample.source, places(&sample.from));
    let formula = held(scene, sample);
    Sentence { text, formula }
}

/// Returns what a message brings: `blocks 0–3 of 0 ⊕ 1`; none if its blocks held nothing.
fn held(scene: &Scene, travel: &Travel) -> Option<String> {
    let values = &scene.trace.values;
    let mut held: Vec<(String, Vec<usize>)> = Vec::new();
    for value in scene.brought(travel) {
        let (block, text) = (values.block(value), values.text(value));
        let whole = format!("block {block} of ");
        let contributors = text.strip_prefix(&whole).unwrap_or(&text).to_string();
        match held.iter_mut().find(|(known, _)| *known == contributors) {
            Some((_, blocks)) => blocks.push(block),
            None => held.push((contributors, vec![block])),
        }
    }
    let text = |(contributors, blocks): (String, Vec<usize>)| {
        format!("{} of {contributors}", named("block", &blocks))
    };
    (!held.is_empty()).then(|| with_others(held.into_iter().map(text).collect()))
}

/// Returns the blocks of a message by buffer: `block 2 of its send buffer and blocks 0–3 of scratch`.
pub fn places(message: &Message) -> String {
    let mut buffers: Vec<(Buffer, Vec<usize>)> = Vec::new();
    for (buffer, block) in blocks(message) {
        match buffers.iter_mut().find(|(known, _)| *known == buffer) {
            Some((_, numbers)) => numbers.push(block),
            None => buffers.push((buffer, vec![block])),
        }
    }
    let text =
        |(of, numbers): &(Buffer, Vec<usize>)| format!("{} of {}", named("block", numbers), buffer(*of));
    buffers.iter().map(text).collect::<Vec<_>>().join(" and ")
}
