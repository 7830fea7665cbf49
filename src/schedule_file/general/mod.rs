//! One program for any number of ranks: it has arithmetic in place of numbers, loops and conditions.
//!
//! ```text
//! rank any of 2..64, size blocks
//! copy send[rank] to recv[rank]
//! for round in 0..size - 1
//! send to (rank + 1) % size from recv[(rank - round) % size]
//! receive from (rank - 1) % size into recv[(rank - round - 1) % size]
//! wait
//! end
//! ```
//!
//! It is carried out for each number of ranks and each rank. The programs that result are proved and run.

mod expression;
mod running;
mod statement;

use super::Misread;
use crate::schedule::{Line, Listing, content};
use expression::Expression;
use statement::{Statement, Statements};

/// The first words of its header.
const HEADER: [&str; 2] = ["rank", "any"];

/// The most programs that it may become: one for each rank of each number of ranks.
const MOST_PROGRAMS: usize = 1 << 17;

/// A program for several numbers of ranks.
#[derive(Debug)]
pub struct General {
    /// The line of its header.
    header: usize,
    sizes: Vec<usize>,
    blocks: Expression,
    slots: Option<Expression>,
    body: Statements,
}

impl General {
    /// Cuts such programs out of a text, and leaves empty lines in their places.
    pub fn cut_out(text: &str) -> Result<(Vec<General>, String), Misread> {
        let (mut sections, mut rest) = (Vec::<Vec<(usize, &str)>>::new(), String::new());
        let mut is_general = false;
        for (line, number) in text.lines().zip(1..) {
            let mut words = content(line).split_whitespace();
            if let Some(first) = words.next()
                && first == HEADER[0]
            {
                is_general = words.next() == Some(HEADER[1]);
                if is_general {
                    sections.push(Vec::new());
                }
            }
            match sections.last_mut().filter(|_| is_general) {
                Some(section) => section.push((number, content(line))),
                None => rest.push_str(line),
            }
            rest.push('\n');
        }
        let programs = sections.into_iter().map(General::read).collect::<Result<_, _>>()?;
        Ok((programs, rest))
    }

    fn read(lines: Vec<(usize, &str)>) -> Result<General, Misread> {
        let mut lines = lines.into_iter().map(|(number, line)| Line::new(number, line));
        let mut line = lines.next().expect("a section begins with its header");
        let header = line.number;
        HEADER.iter().try_for_each(|word| line.expect(word))?;
        line.expect("of")?;
        let sizes = sizes(&mut line)?;
        line.expect(",")?;
        let blocks = Expression::read(&mut line)?;
        line.expect("blocks")?;
        let slots = match line.accept(",") {
            true => Some(Expression::read(&mut line)?),
            false => None,
        };
        if slots.is_some() {
            line.expect("slots")?;
        }
        line.end(())?;
        let body = Statement::all(lines)?;
        Ok(General { header, sizes, blocks, slots, body })
    }

    /// Returns the programs of all ranks for all its numbers of ranks.
    pub fn listings(&self) -> impl Iterator<Item = Result<Listing, Misread>> {
        let ranks = self.sizes.iter().flat_map(|&size| (0..size).map(move |rank| (rank, size)));
        let mut left = running::MOST_STATEMENTS;
        ranks.map(move |(rank, size)| running::run(self, rank, size, &mut left))
    }
}

/// Reads numbers of ranks: ranges with both ends included, and single numbers, as `2..8 16 32`.
fn sizes(line: &mut Line) -> Result<Vec<usize>, Misread> {
    let mut sizes: Vec<usize> = Vec::new();
    while sizes.is_empty() || line.token() != "," {
        let begun = *line;
        let first = size_from(line, 1)?;
        let last = if line.accept("..") { size_from(line, first)? } else { first };
        sizes.extend(first..=last);
        if sizes.iter().sum::<usize>() > MOST_PROGRAMS {
            return Err(fault(&begun, format!("up to here these are more than {MOST_PROGRAMS} programs")));
        }
    }
    Ok(sizes)
}

fn size_from(line: &mut Line, least: usize) -> Result<usize, Misread> {
    let token = line.token();
    let number = token.parse().ok().filter(|number| (least..=MOST_PROGRAMS).contains(number));
    let lack = || line.error(format!("a number of ranks from {least} to {MOST_PROGRAMS}"));
    let number = number.ok_or_else(lack)?;
    line.skip(token);
    Ok(number)
}

/// Returns an error about what comes next in a line.
fn fault(line: &Line, message: impl Into<String>) -> Misread {
    Misread { line: line.number, column: line.column(), message: message.into() }
}

#[cfg(test)]
pub mod tests;
