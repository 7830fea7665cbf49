//! What was learnt by trying algorithms while the job runs: a line of the log, and rules for the next job.

use crate::mpi::messages::work::Group;
use crate::mpi::parameters::settings;
use crate::mpi::reporting::{parts, watch};
use crate::selection::Call;
use crate::selection::online::Settled;
use std::fs;
use std::path::Path;
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
        // A rule says no more of a kind, and no rule may cover a later one.
        let said = |kind: &Call| (kind.collective, kind.size, kind.bytes);
        rules.retain(|(known, _)| said(known) != said(kind));
        if !is_usual {
            rules.push((*kind, settled.rule(kind)));
        }
    }
}

/// Writes the rules before MPI ends, if the user names a file for them. The job may have started from the same file: what an
/// earlier job learnt of other kinds of calls stays in it.
pub fn write() {
    let Some(Learnt { file, rules }) = learnt().take() else { return };
    let rules: String = rules.into_iter().map(|(_, rule)| rule).collect();
    let before = fs::read_to_string(&file).unwrap_or_default();
    let rules = format!("{rules}{}", others(&before, &rules));
    if let Err(error) = parts::replace(Path::new(&file), rules.trim_start().as_bytes()) {
        log::error!("the rules that were learnt could not be written to {file}: {error}");
    }
}

/// Returns the rules in the text of a file that an earlier job learnt, but for those on the same calls as one of `rules`.
fn others(text: &str, rules: &str) -> String {
    let calls = |rule: &str| -> Vec<String> {
        let lines = rule.lines().filter(|line| !line.starts_with('#')).map(str::to_owned);
        lines.take_while(|line| !line.starts_with("algorithm")).filter(|line| !line.is_empty()).collect()
    };
    let known: Vec<_> = rules.split("\n\n").map(calls).collect();
    let learnt = text.split("\n\n").filter(|rule| rule.trim_start().starts_with(Settled::COMMENT));
    learnt.filter(|rule| !known.contains(&calls(rule))).map(|rule| format!("\n{}\n", rule.trim())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::Collective;
    use crate::selection::{Choice, Rules};

    fn rule(bytes: usize, algorithm: &str) -> String {
        let algorithm = Collective::Allreduce.algorithm(algorithm).unwrap();
        let choice = Choice::Use { algorithm, parameters: Default::default() };
        let settled = Settled { choice, before: choice, ratio: 0.5, tried: 9, is_usual: false };
        settled.rule(&Call::new(Collective::Allreduce, 4, bytes))
    }

    #[test]
    fn what_an_earlier_job_learnt_of_other_calls_stays() {
        let before = format!("[[bcast]]\nalgorithm = \"chain\"\n{}{}", rule(8, "ring"), rule(64, "ring"));
        let new = rule(8, "linear");
        let text = format!("{new}{}", others(&before, &new));
        assert_eq!(text, format!("{new}{}", rule(64, "ring")));
        Rules::parse("learnt", &text).unwrap();
        assert_eq!(others(&before, ""), before[before.find("\n#").unwrap()..]);
        assert_eq!(others("", &new), "");
    }
}
