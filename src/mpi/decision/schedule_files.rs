//! Algorithms from the files that the user names. They are proved when the process starts, and then registered.

use super::rules::{Source, names};
use crate::mpi::parameters::settings;
use crate::schedule_file::{Loaded, files, prove_at_start};
use crate::selection;
use std::path::Path;
use std::sync::LazyLock;

/// The content of the schedule files.
#[derive(Default)]
pub struct GivenFiles {
    /// The correct files.
    pub sources: Vec<Source>,
    /// What is wrong with the other files, which are left out.
    pub faults: Vec<String>,
}

/// Returns the user's schedule files. The first call reads them and registers their algorithms.
pub fn given() -> &'static GivenFiles {
    static GIVEN: LazyLock<GivenFiles> = LazyLock::new(|| {
        let (origin, list) = settings::schedule_files();
        let (given, loaded) = list.map_or_else(Default::default, |list| read(&origin, &list));
        loaded.register();
        given
    });
    &GIVEN
}

/// Reads and proves the files of a list, and all files of its folders. `origin`: where the list is.
fn read(origin: &str, list: &str) -> (GivenFiles, Loaded) {
    let (mut given, mut loaded) = (GivenFiles::default(), Loaded::default());
    for name in names(origin, list) {
        match name.and_then(|name| files(Path::new(name))) {
            Ok(paths) => paths.iter().for_each(|path| given.add(path, &mut loaded)),
            Err(fault) => given.faults.push(fault),
        }
    }
    (given, loaded)
}

impl GivenFiles {
    fn add(&mut self, path: &Path, loaded: &mut Loaded) {
        match read_one(path, loaded) {
            Ok(source) => self.sources.push(source),
            Err(fault) => self.faults.push(fault),
        }
    }
}

fn read_one(path: &Path, loaded: &mut Loaded) -> Result<Source, String> {
    let name = path.display().to_string();
    let content = selection::file_content(path).map_err(|faults| faults.to_string())?;
    loaded.add(&name, prove_at_start(path, &content)?)?;
    Ok(Source { name, is_file: true, content })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faulty_files_are_left_out_and_told() {
        let (given, _) = read("list", "/nowhere/a.sched,,/nowhere/b.sched");
        assert_eq!(given.sources, []);
        let places: Vec<_> = given.faults.iter().map(|fault| fault.split(": ").next().unwrap()).collect();
        assert_eq!(places, ["/nowhere/a.sched", "list", "/nowhere/b.sched"]);
    }
}
