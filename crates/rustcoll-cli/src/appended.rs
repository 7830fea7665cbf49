//! Files that grow by whole lines, also over several runs.

use crate::failure::Failure;
use crate::files::unwritable;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

/// A file to which whole lines are appended.
#[derive(Debug)]
pub struct Appended {
    pub path: PathBuf,
    file: File,
    /// The file has whole lines up to this length.
    length: u64,
}

/// Returns the whole lines of a text. An interrupted run may have left part of a line behind them.
pub fn whole_lines(text: &str) -> &str {
    text.rfind('\n').map_or("", |end| &text[..=end])
}

impl Appended {
    pub fn open(path: PathBuf) -> Result<Appended, Failure> {
        let opened = OpenOptions::new().create(true).append(true).read(true).open(&path);
        let with_length = opened.and_then(|file| Ok((file.metadata()?.len(), file)));
        let (length, file) = with_length.map_err(|error| unwritable(&path, &error))?;
        Ok(Appended { path, file, length })
    }

    /// Fails if another process writes to the file, as far as the file system knows.
    pub fn locked(path: PathBuf) -> Result<Appended, Failure> {
        let opened = Appended::open(path)?;
        let path = opened.path.display();
        match flock(&opened.file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => {
                return Err(Failure::Input(format!("{path}: another rustcoll is writing there")));
            }
            Err(error) => {
                eprintln!("rustcoll: {path}: cannot be locked: {error}; nobody else must write there")
            }
            Ok(()) => {}
        }
        Ok(opened)
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the file's whole lines.
    pub fn whole_lines(&self) -> Result<String, Failure> {
        if self.length == 0 {
            return Ok(String::new());
        }
        let fault = |error| Failure::Input(format!("{}: cannot be read: {error}", self.path.display()));
        let text = fs::read(&self.path).map_err(fault)?;
        Ok(whole_lines(&String::from_utf8_lossy(&text)).to_owned())
    }

    pub fn append(&mut self, lines: &str) -> Result<(), Failure> {
        match self.file.write_all(lines.as_bytes()) {
            Ok(()) => {
                self.length += lines.len() as u64;
                Ok(())
            }
            Err(error) => {
                // Keep the whole lines that were written before.
                let _ = self.file.set_len(self.length);
                Err(Failure::Input(format!(
                    "{}: cannot be written: {error}; what was written before is whole, and the same command goes on from there",
                    self.path.display()
                )))
            }
        }
    }

    /// Shortens the file to these lines, with which it begins.
    pub fn cut(&mut self, lines: &str) -> Result<(), Failure> {
        let length = lines.len() as u64;
        self.file.set_len(length).map_err(|error| unwritable(&self.path, &error))?;
        self.length = length;
        Ok(())
    }

    /// Writes everything so far to the disk. During a job, this would disturb the job.
    pub fn sync(&self) -> Result<(), Failure> {
        match self.file.sync_data() {
            // Only files on a disk need this.
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => Err(unwritable(&self.path, &error)),
            _ => Ok(()),
        }
    }
}
