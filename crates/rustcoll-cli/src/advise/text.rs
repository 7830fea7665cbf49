//! Advice for the terminal: one screen.

use super::{Advice, HEADINGS, LISTED, share};
use crate::table;
use std::io::{self, Write};

pub fn write(advice: &Advice, output: &mut impl Write) -> io::Result<()> {
    for line in advice.heading() {
        writeln!(output, "{line}")?;
    }
    for part in advice.sums.parts() {
        let of_all = share(part.seconds, advice.sums.collectives);
        writeln!(output, "  {:<32}  {:>10.3} s  {of_all:>7}", part.name, part.seconds)?;
    }
    writeln!(output, "\nThe calls that take the most time, for the mean rank:")?;
    let rows: Vec<_> = advice.calls.iter().take(LISTED).map(|calls| calls.cells()).collect();
    table::write(HEADINGS, &rows, output)?;
    writeln!(output, "\nWhat to do:")?;
    for (thing, number) in advice.things.iter().zip(1..) {
        writeln!(output, "  {number}. {}", thing.text)?;
        if let Some(line) = &thing.line {
            writeln!(output, "       {line}")?;
        }
    }
    advice.grown.as_ref().map_or(Ok(()), |grown| writeln!(output, "\n{grown}"))
}
