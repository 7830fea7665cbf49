//! What was built from `guide/` and is embedded here.

use crate::failure::Failure;
use flate2::read::GzDecoder;
use std::io::{self, Read};

const PAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/index.html.gz"));
const LICENCES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/licences.md.gz"));

const NOT_BUILT: &str = "the guide's page is not in this command, for it was not there when the command was built. `make guide` \
    builds it, which needs Node.js 20.19 or later with npm, and Rust's target wasm32-unknown-unknown; `make cli` then embeds it. \
    A source release has the page already";

/// The guide.
#[derive(Debug)]
pub struct Content {
    /// The whole page: styles, scripts and the library are in it.
    pub page: String,
    /// The licences of what is in the page.
    pub licences: String,
}

impl Content {
    /// What is embedded. Fails if there was no page when the command was built.
    pub fn built_in() -> Result<Content, Failure> {
        if PAGE.is_empty() {
            return Err(Failure::Input(NOT_BUILT.into()));
        }
        Ok(Content { page: text(PAGE)?, licences: text(LICENCES)? })
    }
}

/// What was compressed; nothing stays nothing.
fn text(compressed: &[u8]) -> io::Result<String> {
    let mut text = String::new();
    if !compressed.is_empty() {
        GzDecoder::new(compressed).read_to_string(&mut text)?;
    }
    Ok(text)
}
