//! Arithmetic with whole numbers.
//!
//! ```text
//! expression = comparison { ("and" | "or") comparison }
//! comparison = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]
//! sum        = product { ("+" | "-" | "xor") product }
//! product    = factor { ("*" | "/" | "%") factor }
//! factor     = "-" factor | number | name | "(" expression ")"
//! ```
//!
//! `a % b` is the number from 0 to b - 1 that differs from a by a multiple of b; `a / b` is the quotient for
//! this remainder. A comparison is 1 or 0.

use super::super::Misread;
use super::fault;
use crate::schedule::Line;

/// The most bytes of the rest of a line that begins with an expression. They bound the depth of its tree.
const MOST_BYTES: usize = 1000;

/// The deepest nesting of expressions.
const MOST_NESTED: usize = 64;

#[derive(Clone, Debug)]
pub enum Expression {
    Number(i64),
    Name(String),
    Binary(&'static str, Box<[Expression; 2]>),
}

const COMPARISONS: &[&str] = &["==", "!=", "<=", ">=", "<", ">"];

/// Operators by precedence, those that bind loosely first.
const LEVELS: [&[&str]; 4] = [&["and", "or"], COMPARISONS, &["+", "-", "xor"], &["*", "/", "%"]];

/// Words that cannot be names.
pub const WORDS: [&str; 24] = [
    "and", "any", "await", "blocks", "copy", "else", "end", "for", "from", "if", "in", "into", "let",
    "notify", "of", "or", "receive", "reduce", "send", "slots", "times", "to", "wait", "while",
];

impl Expression {
    /// Reads an expression from a line, as far as it goes.
    pub fn read(line: &mut Line) -> Result<Expression, Misread> {
        if line.rest.len() > MOST_BYTES {
            return Err(fault(line, format!("from here on the line is longer than {MOST_BYTES} bytes")));
        }
        level(line, 0, 0)
    }

    /// Returns the value, given the values of names. Fails with the reason if there is none.
    pub fn value(&self, of: &impl Fn(&str) -> Result<i64, String>) -> Result<i64, String> {
        match self {
            Expression::Number(number) => Ok(*number),
            Expression::Name(name) => of(name),
            Expression::Binary(operator, operands) => {
                let [left, right] = [operands[0].value(of)?, operands[1].value(of)?];
                apply(operator, left, right).ok_or_else(|| match right {
                    0 => format!("division by 0: {left} {operator} 0"),
                    _ => format!("{left} {operator} {right} is too large"),
                })
            }
        }
    }
}

fn level(line: &mut Line, loose: usize, nested: usize) -> Result<Expression, Misread> {
    let Some(operators) = LEVELS.get(loose) else { return factor(line, nested) };
    let mut left = level(line, loose + 1, nested)?;
    while let Some(operator) = operators.iter().find(|operator| line.accept(operator)) {
        left = Expression::Binary(operator, Box::new([left, level(line, loose + 1, nested)?]));
        // Mathematics means something else by it than a comparison with 0 or 1.
        if *operators == COMPARISONS && COMPARISONS.contains(&line.token()) {
            let message =
                "a second comparison of one value; write \"0 < x and x < 9\" instead of \"0 < x < 9\"";
            return Err(fault(line, message));
        }
    }
    Ok(left)
}

fn factor(line: &mut Line, nested: usize) -> Result<Expression, Misread> {
    if nested > MOST_NESTED {
        return Err(fault(line, format!("this is nested in more than {MOST_NESTED} parentheses and signs")));
    }
    if line.accept("-") {
        let operands = [Expression::Number(0), factor(line, nested + 1)?];
        return Ok(Expression::Binary("-", Box::new(operands)));
    }
    if line.accept("(") {
        let inner = level(line, 0, nested + 1)?;
        line.expect(")")?;
        return Ok(inner);
    }
    let token = line.token();
    if let Ok(number) = token.parse::<u32>() {
        line.skip(token);
        return Ok(Expression::Number(number.into()));
    }
    Ok(Expression::Name(name(line, "a number, a name or \"(\"")?.to_owned()))
}

/// Reads a name. `what` is what the error expects if there is none.
pub fn name<'text>(line: &mut Line<'text>, what: &str) -> Result<&'text str, Misread> {
    let token = line.token();
    let is_name = token.starts_with(|first: char| first.is_ascii_lowercase()) && !WORDS.contains(&token);
    if !is_name {
        return Err(line.error(what).into());
    }
    line.skip(token);
    Ok(token)
}

fn apply(operator: &str, left: i64, right: i64) -> Option<i64> {
    let truth = |holds: bool| Some(i64::from(holds));
    match operator {
        "and" => truth(left != 0 && right != 0),
        "or" => truth(left != 0 || right != 0),
        "==" => truth(left == right),
        "!=" => truth(left != right),
        "<=" => truth(left <= right),
        ">=" => truth(left >= right),
        "<" => truth(left < right),
        ">" => truth(left > right),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "xor" => Some(left ^ right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div_euclid(right),
        "%" => left.checked_rem_euclid(right),
        _ => unreachable!("all operators are here"),
    }
}
