//! The grammar of expressions, and a parser for it.
//!
//! ```text
//! either     = both { "or" both }
//! both       = negation { "and" negation }
//! negation   = "not" negation | comparison
//! comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! sum        = product { ("+" | "-") product }
//! product    = factor { ("*" | "/") factor }
//! factor     = "-" factor | number [unit] | name | function "(" either { "," either } ")" | "(" either ")"
//! ```

use super::super::nearest::unknown;
use super::super::quantity::unit;
use super::{FUNCTIONS, Misread, Node, Operator, VARIABLES, names};
use std::ops::Range;

const DISJUNCTION: &[(&str, Operator)] = &[("or", Operator::Or)];
const CONJUNCTION: &[(&str, Operator)] = &[("and", Operator::And)];
const COMPARISONS: &[(&str, Operator)] = &[
    ("<", Operator::Less),
    ("<=", Operator::LessOrEqual),
    (">", Operator::Greater),
    (">=", Operator::GreaterOrEqual),
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
];
const SUMS: &[(&str, Operator)] = &[("+", Operator::Add), ("-", Operator::Subtract)];
const PRODUCTS: &[(&str, Operator)] = &[("*", Operator::Multiply), ("/", Operator::Divide)];

/// Parses a whole text.
pub fn parse(text: &str) -> Result<Node, Misread> {
    let mut parser = Parser::of(text);
    let root = parser.either()?;
    if parser.token().is_empty() { Ok(root) } else { parser.expected("an operator or the end") }
}

/// A recursive-descent parser with one token of look-ahead.
struct Parser<'text> {
    text: &'text str,
    /// The next token; empty at the end.
    token: Range<usize>,
    /// The end of the previous token.
    end: usize,
}

type ReadPart<'text> = fn(&mut Parser<'text>) -> Result<Node, Misread>;

impl<'text> Parser<'text> {
    fn of(text: &'text str) -> Self {
        let mut parser = Parser { text, token: 0..0, end: 0 };
        parser.advance();
        parser
    }

    fn token(&self) -> &'text str {
        &self.text[self.token.clone()]
    }

    /// Reads the next token: a number, a name, a comparison or a single character.
    fn advance(&mut self) {
        self.end = self.token.end;
        let rest = self.text[self.end..].trim_start();
        let start = self.text.len() - rest.len();
        let is_word = |character: char| character.is_alphanumeric() || "._".contains(character);
        let end_of = |is_in: &dyn Fn(char) -> bool| rest.find(|character| !is_in(character));
        let length = match rest.chars().next() {
            None => 0,
            // The unit behind a number is a separate token.
            Some(digit) if digit.is_ascii_digit() => {
                end_of(&|character| character.is_ascii_digit() || character == '.').unwrap_or(rest.len())
            }
            Some(letter) if is_word(letter) => end_of(&is_word).unwrap_or(rest.len()),
            Some(sign) if "<>=!".contains(sign) && rest[1..].starts_with('=') => 2,
            Some(other) => other.len_utf8(),
        };
        self.token = start..start + length;
    }

    fn expected<T>(&self, what: &str) -> Result<T, Misread> {
        let found = if self.token.is_empty() { "the end".to_owned() } else { format!("`{}`", self.token()) };
        Err((self.token.clone(), format!("expected {what}, found {found}")))
    }

    fn take(&mut self, token: &str) -> Result<(), Misread> {
        if self.token() != token {
            return self.expected(&format!("`{token}`"));
        }
        self.advance();
        Ok(())
    }

    /// Takes the next token, if it is one of these operators.
    fn operator(&mut self, operators: &[(&str, Operator)]) -> Option<Operator> {
        let (_, operator) = operators.iter().find(|(sign, _)| *sign == self.token())?;
        self.advance();
        Some(*operator)
    }

    /// Parses an operand. Fails if it is a number although a comparison is wanted, or the reverse.
    fn operand(&mut self, part: ReadPart<'text>, wants_truth: bool) -> Result<Node, Misread> {
        let start = self.token.start;
        let node = part(self)?;
        require(&node, start..self.end, wants_truth)?;
        Ok(node)
    }

    /// Parses parts joined by operators, from left to right.
    fn chain(&mut self, operators: &[(&str, Operator)], part: ReadPart<'text>) -> Result<Node, Misread> {
        let start = self.token.start;
        let mut left = part(self)?;
        let mut place = start..self.end;
        while let Some(operator) = self.operator(operators) {
            require(&left, place, operator.takes_truths())?;
            let right = self.operand(part, operator.takes_truths())?;
            left = Node::Binary(operator, Box::new([left, right]));
            place = start..self.end;
        }
        Ok(left)
    }

    fn either(&mut self) -> Result<Node, Misread> {
        self.chain(DISJUNCTION, Self::both)
    }

    fn both(&mut self) -> Result<Node, Misread> {
        self.chain(CONJUNCTION, Self::negation)
    }

    fn negation(&mut self) -> Result<Node, Misread> {
        if self.token() != "not" {
            return self.chain(COMPARISONS, Self::sum);
        }
        self.advance();
        Ok(Node::Not(Box::new(self.operand(Self::negation, true)?)))
    }

    fn sum(&mut self) -> Result<Node, Misread> {
        self.chain(SUMS, Self::product)
    }

    fn product(&mut self) -> Result<Node, Misread> {
        self.chain(PRODUCTS, Self::factor)
    }

    fn factor(&mut self) -> Result<Node, Misread> {
        let token = self.token();
        match token.chars().next() {
            Some('-') => {
                self.advance();
                let operand = self.operand(Self::factor, false)?;
                Ok(Node::Binary(Operator::Subtract, Box::new([Node::Number(0.0), operand])))
            }
            Some('(') => {
                self.advance();
                let inner = self.either()?;
                self.take(")").map(|()| inner)
            }
            Some(digit) if digit.is_ascii_digit() => self.number(),
            Some(letter) if letter.is_alphabetic() => self.named(),
            _ => self.expected("a number, a name or `(`"),
        }
    }

    fn number(&mut self) -> Result<Node, Misread> {
        let Ok(number) = self.token().parse::<f64>() else {
            return self.expected("a number");
        };
        self.advance();
        // A unit follows its number without a space.
        let is_unit = self.token.start == self.end && self.token().starts_with(char::is_alphabetic);
        if !is_unit {
            return Ok(Node::Number(number));
        }
        let unit = unit(self.token()).map_err(|message| (self.token.clone(), message))?;
        self.advance();
        Ok(Node::Number(number * unit as f64))
    }

    fn named(&mut self) -> Result<Node, Misread> {
        let (name, place) = (self.token(), self.token.clone());
        if let Some((_, variable)) = VARIABLES.into_iter().find(|(known, _)| *known == name) {
            self.advance();
            return Ok(Node::Variable(variable));
        }
        let Some((_, function, arguments)) = FUNCTIONS.into_iter().find(|(known, ..)| *known == name) else {
            return Err((place, unknown("name", name, names())));
        };
        self.advance();
        self.take("(")?;
        let mut operands = vec![self.operand(Self::either, false)?];
        while operands.len() < arguments {
            self.take(",")?;
            operands.push(self.operand(Self::either, false)?);
        }
        self.take(")")?;
        Ok(Node::Function(function, operands))
    }
}

fn require(node: &Node, place: Range<usize>, wants_truth: bool) -> Result<(), Misread> {
    let wanted = if wants_truth { "a comparison, not a number" } else { "a number, not a comparison" };
    if node.is_truth() == wants_truth { Ok(()) } else { Err((place, format!("expected {wanted}"))) }
}
