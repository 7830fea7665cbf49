//! What decides how long calls take, besides the words of a command or of a plan. Times are comparable only if all of it is the same.

use super::launcher::Launcher;
use measurements::Contestant;
use rustcoll::hash::hash;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{env, fs};

/// The start of the names of variables that set parameters of Open MPI.
const PARAMETER: &str = "OMPI_MCA_";

/// Batch jobs have folders of their own for temporary files.
const TEMPORARY: &str = "tmpdir";

/// Digests of files by their paths, and parameters of Open MPI in the environment by the names of their variables.
pub type Shaping = BTreeMap<String, String>;

/// Returns what decides how long the calls of these contestants take.
pub fn shaping(launcher: &Launcher, contestants: &[Contestant]) -> Shaping {
    digests(launcher.files(contestants)).chain(parameters()).collect()
}

/// Returns digests of the files that can be read, by their paths.
pub fn digests(files: impl IntoIterator<Item = PathBuf>) -> impl Iterator<Item = (String, String)> {
    files.into_iter().filter_map(|path| {
        let content = fs::read(&path).ok()?;
        Some((path.display().to_string(), format!("digest {:016x}", hash(&content))))
    })
}

/// Returns the parameters of Open MPI that the environment sets.
fn parameters() -> impl Iterator<Item = (String, String)> {
    let all = env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()));
    all.filter(|(name, _)| name.starts_with(PARAMETER) && !name.contains(TEMPORARY))
}
