//! Tables of text.

use std::io::{self, Write};

/// Writes rows as columns of equal widths, two spaces apart. The last column is not padded.
pub fn write<const COLUMNS: usize>(
    head: [&str; COLUMNS],
    rows: &[[String; COLUMNS]],
    output: &mut impl Write,
) -> io::Result<()> {
    let width = |text: &str| text.chars().count();
    let widths: [usize; COLUMNS] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| width(&row[column]));
        cells.chain([width(head[column])]).max().unwrap_or(0)
    });
    let head = head.map(str::to_owned);
    for row in std::iter::once(&head).chain(rows) {
        let line: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        writeln!(output, "{}", line.join("  ").trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut output = Vec::new();
        let row = |cells: [&str; 3]| cells.map(str::to_owned);
        write(["a", "long", "b"], &[row(["éé", "x", ""]), row(["c", "", "d"])], &mut output).unwrap();
        assert_eq!(String::from_utf8(output).unwrap(), "a   long  b\néé  x\nc         d\n");
    }
}
