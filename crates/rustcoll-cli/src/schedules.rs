//! Algorithms from schedule files, beside those that are registered.

use crate::failure::Failure;
use crate::files;
use rustcoll::algorithms::{Algorithm, register};
use rustcoll::schedule_file::{Disproof, Misread, Proved, ScheduleFile};
use std::path::{Path, PathBuf};

/// Registers the algorithms of schedule files, once they are proved. Fails with what is wrong with the first that is not.
pub fn load(paths: &[PathBuf]) -> Result<(), Failure> {
    let mut loaded: Vec<&'static Algorithm> = Vec::new();
    for path in paths {
        let name = files::name(path);
        let algorithm = proved(path)?.map_err(Failure::Input)?.algorithm(&name);
        let algorithm = algorithm.map_err(|lack| Failure::Input(format!("{name}: {lack}")))?;
        if loaded.iter().any(|other| other.title() == algorithm.title()) {
            return Err(Failure::Input(format!("{name}: a second file with {}", algorithm.title())));
        }
        loaded.push(algorithm);
    }
    register(loaded);
    Ok(())
}

/// What a file has, proved; or what is wrong with it.
pub fn proved(path: &Path) -> Result<Result<Proved, String>, Failure> {
    Ok(prove(&files::name(path), &files::text(path)?))
}

fn prove(path: &str, text: &str) -> Result<Proved, String> {
    let located = |Misread { line, column, message }| format!("{path}:{line}:{column}: {message}");
    let file = ScheduleFile::read(text).map_err(located)?;
    let what = title(&file);
    file.prove().map_err(|disproof| {
        let Disproof { size, root, in_place, violation, places } = *disproof;
        let line = places.first().map_or(1, |place| place.line);
        let root = root.map_or(String::new(), |root| format!(", root {root}"));
        let in_place = if in_place { ", in place" } else { "" };
        let places: Vec<String> = places.iter().map(|place| format!("\n  {place}")).collect();
        format!("{path}:{line}: {what} on {size} ranks{root}{in_place}: {violation}{}", places.concat())
    })
}

/// The collective and the name of what a file has.
pub fn title(file: &ScheduleFile) -> String {
    format!("{} {}", file.listed.collective.name(), file.name)
}
