//! Rule files, `-` among them.

use rustcoll::selection::{LONGEST_TEXT, Rules};
use std::io::{self, Read};
use std::path::Path;

/// Reads a rule file; `-` is the standard input. Fails with all its faults, one in a line.
pub fn load(path: &Path) -> Result<Rules, String> {
    if path != Path::new("-") {
        return Rules::load(path).map_err(|faults| faults.to_string());
    }
    const NAME: &str = "the standard input";
    let mut content = Vec::new();
    // One byte more is refused as too long.
    let read = io::stdin().take(LONGEST_TEXT as u64 + 1).read_to_end(&mut content);
    read.map_err(|error| format!("{NAME}: cannot be read: {error}"))?;
    Rules::read(NAME, &content).map_err(|faults| faults.to_string())
}
