//! What was learnt by trying algorithms while the job runs: a line of the log, and rules for the next job.

use crate::mpi::messages::work::Name;
use crate::mpi::parameters::settings;
use crate::mpi::reporting::{parts, watch};
use crate::selection::online::Settled;
use crate::selection::{Call, Rules, file_content};
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
pub fn note(kind: &Call, settled: &Settled, communicator: Name) {
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
        && communicator.group.rank == 0
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
/// earlier job learnt of other kinds of calls stays in it. A file with anything of the user's own stays as it is.
pub fn write() {
    let Some(Learnt { file, rules }) = learnt().take() else { return };
    if rules.is_empty() && !settings::tunes_online() {
        return;
    }
    let rules: Vec<String> = rules.into_iter().map(|(_, rule)| rule).collect();
    if let Err((file, error)) = write_to(file, rules) {
        log::error!("the rules that were learnt could not be written to {file}: {error}");
    }
}

/// Writes rules, and what the file has so far, to the file, or to one beside it. An error: which of them, and why not.
fn write_to(file: String, rules: Vec<String>) -> Result<(), (String, String)> {
    let (file, before) = match earlier(&file)? {
        Some(before) => (file, before),
        None => {
            let other = format!("{file}.learnt");
            log::warn!(
                "{file} has rules that no job learnt, so those that this job learnt are written to {other}"
            );
            let before = earlier(&other)?;
            let before = before.ok_or_else(|| (other.clone(), "it has rules that no job learnt".into()))?;
            (other, before)
        }
    };
    let text = joined([rules, before].concat());
    parts::replace(Path::new(&file), text.as_bytes()).map_err(|error| (file, error.to_string()))
}

/// Returns the rules of a file that earlier jobs learnt; `None` if anything else is in it. Only a file that does not exist
/// has none: a file that cannot be read must not be replaced.
fn earlier(name: &str) -> Result<Option<Vec<String>>, (String, String)> {
    let file = Path::new(name);
    let failed = |error: String| (name.to_owned(), error);
    if !file.try_exists().map_err(|error| failed(error.to_string()))? {
        return Ok(Some(Vec::new()));
    }
    let content = file_content(file).map_err(|errors| failed(errors.0[0].message.clone()))?;
    Ok(str::from_utf8(&content).ok().and_then(learnt_rules))
}

/// Cuts a text into the rules that jobs learnt; `None` if it has anything else, as a second rule below a comment of ours.
fn learnt_rules(text: &str) -> Option<Vec<String>> {
    let mut rules: Vec<String> = Vec::new();
    let lines =
        text.lines().map(str::trim_end).filter(|line| !line.is_empty() && *line != NOTHING.trim_end());
    for line in lines {
        if line.starts_with(Settled::COMMENT) {
            rules.push(format!("\n{line}\n"));
            continue;
        }
        let rule = rules.last_mut()?;
        let has_header = rule.contains("[[");
        if line.starts_with("[[") == has_header || line.starts_with('#') {
            return None;
        }
        rule.extend([line, "\n"]);
    }
    Some(rules)
}

/// Returns a rule file of all rules but those that it would be refused for: they name an algorithm that exists no longer, an
/// earlier one covers them, or they are too many.
fn joined(mut rules: Vec<String>) -> String {
    while !rules.is_empty() {
        let text = rules.concat();
        let Err(errors) = Rules::parse("learnt", &text) else { return text.trim_start().to_owned() };
        let faulty: Vec<usize> =
            errors.0.iter().filter_map(|error| rule_at(&rules, error.origin.line)).collect();
        // The text as a whole is too long.
        let faulty = if faulty.is_empty() { vec![rules.len() - 1] } else { faulty };
        let mut number = 0..;
        rules.retain(|_| !number.next().is_some_and(|number| faulty.contains(&number)));
    }
    NOTHING.to_owned()
}

/// Returns the index of the rule that has this line of the text of all rules; lines count from 1.
fn rule_at(rules: &[String], line: usize) -> Option<usize> {
    let ends = rules.iter().scan(0, |end, rule| {
        *end += rule.lines().count();
        Some(*end)
    });
    ends.enumerate().find(|(_, end)| (1..=*end).contains(&line)).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Collective, Parameter};
    use crate::selection::{Choice, Parameters};
    use std::{env, fs, process};

    fn rule(bytes: usize, algorithm: &str) -> String {
        let algorithm = Collective::Allreduce.algorithm(algorithm).unwrap();
        let choice = Choice::Use { algorithm, parameters: Default::default() };
        let settled = Settled { choice, before: choice, ratio: 0.5, tried: 9, is_usual: false };
        settled.rule(&Call::new(Collective::Allreduce, 4, bytes))
    }

    #[test]
    fn what_an_earlier_job_learnt_of_other_calls_stays() {
        let [old, new] = [rule(8, "ring"), rule(8, "linear")];
        let other = rule(64, "ring");
        let before = learnt_rules(&format!("{old}{other}").replace('\n', "\r\n")).unwrap();
        assert_eq!(before, [old.clone(), other.clone()]);
        assert_eq!(joined([vec![new.clone()], before].concat()), format!("{new}{other}").trim_start());
        // The same calls, spelled differently.
        let spelled =
            old.replace("ranks = 4", "ranks = [4]").replace("bytes = \"8..15\"", "bytes = \"8B..15B\"");
        assert_ne!(spelled, old);
        assert_eq!(joined(vec![new.clone(), spelled]), new.trim_start());
        assert_eq!(joined(Vec::new()), NOTHING);
        assert!(Rules::parse("learnt", NOTHING).is_ok());
    }

    #[test]
    fn a_rule_that_would_be_refused_does_not_stay() {
        let [good, bad] = [rule(64, "ring"), rule(8, "ring").replace("\"ring\"", "\"a_former_one\"")];
        let broken = bad.replace('=', "");
        assert_eq!(joined(vec![bad.clone(), good.clone(), broken, bad.clone()]), good.trim_start());
        assert_eq!(joined(vec![bad]), NOTHING);
        let many: Vec<String> = (0..1002).map(|number| rule(8 + 16 * number, "ring")).collect();
        assert_eq!(joined(many.clone()), many[..1000].concat().trim_start());
    }

    #[test]
    fn what_is_not_from_a_job_is_the_users() {
        let learnt = rule(8, "ring");
        let own = "[[bcast]]\nalgorithm = \"chain\"\n";
        for text in [
            own.to_owned(),
            format!("{own}{learnt}"),
            format!("{learnt}{own}"),
            format!("{learnt}\n{own}"),
            format!("{learnt}# mine\n"),
            format!("priority = 50\n{learnt}"),
            "# why there are none\n".to_owned(),
        ] {
            assert_eq!(learnt_rules(&text), None, "{text}");
        }
        for text in [String::new(), NOTHING.to_owned(), format!("{NOTHING}{learnt}")] {
            assert!(learnt_rules(&text).is_some(), "{text}");
        }
    }

    #[test]
    fn no_file_with_anything_else_is_replaced() {
        let folder = env::temp_dir().join(format!("rustcoll-learnt-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("rules.toml");
        let [name, other] = ["", ".learnt"].map(|end| format!("{}{end}", file.display()));
        let write = || write_to(name.clone(), vec![rule(8, "ring")]);
        let learnt = rule(8, "ring").trim_start().to_owned();
        write().unwrap();
        assert_eq!(fs::read_to_string(&name).unwrap(), learnt);
        fs::write(&name, b"\xff").unwrap();
        write().unwrap();
        assert_eq!((fs::read(&name).unwrap(), fs::read_to_string(&other).unwrap()), (vec![0xff], learnt));
        fs::write(&other, "# mine\n").unwrap();
        assert_eq!(write(), Err((other.clone(), "it has rules that no job learnt".into())));
        assert_eq!(fs::read_to_string(&other).unwrap(), "# mine\n");
        fs::remove_file(&name).unwrap();
        fs::create_dir(&name).unwrap();
        assert_eq!(write(), Err((name.clone(), "this is a directory, not a file".into())));
        fs::remove_dir_all(&folder).unwrap();
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
