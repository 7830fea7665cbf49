//! `rustcoll guide`

mod address;
mod content;
mod export;
mod server;

use crate::command_line::GuideOptions;
use crate::failure::{Failure, Outcome};
use address::Address;
use content::Content;
use std::io::Write;

/// Serves the guide, or writes it into a folder.
pub fn run(options: &GuideOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let address = options.page.as_deref().map_or(Ok(Address::home()), Address::read)?;
    let content = Content::built_in()?;
    match &options.export {
        Some(folder) => export::write(&content, folder, output)?,
        None => server::serve(&content, options.port, &address, !options.no_open, output)?,
    }
    Ok(Outcome::Right)
}
