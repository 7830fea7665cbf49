//! Profiles of jobs that have ended, and of jobs that still run.

use crate::failure::Failure;
use crate::files;
use rustcoll::report::part::{ProfilePart, folder, is_part};
use rustcoll::report::profile::Profile;
use std::fs;
use std::path::{Path, PathBuf};

/// A profile, and its name for messages.
pub struct Named {
    /// The file or the folder; the name also says if the job has not ended.
    pub name: String,
    pub profile: Profile,
}

/// Reads the profile of a job, or the folder to which ranks write while the job runs; `-` is the standard input.
pub fn read(path: &Path) -> Result<Named, Failure> {
    let named = if path.is_dir() { of_parts(path) } else { of_file(path) }?;
    match named.profile.ranks() {
        0 => Err(fault(path, "there are no ranks in this profile")),
        _ => Ok(named),
    }
}

/// Returns a profile's path as a word of a command that users copy.
pub fn word(path: &Path) -> String {
    match files::is_standard_input(path) {
        true => "FILE".into(),
        false => shell_words::quote(&path.to_string_lossy()).into_owned(),
    }
}

fn fault(path: &Path, fault: impl std::fmt::Display) -> Failure {
    Failure::Input(format!("{}: {fault}", files::name(path)))
}

fn of_file(file: &Path) -> Result<Named, Failure> {
    let parts = folder(file);
    let so_far = || format!("{} has what it did so far", parts.display());
    match (parts.is_dir(), file.exists()) {
        (true, false) => return Err(fault(file, format!("the job has not ended; {}", so_far()))),
        (true, true) => {
            let name = files::name(file);
            eprintln!("rustcoll: {name} is of an earlier job: the last one has not ended; {}", so_far());
        }
        (false, _) => {}
    }
    let profile = Profile::of_json(&files::long_text(file)?).map_err(|lack| fault(file, lack))?;
    Ok(Named { name: files::name(file), profile })
}

fn of_parts(folder: &Path) -> Result<Named, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| fault(folder, format!("cannot be read: {error}")))?;
    let mut parts: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| is_part(path)).collect();
    parts.sort();
    let mut whole = ProfilePart::default();
    for path in parts {
        let part = ProfilePart::of_bytes(&files::long_content(&path)?).map_err(|lack| fault(&path, lack))?;
        whole.merge(part);
    }
    let name = format!("{}, of a job of {} ranks that has not ended", files::name(folder), whole.of);
    Ok(Named { name, profile: whole.profile })
}
