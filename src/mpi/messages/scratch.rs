//! Obtains the temporary memory of calls; logs which memory is missing, and which call exceeds the limit.

use super::memory::OutOfMemory;
use super::work::{Group, Name, Work, Wrapping};
use crate::algorithms::{Algorithm, Collective};
use crate::mpi::calls::arguments::Arguments;
use crate::mpi::calls::planning::{CallPlan, Planned};
use crate::mpi::parameters::settings::word;

/// Obtains the memory of a call on the communicator `name`. If this rank alone needs more than `limit` bytes,
/// it only logs a warning: the other ranks do not know that need and go on.
pub fn obtain(
    work: &mut Work,
    arguments: &mut Arguments,
    program: &CallPlan,
    planned: &Planned,
    limit: usize,
    name: Name,
) -> Result<Wrapping, OutOfMemory> {
    let needed = needed(work, arguments, program, planned.is_packed, name.group);
    if needed > limit {
        log::warn!(
            "{name}: {} by {} takes {needed} bytes of temporary memory at this rank; the limit is {limit}, but the other ranks cannot know \
             it and go on",
            arguments.collective.name(),
            word(arguments.collective, planned.decision.number),
        );
    }
    let obtained = work.prepare(program.first(), arguments, name.group, planned.is_packed);
    obtained.inspect_err(|_| report_shortage(work, arguments, program, planned, name))
}

/// Returns how many bytes of temporary memory a call needs. If the ranks exchange lengths first, this is what
/// is known before the exchange.
fn needed(work: &Work, arguments: &Arguments, program: &CallPlan, is_packed: bool, group: Group) -> usize {
    let numbers = match program {
        CallPlan::Plan(_) => 0,
        CallPlan::Exchange(exchange) => size_of_val(&*exchange.numbers),
    };
    work.needed(program.first(), arguments, group, is_packed) + numbers
}

/// Logs that there is not enough memory for a call.
pub fn report_shortage(
    work: &Work,
    arguments: &Arguments,
    program: &CallPlan,
    planned: &Planned,
    name: Name,
) {
    let needed = needed(work, arguments, program, planned.is_packed, name.group);
    log::error!(
        "{name}: {} by {} needs {needed} bytes of temporary memory; there is not so much",
        arguments.collective.name(),
        word(arguments.collective, planned.decision.number),
    );
}

/// Logs that all ranks refuse a call, because some rank needs `needed` bytes, more than the limit.
pub fn report_limit(name: Name, collective: Collective, algorithm: &Algorithm, needed: usize, limit: usize) {
    log::error!(
        "{name}: {} by {} needs {needed} bytes of temporary memory at some rank; the limit is {limit}",
        collective.name(),
        algorithm.name,
    );
}
