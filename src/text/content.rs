//! Reads files within bounds or refuses them.

use super::error::{Origin, TextError, TextErrors};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Returns the path of a file with `ending` appended to its name.
pub(crate) fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// The most bytes of a text.
pub const LONGEST_TEXT: usize = 1 << 20;

/// Returns the content of a file. Opens regular files only: others may block or never end.
pub fn file_content(path: &Path) -> Result<Vec<u8>, TextErrors> {
    let name = path.display().to_string();
    let unreadable = |error| unreadable(&name, &error);
    let metadata = path.metadata().map_err(unreadable)?;
    if let Some(objection) = objection(&metadata) {
        return Err(refusal(&name, objection));
    }
    let file = File::open(path).map_err(unreadable)?;
    let mut content = Vec::new();
    // The file may have grown meanwhile, and some files do not know their lengths.
    file.take(LONGEST_TEXT as u64 + 1).read_to_end(&mut content).map_err(unreadable)?;
    if content.len() > LONGEST_TEXT { Err(refusal(&name, too_long())) } else { Ok(content) }
}

fn unreadable(name: &str, error: &io::Error) -> TextErrors {
    refusal(name, format!("cannot be read: {error}"))
}

fn objection(metadata: &Metadata) -> Option<String> {
    match metadata.file_type() {
        kind if kind.is_dir() => Some("this is a directory, not a file".into()),
        kind if !kind.is_file() => Some("this is no regular file".into()),
        _ if metadata.len() > LONGEST_TEXT as u64 => Some(too_long()),
        _ => None,
    }
}

/// Returns the message about a text that is longer than [`LONGEST_TEXT`].
fn too_long() -> String {
    format!("this is longer than {LONGEST_TEXT} bytes")
}

/// Returns the content as text. Fails if it is not UTF-8 or has a zero character.
pub fn text<'content>(name: &str, content: &'content [u8]) -> Result<&'content str, TextErrors> {
    match std::str::from_utf8(content) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(refusal(name, "this is not text".into())),
    }
}

/// Fails if a text is longer than [`LONGEST_TEXT`].
pub fn check_length(name: &str, text: &str) -> Result<(), TextErrors> {
    if text.len() > LONGEST_TEXT { Err(refusal(name, too_long())) } else { Ok(()) }
}

/// Returns an error about a whole text.
pub fn refusal(name: &str, message: String) -> TextErrors {
    TextErrors(vec![TextError { origin: Origin::whole(name), text: String::new(), message }])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the error itself: the superuser may read every file.
    #[test]
    fn a_file_that_must_not_be_read_is_refused() {
        let error = io::Error::from_raw_os_error(13);
        let expected = "secret.toml: cannot be read: Permission denied (os error 13)";
        assert_eq!(unreadable("secret.toml", &error).to_string(), expected);
    }
}
