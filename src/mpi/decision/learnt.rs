//! What was learnt by trying algorithms while the job runs: a line of the log, and rules for the next job.

use crate::mpi::messages::work::Group;
use crate::mpi::parameters::settings;
use crate::mpi::reporting::watch;
use crate::selection::Call;
use crate::selection::online::Settled;
use std::fs;
use std::sync::{Mutex, MutexGuard};

/// The rules so far, and their file. MPI forgets text parameters before it ends, so the name is copied.
static LEARNT: Mutex<Option<Learnt>> = Mutex::new(None);

struct Learnt {
    file: String,
    /// A rule for each kind of calls, in the order in which they were learnt.
    rules: Vec<(Call, String)>,
}

fn learnt() -> MutexGuard<'static, Option<Learnt>> {
    LEARNT.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Begins with no rules when MPI starts. Only rank 0 of the job keeps any.
pub fn start() {
    let file = settings::learnt_file().filter(|_| watch::rank() == 0);
    *learnt() = file.map(|file| Learnt { file, rules: Vec::new() });
}

/// Logs what serves a kind of calls from now on, and keeps a rule for that if it is new.
pub fn note(kind: &Call, settled: &Settled, (communicator, group): (&str, Group)) {
    let Settled { choice, before, ratio, tried, is_usual } = *settled;
    let (collective, bytes) = (kind.collective.name(), kind.bytes);
    match settled.replaces() {
        true => log::info!(
            "{communicator}: online: {tried} calls tried; {collective} of {bytes} bytes and more goes by {choice} in {ratio:.2} of the time of {before}"
        ),
        false => log::info!(
            "{communicator}: online: {tried} calls tried; {collective} of {bytes} bytes and more stays with {before}"
        ),
    }
    if settled.replaces()
        && group.rank == 0
        && let Some(Learnt { rules, .. }) = &mut *learnt()
    {
        rules.retain(|(known, _)| known != kind);
        if !is_usual {
            rules.push((*kind, settled.rule(kind)));
        }
    }
}

/// Writes the rules before MPI ends, if the user names a file for them.
pub fn write() {
    if let Some(Learnt { file, rules }) = learnt().take()
        && let rules = rules.into_iter().map(|(_, rule)| rule).collect::<String>()
        && let Err(error) = fs::write(&file, rules.trim_start())
    {
        log::error!("the rules that were learnt could not be written to {file}: {error}");
    }
}
