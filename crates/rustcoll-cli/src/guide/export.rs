//! `rustcoll guide --export`

use super::content::Content;
use crate::failure::Failure;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

const PAGE: &str = "index.html";
const LICENCES: &str = "licences.md";

/// Every page that this command writes has this text.
const MARK: &str = r#"<meta name="generator" content="rustcoll guide""#;

/// Writes the guide into a folder.
pub fn write(content: &Content, folder: &Path, output: &mut impl Write) -> Result<(), Failure> {
    let fault = |reason: String| Failure::Input(format!("--export {}: {reason}", folder.display()));
    if !is_ours(folder).map_err(|error| fault(error.to_string()))? {
        return Err(fault(
            "the folder holds something else than an earlier export; name a new or an empty one".into(),
        ));
    }
    let written = fs::create_dir_all(folder)
        .and_then(|()| fs::write(folder.join(PAGE), &content.page))
        .and_then(|()| fs::write(folder.join(LICENCES), &content.licences));
    written.map_err(|error| fault(error.to_string()))?;
    for (name, text) in [(PAGE, &content.page), (LICENCES, &content.licences)] {
        writeln!(output, "{}  {:.1} KiB", folder.join(name).display(), text.len() as f64 / 1024.0)?;
    }
    writeln!(output, "Open {PAGE} in a browser, or put the folder on any web server.")?;
    Ok(())
}

/// Whether a folder is missing, empty, or has an earlier export.
fn is_ours(folder: &Path) -> io::Result<bool> {
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    match entries.next() {
        None => Ok(true),
        Some(_) => match fs::read(folder.join(PAGE)) {
            Ok(page) => Ok(String::from_utf8_lossy(&page).contains(MARK)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        },
    }
}
