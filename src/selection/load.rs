//! Rule files on disk: whatever a name leads to, it is read within bounds or refused.

use super::{LONGEST_TEXT, RuleErrors, Rules, refusal};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

impl Rules {
    /// Reads a rule file. Fails if it cannot be read, and as [`Rules::read`] does.
    pub fn load(path: &Path) -> Result<Rules, RuleErrors> {
        Rules::read(&path.display().to_string(), &file_content(path)?)
    }
}

/// The content of a rule file, for [`Rules::read`]. Nothing but regular files is opened: others may never end, or never
/// begin.
pub fn file_content(path: &Path) -> Result<Vec<u8>, RuleErrors> {
    let name = path.display().to_string();
    let unreadable = |error| unreadable(&name, &error);
    let metadata = path.metadata().map_err(unreadable)?;
    if let Some(objection) = objection(&metadata) {
        return Err(refusal(&name, objection));
    }
    let file = File::open(path).map_err(unreadable)?;
    let mut content = Vec::new();
    // It may have grown meanwhile, and some files do not know their lengths.
    file.take(LONGEST_TEXT as u64 + 1).read_to_end(&mut content).map_err(unreadable)?;
    if content.len() > LONGEST_TEXT { Err(refusal(&name, too_long())) } else { Ok(content) }
}

fn unreadable(name: &str, error: &io::Error) -> RuleErrors {
    refusal(name, format!("cannot be read: {error}"))
}

fn objection(metadata: &Metadata) -> Option<String> {
    match metadata.file_type() {
        kind if kind.is_dir() => Some("this is a directory; a rule file is expected".into()),
        kind if !kind.is_file() => Some("this is no regular file; a rule file is expected".into()),
        _ if metadata.len() > LONGEST_TEXT as u64 => Some(too_long()),
        _ => None,
    }
}

/// What is said of a text that is longer than [`LONGEST_TEXT`].
pub(super) fn too_long() -> String {
    format!("this is longer than {LONGEST_TEXT} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::process::Command;
    use std::{env, fs, process};

    /// A file of these tests, removed in the end.
    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str) -> Temporary {
            Temporary(env::temp_dir().join(format!("rustcoll-{}-{name}", process::id())))
        }

        fn with(name: &str, content: &[u8]) -> Temporary {
            let file = Temporary::new(name);
            fs::write(&file.0, content).unwrap();
            file
        }

        /// What is wrong with it, after its name.
        fn fault(&self) -> String {
            let errors = Rules::load(&self.0).unwrap_err().to_string();
            errors.strip_prefix(&self.0.display().to_string()).unwrap().to_owned()
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    #[test]
    fn a_file_is_read_under_its_name() {
        let file = Temporary::with("right.toml", b"[[bcast]]\nalgorithm = \"chain\"\n");
        let rules = Rules::load(&file.0).unwrap();
        let origin = &rules.of(crate::algorithms::Collective::Bcast)[0].origin;
        assert_eq!((Path::new(&*origin.file), origin.line), (&*file.0, 1));
    }

    #[test]
    fn what_is_no_rule_file_is_refused() {
        assert_eq!(Temporary::with("empty.toml", b"").fault(), ":1:1: there are no rules");
        assert_eq!(Temporary::with("binary.toml", b"\x7fELF\0\xff").fault(), ":1:1: this is not text");
        let directory = Temporary(env::temp_dir());
        assert_eq!(directory.fault(), ":1:1: this is a directory; a rule file is expected");
        std::mem::forget(directory);
        let missing = Temporary::new("missing.toml").fault();
        assert_eq!(missing, ":1:1: cannot be read: No such file or directory (os error 2)");
    }

    #[test]
    fn long_files_are_refused_unread() {
        let file = Temporary::with("long.toml", b"");
        // Reading that would take minutes and all memory.
        File::options().write(true).open(&file.0).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(file.fault(), ":1:1: this is longer than 1048576 bytes");
    }

    #[test]
    fn pipes_and_devices_are_refused_unopened() {
        let pipe = Temporary::new("pipe");
        assert!(Command::new("mkfifo").arg(&pipe.0).status().unwrap().success());
        assert_eq!(pipe.fault(), ":1:1: this is no regular file; a rule file is expected");
        let errors = Rules::load(Path::new("/dev/zero")).unwrap_err().to_string();
        assert_eq!(errors, "/dev/zero:1:1: this is no regular file; a rule file is expected");
    }

    /// With an error as such: the superuser may read every file.
    #[test]
    fn a_file_that_must_not_be_read_is_refused() {
        let error = io::Error::from_raw_os_error(13);
        let expected = "secret.toml:1:1: cannot be read: Permission denied (os error 13)";
        assert_eq!(unreadable("secret.toml", &error).to_string(), expected);
    }
}
