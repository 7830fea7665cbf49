//! Reads and writes files. The name `-` is the standard input.

use crate::failure::Failure;
use rustcoll::selection::{LONGEST_TEXT, Rules, file_content};
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

const STANDARD_INPUT: &str = "the standard input";

/// Whether a name stands for the standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns the name of a file for messages.
pub fn name(path: &Path) -> String {
    if is_standard_input(path) { STANDARD_INPUT.into() } else { path.display().to_string() }
}

/// Reads a rule file; `-` is the standard input. Fails with all its faults, one in a line.
pub fn load(path: &Path) -> Result<Rules, String> {
    if !is_standard_input(path) {
        return Rules::load(path).map_err(|faults| faults.to_string());
    }
    let content = standard_input()?;
    Rules::read(STANDARD_INPUT, &content).map_err(|faults| faults.to_string())
}

/// Returns the text of a file of at most [`LONGEST_TEXT`] bytes; `-` is the standard input.
pub fn text(path: &Path) -> Result<String, Failure> {
    let content = match is_standard_input(path) {
        true => standard_input(),
        false => file_content(path).map_err(|faults| faults.to_string()),
    };
    let content = content.map_err(Failure::Input)?;
    if content.len() > LONGEST_TEXT {
        return Err(Failure::Input(format!("{}: this is longer than {LONGEST_TEXT} bytes", name(path))));
    }
    String::from_utf8(content).map_err(|_| Failure::Input(format!("{}: this is not text", name(path))))
}

/// Returns the text of a file that a program has written, of at most 16 MiB; `-` is the standard input.
pub fn long_text(path: &Path) -> Result<String, Failure> {
    String::from_utf8(long_content(path)?)
        .map_err(|_| Failure::Input(format!("{}: this is not text", name(path))))
}

/// Returns the bytes of a file of at most 16 MiB; `-` is the standard input.
pub fn long_content(path: &Path) -> Result<Vec<u8>, Failure> {
    const LONGEST: u64 = 16 << 20;
    let failure = |lack: String| Failure::Input(format!("{}: {lack}", name(path)));
    let file: Box<dyn Read> = match is_standard_input(path) {
        true => Box::new(io::stdin()),
        false => Box::new(fs::File::open(path).map_err(|error| failure(format!("cannot be read: {error}")))?),
    };
    let mut content = Vec::new();
    let read = file.take(LONGEST + 1).read_to_end(&mut content);
    read.map_err(|error| failure(format!("cannot be read: {error}")))?;
    if content.len() as u64 > LONGEST {
        return Err(failure(format!("this is longer than {LONGEST} bytes")));
    }
    Ok(content)
}

/// Reads one byte more than a text may have. The caller refuses such a text as too long.
fn standard_input() -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let read = io::stdin().take(LONGEST_TEXT as u64 + 1).read_to_end(&mut content);
    read.map_err(|error| format!("{STANDARD_INPUT}: cannot be read: {error}"))?;
    Ok(content)
}

pub fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::Input(format!("{}: cannot be written: {error}", path.display()))
}

/// Replaces a file in one step: it is there as it was, or as it becomes.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let written = fs::write(&new, content).and_then(|()| fs::rename(&new, path));
    written.map_err(|error| unwritable(path, &error))
}

/// Writes to the file, or to `output` if there is no path.
pub fn write(path: Option<&Path>, content: &[u8], output: &mut impl Write) -> Result<(), Failure> {
    match path {
        None => Ok(output.write_all(content)?),
        Some(path) => fs::write(path, content).map_err(|error| unwritable(path, &error)),
    }
}
