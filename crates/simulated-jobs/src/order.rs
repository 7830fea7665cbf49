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
/// history says, before steps on other communicators. Persistent ones also start before the starts of others on theirs.
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
        // A rank that starts an operation again first waits for it. So it must have done all that precedes the earlier start.
        let started = earlier_start(history, order[index]);
        let may_pass = |other: usize| match (&step.deed, &steps[other].deed) {
            (_, Deed::Set(_)) => false,
            _ if started.is_some_and(|started| other <= started) => false,
            (Deed::Start(_), Deed::Start(_)) => true,
            _ => steps[other].communicator(history) != communicator,
        };
        let earliest = draw(history, step, rank, 0) % EARLIEST;
        let mut place = index;
        while place > 0 && ((index - place) as u64) < earliest && may_pass(order[place - 1]) {
            order.swap(place - 1, place);
            place -= 1;
        }
    }
    order
}

/// Returns the place where the operation that a step starts was last started before, if it was.
fn earlier_start(history: &History, place: usize) -> Option<usize> {
    let Deed::Start(number) = history.steps[place].deed else { return None };
    history.steps[..place].iter().rposition(|step| matches!(step.deed, Deed::Start(other) if other == number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;
    use crate::parameters::Parameter;

    fn histories(seeds: u64) -> impl Iterator<Item = History> {
        let parameters = Parameter::all();
        (0..seeds).map(move |seed| generate::history(seed, &parameters))
    }

    /// Returns the operations for which a rank waits before it does an act. `begun`: those that it has begun.
    fn awaited(history: &History, act: Act, begun: &[bool]) -> Vec<usize> {
        let steps = &history.steps;
        let place = match act {
            Act::Wait(place) => return vec![place],
            Act::Step(place) => place,
        };
        let is_there = |step: &Step| step.communicator(history) == steps[place].communicator(history);
        let duplicates = |step: &Step| matches!(step.deed, Deed::Duplicate(_));
        let is_awaited = |step: &Step| match &steps[place].deed {
            Deed::Make(_) | Deed::Block(_) | Deed::Start(_) => false,
            Deed::Set(_) => duplicates(step),
            Deed::Free(_) | Deed::Duplicate(_) => is_there(step),
            Deed::Begin(_) | Deed::Prepare(_) => duplicates(step) && is_there(step),
        };
        let awaited = (0..steps.len()).filter(|&other| begun[other] && is_awaited(&steps[other]));
        awaited.chain(earlier_start(history, place)).collect()
    }

    /// Whether all ranks come to their ends, if every operation ends once all its ranks have begun it.
    fn all_end(history: &History) -> bool {
        let acts: Vec<Vec<Act>> = (0..history.ranks).map(|rank| acts(history, rank)).collect();
        let mut done = vec![0; history.ranks];
        let mut begun = vec![vec![false; history.steps.len()]; history.ranks];
        let has_ended = |begun: &[Vec<bool>], place: usize| {
            let communicator = history.steps[place].communicator(history).expect("an operation has one");
            history.communicators[communicator].members.iter().all(|&rank| begun[rank][place])
        };
        let mut goes_on = true;
        while std::mem::take(&mut goes_on) {
            for rank in 0..history.ranks {
                let Some(&act) = acts[rank].get(done[rank]) else { continue };
                let awaited = awaited(history, act, &begun[rank]);
                if !awaited.into_iter().all(|place| has_ended(&begun, place)) {
                    continue;
                }
                if let Act::Step(place) = act {
                    let deed = &history.steps[place].deed;
                    begun[rank][place] = !matches!(deed, Deed::Set(_) | Deed::Make(_) | Deed::Free(_));
                    if matches!(deed, Deed::Block(_) | Deed::Prepare(_)) && !has_ended(&begun, place) {
                        continue;
                    }
                }
                done[rank] += 1;
                goes_on = true;
            }
        }
        (0..history.ranks).all(|rank| done[rank] == acts[rank].len())
    }

    #[test]
    fn ranks_do_not_wait_for_each_other_in_a_circle() {
        for history in histories(3000) {
            assert!(all_end(&history), "{history}");
        }
    }

    #[test]
    fn ranks_start_persistent_operations_of_a_communicator_in_different_orders() {
        let starts = |history: &History, rank: usize, communicator: usize| -> Vec<usize> {
            let place = |act: &Act| if let Act::Step(place) = *act { Some(place) } else { None };
            let is_start = |&place: &usize| {
                let step = &history.steps[place];
                matches!(step.deed, Deed::Start(_)) && step.communicator(history) == Some(communicator)
            };
            acts(history, rank).iter().filter_map(place).filter(is_start).collect()
        };
        let differ = |history: &History| starts(history, 0, 0) != starts(history, 1, 0);
        assert!(histories(200).any(|history| differ(&history)));
    }
}
