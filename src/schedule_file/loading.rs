//! Turns names of files into algorithms that can be registered.

use super::certificate::{certificate, certificate_of, certified};
use super::{Disproof, Misread, Proved, ScheduleFile};
use crate::algorithms::{Algorithm, register};
use crate::text::file_content;
use std::fs;
use std::path::{Path, PathBuf};

/// The extension of a folder's schedule files.
const ENDING: &str = "sched";

/// The most ranks of a file that a process proves itself when it starts.
pub const MOST_RANKS_AT_START: usize = 64;

/// The most uses of blocks in the steps of such a file, over all numbers of ranks and roots. They take about a second.
const MOST_USES_AT_START: usize = 1 << 22;

/// Returns the files of a path: the file itself, or a folder's files that end with `.sched`, in the order of
/// their names. Fails with the reason if there are none.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let name = path.display();
    let unreadable = |error| format!("{name}: cannot be read: {error}");
    let entries = fs::read_dir(path).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let paths = entries.map_err(unreadable)?.into_iter().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|it| it == ENDING)).collect();
    files.sort();
    if files.is_empty() { Err(format!("{name}: this folder has no file *.{ENDING}")) } else { Ok(files) }
}

/// Reads and proves a text. Fails with what is wrong, with the places in the text `name`.
pub fn prove(name: &str, text: &str) -> Result<Proved, String> {
    proved(name, read(name, text)?)
}

fn proved(name: &str, file: ScheduleFile) -> Result<Proved, String> {
    let title = file.title();
    file.prove().map_err(|disproof| told(name, &title, &disproof))
}

/// Returns the message about what is wrong with a file.
fn told(name: &str, title: &str, disproof: &Disproof) -> String {
    let line = disproof.lines[0].line;
    disproof.told(&format!("{name}:{line}"), title, |place| format!("line {}", place.line))
}

fn read(name: &str, text: &str) -> Result<ScheduleFile, String> {
    let located = |Misread { line, column, message }| format!("{name}:{line}:{column}: {message}");
    ScheduleFile::read(text).map_err(located)
}

/// As [`prove`], for a process that starts. It has no time to prove much: a large file needs a certificate
/// beside it.
pub fn prove_at_start(path: &Path, content: &[u8]) -> Result<Proved, String> {
    let name = path.display().to_string();
    let text = std::str::from_utf8(content).map_err(|_| format!("{name}: this is not text"))?;
    let file = read(&name, text)?;
    let (most, effort) = (file.sizes().max().unwrap_or(0), file.effort());
    let certificate = certificate_of(path);
    let said = match certificate.exists() {
        true => Some(file_content(&certificate).map_err(|faults| faults.to_string())?),
        false => None,
    };
    let certified = said.map(|said| certified(&String::from_utf8_lossy(&said), content));
    let again = format!("`rustcoll verify --certify {name}` writes one");
    match certified {
        Some(Ok(problems)) => {
            let title = file.title();
            file.trust(problems).map_err(|disproof| told(&name, &title, &disproof))
        }
        _ if most <= MOST_RANKS_AT_START && effort <= MOST_USES_AT_START => proved(&name, file),
        Some(Err(lack)) => Err(format!("{}: {lack}; {again}", certificate.display())),
        None if most > MOST_RANKS_AT_START => Err(format!(
            "{name}: this has programs for {most} ranks; for more than {MOST_RANKS_AT_START} it takes a certificate; {again}"
        )),
        None => Err(format!(
            "{name}: to prove this, {effort} uses of blocks are to be followed; for more than {MOST_USES_AT_START} it takes a certificate; {again}"
        )),
    }
}

/// Writes the certificate of a proved file beside the file. Returns its path; fails with the reason.
pub fn certify(path: &Path, content: &[u8], proved: &Proved) -> Result<PathBuf, String> {
    let place = certificate_of(path);
    match fs::write(&place, certificate(content, proved.problems)) {
        Ok(()) => Ok(place),
        Err(error) => Err(format!("{}: cannot be written: {error}", place.display())),
    }
}

