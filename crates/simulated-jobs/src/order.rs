//! The order of a rank's steps. It differs between ranks, but never makes ranks wait for each other in a circle.

use std::fmt;

use expected_results::random::combine;

use crate::history::{Deed, History, Step};

/// The most steps by which a rank begins an operation earlier than the history says.
const EARLIEST: u64 = 4;

/// The most steps of the history after which a rank waits for an operation.
const LATEST: u64 = 8;

/// An act of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Does the step at this place of the history.
    Step(usize),
    /// Waits for the operation that the step at this place began.
    Wait(usize),
}

impl fmt::Display for Act {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Act::Step(place) => write!(formatter, "{place}"),
            Act::Wait(place) => write!(formatter, "wait for {place}"),
        }
    }
}

/// Draws a number from the history, one of its steps and a rank.
pub fn draw(history: &History, step: &Step, rank: usize, what: u64) -> u64 {
    combine(&[history.seed, step.number, rank as u64, what])
}

/// Returns a rank's acts. Before a wait, the rank does all steps that precede the wait in the history. Steps
/// that it does early may not yet be done on other ranks.
pub fn acts(history: &History, rank: usize) -> Vec<Act> {
    let order = order(history, rank);
    let (mut acts, mut begun) = (Vec::new(), Vec::new());
    for (index, &place) in order.iter().enumerate() {
        let first_left = *order[index..].iter().min().expect("there is one");
        let is_due = |(_, due): &(usize, usize)| *due <= first_left;
        acts.extend(begun.iter().filter(|one| is_due(one)).map(|(place, _)| Act::Wait(*place)));
        begun.retain(|one| !is_due(one));
        acts.push(Act::Step(place));
        let step = &history.steps[place];
        if matches!(step.deed, Deed::Begin(_) | Deed::Start(_) | Deed::Duplicate(_)) {
            begun.push((place, place + 1 + (draw(history, step, rank, 2) % LATEST) as usize));
        }
    }
    acts.extend(begun.into_iter().map(|(place, _)| Act::Wait(place)));
    acts
}

/// Returns the places of a rank's steps in its own order. Non-blocking operations begin earlier than the
/// history says, before steps on other communicators. Persistent ones also start before the starts of others.
fn order(history: &History, rank: usize) -> Vec<usize> {
    let steps = &history.steps;
    let concerns = |place: &usize| match steps[*place].communicator(history) {
        Some(communicator) => history.communicators[communicator].members.contains(&rank),
        None => matches!(steps[*place].deed, Deed::Set(_)),
    };
    let mut order: Vec<usize> = (0..steps.len()).filter(concerns).collect();
    for index in 0..order.len() {
        let step = &steps[order[index]];
        let communicator = step.communicator(history);
        // A rank that begins an operation while MPI duplicates the communicator waits for the duplication.
        let duplicates = |place: &usize| {
            matches!(steps[*place].deed, Deed::Duplicate(_))
                && steps[*place].communicator(history) == communicator
        };
        if !matches!(step.deed, Deed::Begin(_) | Deed::Start(_)) || order[..index].iter().any(duplicates) {
            continue;
        }
        let may_pass = |other: &Step| match (&step.deed, &other.deed) {
            (_, Deed::Set(_)) => false,
            (Deed::Start(number), Deed::Start(other)) => number != other,
            _ => other.communicator(history) != communicator,
        };
        let earliest = draw(history, step, rank, 0) % EARLIEST;
        let mut place = index;
        while place > 0 && ((index - place) as u64) < earliest && may_pass(&steps[order[place - 1]]) {
            order.swap(place - 1, place);
            place -= 1;
        }
    }
    order
}
