//! Makes a faulty history shorter, as long as something is still wrong in it.

use expected_results::arithmetic::Arithmetic;

use crate::history::{Call, Communicator, Deed, Delivery, History, Unit};
use crate::job;
use crate::parameters::Parameter;

/// The number of orders in which a shorter history runs, because its own order may hide the fault.
const ORDERS: u64 = 12;

/// The most runs of histories.
const MOST_RUNS: usize = 6000;

/// Returns a short faulty history, and what is wrong in it.
pub fn shrink(history: &History, wrong: String, parameters: &[Parameter]) -> (History, String) {
    let (mut best, mut wrong, mut runs) = (history.clone(), wrong, 0);
    let mut is_shorter = true;
    while is_shorter {
        is_shorter = false;
        for simplify in SIMPLIFICATIONS {
            // Goes backwards, so that removed steps do not move those still to try.
            for place in (0..best.steps.len().max(best.ranks)).rev() {
                let Some(simpler) = simplify(&best, place) else { continue };
                for order in 0..ORDERS {
                    runs += 1;
                    let simpler = History { seed: history.seed.wrapping_add(order), ..simpler.clone() };
                    if let Some(found) = job::run(&simpler, parameters) {
                        (best, wrong, is_shorter) = (simpler, found, true);
                        break;
                    }
                }
                if runs > MOST_RUNS {
                    return (best, wrong);
                }
            }
        }
    }
    (best, wrong)
}

/// Returns a history that is simpler at a place, if possible.
type Simplification = fn(&History, usize) -> Option<History>;

const SIMPLIFICATIONS: [Simplification; 10] = [
    without_half,
    without_quarter,
    without_step,
    without_last_rank,
    without_fault,
    with_a_much_earlier_fault,
    with_an_earlier_fault,
    with_fewer_values,
    with_a_simple_call,
    in_simple_surroundings,
];

fn without_half(history: &History, place: usize) -> Option<History> {
    let length = history.steps.len() / 2;
    (length > 3 && place.is_multiple_of(length)).then(|| without(history, place, length))
}

fn without_quarter(history: &History, place: usize) -> Option<History> {
    let length = history.steps.len() / 4;
    (length > 1 && place.is_multiple_of(length)).then(|| without(history, place, length))
}

fn without_step(history: &History, place: usize) -> Option<History> {
    (place < history.steps.len()).then(|| without(history, place, 1))
}

/// Returns the history without some steps, and without those that need them.
fn without(history: &History, place: usize, length: usize) -> History {
    let mut shorter = history.clone();
    let end = (place + length).min(shorter.steps.len());
    shorter.steps.drain(place.min(end)..end);
    shorter.without_strays()
}

fn without_last_rank(history: &History, place: usize) -> Option<History> {
    let last = history.ranks - 1;
    let is_lonely = |communicator: &Communicator| {
        let place = communicator.members.iter().position(|&member| member == last);
        place.is_some_and(|place| communicator.ranks().group(place).len() == 1)
    };
    let mut communicators = history.communicators.iter().enumerate();
    if place != last || last < 1 || communicators.any(|(number, one)| history.makes(number) && is_lonely(one))
    {
        return None;
    }
    let mut smaller = history.clone();
    smaller.ranks = last;
    smaller.surroundings.nodes.truncate(last);
    smaller.faults.retain(|fault| fault.rank < last);
    for communicator in &mut smaller.communicators {
        let is_in_second = communicator.second_group().contains(&last);
        communicator.remote -= usize::from(is_in_second);
        communicator.members.retain(|&member| member != last);
        communicator.topology = communicator.topology.of_so_many(communicator.members.len());
    }
    let sizes: Vec<usize> =
        smaller.communicators.iter().map(|communicator| communicator.members.len()).collect();
    each_call(&mut smaller, |call| {
        let size = sizes[call.communicator];
        call.root = call.root.min(size - 1);
        call.other = call.other.filter(|(rank, _)| *rank < size);
    });
    Some(smaller)
}

fn without_fault(history: &History, place: usize) -> Option<History> {
    (place < history.faults.len()).then(|| {
        let mut simpler = history.clone();
        simpler.faults.remove(place);
        simpler
    })
}

fn with_a_much_earlier_fault(history: &History, place: usize) -> Option<History> {
    with_fault_after(history, place, |after| after / 2)
}

fn with_an_earlier_fault(history: &History, place: usize) -> Option<History> {
    with_fault_after(history, place, |after| after.saturating_sub(1))
}

fn with_fault_after(history: &History, place: usize, change: fn(usize) -> usize) -> Option<History> {
    let mut simpler = history.clone();
    let fault = simpler.faults.get_mut(place).filter(|fault| fault.after > 0)?;
    fault.after = change(fault.after);
    Some(simpler)
}

fn with_fewer_values(history: &History, place: usize) -> Option<History> {
    with_call(history, place, |call| {
        let fewer = call.values / 4 * 2 + call.values % 2;
        (call.values > 2).then(|| call.values = fewer)
    })
}

fn with_a_simple_call(history: &History, place: usize) -> Option<History> {
    with_call(history, place, |call| {
        let simple = Call {
            in_place: false,
            arithmetic: Arithmetic::Sum,
            unit: Unit::Ints,
            values: call.values / 2 * 2,
            ..call.clone()
        };
        let is_simple = call.in_place == simple.in_place
            && call.arithmetic == simple.arithmetic
            && call.unit == simple.unit
            && call.values == simple.values;
        (!is_simple).then(|| *call = simple)
    })
}

fn in_simple_surroundings(history: &History, place: usize) -> Option<History> {
    let mut simpler = history.clone();
    let surroundings = &mut simpler.surroundings;
    match place {
        0 => surroundings.delivery = Delivery::AtOnce,
        1 => surroundings.eager = usize::MAX,
        2 => surroundings.turns = 50,
        3 => surroundings.nodes.fill(0),
        4 => surroundings.is_preloaded = false,
        5 => surroundings.cancels = true,
        6 => surroundings.knows_nodes = true,
        7 => surroundings.is_watched = false,
        8 => surroundings.has_below = false,
        9 => surroundings.has_devices = false,
        10 => surroundings.tells_of_failures = false,
        11 => surroundings.tunes_online = false,
        12 => surroundings.goes_by_tcp = false,
        13 => surroundings.ends_idle_calls = false,
        14 => surroundings.tells_nodes_late = false,
        15 => simpler.communicators.iter_mut().for_each(|communicator| communicator.info.clear()),
        _ => return None,
    }
    (format!("{simpler}") != format!("{history}")).then_some(simpler)
}

fn with_call<R>(
    history: &History,
    place: usize,
    change: impl FnOnce(&mut Call) -> Option<R>,
) -> Option<History> {
    let mut simpler = history.clone();
    match &mut simpler.steps.get_mut(place)?.deed {
        Deed::Block(call) | Deed::Begin(call) | Deed::Prepare(call) => change(call)?,
        _ => return None,
    };
    Some(simpler)
}

fn each_call(history: &mut History, change: impl Fn(&mut Call)) {
    for step in &mut history.steps {
        if let Deed::Block(call) | Deed::Begin(call) | Deed::Prepare(call) = &mut step.deed {
            change(call);
        }
    }
}
