//! The statements of a program for any number of ranks.

use super::super::Misread;
use super::expression::{Expression, name};
use super::fault;
use crate::schedule::{Buffer, Line};
use crate::text::nearest::unknown;
use std::collections::BTreeSet;

/// Statements, one after the other.
pub type Statements = Vec<Numbered>;

/// The names that have values from the start, and keep them.
const GIVEN: [&str; 2] = ["rank", "size"];

/// The deepest nesting of loops and conditions.
const MOST_NESTED: usize = 64;

/// A statement and the number of its line.
#[derive(Debug)]
pub struct Numbered {
    pub number: usize,
    pub statement: Statement,
}

#[derive(Debug)]
pub enum Statement {
    Let {
        name: String,
        value: Expression,
    },
    For {
        name: String,
        bounds: [Expression; 2],
        body: Statements,
    },
    While {
        condition: Expression,
        body: Statements,
    },
    If {
        condition: Expression,
        then: Statements,
        otherwise: Statements,
    },
    Send {
        label: Option<String>,
        peer: Expression,
        message: Vec<Blocks>,
    },
    Receive {
        label: Option<String>,
        peer: Expression,
        message: Vec<Blocks>,
    },
    /// Waits for the posts with these labels; without labels, for all posts.
    Wait {
        labels: Vec<String>,
    },
    Copy {
        source: Blocks,
        target: Blocks,
    },
    Reduce {
        target: Blocks,
        left: Blocks,
        right: Blocks,
    },
    Notify {
        slot: Expression,
    },
    Await {
        slot: Expression,
        rank: Expression,
        times: Expression,
    },
}

/// Blocks of a buffer, from `first` up to but not including `end`; without `end`, one block.
#[derive(Debug)]
pub struct Blocks {
    pub buffer: Holder,
    pub first: Expression,
    pub end: Option<Expression>,
}

#[derive(Debug)]
pub enum Holder {
    Private(Buffer),
    /// The slots of a rank.
    Shared(Expression),
}

/// Why a block of statements ends.
#[derive(PartialEq, Eq)]
enum Ending {
    End,
    Else,
    Text,
}

impl Statement {
    /// Reads all lines.
    pub fn all<'text>(lines: impl Iterator<Item = Line<'text>>) -> Result<Statements, Misread> {
        let mut lines = lines.filter(|line| !line.at_end()).collect::<Vec<_>>().into_iter();
        let (block, ending, last) = block(&mut lines, 0)?;
        match (ending, last) {
            (Ending::Text, _) | (_, None) => check_labels(&block).map(|()| block),
            (_, Some(line)) => Err(fault(&line, "there is no loop or condition that this could belong to")),
        }
    }
}

/// Fails if a line waits for a label that no post has.
fn check_labels(statements: &Statements) -> Result<(), Misread> {
    let mut labels = BTreeSet::new();
    each(statements, &mut |line| {
        if let Statement::Send { label: Some(label), .. } | Statement::Receive { label: Some(label), .. } =
            &line.statement
        {
            labels.insert(label.as_str());
        }
        Ok(())
    })?;
    each(statements, &mut |line| {
        let Statement::Wait { labels: awaited } = &line.statement else { return Ok(()) };
        match awaited.iter().find(|label| !labels.contains(label.as_str())) {
            Some(label) => {
                let message = unknown("label", label, labels.iter().copied());
                Err(Misread { line: line.number, column: 1, message })
            }
            None => Ok(()),
        }
    })
}

