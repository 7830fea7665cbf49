//! Checks rule files of contestants before anything is measured. With a bad file the component would only
//! warn, and go on without.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use measurements::{Contestant, Heat};
use mpi_programs::communicator::{Communicator, LONGEST_INFO_VALUE};
use mpi_programs::environment::Error;
use rustcoll::selection::Rules;

/// The info key of a communicator's rule files.
pub const KEY: &str = "rustcoll_rules";

/// Returns what is wrong with the contestants' rule files on any rank, if anything is. All ranks know whether
/// there is a fault, but only rank 0 knows its text.
pub fn fault(heats: &[Heat], control: &Communicator) -> Result<Option<String>, Error> {
    let contestants = heats.iter().flat_map(|heat| &heat.contestants);
    if let Some(reason) = contestants.clone().find_map(|contestant| misnamed(contestant).err()) {
        return Ok(Some(reason));
    }
    let files: BTreeSet<&str> = contestants.filter_map(|contestant| contestant.rules.as_deref()).collect();
    for file in files {
        let found = match content(file) {
            Ok(number) => format!("{RIGHT}{number}"),
            Err(fault) => fault,
        };
        let reason = difference(file, &control.gathered(&found)?);
        if control.told_by(0, reason.is_some())? {
            return Ok(Some(reason.unwrap_or_default()));
        }
    }
    Ok(None)
}

/// A rank that could read the rules begins its message with this character.
const RIGHT: char = '\0';

/// Returns a hash of the file, by which ranks see that their files are equal.
fn content(file: &str) -> Result<u64, String> {
    Rules::load(Path::new(file)).map_err(|errors| errors.to_string())?;
    let content = fs::read(file).map_err(|error| format!("{file}: cannot be read: {error}"))?;
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    Ok(hasher.finish())
}

fn misnamed(contestant: &Contestant) -> Result<(), String> {
    let Some(file) = &contestant.rules else { return Ok(()) };
    let refuse = |reason: String| Err(format!("the contestant {contestant}: {reason}"));
    if file.len() > LONGEST_INFO_VALUE {
        let length = file.len();
        return refuse(format!(
            "the file's name has {length} bytes, but MPI takes at most {LONGEST_INFO_VALUE}; give it a shorter one"
        ));
    }
    if contestant.algorithm.is_some() || !contestant.parameters.is_empty() {
        return refuse("its rules go before an algorithm and parameters; give either".into());
    }
    Ok(())
}

/// Returns why a file is unusable, from the messages of all ranks.
fn difference(file: &str, found: &[String]) -> Option<String> {
    if let Some((rank, fault)) = found.iter().enumerate().find(|(_, text)| !text.starts_with(RIGHT)) {
        return Some(if rank == 0 { fault.clone() } else { format!("rank {rank}: {fault}") });
    }
    let rank = found.iter().position(|text| *text != found[0])?;
    Some(format!("{file}: rank {rank} reads another content than rank 0; all ranks must have the same rules"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_must_be_right_and_the_same_on_all_ranks() {
        let [one, other] = ["1", "2"].map(|number| format!("{RIGHT}{number}"));
        let of = |found: [&str; 3]| difference("f", &found.map(str::to_owned));
        assert_eq!(of([&one, &one, &one]), None);
        assert_eq!(of(["f: there are no rules", &one, "x"]).unwrap(), "f: there are no rules");
        assert_eq!(of([&one, &one, "f: is no text"]).unwrap(), "rank 2: f: is no text");
        let expected = "f: rank 1 reads another content than rank 0; all ranks must have the same rules";
        assert_eq!(of([&one, &other, &one]).unwrap(), expected);
    }

    #[test]
    fn names_that_do_not_fit_into_an_info_key_are_refused() {
        let contestant = |file: &str| format!("rustcoll@{file}").parse::<Contestant>().unwrap();
        assert_eq!(misnamed(&contestant(&"x".repeat(LONGEST_INFO_VALUE))), Ok(()));
        let reason = misnamed(&contestant(&"x".repeat(LONGEST_INFO_VALUE + 1))).unwrap_err();
        let numbers = format!("{} bytes, but MPI takes at most {LONGEST_INFO_VALUE}", LONGEST_INFO_VALUE + 1);
        assert!(reason.contains(&numbers), "{reason}");
        assert!(misnamed(&contestant("rules.toml:ring")).unwrap_err().contains("give either"));
    }
}
