//! Tables on the output.

use rustcoll::text::{Alignment, columns};
use std::io::{self, Write};

/// Writes rows below their headings, with all columns aligned to the left.
pub fn write<const COLUMNS: usize>(
    head: [&str; COLUMNS],
    rows: &[[String; COLUMNS]],
    output: &mut impl Write,
) -> io::Result<()> {
    output.write_all(columns(head.map(|heading| (heading, Alignment::Left)), rows).as_bytes())
}