/// Visits all statements, also those in loops and conditions.
fn each<'a>(
    statements: &'a Statements,
    visit: &mut dyn FnMut(&'a Numbered) -> Result<(), Misread>,
) -> Result<(), Misread> {
    for line in statements {
        visit(line)?;
        match &line.statement {
            Statement::For { body, .. } | Statement::While { body, .. } => each(body, visit)?,
            Statement::If { then, otherwise, .. } => {
                each(then, visit)?;
                each(otherwise, visit)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The line that ended a block, if one did.
type Last<'text> = Option<Line<'text>>;

fn block<'text>(
    lines: &mut impl Iterator<Item = Line<'text>>,
    nested: usize,
) -> Result<(Statements, Ending, Last<'text>), Misread> {
    let mut block = Statements::new();
    while let Some(mut line) = lines.next() {
        if nested > MOST_NESTED {
            return Err(fault(&line, format!("this stands in more than {MOST_NESTED} loops and conditions")));
        }
        let begun = line;
        for (word, ending) in [("end", Ending::End), ("else", Ending::Else)] {
            if line.accept(word) {
                line.end(())?;
                return Ok((block, ending, Some(begun)));
            }
        }
        let statement = statement(&mut line, lines, nested)?;
        block.push(Numbered { number: begun.number, statement });
    }
    Ok((block, Ending::Text, None))
}

fn statement<'text>(
    line: &mut Line<'text>,
    lines: &mut impl Iterator<Item = Line<'text>>,
    nested: usize,
) -> Result<Statement, Misread> {
    let begun = *line;
    let word = line.token();
    line.skip(word);
    let statement = match word {
        "let" => {
            let name = variable(line)?;
            line.expect("=")?;
            Statement::Let { name, value: Expression::read(line)? }
        }
        "for" => {
            let name = variable(line)?;
            line.expect("in")?;
            let first = Expression::read(line)?;
            line.expect("..")?;
            let bounds = [first, Expression::read(line)?];
            line.end(())?;
            Statement::For { name, bounds, body: body(&begun, lines, nested)? }
        }
        "while" => {
            let condition = Expression::read(line)?;
            line.end(())?;
            Statement::While { condition, body: body(&begun, lines, nested)? }
        }
        "if" => {
            let condition = Expression::read(line)?;
            line.end(())?;
            let (then, ending, last) = block(lines, nested + 1)?;
            let otherwise = match (ending, last) {
                (Ending::End, _) => Statements::new(),
                (Ending::Else, Some(last)) => body(&last, lines, nested)?,
                _ => return Err(unended(&begun)),
            };
            Statement::If { condition, then, otherwise }
        }
        "wait" => {
            let mut labels = Vec::new();
            while !line.at_end() {
                labels.push(name(line, "a label")?.to_owned());
            }
            Statement::Wait { labels }
        }
        "copy" => {
            let source = blocks(line)?;
            line.expect("to")?;
            Statement::Copy { source, target: blocks(line)? }
        }
        "reduce" => {
            let target = blocks(line)?;
            line.expect("=")?;
            let left = blocks(line)?;
            line.expect("+")?;
            Statement::Reduce { target, left, right: blocks(line)? }
        }
        "notify" => Statement::Notify { slot: Expression::read(line)? },
        "await" => {
            let slot = Expression::read(line)?;
            line.expect("of")?;
            let rank = Expression::read(line)?;
            line.expect(",")?;
            let times = Expression::read(line)?;
            line.expect("times")?;
            Statement::Await { slot, rank, times }
        }
        "send" | "receive" => post(line, word, None)?,
        _ if line.token() == ":" => {
            *line = begun;
            let label = name(line, "a label")?.to_owned();
            line.expect(":")?;
            let kind = line.token();
            if kind != "send" && kind != "receive" {
                return Err(line.error("\"send\" or \"receive\"").into());
            }
            line.skip(kind);
            post(line, kind, Some(label))?
        }
        _ => {
            return Err(begun.error(
                "\"send\", \"receive\", \"wait\", \"copy\", \"reduce\", \"notify\", \"await\", \"let\", \"for\", \"while\", \"if\" or \"end\"",
            ).into());
        }
    };
    line.end(())?;
    Ok(statement)
}

/// Reads the name that a line gives a value.
fn variable(line: &mut Line) -> Result<String, Misread> {
    let begun = *line;
    match name(line, "a name")? {
        given if GIVEN.contains(&given) => {
            Err(fault(&begun, format!("{given} has its value from the start, and keeps it")))
        }
        name => Ok(name.to_owned()),
    }
}

/// Reads the statements up to the "end".
fn body<'text>(
    begun: &Line<'text>,
    lines: &mut impl Iterator<Item = Line<'text>>,
    nested: usize,
) -> Result<Statements, Misread> {
    match block(lines, nested + 1)? {
        (block, Ending::End, _) => Ok(block),
        (_, Ending::Else, Some(line)) => Err(line.error("\"end\"").into()),
        _ => Err(unended(begun)),
    }
}

fn unended(begun: &Line) -> Misread {
    fault(begun, format!("this {:?} has no \"end\"", begun.token()))
}

fn post(line: &mut Line, kind: &str, label: Option<String>) -> Result<Statement, Misread> {
    let is_send = kind == "send";
    let [preposition, where_to] = if is_send { ["to", "from"] } else { ["from", "into"] };
    line.expect(preposition)?;
    let peer = Expression::read(line)?;
    line.expect(where_to)?;
    let mut message = vec![blocks(line)?];
    while line.accept(",") {
        message.push(blocks(line)?);
    }
    Ok(match is_send {
        true => Statement::Send { label, peer, message },
        false => Statement::Receive { label, peer, message },
    })
}

fn blocks(line: &mut Line) -> Result<Blocks, Misread> {
    let private = Buffer::PRIVATE.into_iter().find(|buffer| line.accept(&buffer.to_string()));
    let buffer = match private {
        Some(buffer) => Holder::Private(buffer),
        None if line.accept("shared") => {
            line.expect("(")?;
            let rank = Expression::read(line)?;
            line.expect(")")?;
            Holder::Shared(rank)
        }
        None => {
            let buffers = "\"send\", \"recv\", \"scratch\" or \"shared\" with a rank in parentheses";
            return Err(line.error(buffers).into());
        }
    };
    line.expect("[")?;
    let first = Expression::read(line)?;
    let end = match line.accept("..") {
        true => Some(Expression::read(line)?),
        false => None,
    };
    line.expect("]")?;
    Ok(Blocks { buffer, first, end })
}
