//! Compresses the page of `rustcoll guide` for the command to embed. Without a built page, writes an empty file.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Where `make guide` leaves the page.
const BUILT: &str = "../../guide/dist";

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={BUILT}");
    let output = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo names the folder"));
    for name in ["index.html", "licences.md"] {
        let content = fs::read(Path::new(BUILT).join(name)).unwrap_or_default();
        fs::write(output.join(format!("{name}.gz")), compressed(&content)?)?;
    }
    Ok(())
}

fn compressed(content: &[u8]) -> io::Result<Vec<u8>> {
    if content.is_empty() {
        return Ok(Vec::new());
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    encoder.finish()
}
