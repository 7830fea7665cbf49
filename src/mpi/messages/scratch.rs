//! The temporary memory of calls: obtained within a limit, or the user is told what is missing.

use super::memory::OutOfMemory;
use super::work::{Group, Work, Wrapping};
use crate::mpi::calls::arguments::Arguments;
use crate::mpi::calls::planning::{Planned, Program};
use crate::mpi::parameters::settings::word;

/// Obtains the memory of a call on a communicator of that name, unless it is more than so many bytes.
pub fn obtain(
    work: &mut Work,
    arguments: &mut Arguments,
    program: &Program,
    planned: &Planned,
    limit: usize,
    (name, group): (&str, Group),
) -> Result<Wrapping, OutOfMemory> {
    let obtained = match needed(work, arguments, program, planned.is_packed, group) <= limit {
        true => work.prepare(program.first(), arguments, group, planned.is_packed),
        false => Err(OutOfMemory),
    };
    obtained.inspect_err(|_| report_shortage(work, arguments, program, planned, limit, (name, group)))
}

/// Bytes of temporary memory that a call takes; where lengths are exchanged first, as far as it is known before.
fn needed(work: &Work, arguments: &Arguments, program: &Program, is_packed: bool, group: Group) -> usize {
    let numbers = match program {
        Program::Plan(_) => 0,
        Program::Exchange(exchange) => size_of_val(&*exchange.numbers),
    };
    work.needed(program.first(), arguments, group, is_packed) + numbers
}

/// Tells that a call did not get its memory.
pub fn report_shortage(
    work: &Work,
    arguments: &Arguments,
    program: &Program,
    planned: &Planned,
    limit: usize,
    (name, group): (&str, Group),
) {
    let needed = needed(work, arguments, program, planned.is_packed, group);
    log::error!(
        "{name}: {} by {} needs {needed} bytes of temporary memory; {}",
        arguments.collective.name(),
        word(arguments.collective, planned.decision.number),
        match needed <= limit {
            true => "there is not so much".to_owned(),
            false => format!("the limit is {limit}"),
        }
    );
}