/// Algorithms from files, to be registered together.
#[derive(Default)]
pub struct Loaded(Vec<&'static Algorithm>);

impl Loaded {
    /// Adds the algorithm of a file. Fails with the reason if it cannot be used.
    pub fn add(&mut self, name: &str, proved: Proved) -> Result<(), String> {
        let algorithm = proved.algorithm(name).map_err(|lack| format!("{name}: {lack}"))?;
        if self.0.iter().any(|other| other.title() == algorithm.title()) {
            return Err(format!("{name}: a second file with {}", algorithm.title()));
        }
        self.0.push(algorithm);
        Ok(())
    }

    /// Registers these algorithms beside those that are compiled in.
    ///
    /// # Panics
    /// If called a second time in a process.
    pub fn register(self) {
        register(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Collective, Problem};
    use crate::schedule_file::file_of;

    /// Creates an empty folder for one test.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("rustcoll-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn barrier(ranks: usize) -> String {
        let dissemination = Collective::Barrier.algorithm("dissemination").unwrap();
        file_of(dissemination, Collective::Barrier, &Problem::new(ranks)).unwrap()
    }

    #[test]
    fn a_folder_stands_for_its_files() {
        let folder = folder("files");
        assert!(files(&folder).unwrap_err().ends_with("this folder has no file *.sched"));
        for name in ["b.sched", "a.sched", "c.txt", "a.sched.certificate"] {
            fs::write(folder.join(name), "").unwrap();
        }
        assert_eq!(files(&folder).unwrap(), ["a.sched", "b.sched"].map(|name| folder.join(name)));
        assert_eq!(files(&folder.join("nothing")).unwrap(), [folder.join("nothing")]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn programs_of_many_ranks_need_a_certificate_and_those_of_few_none() {
        let folder = folder("certificates");
        let path = folder.join("my.sched");
        let few = barrier(MOST_RANKS_AT_START);
        assert_eq!(prove_at_start(&path, few.as_bytes()).unwrap().problems, 1);
        let many = barrier(MOST_RANKS_AT_START + 1);
        let lack = prove_at_start(&path, many.as_bytes()).unwrap_err();
        assert!(
            lack.contains("65 ranks; for more than 64 it takes a certificate; `rustcoll verify --certify"),
            "{lack}"
        );
        certify(&path, many.as_bytes(), &prove("my.sched", &many).unwrap()).unwrap();
        assert_eq!(prove_at_start(&path, many.as_bytes()).unwrap().problems, 1);
        let changed = many.replace("source ", "source changed, ");
        let lack = prove_at_start(&path, changed.as_bytes()).unwrap_err();
        assert!(
            lack.contains("my.sched.certificate: it is for another file, or the file was changed"),
            "{lack}"
        );
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_forged_certificate_does_not_take_a_program_beyond_its_blocks() {
        let folder = folder("forged");
        let path = folder.join("my.sched");
        let text =
            "rustcoll schedule, version 1\ncollective bcast\nname my\nroot any\n\nrank 0 of 1, 1 blocks\n";
        let beyond = format!("{text}copy recv[0] to scratch[0]\ncopy scratch[0] to recv[7]\n");
        for (text, told) in [(text, None), (&beyond, Some("recv[7]"))] {
            fs::write(certificate_of(&path), certificate(text.as_bytes(), 1)).unwrap();
            let fault = prove_at_start(&path, text.as_bytes()).err();
            assert_eq!(fault.is_some(), told.is_some(), "{fault:?}");
            assert!(told.is_none_or(|told| fault.unwrap().contains(told)));
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn so_do_programs_of_many_steps() {
        let loops = "repeat 70000 times\ncopy send[0] to scratch[0]\nend\n";
        let program = |rank: usize| format!("\nrank {rank} of 32, 32 blocks\n{loops}");
        let text = format!(
            "rustcoll schedule, version 1\ncollective allgather\nname my\n{}",
            (0..32).map(program).collect::<String>()
        );
        let lack = prove_at_start(Path::new("/nowhere/my.sched"), text.as_bytes()).unwrap_err();
        assert!(
            lack.contains(
                "to prove this, 8960000 uses of blocks are to be followed; for more than 4194304 it takes"
            ),
            "{lack}"
        );
    }
}
