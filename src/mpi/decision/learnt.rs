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

/// The file of jobs that learnt nothing. A rule file may be a comment, but not empty.
const NOTHING: &str = "# tuning online found nothing faster\n";

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
        // No rule may cover a later one.
        rules.retain(|(known, _)| !Settled::have_one_rule(known, kind));
        if !is_usual {
            rules.push((*kind, settled.rule(kind)));
        }
    }
}

/// Writes the rules before MPI ends, if the user names a file for them. The job may have started from the same file: what an
/// earlier job learnt of other kinds of calls stays in it. A file with rules of the user's own stays as it is.
pub fn write() {
    let Some(Learnt { mut file, rules }) = learnt().take() else { return };
    let mut before = fs::read_to_string(&file).unwrap_or_default();
    if has_own_rules(&before) {
        let other = format!("{file}.learnt");
        log::warn!(
            "{file} has rules that no job learnt, so those that this job learnt are written to {other}"
        );
        file = other;
        before = fs::read_to_string(&file).unwrap_or_default();
    }
    let rules: String = rules.into_iter().map(|(_, rule)| rule).collect();
    let rules = format!("{rules}{}", others(&before, &rules));
    let text = if rules.is_empty() { NOTHING } else { rules.trim_start() };
    if let Err(error) = parts::replace(Path::new(&file), text.as_bytes()) {
        log::error!("the rules that were learnt could not be written to {file}: {error}");
    }
}

/// Whether a file has rules that are not from online tuning.
fn has_own_rules(text: &str) -> bool {
    let is_learnt = |part: &str| part.starts_with(Settled::COMMENT) || part == NOTHING.trim();
    text.split("\n\n").map(str::trim).any(|part| !part.is_empty() && !is_learnt(part))
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
    use crate::algorithms::{Collective, Parameter};
    use crate::selection::{Choice, Parameters, Rules};

    fn rule(bytes: usize, algorithm: &str) -> String {
        let algorithm = Collective::Allreduce.algorithm(algorithm).unwrap();
        let choice = Choice::Use { algorithm, parameters: Default::default() };
        let settled = Settled { choice, before: choice, ratio: 0.5, tried: 9, is_usual: false };
        settled.rule(&Call::new(Collective::Allreduce, 4, bytes))
    }

    #[test]
    fn what_an_earlier_job_learnt_of_other_calls_stays() {
        let before = format!("{}{}", rule(8, "ring"), rule(64, "ring"));
        let new = rule(8, "linear");
        let text = format!("{new}{}", others(&before, &new));
        assert_eq!(text, format!("{new}{}", rule(64, "ring")));
        Rules::parse("learnt", &text).unwrap();
        assert_eq!(others(&before, ""), before);
        assert_eq!(others("", &new), "");
        assert!(!has_own_rules(&before) && !has_own_rules("") && !has_own_rules(NOTHING));
        assert!(has_own_rules(&format!("[[bcast]]\nalgorithm = \"chain\"\n{before}")));
        assert!(Rules::parse("learnt", NOTHING).is_ok());
    }

    #[test]
    fn a_rule_holds_for_the_kind_that_was_measured() {
        let choice = |radix| {
            let algorithm = Collective::Allreduce.algorithm("circulant").unwrap();
            Choice::Use { algorithm, parameters: Parameters::default().with(Parameter::Radix, radix) }
        };
        let kind = Call { predefined: Some(false), ..Call::new(Collective::Allreduce, 4, 8192) };
        let settled = Settled { choice: choice(8), before: choice(2), ratio: 0.5, tried: 9, is_usual: false };
        let rules = Rules::parse("learnt", &settled.rule(&kind)).unwrap();
        // A radix is at most the number of ranks.
        assert_eq!(rules.choose(&kind), choice(4));
        for other in [
            Call { predefined: Some(true), ..kind },
            Call { in_place: true, ..kind },
            Call { bytes: 16384, ..kind },
            Call { size: 5, ..kind },
        ] {
            assert_eq!(rules.choose(&other), Choice::Below, "{other:?}");
        }
    }
}
