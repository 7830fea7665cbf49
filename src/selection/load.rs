//! Loads rule files from disk.

use super::{RuleErrors, Rules};
use crate::text::file_content;
use std::path::Path;

impl Rules {
    /// Loads a rule file. Fails if the file cannot be read, and like [`Rules::read`].
    pub fn load(path: &Path) -> Result<Rules, RuleErrors> {
        Rules::read(&path.display().to_string(), &file_content(path)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::path::PathBuf;
    use std::process::Command;
    use std::{env, fs, process};

    /// A file of these tests, removed when dropped.
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

        /// Loads the file, which must fail, and returns the message without the file's name.
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
        assert_eq!(Temporary::with("empty.toml", b"").fault(), ": there are no rules");
        assert_eq!(Temporary::with("binary.toml", b"\x7fELF\0\xff").fault(), ": this is not text");
        let directory = Temporary(env::temp_dir());
        assert_eq!(directory.fault(), ": this is a directory, not a file");
        std::mem::forget(directory);
        let missing = Temporary::new("missing.toml").fault();
        assert_eq!(missing, ": cannot be read: No such file or directory (os error 2)");
    }

    #[test]
    fn long_files_are_refused_unread() {
        let file = Temporary::with("long.toml", b"");
        // Reading 1 TiB would take minutes and all memory.
        File::options().write(true).open(&file.0).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(file.fault(), ": this is longer than 1048576 bytes");
    }

    #[test]
    fn pipes_and_devices_are_refused_unopened() {
        let pipe = Temporary::new("pipe");
        assert!(Command::new("mkfifo").arg(&pipe.0).status().unwrap().success());
        assert_eq!(pipe.fault(), ": this is no regular file");
        let errors = Rules::load(Path::new("/dev/zero")).unwrap_err().to_string();
        assert_eq!(errors, "/dev/zero: this is no regular file");
    }
}
