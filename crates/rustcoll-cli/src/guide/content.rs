//! The files that were built from `guide/` and are embedded in the command.

use crate::failure::Failure;
use flate2::read::GzDecoder;
use std::io::{self, Read};

const PAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/index.html.gz"));
const LICENCES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/licences.md.gz"));

const NOT_BUILT: &str = "the guide's page is not in this command, for it was not there when the command was built. `make guide` \
    builds it, which needs Node.js 20.19 or later with npm, and Rust's target wasm32-unknown-unknown; `make cli` then embeds it. \
    A source release has the page already";

#[derive(Debug)]
pub struct Content {
    /// The whole page, with its styles, scripts and the library.
    pub page: String,
    /// The licences of everything in the page.
    pub licences: String,
}

impl Content {
    /// Returns the embedded guide. Fails if there was no page when the command was built.
    pub fn built_in() -> Result<Content, Failure> {
        if PAGE.is_empty() {
            return Err(Failure::Input(NOT_BUILT.into()));
        }
        Ok(Content { page: text(PAGE)?, licences: text(LICENCES)? })
    }
}

/// Decompresses a text. An empty text stays empty.
fn text(compressed: &[u8]) -> io::Result<String> {
    let mut text = String::new();
    if !compressed.is_empty() {
        GzDecoder::new(compressed).read_to_string(&mut text)?;
    }
    Ok(text)
}
