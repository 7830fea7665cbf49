//! Writes what this rank did so far to its own file now and then. A job that does not end leaves no profile but these.

use super::sampler::samples;
use super::watch;
use crate::mpi::parameters::settings::{profile_every, profile_file};
use crate::mpi::shared_memory::nodes::identity;
use crate::report::part::{ProfilePart, file_name, folder, is_part, writes};
use crate::report::profile::Profile;
use crate::text::content::beside;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// When this rank writes next, in nanoseconds on the clock of [`watch`].
static DUE: AtomicU64 = AtomicU64::new(NEVER);
const NEVER: u64 = u64::MAX;

/// How many ranks the job has.
static RANKS: AtomicU64 = AtomicU64::new(0);

/// Notes that a job of `ranks` ranks starts. Rank 0 removes what an earlier job left in the folder.
pub fn start(rank: usize, ranks: usize) {
    RANKS.store(ranks as u64, Relaxed);
    let file = profile_file();
    if let (0, Some(file)) = (rank, &file) {
        remove(Path::new(file));
    }
    match (profile_every(), file) {
        (Some(every), Some(_)) if writes(rank, ranks) => DUE.store(watch::now() + every, Relaxed),
        (Some(_), None) if rank == 0 => {
            log::warn!("profile_every has no effect, because `profile` names no file");
        }
        _ => {}
    }
}

/// Stops writing when the job ends, because its profile will be complete.
pub fn stop() {
    DUE.store(NEVER, Relaxed);
}

/// Writes if it is time for that. `now`: nanoseconds on the clock of [`watch`].
#[inline]
pub fn write_if_due(now: u64) {
    let due = DUE.load(Relaxed);
    if now >= due {
        write_at(due);
    }
}

/// Lets one thread write; no other thread starts meanwhile. A rank that could not write does not try again.
#[cold]
fn write_at(due: u64) {
    if DUE.compare_exchange(due, NEVER, Relaxed, Relaxed).is_err() {
        return;
    }
    let (Some(every), Some(file)) = (profile_every(), profile_file()) else { return };
    let folder = folder(Path::new(&file));
    let place = folder.join(file_name(watch::rank() as usize));
    match fs::create_dir_all(&folder).and_then(|()| replace(&place, &own().to_bytes())) {
        Ok(()) => DUE.store(watch::now() + every, Relaxed),
        Err(error) => log::error!("the profile so far could not be written to {}: {error}", place.display()),
    }
}

/// Returns what this rank did so far.
pub fn own() -> ProfilePart {
    let node = identity();
    let sums = watch::sums().into_iter().map(|(kind, sum)| ((*kind).clone(), sum));
    let profile = Profile::of_rank((watch::rank(), node), watch::running().as_secs_f64(), sums);
    ProfilePart { of: RANKS.load(Relaxed), profile, samples: samples(node) }
}

/// Removes what ranks have written for the profile in `file`; and their folder, if nothing else is in it.
pub fn remove(file: &Path) {
    let folder = folder(file);
    let Ok(entries) = fs::read_dir(&folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        // A further extension is from a rank that was killed while it wrote.
        if is_part(&path) || is_part(&path.with_extension("")) {
            let _ = fs::remove_file(path);
        }
    }
    let _ = fs::remove_dir(&folder);
}

/// Replaces a file as a whole: a reader finds the old content or the new one.
pub fn replace(file: &Path, content: &[u8]) -> io::Result<()> {
    // Another job may replace the same file at the same time.
    let begun = beside(file, &format!(".begun-{}", std::process::id()));
    let written = fs::write(&begun, content).and_then(|()| fs::rename(&begun, file));
    if written.is_err() {
        let _ = fs::remove_file(&begun);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = std::env::temp_dir().join(format!("rustcoll-profile-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("profile.json");
        for text in ["one", "two"] {
            replace(&file, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        assert!(replace(&folder.join("none/profile.json"), b"three").is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn nothing_is_removed_but_parts() {
        let file = std::env::temp_dir().join(format!("rustcoll-parts-{}", std::process::id()));
        let parts = folder(&file);
        fs::create_dir_all(&parts).unwrap();
        for name in [&*file_name(0), "rank-12.part.begun", "notes.txt"] {
            fs::write(parts.join(name), "").unwrap();
        }
        remove(&file);
        let left: Vec<_> = fs::read_dir(&parts).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["notes.txt"]);
        fs::remove_file(parts.join("notes.txt")).unwrap();
        remove(&file);
        assert!(!parts.exists());
    }
}
