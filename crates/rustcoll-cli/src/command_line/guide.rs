//! The options of `rustcoll guide`.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Of `rustcoll guide`.
#[derive(Args, Debug)]
pub struct GuideOptions {
    /// The page to open, as it is in the browser's address behind the port: `alltoall`, `alltoall/bruck?p=8&r=3`
    pub page: Option<String>,
    /// The port; 0 is any free one. 8317 or the next free one unless given
    #[arg(long)]
    pub port: Option<u16>,
    /// Does not open a browser
    #[arg(long)]
    pub no_open: bool,
    /// Writes the guide into this folder instead, for any web server or to be opened as a file. The folder is made if it is missing,
    /// and must be empty or hold an earlier export
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, conflicts_with_all = ["page", "port", "no_open"])]
    pub export: Option<PathBuf>,
}
