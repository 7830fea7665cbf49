//! Reads sentences that say who sends to whom, word by word, to compare them with the messages.

use rustcoll::algorithms::Problem;
use rustcoll::trace::Travel;
use std::collections::BTreeSet;

/// The messages that a sentence claims.
#[derive(Debug, Default)]
pub struct Claim {
    /// Source and target of each message that the sentence names.
    messages: BTreeSet<(usize, usize)>,
    /// Whether the sentence claims further messages without naming them.
    has_others: bool,
    /// The number of all messages, if the sentence gives it.
    count: Option<usize>,
}

impl Claim {
    /// Reads a sentence. Returns none if the sentence does not say who sends to whom.
    pub fn read(text: &str, problem: &Problem) -> Option<Claim> {
        let text = text.strip_suffix('.')?;
        let all: Vec<usize> = (0..problem.size).collect();
        let of_every = |prefix| {
            let expression = text.strip_prefix(prefix)?;
            Some(Claim::of(&all, |rank| value(expression, rank)))
        };
        let claim = of_every("Every rank i sends to rank ")
            .or_else(|| of_every("Every rank i exchanges with rank "))
            .or_else(|| Claim::of_some(text));
        if claim.is_some() {
            return claim;
        }
        if let Some(rest) = text.strip_prefix("Counted from the root, ranks ") {
            let (ranks, expression) = rest.split_once(" send to ")?;
            let rank_of = |number: usize| {
                assert!(number < problem.size, "{text}");
                (number + problem.root) % problem.size
            };
            let message = |number| (rank_of(number), rank_of(value(expression, number)));
            return Some(Claim {
                messages: list(ranks).into_iter().map(message).collect(),
                ..Claim::default()
            });
        }
        if let Some(expression) = text.strip_prefix("On every node rank number j of it sends to number ") {
            let length = problem.nodes.population(0);
            let target = |rank: usize| rank - rank % length + value(expression, rank % length);
            return Some(Claim::of(&all, target));
        }
        if let Some(rest) = text.strip_prefix("Ranks communicate in pairs: ") {
            return Some(Claim::of_arrows(rest));
        }
        let (count, rest) = text.split_once(" messages travel: ")?;
        Some(Claim { count: Some(number(count)), ..Claim::of_arrows(rest) })
    }

    /// Reads a sentence that names the ranks.
    fn of_some(text: &str) -> Option<Claim> {
        if let Some(rest) = text.strip_prefix("Ranks i = ") {
            let send = rest.split_once(" send to rank ");
            let (ranks, expression) = send.or_else(|| rest.split_once(" exchange with rank "))?;
            return Some(Claim::of(&list(ranks), |rank| value(expression, rank)));
        }
        if let Some(rest) = text.strip_prefix("Rank ") {
            let (source, target) = rest.split_once(" sends to rank ")?;
            return Some(Claim::of(&[number(source)], |_| number(target)));
        }
        let pair = text.strip_prefix("Ranks ")?.strip_suffix(" exchange messages")?;
        Some(Claim::of_arrows(&pair.replace(" and ", " ↔ ")))
    }

    fn of(ranks: &[usize], target: impl Fn(usize) -> usize) -> Claim {
        let messages = ranks.iter().map(|&rank| (rank, target(rank))).collect();
        Claim { messages, ..Claim::default() }
    }

    /// Reads arrows: `0 → 1, 2 ↔ 3 and 4 others`.
    fn of_arrows(text: &str) -> Claim {
        let (arrows, others) = text.split_once(" and ").unwrap_or((text, ""));
        let mut messages = BTreeSet::new();
        for arrow in arrows.split(", ") {
            if let Some((source, target)) = arrow.split_once(" → ") {
                messages.insert((number(source), number(target)));
            } else {
                let (one, other) = arrow.split_once(" ↔ ").expect("an arrow");
                messages.extend([(number(one), number(other)), (number(other), number(one))]);
            }
        }
        Claim { messages, has_others: !others.is_empty(), count: None }
    }

    /// Whether the messages of a step are those that the sentence claims.
    pub fn holds(&self, travels: &[Travel]) -> bool {
        let sent: BTreeSet<(usize, usize)> =
            travels.iter().map(|travel| (travel.source, travel.target)).collect();
        let are_those = if self.has_others { self.messages.is_subset(&sent) } else { self.messages == sent };
        are_those && self.count.is_none_or(|count| count == travels.len())
    }
}

/// Whether a message goes from the first rank of a formula's example to the rank that the example results in.
pub fn is_sent(formula: &str, travels: &[Travel]) -> bool {
    let (_, sample) = formula.split_once("; rank ").unwrap_or(("", formula));
    let numbers = sample.split(|sign: char| !sign.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let numbers: Vec<usize> = numbers.map(number).collect();
    let (source, target) = (numbers[0], numbers[numbers.len() - 1]);
    travels.iter().any(|travel| (travel.source, travel.target) == (source, target))
}

/// Reads a list of numbers: `0–2, 5`.
fn list(text: &str) -> Vec<usize> {
    let range = |range: &str| match range.split_once('–') {
        Some((first, last)) => number(first)..=number(last),
        None => number(range)..=number(range),
    };
    text.split(", ").flat_map(range).collect()
}

/// Returns the value of an expression, with `letter` in place of the variable at its start.
fn value(expression: &str, letter: usize) -> usize {
    if let Some((inner, modulus)) = expression.strip_prefix('(').and_then(|rest| rest.split_once(") mod ")) {
        return sum(inner, letter).rem_euclid(number(modulus) as isize) as usize;
    }
    match expression.split_once(" XOR ") {
        Some((_, mask)) => letter ^ number(mask),
        None => (sum(expression, letter).try_into())
            .unwrap_or_else(|_| panic!("{expression} of {letter} is no rank")),
    }
}

/// Returns the value of `i + 2` or `i − 2`, with `letter` in place of `i`.
fn sum(expression: &str, letter: usize) -> isize {
    match expression.split_once(" + ") {
        Some((_, term)) => (letter + number(term)) as isize,
        None => letter as isize - number(expression.split_once(" − ").expect("a difference").1) as isize,
    }
}

fn number(digits: &str) -> usize {
    digits.parse().unwrap_or_else(|_| panic!("{digits} is no number"))
}
