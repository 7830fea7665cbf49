//! Tables of text.

use std::fmt::Write;

/// How cells are aligned in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// For words.
    Left,
    /// For numbers.
    Right,
}

/// Returns a line of headings and one for each row. Columns are as wide as their widest cell, two spaces
/// apart. Nothing follows the last cell of a line.
pub fn columns<const COLUMNS: usize>(
    headings: [(&str, Alignment); COLUMNS],
    rows: &[[String; COLUMNS]],
) -> String {
    let head = headings.map(|(heading, _)| heading.to_owned());
    let lines = || [&head].into_iter().chain(rows);
    let widest = |column: usize| lines().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; COLUMNS] = std::array::from_fn(widest);
    let mut text = String::new();
    for line in lines() {
        let cells = line.iter().zip(widths).zip(headings).map(|((cell, width), (_, side))| match side {
            Alignment::Left => format!("{cell:<width$}"),
            Alignment::Right => format!("{cell:>width$}"),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        writeln!(text, "{}", line.trim_end()).expect("a text takes everything");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned);
        let rows = [row(["éé", "x", ""]), row(["c", "", "d"])];
        let table =
            columns([("a", Alignment::Left), ("long", Alignment::Left), ("b", Alignment::Left)], &rows);
        assert_eq!(table, "a   long  b\néé  x\nc         d\n");
    }

    #[test]
    fn numbers_stand_on_the_right() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned);
        let table =
            columns([("n", Alignment::Right), ("b", Alignment::Left)], &[row(["10", "x"]), row(["9", "yy"])]);
        assert_eq!(table, " n  b\n10  x\n 9  yy\n");
    }
}
