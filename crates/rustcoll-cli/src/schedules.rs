//! Algorithms of schedule files, which join the built-in ones.

use crate::failure::Failure;
use crate::files;
use rustcoll::schedule_file::{self, Loaded};
use std::path::PathBuf;
use std::sync::OnceLock;

/// The files that were loaded. Jobs must load them, too.
static FILES: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Proves and registers the algorithms of schedule files, and of folders of such files. Fails at the first wrong file.
pub fn load(paths: &[PathBuf]) -> Result<(), Failure> {
    let mut loaded = Loaded::default();
    for path in expanded(paths)? {
        let name = files::name(&path);
        let proved = schedule_file::prove(&name, &files::text(&path)?).map_err(Failure::Input)?;
        loaded.add(&name, proved).map_err(Failure::Input)?;
    }
    loaded.register();
    let _ = FILES.set(paths.to_vec());
    Ok(())
}

/// Replaces folders by the files in them.
pub fn expanded(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let files: Result<Vec<_>, _> = paths.iter().map(|path| schedule_file::files(path)).collect();
    Ok(files.map_err(Failure::Input)?.concat())
}

/// Returns the parameter that names the loaded files, by absolute paths for jobs; `None` if there are none.
pub fn parameter() -> Option<(&'static str, String)> {
    let files = FILES.get().filter(|files| !files.is_empty())?;
    let absolute = |file: &PathBuf| std::path::absolute(file).unwrap_or_else(|_| file.clone());
    let names: Vec<String> = files.iter().map(|file| absolute(file).display().to_string()).collect();
    Some(("coll_rustcoll_schedules", names.join(",")))
}
