//! Rule files, `-` among them.

use rustcoll::selection::{LONGEST_TEXT, Rules};
use std::io::{self, Read};
use std::path::Path;

/// The standard input's name in messages.
const STANDARD_INPUT: &str = "the standard input";

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// What a file is called in messages.
pub fn name(path: &Path) -> String {
    if is_standard_input(path) { STANDARD_INPUT.into() } else { path.display().to_string() }
}

/// Reads a rule file; `-` is the standard input. Fails with all its faults, one in a line.
pub fn load(path: &Path) -> Result<Rules, String> {
    if !is_standard_input(path) {
        return Rules::load(path).map_err(|faults| faults.to_string());
    }
    let mut content = Vec::new();
    // One byte more is refused as too long.
    let read = io::stdin().take(LONGEST_TEXT as u64 + 1).read_to_end(&mut content);
    read.map_err(|error| format!("{STANDARD_INPUT}: cannot be read: {error}"))?;
    Rules::read(STANDARD_INPUT, &content).map_err(|faults| faults.to_string())
}
